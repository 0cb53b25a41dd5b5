import { testProvider } from '../../../test/provider-suite.ts'
import { brevoSms } from './brevo-sms.ts'

const url = 'https://api.brevo.com/v3/transactionalSMS/sms'
const headers = { 'api-key': 'xkeysib-1' }
const result = { providerMessageId: '1511882900176220' }

testProvider(brevoSms, {
  credentials: { apiKey: 'xkeysib-1', from: 'Acme' },
  accepted: { status: 201, body: { reference: 'ab1cde2fgh3i4jklmno', messageId: 1511882900176220, smsCount: 1 } },
  errorBody: (message) => ({ code: 'invalid_parameter', message }),

  sends: [
    {
      title: 'from the configured sender',
      requests: [{ url, headers, json: { sender: 'Acme', recipient: '+15550100', content: 'Hi' } }],
      result,
    },
    {
      title: "with members of the provider's own, in letters GSM does not have",
      message: { from: 'Shop', content: '你好', providerData: { type: 'marketing', webUrl: 'https://a.example' } },
      requests: [
        {
          url,
          json: {
            sender: 'Shop',
            recipient: '+15550100',
            content: '你好',
            unicodeEnabled: true,
            type: 'marketing',
            webUrl: 'https://a.example',
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success has no id',
      { body: { reference: 'r' } },
      { code: 'rejected', says: 'Failed: {"reference":"r"}' },
    ],
    [
      'there is no money left',
      { status: 402, body: { code: 'not_enough_credits', message: 'SMS credits are not enough' } },
      { code: 'quota_exhausted', kind: 'failover' },
    ],
  ],
})
