// Times in the words and language of the page.

const units: Array<[unit: Intl.RelativeTimeFormatUnit, seconds: number]> = [
  ['minute', 60],
  ['hour', 3_600],
  ['day', 86_400],
]
const daysShown = 7

/** “2 min. ago”; the date after a week. */
export function relativeTime(moment: string, now: number, locale: string): string {
  const date = new Date(moment)
  const seconds = Math.round((date.getTime() - now) / 1_000)
  const past = Math.abs(seconds)
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'narrow' })
  if (past < 60) return format.format(0, 'second')
  if (past >= 86_400 * daysShown) return shortDate(date, now, locale)
  const [unit, size] = units.findLast(([, least]) => past >= least) ?? ['minute', 60]
  return format.format(Math.trunc(seconds / size), unit)
}

function shortDate(date: Date, now: number, locale: string): string {
  const isThisYear = date.getFullYear() === new Date(now).getFullYear()
  return date.toLocaleDateString(locale, {
    month: 'short',
    day: 'numeric',
    ...(isThisYear ? {} : { year: 'numeric' }),
  })
}

export const absoluteTime = (moment: string | Date, locale: string): string =>
  new Date(moment).toLocaleString(locale, { dateStyle: 'full', timeStyle: 'short' })

/** A time within days: “Tue, 9:00”. */
export const soonTime = (moment: string | Date, locale: string): string =>
  new Date(moment).toLocaleString(locale, {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  })

/** The schedule's `09:30 AM` as `09:30`, and back. */
export function toClock(time: string): string {
  const [, hour = '0', minute = '00', half = ''] = /^(\d+):(\d\d)\s?([ap])m$/i.exec(time) ?? []
  const hours = (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  return `${String(hours).padStart(2, '0')}:${minute}`
}

export function fromClock(time: string): string {
  const [hour = '0', minute = '00'] = time.split(':')
  const hours = Number(hour)
  return `${String(hours % 12 || 12).padStart(2, '0')}:${minute} ${hours < 12 ? 'AM' : 'PM'}`
}

/** `GMT+2` */
export function offsetOf(timezone: string, now: Date, locale: string): string {
  const format = new Intl.DateTimeFormat(locale, { timeZone: timezone, timeZoneName: 'shortOffset' })
  return format.formatToParts(now).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

export const deviceTimezone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

export function weekday(index: number, locale: string, width: 'long' | 'short' = 'long'): string {
  // 1 January 2024 was a Monday.
  return new Date(Date.UTC(2024, 0, 1 + index)).toLocaleDateString(locale, { weekday: width, timeZone: 'UTC' })
}
