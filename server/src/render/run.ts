// The state of one rendering: names in scope and output, and how values are read, compared and printed.
import { type Budget, OUTPUT_LIMIT, outputTooLarge } from './limits.ts'

export type Scope = Record<string, unknown>
export type Evaluate = (run: Run) => unknown
export type Emit = (run: Run) => void
export type FilterArguments = unknown[]

export interface Filter {
  apply: (run: Run, value: unknown, args: FilterArguments, options: Record<string, unknown>) => unknown
  /** Searches its value for its first argument, which costs both lengths. */
  searches?: boolean
}

/** `nil`, `empty` and `blank`, which have their own rules of comparison. */
export class Literal {
  readonly word: 'nil' | 'empty' | 'blank'

  constructor(word: Literal['word']) {
    this.word = word
  }
}

/**
 * An item of a repeat in the place of its list: `payload.items.name` reads the item's name, while `payload.items[2]` still
 * reads the list.
 */
export class Item {
  readonly value: unknown
  readonly list: readonly unknown[]

  constructor(value: unknown, list: readonly unknown[]) {
    this.value = value
    this.list = list
  }
}

/** A value with one member replaced. The others are copied, and charged for, only if the whole value is used. */
export class Overlay {
  readonly base: unknown
  readonly key: string | number
  readonly member: unknown
  readonly #budget: Budget
  #whole: unknown

  constructor(base: unknown, key: string | number, member: unknown, budget: Budget) {
    this.base = base
    this.key = key
    this.member = member
    this.#budget = budget
  }

  toValue(): unknown {
    this.#whole ??= this.#copy()
    return this.#whole
  }

  #copy(): unknown {
    const base = toValue(this.base)
    const member = toValue(this.member)
    this.#budget.spend(4 * this.#budget.measure(base))
    if (Array.isArray(base)) return base.with(Number(this.key), member)
    return { ...(base as object), [this.key]: member }
  }
}

/** `forloop` and `tablerowloop`. */
export class Loop {
  #at = 0
  readonly length: number
  readonly name: string
  readonly #columns: number

  constructor(length: number, name: string, columns = length) {
    this.length = length
    this.name = name
    this.#columns = columns
  }

  next() {
    this.#at++
  }

