// Durations and moments of a scenario: `1h30m`; `+2d`, ISO 8601 with a zone, or a wall clock such as
// `2026-03-29T02:30[Europe/Berlin]`.
import { Temporal } from 'temporal-polyfill'

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
const durationPattern = /^(?=\d)(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,12})s)?(?:(\d{1,15})ms)?$/
const isoPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/
const wallPattern = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\[([^\]]+)\]$/

/** Why a text is no duration or moment, in words that follow its name. */
export class MomentInvalid extends Error {}

export function durationMs(text: string): number {
  const match = durationPattern.exec(text)
  if (!match)
    throw new MomentInvalid(
      `${JSON.stringify(text)} is not a duration such as 30d, 1h30m, 90s or 250ms: whole numbers of d, h, m, s and ms, in this order`,
    )
  const [days = 0, hours = 0, minutes = 0, seconds = 0, ms = 0] = match.slice(1).map((part) => Number(part ?? 0))
  return days * day + hours * hour + minutes * minute + seconds * second + ms
}

/** Outside these years nothing is planned. */
const [earliest, latest] = [Date.UTC(2000, 0, 1), Date.UTC(2100, 0, 1)]

/** @param startAt what `+…` counts from; without it, that form is refused */
export function momentMs(text: string, startAt?: number): number {
  const moment = momentIn(text, startAt)
  if (!(moment >= earliest && moment <= latest))
    throw new MomentInvalid(`${JSON.stringify(text)} is not between 2000 and 2100`)
  return moment
}

/** The same in any year. */
export function momentIn(text: string, startAt?: number): number {
  if (text.startsWith('+')) {
    if (startAt === undefined) throw new MomentInvalid('it cannot count from itself; give a date')
    return startAt + durationMs(text.slice(1))
  }
  if (isoPattern.test(text)) {
    try {
      // `Date.parse` takes the 30th of February for the 2nd of March.
      return Temporal.Instant.from(text).epochMilliseconds
    } catch (error) {
      if (error instanceof RangeError) throw new MomentInvalid(`${JSON.stringify(text)} has no such date or time`)
      throw error
    }
  }
  const [, wall = '', zone = ''] = wallPattern.exec(text) ?? []
  if (wall === '')
    throw new MomentInvalid(
      `${JSON.stringify(text)} is not a moment such as +2h, 2026-03-29T02:30:00Z or 2026-03-29T02:30[Europe/Berlin]`,
    )
  try {
    // `compatible`: a time that the clock jumps over is as far behind the jump, one that comes twice is the first.
    return Temporal.PlainDateTime.from(wall).toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds
  } catch (error) {
    if (error instanceof RangeError) throw new MomentInvalid(`${JSON.stringify(text)} has no such date or time zone`)
    throw error
  }
}
