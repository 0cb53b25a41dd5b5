// What every HTTP provider promises, tested against a local server that plays its vendor. A provider's own test is one call
// with a table: requests for messages, replies, and how the vendor words refusals.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, describe, expect, test } from 'vitest'
import { Delivery } from '../src/providers/delivery.ts'
import { DeliveryError } from '../src/providers/delivery-error.ts'
import { type DeliveryEvent, InboundRequest } from '../src/providers/events.ts'
import {
  type ChatMessage,
  type Credentials,
  type EmailMessage,
  endlessTurn,
  type Message,
  type Provider,
  type PushMessage,
  type SmsMessage,
  type Turn,
} from '../src/providers/provider.ts'
import type { Data } from '../src/providers/provider-data.ts'
import { type Asked, useHttpTo, useVendor, type VendorReply } from './vendor.ts'

const common = { id: '6630a1b2c3d4e5f601020304', attempt: 1, providerData: {}, customData: {} }

/** A minimal message by channel; a test adds what it is about. */
const plain = {
  email: {
    ...common,
    channel: 'email',
    to: ['ada@example.com'],
    cc: [],
    bcc: [],
    from: 'news@acme.example',
    subject: 'Hello',
    html: '<p>Hi</p>',
    headers: {},
    attachments: [],
    details: { transactionId: 'tx-1', workflowId: 'welcome', subscriberId: 'ada' },
    payload: {},
  } satisfies EmailMessage,
  sms: { ...common, channel: 'sms', to: '+15550100', content: 'Hi' } satisfies SmsMessage,
  push: {
    ...common,
    channel: 'push',
    target: 'device-token',
    title: 'Hello',
    content: 'Hi',
    payload: {},
    overrides: {},
    subscriber: { subscriberId: 'ada' },
    step: { digest: false, events: [], total_count: 0 },
  } satisfies PushMessage,
  chat: {
    ...common,
    channel: 'chat',
    target: { type: 'webhook', url: 'https://hooks.example.com/T0/B0/hook-secret' },
    content: 'Hi',
  } satisfies ChatMessage,
}

export const plainMail: EmailMessage = plain.email
export const plainSms: SmsMessage = plain.sms
export const plainPush: PushMessage = plain.push
export const plainChat: ChatMessage = plain.chat

/** A mail with every feature. */
export const fullMail: Partial<EmailMessage> = {
  to: ['ada@example.com', 'bob@example.com'],
  cc: ['cc@example.com'],
  bcc: ['bcc@example.com'],
  senderName: 'Acme',
  replyTo: 'help@acme.example',
  text: 'Hi',
  headers: { 'X-Campaign': 'spring' },
  attachments: [
    { file: Buffer.from('PDF'), mime: 'application/pdf', name: 'bill.pdf' },
    { file: Buffer.from([0xff, 0x00]), mime: 'image/png', name: 'logo.png', cid: 'logo' },
  ],
}

interface ExpectedRequest {
  /** Defaults to POST. */
  method?: string
  /** Complete, with the query. */
  url: string
  /** At least these. */
  headers?: Record<string, unknown>
  /** Exactly this; at most one of these. */
  json?: unknown
  form?: Record<string, string> | Array<[string, string]>
  /** Files as `[name, type, base64]`. */
  multipart?: Array<[string, string | [name: string, type: string, content: string]]>
  text?: string
}

interface Sent<M extends Message> {
  title: string
  message?: Partial<M>
  credentials?: Credentials
  configurations?: Data
  /** One per request; `accepted` by default. */
  replies?: VendorReply[]
  requests: ExpectedRequest[]
  result: { providerMessageId: string; date?: string }
}

type ExpectedError = Partial<
  Pick<DeliveryError, 'code' | 'kind' | 'says' | 'afterSeconds' | 'mayHaveArrived' | 'status'>
>

interface Reported {
  title: string
  body: string | object
  headers?: Record<string, string>
  url?: string
  configurations?: Data
  credentials?: Credentials
  /** Undefined: refused. */
  events: Array<Omit<DeliveryEvent, 'raw'>> | undefined
}

