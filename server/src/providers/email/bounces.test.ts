// Which failures a vendor calls permanent, and whom they are about, by the samples of its documentation.
import { describe, expect, test } from 'vitest'
import { InboundRequest } from '../events.ts'
import { deliveryProvider } from '../index.ts'
import type { Tools } from '../provider.ts'

const sns = (message: object) => ({ Type: 'Notification', MessageId: 'm', Message: JSON.stringify(message) })
const mandrill = (event: object) => `mandrill_events=${encodeURIComponent(JSON.stringify([event]))}`

interface Sample {
  providerId: string
  permanent: object | string
  passing: object | string
}

const samples: Sample[] = [
  {
    providerId: 'sendgrid',
    permanent: [{ id: '1', event: 'bounce', type: 'bounce', email: 'ada@example.com', status: '5.0.0' }],
    passing: [{ id: '1', event: 'bounce', type: 'blocked', email: 'ada@example.com', status: '5.7.1' }],
  },
  {
    providerId: 'postmark',
    permanent: { RecordType: 'Bounce', MessageID: '1', Type: 'HardBounce', TypeCode: 1, Email: 'ada@example.com' },
    passing: { RecordType: 'Bounce', MessageID: '1', Type: 'SoftBounce', TypeCode: 4096, Email: 'ada@example.com' },
  },
  {
    providerId: 'ses',
    permanent: sns({
      eventType: 'Bounce',
      mail: { messageId: '1' },
      bounce: { bounceType: 'Permanent', bouncedRecipients: [{ emailAddress: 'ada@example.com' }] },
    }),
    passing: sns({
      eventType: 'Bounce',
      mail: { messageId: '1' },
      bounce: { bounceType: 'Transient', bouncedRecipients: [{ emailAddress: 'ada@example.com' }] },
    }),
  },
  {
    providerId: 'mailgun',
    permanent: {
      'event-data': {
        ...{ event: 'failed', severity: 'permanent', reason: 'bounce', recipient: 'ada@example.com' },
        message: { headers: { 'message-id': '1' } },
      },
    },
    passing: {
      'event-data': {
        ...{ event: 'failed', severity: 'permanent', reason: 'old', recipient: 'ada@example.com' },
        message: { headers: { 'message-id': '1' } },
      },
    },
  },
  {
    providerId: 'mandrill',
    permanent: mandrill({ event: 'hard_bounce', _id: '1', msg: { email: 'ada@example.com' } }),
    passing: mandrill({ event: 'soft_bounce', _id: '1', msg: { email: 'ada@example.com' } }),
  },
  {
    providerId: 'resend',
    permanent: {
      type: 'email.bounced',
      data: { email_id: '1', to: ['ada@example.com'], bounce: { type: 'Permanent', message: 'no' } },
    },
    passing: {
      type: 'email.bounced',
      data: { email_id: '1', to: ['ada@example.com'], bounce: { type: 'Transient', message: 'no' } },
    },
  },
  {
    providerId: 'mailjet',
    permanent: { event: 'bounce', MessageID: 1, email: 'ada@example.com', hard_bounce: true },
    passing: { event: 'bounce', MessageID: 1, email: 'ada@example.com', hard_bounce: false },
  },
  {
    providerId: 'sendinblue',
    permanent: { event: 'hard_bounce', 'message-id': '1', email: 'ada@example.com' },
    passing: { event: 'soft_bounce', 'message-id': '1', email: 'ada@example.com' },
  },
]

async function read(providerId: string, body: object | string) {
  const isForm = typeof body === 'string'
  const request = new InboundRequest({
    url: 'https://belfry.example/in',
    headers: { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' },
    rawBody: Buffer.from(isForm ? body : JSON.stringify(body)),
  })
  return deliveryProvider(providerId)?.events?.read(request, {} as Tools)
}

describe.each(samples)('$providerId', ({ providerId, permanent, passing }) => {
  test('says which bounces are permanent, and about whom', async () => {
    expect(await read(providerId, permanent)).toMatchObject([{ recipient: 'ada@example.com', permanent: true }])
    const [event] = (await read(providerId, passing)) ?? []
    expect(event).toMatchObject({ recipient: 'ada@example.com' })
    expect(event).not.toHaveProperty('permanent')
  })
})
