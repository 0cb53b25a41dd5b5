// The list filters. They behave like LiquidJS's, and charge the budget for every item.
import { Cache } from './cache.ts'
import { Group, OUTPUT_LIMIT, outputTooLarge } from './limits.ts'
import {
  type Evaluate,
  type Filter,
  isEqual,
  isTruthy,
  type Run,
  readPath,
  toIterable,
  toList,
  toText,
  toValue,
} from './run.ts'
import { parsePath } from './syntax.ts'

type Path = readonly (string | number)[]

const paths = new Cache<Path>(256 * 1024)

/** A path in an argument may come from the data, so it is only read, never evaluated. */
function toPath(property: unknown): Path {
  const text = toText(property)
  return paths.get(text, () => parsePath(text) ?? text.split('.'))
}

const isNothing = (value: unknown) => value === null || value === undefined

const asNumber = (value: unknown, otherwise: number) => {
  const number = Number(toValue(value))
  return value === undefined || Number.isNaN(number) ? otherwise : Math.trunc(number)
}

function* each(run: Run, list: readonly unknown[]) {
  for (const item of list) {
    run.budget.spend(3)
    yield item
  }
}

/** Whether an item matches: by a property and its value, or by an expression. */
type Test = (item: unknown) => boolean

function byProperty(run: Run, property: unknown, expected: unknown): Test {
  const path = toPath(property)
  return (item) => {
    const value = readPath(item, path, run.budget)
    return expected === undefined ? isTruthy(value) : isEqual(value, expected, run.budget)
  }
}

function evaluator(run: Run, name: unknown, expression: unknown): (item: unknown) => unknown {
  const evaluate = expression as Evaluate
  const scope: Record<string, unknown> = Object.create(null)
  const itemName = toText(name)
  return (item) => {
    scope[itemName] = item
    run.scopes.push(scope)
    try {
      return evaluate(run)
    } finally {
      run.scopes.pop()
    }
  }
}

const byExpression = (run: Run, name: unknown, expression: unknown): Test => {
  const evaluate = evaluator(run, name, expression)
  return (item) => isTruthy(evaluate(item))
}

type MakeTest = (run: Run, first: unknown, second: unknown) => Test

const select =
  (makeTest: MakeTest, wanted: boolean): Filter['apply'] =>
  (run, value, [first, second]) => {
    const test = makeTest(run, first, second)
    return [...each(run, toList(value))].filter((item) => test(item) === wanted)
  }

const search =
  (makeTest: MakeTest, answer: (index: number, item: unknown) => unknown): Filter['apply'] =>
  (run, value, [first, second]) => {
    const test = makeTest(run, first, second)
    let index = 0
    for (const item of each(run, toList(value))) {
      if (test(item)) return answer(index, item)
      index++
    }
    return answer(-1, undefined)
  }

function group(run: Run, value: unknown, keyOf: (item: unknown) => unknown): Group[] {
  const groups = new Map<unknown, unknown[]>()
  for (const item of each(run, toIterable(value, run.budget))) {
    const key = keyOf(item)
    const items = groups.get(key)
    if (items === undefined) groups.set(key, [item])
    else items.push(item)
  }
  return [...groups].map(([name, items]) => new Group(name, items))
}

function sorted(run: Run, value: unknown, property: unknown, keyOf: (value: unknown) => unknown): unknown[] {
  const list = toList(value)
  const path = property === undefined ? [] : toPath(property)
  const keyed = [...each(run, list)].map((item) => ({ item, key: keyOf(readPath(item, path, run.budget)) }))
  const keys = keyed.map(({ key }) => key)
  run.budget.spend(run.budget.measure(keys) * Math.log2(keys.length + 1))
  return keyed.sort((a, b) => compare(a.key, b.key)).map(({ item }) => item)
}

/** Missing values sort last. */
function compare(a: unknown, b: unknown): number {
  if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b))
  if ((a as never) < (b as never)) return -1
  return (a as never) > (b as never) ? 1 : 0
}

