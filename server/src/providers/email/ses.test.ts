import { sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { certificate, certificateKey } from '../../../test/certificate.ts'
import { fullMail, plainMail, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import { InboundRequest } from '../events.ts'
import type { EmailMessage } from '../provider.ts'
import { ses } from './ses.ts'

const credentials = { apiKey: 'AKIDEXAMPLE', secretKey: 'ses-secret', region: 'eu-west-1' }
const url = 'https://email.eu-west-1.amazonaws.com/v2/email/outbound-emails'
const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
const headers = {
  'x-amz-date': '20260501T100000Z',
  authorization: expect.stringMatching(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260501\/eu-west-1\/ses\/aws4_request, SignedHeaders=host;x-amz-date, Signature=[0-9a-f]{64}$/,
  ),
}
const Content = { Raw: { Data: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) } }
const result = { providerMessageId: '010201-1' }
const aws = (name: string, message: string, status: number) => ({
  status,
  headers: { 'x-amzn-ErrorType': `${name}:http://internal.amazon.com/` },
  body: { message },
})

testProvider(ses, {
  credentials,
  accepted: { body: { MessageId: '010201-1' } },
  errorBody: (message) => ({ message }),

  sends: [
    {
      title: 'that is plain',
      requests: [{ url, headers, json: { Destination: { ToAddresses: ['ada@example.com'] }, Content } }],
      result,
    },
    {
      title: 'with everything a mail can have, and the settings of the integration',
      message: fullMail,
      configurations: { configurationSetName: 'events' },
      requests: [
        {
          url,
          json: {
            Destination: { ToAddresses: ['ada@example.com', 'bob@example.com', 'cc@example.com', 'bcc@example.com'] },
            Content,
            ConfigurationSetName: 'events',
          },
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own, and one more recipient",
      message: {
        providerData: {
          to: ['eve@example.com'],
          ses: { emailTags: [{ name: 'a', value: 'b' }], configurationSetName: 'own' },
        },
      },
      requests: [
        {
          url,
          json: {
            Destination: { ToAddresses: ['ada@example.com', 'eve@example.com'] },
            Content,
            EmailTags: [{ Name: 'a', Value: 'b' }],
            ConfigurationSetName: 'own',
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the keys do not exist',
      aws('UnrecognizedClientException', 'The security token included in the request is invalid.', 403),
      { code: 'unauthorized', kind: 'credentials' },
    ],
    ['it is asked too often', aws('TooManyRequestsException', 'slow', 429), { code: 'rate_limited', kind: 'later' }],
    ['the day is over', aws('LimitExceededException', 'quota', 400), { code: 'quota_exhausted', kind: 'failover' }],
    ['the account is suspended', aws('AccountSuspendedException', 'bad', 403), { code: 'rejected', kind: 'failover' }],
    [
      'the sender is not verified',
      aws('MessageRejected', 'Email address is not verified.', 400),
      { code: 'rejected', says: 'MessageRejected: Email address is not verified.' },
    ],
  ],

  check: { url: 'https://email.eu-west-1.amazonaws.com/v2/email/account', headers },
})

const vendor = useVendor()
const http = useHttpTo(vendor)
const delivery = new Delivery({ http, clock, brand: 'acme' })

describe('a request to Amazon SES', () => {
  async function mailFor(message: Partial<EmailMessage>): Promise<string> {
    vendor.plays(() => ({ body: { MessageId: '1' } }))
    await delivery.send(ses, { id: 'i', credentials }, { ...plainMail, ...message })
    const { Content: sent } = JSON.parse(vendor.asked.at(-1)?.body ?? '') as { Content: { Raw: { Data: string } } }
    return Buffer.from(sent.Raw.Data, 'base64').toString('latin1').replace(/\r\n /g, ' ')
  }

  test('contains a whole mail without its blind copies', async () => {
    const mail = await mailFor(fullMail)
    for (const line of [
      'From: Acme <news@acme.example>',
      'To: ada@example.com, bob@example.com',
      'Cc: cc@example.com',
      'Reply-To: help@acme.example',
      'Subject: Hello',
      'Date: Fri, 01 May 2026 10:00:00 +0000',
      'X-Campaign: spring',
      'Content-ID: <logo>',
    ])
      expect(mail).toContain(`${line}\r\n`)
    expect(mail).not.toContain('bcc@example.com')
  })

  test("takes nodemailer's options, but no local file", async () => {
    expect(await mailFor({ providerData: { inReplyTo: '<a@b>' } })).toContain('In-Reply-To: <a@b>')
    expect(await mailFor({})).toContain('From: "no-reply" <news@acme.example>')
    const asked = vendor.asked.length
    await expect(mailFor({ providerData: { attachments: [{ path: '/etc/passwd' }] } })).rejects.toMatchObject({
      code: 'message_refused',
    })
    expect(vendor.asked).toHaveLength(asked)
  })

  test('is not sent if the region is invalid', async () => {
    const stray = { id: 'i', credentials: { ...credentials, region: 'evil.example/#' } }
    await expect(delivery.send(ses, stray, plainMail)).rejects.toMatchObject({ code: 'incomplete_credentials' })
    expect(vendor.asked).toEqual([])
  })

  test('send-only keys pass the check', async () => {
    vendor.plays(() => aws('AccessDeniedException', 'not authorized to perform ses:GetAccount', 403))
    expect(await delivery.check(ses, credentials)).toEqual({ ok: true })
  })
})

describe('a notification of Amazon SES', () => {
  const certificateUrl = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem'
  const mail = { messageId: '010201-1', timestamp: '2026-05-01T09:59:00.000Z' }
  const notification = {
    Type: 'Notification',
    MessageId: 'sns-1',
    TopicArn: 'arn:aws:sns:eu-west-1:123456789012:mail',
    Message: JSON.stringify({
      eventType: 'Delivery',
      mail,
      delivery: { timestamp: '2026-05-01T09:59:30.000Z', smtpResponse: '250 OK' },
    }),
    Timestamp: '2026-05-01T09:59:31.000Z',
    SignatureVersion: '2',
    SigningCertURL: certificateUrl,
  }
  const members = {
    Notification: ['Message', 'MessageId', 'Timestamp', 'TopicArn', 'Type'],
    SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  }

  function signed(event: Record<string, string>) {
    const names = members[event.Type as keyof typeof members]
    const text = names.map((name) => `${name}\n${event[name]}\n`).join('')
    const algorithm = event.SignatureVersion === '1' ? 'sha1' : 'sha256'
    return { ...event, Signature: sign(algorithm, Buffer.from(text), certificateKey).toString('base64') }
  }
  let integrations = 0
  async function receive(body: object) {
    vendor.plays(({ path }) => ({ body: path.endsWith('.pem') ? certificate : '<ok/>' }))
    integrations += 1
    const from = { id: `events-${integrations}`, credentials }
    const type = { 'content-type': 'text/plain; charset=UTF-8' }
    const rawBody = Buffer.from(JSON.stringify(body))
    const events = await delivery.receive(
      ses,
      from,
      new InboundRequest({ url: 'https://x.example', headers: type, rawBody }),
    )
    return events?.map(({ raw: _, ...event }) => event)
  }
  const delivered = {
    providerMessageId: '010201-1',
    status: 'delivered',
    date: new Date('2026-05-01T09:59:30.000Z'),
    externalId: 'sns-1',
    response: '250 OK',
  }

  test.each(['1', '2'])('is accepted with a signature of version %s', async (SignatureVersion) => {
    expect(await receive(signed({ ...notification, SignatureVersion }))).toEqual([delivered])
    expect(vendor.asked.map(({ method, url: asked }) => `${method} ${asked}`)).toEqual([`GET ${certificateUrl}`])
  })

  test.each([
    ['Bounce', 'bounced'],
    ['Complaint', 'complaint'],
    ['Send', 'sent'],
    ['Reject', 'rejected'],
    ['Open', 'opened'],
    ['Click', 'clicked'],
    ['DeliveryDelay', 'delayed'],
  ])('%s means %s', async (eventType, status) => {
    const event = { ...notification, Message: JSON.stringify({ eventType, mail }) }
    const expected = { providerMessageId: '010201-1', status, date: new Date(mail.timestamp), externalId: 'sns-1' }
    expect(await receive(signed(event))).toEqual([expected])
  })

  test('of another type is ignored', async () => {
    expect(await receive(signed({ ...notification, Message: '{"eventType":"Subscription"}' }))).toEqual([])
    expect(await receive(signed({ ...notification, Message: 'Successfully validated SNS topic.' }))).toEqual([])
  })

  test.each<[string, object]>([
    ['signed for other words', { ...signed(notification), Message: '{}' }],
    ['signed by nobody', notification],
    [
      'signed with a certificate of the sender',
      signed({ ...notification, SigningCertURL: 'https://evil.example/sns.amazonaws.com/a.pem' }),
    ],
    [
      'signed with a certificate of another of its hosts',
      signed({ ...notification, SigningCertURL: 'https://sns.evil.amazonaws.com.evil.example/a.pem' }),
    ],
    ['old', signed({ ...notification, Timestamp: '2026-05-01T09:00:00.000Z' })],
    ['of a topic in another region', signed({ ...notification, TopicArn: 'arn:aws:sns:us-east-1:1:mail' })],
    ['of an unknown kind', { ...signed(notification), Type: 'Greeting' }],
    ['empty', {}],
  ])('is refused when %s', async (_, body) => {
    expect(await receive(body)).toBeUndefined()
  })

  test('is refused when the certificate is invalid', async () => {
    vendor.plays(() => ({ body: 'no certificate' }))
    const request = new InboundRequest({
      url: 'https://x.example',
      headers: {},
      rawBody: Buffer.from(JSON.stringify(signed(notification))),
    })
    expect(await delivery.receive(ses, { id: 'broken', credentials }, request)).toBeUndefined()
  })

  test('confirms the subscription when Amazon asks', async () => {
    const confirmation = {
      ...notification,
      Type: 'SubscriptionConfirmation',
      Message: 'You have chosen to subscribe',
      Token: 'token',
      SubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=token',
    }
    expect(await receive(signed(confirmation))).toEqual([])
    expect(vendor.asked.map(({ url: asked }) => asked)).toEqual([certificateUrl, confirmation.SubscribeURL])
    expect(await receive(signed({ ...confirmation, SubscribeURL: 'https://evil.example/' }))).toEqual([])
    expect(vendor.asked.map(({ url: asked }) => asked)).not.toContain('https://evil.example/')
  })
})
