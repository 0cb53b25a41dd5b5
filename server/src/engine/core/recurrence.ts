// The occurrences of an RRULE around a time, and the index of each. Times are local ones, written as if they were of UTC.
import rruleModule, { type Options } from 'rrule'

const { RRule } = rruleModule

interface Recurrence {
  start: Date
  rrule: string
  /** Where the rule ends, if it does. */
  until: Date | null
}

/** A time from which the rule can be walked, and the index of the first occurrence from there on. */
interface Place {
  time: number
  index: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A period of each frequency takes at least so long. */
const shortestMs = new Map([
  [RRule.YEARLY, 365 * dayMs],
  [RRule.MONTHLY, 28 * dayMs],
  [RRule.WEEKLY, 7 * dayMs],
  [RRule.DAILY, dayMs],
  [RRule.HOURLY, hourMs],
])

/** Frequencies of rules that repeat after seven days times their interval, if only times and weekdays narrow them. */
const cyclic = new Set([RRule.WEEKLY, RRule.DAILY, RRule.HOURLY])
const narrowing = ['bysetpos', 'bymonth', 'bymonthday', 'byyearday', 'byweekno', 'byeaster'] as const

/**
 * The last occurrence before `since`, then those from there on, with their index, as long as `visit` answers true.
 * None is looked for after `horizon`.
 */
export function visitOccurrences(
  recurrence: Recurrence,
  since: Date,
  horizon: Date,
  visit: (occurrence: Date, index: number) => boolean,
): void {
  const { start, until } = recurrence
  const options = optionsOf(recurrence)
  const end = Math.min(horizon.getTime(), until?.getTime() ?? Number.POSITIVE_INFINITY)
  const places =
    options && (isCyclic(options) ? cycleBefore(options, start, since, end) : placesOf(recurrence, options))
  const from = places?.findLast(({ time }) => time <= since.getTime()) ?? places?.at(0)
  if (!options || !places || !from) return
  let { index } = from
  let before: [Date, number] | undefined
  walk(options, start, from, end, (date) => {
    keepPlace(places, { time: date.getTime(), index })
    if (date < since) before = [date, index]
    else {
      if (before) visit(...before)
      before = undefined
      if (!visit(date, index)) return false
    }
    index += 1
    return true
  })
  if (before) visit(...before)
}

/** Whether the rule has an occurrence at its start; asked before it is stored. */
export function beginsAtStart({ start, rrule }: Omit<Recurrence, 'until'>): boolean {
  const options = optionsOf({ start, rrule })
  let begins = false
  if (options)
    walk(options, start, { time: start.getTime(), index: 0 }, start.getTime(), () => {
      begins = true
      return false
    })
  return begins
}

/** Undefined if the rule cannot have an occurrence. */
function optionsOf({ start, rrule }: Omit<Recurrence, 'until'>): Partial<Options> | undefined {
  const options = RRule.parseString(rrule)
  const { interval = 1 } = options
  if (!Number.isInteger(interval) || interval < 1) return undefined
  if (options.freq !== RRule.HOURLY) return options
  // From hour to hour rrule never ends if it cannot come to one of the hours.
  const step = greatestDivisor(24, interval)
  const given = options.byhour == null ? undefined : [options.byhour].flat()
  const hours = Array.from({ length: 24 }, (_, hour) => hour).filter(
    (hour) => (hour - start.getUTCHours()) % step === 0 && (given?.includes(hour) ?? true),
  )
  if (hours.length === 0) return undefined
  if (24 % interval !== 0 || options.bysetpos != null) return options
  // Days with these hours take a fifth of the time.
  return { ...options, freq: RRule.DAILY, interval: 1, byhour: hours }
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b))

const isCyclic = (options: Partial<Options>): boolean =>
  cyclic.has(options.freq ?? RRule.YEARLY) && narrowing.every((name) => options[name] == null)

/** A rule that repeats itself is walked from one of the last cycles on: each has as many occurrences as the first. */
function cycleBefore(options: Partial<Options>, start: Date, since: Date, end: number): Place[] {
  const { interval = 1, freq, count } = options
  const cycle = interval * 7 * (freq === RRule.WEEKLY ? dayMs : freq === RRule.DAILY ? dayMs : 24 * hourMs)
  const first = start.getTime()
  let inCycle = 0
  walk(options, start, { time: first, index: 0 }, first + cycle - 1, () => {
    inCycle += 1
    return true
  })
  if (inCycle === 0) return []
  const passed = Math.floor((Math.min(since.getTime(), end) - first) / cycle) - 1
  const cycles = Math.max(0, count ? Math.min(passed, Math.floor((count - 1) / inCycle)) : passed)
  return [{ time: first + cycles * cycle, index: cycles * inCycle }]
}

/** Of other rules, places that were come by, so that an old rule is walked from its start only once. */
const placesByRule = new Map<string, Place[]>()
const mostRules = 1_000
const betweenPlacesMs = 30 * dayMs

function placesOf({ start, rrule, until }: Recurrence, { freq, bysetpos }: Partial<Options>): Place[] {
  const first = { time: start.getTime(), index: 0 }
  // Positions within a week are counted from where rrule enters it.
  if (freq === RRule.WEEKLY && bysetpos != null) return [first]
  const key = `${first.time} ${until?.getTime()} ${rrule}`
  const places = placesByRule.get(key) ?? [first]
  placesByRule.delete(key)
  placesByRule.set(key, places)
  const [oldest] = placesByRule.keys()
  if (placesByRule.size > mostRules && oldest !== undefined) placesByRule.delete(oldest)
  return places
}

function keepPlace(places: Place[], place: Place): void {
  const last = places.at(-1)
  if (last && place.time >= last.time + betweenPlacesMs) places.push(place)
}

/** Where the walk leaves periods behind in which the rule has no occurrence. */
class EndOfWalk extends Error {}

/** Goes from occurrence to occurrence up to `end`, and no further where there is none: rrule itself would go on to the year 9999. */
function walk(
  options: Partial<Options>,
  start: Date,
  from: Place,
  end: number,
  visit: (occurrence: Date) => boolean,
): void {
  const rule = new RRule({ ...options, dtstart: start, tzid: null, until: new Date(end) })
  const read = rule.options
  // What the rule takes from its start has been read by now.
  read.dtstart = new Date(from.time)
  if (read.count) read.count -= from.index
  // rrule takes times of a day in the order in which they are given.
  for (const times of [read.byhour, read.byminute, read.bysecond]) times?.sort((a, b) => a - b)
  const { interval, freq } = read
  const periods = Math.max(0, end - from.time) / (interval * (shortestMs.get(freq) ?? hourMs)) + 2
  // rrule asks for the interval once at first and twice in each period.
  let asked = 0
  Object.defineProperty(read, 'interval', {
    get: () => {
      asked += 1
      if (asked > 2 * periods) throw new EndOfWalk()
      return interval
    },
  })
  try {
    rule.all(visit)
  } catch (error) {
    if (!(error instanceof EndOfWalk)) throw error
  }
}
