import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fullMail, plainMail, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import { sendgrid } from './sendgrid.ts'

const url = 'https://api.sendgrid.com/v3/mail/send'
const headers = { authorization: 'Bearer SG.key' }
const { id } = plainMail
const plain = {
  personalizations: [{ to: [{ email: 'ada@example.com' }] }],
  from: { email: 'news@acme.example' },
  subject: 'Hello',
  content: [{ type: 'text/html', value: '<p>Hi</p>' }],
  categories: ['welcome'],
  custom_args: {
    id,
    acmeTransactionId: 'tx-1',
    acmeMessageId: id,
    acmeWorkflowIdentifier: 'welcome',
    acmeSubscriberId: 'ada',
  },
}
const result = { providerMessageId: id }

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const signingKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
const event = { id, event: 'delivered', timestamp: 1_777_629_600, sg_event_id: 'ev-1', response: '250 OK' }
const delivered = {
  providerMessageId: id,
  status: 'delivered',
  date: new Date('2026-05-01T10:00:00.000Z'),
  externalId: 'ev-1',
  response: '250 OK',
} as const
const signed = (body: unknown, timestamp = '1777629600', signedAt = '1777629600') => ({
  'X-Twilio-Email-Event-Webhook-Timestamp': timestamp,
  'X-Twilio-Email-Event-Webhook-Signature': sign(
    'sha256',
    Buffer.from(`${signedAt}${JSON.stringify(body)}`),
    privateKey,
  ).toString('base64'),
})
const configurations = { inboundWebhookSigningKey: signingKey }

