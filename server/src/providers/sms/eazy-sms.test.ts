import { testProvider } from '../../../test/provider-suite.ts'
import { eazySms } from './eazy-sms.ts'

const base = 'https://api.eazy.im/v3/channels/acme@sms.eazy.im/messages'
const headers = { authorization: 'Bearer api-key' }
const result = { providerMessageId: '2574a339-86ff' }

testProvider(eazySms, {
  credentials: { apiKey: 'api-key', channelId: 'acme@sms.eazy.im' },
  accepted: { status: 201, body: { id: '2574a339-86ff' } },
  errorBody: (message) => ({ message }),

  sends: [
    {
      title: 'that is plain',
      requests: [{ url: `${base}/+15550100@sms.eazy.im`, headers, json: { message: { text: 'Hi', type: 'text' } } }],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { providerData: { message: { type: 'other' }, _passthrough: { body: { tag: 't' } } } },
      requests: [{ url: `${base}/+15550100@sms.eazy.im`, json: { message: { text: 'Hi', type: 'other' }, tag: 't' } }],
      result,
    },
    {
      title: 'to a number that leads nowhere else',
      message: { to: '../x?y' },
      requests: [{ url: `${base}/..%2Fx%3Fy@sms.eazy.im`, json: { message: { text: 'Hi', type: 'text' } } }],
      result,
    },
  ],
})