function slice(value: unknown, from: unknown, count: unknown): unknown {
  const plain = toValue(value)
  if (isNothing(plain)) return []
  const length = asNumber(count, 1)
  const start = asNumber(from, 0)
  const text = Array.isArray(plain) ? '' : toText(plain)
  // Only texts with surrogate pairs must be split into characters.
  const items = Array.isArray(plain) ? plain : /[\ud800-\udfff]/.test(text) ? [...text] : text
  const begin = start < 0 ? items.length + start : start
  const part = begin < 0 || length < 0 ? items.slice(0, 0) : items.slice(begin, begin + length)
  return Array.isArray(plain) || typeof part === 'string' ? part : part.join('')
}

function sample(value: unknown, count: unknown): unknown {
  const plain = toValue(value)
  if (isNothing(plain)) return []
  const items = Array.isArray(plain) ? [...plain] : [...toText(plain)]
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[items[i], items[j]] = [items[j], items[i]]
  }
  const wanted = asNumber(count, 1)
  return wanted === 1 ? items[0] : items.slice(0, wanted)
}

function join(value: unknown, separator: unknown): string {
  const texts = toList(value).map(toText)
  const between = isNothing(toValue(separator)) ? ' ' : toText(separator)
  const length = texts.reduce((sum, text) => sum + text.length, between.length * texts.length)
  if (length > OUTPUT_LIMIT) throw outputTooLarge()
  return texts.join(between)
}

const endOf = (value: unknown, index: number) => {
  const plain = toValue(value)
  return Array.isArray(plain) ? plain.at(index) : typeof plain === 'string' ? (plain.at(index) ?? '') : ''
}

export const listFilters: Record<string, Filter['apply']> = {
  join: (_, value, [separator]) => join(value, separator),
  first: (_, value) => endOf(value, 0),
  last: (_, value) => endOf(value, -1),
  size: (_, value) => {
    const plain = toValue(value)
    return Array.isArray(plain) || typeof plain === 'string' ? plain.length : 0
  },
  slice: (_, value, [from, count]) => slice(value, from, count),
  sample: (_, value, [count]) => sample(value, count),
  reverse: (_, value) => toList(value).toReversed(),
  compact: (_, value) => toList(value).filter((item) => !isNothing(toValue(item))),
  concat: (_, value, [other]) => [...toList(value), ...toList(other)],
  push: (_, value, [item]) => [...toList(value), item],
  unshift: (_, value, [item]) => [item, ...toList(value)],
  pop: (_, value) => toList(value).slice(0, -1),
  shift: (_, value) => toList(value).slice(1),
  uniq: (_, value) => [...new Set(toList(value))],
  map: (run, value, [property]) => {
    const path = toPath(property)
    return [...each(run, toList(value))].map((item) => readPath(item, path, run.budget))
  },
  sum: (run, value, [property]) => {
    const path = property === undefined ? [] : toPath(property)
    let sum = 0
    for (const item of each(run, toList(value))) sum += Number(toValue(readPath(item, path, run.budget))) || 0
    return sum
  },
  sort: (run, value, [property]) => sorted(run, value, property, toValue),
  sort_natural: (run, value, [property]) =>
    sorted(run, value, property, (key) => (isNothing(toValue(key)) ? undefined : toText(key).toLowerCase())),
  group_by: (run, value, [property]) => {
    const path = toPath(property)
    return group(run, value, (item) => readPath(item, path, run.budget))
  },
  group_by_exp: (run, value, [name, expression]) => group(run, value, evaluator(run, name, expression)),
  where: select(byProperty, true),
  where_exp: select(byExpression, true),
  reject: select(byProperty, false),
  reject_exp: select(byExpression, false),
  find: search(byProperty, (_, item) => item),
  find_exp: search(byExpression, (_, item) => item),
  find_index: search(byProperty, (index) => (index < 0 ? undefined : index)),
  find_index_exp: search(byExpression, (index) => (index < 0 ? undefined : index)),
  has: search(byProperty, (index) => index >= 0),
  has_exp: search(byExpression, (index) => index >= 0),
}