testProvider(sendgrid, {
  credentials: { apiKey: 'SG.key' },
  accepted: { status: 202, body: '', headers: { 'x-message-id': 'sg-1' } },
  notJson: 'accepted',
  errorBody: (message) => ({ errors: [{ message, field: null, help: null }] }),

  sends: [
    { title: 'that is plain', requests: [{ url, headers, json: plain }], result },
    {
      title: 'with everything a mail can have, in Europe',
      message: fullMail,
      credentials: { region: 'eu', ipPoolName: 'pool' },
      requests: [
        {
          url: 'https://api.eu.sendgrid.com/v3/mail/send',
          headers,
          json: {
            ...plain,
            personalizations: [
              {
                to: [{ email: 'ada@example.com' }, { email: 'bob@example.com' }],
                cc: [{ email: 'cc@example.com' }],
                bcc: [{ email: 'bcc@example.com' }],
              },
            ],
            from: { email: 'news@acme.example', name: 'Acme' },
            reply_to: { email: 'help@acme.example' },
            content: [
              { type: 'text/plain', value: 'Hi' },
              { type: 'text/html', value: '<p>Hi</p>' },
            ],
            headers: { 'X-Campaign': 'spring' },
            attachments: [
              { content: 'UERG', filename: 'bill.pdf', type: 'application/pdf', disposition: 'attachment' },
              { content: '/wA=', filename: 'logo.png', type: 'image/png', disposition: 'inline', content_id: 'logo' },
            ],
            ip_pool_name: 'pool',
          },
        },
      ],
      result,
    },
    {
      title: 'that names nobody twice, as the vendor demands',
      message: { cc: ['Ada@example.com', 'cc@example.com'], bcc: ['CC@example.com', 'ada@example.com'] },
      requests: [
        {
          url,
          json: {
            ...plain,
            personalizations: [{ to: [{ email: 'ada@example.com' }], cc: [{ email: 'cc@example.com' }] }],
          },
        },
      ],
      result,
    },
    {
      title: "from a template of the provider's, with values for it and for the events",
      message: {
        customData: { templateId: 'd-1', dynamicTemplateData: { fooBar: 1 }, orderId: 7 },
        ipPoolName: 'own',
      },
      requests: [
        {
          url,
          json: {
            ...plain,
            personalizations: [{ to: [{ email: 'ada@example.com' }], dynamic_template_data: { fooBar: 1 } }],
            template_id: 'd-1',
            custom_args: { ...plain.custom_args, orderId: '7' },
            ip_pool_name: 'own',
          },
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { providerData: { sendAt: 1, categories: ['spring'], _passthrough: { body: { batch_id: 'b' } } } },
      requests: [{ url, json: { ...plain, categories: ['welcome', 'spring'], send_at: 1, batch_id: 'b' } }],
      result,
    },
  ],

  refusals: [
    [
      'the account has no credits left',
      { status: 401, body: { errors: [{ message: 'Maximum credits exceeded' }] } },
      { code: 'quota_exhausted', kind: 'failover' },
    ],
    [
      'the sender is not verified',
      { status: 403, body: { errors: [{ message: 'The from address does not match a verified Sender Identity.' }] } },
      { code: 'rejected', kind: 'failover' },
    ],
    [
      'the recipient is none',
      {
        status: 400,
        body: { errors: [{ message: 'Does not contain a valid address.', field: 'personalizations.0.to.0.email' }] },
      },
      { code: 'recipient_refused', kind: 'address' },
    ],
    [
      'it says when to come again',
      {
        status: 429,
        headers: { 'X-RateLimit-Reset': '1777629612' },
        body: { errors: [{ message: 'too many requests' }] },
      },
      { code: 'rate_limited', afterSeconds: 12 },
    ],
  ],

  check: { url: 'https://api.sendgrid.com/v3/scopes', headers },

  events: [
    { title: 'delivered', body: [event], events: [delivered] },
    {
      title: 'several in one request, some of no interest',
      body: [
        { ...event, event: 'processed' },
        { ...event, event: 'open' },
        { ...event, event: 'click' },
        { ...event, event: 'bounce', reason: '550', response: undefined },
        { ...event, event: 'dropped' },
        { ...event, event: 'blocked' },
        { event: 'delivered' },
      ],
      events: [
        { ...delivered, status: 'opened' },
        { ...delivered, status: 'clicked' },
        { ...delivered, status: 'bounced', response: '550' },
        { ...delivered, status: 'dropped' },
        { ...delivered, status: 'blocked' },
      ],
    },
    { title: 'signed', configurations, headers: signed([event]), body: [event], events: [delivered] },
    { title: 'signed for another body', configurations, headers: signed([]), body: [event], events: undefined },
    {
      title: 'signed for another time',
      configurations,
      headers: signed([event], '1'),
      body: [event],
      events: undefined,
    },
    ...['1777543199', '1777716001', 'x'].map((timestamp) => ({
      title: `signed more than a day ago or ahead: ${timestamp}`,
      configurations,
      headers: signed([event], timestamp, timestamp),
      body: [event],
      events: undefined,
    })),
    {
      title: 'signed nearly a day ago, and tried ever since',
      configurations,
      headers: signed([event], '1777543200', '1777543200'),
      body: [event],
      events: [delivered],
    },
    { title: 'signed, though nobody knows the key', headers: signed([event]), body: [event], events: undefined },
    {
      title: 'signed, with a key that is none',
      configurations: { inboundWebhookSigningKey: 'nonsense' },
      headers: signed([event]),
      body: [event],
      events: undefined,
    },
    { title: 'unsigned where signatures are asked for', configurations, body: [event], events: undefined },
  ],
})

describe('registering our webhook with SendGrid', () => {
  const vendor = useVendor()
  const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
  const delivery = new Delivery({ http: useHttpTo(vendor), clock, brand: 'acme' })
  const webhookUrl = 'https://belfry.example.com/v2/inbound-webhooks/delivery-providers/e/i'
  const configure = (...replies: object[]) => {
    vendor.plays(() => ({ body: replies.shift() ?? {} }))
    return delivery.configure(sendgrid, { apiKey: 'SG.key' }, webhookUrl)
  }
  const settings = 'https://api.sendgrid.com/v3/user/webhooks/event/settings'
  const asked = () => vendor.asked.map(({ method, url }) => `${method} ${url}`)

  test('creates it and reads the key that signs its requests', async () => {
    const other = { webhooks: [{ id: 'w0', url: 'https://other.example.com' }] }
    expect(await configure(other, { id: 'w1' }, { public_key: 'MFkw' })).toEqual({
      success: true,
      message: 'SendGrid webhook configured successfully with signature verification enabled',
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'MFkw' },
    })
    expect(asked()).toEqual([`GET ${settings}/all`, `POST ${settings}`, `PATCH ${settings}/signed/w1`])
    expect(JSON.parse(vendor.asked[1]?.body ?? '')).toMatchObject({ enabled: true, url: webhookUrl, delivered: true })
  })

  test('keeps an existing one', async () => {
    const known = { webhooks: [{ id: 'w1', url: webhookUrl }] }
    expect(await configure(known, { public_key: 'MFkw' })).toMatchObject({ success: true })
    expect(asked()).toEqual([`GET ${settings}/all`, `PATCH ${settings}/signed/w1`])
  })

  test('says what went wrong', async () => {
    vendor.plays(() => ({ status: 401, body: {} }))
    expect(await delivery.configure(sendgrid, { apiKey: 'SG.key' }, webhookUrl)).toEqual({
      success: false,
      message: 'SendGrid webhook configuration failed: it answered with HTTP status 401',
    })
  })
})
