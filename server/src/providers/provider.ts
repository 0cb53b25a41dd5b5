// The contract between the engine and providers: what a provider declares, the messages and tools it gets, and the result it
// returns. A provider is one file in its channel's folder and one line in index.ts.
import { createHash } from 'node:crypto'
import type { DeliveryError, DeliveryErrorCode } from './delivery-error.ts'
import type { SmtpServer } from './email/smtp-server.ts'
import type { AutoConfigured, DeliveryEvent, InboundRequest, InboundText } from './events.ts'
import type { HttpAnswer, HttpClient, HttpMethod } from './http-client.ts'
import type { Data, Extended, Naming } from './provider-data.ts'

export type Channel = 'email' | 'sms' | 'push' | 'chat'

/** An integration's decrypted credentials by name, not validated yet. */
export type Credentials = Record<string, unknown>

// ---- Messages

interface Outgoing {
  /** Our id of the message, the same in every attempt: the idempotency key if the provider takes one. */
  id: string
  /** Counts from 1. */
  attempt: number
  /** Additions of the workflow and the caller to this provider's request, merged by `mergeSources`. */
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
  /** Where mail servers report what they could not deliver, if not to the sender. */
  bounceAddress?: string
  attachments: Attachment[]
  ipPoolName?: string
  details: { transactionId: string; workflowId: string; subscriberId: string }
  /** The trigger's payload and the subscriber. */
  payload: Data
}

export interface SmsMessage extends Outgoing {
  channel: 'sms'
  to: string
  /** Overrides the configured sender. */
  from?: string
  content: string
}

export interface PushSubscription {
  endpoint: string
  p256dh: string
  auth: string
  /** The origin of the page that registered. */
  page: string | null
  /** Whom a push service can write to: mailto: or https. */
  contact: string
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
  severity?: string
  /** A browser that was registered, instead of a token; `target` is its id. */
  subscription?: PushSubscription | undefined
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
  /** Under the content, for providers that take them. */
  buttons?: ChatButton[]
}

export interface ChatButton {
  label: string
  /** Comes back with a click; up to 120 letters, digits, `_`, `-` and `.`, and up to 64 bytes where the vendor takes no more. */
  value: string
}

export type Message = EmailMessage | SmsMessage | PushMessage | ChatMessage

// ---- Results

export interface SendResult {
  /** The id in the provider's events. If undefined, our own id is stored. */
  providerMessageId: string | undefined
  /** When the provider accepted the message, if it says so. */
  date?: string | undefined
  /** Where a message with buttons is, to change it later. */
  place?: Record<string, string> | undefined
  /** Recipients that did not get the message, while others did. */
  refusedRecipients?: Array<{ address: string; says: string; isDead?: true }>
}

/** An error that an answer reports. */
export interface Problem {
  /** The vendor's own words; `Delivery` masks secrets in them. */
  says?: string | undefined
  /** If the status alone is not enough, or misleading. */
  code?: DeliveryErrorCode | undefined
  afterSeconds?: number | undefined
  /** The vendor says that the recipient's address does not exist, or never will: nothing is sent there any more. */
  isDead?: boolean | undefined
}

/** An answer; `body` is undefined if it is not JSON. */
export interface VendorAnswer {
  status: number
  isSuccess: boolean
  headers: Record<string, string>
  text: string
  body: unknown
  /** When it arrived, for vendors that say at what time to retry. */
  now: Date
}

// ---- Tools

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
  /** Default: POST. */
  method?: HttpMethod
  headers?: Record<string, string | undefined>
  /** Added to the URL. Without a body, provider data is merged into it. */
  query?: Data
  /** Provider data is merged already. */
  isExtended?: true
  /** At most one of these three. Members that are undefined are left out. */
  json?: Data
  /** Lists become repeated members, objects JSON. */
  form?: Data
  multipart?: Data
  /** Wraps the body, for example in a list of one. Provider data is merged before. */
  wrap?(body: Data): unknown
  /** Headers that depend on the final body, such as its signature. */
  sign?(request: { method: HttpMethod; url: string; body: string }): MaybePromise<Record<string, string>>
  timeoutMs?: number
}

type MaybePromise<Value> = Value | Promise<Value>

/** The time in which a request may be handed over that nobody has objected to. After it, it has to be asked about again. */
export interface Turn {
  readonly isOver: boolean
  /** Calls this when it is over; at once if it already is. @returns to be called once the request is handed over */
  whenOver(end: () => void): () => void
}

/** For requests that nobody objects to. */
export const endlessTurn: Turn = { isOver: false, whenOver: () => () => undefined }

