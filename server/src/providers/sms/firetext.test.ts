import { testProvider } from '../../../test/provider-suite.ts'
import { firetext } from './firetext.ts'

const url = 'https://www.firetext.co.uk/api/sendsms?apiKey=api-key&to=%2B15550100'
const result = { providerMessageId: '6630a1b2-id' }

testProvider(firetext, {
  credentials: { apiKey: 'api-key', from: 'Acme' },
  accepted: { headers: { 'X-Message': '6630a1b2-id' }, body: '0:1 SMS successfully queued' },
  errorBody: (words) => `8:0 ${words}`,
  notJson: { code: 'unreadable_answer', kind: 'later' },

  sends: [
    {
      title: 'from the configured sender',
      requests: [{ method: 'GET', url: `${url}&from=Acme&message=Hi` }],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { from: 'Shop', content: 'Ŷ', providerData: { reference: 'r 1' } },
      requests: [{ method: 'GET', url: `${url}&from=Shop&message=%C5%B6&reference=r+1` }],
      result,
    },
    {
      title: 'without telling an id: ours is stored',
      replies: [{ body: '0:1 SMS successfully queued' }],
      requests: [{ method: 'GET', url: `${url}&from=Acme&message=Hi` }],
      result: { providerMessageId: '6630a1b2c3d4e5f601020304' },
    },
  ],

  refusals: [
    [
      'an answer of success says the key is wrong',
      { body: '1:0 Authentication error' },
      { code: 'unauthorized', kind: 'credentials', says: 'Authentication error' },
    ],
    ['the number is none', { body: '2:0 Destination number(s) error' }, { code: 'recipient_refused', kind: 'address' }],
    ['there is no money left', { body: '7:0 Insufficient credit' }, { code: 'quota_exhausted', kind: 'failover' }],
  ],
})
