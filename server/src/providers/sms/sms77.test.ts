import { testProvider } from '../../../test/provider-suite.ts'
import { sms77 } from './sms77.ts'

const url = 'https://gateway.seven.io/api/sms'
const headers = { 'x-api-key': 'api-key' }
const result = { providerMessageId: '77149812686' }

testProvider(sms77, {
  credentials: { apiKey: 'api-key', from: 'Acme' },
  accepted: {
    body: {
      success: '100',
      total_price: 0.075,
      messages: [{ id: '77149812686', recipient: '15550100', success: true, error: null, error_text: null }],
    },
  },
  errorBody: (error) => ({ error }),

  sends: [
    {
      title: 'from the configured sender',
      requests: [{ url, headers, json: { from: 'Acme', to: '+15550100', text: 'Hi', json: true } }],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { from: '15550111', providerData: { foreignId: 'f-1', performanceTracking: true } },
      requests: [
        {
          url,
          json: {
            from: '15550111',
            to: '+15550100',
            text: 'Hi',
            json: true,
            foreign_id: 'f-1',
            performance_tracking: true,
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says the number is none',
      { body: { success: '101', messages: [{ success: false, error: '202', error_text: 'recipient invalid' }] } },
      { code: 'recipient_refused', kind: 'address', says: 'recipient invalid' },
    ],
    ['it was sent a moment ago', { body: { success: '402' } }, { code: 'message_refused', kind: 'never' }],
    ['there is no money left', { body: { success: '500', messages: [] } }, { code: 'quota_exhausted', says: '500' }],
    [
      'an answer of success is only a number',
      { body: '900' },
      { code: 'unauthorized', kind: 'credentials', says: '900' },
    ],
  ],
})
