// A template's variables, filters and syntax errors, without rendering it. Saving a workflow uses this to warn its author, and
// to guess the schema of a payload that has none.
import {
  type FilteredValueToken,
  type ForTag,
  type Template,
  type Token,
  TypeGuards,
  toValueSync,
  Value,
} from 'liquidjs'
import { isFilter } from './filters.ts'
import { type Position, RenderError } from './limits.ts'
import { parseExpression, parseTemplate, positionOf, staticKey } from './syntax.ts'
import { translationKeys } from './translations.ts'

/** The steps of a path; null for a computed one. */
type Segments = (string | number | null)[]

/** Names in scope, such as `content` in a layout, and the list each is an item of. */
export type Names = ReadonlyMap<string, Segments | undefined>

export interface TemplateVariable {
  /** `payload.items[0].name`, in whatever form the template has it. */
  path: string
  segments: Segments
  /** As written. */
  text: string
  position: Position
}

export type FilterArgument =
  | { kind: 'text'; value: string }
  | { kind: 'number'; value: number }
  | { kind: 'word'; value: string }
  | { kind: 'variable'; value: string }

export interface TemplateFilter {
  name: string
  isKnown: boolean
  args: FilterArgument[]
  /** The variable whose value the filter gets, if it is the variable's first filter. */
  input: string | undefined
  position: Position
}

export interface TemplateProblem {
  message: string
  /** The faulty part, as written; empty if the template cannot be parsed. */
  text: string
  position: Position | undefined
  /** Nothing is wrong with what is written, but something is left out. */
  isMissing?: true
}

export interface Analysis {
  variables: TemplateVariable[]
  /** Paths through lists: the list's path, null for an item, and what is read of the item. */
  items: Segments[]
  filters: TemplateFilter[]
  /** Translation keys. */
  keys: string[]
  /** Paths that may be empty: a tag asks whether they are, or there is another text for that case. */
  optional: string[]
  /** What a block repeats: it has to be a list. */
  lists: Array<{ segments: Segments; text: string }>
  problems: TemplateProblem[]
}

export const emptyAnalysis = (): Analysis => ({
  variables: [],
  items: [],
  filters: [],
  keys: [],
  optional: [],
  lists: [],
  problems: [],
})

/** Filters that read a property of each list item, and the index of the argument that names it. */
const itemFilters: Readonly<Record<string, number>> = { toSentence: 0, digest: 1, map: 0 }

type Filtered = Value | FilteredValueToken
type FilterSyntax = Filtered['filters'][number]

class Analyser {
  readonly found = emptyAnalysis()
  readonly #locals = new Set<string>()
  readonly #source: string
  #lines: number[] | undefined

  constructor(source: string) {
    this.#source = source
  }

