import { testProvider } from '../../../test/provider-suite.ts'
import { smsmode } from './smsmode.ts'

const url = 'https://rest.smsmode.com/sms/v1/messages'
const headers = { 'x-api-key': 'api-key' }
const plain = {
  from: 'Acme',
  recipient: { to: '+15550100' },
  body: { text: 'Hi' },
  refClient: '6630a1b2c3d4e5f601020304',
}
const result = { providerMessageId: '67c15045', date: '2026-05-01T10:00:00' }

testProvider(smsmode, {
  credentials: { apiKey: 'api-key', from: 'Acme' },
  accepted: { status: 201, body: { messageId: '67c15045', acceptedAt: '2026-05-01T10:00:00' } },
  errorBody: (message) => ({ status: 400, error: 'Bad Request', message }),

  sends: [
    { title: 'from the configured sender', requests: [{ url, headers, json: plain }], result },
    {
      title: "with members of the provider's own, in letters GSM does not have",
      message: {
        from: 'Shop',
        content: 'Ôô',
        providerData: { body: { stop: true }, callbackUrlStatus: 'https://a.example' },
      },
      requests: [
        {
          url,
          json: {
            ...plain,
            from: 'Shop',
            body: { text: 'Ôô', encoding: 'UNICODE', stop: true },
            callbackUrlStatus: 'https://a.example',
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the number is none',
      { status: 400, body: { message: 'recipient.to must be a phone number' } },
      { code: 'recipient_refused', kind: 'address' },
    ],
  ],
})
