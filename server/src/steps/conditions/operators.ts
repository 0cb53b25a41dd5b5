// The operators of conditions. Each gets the values of its operands and its scope; none reads a clock.
import { pathOf } from './check.ts'
import { ConditionError, longestResult, type Work } from './limits.ts'

/** Where an operator is evaluated: inside a loop `data` is the item. */
export interface Scope {
  data: unknown
  readonly run: Evaluation
}

export interface Evaluation {
  readonly now: number
  readonly work: Work
  /** The bodies of loops, by their numbers among a loop's operands. */
  readonly bodies: readonly Body[]
}

export interface Body {
  evaluate: (scope: Scope) => unknown
  /** How many operators and values one pass evaluates. */
  size: number
}

export type Operator = (operands: unknown[], scope: Scope) => unknown

/** An empty list is false; everything else follows JavaScript. */
export const isTrue = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))

/** The value at a path, or null. Own properties only: nothing inherited, and nothing is called. */
export function read(data: unknown, path: readonly string[]): unknown {
  let value = data
  for (const part of path) {
    if (typeof value === 'string') return part === 'length' ? value.length : null
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return null
    value = (value as Record<string, unknown>)[part]
  }
  return value === undefined || typeof value === 'function' ? null : value
}

const asBoolean = (value: unknown) =>
  value === true || value === 'true' ? 1 : value === false || value === 'false' ? 0 : undefined

/** Numbers, and numeric strings. Null, empty strings and lists are none: "is null" must not hold for 0. */
function asNumber(value: unknown): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && !Number.isNaN(number) ? number : undefined
}

const isoDate = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i

/** An ISO 8601 date, or date and time; UTC unless it says otherwise, on any machine. */
function asTime(value: unknown): number | undefined {
  const match = typeof value === 'string' && value.length <= 40 ? isoDate.exec(value) : null
  if (!match) return undefined
  const [, year = '', month = '', day = '', time = '00:00', zone = 'Z'] = match
  // JavaScript reads 30 February as 2 March.
  if (Number(day) > daysIn(Number(year), Number(month))) return undefined
  const moment = Date.parse(`${year}-${month}-${day}T${time}${zone.toUpperCase()}`)
  return Number.isNaN(moment) ? undefined : moment
}

const daysIn = (year: number, month: number) => new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()

/** Below 0, 0 or above 0; undefined if the two cannot be compared. */
function order(a: unknown, b: unknown): number | undefined {
  const [x = Number.NaN, y = Number.NaN] = pair(a, b)
  return x < y ? -1 : x > y ? 1 : x === y ? 0 : undefined
}

/** Both as booleans, else both as numbers, else both as dates. */
function pair(a: unknown, b: unknown): Array<number | undefined> {
  if (typeof a === 'number' && typeof b === 'number') return [a, b]
  for (const reading of [asBoolean, asNumber, asTime]) {
    const x = reading(a)
    const y = x === undefined ? undefined : reading(b)
    if (y !== undefined) return [x, y]
  }
  return []
}

const weight = (value: unknown) => (typeof value === 'string' || Array.isArray(value) ? value.length >> 4 : 0)

function isEqual([a, b]: unknown[], { run: { work } }: Scope): boolean {
  work.spend(weight(a) + weight(b))
  const difference = order(a, b)
  return difference === undefined ? (a ?? null) === (b ?? null) : difference === 0
}

function isSame([a, b]: unknown[], { run: { work } }: Scope): boolean {
  work.spend(weight(a) + weight(b))
  return a === b
}

/** Holds for each operand and the next: `1 <= x <= 5`. */
const ordered =
  (holds: (difference: number) => boolean): Operator =>
  (operands, { run: { work } }) => {
    if (operands.length < 2) return false
    for (let i = 1; i < operands.length; i += 1) {
      work.spend(weight(operands[i - 1]) + weight(operands[i]))
      const difference = order(operands[i - 1], operands[i])
      if (difference === undefined || !holds(difference)) return false
    }
    return true
  }

const ofTexts =
  (holds: (text: string, part: string) => boolean): Operator =>
  ([text, part], { run: { work } }) => {
    if (typeof text !== 'string' || typeof part !== 'string') return false
    work.spend(weight(text) + weight(part))
    return holds(text, part)
  }

const ofLists =
  (holds: (anyShared: boolean) => boolean): Operator =>
  ([list, values], { run: { work } }) => {
    if (!Array.isArray(list) || !Array.isArray(values)) return false
    work.spend(list.length + values.length)
    const wanted = new Set(values)
    return holds(list.some((item) => wanted.has(item)))
  }

