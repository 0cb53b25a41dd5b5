// Tokens of the links in messages: what the link is about, signed. No address is in them, only its hash.
import { type AddressChannel, addressChannels } from './addresses.ts'
import type { Secrets } from './secrets.ts'

/**
 * `u` unsubscribes, `p` opens preferences, `v` shows the message, `c` counts a click and leads on, `o` counts that the message was
 * opened. A token of one purpose is none of another.
 */
export type LinkPurpose = 'u' | 'p' | 'v' | 'c' | 'o'

/** Stands in for a message, a workflow or an address where a link is about none. */
export const noId = '0'.repeat(24)
export const noAddress: Buffer = Buffer.alloc(32)

export interface Link {
  purpose: LinkPurpose
  environmentId: string
  /** The internal id; its row may be gone. */
  subscriberRowId: string
  messageId: string
  /** The internal id of the workflow. */
  workflowId: string
  /** What is unsubscribed together, if the workflow had a category when the message was sent. */
  category: string | null
  channel: AddressChannel
  /** Whether the message had contexts; which ones, its row says. */
  hasContexts: boolean
  addressHash: Buffer
  /** When a page that shows something personal closes; null: never. */
  expiresAt: Date | null
  /** The contexts of a page that no message led to. */
  contextIds: string[]
}

const salt = 'link'
const idBytes = 12
const hashBytes = 32
const headBytes = 1 + 4 * idBytes + 2 + hashBytes
const timeBytes = 4
/** A category has at most 64 characters, and there are at most five contexts, so a token has at most 218. */
const longestToken = 220

/** @param url where a click leads: signed with it, so that no other can stand in its place */
export function makeLink(secrets: Pick<Secrets, 'signBriefly'>, link: Link, url = ''): string {
  const ids = [link.environmentId, link.subscriberRowId, link.messageId, link.workflowId]
  const head = Buffer.concat([
    Buffer.from(link.purpose),
    ...ids.map((id) => Buffer.from(id, 'hex')),
    Buffer.of(addressChannels.indexOf(link.channel), link.hasContexts ? 1 : 0),
    link.addressHash,
    tailOf(link),
  ])
  return Buffer.concat([head, secrets.signBriefly(signedWith(head, url), salt)]).toString('base64url')
}

const signedWith = (head: Buffer, url: string) => (url === '' ? head : Buffer.concat([head, Buffer.from(url)]))

/** What is unsubscribed; of a page, when it closes and its contexts. */
function tailOf({ purpose, category, expiresAt, contextIds }: Link): Buffer {
  if (purpose === 'u') return Buffer.from(category ?? '')
  if (purpose === 'c' || purpose === 'o') return Buffer.alloc(0)
  const time = Buffer.alloc(timeBytes)
  time.writeUInt32BE(Math.floor((expiresAt?.getTime() ?? 0) / 1000))
  return Buffer.concat([time, ...contextIds.map((id) => Buffer.from(id, 'hex'))])
}

function readTail(purpose: LinkPurpose, tail: Buffer): Pick<Link, 'category' | 'expiresAt' | 'contextIds'> {
  if (purpose === 'u') return { category: tail.toString('utf8') || null, expiresAt: null, contextIds: [] }
  if (purpose === 'c' || purpose === 'o') return { category: null, expiresAt: null, contextIds: [] }
  const contextIds: string[] = []
  for (let at = timeBytes; at < tail.length; at += idBytes) contextIds.push(tail.toString('hex', at, at + idBytes))
  return { category: null, expiresAt: new Date(tail.readUInt32BE(0) * 1000), contextIds }
}

