import { fullMail, testProvider } from '../../../test/provider-suite.ts'
import { netcore } from './netcore.ts'

const url = 'https://emailapi.netcorecloud.net/v5.1/mail/send'
const headers = { api_key: 'nc-key' }
const plain = {
  from: { email: 'news@acme.example' },
  subject: 'Hello',
  content: [{ type: 'html', value: '<p>Hi</p>' }],
  personalizations: [{ to: [{ email: 'ada@example.com' }] }],
}
const result = { providerMessageId: '7ec0b3' }
const event = { EVENT: 'send', TRANSID: '7ec0b3', TIMESTAMP: '1777629600', RESPONSE: '250 OK' }
const sent = {
  providerMessageId: '7ec0b3',
  status: 'sent',
  date: new Date('2026-05-01T10:00:00.000Z'),
  response: '250 OK',
} as const

testProvider(netcore, {
  credentials: { apiKey: 'nc-key' },
  accepted: { status: 202, body: { data: { message_id: '7ec0b3' }, message: 'OK', status: 'success' } },
  errorBody: (message) => ({ error: [{ message, field: 'from', description: message }], status: 'error' }),

  sends: [
    { title: 'that is plain', requests: [{ url, headers, json: plain }], result },
    {
      title: 'with everything it takes',
      message: fullMail,
      requests: [
        {
          url,
          json: {
            ...plain,
            from: { email: 'news@acme.example', name: 'Acme' },
            reply_to: 'help@acme.example',
            personalizations: [
              {
                to: [{ email: 'ada@example.com' }, { email: 'bob@example.com' }],
                cc: [{ email: 'cc@example.com' }],
                bcc: [{ email: 'bcc@example.com' }],
                attachments: [
                  { name: 'bill.pdf', content: 'UERG' },
                  { name: 'logo.png', content: '/wA=' },
                ],
              },
            ],
          },
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { providerData: { templateId: 7, settings: { openTrack: true } } },
      requests: [{ url, json: { ...plain, template_id: 7, settings: { open_track: true } } }],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says otherwise',
      { body: { status: 'error', message: 'sender domain is not approved' } },
      { code: 'rejected', says: 'sender domain is not approved' },
    ],
  ],

  events: [
    { title: 'sent', body: [event], events: [sent] },
    ...(
      [
        ['open', 'opened'],
        ['click', 'clicked'],
        ['bounce', 'bounced'],
        ['invalid', 'bounced'],
        ['spam', 'spam'],
        ['unsub', 'unsubscribed'],
        ['drop', 'dropped'],
      ] as const
    ).map(([EVENT, status]) => ({ title: EVENT, body: [{ ...event, EVENT }], events: [{ ...sent, status }] })),
    { title: 'something else', body: [{ ...event, EVENT: 'queued' }], events: [] },
  ],
})
