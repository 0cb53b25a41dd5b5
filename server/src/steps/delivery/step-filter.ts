// Step filters, the older form of conditions: groups of comparisons with the subscriber, the payload, the tenant and earlier
// steps, or with the answer of a URL of the user's.
import { pathOf } from '../conditions/check.ts'
import { read } from '../conditions/operators.ts'
import { timeUnits, unitSeconds } from '../contract/kind.ts'

/** As stored; http/workflows/step-filter.ts checks what callers send. */
export interface StepFilter {
  isNegated?: boolean
  /** Which editor made it. It does not affect how values are compared. */
  type?: string
  value?: string
  children: FilterChild[]
}

export interface FilterChild {
  on?: string
  field?: string
  operator?: string
  value?: unknown
  /** For `webhook`: the URL to call. */
  webhookUrl?: string
  /** For `isOnlineInLast`: the unit of `value`. */
  timeOperator?: string
  /** For `previousStep`: which step, and `seen`, `read`, `unseen` or `unread`. */
  step?: string
  stepType?: string
}

type Members = Record<string, unknown>

/** What a filter can ask about. */
export interface FilterData extends Partial<Record<'subscriber' | 'payload' | 'tenant', unknown>> {
  now?: Date
  /** The result of an earlier step, by either of its ids. */
  resultOf?: (step: string) => Members | undefined
  /** What URLs have answered so far. */
  answers?: ReadonlyMap<string, unknown>
}

/** Yes, no, or unknown until this URL has been called. */
export type Verdict = boolean | { ask: string }

/**
 * Whether any of the filters passes; no filters pass too.
 * @param rendered the values from `templatesInFilters`, rendered
 */
export function judgeFilters(
  filters: readonly StepFilter[],
  data: FilterData,
  rendered: ReadonlyMap<string, string> = new Map(),
): Verdict {
  return filters.length === 0 || any(filters.map((filter) => judge(filter, data, rendered)))
}

/** The same where no URL can be called. */
export const passesFilters = (...given: Parameters<typeof judgeFilters>): boolean => judgeFilters(...given) === true

// Known results decide first, in any position: no needless calls.
const any = (verdicts: Verdict[]): Verdict => verdicts.includes(true) || (verdicts.find(isOpen) ?? false)
const all = (verdicts: Verdict[]): Verdict => !verdicts.includes(false) && (verdicts.find(isOpen) ?? true)
const isOpen = (verdict: Verdict) => typeof verdict === 'object'

/** The values that are templates. The caller renders them before evaluating the filters. */
export function templatesInFilters(filters: readonly StepFilter[]): string[] {
  const values = filters.flatMap(({ children }) => children.flatMap(({ value }) => value))
  return [...new Set(values.filter((value): value is string => typeof value === 'string' && value.includes('{{')))]
}

/** Each comparison with its values and its result, to show the reason. */
export function explainFilters(
  filters: readonly StepFilter[],
  data: FilterData,
  rendered: ReadonlyMap<string, string> = new Map(),
): object[] {
  return filters.flatMap(({ children }) =>
    children.map((child) => {
      const { on, field, operator, value: expected, webhookUrl, timeOperator, step, stepType } = child
      const about = { on, field, operator, expected, webhookUrl, timeOperator, step, stepType }
      return { ...about, actual: actualOf(child, data), passed: holds(child, data, rendered) === true }
    }),
  )
}

function judge(
  { children, value, isNegated = false }: StepFilter,
  data: FilterData,
  rendered: ReadonlyMap<string, string>,
): Verdict {
  // An empty group asks nothing, so there is nothing to negate.
  if (children.length === 0) return true
  if (children.length > 1 && value !== 'AND' && value !== 'OR') return false
  const verdicts = children.map((child) => holds(child, data, rendered))
  const verdict = value === 'OR' ? any(verdicts) : all(verdicts)
  return typeof verdict === 'boolean' ? verdict !== isNegated : verdict
}

function holds(child: FilterChild, data: FilterData, rendered: ReadonlyMap<string, string>): Verdict {
  const { on, field, operator, value } = child
  switch (on) {
    case 'isOnline':
      return (memberOf(data.subscriber, 'isOnline') === true) === (value === true || value === 'true')
    case 'isOnlineInLast':
      return wasOnline(child, data)
    case 'previousStep':
      return hasBecome(child, data)
    case 'webhook':
      if (child.webhookUrl === undefined) return false
      if (!data.answers?.has(child.webhookUrl)) return { ask: child.webhookUrl }
      break
    case 'subscriber':
    case 'payload':
    case 'tenant':
      break
    default:
      return false
  }
  const check = operator === undefined ? undefined : operators.get(operator)
  if (!check || field === undefined) return false
  const render = (text: unknown) => (typeof text === 'string' ? (rendered.get(text) ?? text) : text)
  return check(actualOf(child, data), Array.isArray(value) ? value.map(render) : render(value))
}

function actualOf({ on, field = '', webhookUrl = '' }: FilterChild, data: FilterData): unknown {
  if (on === 'webhook') return read(data.answers?.get(webhookUrl), pathOf(field))
  return on === 'subscriber' || on === 'payload' || on === 'tenant' ? read(data[on], pathOf(field)) : undefined
}

/** A subscriber who is online now was online within any period. */
function wasOnline({ timeOperator, value }: FilterChild, { subscriber, now }: FilterData): boolean {
  if (memberOf(subscriber, 'isOnline') === true) return true
  const unit = timeUnits.find((each) => each === timeOperator)
  const last = Date.parse(String(memberOf(subscriber, 'lastOnlineAt') ?? ''))
  const amount = toNumber(value)
  if (!unit || !now || Number.isNaN(last) || !(amount >= 0)) return false
  return now.getTime() - last <= amount * unitSeconds[unit] * 1000
}

