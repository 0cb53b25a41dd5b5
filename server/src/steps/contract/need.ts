// What a step needs from the database before it can decide, as a value: the engine answers the needs of many runs with one
// statement.
import { sha256 } from '../../db/core/secrets.ts'
import type { SubscriberFields } from '../../db/core/subscriber-fields.ts'
import type { Cap, Recipient, StartedBy } from '../../db/core/tables.ts'
import type { AskedPerson } from './question.ts'
import type { StepRun } from './step-run.ts'

/** Digests and throttles group by workflow step, subscriber and value. */
export interface Group {
  environmentId: string
  workflowId: string
  stepRowId: string
  subscriberRowId: string
  value: string
}

export const groupOf = ({ run, step }: StepRun, value: string): Group => ({
  environmentId: run.environment.id,
  workflowId: run.workflow.id,
  stepRowId: step._id,
  subscriberRowId: run.subscriber.id,
  value,
})

/** Fits a database key. */
const longestValue = 200

/** Strings as they are; anything else as JSON; long ones as a hash. */
export function groupValue(value: unknown): string {
  const given = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const text = given.replaceAll('\0', '').toWellFormed()
  return text.length > longestValue ? `sha256:${sha256(text)}` : text
}

/** Asks to join the group's digest. */
export interface JoinDigest {
  need: 'join digest'
  group: Group
  notificationId: string
  /** If the group had no event for this long, this one goes on at once. */
  lookBackMs: number | undefined
  /** If the window does not simply end some time after its first event. */
  bounded?: BoundedWindow | undefined
}
export interface BoundedWindow {
  /** Of the step in the run that asks. */
  position: number
  /** When the window ends if this event opens it. */
  until: Date
  /** If each event moves the end: to how long after itself, and up to when if this event opens the window. */
  slides?: { ms: number; latest: Date } | undefined
  /** The event that opens the window goes on at once. */
  flushesFirst: boolean
  /** The event that makes it so many ends the window. */
  mostEvents?: number | undefined
}
export type DigestPlace =
  /** Collects, until then if the window is bounded. */
  | { place: 'main'; until?: Date }
  | { place: 'first' }
  /** The run that collects, and the position of its digest if this event ends the window. */
  | { place: 'merged'; into: string; endsAt?: number }

/** Ends the group's window: the next event starts another. */
export interface CloseDigest {
  need: 'close digest'
  group: Group
  notificationId: string
  /** Somebody ended the wait: the window closes even if its end has moved. */
  isEarly: boolean
  /** The newest events are wanted, if not all of them fit. */
  newestFirst: boolean
}
/** The run of a digest ends before its window does: one of the runs that it has collected goes on with it. */
export interface HandDigestOn {
  need: 'hand digest on'
  group: Group
  notificationId: string
  position: number
  dueAt: Date
}
export interface HandedOn {
  isHandedOn: true
}

/** The window's end has moved. */
export interface StillOpen {
  until: Date
}
/** The merged events, oldest first unless asked otherwise. `left` counts those beyond the limit. */
export interface CollectedEvents {
  events: DigestEvent[]
  left: number
  /** Traces of their triggers, if traced. */
  traces?: string[] | undefined
}
export interface DigestEvent {
  id: string
  time: string
  payload: Record<string, unknown>
}

/** Asks to pass the group's throttle. */
export interface PassThrottle {
  need: 'pass throttle'
  group: Group
  threshold: number
  endsAt: Date
}
export interface ThrottlePass {
  isThrottled: boolean
  count: number
  startedAt: Date
  endsAt: Date
}

/** Asks for a place in each of these caps, or in none. */
export interface TakePlace {
  need: 'take place'
  environmentId: string
  subscriberRowId: string
  caps: Cap[]
}
export type PlaceAnswer =
  | { isTaken: true }
  /** The cap whose next place comes free last, if several are full. */
  | { isTaken: false; cap: Cap; freeAt: Date }

/** Triggers a workflow in the transaction that ends the step. */
export interface StartWorkflow {
  need: 'start workflow'
  /** In front of another service: whether its run is delivered here. */
  isLive: boolean
  environmentId: string
  /** Whether its clock is held. */
  isHeld: boolean
  /** Its identifier. */
  workflowId: string
  recipients: Recipient[]
  payload: Record<string, unknown>
  transactionId: string
  cancellationKey: string | undefined
  actor: string | undefined
  tenant: string | undefined
  /** Ids by type. */
  context: Record<string, string>
  startedBy: StartedBy
}
/** What a trigger would have answered, or the code of its refusal. */
export interface StartedWorkflow {
  status: string
}

