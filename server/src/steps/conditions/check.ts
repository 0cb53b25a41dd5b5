// The issues of a condition that show without any data: an editor lists them under `skip`.
import { ConditionError, refuseLarge } from './limits.ts'

export interface ConditionIssue {
  /** Its place in nested groups: `0.1` is the second rule of the first group, empty the rule itself. */
  path: string
  kind: 'MISSING_VALUE' | 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE'
  message: string
}

/** How an operator is written. `free` ones take any values; the query editor does not write them. */
type Shape = 'group' | 'not' | 'comparison' | 'membership' | 'range' | 'relative' | 'field' | 'iteration' | 'free'

const shapes = new Map<string, Shape>()
const shaped = (shape: Shape, names: string) => {
  for (const name of names.split(' ')) shapes.set(name, shape)
}
shaped('group', 'and or')
shaped('not', '! !!')
shaped('comparison', '== = != === !== < <= > >= startsWith endsWith contains doesNotContain')
shaped('comparison', 'doesNotBeginWith doesNotEndWith containsAny doesNotContainAny notIn')
shaped('membership', 'in')
shaped('range', 'between notBetween')
shaped('relative', 'moreThanXAgo lessThanXAgo withinLast notWithinLast exactlyXAgo')
shaped('field', 'var null notNull')
shaped('iteration', 'map filter reduce all some none')
shaped('free', 'if ?: missing missing_some + - * / % max min merge cat substr')

/** Every operator that a condition may use. */
export const operatorNames: ReadonlySet<string> = new Set(shapes.keys())

const comparesNull = new Set(['==', '=', '!=', '===', '!=='])
const takesThree = new Set(['<', '<='])
const openFields = ['payload.', 'subscriber.data.', 'context.']
const units = new Set(['minutes', 'hours', 'days', 'weeks', 'months', 'years'])
const mostIssues = 100

/**
 * @param isKnownField whether a path outside `payload`, `subscriber.data` and `context` names a variable; it gets
 * `items.0.name` for `items[0].name`
 */
export function checkCondition(rule: unknown, isKnownField: (path: string) => boolean): ConditionIssue[] {
  const check = new Check(isKnownField)
  try {
    refuseLarge(rule)
    if (!isEmptyObject(rule)) check.rule(rule, '')
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error
    check.illegal('', error.message)
  }
  return check.issues.slice(0, mostIssues)
}

class Check {
  readonly issues: ConditionIssue[] = []
  readonly #isKnownField: (path: string) => boolean

  constructor(isKnownField: (path: string) => boolean) {
    this.#isKnownField = isKnownField
  }

  illegal(path: string, message: string) {
    this.issues.push({ path, kind: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE', message })
  }

  missing(path: string, message = 'Value is required') {
    this.issues.push({ path, kind: 'MISSING_VALUE', message })
  }

  rule(rule: unknown, path: string): void {
    const operation = operationOf(rule)
    if (!operation) {
      this.illegal(path, 'A condition must be an object with exactly one operator')
      return
    }
    const [operator, given] = operation
    const shape = shapes.get(operator)
    switch (shape) {
      case 'group':
        if (!Array.isArray(given)) this.illegal(path, `The operator "${operator}" needs a list of conditions`)
        else if (given.length === 0) this.missing(path, `Add a condition to the group "${operator}"`)
        else
          for (const [index, member] of given.entries())
            this.rule(member, path === '' ? `${index}` : `${path}.${index}`)
        return
      case 'not':
        this.rule(Array.isArray(given) && given.length === 1 ? given[0] : given, path)
        return
      case 'comparison':
        this.#comparison(operator, given, path)
        return
      case 'membership':
        this.#membership(given, path)
        return
      case 'range':
        this.#operands(operator, given, path, (value) => {
          if (!Array.isArray(value) || value.length !== 2 || value.some(isEmpty)) this.missing(path)
        })
        return
      case 'relative':
        this.#operands(operator, given, path, (value) => this.#relative(value, path))
        return
      case 'field':
        this.#field(operator === 'var' ? rule : Array.isArray(given) ? given[0] : given, path)
        return
      case 'iteration':
        // Inside, names are those of the list's items, which nothing declares.
        this.#fieldsWithin(Array.isArray(given) ? given[0] : given, path)
        return
      case 'free':
        this.#fieldsWithin(given, path)
        return
      case undefined:
        this.illegal(path, `The operator "${operator}" is not supported`)
    }
  }

