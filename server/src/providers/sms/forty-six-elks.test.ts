import { testProvider } from '../../../test/provider-suite.ts'
import { fortySixElks } from './forty-six-elks.ts'

const url = 'https://api.46elks.com/a1/sms'
const headers = { authorization: `Basic ${Buffer.from('u1:pass-word').toString('base64')}` }
const result = { providerMessageId: 's70df59406a1b4643b96f3f91e0bfb7b0', date: '2026-05-01T10:00:00.000000' }

testProvider(fortySixElks, {
  credentials: { user: 'u1', password: 'pass-word', from: 'Acme' },
  accepted: {
    body: {
      status: 'created',
      direction: 'outgoing',
      created: '2026-05-01T10:00:00.000000',
      id: 's70df59406a1b4643b96f3f91e0bfb7b0',
    },
  },
  errorBody: (words) => words,

  sends: [
    {
      title: 'from the configured sender',
      requests: [{ url, headers, form: { from: 'Acme', to: '+15550100', message: 'Hi' } }],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { from: '+15550111', providerData: { flashsms: 'yes', whenDelivered: 'https://a.example' } },
      requests: [
        {
          url,
          form: {
            from: '+15550111',
            to: '+15550100',
            message: 'Hi',
            flashsms: 'yes',
            when_delivered: 'https://a.example',
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'there is no money left',
      { status: 403, body: 'Not enough credits' },
      { code: 'quota_exhausted', kind: 'failover' },
    ],
    ['the number is none', { status: 400, body: 'Invalid to number' }, { code: 'recipient_refused', kind: 'address' }],
  ],
})
