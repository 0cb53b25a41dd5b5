import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { fullMail, plainMail, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import { resend } from './resend.ts'

const url = 'https://api.resend.com/emails'
const headers = { authorization: 'Bearer re_key', 'idempotency-key': plainMail.id }
const plain = { from: 'news@acme.example', to: ['ada@example.com'], subject: 'Hello', html: '<p>Hi</p>' }
const result = { providerMessageId: '49a3999c' }

const event = { type: 'email.delivered', created_at: '2026-05-01T09:59:58.000Z', data: { email_id: '49a3999c' } }
const delivered = {
  providerMessageId: '49a3999c',
  status: 'delivered',
  date: new Date('2026-05-01T09:59:58.000Z'),
} as const
const key = Buffer.from('a key of bytes')
const configurations = { inboundWebhookSigningKey: `whsec_${key.toString('base64')}` }
const signed = (body: object, timestamp = '1777629590') => ({
  'svix-id': 'msg_1',
  'svix-timestamp': timestamp,
  'svix-signature': `v1,bm9wZQ== v1,${createHmac('sha256', key)
    .update(`msg_1.${timestamp}.${JSON.stringify(body)}`)
    .digest('base64')}`,
})

testProvider(resend, {
  credentials: { apiKey: 're_key' },
  accepted: { body: { id: '49a3999c' } },
  errorBody: (message) => ({ statusCode: 400, name: 'not you', message: message.replace('not you: ', '') }),

  sends: [
    { title: 'that is plain', requests: [{ url, headers, json: plain }], result },
    {
      title: 'with everything a mail can have',
      message: fullMail,
      requests: [
        {
          url,
          headers,
          json: {
            from: '"Acme" <news@acme.example>',
            to: ['ada@example.com', 'bob@example.com'],
            cc: ['cc@example.com'],
            bcc: ['bcc@example.com'],
            reply_to: 'help@acme.example',
            subject: 'Hello',
            html: '<p>Hi</p>',
            text: 'Hi',
            headers: { 'X-Campaign': 'spring' },
            attachments: [
              { filename: 'bill.pdf', content: 'UERG', content_type: 'application/pdf' },
              { filename: 'logo.png', content: '/wA=', content_type: 'image/png', content_id: 'logo' },
            ],
          },
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own",
      message: {
        providerData: { scheduledAt: 'in 1 min', tags: [{ name: 'a', value: 'b' }], to: ['eve@example.com'] },
      },
      requests: [
        {
          url,
          json: {
            ...plain,
            to: ['ada@example.com', 'eve@example.com'],
            scheduled_at: 'in 1 min',
            tags: [{ name: 'a', value: 'b' }],
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the account has sent enough for today',
      { status: 429, body: { name: 'daily_quota_exceeded', message: 'You have reached your daily email quota.' } },
      { code: 'quota_exhausted', kind: 'failover' },
    ],
    [
      'the sender is not verified',
      { status: 403, body: { name: 'validation_error', message: 'The acme.example domain is not verified.' } },
      { code: 'rejected', kind: 'failover' },
    ],
    [
      'an earlier attempt is still under way',
      { status: 409, body: { name: 'concurrent_idempotent_requests', message: 'in progress' } },
      { code: 'unavailable', kind: 'later' },
    ],
  ],

  check: { url: 'https://api.resend.com/domains', headers: { authorization: 'Bearer re_key' } },

  events: [
    { title: 'delivered', body: event, events: [delivered] },
    ...(
      [
        ['email.sent', 'sent'],
        ['email.failed', 'rejected'],
        ['email.delivery_delayed', 'delayed'],
        ['email.opened', 'opened'],
        ['email.clicked', 'clicked'],
        ['email.complained', 'complaint'],
      ] as const
    ).map(([type, status]) => ({ title: status, body: { ...event, type }, events: [{ ...delivered, status }] })),
    {
      title: 'bounced, and why',
      body: { ...event, type: 'email.bounced', data: { email_id: '49a3999c', bounce: { message: 'full' } } },
      events: [{ ...delivered, status: 'bounced', response: 'full' }],
    },
    { title: 'something else', body: { ...event, type: 'contact.created' }, events: [] },
    {
      title: 'signed',
      configurations,
      headers: signed(event),
      body: event,
      events: [{ ...delivered, externalId: 'msg_1' }],
    },
    { title: 'signed for another body', configurations, headers: signed({}), body: event, events: undefined },
    { title: 'signed long ago', configurations, headers: signed(event, '1777600000'), body: event, events: undefined },
    { title: 'unsigned where signatures are asked for', configurations, body: event, events: undefined },
  ],
})

const vendor = useVendor()
const http = useHttpTo(vendor)
test('a send-only key of Resend passes the check', async () => {
  vendor.plays(() => ({ status: 401, body: { name: 'restricted_api_key', message: 'restricted to only send emails' } }))
  const delivery = new Delivery({ http, clock: { now: () => new Date() }, brand: 'acme' })
  expect(await delivery.check(resend, { apiKey: 're_key' })).toEqual({ ok: true })
})