export interface Tools {
  /** Sends the request that delivers, with provider data. Throws a `DeliveryError` unless the vendor accepts. */
  deliver(url: string, request: VendorRequest): Promise<HttpAnswer>
  /**
   * For a request that delivers other than through `deliver` or the sandbox: starts it, unless nothing may be sent to its
   * recipients. It must hand its request over before it returns, or later in its turn.
   */
  start<T>(request: (turn: Turn) => Promise<T>): Promise<T>
  /** The same as `deliver` for any other request, without provider data: signing in, looking something up. */
  ask(url: string, request?: VendorRequest): Promise<HttpAnswer>
  /** Merges provider data into something other than an HTTP request. */
  extend(base: Data): Extended
  /** For answers that did not come through `deliver` or `ask`: throws a `DeliveryError` unless the vendor accepts. */
  accept(host: string, answer: HttpAnswer): HttpAnswer
  /** An error with secrets masked. */
  error(code: DeliveryErrorCode, problem?: Omit<Problem, 'code'> & { status?: number }): DeliveryError
  /** Adds a secret to mask: a token that was minted, a key from a JSON file. */
  conceal(secret: string): void
  /** Something to close, such as a connection pool: made once per integration and set of credentials. */
  keep<Kept extends { close(): unknown }>(make: () => MaybePromise<Kept>): Promise<Kept>
  /** A cached value that expires, such as an access token, per integration and name. Concurrent callers share one request. */
  remember(name: string, make: () => Promise<{ value: string; seconds: number }>): Promise<string>
  /** Drops a cached value. */
  forget(name: string): void
  http: HttpClient
  clock: { now(): Date }
  /** The integration's settings besides its credentials. */
  configurations: Data
  /** The word that names this service on the wire: `X-<Word>-Signature`. */
  brand: string
  /** How this machine introduces itself to mail servers. */
  mailName: string
  sandbox: Sandbox
  /** For one whole request. */
  timeoutMs: number
}

/** Takes messages that are not to be delivered. */
export interface Sandbox {
  take(message: Message): Promise<{ id: string }>
}

// ---- Declarations

export interface Field<Value = unknown> {
  label: string
  type: 'text' | 'flag' | 'object'
  /** Required in forms. An integration can be saved without it and completed later. */
  required: boolean
  /** Nothing is sent while it is missing. */
  needed: boolean
  /** Encrypted at rest, and masked wherever it could appear. */
  secret: boolean
  help?: string
  choices?: readonly string[]
  /** The name older clients send. It is stored under its own name. */
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
/** Never required; unset means off. */
export const flag = (label: string, help?: string) =>
  field<boolean>('flag', label, { ...helped(help), required: false, needed: false })
/** JSON that can hold a secret. */
export const secretObject = (label: string, help?: string) =>
  field<Data>('object', label, { ...helped(help), secret: true })

export const optional = <Value>(of: Field<Value>): Field<Value | undefined> => ({
  ...(of as Field<Value | undefined>),
  required: false,
  needed: false,
})
/** Required in forms, but not for sending: a message can bring its own value, or the field serves another purpose. */
export const usual = <Value>(of: Field<Value>): Field<Value | undefined> => ({
  ...(of as Field<Value | undefined>),
  needed: false,
})

/** For every email provider. */
export const mailSender = { from: usual(text('From address')), senderName: usual(text('Sender name')) }
/** For most SMS providers. */
export const smsSender = { from: usual(text('From', 'A number or sender name the provider knows')) }

interface Definition<F extends Fields, M extends Message> {
  /** Stored with integrations, so it never changes. */
  id: string
  name: string
  /** The vendor's documentation; a path in ours if messages go to the user's own server. */
  docs: string
  /** By the names of the public API, which all providers share; in the order of the form. */
  credentials: F
  /** For provider data. Default: camel case. */
  naming?: Naming
  /** Members of provider data that are for us, not for the vendor. */
  reserved?: readonly string[]
  /** The vendor drops duplicates with the same key, so a retry is always safe. */
  idempotent?: true
  /** It cannot set headers of a mail. */
  takesNoHeaders?: true
  /** Only the service itself creates it: its id is not in the closed set that clients know. */
  unlisted?: true
  send(message: M, credentials: ValuesOf<F>, tools: Tools): Promise<SendResult>
  /** Called with every answer. Undefined: the status alone decides. */
  problem?(answer: VendorAnswer): Problem | undefined
  /** An authenticated request that sends nothing. Throws as `send` does. */
  check?(credentials: ValuesOf<F>, tools: Tools): Promise<unknown>
  /** The mail server that it hands mail to, if it speaks SMTP. */
  smtp?(credentials: ValuesOf<F>): SmtpServer
  /** Delivery events that the vendor reports to our inbound webhook. */
  events?: {
    /** Credentials that also verify a report: with one of them no signing key is needed. */
    checkedBy?: ReadonlyArray<keyof F & string>
    /** Whether the vendor sent the request. Without `verify`, the signing key in the request decides; without a key, any request is accepted. */
    verify?(request: InboundRequest, keys: SigningKeys<ValuesOf<F>>, tools: Tools): MaybePromise<boolean>
    read(request: InboundRequest, tools: Tools): MaybePromise<DeliveryEvent[]>
    /** Texts that people sent, for channels where they can. */
    texts?(request: InboundRequest): InboundText[]
    /** A request that says more is refused as a whole. */
    limit?: { most: number; count(request: InboundRequest): number }
    /** How the vendor is answered to a text, if it sends what we say; undefined: there is nothing to say. */
    answerText?(text: string | undefined): { type: string; body: string }
    /** Response headers for a vendor that validates the webhook before it sends events. */
    greet?(request: InboundRequest): Record<string, string> | undefined
    /**
     * The answer to the vendor's GET that verifies the webhook; undefined if its token is not ours.
     */
    challenge?(
      query: URLSearchParams,
      integration: { identifier: string; credentials: ValuesOf<F> },
    ): string | undefined
    /** Registers this URL with the vendor. */
    configure?(webhookUrl: string, credentials: ValuesOf<F>, tools: Tools): Promise<AutoConfigured>
  }
  /** How subscribers link themselves to the vendor's bot: they follow a link that sends our code to it. */
  introductions?: {
    /** Creates the link, and registers our webhook for messages to the bot. */
    invite(asked: Invitation, credentials: ValuesOf<F>, tools: Tools): Promise<BotLink>
    /** Whether the vendor sent the request. */
    verify(request: InboundRequest, credentials: ValuesOf<F>): boolean
    /** Empty for other messages. */
    read(request: InboundRequest): Introduction[]
  }
  /** Buttons under messages, and the clicks that the vendor tells our webhook of bots. */
  buttons?: {
    /** Whether messages to this target can have them. */
    fits(target: ChatTarget, credentials: ValuesOf<F>): boolean
    /** Whether the vendor sent the request. */
    verify(request: InboundRequest, credentials: ValuesOf<F>, tools: Tools): MaybePromise<boolean>
    /** Empty for anything else that the vendor tells. */
    read(request: InboundRequest): Click[]
    /** Replaces the text of a message that was sent, and removes its buttons. @param token of the connection, if there is one */
    change(
      place: Record<string, string>,
      text: string,
      credentials: ValuesOf<F>,
      tools: Tools,
      token: string,
    ): Promise<unknown>
  }
}

/** Somebody pressed a button. */
export interface Click {
  value: string
  user: { id: string; name: string | null }
  /** What the vendor wants to be answered. */
  reply?: Record<string, unknown>
}

/** A provider with a bot that subscribers can link to. */
export type BotProvider = Provider & Required<Pick<Provider, 'introductions'>>
export const hasBot = (provider: Provider | undefined): provider is BotProvider => provider?.introductions !== undefined

/** A provider whose messages can have buttons. */
export type ClickableProvider = Provider & Required<Pick<Provider, 'buttons'>>
export const isClickable = (provider: Provider | undefined): provider is ClickableProvider =>
  provider?.buttons !== undefined

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
  /** Where the person can be reached. */
  endpoint: { url: string; channel: string }
}

