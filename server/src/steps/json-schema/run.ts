// One check of one value against a JSON Schema: the problems found, and the work left.

const mostWork = 2_000_000
const mostProblems = 50
/** Nested schemas; far below where the call stack ends. */
const deepest = 500

export type JsonSchema = { readonly [keyword: string]: unknown }

/** Why a schema cannot be used, in a sentence for its author. */
export class SchemaError extends Error {}
/** Why a value cannot be checked with a schema that is valid in itself: together they take too long. */
export class SchemaCostError extends Error {}

/** One rule that a value breaks. Words and paths are the same as Ajv's. */
export interface Problem {
  /** Where in the value. */
  path: (string | number)[]
  keyword: string
  message: string
  /** What is there. */
  value: unknown
  /** Which rule, as in `#/properties/total/type`. */
  schemaPath: string
  /** The property that is missing or not allowed. */
  property?: string
}

/** The place of a check in the value, from the inside out; undefined is the value itself. */
export type Place = { key: string | number; outer: Place } | undefined

export type Check = (value: unknown, at: Place, run: Run) => void

export class Run {
  readonly problems: Problem[] = []
  /** All of them, including those not listed. */
  #failures = 0
  /** Above 0 inside `anyOf`, `not` and the like: a trial writes no defaults. */
  #trials = 0
  #work = mostWork
  #depth = 0

  readonly #isReadOnly: boolean

  constructor({ isReadOnly }: { isReadOnly: boolean }) {
    this.#isReadOnly = isReadOnly
  }

  get writesDefaults() {
    return !this.#isReadOnly && this.#trials === 0
  }

  spend(units: number): void {
    this.#work -= units
    if (!(this.#work >= 0)) throw new SchemaCostError('it takes too long to check')
  }

  enter(): void {
    this.spend(1)
    this.#depth += 1
    if (this.#depth > deepest) throw new SchemaCostError('it recurses without end')
  }

  leave(): void {
    this.#depth -= 1
  }

  report(at: Place, value: unknown, keyword: string, schemaPath: string, message: string, property?: string): void {
    this.#failures += 1
    if (this.problems.length >= mostProblems) return
    const path: (string | number)[] = []
    for (let place = at; place; place = place.outer) path.unshift(place.key)
    this.problems.push({ path, keyword, message, value, schemaPath, ...(property === undefined ? {} : { property }) })
  }

  /** Whether `check` finds no problem. Problems stay listed until `forget`. */
  passes(check: Check, value: unknown, at: Place): boolean {
    const before = this.#failures
    this.#trials += 1
    check(value, at, this)
    this.#trials -= 1
    return this.#failures === before
  }

  /** A state to go back to. */
  mark(): { failures: number; listed: number } {
    return { failures: this.#failures, listed: this.problems.length }
  }

  forget({ failures, listed }: { failures: number; listed: number }): void {
    this.#failures = failures
    this.problems.length = listed
  }
}

/** A path as in a URL after the `#`. */
export const fragmentOf = (path: readonly (string | number)[]) =>
  path.map((part) => `/${encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')