  #comparison(operator: string, given: unknown, path: string) {
    if (takesThree.has(operator) && Array.isArray(given) && given.length === 3) {
      // The editor writes "between" as low <= field <= high.
      const [low, field, high] = given
      this.#field(field, path)
      if (isEmpty(low) || isEmpty(high)) this.missing(path)
      return
    }
    this.#operands(operator, given, path, (value) => {
      if (isEmpty(value) && !(value === null && comparesNull.has(operator))) this.missing(path)
      else this.#fieldsWithin(value, path)
    })
  }

  /** The field is in a list of values, or a value is in the field. */
  #membership(given: unknown, path: string) {
    if (!Array.isArray(given) || given.length !== 2) {
      this.illegal(path, 'The operator "in" needs exactly two operands')
      return
    }
    const [first, second] = given
    const [field, value] = isVariable(first) ? [first, second] : [second, first]
    this.#field(field, path)
    if (isEmpty(value)) this.missing(path)
    else this.#fieldsWithin(value, path)
  }

  #operands(operator: string, given: unknown, path: string, check: (value: unknown) => void) {
    if (!Array.isArray(given) || given.length > 2 || given.length === 0) {
      this.illegal(path, `The operator "${operator}" needs exactly two operands`)
      return
    }
    this.#field(given[0], path)
    if (given.length === 1) this.missing(path)
    else check(given[1])
  }

  #relative(value: unknown, path: string) {
    const { amount, unit } = (isObject(value) ? value : {}) as { amount?: unknown; unit?: unknown }
    if (isEmpty(amount) || isEmpty(unit)) this.missing(path)
    else if (!isTemplate(amount) && !(Number(amount) > 0)) this.illegal(path, 'The amount must be a number above 0')
    else if (!isTemplate(unit) && !units.has(String(unit)))
      this.illegal(path, `The unit must be one of ${[...units].join(', ')}`)
  }

  #field(given: unknown, path: string) {
    const name = variableName(given)
    if (name === undefined) this.illegal(path, 'A field must be written as {"var": "<its path>"}')
    else if (name === '') this.missing(path, 'Field is required')
    else if (!this.#isField(name)) this.illegal(path, `Field "${name}" is not supported`)
  }

  /** All variables in a value that may be computed. */
  #fieldsWithin(value: unknown, path: string): void {
    if (Array.isArray(value)) for (const member of value) this.#fieldsWithin(member, path)
    else if (isVariable(value)) this.#field(value, path)
    else if (isObject(value) && Object.keys(value).length === 1) this.rule(value, path)
  }

  #isField(name: string): boolean {
    const field = pathOf(name).join('.')
    if (field === 'subscriber.data') return true
    return openFields.some((open) => field.startsWith(open) && field !== open) || this.#isKnownField(field)
  }
}

/** The parts of `items[0].name`, which is the same as `items.0.name`. */
export function pathOf(name: string): string[] {
  return name.replaceAll(/\[(\d+)\]/g, '.$1').split('.')
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isEmptyObject = (value: unknown) => isObject(value) && Object.keys(value).length === 0
const isVariable = (value: unknown) => isObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, 'var')
const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
const isTemplate = (value: unknown) => typeof value === 'string' && /\{[{%]/.test(value)

/** The operator and its operands; undefined unless it is an object with one member. */
function operationOf(rule: unknown): [string, unknown] | undefined {
  if (!isObject(rule)) return undefined
  const entries = Object.entries(rule)
  return entries.length === 1 ? entries[0] : undefined
}

/** The path in `{"var": path}` or `{"var": [path, default]}`. */
function variableName(given: unknown): string | undefined {
  if (!isVariable(given)) return undefined
  const { var: name } = given as { var: unknown }
  const path = Array.isArray(name) ? name[0] : name
  return typeof path === 'string' ? path.trim() : undefined
}
