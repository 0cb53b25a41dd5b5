// The days of a week in a time zone, and the duties on each.
import type { Duty } from '../../api/rotas.ts'

export interface DayPart {
  duty: Duty
  /** Where it begins and ends on the day, from 0 to 1. */
  from: number
  to: number
}

export interface Day {
  /** "Mon 2 Nov". */
  label: string
  parts: DayPart[]
  /** Hours that the day is longer or shorter than others, because the clocks change on it. */
  clockChange: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** How far local time is ahead of UTC. */
export function offsetMs(timeZone: string, at: number): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    ...{ hourCycle: 'h23', timeZone },
  }).formatToParts(at)
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value)
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return wall - Math.floor(at / 1000) * 1000
}

/** The moment at which a local day begins. Its wall time is given as if it were UTC. */
function beginningOf(timeZone: string, wall: number): number {
  const guess = wall - offsetMs(timeZone, wall)
  const begins = wall - offsetMs(timeZone, guess)
  // Where the clocks go forward at midnight, the day begins with the hour after.
  return Math.max(begins, wall - offsetMs(timeZone, begins))
}

export function daysOf(timeZone: string, from: string, count: number, duties: readonly Duty[]): Day[] {
  const now = Date.parse(from)
  const wallNow = now + offsetMs(timeZone, now)
  const first = wallNow - (((wallNow % dayMs) + dayMs) % dayMs)
  const label = new Intl.DateTimeFormat('en-GB', {
    ...{ weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' },
  })
  return Array.from({ length: count }, (_, index): Day => {
    const wall = first + index * dayMs
    const [begins, ends] = [beginningOf(timeZone, wall), beginningOf(timeZone, wall + dayMs)]
    const length = ends - begins
    const parts = duties.flatMap((duty): DayPart[] => {
      // The week is told from now on.
      const start = Math.max(duty.from === null ? now : Date.parse(duty.from), begins)
      const end = duty.to === null ? ends : Math.min(Date.parse(duty.to), ends)
      return start < end ? [{ duty, from: (start - begins) / length, to: (end - begins) / length }] : []
    })
    return { label: label.format(wall), parts, clockChange: (length - dayMs) / hourMs }
  })
}
