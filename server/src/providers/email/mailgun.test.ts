import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fullMail, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor, type VendorReply } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import { mailgun } from './mailgun.ts'

const credentials = { apiKey: 'key-x', user: 'api', domain: 'mg.acme.example' }
const headers = { authorization: `Basic ${Buffer.from('api:key-x').toString('base64')}` }
const url = 'https://api.mailgun.net/v3/mg.acme.example/messages'
const result = { providerMessageId: '<1@mg.acme.example>' }

const eventData = {
  event: 'delivered',
  id: 'ev-1',
  timestamp: 1_777_629_600.25,
  message: { headers: { 'message-id': '1@mg.acme.example' } },
  'delivery-status': { 'attempt-no': 2, message: 'OK' },
}
const delivered = {
  providerMessageId: '<1@mg.acme.example>',
  status: 'delivered',
  date: new Date('2026-05-01T10:00:00.250Z'),
  externalId: 'ev-1',
  attempts: 2,
  response: 'OK',
} as const
const signature = (key: string, timestamp = '1777629600') => ({
  timestamp,
  token: 'token',
  signature: createHmac('sha256', key).update(`${timestamp}token`).digest('hex'),
})
const named = (event: string, more = {}) => ({ 'event-data': { ...eventData, event, ...more } })
const configurations = { inboundWebhookSigningKey: 'sign' }

testProvider(mailgun, {
  credentials,
  accepted: { body: { id: '<1@mg.acme.example>', message: 'Queued. Thank you.' } },
  errorBody: (message) => ({ message }),

  sends: [
    {
      title: 'that is plain',
      requests: [
        {
          url,
          headers,
          multipart: [
            ['from', 'news@acme.example'],
            ['to', 'ada@example.com'],
            ['subject', 'Hello'],
            ['html', '<p>Hi</p>'],
          ],
        },
      ],
      result,
    },
    {
      title: 'with everything a mail can have, in Europe',
      credentials: { baseUrl: 'https://api.eu.mailgun.net/' },
      message: fullMail,
      requests: [
        {
          url: 'https://api.eu.mailgun.net/v3/mg.acme.example/messages',
          multipart: [
            ['from', '"Acme" <news@acme.example>'],
            ['to', 'ada@example.com'],
            ['to', 'bob@example.com'],
            ['cc', 'cc@example.com'],
            ['bcc', 'bcc@example.com'],
            ['subject', 'Hello'],
            ['html', '<p>Hi</p>'],
            ['text', 'Hi'],
            ['h:X-Campaign', 'spring'],
            ['h:Reply-To', 'help@acme.example'],
            ['attachment', ['bill.pdf', 'application/pdf', 'UERG']],
            ['inline', ['logo', 'image/png', '/wA=']],
          ],
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own, under the names of its library",
      message: {
        providerData: {
          oTag: ['a', 'b'],
          oDeliverytimeOptimizePeriod: '24h',
          ampHtml: '<amp>',
          _passthrough: { body: { 'v:order': { id: 7 } } },
        },
      },
      requests: [
        {
          url,
          multipart: [
            ['from', 'news@acme.example'],
            ['to', 'ada@example.com'],
            ['subject', 'Hello'],
            ['html', '<p>Hi</p>'],
            ['o:tag', 'a'],
            ['o:tag', 'b'],
            ['o:deliverytime-optimize-period', '24h'],
            ['amp-html', '<amp>'],
            ['v:order', '{"id":7}'],
          ],
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the recipient is none',
      { status: 400, body: { message: "'to' parameter is not a valid address. please check documentation" } },
      { code: 'recipient_refused', kind: 'address' },
    ],
    ['it says so in plain text', { status: 401, body: 'Forbidden' }, { code: 'unauthorized', says: 'Forbidden' }],
  ],

  check: { url: 'https://api.mailgun.net/v3/domains/mg.acme.example', headers },

  events: [
    { title: 'delivered', body: { 'event-data': eventData }, events: [delivered] },
    { title: 'opened', body: named('opened'), events: [{ ...delivered, status: 'opened' }] },
    { title: 'clicked', body: named('clicked'), events: [{ ...delivered, status: 'clicked' }] },
    { title: 'unsubscribed', body: named('unsubscribed'), events: [{ ...delivered, status: 'unsubscribed' }] },
    { title: 'complained', body: named('complained'), events: [{ ...delivered, status: 'complaint' }] },
    {
      title: 'failed for good',
      body: named('failed', { severity: 'permanent' }),
      events: [{ ...delivered, status: 'rejected' }],
    },
    {
      title: 'failed for now',
      body: named('failed', { severity: 'temporary' }),
      events: [{ ...delivered, status: 'delayed' }],
    },
    { title: 'something else', body: named('accepted'), events: [] },
    {
      title: 'signed',
      configurations,
      body: { 'event-data': eventData, signature: signature('sign') },
      events: [delivered],
    },
    {
      title: 'signed by somebody else',
      configurations,
      body: { 'event-data': eventData, signature: signature('guess') },
      events: undefined,
    },
    ...['1777543199', '1777716001', 'x'].map((timestamp) => ({
      title: `signed more than a day ago or ahead: ${timestamp}`,
      configurations,
      body: { 'event-data': eventData, signature: signature('sign', timestamp) },
      events: undefined,
    })),
    { title: 'unsigned where signatures are asked for', configurations, body: named('opened'), events: undefined },
  ],
})

describe('registering our webhook with Mailgun', () => {
  const vendor = useVendor()
  const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
  const delivery = new Delivery({ http: useHttpTo(vendor), clock, brand: 'acme' })
  const webhookUrl = 'https://belfry.example.com/v2/inbound-webhooks/delivery-providers/e/i'
  const configure = (...replies: VendorReply[]) => {
    vendor.plays(() => replies.shift() ?? { status: 599, body: 'asked once too often' })
    return delivery.configure(mailgun, credentials, webhookUrl)
  }
  const webhook: VendorReply = { body: {} }

  test('creates or updates one for each event, and reads the signing key if it may', async () => {
    const known = { body: { webhooks: { opened: { urls: ['https://old.example.com'] } } } }
    const key = { body: { http_signing_key: 'sign' } }
    expect(await configure(known, webhook, webhook, webhook, webhook, webhook, webhook, key)).toMatchObject({
      success: true,
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'sign' },
    })
    const webhooks = 'https://api.mailgun.net/v3/domains/mg.acme.example/webhooks'
    expect(vendor.asked.map(({ method, url: to, form }) => [`${method} ${to}`, form])).toEqual([
      [`GET ${webhooks}`, {}],
      [`POST ${webhooks}`, { id: 'delivered', url: webhookUrl }],
      [`PUT ${webhooks}/opened`, { url: webhookUrl }],
      [`POST ${webhooks}`, { id: 'clicked', url: webhookUrl }],
      [`POST ${webhooks}`, { id: 'permanent_fail', url: webhookUrl }],
      [`POST ${webhooks}`, { id: 'complained', url: webhookUrl }],
      [`POST ${webhooks}`, { id: 'unsubscribed', url: webhookUrl }],
      ['GET https://api.mailgun.net/v5/accounts/http_signing_key', {}],
    ])
  })

  test('works without the signing key, which the user then adds by hand', async () => {
    const made = Array.from({ length: 7 }, () => webhook)
    expect(await configure(...made, { status: 403, body: {} })).toMatchObject({
      success: true,
      message: expect.stringContaining('by hand'),
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: '' },
    })
  })
})
