import { testProvider } from '../../../test/provider-suite.ts'
import { sinch } from './sinch.ts'

const url = 'https://eu.sms.api.sinch.com/xms/v1/plan-1/batches'
const headers = { authorization: 'Bearer api-token' }
const result = { providerMessageId: '01FC66621XXXXX119Z8PMV1QPQ', date: '2026-05-01T10:00:00.000Z' }

testProvider(sinch, {
  credentials: { servicePlanId: 'plan-1', apiToken: 'api-token', region: 'eu', from: '+15550199' },
  accepted: { status: 201, body: { id: '01FC66621XXXXX119Z8PMV1QPQ', created_at: '2026-05-01T10:00:00.000Z' } },
  errorBody: (text) => ({ code: 'syntax_invalid_parameter_format', text }),

  sends: [
    {
      title: 'from the configured number',
      requests: [{ url, headers, json: { from: '+15550199', to: ['+15550100'], body: 'Hi' } }],
      result,
    },
    {
      title: "elsewhere, to one more recipient, with members of the provider's own",
      credentials: { region: 'us' },
      message: {
        from: 'Shop',
        providerData: { to: ['+15550101'], _passthrough: { body: { delivery_report: 'full' } } },
      },
      requests: [
        {
          url: 'https://us.sms.api.sinch.com/xms/v1/plan-1/batches',
          json: { from: 'Shop', to: ['+15550100', '+15550101'], body: 'Hi', delivery_report: 'full' },
        },
      ],
      result,
    },
  ],
})
