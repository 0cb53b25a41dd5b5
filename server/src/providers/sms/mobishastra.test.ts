import { testProvider } from '../../../test/provider-suite.ts'
import { mobishastra } from './mobishastra.ts'

const url = 'https://mshastra.com/sendsms_api_json.aspx'
const plain = { Sender: 'Acme', number: '+15550100', msg: 'Hi', user: 'profile-1', pwd: 'pass-word' }
const result = { providerMessageId: '123456' }

testProvider(mobishastra, {
  credentials: { baseUrl: url, user: 'profile-1', password: 'pass-word', from: 'Acme' },
  accepted: { body: [{ msg_id: ' 123456 ', number: '15550100', str_response: 'Send Successful' }] },
  errorBody: (str_response) => [{ msg_id: '', str_response }],

  sends: [
    { title: 'from the configured sender', requests: [{ url, json: [plain] }], result },
    {
      title: "with members of the provider's own, in letters GSM does not have",
      message: { from: 'Shop', content: 'سلام', providerData: { scheduledDate: '2026-05-02' } },
      requests: [
        {
          url,
          json: [{ ...plain, Sender: 'Shop', msg: 'سلام', language: 'Unicode', scheduledDate: '2026-05-02' }],
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success has no id',
      { body: [{ msg_id: ' ', str_response: 'Invalid Profile Id' }] },
      { code: 'unauthorized', kind: 'credentials', says: 'Invalid Profile Id' },
    ],
    ['the number is none', { body: [{ str_response: 'Invalid Mobile No' }] }, { code: 'recipient_refused' }],
    ['there is no money left', { body: [{ str_response: 'No More Credits' }] }, { code: 'quota_exhausted' }],
    ['it says nothing at all', { body: [] }, { code: 'rejected', kind: 'failover' }],
  ],
})
