// Who is on duty: the shifts of a rota at a moment. Local times follow the rota's time zone as RFC 5545 says.
import rruleModule from 'rrule'
import { Temporal } from 'temporal-polyfill'
import { beginsAtStart, visitOccurrences } from './recurrence.ts'

const { RRule } = rruleModule

/** `start` and `end` are local times such as `2026-12-24T09:00`. */
export type Shift =
  | { start: string; end: string; who: string[] }
  | { start: string; rrule: string; duration: ShiftDuration; turns: string[][] }

export interface ShiftDuration {
  amount: number
  unit: 'seconds' | 'minutes' | 'hours' | 'days' | 'weeks' | 'months'
}

export interface RotaRules {
  timezone: string
  shifts: Shift[]
}

export interface Duty {
  subscriberIds: string[]
  /** Since when and until when the same shift decides; null if nobody is on duty. */
  from: Date | null
  to: Date | null
}

/** Of one shift: when an occurrence is, and whose. */
interface Occurrence {
  from: number
  to: number
  who: string[]
}

const dayMs = 86_400_000
/** Duties that are told at once. */
export const mostDuties = 1_000
/** How far ahead the next change is looked for. */
const aheadMs = 400 * dayMs

/** The first shift in the list that covers the moment decides. */
export function onDuty(rules: RotaRules, at: Date): Duty {
  const { subscriberIds, from, to } = dutyAt(occurrencesOf(rules, at, at), at.getTime())
  return subscriberIds.length === 0
    ? { subscriberIds, from: null, to: null }
    : { subscriberIds, from: dateOf(from), to: dateOf(to) }
}

/** Who is on duty from a moment on, one after the other, and when nobody is; the first of these that begin until then. */
export function dutiesFrom(rules: RotaRules, start: Date, until: Date): Duty[] {
  const occurrences = [...occurrencesOf(rules, start, until)]
  const found: Span[] = []
  for (let at = start.getTime(); found.length < mostDuties; ) {
    const duty = dutyAt(occurrences, at)
    const last = found.at(-1)
    if (last && last.subscriberIds.length === 0 && duty.subscriberIds.length === 0) last.to = duty.to
    else found.push(last ? { ...duty, from: at } : duty)
    if (duty.to > until.getTime()) break
    at = duty.to
  }
  return found.map(({ subscriberIds, from, to }) => ({ subscriberIds, from: dateOf(from), to: dateOf(to) }))
}

/** As a duty; infinite where it has no beginning or end. */
interface Span {
  subscriberIds: string[]
  from: number
  to: number
}

const dateOf = (time: number): Date | null => (Number.isFinite(time) ? new Date(time) : null)

/** @param shifts the occurrences of each, which are only found down to the shift that decides */
function dutyAt(shifts: Iterable<Occurrence[]>, at: number): Span {
  let [since, until] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const occurrences of shifts) {
    const started = occurrences.filter(({ from }) => from <= at)
    const current = started.findLast(({ to }) => at < to)
    // Of two that overlap the later one decides.
    const next = occurrences.find(({ from }) => from > at)
    if (next) until = Math.min(until, next.from)
    // A shift without anybody hides those below it.
    if (current)
      return {
        ...{ subscriberIds: [...new Set(current.who)], from: Math.max(since, current.from) },
        to: Math.min(until, current.to),
      }
    // Those above it take over again.
    const before = started.at(-1)
    if (before) since = Math.max(since, before.to)
  }
  return { subscriberIds: [], from: since, to: until }
}

/** Of each shift those that matter from a moment on, the last one before it, and the first one after `until`. */
function* occurrencesOf({ timezone, shifts }: RotaRules, start: Date, until: Date): Generator<Occurrence[]> {
  for (const shift of shifts)
    yield 'rrule' in shift ? recurring(shift, timezone, start, until) : [single(shift, timezone)]
}

const single = ({ start, end, who }: Extract<Shift, { end: string }>, timezone: string): Occurrence => ({
  from: momentOf(Temporal.PlainDateTime.from(start), timezone),
  to: momentOf(Temporal.PlainDateTime.from(end), timezone),
  who,
})