export interface SigningKeys<Values> {
  /** `inboundWebhookSigningKey` of the integration. */
  signingKey: string | undefined
  credentials: Values
}

/** A provider of any credentials. */
export interface Provider<M extends Message = Message> extends Definition<Fields, M> {
  channel: M['channel']
}

const declare =
  <M extends Message>(channel: M['channel'], reserved: readonly string[] = []) =>
  <F extends Fields>(definition: Definition<F, M>): Provider<M> => ({
    // `Delivery` reads the credentials by these fields before it calls any of the functions.
    ...(definition as unknown as Definition<Fields, M>),
    channel,
    reserved: [...reserved, ...(definition.reserved ?? [])],
  })

export const emailProvider = declare<EmailMessage>('email')
export const smsProvider = declare<SmsMessage>('sms')
export const pushProvider = declare<PushMessage>('push')
export const chatProvider = declare<ChatMessage>('chat', ['webhookUrl'])

// ---- Shared by many providers

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
export const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})

/** The value at a path such as `messages.0.id`. */
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

/** Undefined if the text is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** The string or number at a path, as a string. */
export function textAt(value: unknown, path: string): string | undefined {
  const found = at(value, path)
  if (typeof found === 'number') return String(found)
  return typeof found === 'string' && found !== '' ? found : undefined
}

/** For vendors that say when a rate limit ends, unless they send Retry-After too. */
export function secondsUntilReset({ headers, now }: Pick<VendorAnswer, 'headers' | 'now'>): number | undefined {
  const reset = Number(headers['x-ratelimit-reset'])
  if (!(reset > 0) || headers['retry-after'] !== undefined) return undefined
  return Math.max(0, Math.ceil(reset - now.getTime() / 1000))
}

/** One of our ids as a UUID, always the same for the same id. */
export function uuidOf(id: string): string {
  const hash = createHash('sha256').update(id).digest()
  // Version 8: custom bits; RFC 9562.
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
