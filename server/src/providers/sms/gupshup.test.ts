import { testProvider } from '../../../test/provider-suite.ts'
import { gupshup } from './gupshup.ts'

const url = 'https://enterprise.smsgupshup.com/GatewayAPI/rest'
const message = { send_to: '+15550100', msg: 'Hi', msg_type: 'text' }
const fixed = {
  auth_scheme: 'plain',
  method: 'sendMessage',
  format: 'text',
  v: '1.1',
  userid: '2000012345',
  password: 'pass-word',
}
const result = { providerMessageId: '728014710863298817-1234567890' }

testProvider(gupshup, {
  credentials: { user: '2000012345', password: 'pass-word' },
  accepted: { body: 'success | 15550100 | 728014710863298817-1234567890' },
  errorBody: (words) => `error | 100 | ${words}`,
  notJson: { code: 'unreadable_answer', kind: 'later', mayHaveArrived: true },

  sends: [
    { title: 'that is plain', requests: [{ url, form: { ...message, ...fixed } }], result },
    {
      title: 'under a registered template, in letters GSM does not have',
      message: { content: 'नमस्ते', customData: { principalEntityId: 'pe-1', dltTemplateId: 'dlt-1' } },
      requests: [
        {
          url,
          form: {
            send_to: '+15550100',
            msg: 'नमस्ते',
            msg_type: 'unicode_text',
            ...fixed,
            principalEntityId: 'pe-1',
            dltTemplateId: 'dlt-1',
          },
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { providerData: { overrideDnd: true, dltTemplateId: 'dlt-2' } },
      requests: [{ url, form: { ...message, ...fixed, dltTemplateId: 'dlt-2', override_dnd: 'true' } }],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says the password is wrong',
      { body: 'error | 102 | Authentication failed due to invalid userId or password' },
      { code: 'unauthorized', kind: 'credentials', says: 'Authentication failed due to invalid userId or password' },
    ],
    [
      'the number is none',
      { body: 'error | 105 | The phone number "1" is not a valid phone number' },
      { code: 'recipient_refused', kind: 'address' },
    ],
    ['it refuses for some other reason', { body: 'error | 106 | no' }, { code: 'rejected', kind: 'failover' }],
  ],
})
