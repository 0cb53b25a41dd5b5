// What providers share: reading credentials, making requests, turning answers into errors without secrets, and keeping
// connections and tokens between messages. The engine calls this, never a provider directly.

import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Tracing } from '../tracing.ts'
import { DeliveryError, type Exchange, statusError } from './delivery-error.ts'
import type { SmtpServer } from './email/smtp-server.ts'
import {
  type AutoConfigured,
  carriesKey,
  type DeliveryEvent,
  type InboundRequest,
  type InboundText,
  notConfigurable,
} from './events.ts'
import { type HttpAnswer, type HttpClient, jsonIn } from './http-client.ts'
import { Kept } from './kept.ts'
import { mask, maskedStart } from './masking.ts'
import {
  type BotLink,
  type BotProvider,
  type Click,
  type ClickableProvider,
  type Credentials,
  endlessTurn,
  type Introduction,
  type Invitation,
  type Message,
  type Problem,
  type Provider,
  type Sandbox,
  type SendResult,
  type Tools,
  type VendorRequest,
} from './provider.ts'
import { type Data, extend } from './provider-data.ts'
import { httpRequestOf } from './vendor-request.ts'

const defaultTimeoutMs = 30_000
/** Asked once: it takes as long as hashing an address. */
const machineName = hostname()
const checkTimeoutMs = 5_000
const longestQuote = 300
/** Characters stored of an exchange: enough to see what went wrong, or to recognise what went well. */
const kept = { sent: { request: 500, response: 300 }, failed: { request: 4_000, response: 2_000 } }

export interface DeliverySurroundings {
  http: HttpClient
  clock: { now(): Date }
  /** The word that names this service on the wire. */
  brand: string
  /** How this machine introduces itself to mail servers; by default with its host name. */
  mailName?: string | undefined
  timeoutMs?: number
  tracing?: Tracing | undefined
}

type Sent = SendResult & { providerMessageId: string; exchange?: Exchange }

export type CheckResult = { ok: true } | { ok: false; reason: string }

/** The stored integration. */
export interface Integration {
  id: string
  credentials: Credentials
  configurations?: Data
  /** Given by the caller, who knows the recipient. */
  sandbox?: Sandbox
  /** Whether it belongs to a development environment. */
  isDevelopment?: boolean
  /** Set to record the exchange; true also records its bodies. */
  storesContent?: boolean
  /** Decides whether a request that delivers may start, and starts it. Default: at once. */
  start?: Start
}

type Start = Tools['start']
const atOnce: Start = (request) => request(endlessTurn)

interface ChallengedIntegration {
  identifier: string
  credentials: Credentials
}

/** What a request to our inbound webhook says. */
interface Inbound {
  events: DeliveryEvent[]
  texts: InboundText[]
}

export class Delivery {
  readonly #surroundings: DeliverySurroundings
  readonly #kept: Kept
  /** End the sends in flight with an error. */
  readonly #cutOffs = new Set<(error: DeliveryError) => void>()

  constructor(surroundings: DeliverySurroundings) {
    this.#surroundings = surroundings
    this.#kept = new Kept(surroundings.clock)
  }

