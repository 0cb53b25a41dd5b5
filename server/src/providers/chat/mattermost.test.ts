import { plainChat, testProvider } from '../../../test/provider-suite.ts'
import { mattermost } from './mattermost.ts'

const url = 'https://chat.example.com/hooks/hook-secret'
const target = { type: 'webhook' as const, url }
const date = 'Fri, 01 May 2026 10:00:00 GMT'
const reply = { headers: { 'X-Request-Id': 'req-1', Date: date }, body: 'ok' }

testProvider(mattermost, {
  credentials: {},
  message: { target },
  accepted: reply,
  errorBody: (message) => ({ id: 'web.incoming_webhook', message, status_code: 400 }),
  notJson: 'accepted',

  sends: [
    {
      title: 'in the channel of the webhook',
      requests: [{ url, json: { text: 'Hi' } }],
      result: { providerMessageId: 'req-1', date },
    },
    {
      title: 'in another channel, with what the caller wishes',
      message: {
        target: { ...target, channel: 'town-square' },
        providerData: { iconUrl: 'x', webhookUrl: 'https://o' },
      },
      replies: [{ headers: { Date: date }, body: 'ok' }],
      requests: [{ url, json: { text: 'Hi', channel: 'town-square', icon_url: 'x' } }],
      result: { providerMessageId: plainChat.id, date },
    },
  ],

  refusals: [
    [
      'the webhook was removed',
      { status: 404, body: { message: 'Invalid webhook' } },
      { code: 'recipient_refused', kind: 'address', says: 'Invalid webhook' },
    ],
  ],
})
