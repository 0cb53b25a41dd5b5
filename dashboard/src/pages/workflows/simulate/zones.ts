// Time zones: the wall clock somewhere, the nights it changes, and the hours in which a schedule is closed.
import type { Schedule } from '../../../api/subscribers.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const formats = new Map<string, Intl.DateTimeFormat>()

function formatFor(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en', {
    ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  formats.set(zone, made)
  return made
}

/** How far the wall clock is ahead of UTC. */
export function offsetMs(zone: string, at: number): number {
  const whole = Math.floor(at / 1000) * 1000
  const of = new Map(
    formatFor(zone)
      .formatToParts(whole)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const [year, month, day, hour, minute, second] = (['year', 'month', 'day', 'hour', 'minute', 'second'] as const).map(
    (name) => of.get(name) ?? 0,
  ) as [number, number, number, number, number, number]
  return Date.UTC(year, month - 1, day, hour, minute, second) - whole
}

/** The moment at which the wall clock shows this; a time that it jumps over is as far behind the jump. */
export function atWall(zone: string, wall: number): number {
  const guess = wall - offsetMs(zone, wall)
  const second = wall - offsetMs(zone, guess)
  return offsetMs(zone, second) === wall - second ? second : Math.max(guess, second)
}

export interface ClockChange {
  at: number
  /** By how much the clock is put forward; negative: back. */
  byMs: number
}

/** Found by looking four times a day, then ever closer. */
export function clockChanges(zone: string, from: number, to: number): ClockChange[] {
  const found: ClockChange[] = []
  const step = 6 * hourMs
  let before = offsetMs(zone, from)
  for (let at = from; at < to; at += step) {
    const end = Math.min(at + step, to)
    const after = offsetMs(zone, end)
    if (after === before) continue
    let [low, high] = [at, end]
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2)
      if (offsetMs(zone, middle) === before) low = middle
      else high = middle
    }
    found.push({ at: Math.floor(high / minuteMs) * minuteMs, byMs: after - before })
    before = after
  }
  return found
}

/** The next night, from a moment on, in which the clock is put forward. */
export const nextJump = (zone: string, from: number): ClockChange | undefined =>
  clockChanges(zone, from, from + 370 * dayMs).find(({ byMs }) => byMs > 0)

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

/** `05:30 PM` as minutes of the day. */
function minuteOf(time: string): number {
  const [, hour = '0', minute = '0', half = ''] = /^(\d{1,2}):(\d\d)\s?([ap]m)?$/i.exec(time) ?? []
  const hours = half === '' ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  return hours * 60 + Number(minute)
}

const mostDays = 62

/** Of a long stretch, only the first two months are looked at. */
export function closedHours(
  schedule: Schedule | undefined,
  zone: string,
  from: number,
  to: number,
): Array<[from: number, to: number]> {
  if (!schedule?.isEnabled || !schedule.weeklySchedule) return []
  const open: Array<[number, number]> = []
  const first = Math.floor((from + offsetMs(zone, from)) / dayMs) * dayMs - dayMs
  for (let day = 0; day < mostDays; day += 1) {
    const midnight = first + day * dayMs
    if (atWall(zone, midnight) > to) break
    const { isEnabled, hours } = schedule.weeklySchedule[weekdays[new Date(midnight).getUTCDay()] ?? 'sunday'] ?? {}
    if (!isEnabled) continue
    for (const { start, end } of hours ?? []) {
      const [begins, ends] = [minuteOf(start), minuteOf(end)]
      open.push([
        atWall(zone, midnight + begins * minuteMs),
        atWall(zone, midnight + (ends > begins ? ends : ends + 24 * 60) * minuteMs),
      ])
    }
  }
  open.sort(([a], [b]) => a - b)
  const end = Math.min(to, from + mostDays * dayMs)
  const closed: Array<[number, number]> = []
  let at = from
  for (const [begins, ends] of open) {
    if (begins > at && at < end) closed.push([at, Math.min(begins, end)])
    at = Math.max(at, ends)
  }
  if (at < end) closed.push([at, end])
  return closed
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080, 20_160, 43_200].map(
  (each) => each * minuteMs,
)

/** Round moments by the wall clock, at most so many. */
export function ticks(zone: string, from: number, to: number, most: number): number[] {
  const step = steps.find((each) => (to - from) / each <= Math.max(most, 1)) ?? (to - from) / Math.max(most, 1)
  const found: number[] = []
  const first = Math.ceil((from + offsetMs(zone, from)) / step) * step
  for (let wall = first; found.length <= most + 1; wall += step) {
    const at = atWall(zone, wall)
    if (at > to) break
    if (at !== found.at(-1)) found.push(at)
  }
  return found
}

const clocks = new Map<string, Intl.DateTimeFormat>()

function clockFor(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = zone + JSON.stringify(options)
  const known = clocks.get(key)
  if (known) return known
  const made = new Intl.DateTimeFormat('en', { timeZone: zone, hourCycle: 'h23', ...options })
  clocks.set(key, made)
  return made
}

/** "10:04", with seconds where they count. */
export const clockAt = (zone: string, at: number): string =>
  clockFor(zone, {
    ...{ hour: '2-digit', minute: '2-digit' },
    ...(at % minuteMs === 0 ? {} : { second: '2-digit' }),
  }).format(at)

/** "Mon 4 May". */
export const dayAt = (zone: string, at: number): string => {
  const of = new Map(
    clockFor(zone, { weekday: 'short', day: 'numeric', month: 'short' })
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  return `${of.get('weekday')} ${of.get('day')} ${of.get('month')}`
}
