// What a step needs from the database before it can decide, as a value: the engine answers the needs of many runs with one
// statement.
import { sha256 } from '../../db/core/secrets.ts'
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
}
export type DigestPlace = { place: 'main' } | { place: 'first' } | { place: 'merged'; into: string }

/** Ends the group's window: the next event starts another. */
export interface CloseDigest {
  need: 'close digest'
  group: Group
  notificationId: string
}
/** The merged events, oldest first. `left` counts those beyond the limit. */
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

export type Need = JoinDigest | CloseDigest | PassThrottle
export type Answer = DigestPlace | CollectedEvents | ThrottlePass

/** A generator that yields its needs and receives the answers. */
export type Progress<T> = Generator<Need, T, Answer>
