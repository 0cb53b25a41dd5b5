import { testProvider } from '../../../test/provider-suite.ts'
import { discord } from './discord.ts'

const target = { type: 'webhook' as const, url: 'https://discord.com/api/webhooks/1/hook-secret' }
const result = { providerMessageId: '900', date: '2026-05-01T10:00:00.000000+00:00' }

testProvider(discord, {
  credentials: {},
  message: { target },
  accepted: { body: { id: '900', timestamp: '2026-05-01T10:00:00.000000+00:00' } },
  errorBody: (message) => ({ message, code: 0 }),

  sends: [
    {
      title: 'and says what it made of it',
      requests: [{ url: `${target.url}?wait=true`, json: { content: 'Hi' } }],
      result,
    },
    {
      title: 'in a thread, with what the caller wishes',
      message: {
        target: { type: 'webhook', url: `${target.url}?thread_id=7&wait=true` },
        customData: { username: 'Bell', embeds: [{ title: 'a' }] },
        providerData: { avatarUrl: 'x', _passthrough: { body: { avatar_url: 'y', embeds: [{ title: 'b' }] } } },
      },
      requests: [
        {
          url: `${target.url}?thread_id=7&wait=true`,
          json: {
            content: 'Hi',
            username: 'Bell',
            embeds: [{ title: 'a' }, { title: 'b' }],
            avatarUrl: 'x',
            avatar_url: 'y',
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the webhook was removed',
      { status: 404, body: { message: 'Unknown Webhook', code: 10015 } },
      { code: 'recipient_refused', kind: 'address', says: 'Unknown Webhook' },
    ],
    [
      'it is too long',
      { status: 400, body: { message: 'Invalid Form Body', code: 50035 } },
      { code: 'message_refused', kind: 'never' },
    ],
    [
      'too many at once, and says when to come again',
      { status: 429, body: { message: 'You are being rate limited.', retry_after: 1.3, global: false } },
      { code: 'rate_limited', afterSeconds: 2 },
    ],
  ],
})
