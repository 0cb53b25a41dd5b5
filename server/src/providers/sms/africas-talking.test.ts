import { testProvider } from '../../../test/provider-suite.ts'
import { africasTalking } from './africas-talking.ts'

const url = 'https://api.africastalking.com/version1/messaging'
const headers = { apikey: 'atsk-1' }
const answer = (recipient: object) => ({
  status: 201,
  body: { SMSMessageData: { Message: 'Sent to 1/1', Recipients: [{ number: '+15550100', ...recipient }] } },
})
const result = { providerMessageId: 'ATPid_1' }

testProvider(africasTalking, {
  credentials: { apiKey: 'atsk-1', user: 'ada', from: 'Acme' },
  accepted: answer({ statusCode: 101, status: 'Success', messageId: 'ATPid_1', cost: 'KES 0.8' }),
  errorBody: (words) => words,

  sends: [
    {
      title: 'from the configured sender',
      requests: [{ url, headers, form: { username: 'ada', to: '+15550100', message: 'Hi', from: 'Acme' } }],
      result,
    },
    {
      title: "in the sandbox, with members of the provider's own",
      credentials: { user: 'sandbox' },
      message: { from: '2000', providerData: { bulkSmsMode: 1, enqueue: '1' } },
      requests: [
        {
          url: 'https://api.sandbox.africastalking.com/version1/messaging',
          form: {
            username: 'sandbox',
            to: '+15550100',
            message: 'Hi',
            from: '2000',
            bulkSmsMode: '1',
            enqueue: '1',
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'nobody was sent anything',
      { status: 201, body: { SMSMessageData: { Message: 'InvalidSenderId', Recipients: [] } } },
      { code: 'rejected', kind: 'failover', says: 'InvalidSenderId' },
    ],
    [
      'the number is none',
      answer({ statusCode: 403, status: 'InvalidPhoneNumber', messageId: 'None' }),
      { code: 'recipient_refused', kind: 'address', says: 'InvalidPhoneNumber' },
    ],
    ['there is no money left', answer({ statusCode: 405, status: 'InsufficientBalance' }), { code: 'quota_exhausted' }],
    ['it fails itself', answer({ statusCode: 500, status: 'InternalServerError' }), { code: 'unavailable' }],
    [
      'the hour is wrong in Nigeria',
      answer({ statusCode: 409, status: 'DoNotDisturbRejection' }),
      { kind: 'failover' },
    ],
    ['it knows no way there', answer({ statusCode: 407, status: 'CouldNotRoute' }), { code: 'rejected' }],
  ],
})
