import { fullMail, testProvider } from '../../../test/provider-suite.ts'
import { infobipEmail } from './infobip-email.ts'

const url = 'https://x1.api.infobip.com/email/3/send'
const headers = { authorization: 'App ib-key' }
const result = { providerMessageId: 'id-2' }
const accepted = { groupId: 1, groupName: 'PENDING', name: 'PENDING_ACCEPTED' }

testProvider(infobipEmail, {
  credentials: { apiKey: 'ib-key', baseUrl: 'https://x1.api.infobip.com' },
  accepted: {
    body: {
      messages: [
        { to: 'ada@example.com', messageId: 'id-1', status: accepted },
        { to: 'bob@example.com', messageId: 'id-2', status: accepted },
      ],
    },
  },
  errorBody: (text) => ({ requestError: { serviceException: { messageId: 'BAD_REQUEST', text } } }),

  sends: [
    {
      title: 'that is plain',
      requests: [
        {
          url,
          headers,
          multipart: [
            ['from', 'news@acme.example'],
            ['to', 'ada@example.com'],
            ['subject', 'Hello'],
            ['html', '<p>Hi</p>'],
          ],
        },
      ],
      result,
    },
    {
      title: 'with everything a mail can have, at a host without its scheme',
      credentials: { baseUrl: 'x1.api.infobip.com/' },
      message: fullMail,
      requests: [
        {
          url,
          multipart: [
            ['from', '"Acme" <news@acme.example>'],
            ['to', 'ada@example.com'],
            ['to', 'bob@example.com'],
            ['cc', 'cc@example.com'],
            ['bcc', 'bcc@example.com'],
            ['replyTo', 'help@acme.example'],
            ['subject', 'Hello'],
            ['text', 'Hi'],
            ['html', '<p>Hi</p>'],
            ['headers', '{"X-Campaign":"spring"}'],
            ['attachment', ['bill.pdf', 'application/pdf', 'UERG']],
            ['inlineImage', ['logo', 'image/png', '/wA=']],
          ],
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { providerData: { tracking_url: 'https://a.example', intermediateReport: true } },
      requests: [
        {
          url,
          multipart: [
            ['from', 'news@acme.example'],
            ['to', 'ada@example.com'],
            ['subject', 'Hello'],
            ['html', '<p>Hi</p>'],
            ['trackingUrl', 'https://a.example'],
            ['intermediateReport', 'true'],
          ],
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says otherwise',
      {
        body: {
          messages: [
            {
              to: 'ada@example.com',
              messageId: 'id-1',
              status: { groupName: 'REJECTED', description: 'not enough credits' },
            },
          ],
        },
      },
      { code: 'rejected', says: 'not enough credits' },
    ],
  ],
})
