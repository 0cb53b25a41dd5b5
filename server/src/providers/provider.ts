// The contract between the engine and whoever delivers: what a provider declares, what it is given to send, what it is
// given to send it with, and what it answers. A provider is one file in its channel's folder and one line in index.ts.
import { createHash } from 'node:crypto'
import type { DeliveryError, DeliveryErrorCode } from './delivery-error.ts'
import type { AutoConfigured, DeliveryEvent, InboundRequest } from './events.ts'
import type { HttpAnswer, HttpClient, HttpMethod } from './http-client.ts'
import type { Data, Extended, Naming } from './provider-data.ts'

export type Channel = 'email' | 'sms' | 'push' | 'chat'

/** An integration's credentials in clear, as they are stored: by name, checked by nobody yet. */
export type Credentials = Record<string, unknown>

// ---- What is sent

interface Outgoing {
  /** Our id of the message, the same in every attempt: the idempotency key where the provider takes one. */
  id: string
  /** Counts from 1. */
  attempt: number
  /** What the workflow and the caller add to this provider's request, already one object (`mergeSources`). */
  providerData: Data
  /** Values for a few providers' own features, such as templates. */
  customData: Data
}

export interface Attachment {
  file: Uint8Array
  mime: string
  name: string
  /** Shown inside the HTML, which refers to it as `cid:…`. */
  cid?: string
  disposition?: 'attachment' | 'inline'
}

export interface EmailMessage extends Outgoing {
  channel: 'email'
  to: string[]
  cc: string[]
  bcc: string[]
  from: string
  senderName?: string
  replyTo?: string
  subject: string
  html: string
  text?: string
  headers: Record<string, string>
  attachments: Attachment[]
  ipPoolName?: string
  details: { transactionId: string; workflowId: string; subscriberId: string }
  /** The trigger's payload and the subscriber. */
  payload: Data
}

export interface SmsMessage extends Outgoing {
  channel: 'sms'
  to: string
  /** Chosen for this message, or else the configured one. */
  from?: string
  content: string
}

export interface PushMessage extends Outgoing {
  channel: 'push'
  /** One token, player or user. */
  target: string
  title: string
  content: string
  payload: Data
  /** `overrides.push` and those under the provider's id, in the vocabulary all push providers share. */
  overrides: Data
  subscriber: Data
  step: { digest: boolean; events: unknown[]; total_count: number }
}

/** Where a chat message goes; tokens are those of the connection. */
export type ChatTarget =
  | { type: 'webhook'; url: string; channel?: string }
  | { type: 'slack_channel'; channelId: string; token: string }
  | { type: 'slack_user'; userId: string; token: string }
  | { type: 'ms_teams_channel'; teamId: string; channelId: string; tenantId: string }
  | { type: 'ms_teams_user'; userId: string; tenantId: string }
  | { type: 'phone'; phoneNumber: string }

export interface ChatMessage extends Outgoing {
  channel: 'chat'
  target: ChatTarget
  content: string
}

export type Message = EmailMessage | SmsMessage | PushMessage | ChatMessage

// ---- What comes of it

export interface SendResult {
  /** The id the provider's events will carry. Undefined where it gives none; ours is stored then. */
  providerMessageId: string | undefined
  /** When the provider says it took it. */
  date?: string | undefined
}

/** What an answer says went wrong. */
export interface Problem {
  /** The vendor's own words. Secrets are taken out by whoever reports them. */
  says?: string | undefined
  /** Where the status alone says too little, or the wrong thing. */
  code?: DeliveryErrorCode | undefined
  afterSeconds?: number | undefined
}

/** An answer, its body read as JSON where it is JSON. */
export interface VendorAnswer {
  status: number
  isSuccess: boolean
  headers: Record<string, string>
  text: string
  body: unknown
  /** When it came, for vendors that say at what time to come again. */
  now: Date
}

// ---- What it is sent with

/** A file in a multipart body. */
export class FilePart {
  readonly file: Uint8Array
  readonly name: string
  readonly mime: string

  constructor(file: Uint8Array, name: string, mime: string) {
    this.file = file
    this.name = name
    this.mime = mime
  }
}

export interface VendorRequest {
  /** POST, unless said otherwise. */
  method?: HttpMethod
  headers?: Record<string, string | undefined>
  /** Added to the URL. Alone, it is what provider data is merged into. */
  query?: Data
  /** At most one of these three. Members that are undefined are left out. */
  json?: Data
  /** Lists become repeated members, objects JSON. */
  form?: Data
  multipart?: Data
  /** What the body is sent in, such as a list of one. Provider data is merged before. */
  wrap?(body: Data): unknown
  /** Headers that depend on the final body, such as its signature. */
  sign?(request: { method: HttpMethod; url: string; body: string }): MaybePromise<Record<string, string>>
  timeoutMs?: number
}

