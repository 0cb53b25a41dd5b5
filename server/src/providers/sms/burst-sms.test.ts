import { testProvider } from '../../../test/provider-suite.ts'
import { burstSms } from './burst-sms.ts'

const url = 'https://api.transmitsms.com/send-sms.json'
const headers = { authorization: `Basic ${Buffer.from('key-1:api-secret').toString('base64')}` }
const result = { providerMessageId: '67', date: '2026-05-01 10:00:00' }
const error = (code: string, description: string) => ({ error: { code, description } })

testProvider(burstSms, {
  credentials: { apiKey: 'key-1', secretKey: 'api-secret' },
  accepted: { body: { message_id: 67, send_at: '2026-05-01 10:00:00', ...error('SUCCESS', 'OK') } },
  errorBody: (words) => error('FIELD_INVALID', words),

  sends: [
    { title: 'that is plain', requests: [{ url, headers, form: { message: 'Hi', to: '+15550100' } }], result },
    {
      title: "from a chosen sender, with members of the provider's own",
      message: { from: 'Shop', providerData: { dlrCallback: 'https://a.example', validity: 60 } },
      requests: [
        {
          url,
          form: { message: 'Hi', to: '+15550100', from: 'Shop', dlr_callback: 'https://a.example', validity: '60' },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says there is no money left',
      { body: error('LEDGER_ERROR', 'Insufficient funds') },
      { code: 'quota_exhausted', kind: 'failover' },
    ],
    ['it is asked too often', { status: 429, body: error('OVER_LIMIT', 'too fast') }, { code: 'rate_limited' }],
  ],
})
