// The items of an import and how far they are sent, in `.belfry/` beside the folder. Only the owner can read it; it goes away
// once everything is sent.
import { createHash, randomUUID } from 'node:crypto'
import { appendFileSync, createReadStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Failure } from '../failure.ts'
import { lock, unlock } from '../folder/lock.ts'
import { writeWhole } from '../folder/write.ts'
import type { Defined, Sink } from './intake.ts'
import type { Json } from './members.ts'
import type { DataKind, RecordKind, ReportJson } from './report.ts'

export interface Progress {
  importId: string
  /** How many items of each kind are committed. */
  offsets: Partial<Record<DataKind | RecordKind, number>>
  isDefined: boolean
  report: ReportJson
  definitions: Defined[]
  /** What the files of the source were like. */
  stamp: string
}

const linesAtOnce = 1_000

/** Long enough for two that come in the same instant. */
const waitMs = 500

export class Spool implements Sink {
  readonly #dir: string
  readonly #lines = new Map<string, string[]>()

  /** Of one import: a source, into one environment at one address. */
  constructor(dir: string, identity: string[]) {
    const key = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16)
    this.#dir = path.join(path.dirname(path.resolve(dir)), '.belfry', 'imports', key)
  }

  /** Refuses while another process imports the same. @returns what unlocks it */
  lock(): () => void {
    const place = `${this.#dir}.lock`
    mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 })
    const holder = lock(place, waitMs)
    if (holder)
      throw new Failure(
        'conflict',
        'import_running',
        `Another import of the same source is running (process ${holder.pid}). Wait until it has ended; if there is none, remove ${holder.file}`,
      )
    return () => unlock(place)
  }

  /** An import that was read whole and is not sent yet. */
  unfinished(): Progress | undefined {
    const file = this.#file('progress.json')
    if (!existsSync(file)) return undefined
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Progress
    } catch {
      return undefined
    }
  }

  /** Forgets what an earlier attempt has left. */
  begin(): void {
    this.clear()
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
  }

  add(kind: DataKind | RecordKind, item: Json): void {
    const lines = this.#lines.get(kind) ?? []
    this.#lines.set(kind, lines)
    if (lines.push(JSON.stringify(item)) >= linesAtOnce) this.#flush(kind)
  }

  #flush(kind: string): void {
    const lines = this.#lines.get(kind) ?? []
    if (lines.length > 0) appendFileSync(this.#file(`${kind}.jsonl`), `${lines.join('\n')}\n`, { mode: 0o600 })
    this.#lines.set(kind, [])
  }

  /** Everything is read: from here on an import can go on where it was. */
  complete(report: ReportJson, definitions: Defined[], stamp: string): Progress {
    for (const kind of this.#lines.keys()) this.#flush(kind)
    const progress: Progress = { importId: randomUUID(), offsets: {}, isDefined: false, report, definitions, stamp }
    this.save(progress)
    return progress
  }

  save(progress: Progress): void {
    writeWhole(this.#file('progress.json'), JSON.stringify(progress), 0o600)
  }

  async *items(kind: DataKind | RecordKind, offset: number): AsyncGenerator<Json> {
    const file = this.#file(`${kind}.jsonl`)
    if (!existsSync(file)) return
    let place = 0
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      place += 1
      if (place > offset && line !== '') yield JSON.parse(line) as Json
    }
  }

  /** The revisions of the definitions that earlier imports wrote: what they began as. */
  bases(): Record<string, string> {
    const file = this.#file('bases.json')
    if (!existsSync(file)) return {}
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
    } catch {
      return {}
    }
  }

  saveBases(bases: Record<string, string>): void {
    writeWhole(this.#file('bases.json'), `${JSON.stringify(bases, null, 2)}\n`, 0o600)
  }

  /** Items hold personal data; they are not kept longer than needed. */
  clear(): void {
    const bases = this.bases()
    rmSync(this.#dir, { recursive: true, force: true })
    if (Object.keys(bases).length > 0) this.saveBases(bases)
  }

  #file(name: string): string {
    return path.join(this.#dir, name)
  }
}
