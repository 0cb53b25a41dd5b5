import { testProvider } from '../../../test/provider-suite.ts'
import { isendSms } from './isend-sms.ts'

const url = 'https://send.com.ly/api/v3/sms/send'
const headers = { authorization: 'Bearer api-token' }
const plain = { sender_id: 'Acme', recipient: '15550100', type: 'unicode', message: 'Hi' }
const result = { providerMessageId: '606812e63f78b' }

testProvider(isendSms, {
  credentials: { apiToken: 'api-token', from: 'Acme' },
  accepted: { body: { status: 'success', data: { uid: '606812e63f78b', to: '15550100' } } },
  errorBody: (message) => ({ status: 'error', message }),

  sends: [
    { title: 'to a number without its sign', requests: [{ url, headers, json: plain }], result },
    {
      title: 'to a number without its zeros, as plain text',
      credentials: { contentType: 'plain' },
      message: { to: '0015550100', from: 'Shop' },
      requests: [{ url, json: { ...plain, sender_id: 'Shop', type: 'plain' } }],
      result,
    },
    {
      title: "with members of the provider's own, from nobody in particular",
      credentials: { from: '' },
      message: { providerData: { scheduleTime: '2026-05-02 10:00' } },
      requests: [
        {
          url,
          json: { recipient: '15550100', type: 'unicode', message: 'Hi', schedule_time: '2026-05-02 10:00' },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says otherwise',
      { body: { status: 'error', message: 'Sender ID is not authorized' } },
      { code: 'rejected', kind: 'failover', says: 'Sender ID is not authorized' },
    ],
  ],
})
