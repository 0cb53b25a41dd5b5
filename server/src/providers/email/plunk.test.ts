import { fullMail, testProvider } from '../../../test/provider-suite.ts'
import { plunk } from './plunk.ts'

const url = 'https://api.useplunk.com/v1/send'
const headers = { authorization: 'Bearer sk_key' }
const plain = { from: 'news@acme.example', to: ['ada@example.com'], subject: 'Hello', body: '<p>Hi</p>' }
const sent = {
  emails: [{ contact: { id: 'contact-1', email: 'ada@example.com' }, email: 'email-1' }],
  timestamp: '2026-05-01T10:00:00.000Z',
}
const result = { providerMessageId: 'email-1', date: '2026-05-01T10:00:00.000Z' }

testProvider(plunk, {
  credentials: { apiKey: 'sk_key' },
  accepted: { body: { success: true, ...sent } },
  errorBody: (message) => ({ code: 400, error: 'Bad Request', message }),

  sends: [
    { title: 'that is plain', requests: [{ url, headers, json: plain }], result },
    {
      title: 'with everything a mail can have, a mail for each recipient',
      message: fullMail,
      requests: [
        {
          url,
          json: {
            from: 'news@acme.example',
            name: 'Acme',
            to: ['ada@example.com', 'bob@example.com', 'cc@example.com', 'bcc@example.com'],
            subject: 'Hello',
            body: '<p>Hi</p>',
            reply: 'help@acme.example',
            headers: { 'X-Campaign': 'spring' },
            attachments: [
              { filename: 'bill.pdf', content: 'UERG', contentType: 'application/pdf' },
              { filename: 'logo.png', content: '/wA=', contentType: 'image/png' },
            ],
          },
        },
      ],
      result,
    },
    {
      title: 'and answers as its newer API does',
      replies: [{ body: { success: true, data: { emails: [{ contact: { id: 'contact-1' } }] } } }],
      message: { html: '', text: 'Hi', providerData: { subscribed: true } },
      requests: [{ url, json: { ...plain, body: 'Hi', subscribed: true } }],
      result: { providerMessageId: 'contact-1' },
    },
  ],

  refusals: [
    [
      'an answer of success says otherwise',
      { body: { success: false, error: { message: 'no' } } },
      { code: 'rejected', says: 'no' },
    ],
  ],
})
