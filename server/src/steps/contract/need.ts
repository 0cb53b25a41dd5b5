// What a step needs from the database before it can decide, asked for as a value: the engine answers the needs of many runs
// with one statement.

/** A digest or a throttle counts per workflow step, subscriber and value. */
export interface Group {
  environmentId: string
  workflowId: string
  stepRowId: string
  subscriberRowId: string
  value: string
}

/** To be collected by the group's digest. */
export interface JoinDigest {
  need: 'join digest'
  group: Group
  notificationId: string
  /** When the group had no event for so long, this one goes on at once. */
  lookBackMs: number | undefined
}
export type DigestPlace = { place: 'main' } | { place: 'first' } | { place: 'merged'; into: string }

/** The group's window ends: whoever comes next starts another. */
export interface CloseDigest {
  need: 'close digest'
  group: Group
  notificationId: string
}
/** Of those that were merged, the oldest first. `left` is how many more there were than are listed. */
export interface CollectedEvents {
  events: DigestEvent[]
  left: number
  /** Of their triggers, as far as those were traced. */
  traces?: string[] | undefined
}
export interface DigestEvent {
  id: string
  time: string
  payload: Record<string, unknown>
}

/** To be let through by the group's throttle. */
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

/** Work that can stop to have its needs answered. */
export type Progress<T> = Generator<Need, T, Answer>