  /** LiquidJS counts lines from the start for every token, which adds up in a long template. */
  #positionOf(token: Token): Position {
    if (token.input !== this.#source) return positionOf(token)
    this.#lines ??= [0, ...[...this.#source.matchAll(/\n/g)].map(({ index }) => index + 1)]
    const line = this.#lines.findLastIndex((start) => start <= token.begin)
    return { line: line + 1, column: token.begin - (this.#lines[line] ?? 0) + 1 }
  }

  /** Names from assign and capture are valid in the whole template: in a loop, a later line can run before an earlier one. */
  collectLocals(templates: readonly Template[]) {
    for (const template of templates) {
      for (const name of template.localScope?.() ?? []) this.#locals.add(name.content)
      this.collectLocals(childrenOf(template))
    }
  }

  visit(templates: readonly Template[], names: Names) {
    for (const template of templates) {
      const { length } = this.found.variables
      for (const argument of template.arguments?.() ?? []) this.value(argument, names, template)
      if (askingTags.has((template.token as { name?: string }).name ?? ''))
        this.found.optional.push(...this.found.variables.slice(length).map(({ path }) => path))
      const inner = new Map(names)
      for (const name of template.blockScope?.() ?? []) inner.set(name, undefined)
      const { variable, collection } = template as Partial<ForTag>
      const list = this.#segmentsOf(collection, names)
      if (variable !== undefined && list) {
        this.found.items.push([...list, null])
        inner.set(variable, [...list, null])
      }
      this.visit(childrenOf(template), inner)
    }
  }

  value(value: Filtered | Token, names: Names, within: Template | undefined) {
    if (!(value instanceof Value) && !TypeGuards.isFilteredValueToken(value)) return this.token(value, names)
    const { postfix } = value.initial
    const operands = postfix.filter((token) => !TypeGuards.isOperatorToken(token))
    const operators = postfix.filter((token) => TypeGuards.isOperatorToken(token) && token.operator !== 'not')
    if (operands.length > operators.length + 1) {
      const text = operands.map((operand) => operand.getText()).join(' ')
      this.#spaced(text, operands[0])
    }
    for (const token of operands) this.token(token, names)
    const input = operands.length === 1 ? this.#pathText(operands[0]) : undefined
    for (const [i, filter] of value.filters.entries()) {
      this.filter(filter, names, i === 0 ? input : undefined, operands[0] ?? within?.token)
    }
    const [first] = value.filters
    const list = operands.length === 1 && first ? this.#segmentsOf(operands[0], names) : undefined
    const key = first?.args[itemFilters[first.name] ?? -1]
    if (list && first && Object.hasOwn(itemFilters, first.name))
      this.found.items.push([...list, null, ...(TypeGuards.isQuotedToken(key) ? keysOf(key.content) : [])])
    return undefined
  }

  token(token: Token | undefined, names: Names) {
    if (TypeGuards.isRangeToken(token)) {
      this.token(token.lhs, names)
      this.token(token.rhs, names)
    } else if (TypeGuards.isPropertyAccessToken(token)) {
      for (const prop of token.props) this.token(TypeGuards.isPropertyAccessToken(prop) ? prop : undefined, names)
      if (token.variable !== undefined) return
      const segments = token.props.map((prop) => staticKey(prop) ?? null)
      const text = token.getText().trim()
      if (/\s/.test(text.replace(/\[[^\]]*\]/g, ''))) this.#spaced(text, token)
      else if (!this.#isLocal(segments[0], names)) {
        this.found.variables.push({ path: pathText(segments), segments, text, position: this.#positionOf(token) })
      } else if (segments.length > 1) {
        const ofItem = this.#segmentsOf(token, names)
        if (ofItem) this.found.items.push(ofItem)
      }
    }
  }

  filter(filter: FilterSyntax, names: Names, input: string | undefined, near: Token | undefined) {
    const token = TypeGuards.isFilteredValueToken(near) ? near : (filter as { token?: Token }).token
    const position = token === undefined ? { line: 1, column: 1 } : this.#positionOf(token)
    const values = filter.args.map((argument) => (Array.isArray(argument) ? argument[1] : argument))
    const args = values.map(describe).filter((argument) => argument !== undefined)
    this.found.filters.push({ name: filter.name, isKnown: isFilter(filter.name), args, input, position })
    if (filter.name === 'default' && input !== undefined) this.found.optional.push(input)
    for (const value of values) this.token(value, names)
    const [item, expression] = values
    if (filter.name.endsWith('_exp') && TypeGuards.isQuotedToken(expression)) {
      const inner = new Map(names)
      if (TypeGuards.isQuotedToken(item)) inner.set(item.content, undefined)
      this.attempt(() => this.value(parseExpression(expression.content), inner, undefined))
    }
  }

  attempt(work: () => void) {
    try {
      work()
    } catch (error) {
      if (!(error instanceof RenderError)) throw error
      this.found.problems.push({ message: error.message, text: '', position: error.position })
    }
  }

  #spaced(text: string, token: Token | undefined) {
    const message = `Variable "${text}" contains whitespace`
    this.found.problems.push({ message, text, position: token && this.#positionOf(token) })
  }

  #isLocal(root: string | number | null | undefined, names: Names) {
    return typeof root === 'string' && (names.has(root) || this.#locals.has(root))
  }

  /** The full path from a namespace, with loop variables resolved to their list; undefined if unknown. */
  #segmentsOf(token: Token | undefined, names: Names): Segments | undefined {
    if (!TypeGuards.isPropertyAccessToken(token) || token.variable !== undefined) return undefined
    const segments = token.props.map((prop) => staticKey(prop) ?? null)
    const [root, ...rest] = segments
    if (!this.#isLocal(root, names)) return segments
    const item = names.get(String(root))
    return item && [...item, ...rest].slice(0, longestPath)
  }

  #pathText(token: Token | undefined) {
    if (!TypeGuards.isPropertyAccessToken(token)) return undefined
    return pathText(token.props.map((prop) => staticKey(prop) ?? null))
  }
}

/** Tags that ask whether there is a value. */
const askingTags: ReadonlySet<string> = new Set(['if', 'unless', 'case'])

/** Nested loops can make paths absurdly long. */
const longestPath = 30
const keysOf = (path: string) => path.split('.').filter((key) => key !== '')

const childrenOf = (template: Template) =>
  template.children === undefined ? [] : toValueSync(template.children(false, true))

function describe(token: Token | undefined): FilterArgument | undefined {
  if (token === undefined) return undefined
  if (TypeGuards.isQuotedToken(token)) return { kind: 'text', value: token.content }
  if (TypeGuards.isNumberToken(token)) return { kind: 'number', value: token.content }
  if (TypeGuards.isLiteralToken(token)) return { kind: 'word', value: token.literal }
  return { kind: 'variable', value: token.getText().trim() }
}

export const pathText = (segments: readonly (string | number | null)[]) =>
  segments
    .map((segment, i) => {
      if (segment === null) return '[]'
      if (typeof segment === 'number') return `[${segment}]`
      if (!/^[\p{L}\p{N}_-]+$/u.test(segment)) return `['${segment}']`
      return i === 0 ? segment : `.${segment}`
    })
    .join('')

const noNames: Names = new Map()

export function analyseTemplate(source: string, names = noNames): Analysis {
  const analyser = new Analyser(source)
  analyser.attempt(() => {
    const templates = parseTemplate(source)
    analyser.collectLocals(templates)
    analyser.visit(templates, names)
    analyser.found.keys.push(...translationKeys(source))
  })
  return analyser.found
}

/** Like `analyseTemplate`, for an expression without braces. */
export function analyseExpression(source: string, names = noNames): Analysis {
  const analyser = new Analyser(source)
  analyser.attempt(() => analyser.value(parseExpression(source), names, undefined))
  return analyser.found
}
