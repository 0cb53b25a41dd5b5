import { testProvider } from '../../../test/provider-suite.ts'
import { bulkSms } from './bulk-sms.ts'

const url = 'https://api.bulksms.com/v1/messages'
const headers = { authorization: `Basic ${Buffer.from('token-id:token-secret').toString('base64')}` }
const plain = { to: ['+15550100'], body: 'Hi', userSuppliedId: '6630a1b2c3d4e5f601020304' }
const result = { providerMessageId: '4023457654' }

testProvider(bulkSms, {
  credentials: { apiToken: 'token-id:token-secret' },
  accepted: { status: 201, body: [{ id: '4023457654', type: 'SENT', to: '15550100', status: { type: 'ACCEPTED' } }] },
  errorBody: (detail) => ({
    type: 'https://developer.bulksms.com/json/v1/errors#bad-request',
    title: 'Bad Request',
    status: 400,
    detail,
  }),

  sends: [
    { title: 'that is plain', requests: [{ url, headers, json: plain }], result },
    {
      title: 'from the configured number',
      credentials: { from: '+15550199' },
      requests: [{ url, json: { ...plain, from: { type: 'INTERNATIONAL', address: '15550199' } } }],
      result,
    },
    {
      title: 'from a name, in letters GSM does not have',
      credentials: { from: '15550199' },
      message: { from: 'Shop24', content: 'Привет' },
      requests: [
        {
          url,
          json: {
            ...plain,
            body: 'Привет',
            from: { type: 'ALPHANUMERIC', address: 'Shop24' },
            encoding: 'UNICODE',
          },
        },
      ],
      result,
    },
    {
      title: "without a sender that cannot be one, with members of the provider's own",
      message: { from: 'My Shop!', providerData: { deliveryReports: 'ALL', to: ['+15550101'] } },
      requests: [{ url, json: { ...plain, to: ['+15550100', '+15550101'], deliveryReports: 'ALL' } }],
      result,
    },
  ],

  refusals: [
    [
      'there is no money left',
      {
        status: 403,
        body: {
          type: 'https://developer.bulksms.com/json/v1/errors#insufficient-credits',
          detail: 'You do not have enough credits',
        },
      },
      { code: 'quota_exhausted', kind: 'failover', says: 'You do not have enough credits' },
    ],
  ],
})
