import { fullMail, testProvider } from '../../../test/provider-suite.ts'
import { mailersend } from './mailersend.ts'

const url = 'https://api.mailersend.com/v1/email'
const headers = { authorization: 'Bearer mlsn.key' }
const plain = {
  from: { email: 'news@acme.example' },
  to: [{ email: 'ada@example.com' }],
  subject: 'Hello',
  html: '<p>Hi</p>',
}
const result = { providerMessageId: '5e42957d' }

testProvider(mailersend, {
  credentials: { apiKey: 'mlsn.key' },
  accepted: { status: 202, body: '', headers: { 'X-Message-Id': '5e42957d' } },
  notJson: 'accepted',
  errorBody: (message) => ({ message, errors: { 'from.email': [message] } }),

  sends: [
    { title: 'that is plain', requests: [{ url, headers, json: plain }], result },
    {
      title: 'with everything a mail can have',
      message: fullMail,
      requests: [
        {
          url,
          json: {
            from: { email: 'news@acme.example', name: 'Acme' },
            to: [{ email: 'ada@example.com' }, { email: 'bob@example.com' }],
            cc: [{ email: 'cc@example.com' }],
            bcc: [{ email: 'bcc@example.com' }],
            reply_to: { email: 'help@acme.example' },
            subject: 'Hello',
            html: '<p>Hi</p>',
            text: 'Hi',
            headers: [{ name: 'X-Campaign', value: 'spring' }],
            attachments: [
              { content: 'UERG', filename: 'bill.pdf', disposition: 'attachment' },
              { content: '/wA=', filename: 'logo.png', disposition: 'inline', id: 'logo' },
            ],
          },
        },
      ],
      result,
    },
    {
      title: "from a template, with members of the provider's own",
      message: {
        customData: { templateId: 't1', personalization: [{ email: 'ada@example.com', data: { fooBar: 1 } }] },
        providerData: { sendAt: 1 },
      },
      requests: [
        {
          url,
          json: {
            ...plain,
            template_id: 't1',
            personalization: [{ email: 'ada@example.com', data: { fooBar: 1 } }],
            send_at: 1,
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the recipient is none',
      {
        status: 422,
        body: { message: 'The to.0.email must be a valid email address.', errors: { 'to.0.email': ['x'] } },
      },
      { code: 'recipient_refused', kind: 'address' },
    ],
  ],

  check: { url: 'https://api.mailersend.com/v1/api-quota', headers },
})
