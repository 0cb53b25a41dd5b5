// What was last read from where, in `.belfry/` beside the folder: the base of every change. Not for Git.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { writeWhole } from './write.ts'

type Bases = Record<string, string>

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

export class State {
  readonly #file: string
  readonly #place: string
  readonly #all: Record<string, Bases>

  /** Of one environment at one address. */
  constructor(dir: string, { url, environment }: { url: string; environment: string }) {
    this.#file = path.join(path.dirname(path.resolve(dir)), '.belfry', 'bases.json')
    this.#place = `${url} ${environment}`
    this.#all = readAll(this.#file)
  }

  baseOf(key: string): string | undefined {
    return this.#all[this.#place]?.[key]
  }

  /** Undefined forgets. */
  set(key: string, revision: string | undefined): void {
    const { [key]: _, ...others } = this.#all[this.#place] ?? {}
    this.#all[this.#place] = revision === undefined ? others : { ...others, [key]: revision }
  }

  keys(): string[] {
    return Object.keys(this.#all[this.#place] ?? {})
  }

  save(): void {
    const sorted = Object.fromEntries(Object.entries(this.#all[this.#place] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))
    writeWhole(this.#file, `${JSON.stringify({ ...this.#all, [this.#place]: sorted }, null, 2)}\n`)
  }
}

/** A damaged file is as good as none: without a base, nothing is overwritten. */
function readAll(file: string): Record<string, Bases> {
  if (!existsSync(file)) return {}
  try {
    const all: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isObject(all) ? (all as Record<string, Bases>) : {}
  } catch {
    return {}
  }
}
