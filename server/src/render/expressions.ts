// Compiles Liquid expressions to closures. LiquidJS parses them; we evaluate, because LiquidJS takes 20 µs for five variables
// and cannot be stopped inside an operator, a range or a filter.
import {
  type FilteredValueToken,
  type PropertyAccessToken,
  type RangeToken,
  type Token,
  TypeGuards,
  type Value,
} from 'liquidjs'
import { filterTable } from './filters.ts'
import { FILTER_COST, OUTPUT_LIMIT, outputTooLarge, RenderError } from './limits.ts'
import {
  type Evaluate,
  type FilterArguments,
  isEqual,
  isTruthy,
  Literal,
  type Run,
  readPath,
  readProperty,
  toValue,
} from './run.ts'
import { parseExpression, positionOf, staticKey } from './syntax.ts'

const words: Record<string, unknown> = {
  true: true,
  false: false,
  nil: new Literal('nil'),
  null: new Literal('nil'),
  empty: new Literal('empty'),
  blank: new Literal('blank'),
}

type Filtered = Pick<Value | FilteredValueToken, 'initial' | 'filters'>

/** A value with its filters, as in `{{ }}`, after `=` in assign, and after `if`. */
export function compileFiltered(value: Filtered): Evaluate {
  return value.filters.reduce((input, filter) => compileFilter(filter, input), compilePostfix(value.initial.postfix))
}

export function compileToken(token: Token | undefined): Evaluate {
  if (token === undefined) return () => undefined
  if (TypeGuards.isLiteralToken(token)) return constant(words[token.literal])
  if (TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token) || TypeGuards.isWordToken(token)) {
    return constant(token.content)
  }
  if (TypeGuards.isPropertyAccessToken(token)) return compilePath(token)
  if (TypeGuards.isRangeToken(token)) return compileRange(token)
  if (TypeGuards.isFilteredValueToken(token)) return compileFiltered(token)
  return () => undefined
}

const constant = (value: unknown) => () => value

function compilePath(token: PropertyAccessToken): Evaluate {
  const keys = token.props.map(staticKey)
  if (!keys.every((key) => key !== undefined)) return compileComputedPath(token)
  if (token.variable !== undefined) {
    const base = compileToken(token.variable)
    return (run) => readPath(base(run), keys, run.budget)
  }
  const [root, ...rest] = keys
  const name = String(root)
  return (run) => {
    let value = run.lookup(name)
    for (let i = 0; i < rest.length; i++) value = readProperty(value, rest[i], run.budget)
    return value
  }
}

function compileComputedPath(token: PropertyAccessToken): Evaluate {
  const base = token.variable === undefined ? undefined : compileToken(token.variable)
  const keys = token.props.map(compileToken)
  return (run) => {
    const [first, ...rest] = keys.map((key) => toValue(key(run)))
    let value = base === undefined ? run.lookup(nameOf(first)) : readProperty(base(run), first, run.budget)
    for (const key of rest) value = readProperty(value, key, run.budget)
    return value
  }
}

const nameOf = (key: unknown) => (typeof key === 'string' || typeof key === 'number' ? String(key) : '')

function compileRange(token: RangeToken): Evaluate {
  const from = compileToken(token.lhs)
  const to = compileToken(token.rhs)
  return (run) => {
    const low = asNumber(from(run))
    const high = asNumber(to(run))
    const length = Math.floor(high - low) + 1
    if (!(length > 0)) return []
    // Beyond 2^53 adding one changes nothing, and the loop would never end.
    if (!(Math.abs(low) < Number.MAX_SAFE_INTEGER && Math.abs(high) < Number.MAX_SAFE_INTEGER)) {
      throw new RenderError('work_limit', `The range (${low}..${high}) is too large`, { position: positionOf(token) })
    }
    run.budget.spend(length)
    return Array.from({ length }, (_, i) => low + i)
  }
}

function asNumber(value: unknown): number {
  const plain = toValue(value)
  return typeof plain === 'number' || typeof plain === 'string' ? Number(plain) : Number.NaN
}

