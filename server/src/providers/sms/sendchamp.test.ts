import { testProvider } from '../../../test/provider-suite.ts'
import { sendchamp } from './sendchamp.ts'

const url = 'https://api.sendchamp.com/api/v1/sms/send'
const headers = { authorization: 'Bearer sendchamp_live_1' }
const plain = { sender_name: 'Acme', to: '+15550100', message: 'Hi', route: 'international' }
const result = { providerMessageId: 'b-1', date: '2026-05-01T10:00:00.000Z' }

testProvider(sendchamp, {
  credentials: { apiKey: 'sendchamp_live_1', from: 'Acme' },
  accepted: {
    body: {
      status: 'success',
      code: 200,
      message: 'Message sent',
      data: { business_id: 'b-1', created_at: '2026-05-01T10:00:00.000Z' },
    },
  },
  errorBody: (message) => ({ status: 'failed', code: 400, message, data: null }),

  sends: [
    { title: 'and nothing but the message', requests: [{ url, headers, json: plain }], result },
    {
      title: "with members of the provider's own",
      message: { from: 'Shop', providerData: { route: 'dnd', senderName: 'Other' } },
      requests: [{ url, json: { ...plain, sender_name: 'Other', route: 'dnd' } }],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says there is no money left',
      { body: { status: 'failed', code: 402, message: 'Insufficient wallet balance' } },
      { code: 'quota_exhausted', kind: 'failover', says: 'Insufficient wallet balance' },
    ],
  ],
})
