import { testProvider } from '../../../test/provider-suite.ts'
import { imedia } from './imedia.ts'

const url = 'https://api.mobilebranding.vn/api/SMSBrandname/SendSMS'
const headers = { token: 'the-token' }
const plain = {
  to: '+15550100',
  from: 'Acme',
  message: 'Hi',
  scheduled: '',
  requestId: '6630a1b2c3d4e5f601020304',
  useUnicode: 1,
  type: 1,
}
const result = { providerMessageId: 'ref-1' }

testProvider(imedia, {
  credentials: { token: 'the-token', from: 'Acme' },
  accepted: { body: { errorCode: '000', errorMessage: '', referentId: 'ref-1' } },
  errorBody: (errorMessage) => ({ errorCode: '400', errorMessage }),

  sends: [
    { title: 'from the configured brand', requests: [{ url, headers, json: plain }], result },
    {
      title: "with members of the provider's own",
      message: { from: 'Shop', providerData: { useUnicode: 0, scheduled: '02-05-2026 10:00' } },
      requests: [{ url, json: { ...plain, from: 'Shop', useUnicode: 0, scheduled: '02-05-2026 10:00' } }],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says otherwise',
      { body: { errorCode: '101', errorMessage: 'Invalid brandname' } },
      { code: 'rejected', kind: 'failover', says: 'iMedia API error: 101 - Invalid brandname' },
    ],
  ],

  events: [
    ...(
      [
        ['accepted', 'queued'],
        ['QUEUED', 'queued'],
        ['sending', 'sending'],
        ['Sent', 'sent'],
        ['failed', 'failed'],
        ['delivered', 'delivered'],
        ['undelivered', 'undelivered'],
        ['whatever', 'sent'],
        ['constructor', 'sent'],
      ] as const
    ).map(([word, status]) => ({
      title: word,
      body: { referentId: 'ref-1', status: word },
      events: [{ providerMessageId: 'ref-1', status }],
    })),
    {
      title: 'failed, and why, by its other names',
      body: { MessageSid: 'ref-1', MessageStatus: 'Error', errorMessage: 'unreachable' },
      events: [{ providerMessageId: 'ref-1', status: 'failed', response: 'unreachable' }],
    },
    { title: 'nothing about a message', body: { status: 'sent' }, events: [] },
  ],
})