/** Postfix notation, as LiquidJS gives it. A missing operand is undefined, as in LiquidJS. */
function compilePostfix(postfix: readonly Token[]): Evaluate {
  const stack: Evaluate[] = []
  for (const token of postfix) {
    if (!TypeGuards.isOperatorToken(token)) {
      stack.push(compileToken(token))
      continue
    }
    const right = stack.pop() ?? constant(undefined)
    if (token.operator === 'not') {
      stack.push((run) => !isTruthy(right(run)))
      continue
    }
    stack.push(compileOperator(token.operator, stack.pop() ?? constant(undefined), right))
  }
  return stack[0] ?? constant(undefined)
}

function compileOperator(operator: string, left: Evaluate, right: Evaluate): Evaluate {
  switch (operator) {
    case '==':
      return (run) => isEqual(left(run), right(run), run.budget)
    case '!=':
      return (run) => !isEqual(left(run), right(run), run.budget)
    case 'and':
      return (run) => isTruthy(left(run)) && isTruthy(right(run))
    case 'or':
      return (run) => isTruthy(left(run)) || isTruthy(right(run))
    case 'contains':
      return (run) => contains(run, toValue(left(run)), right(run))
    default: {
      const holds = comparisons[operator]
      return (run) => {
        const a = left(run)
        const b = right(run)
        if (holds === undefined || a instanceof Literal || b instanceof Literal) return false
        run.budget.spend(run.budget.measure(a) + run.budget.measure(b))
        return holds(toValue(a) as never, toValue(b) as never)
      }
    }
  }
}

const comparisons: Record<string, (a: never, b: never) => boolean> = {
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
}

function contains(run: Run, of: unknown, what: unknown): boolean {
  if (Array.isArray(of)) {
    run.budget.spend(2 * of.length)
    return of.some((element) => isEqual(element, what, run.budget))
  }
  const text = run.print(what)
  if (typeof of !== 'string' || toValue(what) === null || toValue(what) === undefined) return false
  run.budget.spend(searchCost(of.length, text.length))
  return of.includes(text)
}

/** In the worst case a search compares the whole pattern at every position. */
const searchCost = (length: number, pattern: number) => (length >> 4) + (pattern > 32 ? (length * pattern) / 256 : 0)

type FilterSyntax = Filtered['filters'][number]

/** These filters take an expression. It is part of the template and compiled with it; text from the data never is. */
const isExpressionFilter = (name: string) => name.endsWith('_exp')

function compileFilter(filter: FilterSyntax, input: Evaluate): Evaluate {
  const definition = filterTable[filter.name]
  // As in LiquidJS, an unknown filter returns its input; saving a workflow reports it.
  if (definition === undefined) return input
  const { apply, searches } = definition
  const takesExpression = isExpressionFilter(filter.name)
  const positional: Evaluate[] = []
  const named: [string, Evaluate][] = []
  for (const [i, argument] of filter.args.entries()) {
    if (Array.isArray(argument)) named.push([argument[0] ?? '', compileToken(argument[1])])
    else if (takesExpression && i === 1) positional.push(constant(compileArgumentExpression(argument, filter.name)))
    else positional.push(compileToken(argument))
  }
  const options = (run: Run) => Object.fromEntries(named.map(([name, argument]) => [name, argument(run)]))
  return (run) => {
    const { budget } = run
    const value = input(run)
    let cost = FILTER_COST + budget.measure(value)
    const args: FilterArguments = []
    for (let i = 0; i < positional.length; i++) {
      const argument = positional[i]?.(run)
      cost += budget.measure(argument)
      args.push(argument)
    }
    if (searches && typeof value === 'string' && typeof args[0] === 'string') {
      cost += searchCost(value.length, args[0].length)
    }
    budget.spend(cost)
    const result = apply(run, value, args, named.length === 0 ? noOptions : options(run))
    if (typeof result === 'string' && result.length > OUTPUT_LIMIT) throw outputTooLarge()
    budget.spend(budget.measure(result))
    return result
  }
}

const noOptions: Record<string, unknown> = {}

function compileArgumentExpression(argument: Token, name: string): Evaluate {
  if (!TypeGuards.isQuotedToken(argument)) {
    throw new RenderError('template_syntax', `The second argument of "${name}" must be written out in quotes`, {
      position: positionOf(argument),
    })
  }
  return compileFiltered(parseExpression(argument.content))
}
