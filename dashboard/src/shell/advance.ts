// What a person asks a held clock for, and how it goes on where one call does not get there.
import type { Advance } from '../api/clock.ts'

/** `+2h`, `2h` or a moment. */
export const advanceOf = (text: string): Advance => {
  const written = text.trim()
  return /^\+?(\d+(d|h|m|s|ms))+$/.test(written) ? { by: written.replace(/^\+/, '') } : { to: written }
}

const unitMs: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }

const durationMs = (text: string): number =>
  [...text.matchAll(/(\d{1,12})(ms|d|h|m|s)/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0),
    0,
  )

/**
 * What gets the clock to the same moment from wherever it has come to. Undefined for `next`: one call ends it, and another would
 * be about the wait behind it.
 * @param from where the clock was at first
 */
export function restOf({ by, to }: Advance, from: string): Advance | undefined {
  if (by !== undefined) return { to: new Date(Date.parse(from) + durationMs(by)).toISOString() }
  return to === 'next' ? undefined : { to }
}