const isIn: Operator = ([item, within], { run: { work } }) => {
  work.spend(weight(item) + weight(within))
  if (typeof within === 'string')
    return (typeof item === 'string' || typeof item === 'number') && within.includes(String(item))
  return Array.isArray(within) && within.includes(item)
}

const ofRange =
  (holds: (isWithin: boolean) => boolean): Operator =>
  ([value, range]) => {
    if (typeof value !== 'number' || !Array.isArray(range)) return false
    const [low, high] = [bound(range[0]), bound(range[1])]
    return low !== undefined && high !== undefined && holds(low <= value && value <= high)
  }
const bound = (value: unknown) => (typeof value === 'boolean' ? undefined : asNumber(value))

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** The length of a unit, in milliseconds or in months, and the tolerance of "exactly". */
const units = new Map<unknown, { ms: number; months?: number; toleranceMs: number }>([
  ['minutes', { ms: minuteMs, toleranceMs: minuteMs }],
  ['hours', { ms: hourMs, toleranceMs: hourMs }],
  ['days', { ms: dayMs, toleranceMs: dayMs }],
  ['weeks', { ms: 7 * dayMs, toleranceMs: dayMs }],
  ['months', { ms: 0, months: 1, toleranceMs: dayMs }],
  ['years', { ms: 0, months: 12, toleranceMs: 7 * dayMs }],
])

/** Compares a date with the moment `{amount, unit}` ago. */
const sinceThen =
  (holds: (date: number, then: number, now: number, toleranceMs: number) => boolean): Operator =>
  ([value, distance], { run: { now } }) => {
    const date = asTime(value)
    const amount = bound(read(distance, ['amount']))
    const unit = units.get(read(distance, ['unit']))
    if (date === undefined || unit === undefined || amount === undefined || !(amount > 0)) return false
    const then = unit.months === undefined ? now - amount * unit.ms : monthsBefore(now, amount * unit.months)
    return holds(date, then, now, unit.toleranceMs)
  }

/** The same day of an earlier month, in UTC, or its last day if it is shorter. There are no fractions of months. */
function monthsBefore(now: number, months: number): number {
  if (!Number.isInteger(months)) return Number.NaN
  const date = new Date(now)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() - months, 1)
  return date.setUTCDate(Math.min(day, daysIn(date.getUTCFullYear(), date.getUTCMonth() + 1)))
}

/** Evaluates the body for each item until `visit` returns true; anything but a list has no items. */
function loop(list: unknown, body: unknown, { run }: Scope, visit: (result: unknown, item: unknown) => boolean): void {
  if (!Array.isArray(list)) return
  const { evaluate, size } = run.bodies[body as number] as Body
  const inner: Scope = { data: null, run }
  for (const item of list) {
    run.work.spend(size)
    inner.data = item
    if (visit(evaluate(inner), item)) return
  }
}

function anyItem(list: unknown, body: unknown, scope: Scope, wanted: boolean): boolean {
  let found = false
  loop(list, body, scope, (result) => {
    found = isTrue(result) === wanted
    return found
  })
  return found
}

const map: Operator = ([list, body], scope) => {
  const results: unknown[] = []
  loop(list, body, scope, (result) => results.push(result) < 0)
  return results
}

const filter: Operator = ([list, body], scope) => {
  const items: unknown[] = []
  loop(list, body, scope, (result, item) => isTrue(result) && items.push(item) < 0)
  return items
}

const reduce: Operator = ([list, body, initial = null], { run }) => {
  if (!Array.isArray(list)) return initial
  const { evaluate, size } = run.bodies[body as number] as Body
  let accumulator = initial
  for (const current of list) {
    run.work.spend(size)
    accumulator = evaluate({ data: { current, accumulator }, run })
  }
  return accumulator
}

const toNumber = (value: unknown) => asNumber(value) ?? Number.NaN
const arithmetic =
  (apply: (a: number, b: number) => number, start?: number): Operator =>
  (operands) => {
    const numbers = operands.map(toNumber)
    return start === undefined ? (numbers.length === 0 ? null : numbers.reduce(apply)) : numbers.reduce(apply, start)
  }

function merge(operands: unknown[], { run: { work } }: Scope): unknown[] {
  const merged: unknown[] = []
  for (const operand of operands) {
    const length = Array.isArray(operand) ? operand.length : 1
    work.spend(1 + (length >> 4))
    if (merged.length + length > longestResult) throw tooLong()
    for (const item of Array.isArray(operand) ? operand : [operand]) merged.push(item)
  }
  return merged
}

