import { fullMail, testProvider } from '../../../test/provider-suite.ts'
import { mailjet } from './mailjet.ts'

const url = 'https://api.mailjet.com/v3.1/send'
const headers = { authorization: `Basic ${Buffer.from('public:private').toString('base64')}` }
const plain = {
  From: { Email: 'news@acme.example' },
  To: [{ Email: 'ada@example.com' }],
  Subject: 'Hello',
  HTMLPart: '<p>Hi</p>',
}
// Beyond JavaScript's safe integers.
const id = '1152921510009471361'
const result = { providerMessageId: id }
const event = (name: string) =>
  `[{"event":"${name}","time":1777629600,"MessageID":${id},"Message_GUID":"g","comment":"x"}]`
const json = { 'content-type': 'application/json' }
const opened = {
  providerMessageId: id,
  status: 'opened',
  date: new Date('2026-05-01T10:00:00.000Z'),
  response: 'x',
} as const

testProvider(mailjet, {
  credentials: { apiKey: 'public', secretKey: 'private' },
  accepted: {
    body: `{"Messages":[{"Status":"success","To":[{"Email":"ada@example.com","MessageUUID":"u","MessageID":${id},"MessageHref":"h"}]}]}`,
  },
  errorBody: (ErrorMessage) => ({ ErrorIdentifier: 'e', ErrorCode: 'mj-0002', StatusCode: 400, ErrorMessage }),

  sends: [
    { title: 'that is plain', requests: [{ url, headers, json: { Messages: [plain] } }], result },
    {
      title: 'with everything a mail can have',
      message: fullMail,
      requests: [
        {
          url,
          json: {
            Messages: [
              {
                From: { Email: 'news@acme.example', Name: 'Acme' },
                To: [{ Email: 'ada@example.com' }, { Email: 'bob@example.com' }],
                Cc: [{ Email: 'cc@example.com' }],
                Bcc: [{ Email: 'bcc@example.com' }],
                Subject: 'Hello',
                TextPart: 'Hi',
                HTMLPart: '<p>Hi</p>',
                ReplyTo: { Email: 'help@acme.example' },
                Headers: { 'X-Campaign': 'spring' },
                Attachments: [{ ContentType: 'application/pdf', Filename: 'bill.pdf', Base64Content: 'UERG' }],
                InlinedAttachments: [
                  { ContentType: 'image/png', Filename: 'logo.png', Base64Content: '/wA=', ContentID: 'logo' },
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
      message: { providerData: { templateId: 7, customId: 'c', urlTags: 'a=b', variables: { day: 1 } } },
      requests: [
        {
          url,
          json: { Messages: [{ ...plain, TemplateID: 7, CustomID: 'c', URLTags: 'a=b', Variables: { Day: 1 } }] },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the recipient is none',
      {
        status: 400,
        body: {
          Messages: [
            {
              Status: 'error',
              Errors: [
                {
                  ErrorCode: 'mj-0013',
                  StatusCode: 400,
                  ErrorMessage: '"x" is an invalid email address.',
                  ErrorRelatedTo: ['To[0].Email'],
                },
              ],
            },
          ],
        },
      },
      { code: 'recipient_refused', says: '"x" is an invalid email address.' },
    ],
    [
      'an answer of success says otherwise',
      {
        body: { Messages: [{ Status: 'error', Errors: [{ ErrorCode: 'send-0010', ErrorMessage: 'template error' }] }] },
      },
      { code: 'rejected', says: 'template error' },
    ],
  ],

  check: { url: 'https://api.mailjet.com/v3/REST/sender?Limit=1', headers },

  events: [
    { title: 'opened', headers: json, body: event('open'), events: [opened] },
    { title: 'clicked', headers: json, body: event('click'), events: [{ ...opened, status: 'clicked' }] },
    { title: 'sent', headers: json, body: event('sent'), events: [{ ...opened, status: 'sent' }] },
    { title: 'bounced', headers: json, body: event('bounce'), events: [{ ...opened, status: 'bounced' }] },
    { title: 'blocked', headers: json, body: event('blocked'), events: [{ ...opened, status: 'blocked' }] },
    { title: 'spam', headers: json, body: event('spam'), events: [{ ...opened, status: 'spam' }] },
    { title: 'unsubscribed', headers: json, body: event('unsub'), events: [{ ...opened, status: 'unsubscribed' }] },
    { title: 'something else', headers: json, body: event('typofix'), events: [] },
    { title: 'nothing that can be read', headers: json, body: '<html>', events: [] },
  ],
})
