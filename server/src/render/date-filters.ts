// The date filters: strftime patterns, in UTC unless a time zone is given.
import { Cache } from './cache.ts'
import { RenderError } from './limits.ts'
import { type Filter, type Run, toText, toValue } from './run.ts'

const DEFAULT_FORMAT = '%A, %B %-e, %Y at %-l:%M %P %z'
const monthNames = 'January February March April May June July August September October November December'.split(' ')
const dayNames = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

/** A moment as a clock in some zone shows it: the UTC fields of `shown` are the fields there. */
interface Moment {
  shown: Date
  instant: number
  /** Minutes east of Greenwich. */
  offset: number
  zone: string
}

// Making an Intl formatter costs 50 µs, using one 8 µs.
const formatters = new Cache<Intl.DateTimeFormat>(16 * 1024)

function offsetIn(zone: string, instant: number): number | undefined {
  const fixed = /^([+-])(\d{2}):?(\d{2})$/.exec(zone)
  if (fixed !== null) return minutesOf(fixed)
  try {
    const formatter = formatters.get(
      zone,
      () => new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset', year: 'numeric' }),
    )
    const name = formatter.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? ''
    const written = /GMT([+-])(\d{2}):(\d{2})/.exec(name)
    return written === null ? 0 : minutesOf(written)
  } catch {
    return undefined
  }
}

const minutesOf = ([, sign, hours, minutes]: RegExpExecArray) =>
  (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))

const zonePattern = /(?:Z|[+-]\d{2}:?\d{2}|\b(?:GMT|UTC?|[ECMP][SD]T)(?:[+-]\d+)?|\))\s*$/i
const datePattern = /^\s*[+-]?\d{4,6}(?:-\d{2}){0,2}\s*$/

/** A time without a zone is UTC, whatever the zone of this process. */
function parse(text: string): number {
  if (/^\d+$/.test(text)) return Number(text) * 1000
  if (text.length > 100) return Number.NaN
  if (zonePattern.test(text) || datePattern.test(text)) return Date.parse(text)
  const inUtc = Date.parse(`${text}Z`)
  return Number.isNaN(inUtc) ? Date.parse(`${text} UTC`) : inUtc
}

function toInstant(run: Run, value: unknown): number {
  if (value === 'now' || value === 'today') return run.now.getTime()
  if (typeof value === 'number') return value * 1000
  if (typeof value === 'string') return parse(value)
  return value instanceof Date ? value.getTime() : Number.NaN
}

/** The zone is a name, "+02:00", or minutes as JavaScript counts them: west of Greenwich is positive. */
function toMoment(run: Run, value: unknown, zone: unknown): Moment | undefined {
  const instant = toInstant(run, value)
  if (Number.isNaN(new Date(instant).getTime())) return undefined
  let offset = 0
  if (typeof zone === 'number' && Number.isFinite(zone)) offset = -zone
  else if (typeof zone === 'string' && zone !== '') {
    run.budget.spend(40)
    const found = offsetIn(zone, instant)
    if (found === undefined) throw new RenderError('filter_failed', `"${zone.slice(0, 64)}" is not a time zone`)
    offset = found
  }
  const shown = new Date(instant + offset * 60_000)
  if (Number.isNaN(shown.getTime())) return undefined
  return { shown, instant, offset, zone: typeof zone === 'string' ? zone : offset === 0 ? 'UTC' : '' }
}

function dayOfYear({ shown }: Moment) {
  return Math.floor((shown.getTime() - Date.UTC(shown.getUTCFullYear(), 0, 1)) / 86_400_000) + 1
}

function weekOfYear(moment: Moment, firstDay: number) {
  const sinceFirstDay = (moment.shown.getUTCDay() - firstDay + 7) % 7
  return Math.floor((dayOfYear(moment) - 1 - sinceFirstDay + 7) / 7)
}

function ordinal({ shown }: Moment) {
  const day = shown.getUTCDate()
  if (day >= 11 && day <= 13) return 'th'
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'
}

function offsetText({ offset }: Moment, withColon: boolean) {
  const minutes = Math.abs(offset)
  const digits = [Math.floor(minutes / 60), Math.floor(minutes % 60)].map((part) => String(part).padStart(2, '0'))
  return `${offset < 0 ? '-' : '+'}${digits.join(withColon ? ':' : '')}`
}

const hour12 = ({ shown }: Moment) => shown.getUTCHours() % 12 || 12

const dateText = ({ shown }: Moment) => `${shown.getUTCMonth() + 1}/${shown.getUTCDate()}/${shown.getUTCFullYear()}`

const timeText = (moment: Moment) => {
  const [minutes, seconds] = [moment.shown.getUTCMinutes(), moment.shown.getUTCSeconds()].map((part) =>
    String(part).padStart(2, '0'),
  )
  return `${hour12(moment)}:${minutes}:${seconds} ${moment.shown.getUTCHours() < 12 ? 'AM' : 'PM'}`
}

interface Directive {
  text: (moment: Moment, flags: string, width: number) => string | number
  width?: number
  pad?: ' '
}