/** Changes the subscriber, in the transaction that ends the step. Members of `data` are merged. */
export interface UpdateSubscriber {
  need: 'update subscriber'
  environmentId: string
  subscriberRowId: string
  set: SubscriberFields
}
export interface UpdatedSubscriber {
  changed: string[]
}

/** Asks for the schedule as it is now. Whoever then holds a step hears of all later changes. */
export interface FindSchedule {
  need: 'find schedule'
  environmentId: string
  subscriberRowId: string
}
export interface FoundSchedule {
  schedule: Record<string, unknown> | null
  timezone: string | null
}

/**
 * What a step waits for: events of a name with a key or for a subscriber, messages of an earlier step, or changes of the
 * subscriber's schedule.
 */
export interface Awaited {
  kind: 'key' | 'subscriber' | 'message' | 'schedule'
  /** Of the event, else empty. */
  name: string
  /** The key, the subscriber, the step, or the subscriber's row. */
  value: string
}

/**
 * Asks for posted events, the oldest first and some at a time. Whoever then waits hears of all that are posted later.
 */
export interface FindEvents {
  need: 'find events'
  environmentId: string
  /** Whether its clock is held: then ids say nothing about the time of an event. */
  isHeld: boolean
  /** Whose run it is. */
  subscriberId: string
  entries: Awaited[]
  since: Date
  until: Date
  /** The last of those found before. */
  after: HeardEvent | undefined
}
export interface HeardEvent {
  /** The one we gave it. */
  rowId: string
  event: EventVariables
}
/** As steps read it. */
export interface EventVariables {
  id: string
  name: string
  key: string | null
  subscriberId: string | null
  payload: Record<string, unknown>
  createdAt: string
}
export interface FoundEvents {
  heard: HeardEvent[]
  isMore: boolean
}

/** Asks what has become of messages. Whoever then waits hears of all that happens to them later. */
export interface FindMessages {
  need: 'find messages'
  environmentId: string
  transactionId: string
  notificationId: string
  stepIds: string[]
}
export const happenings = [
  ...(['seen', 'read', 'archived', 'acted'] as const),
  ...(['delivered', 'opened', 'clicked', 'bounced'] as const),
] as const
export type Happening = (typeof happenings)[number]
export interface MessageFacts {
  id: string
  stepId: string
  channel: string
  /** What is so, and since when. */
  facts: Partial<Record<Happening, Date>>
}
export interface FoundMessages {
  messages: MessageFacts[]
}

/** Asks for subscribers who are to be asked, as they are now. Unknown ones are not made. */
export interface FindPeople {
  need: 'find people'
  environmentId: string
  subscriberIds: string[]
}
export interface FoundPeople {
  people: AskedPerson[]
}

/** Asks for the copies of a run's questions that were not read with it: they are added to the run. */
export interface FindCopies {
  need: 'find copies'
  environmentId: string
  notificationId: string
}
export interface FoundCopies {
  areThere: true
}

/** Asks for members of a topic, oldest subscription first. */
export interface FindTopicMembers {
  need: 'find topic members'
  environmentId: string
  topicKey: string
  contextKeys: string[]
  /** The subscription where the last page ended; '' for the first page. */
  after: string
  most: number
}
export interface FoundMembers {
  /** Who has several subscriptions comes several times. */
  members: string[]
  /** Where the next page begins; null if there is none. */
  after: string | null
}
/** Asks who is on duty. */
export interface FindOnDuty {
  need: 'find on duty'
  environmentId: string
  rotaId: string
  at: Date
}
export interface FoundIds {
  /** Undefined if there is no such rota. */
  subscriberIds: string[] | undefined
}

export type Need =
  | JoinDigest
  | CloseDigest
  | HandDigestOn
  | PassThrottle
  | TakePlace
  | FindSchedule
  | FindEvents
  | FindMessages
  | StartWorkflow
  | UpdateSubscriber
  | FindPeople
  | FindCopies
  | FindTopicMembers
  | FindOnDuty
export type Answer =
  | DigestPlace
  | CollectedEvents
  | StillOpen
  | HandedOn
  | ThrottlePass
  | PlaceAnswer
  | FoundSchedule
  | FoundEvents
  | FoundMessages
  | StartedWorkflow
  | UpdatedSubscriber
  | FoundPeople
  | FoundCopies
  | FoundMembers
  | FoundIds

/** A generator that yields its needs and receives the answers. */
export type Progress<T> = Generator<Need, T, Answer>