type MaybePromise<Value> = Value | Promise<Value>

export interface Tools {
  /** Makes the request that delivers: provider data merged into it, any answer but an acceptance a `DeliveryError`. */
  deliver(url: string, request: VendorRequest): Promise<HttpAnswer>
  /** The same for any other request, without provider data: signing in, looking something up. */
  ask(url: string, request?: VendorRequest): Promise<HttpAnswer>
  /** Provider data merged into what is no HTTP request. */
  extend(base: Data): Extended
  /** An answer that came some other way than through `deliver` and `ask`: itself, unless it is a `DeliveryError`. */
  accept(host: string, answer: HttpAnswer): HttpAnswer
  /** An error of this provider's, told without secrets. */
  error(code: DeliveryErrorCode, problem?: Omit<Problem, 'code'> & { status?: number }): DeliveryError
  /** One more secret never to be told: a token that was minted, a key out of a JSON file. */
  conceal(secret: string): void
  /** Something with a life, such as a pool of connections: made once per integration, and again when its credentials change. */
  keep<Kept extends { close(): unknown }>(make: () => MaybePromise<Kept>): Promise<Kept>
  /** A value that stays good for a while, such as an access token; per integration and name. Made once for all who wait. */
  remember(name: string, make: () => Promise<{ value: string; seconds: number }>): Promise<string>
  /** No longer good after all. */
  forget(name: string): void
  http: HttpClient
  clock: { now(): Date }
  /** The integration's settings besides its credentials. */
  configurations: Data
  /** The word that names this service on the wire: `X-<Word>-Signature`. */
  brand: string
  sandbox: Sandbox
  /** For everything one request takes. */
  timeoutMs: number
}

/** Where messages go that are meant for nobody. */
export interface Sandbox {
  take(message: Message): Promise<{ id: string }>
}

// ---- What a provider declares

export interface Field<Value = unknown> {
  label: string
  type: 'text' | 'flag' | 'object'
  /** Asked for in forms. It can be saved without, and completed later. */
  required: boolean
  /** Nothing is sent while it is missing. */
  needed: boolean
  /** Opens the door to somebody's account: encrypted at rest, and never told. */
  secret: boolean
  help?: string
  choices?: readonly string[]
  /** What older set-ups give it as. It is stored by its own name. */
  formerly?: string
  /** Only for the compiler. */
  value?: Value
}

type Fields = Record<string, Field>
type ValuesOf<F extends Fields> = { [Name in keyof F]: F[Name] extends Field<infer Value> ? Value : never }

const field = <Value>(type: Field['type'], label: string, more: Partial<Field> = {}): Field<Value> => ({
  ...{ label, type, required: true, needed: true, secret: false },
  ...(more as Partial<Field<Value>>),
})
const helped = (help: string | undefined): Partial<Field> => (help === undefined ? {} : { help })

export const text = (label: string, help?: string) => field<string>('text', label, helped(help))
export const secret = (label: string, help?: string) => field<string>('text', label, { ...helped(help), secret: true })
export const choice = <const Choices extends readonly string[]>(label: string, choices: Choices, help?: string) =>
  field<string>('text', label, { ...helped(help), choices })
/** Never required: unset is off. */
export const flag = (label: string, help?: string) =>
  field<boolean>('flag', label, { ...helped(help), required: false, needed: false })
/** JSON, which can hold a secret. */
export const secretObject = (label: string, help?: string) =>
  field<Data>('object', label, { ...helped(help), secret: true })

export const optional = <Value>(of: Field<Value>): Field<Value | undefined> => ({
  ...(of as Field<Value | undefined>),
  required: false,
  needed: false,
})
/** Asked for, but something can be sent without: a message can bring its own, or it is for more than sending. */
export const usual = <Value>(of: Field<Value>): Field<Value | undefined> => ({
  ...(of as Field<Value | undefined>),
  needed: false,
})

/** Of every email provider. */
export const mailSender = { from: usual(text('From address')), senderName: usual(text('Sender name')) }
/** Of most SMS providers. */
export const smsSender = { from: usual(text('From', 'A number or sender name the provider knows')) }

