import { testProvider } from '../../../test/provider-suite.ts'
import { kannel } from './kannel.ts'

const url = 'http://kannel.example.com:13013/cgi-bin/sendsms?'
/** Kannel returns no id, so ours is stored. */
const result = { providerMessageId: '6630a1b2c3d4e5f601020304' }

testProvider(kannel, {
  credentials: { host: 'kannel.example.com', port: '13013', user: 'ada', password: 'pass-word', from: '15550199' },
  accepted: { status: 202, body: '0: Accepted for delivery' },
  errorBody: (words) => words,
  notJson: { code: 'unreadable_answer', kind: 'later', mayHaveArrived: true },

  sends: [
    {
      title: 'from the configured number',
      requests: [{ method: 'GET', url: `${url}username=ada&password=pass-word&from=15550199&to=%2B15550100&text=Hi` }],
      result,
    },
    {
      title: 'to keep until the recipient can be reached, without a user',
      credentials: { user: '', password: '' },
      replies: [{ status: 202, body: '3: Queued for later delivery' }],
      requests: [{ method: 'GET', url: `${url}from=15550199&to=%2B15550100&text=Hi` }],
      result,
    },
    {
      title: "with members of the provider's own, in letters GSM does not have",
      message: { from: 'Shop', content: 'ж', providerData: { dlrMask: 31, smsc: 'a' } },
      requests: [
        {
          method: 'GET',
          url: `${url}username=ada&password=pass-word&from=Shop&to=%2B15550100&text=%D0%B6&coding=2&charset=UTF-8&dlr-mask=31&smsc=a`,
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says it is not routable',
      { body: '4: Not routable' },
      { code: 'rejected', kind: 'failover', says: '4: Not routable' },
    ],
    [
      'it has a failure that passes',
      { status: 503, body: 'Temporal failure, try again later.' },
      { code: 'unavailable', kind: 'later', says: 'Temporal failure, try again later.' },
    ],
    [
      'the password is wrong',
      { status: 403, body: 'Authorization failed for sendsms' },
      { code: 'unauthorized', kind: 'credentials' },
    ],
  ],
})
