// The rules of digests and throttles: who opens a window, who joins it, what is collected, who passes. Nothing here does I/O;
// needs.ts answers many runs from the database, a simulation one run from memory.
import type { DigestBounds } from '../../db/core/tables.ts'
import type {
  BoundedWindow,
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
  /** Of a window that does not simply end some time after its first event. */
  bounds: DigestBounds | null
}

/** A group that had no event so far. */
export const noDigest = (): DigestState => ({
  notification_id: null,
  seen_at: new Date(0),
  forget_at: new Date(0),
  bounds: null,
})

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
  let { notification_id: main, seen_at: seenAt, bounds } = before
  const places = needs.map((need): DigestPlace => {
    const { bounded } = need
    const isFirst = need.lookBackMs !== undefined && seenAt.getTime() < now.getTime() - need.lookBackMs
    seenAt = now
    if (main !== null) {
      const into = main
      if (!bounds || !bounded) return { place: 'merged', into }
      const joined = withEvent(bounds, bounded, now)
      const isLast = joined.events >= (bounded.mostEvents ?? Number.POSITIVE_INFINITY)
      // The next event opens another window, even if the run that collects has not woken up yet.
      if (isLast) [main, bounds] = [null, null]
      else bounds = joined
      return { place: 'merged', into, ...(isLast ? { endsAt: joined.position } : {}) }
    }
    if (isFirst) return { place: 'first' }
    const known = bounded?.flushesFirst && bounds && now.getTime() < bounds.endsAt ? bounds : undefined
    if (bounded?.flushesFirst && !known) {
      bounds = { ...opened(bounded), events: 0 }
      return { place: 'first' }
    }
    main = need.notificationId
    bounds = !bounded
      ? null
      : known
        ? withEvent({ ...known, position: bounded.position }, bounded, now)
        : opened(bounded)
    return bounds ? { place: 'main', until: new Date(bounds.endsAt) } : { place: 'main' }
  })
  const lookBackMs = Math.max(0, ...needs.map((need) => need.lookBackMs ?? 0))
  if (main === before.notification_id && bounds === before.bounds && lookBackMs === 0)
    return { places, after: undefined }
  const forgetAt = Math.max(now.getTime() + lookBackMs, bounds?.endsAt ?? 0)
  return { places, after: { notification_id: main, seen_at: now, forget_at: new Date(forgetAt), bounds } }
}

const opened = ({ until, slides, position }: BoundedWindow): DigestBounds => ({
  endsAt: until.getTime(),
  latestAt: slides?.latest.getTime() ?? until.getTime(),
  events: 1,
  position,
})

/** Late events, which come between the end of a window and its closing, do not move the end. */
function withEvent(bounds: DigestBounds, { slides }: BoundedWindow, now: Date): DigestBounds {
  const isMoved = slides !== undefined && now.getTime() < bounds.endsAt
  const endsAt = isMoved ? Math.min(now.getTime() + slides.ms, bounds.latestAt) : bounds.endsAt
  return { ...bounds, endsAt, events: bounds.events + 1 }
}

/** If the end of the window has moved: when the run that collects goes on. */
export function openUntil({ notification_id, bounds }: DigestState, need: CloseDigest, now: Date): Date | undefined {
  if (need.isEarly || notification_id !== need.notificationId || !bounds) return undefined
  return bounds.endsAt > now.getTime() ? new Date(bounds.endsAt) : undefined
}

/** The group's state once one of these runs has closed its window; undefined if another run collects by now. */
export const closeDigest = (before: DigestState, needs: CloseDigest[]): DigestState | undefined =>
  needs.some(({ notificationId }) => notificationId === before.notification_id)
    ? { notification_id: null, seen_at: before.seen_at, forget_at: before.forget_at, bounds: null }
    : undefined

/** The group's state once the run that collects was canceled. A window that its first event opened stays open without a run. */
export const handOn = (before: DigestState, heir: { id: string; position: number } | undefined): DigestState => ({
  ...before,
  notification_id: heir?.id ?? null,
  bounds: before.bounds && { ...before.bounds, ...(heir ? { position: heir.position } : {}) },
})

/** For one digest; events beyond that are only counted. */
export const mostEvents = 1_000
export const mostEventBytes = 8 * 1024 * 1024

/** The events of a digest: as many of these, in their order, as it may hold. The first always fits. */
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
