import { testProvider } from '../../../test/provider-suite.ts'
import { clickatell } from './clickatell.ts'

const url = 'https://platform.clickatell.com/messages'
const headers = { authorization: 'api-key' }
const result = { providerMessageId: '77fb2999' }

testProvider(clickatell, {
  credentials: { apiKey: 'api-key' },
  accepted: {
    status: 202,
    body: { messages: [{ apiMessageId: '77fb2999', accepted: true, to: '15550100', error: null }], error: null },
  },
  errorBody: (error) => ({ messages: [], error }),

  sends: [
    {
      title: 'that is plain',
      requests: [{ url, headers, json: { to: ['+15550100'], content: 'Hi', binary: true } }],
      result,
    },
    {
      title: "from a chosen number, with members of the provider's own",
      message: { from: '15550111', providerData: { binary: false, _passthrough: { body: { charset: 'UTF-8' } } } },
      requests: [
        { url, json: { to: ['+15550100'], from: '15550111', content: 'Hi', binary: false, charset: 'UTF-8' } },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says otherwise',
      {
        status: 207,
        body: {
          messages: [
            { apiMessageId: null, accepted: false, error: 'Invalid or missing destination address', errorCode: '105' },
          ],
        },
      },
      { code: 'rejected', kind: 'failover', says: 'Invalid or missing destination address' },
    ],
    [
      'there is no money left',
      { status: 402, body: { messages: [{ accepted: false, error: { code: '301', description: 'No credit left' } }] } },
      { code: 'quota_exhausted', says: 'No credit left' },
    ],
  ],
})
