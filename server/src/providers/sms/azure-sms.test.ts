import { createHash, createHmac } from 'node:crypto'
import { testProvider } from '../../../test/provider-suite.ts'
import { azureSms } from './azure-sms.ts'

const url = 'https://acme.communication.azure.com/sms?api-version=2021-03-07'
const key = Buffer.from('a key of the resource')
const date = 'Fri, 01 May 2026 10:00:00 GMT'
const recipient = {
  to: '+15550100',
  repeatabilityRequestId: 'f3c8a2ea-21e1-8352-9e5f-11f5408f7cab',
  repeatabilityFirstSent: 'Tue, 30 Apr 2024 07:45:54 GMT',
}
const plain = { from: '+15550199', smsRecipients: [recipient], message: 'Hi' }
/** As Azure documents it. */
function signed(body: unknown) {
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('base64')
  const text = `POST\n/sms?api-version=2021-03-07\n${date};acme.communication.azure.com;${hash}`
  const signature = createHmac('sha256', key).update(text).digest('base64')
  return {
    'x-ms-date': date,
    'x-ms-content-sha256': hash,
    authorization: `HMAC-SHA256 SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature=${signature}`,
  }
}
const answer = (verdict: object) => ({ status: 202, body: { value: [{ to: '+15550100', ...verdict }] } })
const result = { providerMessageId: 'Outgoing_20260501' }

testProvider(azureSms, {
  credentials: {
    accessKey: `endpoint=https://acme.communication.azure.com/;accesskey=${key.toString('base64')}`,
    from: '+15550199',
  },
  accepted: answer({ messageId: 'Outgoing_20260501', httpStatusCode: 202, successful: true }),
  errorBody: (message) => ({ error: { code: 'BadRequest', message } }),

  sends: [
    {
      title: 'signed, and with a key under which it is taken only once',
      requests: [{ url, headers: signed(plain), json: plain }],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { from: '+15550111', providerData: { smsSendOptions: { enableDeliveryReport: true } } },
      requests: [{ url, json: { ...plain, from: '+15550111', smsSendOptions: { enableDeliveryReport: true } } }],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says the number is none',
      answer({ httpStatusCode: 400, successful: false, errorMessage: 'Invalid To phone number format.' }),
      { code: 'recipient_refused', kind: 'address', says: 'Invalid To phone number format.' },
    ],
    ['it asks for fewer', answer({ httpStatusCode: 429, successful: false }), { code: 'rate_limited', kind: 'later' }],
    ['it fails itself', answer({ httpStatusCode: 500, successful: false }), { code: 'unavailable', kind: 'later' }],
    ['it has no number', answer({ httpStatusCode: 404, successful: false }), { code: 'rejected', kind: 'failover' }],
  ],
})
