// Who is on duty: the shifts of a rota at a moment. Local times follow the rota's time zone as RFC 5545 says.
import rruleModule from 'rrule'
import { Temporal } from 'temporal-polyfill'

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

/** Occurrences that are looked at from the first on; who recurs more often has no duty. */
const mostOccurrences = 100_000
const dayMs = 86_400_000
/** How far ahead the next change is looked for. */
const aheadMs = 400 * dayMs

/** The first shift in the list that covers the moment decides. */
export function onDuty({ timezone, shifts }: RotaRules, at: Date): Duty {
  const moment = at.getTime()
  let [since, until] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const shift of shifts) {
    const { current, before, after } = around(shift, timezone, moment)
    // A shift without anybody hides those below it.
    if (current && current.who.length === 0) break
    if (current)
      return {
        subscriberIds: [...new Set(current.who)],
        from: new Date(Math.max(since, current.from)),
        to: new Date(Math.min(until, current.to)),
      }
    // Those above it take over again.
    if (before) since = Math.max(since, before.to)
    if (after) until = Math.min(until, after.from)
  }
  return { subscriberIds: [], from: null, to: null }
}

/** The occurrence that covers the moment, else the last one before and the next one after it. */
function around(
  shift: Shift,
  timezone: string,
  at: number,
): { current?: Occurrence | undefined; before?: Occurrence | undefined; after?: Occurrence | undefined } {
  const all = 'rrule' in shift ? recurring(shift, timezone, at) : [single(shift, timezone)]
  const started = all.filter(({ from }) => from <= at)
  return {
    current: started.findLast(({ to }) => at < to),
    before: started.at(-1),
    after: all.find(({ from }) => from > at),
  }
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
  at: number,
): Occurrence[] {
  const first = Temporal.PlainDateTime.from(start)
  const horizon = floating(wallAt(new Date(at + aheadMs), timezone))
  const options = RRule.parseString(rrule)
  // Local times are computed as if they were of UTC, and read in the time zone afterwards.
  const last = options.until && (untilInUtc.test(rrule) ? floating(wallAt(options.until, timezone)) : options.until)
  const until = last && last < horizon ? last : horizon
  const occurrences: Occurrence[] = []
  let [index, isPast] = [0, false]
  new RRule({ ...options, dtstart: floating(first), tzid: null, until }).all((date) => {
    if (isPast || index >= mostOccurrences) return false
    const wall = first.with({
      ...{ year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() },
      ...{ hour: date.getUTCHours(), minute: date.getUTCMinutes(), second: date.getUTCSeconds() },
    })
    const from = momentOf(wall, timezone)
    occurrences.push({ from, to: endOf(wall, timezone, duration), who: turns[index % turns.length] ?? [] })
    index += 1
    isPast = from > at
    return true
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
    // Made once, to find out about values that the rule does not allow.
    new RRule({ ...options, dtstart: floating(start) })
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
