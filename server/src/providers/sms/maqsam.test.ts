import { testProvider } from '../../../test/provider-suite.ts'
import { maqsam } from './maqsam.ts'

const url = 'https://api.maqsam.com/v2/sms'
const headers = { authorization: `Basic ${Buffer.from('key-1:access-secret').toString('base64')}` }
const result = { providerMessageId: '1177', date: '2026-05-01T10:00:00.000Z' }

testProvider(maqsam, {
  credentials: { apiKey: 'key-1', secretKey: 'access-secret', from: 'Acme' },
  accepted: { body: { result: 'success', message: { identifier: '1177', timestamp: 1777629600 } } },
  errorBody: (message) => ({ result: 'error', message }),

  sends: [
    {
      title: 'from the configured sender',
      requests: [{ url, headers, json: { to: '+15550100', message: 'Hi', sender: 'Acme' } }],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { from: 'Shop', providerData: { _passthrough: { body: { note: 'n' } } } },
      requests: [{ url, json: { to: '+15550100', message: 'Hi', sender: 'Shop', note: 'n' } }],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says otherwise',
      { body: { result: 'error', message: 'Sender is not registered' } },
      { code: 'rejected', kind: 'failover', says: 'Sender is not registered' },
    ],
  ],
})
