import { testProvider } from '../../../test/provider-suite.ts'
import { simpletexting } from './simpletexting.ts'

const url = 'https://api-app2.simpletexting.com/v2/api/messages'
const headers = { authorization: 'Bearer api-token' }
const plain = { contactPhone: '+15550100', accountPhone: '5550199', mode: 'SINGLE_SMS_STRICTLY', text: 'Hi' }
const result = { providerMessageId: '507f191e810c19729de860ea' }

testProvider(simpletexting, {
  credentials: { apiKey: 'api-token', from: '5550199' },
  accepted: { status: 201, body: { id: '507f191e810c19729de860ea', credits: 1 } },
  errorBody: (message) => ({ status: 400, code: 'BAD_REQUEST', message }),

  sends: [
    { title: 'from the configured number', requests: [{ url, headers, json: plain }], result },
    {
      title: "from another number, with members of the provider's own",
      message: { from: '5550111', providerData: { mode: 'AUTO', mediaItems: ['https://a.example/1.png'] } },
      requests: [
        {
          url,
          json: { ...plain, accountPhone: '5550111', mode: 'AUTO', mediaItems: ['https://a.example/1.png'] },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the number is none',
      { status: 400, body: { status: 400, code: 'VALIDATION_ERROR', message: 'contactPhone is not a valid phone' } },
      { code: 'recipient_refused', kind: 'address' },
    ],
  ],
})