interface Definition<F extends Fields, M extends Message> {
  /** Stored with integrations: never changes. */
  id: string
  name: string
  /** The vendor's own documentation; a path of ours where it is the user's own server that takes messages. */
  docs: string
  /** By the names of the public API, which are the same for all providers; order is that of the form. */
  credentials: F
  /** Of provider data; camel case without it. */
  naming?: Naming
  /** Members of provider data that tell us something, and are no part of the request. */
  reserved?: readonly string[]
  /** The vendor drops what it has already taken under the same key, so that trying again is always safe. */
  idempotent?: true
  /** Set up by the service alone: clients know a closed set of ids, and this is not in it. */
  unlisted?: true
  send(message: M, credentials: ValuesOf<F>, tools: Tools): Promise<SendResult>
  /** Asked of every answer. Undefined: a success is an acceptance, and anything else means what its status says. */
  problem?(answer: VendorAnswer): Problem | undefined
  /** An authenticated request that sends nothing. Throws what `send` would. */
  check?(credentials: ValuesOf<F>, tools: Tools): Promise<unknown>
  /** What became of messages, as the vendor reports it to our inbound webhook. */
  events?: {
    /** Whether the request is the vendor's. Without it, whoever brings the signing key is believed; anybody where there is none. */
    verify?(request: InboundRequest, keys: SigningKeys<ValuesOf<F>>, tools: Tools): MaybePromise<boolean>
    read(request: InboundRequest, tools: Tools): MaybePromise<DeliveryEvent[]>
    /** Headers of the answer by which the vendor sees that somebody is there, where it asks for that ahead of any event. */
    greet?(request: InboundRequest): Record<string, string> | undefined
    /**
     * What a GET to the webhook is answered with, by which the vendor sees that it is ours: undefined where the word in it is
     * not the one agreed on.
     */
    challenge?(
      query: URLSearchParams,
      integration: { identifier: string; credentials: ValuesOf<F> },
    ): string | undefined
    /** Has the vendor report to this URL. */
    configure?(webhookUrl: string, credentials: ValuesOf<F>, tools: Tools): Promise<AutoConfigured>
  }
  /** How people tell the vendor's bot who they are: by following a link that makes them say a word of ours to it. */
  introductions?: {
    /** Makes the link, and has the vendor bring what is said to the bot to our webhook. */
    invite(asked: Invitation, credentials: ValuesOf<F>, tools: Tools): Promise<BotLink>
    /** Whether what was brought is the vendor's. */
    verify(request: InboundRequest, credentials: ValuesOf<F>): boolean
    /** None, where something else was said. */
    read(request: InboundRequest): Introduction[]
  }
}

/** One with a bot that people can tell who they are. */
export type BotProvider = Provider & Required<Pick<Provider, 'introductions'>>
export const hasBot = (provider: Provider | undefined): provider is BotProvider => provider?.introductions !== undefined

export interface Invitation {
  webhookUrl: string
  /** At most 64 letters, digits, `_` and `-`. */
  word: string
}

export interface BotLink {
  url: string
  botUsername: string
}

export interface Introduction {
  word: string
  /** Where whoever said it is reached. */
  endpoint: { url: string; channel: string }
}

export interface SigningKeys<Values> {
  /** `inboundWebhookSigningKey` of the integration. */
  signingKey: string | undefined
  credentials: Values
}

/** What all the world sees of a provider: its credentials are values by name. */
export interface Provider<M extends Message = Message> extends Definition<Fields, M> {
  channel: M['channel']
}

const declare =
  <M extends Message>(channel: M['channel'], reserved: readonly string[] = []) =>
  <F extends Fields>(definition: Definition<F, M>): Provider<M> => ({
    // `Delivery` reads the values by these very fields before any of the functions sees them.
    ...(definition as unknown as Definition<Fields, M>),
    channel,
    reserved: [...reserved, ...(definition.reserved ?? [])],
  })

export const emailProvider = declare<EmailMessage>('email')
export const smsProvider = declare<SmsMessage>('sms')
export const pushProvider = declare<PushMessage>('push')
export const chatProvider = declare<ChatMessage>('chat', ['webhookUrl'])

// ---- What many of them need

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
export const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})

/** What stands at a path such as `messages.0.id`. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inner, name) =>
        typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
          ? (inner as Record<string, unknown>)[name]
          : undefined,
      value,
    )
}

/** The JSON in a text; undefined where it is something else. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** A text or number there, as text; else undefined. */
export function textAt(value: unknown, path: string): string | undefined {
  const found = at(value, path)
  if (typeof found === 'number') return String(found)
  return typeof found === 'string' && found !== '' ? found : undefined
}

/** From vendors that tell the time at which a limit ends, unless they say it the usual way too. */
export function secondsUntilReset({ headers, now }: Pick<VendorAnswer, 'headers' | 'now'>): number | undefined {
  const reset = Number(headers['x-ratelimit-reset'])
  if (!(reset > 0) || headers['retry-after'] !== undefined) return undefined
  return Math.max(0, Math.ceil(reset - now.getTime() / 1000))
}

/** An id of ours for vendors that want a UUID: the same for the same id. */
export function uuidOf(id: string): string {
  const hash = createHash('sha256').update(id).digest()
  // Version 8, whose bits are for the maker to choose; RFC 9562.
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