/** A message that was never sent is neither seen nor read. */
function hasBecome({ step = '', stepType }: FilterChild, { resultOf }: FilterData): boolean {
  const { seen, read: isRead } = resultOf?.(step) ?? {}
  switch (stepType) {
    case 'seen':
      return seen === true
    case 'unseen':
      return seen !== true
    case 'read':
      return isRead === true
    case 'unread':
      return isRead !== true
    default:
      return false
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Members)[name] : undefined

type Comparison = (actual: unknown, value: unknown) => boolean
const not =
  (comparison: Comparison): Comparison =>
  (actual, value) =>
    !comparison(actual, value)

/** Values arrive as text; each is read as the type it is compared with. */
function isEqual(actual: unknown, value: unknown): boolean {
  switch (typeof actual) {
    case 'number':
      return isScalar(value) && actual === toNumber(value)
    case 'boolean':
      return actual === (value === true || value === 'true')
    case 'string':
      return isScalar(value) && actual === String(value)
    default:
      return false
  }
}

/** As numbers if both are, else as text, which orders ISO dates too. Undefined if they cannot be compared. */
function order(actual: unknown, value: unknown): number | undefined {
  if (!isScalar(actual) || !isScalar(value)) return undefined
  const [a, b] = [toNumber(actual), toNumber(value)]
  if (!Number.isNaN(a) && !Number.isNaN(b)) return a - b
  if (typeof actual !== 'string') return undefined
  const text = String(value)
  return actual < text ? -1 : actual > text ? 1 : 0
}

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
const toNumber = (value: unknown) => (typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value))

const ordered =
  (holds: (difference: number) => boolean): Comparison =>
  (actual, value) => {
    const difference = order(actual, value)
    return difference !== undefined && holds(difference)
  }

/** Several values in one: a list, a JSON list as text, or text with commas. */
function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  if (typeof value !== 'string') return [value]
  if (value.trimStart().startsWith('['))
    try {
      const parsed: unknown = JSON.parse(value)
      if (Array.isArray(parsed)) return parsed
    } catch {
      // Not JSON: text that happens to begin with a bracket.
    }
  return value.split(',').map((part) => part.trim())
}

/** "In": the field contains the value, as a substring or as an item of a list. */
const holdsValue: Comparison = (actual, value) =>
  typeof actual === 'string' ? isScalar(value) && actual.includes(String(value)) : hasItem(actual, value)
const hasItem = (actual: unknown, value: unknown) =>
  (Array.isArray(actual) ? actual : [actual]).some((item) => isEqual(item, value))

/** Several values are each compared whole: the field is one of them, or a list with some or all of them. */
const holdsAny: Comparison = (actual, value) => listOf(value).some((one) => hasItem(actual, one))
const holdsAll: Comparison = (actual, value) => listOf(value).every((one) => hasItem(actual, one))

/** From the first of two values to the second, inclusive. False unless there are two. */
const isBetween: Comparison = (actual, value) => {
  const range = listOf(value)
  if (range.length !== 2) return false
  const [fromLow, toHigh] = [order(actual, range[0]), order(actual, range[1])]
  return fromLow !== undefined && toHigh !== undefined && fromLow >= 0 && toHigh <= 0
}

const longestPattern = 255

/** SQL's LIKE, ignoring case: `_` is any character, `%` any number of them. Without a `%` it may match anywhere. */
const isLike: Comparison = (actual, value) => {
  if (!isScalar(actual) || !isScalar(value)) return false
  const text = String(actual).toLowerCase()
  const pattern = String(value).toLowerCase()
  if (pattern.length > longestPattern) return false
  const pieces = pattern.includes('%') ? pattern.split('%') : ['', pattern, '']
  const [first = '', ...rest] = pieces
  const last = rest.pop() ?? ''
  if (!standsAt(text, first, 0)) return false
  // Matching each piece as early as possible leaves the most for the rest, so no backtracking is needed.
  let at = first.length
  for (const piece of rest) {
    at = indexOf(text, piece, at)
    if (at < 0) return false
    at += piece.length
  }
  const end = text.length - last.length
  return end >= at && standsAt(text, last, end)
}

function indexOf(text: string, piece: string, from: number): number {
  if (!piece.includes('_')) return text.indexOf(piece, from)
  for (let at = from; at + piece.length <= text.length; at += 1) if (standsAt(text, piece, at)) return at
  return -1
}

function standsAt(text: string, piece: string, at: number): boolean {
  if (at + piece.length > text.length) return false
  for (let i = 0; i < piece.length; i += 1) if (piece[i] !== '_' && piece[i] !== text[at + i]) return false
  return true
}

/** Every `NOT_…` is the exact opposite: it holds for a missing field. */
const operators = new Map<string, Comparison>([
  ['EQUAL', isEqual],
  ['NOT_EQUAL', not(isEqual)],
  ['LARGER', ordered((difference) => difference > 0)],
  ['SMALLER', ordered((difference) => difference < 0)],
  ['LARGER_EQUAL', ordered((difference) => difference >= 0)],
  ['SMALLER_EQUAL', ordered((difference) => difference <= 0)],
  ['IN', holdsValue],
  ['NOT_IN', not(holdsValue)],
  ['ANY_IN', holdsAny],
  ['ALL_IN', holdsAll],
  ['BETWEEN', isBetween],
  ['NOT_BETWEEN', not(isBetween)],
  ['LIKE', isLike],
  ['NOT_LIKE', not(isLike)],
  ['IS_DEFINED', (actual) => actual !== null],
])