const directives: Record<string, Directive> = {
  a: { text: (m) => (dayNames[m.shown.getUTCDay()] ?? '').slice(0, 3), pad: ' ' },
  A: { text: (m) => dayNames[m.shown.getUTCDay()] ?? '', pad: ' ' },
  b: { text: (m) => (monthNames[m.shown.getUTCMonth()] ?? '').slice(0, 3), pad: ' ' },
  B: { text: (m) => monthNames[m.shown.getUTCMonth()] ?? '', pad: ' ' },
  c: { text: (m) => `${dateText(m)}, ${timeText(m)}`, pad: ' ' },
  C: { text: (m) => Math.floor(m.shown.getUTCFullYear() / 100), width: 2 },
  d: { text: (m) => m.shown.getUTCDate(), width: 2 },
  e: { text: (m) => m.shown.getUTCDate(), width: 2, pad: ' ' },
  H: { text: (m) => m.shown.getUTCHours(), width: 2 },
  I: { text: hour12, width: 2 },
  j: { text: dayOfYear, width: 3 },
  k: { text: (m) => m.shown.getUTCHours(), width: 2, pad: ' ' },
  l: { text: hour12, width: 2, pad: ' ' },
  L: { text: (m) => m.shown.getUTCMilliseconds(), width: 3 },
  m: { text: (m) => m.shown.getUTCMonth() + 1, width: 2 },
  M: { text: (m) => m.shown.getUTCMinutes(), width: 2 },
  N: {
    text: (m, _, width) =>
      String(m.shown.getUTCMilliseconds())
        .padStart(3, '0')
        .slice(0, width || 9)
        .padEnd(width || 9, '0'),
  },
  p: { text: (m) => (m.shown.getUTCHours() < 12 ? 'AM' : 'PM'), pad: ' ' },
  P: { text: (m) => (m.shown.getUTCHours() < 12 ? 'am' : 'pm'), pad: ' ' },
  q: { text: ordinal },
  s: { text: (m) => Math.floor(m.instant / 1000) },
  S: { text: (m) => m.shown.getUTCSeconds(), width: 2 },
  u: { text: (m) => m.shown.getUTCDay() || 7 },
  U: { text: (m) => weekOfYear(m, 0), width: 2 },
  w: { text: (m) => m.shown.getUTCDay() },
  W: { text: (m) => weekOfYear(m, 1), width: 2 },
  x: { text: dateText },
  X: { text: timeText },
  y: { text: (m) => ((m.shown.getUTCFullYear() % 100) + 100) % 100, width: 2 },
  Y: { text: (m) => m.shown.getUTCFullYear(), width: 4 },
  z: { text: (m, flags) => offsetText(m, flags.includes(':')) },
  Z: { text: (m, flags) => m.zone || offsetText(m, flags.includes(':')) },
  t: { text: () => '\t' },
  n: { text: () => '\n' },
  '%': { text: () => '%' },
}
directives.h = directives.b as Directive

/** More digits than any pattern needs; it keeps a width from producing long texts. */
const MAX_WIDTH = 64

function strftime(run: Run, moment: Moment, format: string): string {
  return format.replace(
    /%([-_0^#:]{0,8})(\d{0,4})[EO]?(.)/g,
    (whole, flags: string, digits: string, letter: string) => {
      const directive = directives[letter]
      if (directive === undefined) return whole
      run.budget.spend(1)
      const wanted = Math.min(Number(digits), MAX_WIDTH)
      let text = String(directive.text(moment, flags, wanted))
      if (flags.includes('^')) text = text.toUpperCase()
      else if (flags.includes('#')) text = /[a-z]/.test(text) ? text.toUpperCase() : text.toLowerCase()
      if (flags.includes('-')) return text
      const pad = flags.includes('_') ? ' ' : flags.includes('0') ? '0' : (directive.pad ?? '0')
      const width = wanted || directive.width || 0
      return pad === '0' && text.startsWith('-')
        ? `-${text.slice(1).padStart(width - 1, pad)}`
        : text.padStart(width, pad)
    },
  )
}

function date(run: Run, value: unknown, format: unknown, zone?: unknown): unknown {
  const plain = toValue(value)
  const moment = toMoment(run, plain, toValue(zone))
  if (moment === undefined) return plain
  const pattern = toValue(format)
  return strftime(run, moment, pattern === null || pattern === undefined ? DEFAULT_FORMAT : toText(pattern))
}

function dateToText(run: Run, value: unknown, month: string, type: unknown, style: unknown): unknown {
  if (toValue(type) !== 'ordinal') return date(run, value, `%d ${month} %Y`)
  return date(run, value, toValue(style) === 'US' ? `${month} %-d%q, %Y` : `%-d%q ${month} %Y`)
}

export const dateFilters: Record<string, Filter['apply']> = {
  date: (run, value, [format, zone]) => date(run, value, format, zone),
  date_to_xmlschema: (run, value) => date(run, value, '%Y-%m-%dT%H:%M:%S%:z'),
  date_to_rfc822: (run, value) => date(run, value, '%a, %d %b %Y %H:%M:%S %z'),
  date_to_string: (run, value, [type, style]) => dateToText(run, value, '%b', type, style),
  date_to_long_string: (run, value, [type, style]) => dateToText(run, value, '%B', type, style),
}