  /** One attempt. Anything but acceptance throws a `DeliveryError`; any other error is a bug. */
  send<M extends Message>(provider: Provider<M>, integration: Integration, message: M): Promise<Sent> {
    const { tracing } = this.#surroundings
    if (!tracing) return this.#send(provider, integration, message)
    const attributes = {
      'belfry.provider': provider.id,
      'belfry.channel': message.channel,
      'belfry.integration_id': integration.id,
    }
    const span = tracing.begin(`send ${provider.id}`, { kind: 'client', attributes })
    return tracing.during(span, () => this.#send(provider, integration, message))
  }

  async #send<M extends Message>(provider: Provider<M>, integration: Integration, message: M): Promise<Sent> {
    const use = this.#kept.use(integration.id, fingerprintOf(integration.credentials))
    const { storesContent } = integration
    const calls = storesContent === undefined ? undefined : new Calls(storesContent)
    const tools = this.#tools(provider, integration, use, { message, ...(calls ? { calls } : {}) })
    try {
      const values = readCredentials(provider, integration.credentials)
      const { providerMessageId, date, refusedRecipients, place } = await this.#unlessCutOff(
        provider.send(message, values, tools),
      )
      const exchange = calls?.last('sent')
      return {
        providerMessageId: providerMessageId ?? message.id,
        ...(date === undefined ? {} : { date }),
        ...(refusedRecipients === undefined ? {} : { refusedRecipients }),
        ...(place === undefined ? {} : { place }),
        ...(exchange === undefined ? {} : { exchange }),
      }
    } catch (error) {
      if (error instanceof DeliveryError) error.exchange = calls?.last('failed')
      throw error
    } finally {
      use.end()
    }
  }

  #unlessCutOff<T>(sending: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#cutOffs.add(reject)
      sending.then(resolve, reject).finally(() => this.#cutOffs.delete(reject))
    })
  }

  /** Stops waiting for answers: whether those messages arrived is unknown. */
  cutOff(): void {
    for (const end of this.#cutOffs) end(new DeliveryError('cut_off'))
  }

  /** Whether the vendor accepts these credentials; providers without a cheap check pass. */
  async check(provider: Provider, credentials: Credentials): Promise<CheckResult> {
    if (!provider.check) return { ok: true }
    const temporary = this.#temporary()
    try {
      const tools = this.#tools(provider, { id: '', credentials }, temporary.use, { defaultMs: checkTimeoutMs })
      const values = readCredentials(provider, credentials)
      await provider.check(values, tools)
      return { ok: true }
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error
      return { ok: false, reason: reasonOf(provider.name, error) }
    } finally {
      await temporary.close()
    }
  }

  /** The events in a request to our inbound webhook; undefined if it is not from the vendor. */
  async receive(
    provider: Provider,
    integration: Integration,
    request: InboundRequest,
  ): Promise<DeliveryEvent[] | undefined> {
    return (await this.inbound(provider, integration, request))?.events
  }

  /** The same with the texts that people sent. */
  async inbound(provider: Provider, integration: Integration, request: InboundRequest): Promise<Inbound | undefined> {
    if (!provider.events) return { events: [], texts: [] }
    const use = this.#kept.use(integration.id, fingerprintOf(integration.credentials))
    try {
      const tools = this.#tools(provider, integration, use)
      const key = integration.configurations?.inboundWebhookSigningKey
      const signingKey = typeof key === 'string' && key !== '' ? key : undefined
      const keys = { signingKey, credentials: readingOf(provider, integration.credentials).values }
      const isGenuine = provider.events.verify
        ? await provider.events.verify(request, keys, tools)
        : signingKey === undefined || carriesKey(request, signingKey)
      if (!isGenuine) return undefined
      const events = await provider.events.read(request, tools)
      return { events, texts: provider.events.texts?.(request) ?? [] }
    } finally {
      use.end()
    }
  }

  /** The answer to the vendor's verification request; undefined if it is not from the vendor. */
  challenge(
    provider: Provider,
    { identifier, credentials }: ChallengedIntegration,
    query: URLSearchParams,
  ): string | undefined {
    return provider.events?.challenge?.(query, { identifier, credentials: readingOf(provider, credentials).values })
  }

  /** Registers our inbound webhook with the vendor. A failure is returned, not thrown. */
  async configure(provider: Provider, credentials: Credentials, webhookUrl: string): Promise<AutoConfigured> {
    const { name, events } = provider
    if (!events?.configure) return notConfigurable(name)
    const temporary = this.#temporary()
    try {
      const tools = this.#tools(provider, { id: '', credentials }, temporary.use)
      return await events.configure(webhookUrl, readCredentials(provider, credentials), tools)
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error
      const reason = error.status === undefined ? error.message : `it answered with HTTP status ${error.status}`
      const message = `${name} webhook configuration failed: ${reason}`
      return { success: false, message }
    } finally {
      await temporary.close()
    }
  }

  /** A link that makes a person send our code to the vendor's bot. */
  async invite(provider: BotProvider, integration: Integration, asked: Invitation): Promise<BotLink> {
    const use = this.#kept.use(integration.id, fingerprintOf(integration.credentials))
    try {
      const tools = this.#tools(provider, integration, use, { defaultMs: checkTimeoutMs })
      return await provider.introductions.invite(asked, readCredentials(provider, integration.credentials), tools)
    } finally {
      use.end()
    }
  }

  /** Who sent our code to the vendor's bot; undefined if the request is not from the vendor. */
  hear(provider: BotProvider, credentials: Credentials, request: InboundRequest): Introduction[] | undefined {
    const { values, missing } = readingOf(provider, credentials)
    if (missing.length > 0) return undefined
    return provider.introductions.verify(request, values) ? provider.introductions.read(request) : undefined
  }

  /** What was clicked under messages; undefined if the request is not from the vendor. */
  async clicks(
    provider: ClickableProvider,
    integration: Integration,
    request: InboundRequest,
  ): Promise<Click[] | undefined> {
    const use = this.#kept.use(integration.id, fingerprintOf(integration.credentials))
    try {
      const { values, missing } = readingOf(provider, integration.credentials)
      if (missing.length > 0) return undefined
      const tools = this.#tools(provider, integration, use, { defaultMs: checkTimeoutMs })
      return (await provider.buttons.verify(request, values, tools)) ? provider.buttons.read(request) : undefined
    } finally {
      use.end()
    }
  }

  /** Replaces the text of a message that was sent, and removes its buttons. */
  async change(
    provider: ClickableProvider,
    integration: Integration,
    { place, text, token }: { place: Record<string, string>; text: string; token: string },
  ): Promise<void> {
    const use = this.#kept.use(integration.id, fingerprintOf(integration.credentials))
    try {
      const tools = this.#tools(provider, integration, use)
      await provider.buttons.change(place, text, readCredentials(provider, integration.credentials), tools, token)
    } finally {
      use.end()
    }
  }

  /** For requests without a stored integration: connections and tokens end with the request. */
  #temporary() {
    const kept = new Kept(this.#surroundings.clock)
    const use = kept.use('', '')
    const close = () => {
      use.end()
      return kept.close()
    }
    return { use, close }
  }

  /** Closes kept connections as soon as they are unused. */
  async close(): Promise<void> {
    await this.#kept.close()
  }

  #tools(
    provider: Provider,
    { credentials, configurations = {}, sandbox = noSandbox, isDevelopment = false, start = atOnce }: Integration,
    use: ReturnType<Kept['use']>,
    { message, calls, defaultMs = defaultTimeoutMs }: { message?: Message; calls?: Calls; defaultMs?: number } = {},
  ): Tools {
    const { clock, brand, timeoutMs = defaultMs, mailName = machineName } = this.#surroundings
    const http = isDevelopment ? this.#surroundings.http.development : this.#surroundings.http
    const secrets = new Set(secretsOf(provider, credentials, message))
    const providerData = without(message?.providerData ?? {}, provider.reserved ?? [])
    const naming = provider.naming ?? { casing: 'camel' }

    const call = async (
      url: string,
      request: VendorRequest,
      { added, begin, record }: { added: Data; begin: Start; record?: Calls | undefined },
    ): Promise<HttpAnswer> => {
      const prepared = await httpRequestOf(url, request, (base) => extend(base, added, naming))
      secrets.add(proofIn(prepared.request.headers ?? {}))
      const asked = { timeoutMs, ...prepared.request }
      // Who waits for a connection is asked about when one is free, not before.
      const place = begin === atOnce ? undefined : await http.place(prepared.url, asked)
      try {
        const answer = await begin(() => {
          record?.begin(prepared, secrets)
          return http.exchange(prepared.url, place ? { ...asked, place } : asked)
        })
        record?.end(answer)
        return accepted(answer, () => new URL(prepared.url).host)
      } finally {
        place?.leave()
      }
    }

    const accepted = (answer: HttpAnswer, hostOf: () => string): HttpAnswer => {
      const problem = problemOf(provider, answer, clock.now())
      if (isSuccess(answer) && problem === undefined) return answer
      const { says, code = isSuccess(answer) ? 'rejected' : undefined, afterSeconds, isDead } = problem ?? {}
      const { status, headers } = answer
      const more = { code, afterSeconds, isDead, says: quotable(says, secrets) }
      throw statusError(hostOf(), { status, retryAfter: headers['retry-after'] }, clock.now(), more)
    }

    return {
      start,
      deliver: (url, request) => {
        const added = request.isExtended ? {} : providerData
        return call(url, { method: 'POST', ...request }, { added, begin: start, record: calls })
      },
      ask: (url, request = {}) => {
        const hasBody = (request.json ?? request.form ?? request.multipart) !== undefined
        return call(url, { method: hasBody ? 'POST' : 'GET', ...request }, { added: {}, begin: atOnce })
      },
      extend: (base) => extend(base, providerData, naming),
      accept: (host, answer) => accepted(answer, () => host),
      error(code, { says, afterSeconds, status, isDead } = {}) {
        return new DeliveryError(code, { says: quotable(says, secrets), afterSeconds, status, isDead })
      },
      conceal: (secret) => void secrets.add(secret),
      keep: (make) => use.keep(make),
      remember: async (name, make) => {
        const value = await use.remember(name, make)
        secrets.add(value)
        return value
      },
      forget: (name) => use.forget(name),
      sandbox: { take: (taken) => start(() => sandbox.take(taken)) },
      ...{ http, clock, brand, mailName, timeoutMs, configurations },
    }
  }
}

