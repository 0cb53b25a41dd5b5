import { testProvider } from '../../../test/provider-suite.ts'
import { unifonic } from './unifonic.ts'

const url = 'https://el.cloud.unifonic.com/rest/SMS/messages'
const plain = {
  AppSid: 'app-sid',
  SenderID: 'Acme',
  Recipient: '+15550100',
  Body: 'Hi',
  responseType: 'JSON',
  baseEncode: 'true',
}
const result = { providerMessageId: '3200017889310' }

testProvider(unifonic, {
  credentials: { appSid: 'app-sid', senderId: 'Acme', from: '15550199' },
  accepted: {
    body: { success: true, message: '', errorCode: 'ER-00', data: { MessageID: 3200017889310, Status: 'Queued' } },
  },
  errorBody: (message) => ({ success: false, message, errorCode: 'ER-402' }),

  sends: [
    { title: 'from the configured sender', message: { from: '15550199' }, requests: [{ url, form: plain }], result },
    {
      title: "from a chosen one, with members of the provider's own",
      message: {
        from: 'Shop',
        providerData: { statusCallback: 'sent', _passthrough: { body: { CorrelationID: 'c-1' } } },
      },
      requests: [{ url, form: { ...plain, SenderID: 'Shop', statusCallback: 'sent', CorrelationID: 'c-1' } }],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success has no id',
      { body: { data: {} } },
      { code: 'rejected', says: 'Unifonic SMS failed: {"data":{}}' },
    ],
    [
      'the App SID is wrong',
      { body: { success: false, message: 'Invalid AppSid', errorCode: 'ER-99', data: null } },
      { code: 'unauthorized', kind: 'credentials', says: 'Invalid AppSid' },
    ],
    [
      'the number is none',
      { body: { success: false, message: 'Invalid destination number', errorCode: 'ER-02' } },
      { code: 'recipient_refused', kind: 'address' },
    ],
    [
      'there is no money left',
      { body: { success: false, message: 'No rate found or insufficient funds', errorCode: 'ER-01' } },
      { code: 'quota_exhausted' },
    ],
  ],
})
