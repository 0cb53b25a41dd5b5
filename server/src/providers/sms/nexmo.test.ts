import { testProvider } from '../../../test/provider-suite.ts'
import { nexmo } from './nexmo.ts'

const url = 'https://rest.nexmo.com/sms/json'
const keys = { api_key: 'key-1', api_secret: 'api-secret' }
const refusal = (status: string, text: string) => ({
  body: { 'message-count': '1', messages: [{ status, 'error-text': text }] },
})

testProvider(nexmo, {
  credentials: { apiKey: 'key-1', secretKey: 'api-secret', from: 'Acme' },
  accepted: {
    body: { 'message-count': '1', messages: [{ to: '15550100', 'message-id': '0A0000000123ABCD1', status: '0' }] },
  },
  errorBody: (title) => ({ type: 'https://developer.vonage.com/api-errors', title }),

  sends: [
    {
      title: 'from the configured sender',
      requests: [{ url, form: { ...keys, to: '+15550100', from: 'Acme', text: 'Hi' } }],
      result: { providerMessageId: '0A0000000123ABCD1' },
    },
    {
      title: 'from another sender, in letters GSM does not have',
      message: { from: '15550111', content: 'Привет' },
      requests: [{ url, form: { ...keys, to: '+15550100', from: '15550111', text: 'Привет', type: 'unicode' } }],
      result: { providerMessageId: '0A0000000123ABCD1' },
    },
    {
      title: "with members of the provider's own",
      message: { providerData: { ttl: 900000, _passthrough: { body: { 'client-ref': 'r-1' } } } },
      requests: [
        {
          url,
          form: { ...keys, to: '+15550100', from: 'Acme', text: 'Hi', ttl: '900000', 'client-ref': 'r-1' },
        },
      ],
      result: { providerMessageId: '0A0000000123ABCD1' },
    },
  ],

  refusals: [
    ['it is asked too often', refusal('1', 'Throughput Rate Exceeded'), { code: 'rate_limited', kind: 'later' }],
    ['it refuses the parameters', refusal('3', 'to is invalid'), { code: 'rejected', says: 'to is invalid' }],
    ['the keys are wrong', refusal('4', 'Bad Credentials'), { code: 'unauthorized', kind: 'credentials' }],
    ['the number is barred', refusal('7', 'Number barred'), { code: 'recipient_refused', kind: 'address' }],
    ['there is no money left', refusal('9', 'Quota Exceeded'), { code: 'quota_exhausted', kind: 'failover' }],
    ['the text is too long', refusal('12', 'Message too long'), { code: 'message_refused', kind: 'never' }],
  ],
})
