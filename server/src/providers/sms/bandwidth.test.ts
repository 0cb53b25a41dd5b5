import { testProvider } from '../../../test/provider-suite.ts'
import { bandwidth } from './bandwidth.ts'

const url = 'https://messaging.bandwidth.com/api/v2/users/9900000/messages'
const headers = { authorization: `Basic ${Buffer.from('ada:pass-word').toString('base64')}` }
const result = { providerMessageId: '1589228074636lm4k2je7j7jklbn2', date: '2026-05-01T10:00:00Z' }

testProvider(bandwidth, {
  credentials: { user: 'ada', password: 'pass-word', accountSid: '9900000', from: '+15550199' },
  accepted: { status: 202, body: { id: '1589228074636lm4k2je7j7jklbn2', time: '2026-05-01T10:00:00Z' } },
  errorBody: (description) => ({ type: 'request-validation', description }),

  sends: [
    {
      title: 'from the configured number',
      requests: [
        { url, headers, json: { applicationId: '9900000', to: ['+15550100'], from: '+15550199', text: 'Hi' } },
      ],
      result,
    },
    {
      title: 'by an application of the account, to one more recipient',
      message: { from: '+15550111', providerData: { applicationId: '93de2206', to: ['+15550101'], tag: 't-1' } },
      requests: [
        {
          url,
          json: {
            applicationId: '93de2206',
            to: ['+15550100', '+15550101'],
            from: '+15550111',
            text: 'Hi',
            tag: 't-1',
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the number is none',
      {
        status: 400,
        body: {
          type: 'request-validation',
          description: 'Your request could not be accepted',
          fieldErrors: [{ fieldName: 'to', description: "'+1' must be replaced with a valid E164 formatted number" }],
        },
      },
      { code: 'recipient_refused', kind: 'address', says: "'+1' must be replaced with a valid E164 formatted number" },
    ],
  ],
})
