import { testProvider } from '../../../test/provider-suite.ts'
import { afroMessage } from './afro-message.ts'

const url = 'https://api.afromessage.com/api/send?from=e80ad9d8&sender=Acme&to=%2B15550100&message=Hi'
const headers = { authorization: 'Bearer api-token' }
const result = { providerMessageId: '2e6c1d0c' }

testProvider(afroMessage, {
  credentials: { apiKey: 'api-token', senderName: 'Acme', from: 'e80ad9d8' },
  accepted: { body: { acknowledge: 'success', response: { status: 'Send', message_id: '2e6c1d0c' } } },
  errorBody: (words) => ({ acknowledge: 'error', response: { errors: [words] } }),

  sends: [
    { title: 'under the configured identifier', requests: [{ method: 'GET', url, headers }], result },
    {
      title: "with members of the provider's own, whatever sender the message names",
      message: { from: 'Shop', providerData: { callback: 'https://a.example' } },
      requests: [{ method: 'GET', url: `${url}&callback=https%3A%2F%2Fa.example` }],
      result,
    },
    {
      title: 'without telling an id: ours is stored',
      replies: [{ body: { acknowledge: 'success', response: {} } }],
      requests: [{ method: 'GET', url }],
      result: { providerMessageId: '6630a1b2c3d4e5f601020304' },
    },
  ],

  refusals: [
    [
      'an answer of success says otherwise',
      { body: { acknowledge: 'error', response: { errors: ['Invalid sender name'] } } },
      { code: 'rejected', kind: 'failover', says: 'Invalid sender name' },
    ],
  ],
})