export interface ProviderCase<M extends Message> {
  credentials: Credentials
  /** Defaults to HTTP/1.1. */
  speaks?: 'h2'
  /** For every message of the suite. */
  message?: Partial<M>
  /** Replies to requests before the delivery, such as signing in. */
  before?: VendorReply[]
  /** The vendor's reply when it accepts a message. */
  accepted: VendorReply
  sends: Array<Sent<M>>
  /** An error body as this vendor writes it, with this text. */
  errorBody(words: string): unknown
  /** The result of a success that is not JSON: an error, unless the body does not matter. */
  notJson?: 'accepted' | ExpectedError
  /** If the vendor reports it other than by status 401. */
  unauthorized?: VendorReply
  refusals?: Array<[title: string, reply: VendorReply, error: ExpectedError]>
  /** The request that tests the credentials. */
  check?: ExpectedRequest
  events?: Reported[]
}

export function testProvider<M extends Message>(provider: Provider<M>, given: ProviderCase<M>): void {
  const { speaks = 'http/1.1' } = given
  const vendor = useVendor({ speaks })
  /** A separate server, because its request may arrive after the caller has given up. */
  const silent = useVendor({ speaks })
  const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
  const delivery = new Delivery({ http: useHttpTo(vendor), clock, brand: 'acme' })
  const impatient = new Delivery({ http: useHttpTo(silent), clock, brand: 'acme', timeoutMs: 30 })
  afterAll(() => Promise.all([delivery.close(), impatient.close()]))
  const { before = [], accepted, credentials } = given
  const channel: Message['channel'] = provider.channel
  const messageOf = (own?: Partial<M>) => ({ ...plain[channel], ...given.message, ...own }) as unknown as M

  let integrations = 0
  /** A new integration each time, so that no cached state of an earlier one matters. */
  const integration = (own: Credentials = credentials, configurations: Data = {}) => {
    integrations += 1
    return { id: `integration-${integrations}`, credentials: own, configurations, storesContent: true }
  }
  function replies(...list: VendorReply[]) {
    const left = [...list]
    vendor.plays(() => left.shift() ?? { status: 599, body: 'one request too many' })
  }
  const send = (own?: Partial<M>) => delivery.send(provider, integration(), messageOf(own))

  const secretsOf = (own: Credentials, message: Message): string[] => {
    const declared = Object.entries(provider.credentials)
      .filter(([, { secret }]) => secret)
      .map(([name]) => own[name])
    // A webhook's address is a secret: whoever knows it may post there.
    const target: Data = message.channel === 'chat' ? message.target : {}
    return [...declared, target.url, target.token].filter(
      (value): value is string => typeof value === 'string' && value !== '' && !isHostAlone(value),
    )
  }
  const secrets = secretsOf(credentials, messageOf())
  const expectNone = (told: string, of: string[] = secrets) => {
    for (const secret of of)
      for (const form of [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)])
        expect(told).not.toContain(form)
  }
  async function problem(work: Promise<unknown>, expected: ExpectedError): Promise<DeliveryError> {
    const error: unknown = await work.then(
      (result) => result,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(DeliveryError)
    expect(error).toMatchObject(expected)
    const { stack, cause, exchange } = error as DeliveryError
    expectNone(`${JSON.stringify(error)} ${String(stack)} ${String(cause)} ${JSON.stringify(exchange)}`)
    return error as DeliveryError
  }

  test(`${provider.name} sends nothing to somebody who is held back`, async () => {
    replies(...before)
    let starts = 0
    const start = async () => {
      starts += 1
      throw new DeliveryError('held_back')
    }
    await problem(delivery.send(provider, { ...integration(), start }, messageOf()), { code: 'held_back' })
    expect([starts, vendor.asked.length]).toEqual([1, before.length])
  })

  test(`${provider.name} hands its request over before it gives the start back`, async () => {
    let made = 0
    const count = () => {
      made += 1
    }
    let handed: number | undefined
    const start = <T>(request: (turn: Turn) => Promise<T>) => {
      made = 0
      const sending = request(endlessTurn)
      handed = made
      return sending
    }
    subscribe('undici:request:create', count)
    try {
      replies(...before, accepted)
      await delivery.send(provider, { ...integration(), start }, messageOf())
    } finally {
      unsubscribe('undici:request:create', count)
    }
    // HTTP/2 has a client of its own.
    expect(handed).toBe(speaks === 'h2' ? 0 : 1)
  })

  describe(`${provider.name} accepts a message`, () => {
    for (const sent of given.sends)
      test(sent.title, async () => {
        replies(...(sent.replies ?? [...before, accepted]))
        const own = integration({ ...credentials, ...sent.credentials }, sent.configurations)
        const { exchange, ...result } = await delivery.send(provider, own, messageOf(sent.message))
        // It is stored with the message.
        expectNone(JSON.stringify(exchange ?? ''), secretsOf(own.credentials, messageOf(sent.message)))
        expect(vendor.asked).toHaveLength(sent.requests.length)
        for (const [index, expected] of sent.requests.entries()) await expectRequest(vendor.asked[index], expected)
        expect(result).toEqual(sent.result)
      })

    test("with the caller's extra headers and query parameters", async () => {
      replies(...before, accepted)
      const _passthrough = { headers: { 'X-Extra': 'one' }, query: { extra: 'two' } }
      await send({ providerData: { _passthrough } } as unknown as Partial<M>)
      expect(vendor.asked.at(-1)).toMatchObject({ headers: { 'x-extra': 'one' }, query: { extra: 'two' } })
    })
  })

  describe(`${provider.name} fails to send a message`, () => {
    test('on timeout', async () => {
      const left = [...before]
      silent.plays(() => left.shift())
      await problem(impatient.send(provider, integration(), messageOf()), { code: 'timeout', kind: 'later' })
    })

    test('when the connection is reset', async () => {
      const left = [...before]
      vendor.plays(() => left.shift() ?? 'hang up')
      await problem(send(), { code: 'connection_lost', kind: 'later', mayHaveArrived: true })
    })

    test('with bad credentials, which the error does not repeat', async () => {
      const words = `not you: ${secrets.join(' ')} ${secrets.map((text) => Buffer.from(text).toString('base64')).join(' ')}`
      const echoed = { status: 401, body: given.errorBody(words) }
      replies(...before, given.unauthorized ?? echoed)
      const { says } = await problem(send(), { code: 'unauthorized', kind: 'credentials' })
      if (!given.unauthorized) expect(says).toMatch(/^not you:[* ]*$/)
    })

    test('when rate limited, with Retry-After', async () => {
      replies(...before, { status: 429, headers: { 'Retry-After': '7' }, body: given.errorBody('too fast') })
      await problem(send(), { code: 'rate_limited', kind: 'later', afterSeconds: 7 })
    })

    test('when the vendor has an outage', async () => {
      replies(...before, { status: 500, body: '<html>' })
      await problem(send(), { code: 'unavailable', kind: 'later', mayHaveArrived: false })
    })

    test('when the vendor refuses, in its own words', async () => {
      replies(...before, { status: 400, body: given.errorBody('no such thing') })
      const { says } = await problem(send(), { status: 400 })
      expect(says).toContain('no such thing')
    })

    test('when the answer is not JSON', async () => {
      const { notJson = { code: 'unreadable_answer', kind: 'later' } } = given
      replies(...before, { ...accepted, body: '<html>' })
      if (notJson === 'accepted') expect((await send()).providerMessageId).not.toBe('')
      else await problem(send(), notJson)
    })

    for (const [title, reply, error] of given.refusals ?? [])
      test(title, async () => {
        replies(...before, reply)
        await problem(send(), error)
      })

    const needed = Object.entries(provider.credentials).filter(([, field]) => field.needed)
    test.each(needed.map(([name]) => name))('without a request if %s is missing', async (name) => {
      const { [name]: _, ...rest } = credentials
      const error = { code: 'incomplete_credentials', kind: 'credentials', reason: name } as const
      await problem(delivery.send(provider, integration(rest), messageOf()), error)
      expect(vendor.asked).toEqual([])
    })
  })

  if (given.check)
    describe(`${provider.name} credentials are tested`, () => {
      const expected = given.check as ExpectedRequest
      const check = () => delivery.check(provider as unknown as Provider, credentials)

      test('with one request that sends no message', async () => {
        replies({ body: {} })
        expect(await check()).toEqual({ ok: true })
        expect(vendor.asked).toHaveLength(1)
        await expectRequest(vendor.asked[0], { method: 'GET', ...expected })
      })

      test("and the vendor's answer is shown without them", async () => {
        replies({ status: 401, body: given.errorBody(secrets.join(' ')) })
        const result = await check()
        const verdict = `${provider.name} does not accept these credentials; it answered with HTTP status 401`
        expect(result).toEqual({ ok: false, reason: expect.stringContaining(verdict) })
        expectNone(JSON.stringify(result))
      })
    })

  if (channel === 'push')
    test(`${provider.name}: the app reports on messages, under our id`, async () => {
      const statuses = ['delivered', 'opened', 'clicked', 'dismissed', 'failed']
      const told = [...statuses, 'framed'].map((eventType) => ({ eventType, eventId: 'm1' }))
      const request = new InboundRequest({
        url: 'https://belfry.example.com/in',
        headers: { 'content-type': 'application/json' },
        rawBody: Buffer.from(JSON.stringify(told)),
      })
      const read = await delivery.receive(provider as unknown as Provider, integration(), request)
      expect(read?.map(({ raw: _, ...event }) => event)).toEqual(
        statuses.map((status) => ({ providerMessageId: 'm1', status })),
      )
    })

  if (given.events)
    describe(`${provider.name} reports on a message`, () => {
      for (const { title, body, headers = {}, url, events, ...own } of given.events ?? [])
        test(title, async () => {
          const type = typeof body === 'string' ? 'application/x-www-form-urlencoded' : 'application/json'
          const request = new InboundRequest({
            url: url ?? 'https://belfry.example.com/in',
            headers: { 'content-type': type, ...headers },
            rawBody: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
          })
          const from = integration({ ...credentials, ...own.credentials }, own.configurations)
          const read = await delivery.receive(provider as unknown as Provider, from, request)
          expect(read?.map(({ raw: _, ...event }, place) => asNamed(event, events?.[place]))).toEqual(events)
        })
    })
}