const tooLong = () =>
  new ConditionError('result_too_large', `A condition may build texts and lists of up to ${longestResult} elements`)

function toText(value: unknown, work: Work): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return `${value}`
  return Array.isArray(value) ? join(value, ',', work) : '[object Object]'
}

/** A rule can put a list into itself, so the cost is what it prints, not what it holds. */
function join(values: unknown[], separator: string, work: Work): string {
  let text = ''
  for (const [index, value] of values.entries()) {
    if (index > 0) text += separator
    const part = toText(value, work)
    work.spend(1 + weight(part))
    text += part
    if (text.length > longestResult) throw tooLong()
  }
  return text
}

const substr: Operator = ([source, start, length], { run: { work } }) => {
  const text = toText(source, work)
  work.spend(weight(text))
  const from = asNumber(start) ?? 0
  const count = asNumber(length)
  const rest = text.slice(from)
  return count === undefined ? rest : rest.slice(0, count)
}

const missing: Operator = (operands, { data, run: { work } }) => {
  const names = Array.isArray(operands[0]) ? operands[0] : operands
  return names.filter((name) => {
    if (typeof name !== 'string' && typeof name !== 'number') return false
    work.spend(String(name).length)
    const value = read(data, pathOf(String(name)))
    return value === null || value === ''
  })
}

/** Nothing is missing if enough fields exist. */
const missingSome: Operator = ([count, names], scope) => {
  if (!Array.isArray(names)) return []
  const gone = missing([names], scope) as unknown[]
  return names.length - gone.length >= toNumber(count) ? [] : gone
}

const isNull: Operator = ([value]) => value === null || value === undefined
const not =
  (operator: Operator): Operator =>
  (operands, scope) =>
    !operator(operands, scope)

/** All except `and`, `or`, `if` and `var`, which control evaluation and are compiled. */
export const operators: Readonly<Record<string, Operator>> = {
  '==': isEqual,
  '=': isEqual,
  '!=': not(isEqual),
  '===': isSame,
  '!==': not(isSame),
  '<': ordered((difference) => difference < 0),
  '<=': ordered((difference) => difference <= 0),
  '>': ordered((difference) => difference > 0),
  '>=': ordered((difference) => difference >= 0),
  '!': ([value]) => !isTrue(value),
  '!!': ([value]) => isTrue(value),

  startsWith: ofTexts((text, part) => text.startsWith(part)),
  endsWith: ofTexts((text, part) => text.endsWith(part)),
  contains: ofTexts((text, part) => text.includes(part)),
  doesNotBeginWith: ofTexts((text, part) => !text.startsWith(part)),
  doesNotEndWith: ofTexts((text, part) => !text.endsWith(part)),
  doesNotContain: ofTexts((text, part) => !text.includes(part)),
  containsAny: ofLists((anyShared) => anyShared),
  doesNotContainAny: ofLists((anyShared) => !anyShared),
  in: isIn,
  notIn: (operands, scope) => Array.isArray(operands[1]) && !isIn(operands, scope),
  null: isNull,
  notNull: not(isNull),
  between: ofRange((isWithin) => isWithin),
  notBetween: ofRange((isWithin) => !isWithin),

  moreThanXAgo: sinceThen((date, then) => date < then),
  lessThanXAgo: sinceThen((date, then) => date >= then),
  withinLast: sinceThen((date, then, now) => then <= date && date <= now),
  notWithinLast: sinceThen((date, then) => date < then),
  exactlyXAgo: sinceThen((date, then, _, toleranceMs) => Math.abs(date - then) <= toleranceMs),

  map,
  filter,
  reduce,
  all: ([list, body], scope) => Array.isArray(list) && list.length > 0 && !anyItem(list, body, scope, false),
  some: ([list, body], scope) => anyItem(list, body, scope, true),
  none: ([list, body], scope) => !anyItem(list, body, scope, true),

  '+': arithmetic((a, b) => a + b, 0),
  '*': arithmetic((a, b) => a * b, 1),
  '-': (operands, scope) =>
    operands.length === 1 ? -toNumber(operands[0]) : arithmetic((a, b) => a - b)(operands, scope),
  '/': arithmetic((a, b) => a / b),
  '%': arithmetic((a, b) => a % b),
  max: arithmetic((a, b) => Math.max(a, b)),
  min: arithmetic((a, b) => Math.min(a, b)),
  merge,
  cat: (operands, { run: { work } }) => join(operands, '', work),
  substr,
  missing,
  missing_some: missingSome,
}
