import { testProvider } from '../../../test/provider-suite.ts'
import { messagebird } from './messagebird.ts'

const url = 'https://rest.messagebird.com/messages'
const headers = { authorization: 'AccessKey live-key' }
const result = { providerMessageId: 'e8077d80', date: '2026-05-01T10:00:00+00:00' }
const errors = (code: number, description: string, parameter: string | null = null) => ({
  errors: [{ code, description, parameter }],
})

testProvider(messagebird, {
  credentials: { accessKey: 'live-key', from: 'Acme' },
  accepted: { status: 201, body: { id: 'e8077d80', createdDatetime: '2026-05-01T10:00:00+00:00' } },
  errorBody: (description) => errors(10, description, 'originator'),

  sends: [
    {
      title: 'from the configured sender',
      requests: [{ url, headers, json: { originator: 'Acme', recipients: ['+15550100'], body: 'Hi' } }],
      result,
    },
    {
      title: "to one more recipient, with members of the provider's own, in letters GSM does not have",
      message: {
        from: '15550111',
        content: 'Привет',
        providerData: { recipients: ['+15550101'], scheduledDatetime: '2026-05-02T10:00:00+00:00' },
      },
      requests: [
        {
          url,
          json: {
            originator: '15550111',
            recipients: ['+15550100', '+15550101'],
            body: 'Привет',
            datacoding: 'unicode',
            scheduledDatetime: '2026-05-02T10:00:00+00:00',
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the number is none',
      { status: 422, body: errors(9, 'no (correct) recipients found', 'recipient') },
      { code: 'recipient_refused', kind: 'address', says: 'no (correct) recipients found' },
    ],
    ['there is no money left', { status: 402, body: errors(25, 'Not enough balance') }, { code: 'quota_exhausted' }],
  ],
})