type Prepared = Awaited<ReturnType<typeof httpRequestOf>>

/** Holds the last delivering request until its outcome says how much of it to store. */
class Calls {
  readonly #storesContent: boolean
  #request: Prepared | undefined
  #answer: HttpAnswer | undefined
  #secrets: ReadonlySet<string> = new Set()

  constructor(storesContent: boolean) {
    this.#storesContent = storesContent
  }

  begin(request: Prepared, secrets: ReadonlySet<string>): void {
    this.#request = request
    this.#answer = undefined
    // The set itself, so that secrets added later are masked too.
    this.#secrets = secrets
  }

  end(answer: HttpAnswer): void {
    this.#answer = answer
  }

  last(outcome: keyof typeof kept): Exchange | undefined {
    if (!this.#request) return undefined
    const { url, request } = this.#request
    const body = typeof request.body === 'string' ? this.#shown(request.body, kept[outcome].request) : {}
    const answer = this.#answer
    return {
      request: { method: request.method ?? 'POST', url: this.#address(url), ...body },
      ...(answer ? { response: { status: answer.status, ...this.#shown(answer.text, kept[outcome].response) } } : {}),
    }
  }

  /** Only the origin if the whole address is a secret. */
  #address(url: string): string {
    const { origin } = new URL(url)
    const masked = mask(url, this.#secrets)
    return masked.startsWith(origin) ? masked : `${origin}/***`
  }

  #shown(body: string, most: number): { body?: string } {
    if (!this.#storesContent || body === '') return {}
    const text = maskedStart(body, this.#secrets, most)
    // Three dots: with a character beyond Latin-1, V8 holds all texts joined with this one in twice the memory.
    return { body: text.length > most ? `${text.slice(0, most)}...` : text }
  }
}

const noSandbox: Sandbox = {
  take: () => Promise.reject(new DeliveryError('incomplete_credentials', { reason: 'no sandbox is set up' })),
}

/** Computed once per credentials object: the engine reuses the object until the integration changes. */
const fingerprints = new WeakMap<Credentials, string>()

function fingerprintOf(credentials: Credentials): string {
  const known = fingerprints.get(credentials)
  if (known !== undefined) return known
  const made = createHash('sha256').update(JSON.stringify(credentials)).digest('base64')
  fingerprints.set(credentials, made)
  return made
}

/** Why the check failed, for the person who entered the credentials. */
function reasonOf(name: string, { code, status, host, reason, says, message }: DeliveryError): string {
  const words = says === undefined ? '' : `: ${says}`
  if (code === 'incomplete_credentials')
    return says ?? `${name} cannot be checked without these credentials: ${reason ?? ''}`
  if (code === 'host_unknown' && host !== undefined)
    return `Provider gateway can't resolve the host with the given hostname ${host.replace(/:\d+$/, '')}`
  if (code === 'timeout') return `${name} did not answer in time`
  if (status === undefined) return says ?? `${name} could not be reached: ${message}`
  const verdict = code === 'unauthorized' ? 'does not accept these credentials' : 'could not check the credentials'
  return `${name} ${verdict}; it answered with HTTP status ${status}${words}`
}

/** An integration's credentials, read by its provider's fields. */
interface Reading {
  provider: Provider
  /** By declared field; empty values are undefined. */
  values: Readonly<Record<string, never>>
  missing: string[]
  secrets: string[]
}

/** The mail server of an integration; undefined where its provider speaks HTTP, or the credentials are not complete. */
export function smtpServerOf(provider: Provider, stored: Credentials): SmtpServer | undefined {
  const { values, missing } = readingOf(provider, stored)
  return missing.length === 0 ? provider.smtp?.(values) : undefined
}

/** Computed once per credentials object, like the fingerprint. */
const readings = new WeakMap<Credentials, Reading>()

function readingOf(provider: Provider, stored: Credentials): Reading {
  const known = readings.get(stored)
  if (known?.provider === provider) return known
  const fields = Object.entries(provider.credentials)
  const values = Object.fromEntries(
    fields.map(([name, { type }]) => {
      const value = stored[name]
      if (type === 'flag') return [name, value === true || value === 'true']
      if (value === '' || value === null) return [name, undefined]
      return [name, type === 'text' && value !== undefined ? String(value) : value]
    }),
    // Each value has the type its field gives it.
  ) as Record<string, never>
  const reading = {
    provider,
    values: Object.freeze(values),
    missing: fields.flatMap(([name, { needed }]) => (needed && !values[name] ? [name] : [])),
    secrets: fields.filter(([, { secret }]) => secret).flatMap(([name]) => textsIn(stored[name])),
  }
  readings.set(stored, reading)
  return reading
}

function readCredentials(provider: Provider, stored: Credentials): Readonly<Record<string, never>> {
  const { values, missing } = readingOf(provider, stored)
  if (missing.length === 0) return values
  throw new DeliveryError('incomplete_credentials', { reason: missing.join(', ') })
}

function secretsOf(provider: Provider, credentials: Credentials, message: Message | undefined): string[] {
  const { secrets } = readingOf(provider, credentials)
  if (message?.channel !== 'chat') return secrets
  // Anyone who knows a webhook's address can post to it.
  const { url, token }: Data = message.target
  return [...secrets, url, token].filter((value) => typeof value === 'string')
}

/** Including those inside an object, such as a private key in TLS options. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** The credentials in the Authorization header, such as encoded name and password. */
function proofIn({ authorization }: Record<string, string>): string {
  // Without the scheme.
  return authorization?.replace(/^\S+\s+/, '') ?? ''
}

const isSuccess = ({ status }: { status: number }) => status >= 200 && status < 300

function problemOf(provider: Provider, answer: HttpAnswer, now: Date): Problem | undefined {
  if (!provider.problem) return undefined
  const { status, headers, text } = answer
  return provider.problem({ status, isSuccess: isSuccess(answer), headers, text, body: jsonIn(answer), now })
}

const without = (data: Data, names: readonly string[]): Data =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)))

/** A vendor's words on one short line, with secrets masked. */
function quotable(words: string | undefined, secrets: ReadonlySet<string>): string | undefined {
  if (words === undefined) return undefined
  // A vendor may repeat a key of several lines in one.
  const line = mask(inOneLine(mask(words, secrets)), [...secrets].map(inOneLine))
  return line === '' ? undefined : line.slice(0, longestQuote)
}

const inOneLine = (text: string) => text.replace(/\s+/g, ' ').trim()
