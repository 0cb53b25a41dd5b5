// A condition as rows and groups, read from JSON Logic and written back. What rows cannot show stays as JSON.

export interface Group {
  kind: 'group'
  join: 'and' | 'or'
  members: Condition[]
}
export interface Rule {
  kind: 'rule'
  field: string
  operator: string
  value: unknown
}
export interface Raw {
  kind: 'raw'
  json: unknown
}
export type Condition = Group | Rule | Raw

/** The value input of a row. */
export type Shape = 'value' | 'text' | 'list' | 'range' | 'ago' | 'none'

export interface OperatorLook {
  value: string
  label: string
  shape: Shape
}

export const operators: readonly OperatorLook[] = [
  { value: '==', label: 'is', shape: 'value' },
  { value: '!=', label: 'is not', shape: 'value' },
  { value: '===', label: 'is exactly', shape: 'value' },
  { value: '!==', label: 'is not exactly', shape: 'value' },
  { value: '>', label: 'is more than', shape: 'value' },
  { value: '>=', label: 'is at least', shape: 'value' },
  { value: '<', label: 'is less than', shape: 'value' },
  { value: '<=', label: 'is at most', shape: 'value' },
  { value: 'between', label: 'is between', shape: 'range' },
  { value: 'notBetween', label: 'is not between', shape: 'range' },
  { value: '!!', label: 'is true', shape: 'none' },
  { value: '!', label: 'is not true', shape: 'none' },
  { value: 'notNull', label: 'exists', shape: 'none' },
  { value: 'null', label: 'does not exist', shape: 'none' },
  { value: 'contains', label: 'contains', shape: 'text' },
  { value: 'doesNotContain', label: 'does not contain', shape: 'text' },
  { value: 'startsWith', label: 'starts with', shape: 'text' },
  { value: 'doesNotBeginWith', label: 'does not start with', shape: 'text' },
  { value: 'endsWith', label: 'ends with', shape: 'text' },
  { value: 'doesNotEndWith', label: 'does not end with', shape: 'text' },
  { value: 'in', label: 'is one of', shape: 'list' },
  { value: 'notIn', label: 'is none of', shape: 'list' },
  { value: 'containsAny', label: 'has any of', shape: 'list' },
  { value: 'doesNotContainAny', label: 'has none of', shape: 'list' },
  { value: 'withinLast', label: 'was within the last', shape: 'ago' },
  { value: 'notWithinLast', label: 'was not within the last', shape: 'ago' },
  { value: 'moreThanXAgo', label: 'was more than … ago', shape: 'ago' },
  { value: 'lessThanXAgo', label: 'was less than … ago', shape: 'ago' },
  { value: 'exactlyXAgo', label: 'was exactly … ago', shape: 'ago' },
]

export const shapeOf = (operator: string): Shape => operators.find(({ value }) => value === operator)?.shape ?? 'value'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function fieldIn(operand: unknown): string | undefined {
  if (!isObject(operand) || Object.keys(operand).length !== 1) return undefined
  const path = Array.isArray(operand.var) && operand.var.length === 1 ? operand.var[0] : operand.var
  return typeof path === 'string' ? path : undefined
}

/** A rule that does not survive reading and writing is shown as JSON. */
export function readCondition(json: unknown): Condition {
  const read = readLoosely(json)
  return sameJson(writeCondition(read), json) ? read : { kind: 'raw', json }
}

const sameJson = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

function readLoosely(json: unknown): Condition {
  const raw: Raw = { kind: 'raw', json }
  if (!isObject(json)) return raw
  const [entry, ...others] = Object.entries(json)
  if (!entry || others.length > 0) return raw
  const [operator, given] = entry
  if (operator === 'and' || operator === 'or')
    return Array.isArray(given) ? { kind: 'group', join: operator, members: given.map(readCondition) } : raw
  if (!operators.some(({ value }) => value === operator)) return raw
  const operands = Array.isArray(given) ? given : [given]
  const field = fieldIn(operands[0])
  if (field === undefined || operands.length > 2) return raw
  return { kind: 'rule', field, operator, value: operands[1] }
}

export function writeCondition(condition: Condition): unknown {
  switch (condition.kind) {
    case 'raw':
      return condition.json
    case 'group':
      return { [condition.join]: condition.members.map(writeCondition) }
    case 'rule': {
      const { field, operator, value } = condition
      const variable = { var: field }
      return { [operator]: shapeOf(operator) === 'none' ? [variable] : [variable, value ?? ''] }
    }
  }
}

/** A single row is kept in a group, so that a second row can be added. */
export function readRoot(skip: unknown): Group {
  if (!isObject(skip) || Object.keys(skip).length === 0) return { kind: 'group', join: 'and', members: [] }
  const read = readCondition(skip)
  return read.kind === 'group' ? read : { kind: 'group', join: 'and', members: [read] }
}

/** Undefined if there is no condition. */
export function writeRoot(group: Group): unknown {
  if (group.members.length === 0) return undefined
  return writeCondition(group)
}

export const newRule = (field = ''): Rule => ({ kind: 'rule', field, operator: '==', value: '' })

/** The initial value when a new operator needs another kind of value. */
export function valueFor(operator: string, before: unknown): unknown {
  const shape = shapeOf(operator)
  if (shape === 'none') return undefined
  if (shape === 'list') return Array.isArray(before) ? before : before === undefined || before === '' ? [] : [before]
  if (shape === 'range') return Array.isArray(before) && before.length === 2 ? before : ['', '']
  if (shape === 'ago') return isObject(before) ? before : { amount: 1, unit: 'days' }
  return isObject(before) || Array.isArray(before) ? '' : (before ?? '')
}

/** Numbers, true and false become values; in quotes they stay text. */
export function readValue(text: string): unknown {
  const quoted = /^"(.*)"$/s.exec(text)
  if (quoted) return quoted[1]
  if (text === 'true') return true
  if (text === 'false') return false
  if (text === 'null') return null
  return /^-?\d+(\.\d+)?$/.test(text) && String(Number(text)) === text ? Number(text) : text
}

export function textOfValue(value: unknown): string {
  if (typeof value !== 'string') return value === undefined ? '' : JSON.stringify(value)
  return readValue(value) === value ? value : `"${value}"`
}

/** "payload.plan is pro and 2 more", for the folded section. */
export function inWords(group: Group): string {
  const count = (one: Condition): number =>
    one.kind === 'group' ? one.members.reduce((sum, member) => sum + count(member), 0) : 1
  const total = count(group)
  if (total === 0) return 'always'
  const first = firstRule(group)
  const words =
    first?.kind === 'rule'
      ? [
          first.field || '…',
          operators.find(({ value }) => value === first.operator)?.label ?? first.operator,
          shapeOf(first.operator) === 'none' ? '' : textOfValue(first.value),
        ]
          .join(' ')
          .trim()
      : 'a condition'
  return total === 1 ? `if ${words}` : `if ${words} ${group.join} ${total - 1} more`
}

function firstRule(group: Group): Condition | undefined {
  for (const member of group.members) {
    const found = member.kind === 'group' ? firstRule(member) : member
    if (found) return found
  }
  return undefined
}
