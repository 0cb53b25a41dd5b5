// The next time of a calendar setting, the older form of cron: every so many days at a time of day, on days of the week or
// month, or on one such as the last Friday of the month.
import { Temporal } from 'temporal-polyfill'
import { DurationInvalid, durationMs, zoneOf } from './duration.ts'

const weekDays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

/** As callers write it. What is left out is taken from `now`. */
export interface Recurrence {
  amount?: unknown
  unit?: unknown
  timed?: {
    atTime?: unknown
    weekDays?: unknown
    monthDays?: unknown
    ordinal?: unknown
    ordinalValue?: unknown
    monthlyType?: unknown
  }
}

/** Two years contain every day, except the 29th of February. */
const daysAhead = 731

/** The first time after `now`, in the subscriber's local time. */
export function nextRecurrence({ amount = 1, unit, timed = {} }: Recurrence, now: Date, timezone: string | null): Date {
  if (typeof amount !== 'number' || !Number.isInteger(amount) || amount < 1)
    throw new DurationInvalid(`Invalid amount: ${JSON.stringify(amount)}; it must be a whole number`, 'amount')
  if (unit === 'seconds' || unit === 'minutes' || unit === 'hours')
    return new Date(now.getTime() + durationMs(amount, unit))
  const start = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zoneOf(timezone))
  const time = timeOf(timed.atTime) ?? start.toPlainTime()
  const isDay = daysOf(unit, timed, start.toPlainDate())
  for (let ahead = 0; ahead < daysAhead; ahead += 1) {
    const date = start.toPlainDate().add({ days: ahead })
    if (intervalsSince(start.toPlainDate(), date, unit) % amount !== 0 || !isDay(date)) continue
    const moment = date.toZonedDateTime({ timeZone: start.timeZoneId, plainTime: time }).epochMilliseconds
    if (moment > now.getTime()) return new Date(moment)
  }
  throw new DurationInvalid('The timed settings match no future day')
}

const timePattern = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/

function timeOf(atTime: unknown): Temporal.PlainTime | undefined {
  if (atTime === undefined || atTime === null || atTime === '') return undefined
  const match = typeof atTime === 'string' ? timePattern.exec(atTime) : null
  if (!match) throw new DurationInvalid(`${JSON.stringify(atTime)} is not a time of day such as 09:30`)
  const [, hour, minute, second = 0] = match
  return Temporal.PlainTime.from({ hour: Number(hour), minute: Number(minute), second: Number(second) })
}

/** Whole units between two days, with weeks starting on Monday. */
function intervalsSince(from: Temporal.PlainDate, to: Temporal.PlainDate, unit: unknown): number {
  if (unit === 'months') return (to.year - from.year) * 12 + to.month - from.month
  const days = from.until(to, { largestUnit: 'days' }).days
  return unit === 'weeks' ? Math.floor((days + from.dayOfWeek - 1) / 7) : days
}

type IsDay = (date: Temporal.PlainDate) => boolean

function daysOf(unit: unknown, timed: NonNullable<Recurrence['timed']>, start: Temporal.PlainDate): IsDay {
  switch (unit) {
    case 'days':
      return () => true
    case 'weeks': {
      const names = listOf(timed.weekDays)
      const wanted = names.length === 0 ? [start.dayOfWeek] : names.map(weekDayOf)
      return ({ dayOfWeek }) => wanted.includes(dayOfWeek)
    }
    case 'months': {
      if (timed.monthlyType === 'on') return ordinalDay(timed.ordinal, timed.ordinalValue)
      const numbers = listOf(timed.monthDays)
      const wanted = numbers.length === 0 ? [start.day] : numbers.map(Number)
      return ({ day }) => wanted.includes(day)
    }
    default:
      throw new DurationInvalid(`Invalid time unit: ${JSON.stringify(unit)}`, 'unit')
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function weekDayOf(name: unknown): number {
  const place = weekDays.indexOf(name as (typeof weekDays)[number])
  if (place < 0) throw new DurationInvalid(`${JSON.stringify(name)} is not a day of the week`)
  return place + 1
}

/** Such as the second weekday, or the last Friday. */
function ordinalDay(ordinal: unknown, value: unknown): IsDay {
  const place = ordinal === 'last' ? 'last' : Number(ordinal)
  if (place !== 'last' && !(place >= 1 && place <= 5))
    throw new DurationInvalid(`${JSON.stringify(ordinal)} is not one of 1, 2, 3, 4, 5, last`)
  const isOfKind: IsDay =
    value === 'day'
      ? () => true
      : value === 'weekday'
        ? ({ dayOfWeek }) => dayOfWeek <= 5
        : value === 'weekend'
          ? ({ dayOfWeek }) => dayOfWeek > 5
          : sameDay(weekDayOf(value))
  return (date) => {
    if (!isOfKind(date)) return false
    const days = Array.from({ length: date.daysInMonth }, (_, index) => date.with({ day: index + 1 })).filter(isOfKind)
    return (place === 'last' ? days.at(-1) : days[place - 1])?.equals(date) ?? false
  }
}

const sameDay =
  (wanted: number): IsDay =>
  ({ dayOfWeek }) =>
    dayOfWeek === wanted
