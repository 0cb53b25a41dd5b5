// Tokens of the links in messages: what the link is about, signed. No address is in them, only its hash.
import { type AddressChannel, addressChannels } from './addresses.ts'
import type { Secrets } from './secrets.ts'

/** `u` unsubscribes. A token of one purpose is none of another. */
export type LinkPurpose = 'u'

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
}

const salt = 'link'
const idBytes = 12
const hashBytes = 32
const headBytes = 1 + 4 * idBytes + 2 + hashBytes
/** A category has at most 64 characters, so a token at most 218. */
const longestToken = 220

export function makeLink(secrets: Pick<Secrets, 'signBriefly'>, link: Link): string {
  const ids = [link.environmentId, link.subscriberRowId, link.messageId, link.workflowId]
  const head = Buffer.concat([
    Buffer.from(link.purpose),
    ...ids.map((id) => Buffer.from(id, 'hex')),
    Buffer.of(addressChannels.indexOf(link.channel), link.hasContexts ? 1 : 0),
    link.addressHash,
    Buffer.from(link.category ?? ''),
  ])
  return Buffer.concat([head, secrets.signBriefly(head, salt)]).toString('base64url')
}

/** Undefined unless we made it for this purpose. */
export function readLink(
  secrets: Pick<Secrets, 'verifyBriefly' | 'briefBytes'>,
  purpose: LinkPurpose,
  token: string,
): Link | undefined {
  if (token.length > longestToken || !/^[\w-]+$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  const end = bytes.length - secrets.briefBytes
  if (end < headBytes || bytes.toString('base64url') !== token) return undefined
  const head = bytes.subarray(0, end)
  if (!secrets.verifyBriefly(head, bytes.subarray(end), salt)) return undefined
  if (head.toString('latin1', 0, 1) !== purpose) return undefined
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
    category: head.toString('utf8', headBytes) || null,
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
