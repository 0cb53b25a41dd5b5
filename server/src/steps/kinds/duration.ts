// How long a step waits: an amount of time, until a cron expression matches, or until a moment in the payload.
import { Cron } from 'croner'
import { Temporal } from 'temporal-polyfill'
import { Cache } from '../../render/cache.ts'
import { timeUnits, unitSeconds } from '../contract/kind.ts'

/** The limit for all waits. */
export const longestWaitDays = 180
export const longestWaitMs = longestWaitDays * 86_400_000

/** Why there is no such time, in a sentence for the author of the step. */
export class DurationInvalid extends Error {
  /** Which part of an amount of time is wrong, if it is one. */
  readonly part: 'amount' | 'unit' | undefined

  constructor(message: string, part?: 'amount' | 'unit') {
    super(message)
    this.part = part
  }
}

export function durationMs(amount: unknown, unit: unknown): number {
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount <= 0)
    throw new DurationInvalid(`Invalid amount: ${JSON.stringify(amount)}; it must be a positive number`, 'amount')
  if (typeof unit !== 'string' || !Object.hasOwn(unitSeconds, unit)) {
    const units = timeUnits.join(', ')
    throw new DurationInvalid(`Invalid time unit: ${JSON.stringify(unit)}; it must be one of ${units}`, 'unit')
  }
  return Math.round(amount * unitSeconds[unit as keyof typeof unitSeconds] * 1000)
}

const crons = new Cache<Cron | undefined>(100_000)
const longestCron = 200

/** The first match after `now`, in the subscriber's local time. */
export function nextTime(expression: unknown, now: Date, timezone: string | null): Date {
  const text = typeof expression === 'string' && expression.length <= longestCron ? expression : ''
  const zone = zoneOf(timezone)
  const cron = crons.get(`${zone} ${text}`, () => {
    try {
      return new Cron(text, { timezone: zone, paused: true })
    } catch {
      return undefined
    }
  })
  const next = cron?.nextRun(now)
  if (!next) throw new DurationInvalid(`${JSON.stringify(expression)} is not a cron expression with a future time`)
  return next
}

/** The subscriber's local time, such as `2026-05-01 12:00:00 GMT+2`; ISO 8601 if the zone is unknown. */
export function wallTime(time: Date, timezone: string | null): string {
  if (!isKnownZone(timezone)) return time.toISOString()
  const wall = Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(timezone)
  const named = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'short' }).formatToParts(time)
  const zone = named.find(({ type }) => type === 'timeZoneName')?.value ?? wall.offset
  return `${wall.toPlainDate().toString()} ${wall.toPlainTime().toString({ smallestUnit: 'second' })} ${zone}`
}

/** UTC if the subscriber's zone is unknown. */
export const zoneOf = (timezone: string | null): string => (isKnownZone(timezone) ? timezone : 'UTC')

const zones = new Map<string, boolean>()

function isKnownZone(zone: string | null): zone is string {
  if (zone === null) return false
  let known = zones.get(zone)
  if (known === undefined) {
    try {
      new Intl.DateTimeFormat('en', { timeZone: zone })
      known = true
    } catch {
      known = false
    }
    if (zones.size >= 1_000) zones.clear()
    zones.set(zone, known)
  }
  return known
}

const isoPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?$/

/** A moment from the payload: a date, or an amount of time from now. A date without a zone is UTC. */
export function momentOf(value: unknown, key: string, now: Date): Date {
  if (value === undefined || value === null)
    throw new DurationInvalid(`Dynamic delay key '${key}' not found in payload`)
  if (typeof value === 'object' && !Array.isArray(value)) {
    const { amount, unit } = value as { amount?: unknown; unit?: unknown }
    return new Date(now.getTime() + durationMs(amount, unit))
  }
  if (typeof value === 'string' && isoPattern.test(value)) {
    const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/.test(value)
    const moment = new Date(hasZone ? value : `${value}Z`)
    if (!Number.isNaN(moment.getTime())) return moment
  }
  throw new DurationInvalid(
    `The value at '${key}' is not a valid format; it must be an ISO 8601 date or an object with amount and unit`,
  )
}

/** The value at a dotted path, such as `payload.appointment.startsAt`. */
export function valueAt(data: unknown, path: string): unknown {
  let at: unknown = data
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}
