import { testProvider } from '../../../test/provider-suite.ts'
import { smsCentral } from './sms-central.ts'

const url = 'https://my.smscentral.com.au/api/v3.2'
const plain = {
  ACTION: 'send',
  ORIGINATOR: 'Acme',
  USERNAME: 'ada',
  PASSWORD: 'pass-word',
  RECIPIENT: '+15550100',
  MESSAGE_TEXT: 'Hi',
}
/** It returns no id, so ours is stored. */
const result = { providerMessageId: '6630a1b2c3d4e5f601020304' }

testProvider(smsCentral, {
  credentials: { user: 'ada', password: 'pass-word', from: 'Acme' },
  accepted: { body: '0' },
  errorBody: (words) => words,
  notJson: { code: 'rejected', kind: 'failover' },

  sends: [
    { title: 'from the configured sender', requests: [{ url, form: plain }], result },
    {
      title: "at another address, with members of the provider's own",
      credentials: { baseUrl: 'https://sms.example.com/api' },
      message: { from: 'shared', providerData: { reference: 'r-1', sendAt: '2026-05-02' } },
      requests: [
        {
          url: 'https://sms.example.com/api',
          form: { ...plain, ORIGINATOR: 'shared', REFERENCE: 'r-1', SEND_AT: '2026-05-02' },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says the password is wrong',
      { body: '501 Invalid USERNAME or PASSWORD' },
      { code: 'unauthorized', kind: 'credentials', says: '501 Invalid USERNAME or PASSWORD' },
    ],
    ['an answer of success says no', { body: '510 No route' }, { code: 'rejected', says: '510 No route' }],
  ],
})