  read(key: unknown): unknown {
    const at = this.#at
    switch (key) {
      case 'index':
        return at + 1
      case 'index0':
        return at
      case 'rindex':
        return this.length - at
      case 'rindex0':
        return this.length - at - 1
      case 'first':
        return at === 0
      case 'last':
        return at === this.length - 1
      case 'length':
        return this.length
      case 'name':
        return this.name
      case 'row':
        return Math.floor(at / this.#columns) + 1
      case 'col0':
        return at % this.#columns
      case 'col':
        return (at % this.#columns) + 1
      case 'col_first':
        return at % this.#columns === 0
      case 'col_last':
        return (at % this.#columns) + 1 === this.#columns
      default:
        return undefined
    }
  }
}

export class Run {
  readonly data: Scope
  readonly budget: Budget
  readonly now: Date
  /** Names from assign and capture; they last to the end of the template. */
  readonly locals: Scope = Object.create(null)
  readonly counters: Scope = Object.create(null)
  /** Names of the enclosing loops, innermost last. */
  readonly scopes: Scope[] = []
  /** The state of cycle and `offset: continue`. */
  readonly registers = new Map<string, number>()
  /** Objects print with single quotes in text, so that they fit in HTML attributes, and with double quotes in JSON. */
  readonly quote: '"' | "'"
  readonly #made: ((name: string) => unknown) | undefined
  out = ''
  flow: 'on' | 'break' | 'continue' = 'on'

  constructor(data: Scope, budget: Budget, now: Date, quote: '"' | "'" = "'", made?: (name: string) => unknown) {
    this.data = data
    this.budget = budget
    this.now = now
    this.quote = quote
    this.#made = made
  }

  lookup(name: string): unknown {
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const scope = this.scopes[i]
      if (scope !== undefined && name in scope) return scope[name]
    }
    if (name in this.locals) return this.locals[name]
    if (name in this.counters) return this.counters[name]
    return Object.hasOwn(this.data, name) ? this.data[name] : this.#made?.(name)
  }

  write(text: string) {
    this.budget.write(text.length)
    this.out += text
  }

  /** The output of `emit` as a value. */
  capture(emit: Emit): string {
    const before = this.out
    this.out = ''
    emit(this)
    const captured = this.out
    this.out = before
    return captured
  }

  print(value: unknown): string {
    if (typeof value === 'string') return value
    if (value === null || value === undefined) return ''
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
    if (value instanceof Literal || value instanceof Item || value instanceof Overlay) return this.print(toValue(value))
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString()
    if (value instanceof Loop || typeof value !== 'object') return ''
    return printJson(value, this.budget, this.quote)
  }
}

/** JSON within the budget. A list may hold the same object many times, so the text is counted while it grows. */
export function printJson(value: unknown, budget: Budget, quote: '"' | "'", indent = 0): string {
  let characters = 0
  const text = JSON.stringify(
    value,
    (key, member: unknown) => {
      budget.spend(2)
      characters += key.length + 4 + (typeof member === 'string' ? member.length : 4)
      if (characters > OUTPUT_LIMIT) throw outputTooLarge()
      return toValue(member)
    },
    indent,
  )
  if (text === undefined) return ''
  budget.spend(text.length >> 4)
  return quote === '"' ? text : text.replaceAll('"', "'")
}

export function toValue(value: unknown): unknown {
  if (typeof value !== 'object') return value
  if (value instanceof Literal) return value.word === 'nil' ? null : ''
  if (value instanceof Overlay) return value.toValue()
  return value instanceof Item ? toValue(value.value) : value
}

/** A value as text for a filter. Objects give an empty text; only outputs print them. */
export function toText(value: unknown): string {
  const plain = toValue(value)
  if (typeof plain === 'string') return plain
  if (plain === null || plain === undefined) return ''
  if (Array.isArray(plain)) return plain.map(toText).join(',')
  return typeof plain === 'number' || typeof plain === 'boolean' ? String(plain) : '[object Object]'
}

export function isTruthy(value: unknown): boolean {
  const plain = toValue(value)
  return plain !== false && plain !== null && plain !== undefined
}

/** One step of a path. Reads only own members of the data, never the prototype's. */
export function readProperty(of: unknown, key: unknown, budget: Budget): unknown {
  if (of === null || of === undefined) return undefined
  if (of instanceof Loop) return of.read(key)
  if (of instanceof Item) return readProperty(typeof key === 'number' ? of.list : of.value, key, budget)
  if (of instanceof Overlay) return key === of.key ? of.member : readProperty(of.base, key, budget)
  if (of instanceof Literal) return readProperty(toValue(of), key, budget)
  if (typeof key !== 'string' && typeof key !== 'number') return undefined
  if (typeof key === 'number' && key < 0 && Array.isArray(of)) return of.at(key)
  if (Object.hasOwn(of, key)) {
    const value = (of as Scope)[key]
    return typeof value === 'function' ? undefined : value
  }
  switch (key) {
    case 'size':
      if (typeof of === 'string' || Array.isArray(of)) return of.length
      if (typeof of !== 'object') return undefined
      budget.spend(budget.measure(of))
      return Object.keys(of).length
    case 'first':
      return Array.isArray(of) ? of[0] : undefined
    case 'last':
      return Array.isArray(of) ? of.at(-1) : undefined
    default:
      return undefined
  }
}

export function readPath(of: unknown, path: readonly (string | number)[], budget: Budget): unknown {
  let value = of
  for (const key of path) value = readProperty(value, key, budget)
  return value
}

export function isEqual(left: unknown, right: unknown, budget: Budget): boolean {
  if (left instanceof Literal) return equalsLiteral(left, right)
  if (right instanceof Literal) return equalsLiteral(right, left)
  const a = toValue(left)
  const b = toValue(right)
  if (!Array.isArray(a)) return a === b
  if (!Array.isArray(b) || a.length !== b.length) return false
  budget.spend(2 * a.length)
  return a.every((element, i) => isEqual(element, b[i], budget))
}

function equalsLiteral(literal: Literal, other: unknown): boolean {
  const value = toValue(other)
  if (literal.word === 'nil') return value === null || value === undefined
  if (literal.word === 'blank') {
    if (value === false || value === null || value === undefined) return true
    if (typeof other === 'string') return other.trim() === ''
  }
  if (other instanceof Literal && other.word !== 'nil') return false
  if (typeof value === 'string' || Array.isArray(value)) return value.length === 0
  if (typeof value !== 'object' || value === null) return false
  for (const _ in value) return false
  return true
}

/** The items a loop iterates: a list's, one text, or an object's [name, value] pairs. */
export function toIterable(of: unknown, budget: Budget): readonly unknown[] {
  const value = toValue(of)
  if (Array.isArray(value)) return value
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value !== 'object' || value === null || value instanceof Loop) return []
  budget.spend(2 * budget.measure(value))
  return Object.entries(value)
}

export function toList(of: unknown): readonly unknown[] {
  const value = toValue(of)
  if (value === null || value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

const special = /[&<>"']/
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text as HTML, safe between tags and inside quoted attributes. */
export const escapeHtml = (text: string) =>
  special.test(text) ? text.replace(/[&<>"']/g, (character) => entities[character] ?? character) : text
