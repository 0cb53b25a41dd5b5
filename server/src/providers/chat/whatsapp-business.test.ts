import { createHmac } from 'node:crypto'
import { testProvider } from '../../../test/provider-suite.ts'
import { whatsappBusiness } from './whatsapp-business.ts'

const url = 'https://graph.facebook.com/v22.0/1060/messages'
const headers = { authorization: 'Bearer access-token' }
const base = { messaging_product: 'whatsapp', recipient_type: 'individual', to: '+15550100' }
const text = { type: 'text', text: { body: 'Hi', preview_url: false } }
const template = { name: 'welcome', language: { code: 'en' } }
const result = { providerMessageId: 'wamid.1' }
const refusal = (code: number, status = 400) => ({
  status,
  body: { error: { message: `(#${code}) no`, type: 'OAuthException', code, fbtrace_id: 'x' } },
})

const report = (status: string, more: object = {}) => ({
  object: 'whatsapp_business_account',
  entry: [
    {
      id: '1',
      changes: [
        {
          field: 'messages',
          value: {
            messaging_product: 'whatsapp',
            statuses: [{ id: 'wamid.1', status, timestamp: '1777629600', recipient_id: '15550100', ...more }],
          },
        },
      ],
    },
  ],
})
const sign = (body: object, key = 'app-secret') => ({
  'X-Hub-Signature-256': `sha256=${createHmac('sha256', key).update(JSON.stringify(body)).digest('hex')}`,
})
const date = new Date('2026-05-01T10:00:00.000Z')
const delivered = report('delivered')

testProvider(whatsappBusiness, {
  credentials: { apiToken: 'access-token', phoneNumberIdentification: '1060' },
  message: { target: { type: 'phone', phoneNumber: '+15550100' } },
  accepted: { body: { messaging_product: 'whatsapp', messages: [{ id: 'wamid.1' }] } },
  errorBody: (message) => ({ error: { message, type: 'OAuthException', code: 131099 } }),

  sends: [
    { title: 'as text', requests: [{ url, headers, json: { ...base, ...text } }], result },
    {
      title: 'as other text, with a preview of its links',
      message: { customData: { text: { body: 'https://acme.example', preview_url: true } } },
      requests: [{ url, json: { ...base, type: 'text', text: { body: 'https://acme.example', preview_url: true } } }],
      result,
    },
    {
      title: 'as a template',
      message: { customData: { template } },
      requests: [{ url, json: { ...base, type: 'template', template } }],
      result,
    },
    {
      title: 'as a template from provider data, which is then no text',
      message: { providerData: { template, bizOpaqueCallbackData: 'x' } },
      requests: [{ url, json: { ...base, type: 'template', template, biz_opaque_callback_data: 'x' } }],
      result,
    },
    {
      title: 'as something we know nothing of',
      message: { providerData: { _passthrough: { body: { type: 'reaction', reaction: { emoji: '!' } } } } },
      requests: [{ url, json: { ...base, type: 'reaction', reaction: { emoji: '!' } } }],
      result,
    },
  ],

  refusals: [
    [
      'they have not written for a day',
      refusal(131047),
      { code: 'message_refused', kind: 'never', says: '(#131047) no' },
    ],
    ['they have no WhatsApp', refusal(131026), { code: 'recipient_refused', kind: 'address' }],
    ['the token has expired', refusal(190, 400), { code: 'unauthorized' }],
    ['too many at once', refusal(130429), { code: 'rate_limited', kind: 'later' }],
    ['nobody pays for it', refusal(131042), { code: 'quota_exhausted', kind: 'failover' }],
    ['the template is not approved', refusal(132001, 404), { code: 'message_refused' }],
    ['WhatsApp itself fails', refusal(131016), { code: 'unavailable', kind: 'later' }],
    [
      'the number it is sent from is not ours',
      { status: 400, body: { error: { message: 'Unsupported post request', code: 100, error_subcode: 33 } } },
      { code: 'unauthorized' },
    ],
  ],

  events: [
    { title: 'delivered', body: delivered, events: [{ providerMessageId: 'wamid.1', status: 'delivered', date }] },
    { title: 'sent', body: report('sent'), events: [{ providerMessageId: 'wamid.1', status: 'sent', date }] },
    { title: 'read', body: report('read'), events: [{ providerMessageId: 'wamid.1', status: 'opened', date }] },
    {
      title: 'failed, and why',
      body: report('failed', { errors: [{ code: 131026, title: 'Message undeliverable' }] }),
      events: [{ providerMessageId: 'wamid.1', status: 'failed', date, response: 'Message undeliverable' }],
    },
    { title: 'something else', body: report('warned'), events: [] },
    { title: 'what people write', body: { entry: [{ changes: [{ value: { messages: [{}] } }] }] }, events: [] },
    {
      title: 'signed',
      credentials: { secretKey: 'app-secret' },
      headers: sign(delivered),
      body: delivered,
      events: [{ providerMessageId: 'wamid.1', status: 'delivered', date }],
    },
    {
      title: 'signed by somebody else',
      credentials: { secretKey: 'app-secret' },
      headers: sign(delivered, 'guess'),
      body: delivered,
      events: undefined,
    },
    {
      title: 'unsigned where there is a key',
      credentials: { secretKey: 'app-secret' },
      body: delivered,
      events: undefined,
    },
  ],
})