/** Occurrences go to the turns one after the other. */
function recurring(
  { start, rrule, duration, turns }: Extract<Shift, { rrule: string }>,
  timezone: string,
  since: Date,
  until: Date,
): Occurrence[] {
  const first = Temporal.PlainDateTime.from(start)
  const horizon = floating(wallAt(new Date(until.getTime() + aheadMs), timezone))
  const options = RRule.parseString(rrule)
  // Local times are computed as if they were of UTC, and read in the time zone afterwards.
  const last = options.until && (untilInUtc.test(rrule) ? floating(wallAt(options.until, timezone)) : options.until)
  const occurrences: Occurrence[] = []
  // Occurrences of a shift take equally long, so of those long ago only the last one matters, but for a change of the clock.
  const recent = new Date(floating(wallAt(since, timezone)).getTime() - 2 * dayMs)
  visitOccurrences({ start: floating(first), rrule, until: last || null }, recent, horizon, (date, index) => {
    const wall = first.with({
      ...{ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() },
      ...{ hour: date.getUTCHours(), minute: date.getUTCMinutes(), second: date.getUTCSeconds() },
    })
    const from = momentOf(wall, timezone)
    occurrences.push({ from, to: endOf(wall, timezone, duration), who: turns[index % turns.length] ?? [] })
    return from <= until.getTime()
  })
  return occurrences
}

/** With a Z, the end of a rule is a moment; without, it is a local time as the start is. */
const untilInUtc = /\bUNTIL=\d{8}T\d{6}Z/i

const wallAt = (moment: Date, timezone: string): Temporal.PlainDateTime =>
  Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timezone).toPlainDateTime()

/** Days, weeks and months are of the calendar, smaller units elapsed time. */
function endOf(wall: Temporal.PlainDateTime, timezone: string, { amount, unit }: ShiftDuration): number {
  if (unit === 'days' || unit === 'weeks' || unit === 'months') return momentOf(wall.add({ [unit]: amount }), timezone)
  return momentOf(wall, timezone) + amount * elapsed[unit]
}

const elapsed = { seconds: 1_000, minutes: 60_000, hours: 3_600_000 }

const floating = (wall: Temporal.PlainDateTime): Date =>
  new Date(Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second))

/** A time that a change of the clock leaves out is read with the offset of before, one that comes twice is the first. */
const momentOf = (wall: Temporal.PlainDateTime, timezone: string): number =>
  wall.toZonedDateTime(timezone, { disambiguation: 'compatible' }).epochMilliseconds

/** Frequencies of a rule that make no shifts. */
const tooOften = new Set([RRule.MINUTELY, RRule.SECONDLY])

/** Years in which a rule may start: old ones are counted through from there. */
const [oldestStart, newestStart] = [2000, 2100]

/** What is wrong with a shift, in words that follow its place; undefined if nothing. */
export function shiftProblem(shift: Shift): string | undefined {
  const start = wallIn(shift.start)
  if (!start) return `start: ${JSON.stringify(shift.start)} is not a local time such as 2026-11-02T09:00`
  if (!('rrule' in shift)) {
    const end = wallIn(shift.end)
    if (!end) return `end: ${JSON.stringify(shift.end)} is not a local time such as 2026-11-02T09:00`
    return Temporal.PlainDateTime.compare(start, end) < 0 ? undefined : 'end: it has to be after the start'
  }
  if (/DTSTART|RDATE|EXDATE|[\r\n]/i.test(shift.rrule)) return 'rrule: it is one RRULE, without a start of its own'
  try {
    const options = RRule.parseString(shift.rrule)
    if (options.freq === undefined) return 'rrule: it has no FREQ'
    if (tooOften.has(options.freq)) return 'rrule: a shift recurs hourly at most'
    if ([options.byminute, options.bysecond].some((times) => Array.isArray(times) && times.length > 1))
      return 'rrule: a shift recurs hourly at most'
    const { interval = 1 } = options
    if (!Number.isInteger(interval) || interval < 1) return 'rrule: its INTERVAL is not a whole number from 1 on'
    if (start.year < oldestStart || start.year > newestStart)
      return `start: the start of a rule is between ${oldestStart} and ${newestStart}`
    if (!beginsAtStart({ start: floating(start), rrule: shift.rrule }))
      return `start: it is the first occurrence of the rule, but the rule has none at ${shift.start}`
    return undefined
  } catch (error) {
    return `rrule: it cannot be read: ${error instanceof Error ? error.message : String(error)}`
  }
}

const wallPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?$/

function wallIn(text: string): Temporal.PlainDateTime | undefined {
  if (!wallPattern.test(text)) return undefined
  try {
    return Temporal.PlainDateTime.from(text, { overflow: 'reject' })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Everybody whom these shifts name. */
export const peopleIn = (shifts: Shift[]): string[] => [
  ...new Set(shifts.flatMap((shift) => ('rrule' in shift ? shift.turns.flat() : shift.who))),
]

export function without(shift: Shift, subscriberId: string): Shift {
  const others = (list: string[]) => list.filter((id) => id !== subscriberId)
  return 'rrule' in shift ? { ...shift, turns: shift.turns.map(others) } : { ...shift, who: others(shift.who) }
}
