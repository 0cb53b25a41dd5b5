import { fullMail, plainMail, testProvider } from '../../../test/provider-suite.ts'
import { uuidOf } from '../provider.ts'
import { sendinblue } from './sendinblue.ts'

const url = 'https://api.brevo.com/v3/smtp/email'
const headers = { 'api-key': 'xkeysib' }
const plain = {
  sender: { email: 'news@acme.example' },
  to: [{ email: 'ada@example.com' }],
  subject: 'Hello',
  htmlContent: '<p>Hi</p>',
  headers: { idempotencyKey: uuidOf(plainMail.id) },
}
const result = { providerMessageId: '<1@smtp-relay.mailin.fr>' }
const event = { event: 'delivered', 'message-id': '<1@smtp-relay.mailin.fr>', ts_event: 1_777_629_600, reason: 'sent' }
const delivered = {
  providerMessageId: '<1@smtp-relay.mailin.fr>',
  status: 'delivered',
  date: new Date('2026-05-01T10:00:00.000Z'),
  response: 'sent',
} as const

testProvider(sendinblue, {
  credentials: { apiKey: 'xkeysib' },
  accepted: { status: 201, body: { messageId: '<1@smtp-relay.mailin.fr>' } },
  errorBody: (message) => ({ code: 'invalid_parameter', message }),

  sends: [
    { title: 'that is plain', requests: [{ url, headers, json: plain }], result },
    {
      title: 'with everything a mail can have',
      message: fullMail,
      requests: [
        {
          url,
          json: {
            sender: { email: 'news@acme.example', name: 'Acme' },
            to: [{ email: 'ada@example.com' }, { email: 'bob@example.com' }],
            cc: [{ email: 'cc@example.com' }],
            bcc: [{ email: 'bcc@example.com' }],
            subject: 'Hello',
            htmlContent: '<p>Hi</p>',
            textContent: 'Hi',
            replyTo: { email: 'help@acme.example' },
            attachment: [
              { name: 'bill.pdf', content: 'UERG' },
              { name: 'logo.png', content: '/wA=' },
            ],
            headers: { 'X-Campaign': 'spring', idempotencyKey: uuidOf(plainMail.id) },
          },
        },
      ],
      result,
    },
    {
      title: "from a template, with members of the provider's own",
      message: {
        customData: { templateId: 7, templateParams: { fooBar: 1 } },
        providerData: { batch_id: 'b', _passthrough: { body: { tags: ['a'] } } },
      },
      requests: [{ url, json: { ...plain, templateId: 7, params: { fooBar: 1 }, batchId: 'b', tags: ['a'] } }],
      result,
    },
    {
      title: 'that an earlier attempt brought it after all',
      message: { attempt: 2 },
      replies: [{ status: 400, body: { code: 'invalid_parameter', message: 'idempotencyKey was used before' } }],
      requests: [{ url, json: plain }],
      result: { providerMessageId: plainMail.id },
    },
  ],

  refusals: [
    [
      'it knows the message before we ever sent it',
      { status: 400, body: { code: 'invalid_parameter', message: 'idempotencyKey was used before' } },
      { code: 'rejected', kind: 'failover' },
    ],
    [
      'the account has no credits left',
      { status: 402, body: { code: 'not_enough_credits', message: 'not enough credits' } },
      { code: 'quota_exhausted', kind: 'failover' },
    ],
  ],

  check: { url: 'https://api.brevo.com/v3/account', headers },

  events: [
    { title: 'delivered', body: event, events: [delivered] },
    ...(
      [
        ['opened', 'opened'],
        ['unique_opened', 'opened'],
        ['uniqueOpened', 'opened'],
        ['proxy_open', 'opened'],
        ['request', 'sent'],
        ['hard_bounce', 'bounced'],
        ['softBounce', 'bounced'],
        ['blocked', 'blocked'],
        ['unsubscribed', 'unsubscribed'],
        ['click', 'clicked'],
        ['complaint', 'complaint'],
        ['spam', 'spam'],
        ['deferred', 'deferred'],
        ['invalid_email', 'dropped'],
        ['error', 'dropped'],
      ] as const
    ).map(([name, status]) => ({ title: name, body: { ...event, event: name }, events: [{ ...delivered, status }] })),
    { title: 'something else', body: { ...event, event: 'list_addition' }, events: [] },
  ],
})