/** Undefined unless we made it for this purpose, and to lead there; it may have expired. */
export function readLink(
  secrets: Pick<Secrets, 'verifyBriefly' | 'briefBytes'>,
  purpose: LinkPurpose,
  token: string,
  url = '',
): Link | undefined {
  if (token.length > longestToken || !/^[\w-]+$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  const end = bytes.length - secrets.briefBytes
  if (end < headBytes || bytes.toString('base64url') !== token) return undefined
  const head = bytes.subarray(0, end)
  if (!secrets.verifyBriefly(signedWith(head, url), bytes.subarray(end), salt)) return undefined
  if (head.toString('latin1', 0, 1) !== purpose) return undefined
  // Otherwise the beginning of the address could be moved into the token, and the rest would count as the address.
  if ((purpose === 'c' || purpose === 'o') && end !== headBytes) return undefined
  const id = (place: number) => head.toString('hex', 1 + place * idBytes, 1 + (place + 1) * idBytes)
  const channel = addressChannels[head.readUInt8(1 + 4 * idBytes)]
  if (channel === undefined) return undefined
  return {
    purpose,
    environmentId: id(0),
    subscriberRowId: id(1),
    messageId: id(2),
    workflowId: id(3),
    channel,
    hasContexts: head.readUInt8(2 + 4 * idBytes) === 1,
    addressHash: Buffer.from(head.subarray(headBytes - hashBytes, headBytes)),
    ...readTail(purpose, head.subarray(headBytes)),
  }
}

/** Where somebody answers a question. It holds as long as the question is kept. */
export interface AnswerLink {
  environmentId: string
  questionId: string
  /** The internal id; its row may be gone. */
  subscriberRowId: string
}

const answerSalt = 'answer link'
const answerBytes = 3 * idBytes

export function makeAnswerLink(secrets: Pick<Secrets, 'signBriefly'>, link: AnswerLink): string {
  const ids = [link.environmentId, link.questionId, link.subscriberRowId]
  const head = Buffer.concat(ids.map((id) => Buffer.from(id, 'hex')))
  return Buffer.concat([head, secrets.signBriefly(head, answerSalt)]).toString('base64url')
}

/** How all tokens of an environment begin that answer. */
export const answerTokenStart = (environmentId: string): string =>
  Buffer.from(environmentId, 'hex').toString('base64url')

/** How those begin that show a message. */
export const viewTokenStart = (environmentId: string): string =>
  Buffer.concat([Buffer.from('v'), Buffer.from(environmentId, 'hex').subarray(0, idBytes - 1)]).toString('base64url')

/** Undefined unless we made it. */
export function readAnswerLink(
  secrets: Pick<Secrets, 'verifyBriefly' | 'briefBytes'>,
  token: string,
): AnswerLink | undefined {
  if (token.length > longestToken || !/^[\w-]+$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== answerBytes + secrets.briefBytes || bytes.toString('base64url') !== token) return undefined
  const head = bytes.subarray(0, answerBytes)
  if (!secrets.verifyBriefly(head, bytes.subarray(answerBytes), answerSalt)) return undefined
  const id = (place: number) => head.toString('hex', place * idBytes, (place + 1) * idBytes)
  return { environmentId: id(0), questionId: id(1), subscriberRowId: id(2) }
}

/** What a button of a question carries: short, because some vendors take 64 bytes. The environment is in the vendor's request. */
const buttonSalt = 'answer button'
const buttonBytes = 2 * idBytes

const buttonHead = (questionId: string, subscriberRowId: string) =>
  Buffer.concat([questionId, subscriberRowId].map((id) => Buffer.from(id, 'hex')))
const signedButton = (environmentId: string, head: Buffer) => Buffer.concat([Buffer.from(environmentId, 'hex'), head])

export function makeButton(
  secrets: Pick<Secrets, 'signBriefly'>,
  { environmentId, questionId, subscriberRowId }: AnswerLink,
  place: number,
): string {
  const head = buttonHead(questionId, subscriberRowId)
  const signature = secrets.signBriefly(signedButton(environmentId, head), buttonSalt)
  return `${Buffer.concat([head, signature]).toString('base64url')}.${place}`
}

/** Undefined unless we made it for this environment. */
export function readButton(
  secrets: Pick<Secrets, 'verifyBriefly' | 'briefBytes'>,
  environmentId: string,
  value: string,
): { link: AnswerLink; place: number } | undefined {
  const [, token = '', place = ''] = /^([\w-]{1,100})\.(\d)$/.exec(value) ?? []
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== buttonBytes + secrets.briefBytes || bytes.toString('base64url') !== token) return undefined
  const head = bytes.subarray(0, buttonBytes)
  if (!secrets.verifyBriefly(signedButton(environmentId, head), bytes.subarray(buttonBytes), buttonSalt))
    return undefined
  const id = (at: number) => head.toString('hex', at * idBytes, (at + 1) * idBytes)
  return { link: { environmentId, questionId: id(0), subscriberRowId: id(1) }, place: Number(place) }
}

/** What a mail that comes back is recognized by. */
export interface MailReference {
  environmentId: string
  messageId: string
}

/** `unsubscribe` and `bounce` are addresses of ours, `id` is a header. */
export type MailPurpose = 'unsubscribe' | 'bounce' | 'id'

const base32 = 'abcdefghijklmnopqrstuvwxyz234567'
/** With two ids it makes 50 characters, which fit before the @ of an address behind `unsubscribe+`. */
const mailSignatureBytes = 7

/** In base32, because case is lost in addresses. */
export function makeMailToken(
  secrets: Pick<Secrets, 'signBriefly'>,
  purpose: MailPurpose,
  { environmentId, messageId }: MailReference,
): string {
  const head = Buffer.from(environmentId + messageId, 'hex')
  const signature = secrets.signBriefly(head, `mail ${purpose}`).subarray(0, mailSignatureBytes)
  let text = ''
  let [bits, held] = [0, 0]
  for (const byte of Buffer.concat([head, signature])) {
    bits = ((bits & 31) << 8) | byte
    for (held += 8; held >= 5; held -= 5) text += base32[(bits >> (held - 5)) & 31]
  }
  return text + base32[(bits << (5 - held)) & 31]
}

/** Undefined unless we made it for this purpose. */
export function readMailToken(
  secrets: Pick<Secrets, 'verifyBriefly'>,
  purpose: MailPurpose,
  token: string,
): MailReference | undefined {
  const text = token.toLowerCase()
  if (!/^[a-z2-7]{50}$/.test(text)) return undefined
  const bits = [...text].map((letter) => base32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  if (!bits.endsWith('00')) return undefined
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
  const head = bytes.subarray(0, 2 * idBytes)
  const signature = bytes.subarray(2 * idBytes)
  if (!secrets.verifyBriefly(head, signature, `mail ${purpose}`, mailSignatureBytes)) return undefined
  return { environmentId: head.toString('hex', 0, idBytes), messageId: head.toString('hex', idBytes) }
}
