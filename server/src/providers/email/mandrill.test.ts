import { createHmac } from 'node:crypto'
import { fullMail, testProvider } from '../../../test/provider-suite.ts'
import { mandrill } from './mandrill.ts'

const url = 'https://mandrillapp.com/api/1.0/messages/send'
const plain = {
  from_email: 'news@acme.example',
  subject: 'Hello',
  html: '<p>Hi</p>',
  to: [{ email: 'ada@example.com', type: 'to' }],
}
const result = { providerMessageId: 'abc123' }
const inbound = 'https://belfry.example.com/in'
const event = (name: string) => ({ event: name, _id: 'abc123', ts: 1_777_629_600, msg: { diag: 'why' } })
const posted = (...events: unknown[]) => new URLSearchParams({ mandrill_events: JSON.stringify(events) }).toString()
const sent = {
  providerMessageId: 'abc123',
  status: 'sent',
  date: new Date('2026-05-01T10:00:00.000Z'),
  response: 'why',
} as const
const signed = (key: string) => ({
  'X-Mandrill-Signature': createHmac('sha1', key)
    .update(`${inbound}mandrill_events${JSON.stringify([event('send')])}`)
    .digest('base64'),
})
const configurations = { inboundWebhookSigningKey: 'sign' }
const refusal = (status: string, reject_reason: string | null) => ({
  body: [{ email: 'ada@example.com', status, reject_reason, _id: 'x' }],
})

testProvider(mandrill, {
  credentials: { apiKey: 'md-key' },
  accepted: { body: [{ email: 'ada@example.com', status: 'sent', reject_reason: null, _id: 'abc123' }] },
  errorBody: (message) => ({ status: 'error', code: -99, name: 'GeneralError', message }),

  sends: [
    { title: 'that is plain', requests: [{ url, json: { key: 'md-key', message: plain } }], result },
    {
      title: 'with everything a mail can have',
      message: fullMail,
      requests: [
        {
          url,
          json: {
            key: 'md-key',
            message: {
              ...plain,
              from_name: 'Acme',
              text: 'Hi',
              to: [
                { email: 'ada@example.com', type: 'to' },
                { email: 'bob@example.com', type: 'to' },
                { email: 'cc@example.com', type: 'cc' },
                { email: 'bcc@example.com', type: 'bcc' },
              ],
              headers: { 'X-Campaign': 'spring', 'Reply-To': 'help@acme.example' },
              attachments: [{ type: 'application/pdf', name: 'bill.pdf', content: 'UERG' }],
              images: [{ type: 'image/png', name: 'logo', content: '/wA=' }],
            },
          },
        },
      ],
      result,
    },
    {
      title: "from a template, with members of the provider's own",
      message: {
        customData: { templateId: 'welcome', variables: { fooBar: 1, name: 'Ada' } },
        providerData: { async: true, message: { trackOpens: true } },
      },
      requests: [
        {
          url: 'https://mandrillapp.com/api/1.0/messages/send-template',
          json: {
            key: 'md-key',
            template_name: 'welcome',
            template_content: [],
            async: true,
            message: {
              from_email: 'news@acme.example',
              subject: 'Hello',
              to: [{ email: 'ada@example.com', type: 'to' }],
              global_merge_vars: [
                { name: 'fooBar', content: '1' },
                { name: 'name', content: 'Ada' },
              ],
              track_opens: true,
            },
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the key is wrong, whatever the status',
      { status: 500, body: { status: 'error', code: -1, name: 'Invalid_Key', message: 'Invalid API key' } },
      { code: 'unauthorized', kind: 'credentials' },
    ],
    [
      'the account is not paid for',
      { status: 500, body: { status: 'error', code: 10, name: 'PaymentRequired', message: 'pay' } },
      { code: 'quota_exhausted' },
    ],
    [
      'the recipient bounced before',
      refusal('rejected', 'hard-bounce'),
      { code: 'recipient_refused', says: 'hard-bounce' },
    ],
    ['the recipient is none', refusal('invalid', null), { code: 'recipient_refused', kind: 'address' }],
    ['the sender is not verified', refusal('rejected', 'unsigned'), { code: 'rejected', kind: 'failover' }],
  ],

  check: { method: 'POST', url: 'https://mandrillapp.com/api/1.0/users/ping2', json: { key: 'md-key' } },

  events: [
    { title: 'sent', body: posted(event('send')), events: [sent] },
    {
      title: 'several in one request, each for itself',
      body: posted(
        ...[
          'open',
          'click',
          'hard_bounce',
          'soft_bounce',
          'spam',
          'reject',
          'unsub',
          'deferral',
          'delivered',
          'inbound',
        ].map(event),
      ),
      events: (
        [
          'opened',
          'clicked',
          'bounced',
          'bounced',
          'spam',
          'rejected',
          'unsubscribed',
          'deferred',
          'delivered',
        ] as const
      ).map((status) => ({ ...sent, status })),
    },
    { title: 'as a list of its own', body: [event('send')], events: [sent] },
    { title: 'nothing that can be read', body: 'mandrill_events=%7B', events: [] },
    {
      title: 'signed',
      configurations,
      url: inbound,
      headers: signed('sign'),
      body: posted(event('send')),
      events: [sent],
    },
    {
      title: 'signed by somebody else',
      configurations,
      url: inbound,
      headers: signed('guess'),
      body: posted(event('send')),
      events: undefined,
    },
    {
      title: 'unsigned where signatures are asked for',
      configurations,
      body: posted(event('send')),
      events: undefined,
    },
  ],
})
