import { testProvider } from '../../../test/provider-suite.ts'
import { cmTelecom } from './cm-telecom.ts'

const url = 'https://gw.messaging.cm.com/v1.0/message'
const headers = { 'x-cm-producttoken': 'product-token' }
const id = '6630a1b2c3d4e5f601020304'
const msg = {
  allowedChannels: ['SMS'],
  from: 'Acme',
  to: [{ number: '0015550100' }],
  body: { type: 'auto', content: 'Hi' },
  reference: id,
}
const result = { providerMessageId: id }
const answer = (messageErrorCode: number, messageDetails: string | null) => ({
  details: 'Created 1 message(s)',
  errorCode: 0,
  messages: [{ to: '0015550100', status: 'Accepted', reference: id, messageDetails, messageErrorCode }],
})

testProvider(cmTelecom, {
  credentials: { apiToken: 'product-token', from: 'Acme' },
  accepted: { body: answer(0, null) },
  errorBody: (details) => ({ details, errorCode: 202, messages: [] }),

  sends: [
    { title: 'to a number with a sign', requests: [{ url, headers, json: { messages: { msg: [msg] } } }], result },
    ...['+1 (555) 01-00', '15550100', '0015550100'].map((to) => ({
      title: `to ${to}, as dialled from abroad`,
      message: { to },
      requests: [{ url, json: { messages: { msg: [msg] } } }],
      result,
    })),
    {
      title: "with members of the provider's own, and its answer tells no reference: ours is stored",
      message: { from: 'Shop', providerData: { _passthrough: { body: { messages: { note: 'n' } } } } },
      replies: [{ body: {} }],
      requests: [{ url, json: { messages: { msg: [{ ...msg, from: 'Shop' }], note: 'n' } } }],
      result,
    },
    {
      title: 'and its answer tells the reference in the older way',
      replies: [{ body: { details: [{ reference: 'ref-1' }] } }],
      requests: [{ url, json: { messages: { msg: [msg] } } }],
      result: { providerMessageId: 'ref-1' },
    },
  ],

  refusals: [
    [
      'an answer of success says the number is none',
      { body: answer(303, 'A to number is invalid') },
      { code: 'recipient_refused', kind: 'address', says: 'A to number is invalid' },
    ],
    [
      'there is no money left',
      { status: 402, body: { details: 'Balance is insufficient', errorCode: 102, messages: [] } },
      { code: 'quota_exhausted', kind: 'failover' },
    ],
  ],
})
