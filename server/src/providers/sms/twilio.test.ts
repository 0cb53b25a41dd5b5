import { createHmac } from 'node:crypto'
import { testProvider } from '../../../test/provider-suite.ts'
import { twilio } from './twilio.ts'

const url = 'https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json'
const headers = { authorization: `Basic ${Buffer.from('AC1:auth-token').toString('base64')}` }
const inbound = 'https://belfry.example.com/v2/inbound-webhooks/delivery-providers/e/i'
const sign = (text: string, key = 'auth-token') => ({
  'X-Twilio-Signature': createHmac('sha1', key)
    .update(inbound + text)
    .digest('base64'),
})
const delivered = 'MessageStatus=delivered&MessageSid=SM1'
/** A report as Twilio signs it. */
const reported = (body: string) => {
  const pairs = [...new URLSearchParams(body)].sort(([a], [b]) => (a < b ? -1 : 1))
  return { url: inbound, headers: sign(pairs.flat().join('')), body }
}
const signedText = 'MessageSidSM1MessageStatusdelivered'

testProvider(twilio, {
  credentials: { accountSid: 'AC1', token: 'auth-token', from: '+15550199' },
  accepted: { status: 201, body: { sid: 'SM1', status: 'queued', date_created: 'Fri, 01 May 2026 10:00:00 +0000' } },
  errorBody: (message) => ({
    code: 20404,
    message,
    more_info: 'https://www.twilio.com/docs/errors/20404',
    status: 400,
  }),

  sends: [
    {
      title: 'from the configured number',
      requests: [{ url, headers, form: { To: '+15550100', From: '+15550199', Body: 'Hi' } }],
      result: { providerMessageId: 'SM1', date: 'Fri, 01 May 2026 10:00:00 +0000' },
    },
    {
      title: 'from a messaging service, which is no number',
      message: { from: 'MG0123456789abcdef0123456789abcdef' },
      requests: [
        { url, form: { To: '+15550100', MessagingServiceSid: 'MG0123456789abcdef0123456789abcdef', Body: 'Hi' } },
      ],
      result: { providerMessageId: 'SM1', date: 'Fri, 01 May 2026 10:00:00 +0000' },
    },
    {
      title: "with members of the provider's own, in either spelling",
      message: {
        from: '+15550111',
        providerData: {
          statusCallback: 'https://a.example',
          _passthrough: { body: { mediaUrl: ['https://b.example', 'https://c.example'] } },
        },
      },
      requests: [
        {
          url,
          form: [
            ['To', '+15550100'],
            ['From', '+15550111'],
            ['Body', 'Hi'],
            ['StatusCallback', 'https://a.example'],
            ['MediaUrl', 'https://b.example'],
            ['MediaUrl', 'https://c.example'],
          ],
        },
      ],
      result: { providerMessageId: 'SM1', date: 'Fri, 01 May 2026 10:00:00 +0000' },
    },
  ],

  refusals: [
    [
      'the number is none',
      { status: 400, body: { code: 21211, message: "Invalid 'To' Phone Number", status: 400 } },
      { code: 'recipient_refused', kind: 'address', says: "Invalid 'To' Phone Number" },
    ],
    [
      'the recipient wants no more messages',
      { status: 400, body: { code: 21610, message: 'unsubscribed recipient', status: 400 } },
      { kind: 'address' },
    ],
    [
      'the account has sent enough for today',
      { status: 429, body: { code: 63038, message: 'exceeded the daily messages limit', status: 429 } },
      { code: 'quota_exhausted', kind: 'failover' },
    ],
  ],

  events: [
    { title: 'delivered', ...reported(delivered), events: [{ providerMessageId: 'SM1', status: 'delivered' }] },
    {
      title: 'undelivered, and why',
      ...reported('MessageSid=SM1&MessageStatus=undelivered&ErrorCode=30003'),
      events: [{ providerMessageId: 'SM1', status: 'undelivered', response: '30003' }],
    },
    ...(['accepted', 'queued', 'sending', 'sent', 'failed'] as const).map((status) => ({
      title: status,
      ...reported(`MessageSid=SM1&MessageStatus=${status}`),
      events: [{ providerMessageId: 'SM1', status }],
    })),
    { title: 'something else', ...reported('MessageSid=SM1&MessageStatus=read'), events: [] },
    {
      title: 'signed',
      url: inbound,
      headers: sign(signedText),
      body: delivered,
      events: [{ providerMessageId: 'SM1', status: 'delivered' }],
    },
    {
      title: 'signed by somebody else',
      url: inbound,
      headers: sign(signedText, 'guess'),
      body: delivered,
      events: undefined,
    },
    {
      title: 'signed for other words',
      url: inbound,
      headers: sign('MessageSidSM2'),
      body: delivered,
      events: undefined,
    },
    {
      title: 'unsigned (hole 11)',
      body: delivered,
      events: undefined,
    },
  ],
})
