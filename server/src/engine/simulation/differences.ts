// How one person's notification differs between two simulations of the same trigger.
import { isDeepStrictEqual } from 'node:util'
import { idHeader } from '../../steps/delivery/consent-links.ts'
import type { Members } from './scenario.ts'

/** The first that fits counts. */
export const kinds = ['more', 'fewer', 'content', 'time', 'reason'] as const
export type Kind = (typeof kinds)[number]

interface Step {
  stepId: string
  status: string
  reason: string | null
}

interface Message extends Members {
  runId: string
  stepId: string
  channel: string
  status: string
  at: string
}

export interface PlayedSide {
  steps: Step[]
  /** Those that were sent. */
  messages: Message[]
}

interface Changed {
  stepId: string
  member: string
  before: unknown
  after: unknown
}

export interface Difference {
  kind: Kind
  changes: Changed[]
  /** The message that differs first; null on a side that has none. */
  messages: { before: Members | null; after: Members | null }
}

interface PlayedRun {
  id: string
  transactionId: string
  subscriberId: string
  steps: Step[]
}

export const keyOf = (transactionId: string, subscriberId: string): string => `${transactionId}\n${subscriberId}`

/** What a simulation gave each person for each trigger. */
export function sidesOf(answer: Members): Map<string, PlayedSide> {
  const of = new Map<string, PlayedSide>()
  const sides = new Map<string, PlayedSide>()
  for (const { id, transactionId, subscriberId, steps } of answer.runs as PlayedRun[]) {
    const side: PlayedSide = { steps, messages: [] }
    of.set(id, side)
    sides.set(keyOf(transactionId, subscriberId), side)
  }
  for (const message of answer.messages as Message[])
    if (message.status === 'sent') of.get(message.runId)?.messages.push(message)
  return sides
}

const nothing: PlayedSide = { steps: [], messages: [] }

/** Undefined if both are the same. A side without a run sends nothing. */
export function differenceOf(before = nothing, after = nothing): Difference | undefined {
  const { pairs, added, missing } = matched(before.messages, after.messages)
  const sent = { member: 'status', before: null, after: 'sent' } as const
  const contents = pairs.map(([one, other]) => contentChanges(one, other))
  const found: Record<Kind, Changed[]> = {
    more: added.map(({ stepId }) => ({ stepId, ...sent })),
    fewer: missing.map(({ stepId }) => ({ stepId, member: 'status', before: 'sent', after: null })),
    content: contents.flat(),
    time: pairs.flatMap(([one, other]) =>
      one.at === other.at ? [] : [{ stepId: other.stepId, member: 'at', before: one.at, after: other.at }],
    ),
    reason: reasonChanges(before.steps, after.steps),
  }
  const kind = kinds.find((each) => found[each].length > 0)
  if (kind === undefined) return undefined
  const differing = pairs[contents.findIndex((changes) => changes.length > 0)] ?? pairs[0]
  const [one, other] =
    kind === 'more' ? [undefined, added[0]] : kind === 'fewer' ? [missing[0], undefined] : (differing ?? [])
  return {
    kind,
    changes: kinds.flatMap((each) => found[each]),
    messages: { before: one ? shown(one) : null, after: other ? shown(other) : null },
  }
}

interface Matched {
  pairs: Array<[Message, Message]>
  added: Message[]
  missing: Message[]
}

/** By channel: first those of the same step, then in the order they were sent. */
function matched(before: Message[], after: Message[]): Matched {
  const left = new Set(before)
  const pairs: Matched['pairs'] = []
  let unmatched = after
  for (const isSame of [sameStep, sameChannel])
    unmatched = unmatched.filter((message) => {
      const found = [...left].find((each) => isSame(each, message))
      if (!found) return true
      left.delete(found)
      pairs.push([found, message])
      return false
    })
  return { pairs, added: unmatched, missing: [...left] }
}

const sameChannel = (a: Message, b: Message) => a.channel === b.channel
const sameStep = (a: Message, b: Message) => sameChannel(a, b) && a.stepId === b.stepId

/** `message` is the rest of what the provider gets: sender, copies, headers. */
const members = ['to', 'subject', 'text', 'html', 'inApp', 'message', 'integrationIdentifier'] as const

function contentChanges(before: Message, after: Message): Changed[] {
  return members.flatMap((member) => {
    const [one, other] = [memberOf(before, member), memberOf(after, member)]
    if (isDeepStrictEqual(one, other) || withoutIds(one) === withoutIds(other)) return []
    return [{ stepId: after.stepId, member, before: one, after: other }]
  })
}

function memberOf(message: Message, member: (typeof members)[number]): unknown {
  const value = message[member] ?? null
  if (member !== 'message' || value === null) return value
  // What has members of its own, and what is not content.
  const {
    id: _,
    attempt: _attempt,
    subject: _subject,
    title: _title,
    content: _content,
    to: _to,
    ...rest
  } = value as Members
  return rest
}

/**
 * Simulations count their ids, so a step more or less shifts all of them. Links, the header by which a mail that comes back is
 * recognized, addresses of ours and the buttons of questions have ids in them, and some links a time.
 */
function withoutIds(value: unknown): string | null {
  if (value === null || value === undefined) return null
  let text = JSON.stringify(value)
  for (const { mark, pattern, put } of madeUp) if (text.includes(mark)) text = text.replaceAll(pattern, put)
  return text
}

/** Each with a text that is in all of them: to look for that takes a fraction of the time, and most messages have none. */
const madeUp = [
  { mark: '00000000', pattern: /[0-9a-f]{8}0{8}[0-9a-f]{8}/g, put: '' },
  { mark: '/l/', pattern: /\/l\/([upv])\/[\w-]+/g, put: '/l/$1/' },
  { mark: `"${idHeader}":"`, pattern: new RegExp(`("${idHeader}":")[a-z2-7]{50}(?![a-z2-7])`, 'g'), put: '$1' },
  { mark: '+', pattern: /((?:unsubscribe|bounce)\+)[a-z2-7]{50}(?![a-z2-7])/g, put: '$1' },
  // The place of a button among the answers is left. A simulation signs with zeros.
  { mark: 'A'.repeat(22), pattern: /[\w-]{32}A{22}(?=\.\d)/g, put: '' },
]

/** Of steps that both have. */
function reasonChanges(before: Step[], after: Step[]): Changed[] {
  return after.flatMap(({ stepId, status, reason }) => {
    const other = before.find((step) => step.stepId === stepId)
    if (!other) return []
    if (other.reason !== reason) return [{ stepId, member: 'reason', before: other.reason, after: reason }]
    return other.status === status ? [] : [{ stepId, member: 'status', before: other.status, after: status }]
  })
}

const shown = ({ stepId, channel, at, to, subject, text, html, inApp }: Message): Members => ({
  ...{ stepId, channel, at, to, subject, text, html },
  ...(inApp === undefined ? {} : { inApp }),
})
