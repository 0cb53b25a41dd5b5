// The members of one thing of the source. What nobody took is listed at the end, so that nothing gets lost unseen.
import type { Report, SourceKind } from './report.ts'

export type Json = Record<string, unknown>

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isJson(value) && Object.keys(value).length === 0)

interface Place {
  report: Report
  kind: SourceKind
  id: string
  path?: string
}

export class Members {
  readonly kind: SourceKind
  readonly id: string
  readonly #value: Json
  readonly #report: Report
  readonly #path: string
  readonly #taken = new Set<string>()

  constructor(value: unknown, { report, kind, id, path = '' }: Place) {
    this.#value = isJson(value) ? value : {}
    this.#report = report
    this.kind = kind
    this.id = id
    this.#path = path
  }

  #at(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`
  }

  has(name: string): boolean {
    return !isEmpty(this.#value[name])
  }

  take(name: string): unknown {
    this.#taken.add(name)
    return this.#value[name]
  }

  /** Undefined unless it is text with something in it. Anything else but a number is listed. */
  text(name: string): string | undefined {
    const value = this.take(name)
    if (typeof value === 'string') return value === '' ? undefined : value
    if (typeof value === 'number') return String(value)
    this.unmapped(name, 'not_text', 'text was expected')
    return undefined
  }

  /** Anything but true and false is listed. */
  flag(name: string): boolean | undefined {
    const value = this.take(name)
    if (typeof value === 'boolean') return value
    this.unmapped(name, 'not_boolean', 'true or false was expected')
    return undefined
  }

  list(name: string): unknown[] {
    const value = this.take(name)
    if (Array.isArray(value)) return value
    this.unmapped(name, 'not_list', 'a list was expected')
    return []
  }

  /** The objects in a list; elements that are none are listed. */
  objects(name: string): Json[] {
    return this.list(name).flatMap((element, index) => {
      if (isJson(element)) return [element]
      if (!isEmpty(element)) this.lists(`${name}.${index}`, 'not_object', 'an object was expected')
      return []
    })
  }

  /** The members of each object in a list. */
  each(name: string): Members[] {
    return this.objects(name).map((value, index) => this.#below(value, `${name}.${index}`))
  }

  members(name: string): Members {
    const value = this.take(name)
    if (!isJson(value)) this.unmapped(name, 'not_object', 'an object was expected')
    return this.#below(value, name)
  }

  #below(value: unknown, name: string): Members {
    return new Members(value, { report: this.#report, kind: this.kind, id: this.id, path: this.#at(name) })
  }

  /** A place below these members, whether it is a member or not. */
  lists(place: string, code: string, why: string): void {
    this.#report.unmapped({ kind: this.kind, id: this.id, path: this.#at(place), code, why })
  }

  /** Members under another name, in the report with both. */
  changed(name: string, { to, as, why }: { to: unknown; as?: string; why: string }): void {
    this.#report.changed({
      ...{ kind: this.kind, id: this.id, path: as ?? this.#at(name), from: this.#value[name] ?? null, to, why },
    })
    this.#taken.add(name)
  }

  unmapped(name: string, code: string, why: string): void {
    this.#taken.add(name)
    if (this.has(name)) this.lists(name, code, why)
  }

  /** Internal ids, counters and the like: they are new here. */
  renewed(names: string[], why = 'it is new here'): void {
    for (const name of names) {
      if (this.has(name)) this.#report.renewed(this.kind, this.#at(name), why)
      this.#taken.add(name)
    }
  }

  /** Everything that was not taken, and is not empty. */
  end(why = 'there is nothing like it here'): void {
    for (const name of Object.keys(this.#value)) if (!this.#taken.has(name)) this.unmapped(name, 'no_equivalent', why)
  }

  /** The names that were not taken yet. */
  rest(): string[] {
    return Object.keys(this.#value).filter((name) => !this.#taken.has(name))
  }
}

/** Without members that are undefined, null or empty text. */
export const filled = (value: Json): Json =>
  Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined && member !== null && member !== ''),
  )
