// The rules of digests and throttles: who opens a window, who joins it, what is collected, who passes. Nothing here does I/O;
// needs.ts answers many runs from the database, a simulation one run from memory.
import type {
  CloseDigest,
  DigestEvent,
  DigestPlace,
  JoinDigest,
  PassThrottle,
  ThrottlePass,
} from '../../steps/contract/need.ts'

/** A digest's row: the run that collects, when its group last had an event, and when the row may go. */
export interface DigestState {
  notification_id: string | null
  seen_at: Date
  forget_at: Date
}

/** A group that had no event so far. */
export const noDigest = (): DigestState => ({ notification_id: null, seen_at: new Date(0), forget_at: new Date(0) })

/**
 * An event that arrives while its group collects is merged. Otherwise the group starts to collect. With a look-back, it starts
 * only if there was an event within it; otherwise this event goes on at once.
 * @returns the places of these needs of one group, in their order, and the state after them unless it stays
 */
export function joinDigest(
  before: DigestState,
  needs: JoinDigest[],
  now: Date,
): { places: DigestPlace[]; after: DigestState | undefined } {
  let { notification_id: main, seen_at: seenAt } = before
  const places = needs.map((need): DigestPlace => {
    const isFirst = need.lookBackMs !== undefined && seenAt.getTime() < now.getTime() - need.lookBackMs
    seenAt = now
    if (main !== null) return { place: 'merged', into: main }
    if (isFirst) return { place: 'first' }
    main = need.notificationId
    return { place: 'main' }
  })
  const lookBackMs = Math.max(0, ...needs.map((need) => need.lookBackMs ?? 0))
  if (main === before.notification_id && lookBackMs === 0) return { places, after: undefined }
  return {
    places,
    after: { notification_id: main, seen_at: now, forget_at: new Date(now.getTime() + lookBackMs) },
  }
}

/** The group's state once one of these runs has closed its window; undefined if another run collects by now. */
export const closeDigest = (before: DigestState, needs: CloseDigest[]): DigestState | undefined =>
  needs.some(({ notificationId }) => notificationId === before.notification_id)
    ? { notification_id: null, seen_at: before.seen_at, forget_at: before.forget_at }
    : undefined

/** For one digest; events beyond that are only counted. */
export const mostEvents = 1_000
export const mostEventBytes = 8 * 1024 * 1024

/** The events of a digest: as many of these, oldest first, as it may hold. The first always fits. */
export function collect<Event extends DigestEvent & { bytes: number }>(merged: Event[]): Event[] {
  let bytes = 0
  const end = merged.slice(0, mostEvents).findIndex((event, index) => {
    bytes += event.bytes
    return bytes > mostEventBytes && index > 0
  })
  return merged.slice(0, end < 0 ? mostEvents : end)
}

/** A step that was merged into another run's digest. */
interface MergedStep {
  id: string
  created_at: Date
}

/** Oldest first. */
export const byAge = (a: MergedStep, b: MergedStep): number =>
  a.created_at.getTime() - b.created_at.getTime() || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** Who continues a digest whose run was canceled: the oldest of those merged into it. Without one, the window closes. */
export const heirOf = <Step extends MergedStep>(merged: Step[]): Step | undefined =>
  merged.reduce<Step | undefined>((oldest, step) => (oldest && byAge(oldest, step) <= 0 ? oldest : step), undefined)

export interface ThrottleState {
  passed: number
  started_at: Date
  ends_at: Date
}

export const noThrottle = (now: Date): ThrottleState => ({ passed: 0, started_at: now, ends_at: new Date(0) })

/** A fixed window: it starts with the first event that passes and ends when that one's settings say. */
export function passThrottle(
  before: ThrottleState,
  needs: PassThrottle[],
  now: Date,
): { passes: ThrottlePass[]; after: ThrottleState | undefined } {
  let { passed, started_at: startedAt, ends_at: endsAt } = before
  const passes = needs.map((need): ThrottlePass => {
    if (endsAt <= now) [passed, startedAt, endsAt] = [0, now, need.endsAt]
    const isThrottled = passed >= need.threshold
    if (!isThrottled) passed += 1
    return { isThrottled, count: passed, startedAt, endsAt }
  })
  const isSame = passed === before.passed && endsAt === before.ends_at
  return { passes, after: isSame ? undefined : { passed, started_at: startedAt, ends_at: endsAt } }
}
