import { testProvider } from '../../../test/provider-suite.ts'
import { infobipSms } from './infobip-sms.ts'

const url = 'https://xyz.api.infobip.com/sms/2/text/advanced'
const headers = { authorization: 'App api-key' }
const result = { providerMessageId: '2250be2d' }
const answer = (groupName: string, name: string, description: string) => ({
  body: { messages: [{ messageId: '2250be2d', to: '15550100', status: { groupName, name, description } }] },
})

testProvider(infobipSms, {
  credentials: { apiKey: 'api-key', baseUrl: 'https://xyz.api.infobip.com/', from: 'Acme' },
  accepted: answer('PENDING', 'PENDING_ACCEPTED', 'Message sent to next instance'),
  errorBody: (text) => ({ requestError: { serviceException: { messageId: 'BAD_REQUEST', text } } }),

  sends: [
    {
      title: 'from the configured sender',
      requests: [
        { url, headers, json: { messages: [{ from: 'Acme', destinations: [{ to: '+15550100' }], text: 'Hi' }] } },
      ],
      result,
    },
    {
      title: 'at a host without a scheme, as accounts show it',
      credentials: { baseUrl: 'xyz.api.infobip.com' },
      requests: [{ url, json: { messages: [{ from: 'Acme', destinations: [{ to: '+15550100' }], text: 'Hi' }] } }],
      result,
    },
    {
      title: "with members of the provider's own, which belong to the message",
      message: { from: 'Shop', providerData: { destinations: [{ to: '+15550101' }], validityPeriod: 720 } },
      requests: [
        {
          url,
          json: {
            messages: [
              {
                from: 'Shop',
                destinations: [{ to: '+15550100' }, { to: '+15550101' }],
                text: 'Hi',
                validityPeriod: 720,
              },
            ],
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says the number is none',
      answer('REJECTED', 'REJECTED_PREFIX_MISSING', 'Number prefix missing'),
      { code: 'recipient_refused', kind: 'address', says: 'Number prefix missing' },
    ],
    ['there is no money left', answer('REJECTED', 'REJECTED_NOT_ENOUGH_CREDITS', ''), { code: 'quota_exhausted' }],
    ['it knows no way there', answer('REJECTED', 'REJECTED_NETWORK', 'Network is forbidden'), { code: 'rejected' }],
  ],
})
