import { fullMail, testProvider } from '../../../test/provider-suite.ts'
import { mailtrap } from './mailtrap.ts'

const url = 'https://send.api.mailtrap.io/api/send'
const headers = { authorization: 'Bearer mt-key' }
const plain = {
  from: { email: 'news@acme.example' },
  to: [{ email: 'ada@example.com' }],
  subject: 'Hello',
  html: '<p>Hi</p>',
}
const result = { providerMessageId: '0c7fd939' }

testProvider(mailtrap, {
  credentials: { apiKey: 'mt-key' },
  accepted: { body: { success: true, message_ids: ['0c7fd939'] } },
  errorBody: (words) => ({ success: false, errors: [words] }),

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
            text: 'Hi',
            html: '<p>Hi</p>',
            headers: { 'X-Campaign': 'spring' },
            attachments: [
              { filename: 'bill.pdf', content: 'UERG', type: 'application/pdf', disposition: 'attachment' },
              { filename: 'logo.png', content: '/wA=', type: 'image/png', disposition: 'inline', content_id: 'logo' },
            ],
          },
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { providerData: { customVariables: { a: '1' }, category: 'spring' } },
      requests: [{ url, json: { ...plain, custom_variables: { a: '1' }, category: 'spring' } }],
      result,
    },
  ],

  refusals: [
    [
      'it says so in another way',
      { status: 401, body: { error: 'Incorrect API token' } },
      { says: 'Incorrect API token' },
    ],
    [
      'the recipient is none',
      { status: 400, body: { success: false, errors: ["'to' address is invalid"] } },
      { code: 'recipient_refused', kind: 'address' },
    ],
    [
      'an answer of success says otherwise',
      { body: { success: false, errors: ['no'] } },
      { code: 'rejected', says: 'no' },
    ],
  ],
})
