// A condition as rows and groups, read from JSON Logic and written back. What a row cannot show stays as it is, as JSON.

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

/** What a row asks for beside the field. */
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
  { value: 'notNull', label: 'is there', shape: 'none' },
  { value: 'null', label: 'is not there', shape: 'none' },
  { value: 'contains', label: 'contains', shape: 'text' },
  { value: 'doesNotContain', label: 'does not contain', shape: 'text' },
  { value: 'startsWith', label: 'begins with', shape: 'text' },
  { value: 'doesNotBeginWith', label: 'does not begin with', shape: 'text' },
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

/** Reading and writing again gives the same rule, or the row is shown as JSON. */
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

/** A condition of one row is written as a group of one, so that a second can join it. */
export function readRoot(skip: unknown): Group {
  if (!isObject(skip) || Object.keys(skip).length === 0) return { kind: 'group', join: 'and', members: [] }
  const read = readCondition(skip)
  return read.kind === 'group' ? read : { kind: 'group', join: 'and', members: [read] }
}

/** Undefined for no condition at all. */
export function writeRoot(group: Group): unknown {
  if (group.members.length === 0) return undefined
  return writeCondition(group)
}

export const newRule = (field = ''): Rule => ({ kind: 'rule', field, operator: '==', value: '' })

/** What a value begins with when the operator asks for another shape. */
export function valueFor(operator: string, before: unknown): unknown {
  const shape = shapeOf(operator)
  if (shape === 'none') return undefined
  if (shape === 'list') return Array.isArray(before) ? before : before === undefined || before === '' ? [] : [before]
  if (shape === 'range') return Array.isArray(before) && before.length === 2 ? before : ['', '']
  if (shape === 'ago') return isObject(before) ? before : { amount: 1, unit: 'days' }
  return isObject(before) || Array.isArray(before) ? '' : (before ?? '')
}

/** Numbers and true or false as such; in quotation marks they stay texts. */
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

/** "payload.plan is pro and 2 more", for the line that is folded. */
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
