// What the reports of a vendor mean, which failures it calls permanent, and whom they are about, by the samples of its
// documentation.
import { describe, expect, test } from 'vitest'
import { InboundRequest } from '../events.ts'
import { deliveryProvider } from '../index.ts'
import type { Tools } from '../provider.ts'

const sns = (message: object) => ({ Type: 'Notification', MessageId: 'm', Message: JSON.stringify(message) })
const mandrill = (event: object) => `mandrill_events=${encodeURIComponent(JSON.stringify([event]))}`

interface Sample {
  providerId: string
  /** It does not say whom a report is about. */
  isNameless?: true
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
    isNameless: true,
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
    providerId: 'netcore',
    permanent: [{ EVENT: 'bounce', TRANSID: '1', EMAIL: 'ada@example.com', BOUNCE_TYPE: 'HARDBOUNCE' }],
    passing: [{ EVENT: 'bounce', TRANSID: '1', EMAIL: 'ada@example.com', BOUNCE_TYPE: 'SOFTBOUNCE' }],
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

describe.each(samples)('$providerId', ({ providerId, isNameless, permanent, passing }) => {
  test('says which bounces are permanent, and about whom', async () => {
    const about = isNameless ? {} : { recipient: 'ada@example.com' }
    expect(await read(providerId, permanent)).toMatchObject([{ ...about, permanent: true }])
    const [event] = (await read(providerId, passing)) ?? []
    expect(event).toMatchObject(about)
    expect(event).not.toHaveProperty('permanent')
    if (isNameless) expect(event).not.toHaveProperty('recipient')
  })
})

const of = { email: 'ada@example.com' }
const brevo = (event: string) => ({ ...of, event, 'message-id': '1' })
const sendgrid = (event: string) => [{ ...of, id: '1', event }]
const mailjet = (event: string) => ({ ...of, event, MessageID: 1 })
const mandrillOf = (event: string) => mandrill({ event, _id: '1', msg: of })
const netcore = (EVENT: string) => [{ EVENT, TRANSID: '1', EMAIL: of.email }]
const resend = (type: string) => ({ type, data: { email_id: '1', to: [of.email] } })
const postmark = (RecordType: string, more: object) => ({ RecordType, MessageID: '1', Recipient: of.email, ...more })
const mailgun = (event: string) => ({
  'event-data': { event, recipient: of.email, message: { headers: { 'message-id': '1' } } },
})
const ses = (eventType: string, details: object) => {
  const name = eventType.toLowerCase()
  return sns({ eventType, mail: { messageId: '1' }, [name]: details })
}
const complainedRecipients = [{ emailAddress: of.email }]

test.each<[string, string, object | string, string | undefined]>([
  ['sendinblue', 'complaint', brevo('complaint'), 'complaint'],
  ['sendinblue', 'spam', brevo('spam'), 'spam'],
  ['sendinblue', 'unsubscribed', brevo('unsubscribed'), 'unsubscribed'],
  ['sendinblue', 'request', brevo('request'), 'sent'],
  ['sendinblue', 'delivered', brevo('delivered'), 'delivered'],
  ['sendinblue', 'blocked', brevo('blocked'), 'blocked'],
  ['sendgrid', 'spamreport', sendgrid('spamreport'), 'spam'],
  ['sendgrid', 'unsubscribe', sendgrid('unsubscribe'), 'unsubscribed'],
  ['sendgrid', 'group_unsubscribe', sendgrid('group_unsubscribe'), 'unsubscribed'],
  ['sendgrid', 'group_resubscribe', sendgrid('group_resubscribe'), undefined],
  ['sendgrid', 'processed', sendgrid('processed'), undefined],
  ['mailjet', 'spam', mailjet('spam'), 'spam'],
  ['mailjet', 'unsub', mailjet('unsub'), 'unsubscribed'],
  ['mandrill', 'spam', mandrillOf('spam'), 'spam'],
  ['mandrill', 'unsub', mandrillOf('unsub'), 'unsubscribed'],
  ['mandrill', 'send', mandrillOf('send'), 'sent'],
  ['mailgun', 'complained', mailgun('complained'), 'complaint'],
  ['mailgun', 'unsubscribed', mailgun('unsubscribed'), 'unsubscribed'],
  ['netcore', 'spam', netcore('spam'), 'spam'],
  ['netcore', 'unsub', netcore('unsub'), 'unsubscribed'],
  ['netcore', 'send', netcore('send'), 'sent'],
  ['resend', 'email.complained', resend('email.complained'), 'complaint'],
  ['resend', 'email.sent', resend('email.sent'), 'sent'],
  ['postmark', 'SpamComplaint', postmark('SpamComplaint', {}), 'spam'],
  ['postmark', 'a bounce that is a complaint', postmark('Bounce', { Type: 'SpamComplaint' }), 'spam'],
  ['postmark', 'a bounce that unsubscribes', postmark('Bounce', { Type: 'Unsubscribe' }), 'unsubscribed'],
  ['postmark', 'the answer of a machine', postmark('Bounce', { Type: 'AutoResponder' }), undefined],
  [
    'postmark',
    'an unsubscription',
    postmark('SubscriptionChange', { SuppressSending: true, SuppressionReason: 'ManualSuppression' }),
    'unsubscribed',
  ],
  [
    'postmark',
    'an address stopped after a complaint',
    postmark('SubscriptionChange', { SuppressSending: true, SuppressionReason: 'SpamComplaint' }),
    'spam',
  ],
  [
    'postmark',
    'an address stopped after a bounce',
    postmark('SubscriptionChange', { SuppressSending: true, SuppressionReason: 'HardBounce' }),
    'bounced',
  ],
  ['postmark', 'somebody back', postmark('SubscriptionChange', { SuppressSending: false }), undefined],
  ['ses', 'Complaint', ses('Complaint', { complainedRecipients, complaintFeedbackType: 'abuse' }), 'complaint'],
  ['ses', 'what is no spam', ses('Complaint', { complainedRecipients, complaintFeedbackType: 'not-spam' }), undefined],
  [
    'ses',
    'Subscription, all ended',
    ses('Subscription', { newTopicPreferences: { unsubscribeAll: true } }),
    'unsubscribed',
  ],
  ['ses', 'Subscription', ses('Subscription', { newTopicPreferences: { unsubscribeAll: false } }), undefined],
])('%s: %s', async (providerId, _, body, status) => {
  const events = (await read(providerId, body)) ?? []
  expect(events.map((event) => event.status)).toEqual(status === undefined ? [] : [status])
})

test('SES tells of each address that bounced, and of several that may have complained it names none', async () => {
  const both = [{ emailAddress: 'ada@example.com', diagnosticCode: '550 no' }, { emailAddress: 'bob@example.com' }]
  const bounced = { providerMessageId: '1', status: 'bounced', externalId: 'm', permanent: true }
  const events = await read('ses', ses('Bounce', { bounceType: 'Permanent', bouncedRecipients: both }))
  expect(events).toMatchObject([
    { ...bounced, recipient: 'ada@example.com', response: '550 no' },
    { ...bounced, recipient: 'bob@example.com' },
  ])
  const [complaint] = (await read('ses', ses('Complaint', { complainedRecipients: both }))) ?? []
  expect(complaint).toMatchObject({ status: 'complaint' })
  expect(complaint).not.toHaveProperty('recipient')
})

test('Postmark says when it happened, and gives bounces an id', async () => {
  const times = {
    Bounce: { BouncedAt: '2026-05-01T10:00:00Z', ID: 42, Type: 'SoftBounce' },
    Delivery: { DeliveredAt: '2026-05-01T10:00:00Z' },
    Open: { ReceivedAt: '2026-05-01T10:00:00Z' },
    SubscriptionChange: { ChangedAt: '2026-05-01T10:00:00Z', SuppressSending: true },
  }
  for (const [name, more] of Object.entries(times))
    expect(await read('postmark', postmark(name, more))).toMatchObject([
      { date: new Date('2026-05-01T10:00:00Z'), ...(name === 'Bounce' ? { externalId: '42' } : {}) },
    ])
})
