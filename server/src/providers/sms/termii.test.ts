import { createHmac } from 'node:crypto'
import { testProvider } from '../../../test/provider-suite.ts'
import { termii } from './termii.ts'

const url = 'https://api.ng.termii.com/api/sms/send'
const plain = {
  to: '+15550100',
  from: 'Acme',
  sms: 'Hi',
  type: 'plain',
  channel: 'generic',
  api_key: 'api-key',
}
const result = { providerMessageId: '9122821270554876574' }
const reportOf = (status: string) => ({ type: 'outbound', message_id: '9122821270554876574', status })
const sign = (body: unknown, key = 'webhook-secret') => ({
  'X-Termii-Signature': createHmac('sha512', key).update(JSON.stringify(body)).digest('hex'),
})
const configurations = { inboundWebhookSigningKey: 'webhook-secret' }
const delivered = [{ ...result, status: 'delivered' as const }]

testProvider(termii, {
  credentials: { apiKey: 'api-key', from: 'Acme' },
  accepted: { body: { message_id: '9122821270554876574', message: 'Successfully Sent', balance: 9, user: 'Ada' } },
  errorBody: (message) => ({ code: 400, message }),

  sends: [
    { title: 'from the configured sender', requests: [{ url, json: plain }], result },
    {
      title: "with members of the provider's own",
      message: { from: 'Shop', providerData: { channel: 'dnd', _passthrough: { body: { type: 'unicode' } } } },
      requests: [{ url, json: { ...plain, from: 'Shop', channel: 'dnd', type: 'unicode' } }],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success has no id',
      { body: { message: 'Invalid sender' } },
      { code: 'rejected', says: 'Invalid sender' },
    ],
    [
      'there is no money left',
      { status: 400, body: { message: 'Insufficient balance' } },
      { code: 'quota_exhausted', kind: 'failover' },
    ],
  ],

  events: [
    { title: 'sent', body: reportOf('Message Sent'), events: [{ ...result, status: 'sent' }] },
    { title: 'failed', body: reportOf('Message failed'), events: [{ ...result, status: 'failed' }] },
    { title: 'rejected', body: reportOf('Rejected'), events: [{ ...result, status: 'failed' }] },
    { title: 'delivered', body: [reportOf('DELIVERED')], events: delivered },
    { title: 'something else', body: reportOf('Received'), events: [] },
    {
      title: 'signed',
      configurations,
      headers: sign(reportOf('Delivered')),
      body: reportOf('Delivered'),
      events: delivered,
    },
    {
      title: 'signed by somebody else',
      configurations,
      headers: sign(reportOf('Delivered'), 'guess'),
      body: reportOf('Delivered'),
      events: undefined,
    },
    {
      title: 'unsigned where signatures are asked for',
      configurations,
      body: reportOf('Delivered'),
      events: undefined,
    },
  ],
})
