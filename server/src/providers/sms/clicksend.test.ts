import { testProvider } from '../../../test/provider-suite.ts'
import { clicksend } from './clicksend.ts'

const url = 'https://rest.clicksend.com/v3/sms/send'
const headers = { authorization: `Basic ${Buffer.from('ada:api-key').toString('base64')}` }
const answer = (status: string) => ({
  body: {
    http_code: 200,
    response_code: 'SUCCESS',
    response_msg: 'Messages queued for delivery.',
    data: { messages: [{ date: 1777629600, message_id: 'BF7AD270', status }] },
  },
})
const result = { providerMessageId: 'BF7AD270', date: '2026-05-01T10:00:00.000Z' }

testProvider(clicksend, {
  credentials: { user: 'ada', apiKey: 'api-key', from: 'Acme' },
  accepted: answer('SUCCESS'),
  errorBody: (response_msg) => ({ http_code: 400, response_code: 'BAD_REQUEST', response_msg, data: null }),

  sends: [
    {
      title: 'from the configured sender',
      requests: [{ url, headers, json: { messages: [{ to: '+15550100', from: 'Acme', body: 'Hi' }] } }],
      result,
    },
    {
      title: "with members of the provider's own, which belong to the message",
      message: { from: '+15550111', providerData: { customString: 'c-1', source: 'belfry' } },
      requests: [
        {
          url,
          json: {
            messages: [{ to: '+15550100', from: '+15550111', body: 'Hi', custom_string: 'c-1', source: 'belfry' }],
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says the number is none',
      answer('INVALID_RECIPIENT'),
      { code: 'recipient_refused', kind: 'address', says: 'INVALID_RECIPIENT' },
    ],
    ['there is no money left', answer('INSUFFICIENT_CREDIT'), { code: 'quota_exhausted', kind: 'failover' }],
    ['the sender is not allowed', answer('INVALID_SENDER_ID'), { code: 'rejected', kind: 'failover' }],
  ],
})