/** Whom it is about and whether for good, only where the test says so: bounces.test.ts has those of all vendors. */
function asNamed(
  { recipient, permanent, ...event }: Omit<DeliveryEvent, 'raw'>,
  wanted: Omit<DeliveryEvent, 'raw'> = event,
) {
  return {
    ...event,
    ...('recipient' in wanted ? { recipient } : {}),
    ...('permanent' in wanted ? { permanent } : {}),
  }
}

async function expectRequest(asked: Asked | undefined, expected: ExpectedRequest): Promise<void> {
  if (!asked) throw new Error('no request was sent')
  const { method = 'POST', url, headers = {}, json, form, multipart, text } = expected
  expect(`${asked.method} ${asked.url}`).toBe(`${method} ${url}`)
  expect(asked.headers).toMatchObject(headers)
  if (json !== undefined) {
    expect(asked.headers['content-type']).toBe('application/json')
    expect(JSON.parse(asked.body)).toEqual(json)
  } else if (form !== undefined) {
    expect(asked.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect([...new URLSearchParams(asked.body)]).toEqual(Array.isArray(form) ? form : Object.entries(form))
  } else if (multipart !== undefined) expect(await partsOf(asked)).toEqual(multipart)
  else expect(asked.body).toEqual(text ?? '')
}

async function partsOf({ bytes, headers }: Asked) {
  const type = headers['content-type'] as string
  expect(type).toMatch(/^multipart\/form-data; boundary=/)
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  return Promise.all(
    [...form].map(async ([name, value]) =>
      typeof value === 'string'
        ? [name, value]
        : [name, [value.name, value.type, Buffer.from(await value.arrayBuffer()).toString('base64')]],
    ),
  )
}

/** An address without a path is no secret: errors name the host. */
const isHostAlone = (value: string) => URL.canParse(value) && new URL(value).origin === value.replace(/\/$/, '')
