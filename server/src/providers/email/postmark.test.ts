import { fullMail, testProvider } from '../../../test/provider-suite.ts'
import { postmark } from './postmark.ts'

const url = 'https://api.postmarkapp.com/email'
const headers = { 'x-postmark-server-token': 'server-token' }
const event = { MessageID: 'b7bc2f4a', RecordType: 'Delivery' }

testProvider(postmark, {
  credentials: { apiKey: 'server-token', from: 'news@acme.example', senderName: 'Acme' },
  accepted: {
    body: {
      To: 'ada@example.com',
      SubmittedAt: '2026-05-01T10:00:00.0000000-04:00',
      MessageID: 'b7bc2f4a',
      ErrorCode: 0,
      Message: 'OK',
    },
  },
  errorBody: (Message) => ({ ErrorCode: 300, Message }),

  sends: [
    {
      title: 'that is plain',
      requests: [
        {
          url,
          headers,
          json: { From: 'news@acme.example', To: 'ada@example.com', Subject: 'Hello', HtmlBody: '<p>Hi</p>' },
        },
      ],
      result: { providerMessageId: 'b7bc2f4a', date: '2026-05-01T10:00:00.0000000-04:00' },
    },
    {
      title: 'with everything a mail can have',
      message: fullMail,
      requests: [
        {
          url,
          headers,
          json: {
            From: '"Acme" <news@acme.example>',
            To: 'ada@example.com,bob@example.com',
            Cc: 'cc@example.com',
            Bcc: 'bcc@example.com',
            Subject: 'Hello',
            HtmlBody: '<p>Hi</p>',
            TextBody: 'Hi',
            ReplyTo: 'help@acme.example',
            Headers: [{ Name: 'X-Campaign', Value: 'spring' }],
            Attachments: [
              { Name: 'bill.pdf', Content: 'UERG', ContentType: 'application/pdf' },
              { Name: 'logo.png', Content: '/wA=', ContentType: 'image/png', ContentID: 'cid:logo' },
            ],
          },
        },
      ],
      result: { providerMessageId: 'b7bc2f4a', date: '2026-05-01T10:00:00.0000000-04:00' },
    },
    {
      title: "with members of the provider's own",
      message: {
        providerData: {
          messageStream: 'outbound',
          trackOpens: true,
          _passthrough: { body: { Tag: 'welcome', Metadata: { fooBar: '1' } } },
        },
      },
      requests: [
        {
          url,
          json: {
            From: 'news@acme.example',
            To: 'ada@example.com',
            Subject: 'Hello',
            HtmlBody: '<p>Hi</p>',
            MessageStream: 'outbound',
            TrackOpens: true,
            Tag: 'welcome',
            Metadata: { fooBar: '1' },
          },
        },
      ],
      result: { providerMessageId: 'b7bc2f4a', date: '2026-05-01T10:00:00.0000000-04:00' },
    },
  ],

  refusals: [
    [
      'the recipient is known to be out of reach',
      {
        status: 422,
        body: { ErrorCode: 406, Message: 'You tried to send to a recipient that has been marked as inactive.' },
      },
      { code: 'recipient_refused', kind: 'address' },
    ],
    [
      'an answer of success says otherwise',
      { body: { ErrorCode: 405, Message: 'Not allowed to send' } },
      { code: 'quota_exhausted', kind: 'failover', says: 'Not allowed to send' },
    ],
    ['the token is wrong', { status: 422, body: { ErrorCode: 10, Message: 'Bad token' } }, { code: 'unauthorized' }],
  ],

  check: { url: 'https://api.postmarkapp.com/server', headers },

  events: [
    { title: 'delivered', body: event, events: [{ providerMessageId: 'b7bc2f4a', status: 'delivered' }] },
    {
      title: 'opened',
      body: { ...event, RecordType: 'Open' },
      events: [{ providerMessageId: 'b7bc2f4a', status: 'opened' }],
    },
    {
      title: 'clicked',
      body: { ...event, RecordType: 'Click' },
      events: [{ providerMessageId: 'b7bc2f4a', status: 'clicked' }],
    },
    {
      title: 'bounced',
      body: { ...event, RecordType: 'Bounce', Details: 'no mailbox' },
      events: [{ providerMessageId: 'b7bc2f4a', status: 'bounced', response: 'no mailbox' }],
    },
    {
      title: 'spam',
      body: { ...event, RecordType: 'SpamComplaint' },
      events: [{ providerMessageId: 'b7bc2f4a', status: 'spam' }],
    },
    {
      title: 'unsubscribed',
      body: { ...event, RecordType: 'SubscriptionChange' },
      events: [{ providerMessageId: 'b7bc2f4a', status: 'unsubscribed' }],
    },
    { title: 'something else', body: { ...event, RecordType: 'Inbound' }, events: [] },
    { title: 'nothing at all', body: [null, 'x', {}], events: [] },
  ],
})
