// A subscriber's weekly schedule: whether messages may be delivered now, and when next.
import { Temporal } from 'temporal-polyfill'

export const dayNames = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type Day = (typeof dayNames)[number]

export interface Schedule {
  isEnabled: boolean
  weeklySchedule?: { [day in Day]?: DaySchedule }
}

export interface DaySchedule {
  isEnabled: boolean
  hours?: TimeRange[]
}

/** Both like `09:00 AM`. An end before the start is on the next day. */
export interface TimeRange {
  start: string
  end: string
}

export const timePattern = '^(0?[1-9]|1[0-2]):[0-5][0-9]\\s?([aA]|[pP])[mM]$'
/** Two weeks contain every opening, even if a clock change swallows the first. */
const daysAhead = 15

/**
 * In the subscriber's local time, to the minute, bounds included. A missing or disabled schedule, or one without a week, is
 * always open.
 */
export function isOpen(schedule: Schedule | null | undefined, now: Date, timezone: string | null | undefined): boolean {
  const week = weekOf(schedule)
  return week === undefined || isOpenAt(week, now.getTime(), timezone ?? 'UTC')
}

/** The first moment from `now` on at which the schedule is open; undefined if it never opens. */
export function nextOpening(
  schedule: Schedule | null | undefined,
  now: Date,
  timezone: string | null | undefined,
): Date | undefined {
  if (isOpen(schedule, now, timezone)) return now
  const week = weekOf(schedule) ?? {}
  const from = zoned(now.getTime(), timezone ?? 'UTC')
  const openings = openingsAfter(week, from).filter(
    (moment) => moment > now.getTime() && isOpenAt(week, moment, from.timeZoneId),
  )
  return openings.length === 0 ? undefined : new Date(Math.min(...openings))
}

type Week = NonNullable<Schedule['weeklySchedule']>

const weekOf = (schedule: Schedule | null | undefined): Week | undefined =>
  schedule?.isEnabled ? schedule.weeklySchedule : undefined

function isOpenAt(week: Week, moment: number, timezone: string): boolean {
  const wall = new Date(moment + offsetMs(moment, timezone))
  const minute = wall.getUTCHours() * 60 + wall.getUTCMinutes()
  const today = wall.getUTCDay() + 6
  return (
    rangesOn(week, today).some(({ start, end }) => start <= minute && (minute <= end || end < start)) ||
    rangesOn(week, today - 1).some(({ start, end }) => end < start && minute <= end)
  )
}

/**
 * Every moment at which a range starts or the clock changes. A range that the clock jumps into, or back into, opens with the
 * jump; one that it jumps over does not open that day.
 */
function openingsAfter(week: Week, from: Temporal.ZonedDateTime): number[] {
  const moments: number[] = []
  for (let ahead = 0; ahead < daysAhead; ahead += 1) {
    const date = from.toPlainDate().add({ days: ahead })
    for (const { start } of rangesOn(week, date.dayOfWeek - 1)) {
      const wall = date.toPlainDateTime({ hour: Math.floor(start / 60), minute: start % 60 })
      for (const disambiguation of ['earlier', 'later'] as const)
        moments.push(wall.toZonedDateTime(from.timeZoneId, { disambiguation }).epochMilliseconds)
    }
  }
  const end = from.add({ days: daysAhead }).epochMilliseconds
  let jump = from.getTimeZoneTransition('next')
  for (; jump && jump.epochMilliseconds < end; jump = jump.getTimeZoneTransition('next'))
    moments.push(jump.epochMilliseconds)
  return moments
}

interface Minutes {
  start: number
  end: number
}

/** Day 0 is a Monday. Unreadable times are left out; the API refuses them anyway. */
function rangesOn(week: Week, day: number): Minutes[] {
  const { isEnabled = false, hours = [] } = week[dayNames[day % 7] ?? 'monday'] ?? {}
  return isEnabled ? hours.flatMap(({ start, end }) => minutesOf(minuteOf(start), minuteOf(end))) : []
}

const minutesOf = (start: number | undefined, end: number | undefined): Minutes[] =>
  start === undefined || end === undefined ? [] : [{ start, end }]

const time = new RegExp(timePattern)

function minuteOf(text: string): number | undefined {
  if (!time.test(text)) return undefined
  const [hour = '', minute = ''] = text.split(':')
  const isAfternoon = /pm$/i.test(text)
  return ((Number(hour) % 12) + (isAfternoon ? 12 : 0)) * 60 + Number(minute.slice(0, 2))
}

const quarterHourMs = 15 * 60_000
const mostZones = 1_000
/** Clock changes fall on quarter hours. Within one, all recipients of a time zone share the offset: 20 µs become one. */
const offsets = new Map<string, { quarter: number; ms: number }>()

/** How far the zone is ahead of UTC. */
function offsetMs(moment: number, timezone: string): number {
  if (timezone === 'UTC') return 0
  const quarter = Math.floor(moment / quarterHourMs)
  const known = offsets.get(timezone)
  if (known?.quarter === quarter) return known.ms
  const ms = zoned(moment, timezone).offsetNanoseconds / 1_000_000
  if (offsets.size >= mostZones) offsets.clear()
  offsets.set(timezone, { quarter, ms })
  return ms
}

/** In UTC if this machine does not know the time zone. */
function zoned(moment: number, timezone: string): Temporal.ZonedDateTime {
  const instant = Temporal.Instant.fromEpochMilliseconds(moment)
  try {
    return instant.toZonedDateTimeISO(timezone)
  } catch {
    return instant.toZonedDateTimeISO('UTC')
  }
}
