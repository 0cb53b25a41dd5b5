// What was last read from where, in `.belfry/` beside the folder: the base of every change. Not for Git.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { exitCodes, failureOfPlace } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { withLock } from './lock.ts'
import { writeWhole } from './write.ts'

type Bases = Record<string, string>

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

export class State {
  readonly #file: string
  readonly #place: string
  readonly #bases: ReadonlyMap<string, string>
  /** What other processes wrote meanwhile stays. */
  readonly #changes = new Map<string, string | undefined>()

  /** Of one environment at one address. */
  constructor(dir: string, { url, environment }: { url: string; environment: string }) {
    this.#file = path.join(path.dirname(path.resolve(dir)), '.belfry', 'bases.json')
    this.#place = `${url} ${environment}`
    this.#bases = new Map(Object.entries(readAll(this.#file)[this.#place] ?? {}))
  }

  baseOf(key: string): string | undefined {
    return this.#bases.get(key)
  }

  /** Undefined forgets. */
  set(key: string, revision: string | undefined): void {
    if (revision === this.#bases.get(key)) this.#changes.delete(key)
    else this.#changes.set(key, revision)
  }

  /** What was done stays done, and is told, also where this cannot be kept. */
  saveOrWarn(terminal: Terminal): void {
    try {
      this.save()
    } catch (error) {
      const failure = failureOfPlace(error)
      if (!failure) throw error
      terminal.warn(
        `It is done, but not remembered here: ${failure.message}. Pull before the next push from this folder`,
      )
      process.exitCode = exitCodes.usage
    }
  }

  save(): void {
    withLock(`${this.#file}.lock`, () => {
      const all = readAll(this.#file)
      const bases = Object.entries({ ...all[this.#place], ...Object.fromEntries(this.#changes) })
      const sorted = Object.fromEntries(
        bases.filter(([, revision]) => revision !== undefined).sort(([a], [b]) => (a < b ? -1 : 1)),
      )
      writeWhole(this.#file, `${JSON.stringify({ ...all, [this.#place]: sorted }, null, 2)}\n`)
    })
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
