// What an import found, changed and could not map. Nothing of the source is left out silently: it is mapped, or stands here.
import type { Kind } from '../folder/layout.ts'

/** In the order in which they are sent: each needs those before it. */
export const dataKinds = ['subscribers', 'preferences', 'credentials', 'topic-subscriptions', 'messages'] as const
export type DataKind = (typeof dataKinds)[number]
/** Written one by one by the usual requests. */
export const recordKinds = ['tenants', 'contexts'] as const
export type RecordKind = (typeof recordKinds)[number]
export type SourceKind = Kind | DataKind | RecordKind | 'automation' | 'file'

export interface Counts {
  found: number
  imported: number
  unchanged: number
  failed: number
}

export interface Changed {
  kind: string
  id: string
  path: string
  from: unknown
  to: unknown
  why: string
  /** How many had the same, `id` being the first. */
  count?: number
}

export interface Unmapped {
  kind: string
  id: string
  path: string
  code: string
  why: string
  /** Of data: how many had the same, `id` being the first. */
  count?: number
  /** Of several, as many as are kept. */
  ids?: string[]
}

export interface ReportJson {
  source: string
  kinds: Record<string, Counts>
  changed: Changed[]
  unmapped: Unmapped[]
}

/** The ids that an entry keeps, where the thing was not taken, and where only the part of it at `path` was not. */
const mostIds = 10_000
const mostExamples = 100
/** How many sentences of the same code are told apart. The service's may name what is wrong, a different one for each. */
const mostReasons = 100
const otherReasons = 'for reasons like those above'

const isMany = (kind: string) => [...dataKinds, ...recordKinds].some((name) => name === kind)

/** Listed by name, but nothing that the importer could have mapped. */
const harmless: ReadonlySet<string> = new Set(['secret'])

/** @param hasFiles whether the definitions were written as files */
export const dryRunWords = (hasFiles: boolean): string =>
  hasFiles
    ? 'Only files were written, nothing was sent. Push them, or say --apply'
    : 'A dry run: nothing was written. Say --apply to do it'

function addTo(known: Unmapped, { id, ids = [id], count = 1 }: Unmapped): void {
  known.count = (known.count ?? 1) + count
  known.ids ??= [known.id]
  const most = known.path === '' ? mostIds : mostExamples
  known.ids.push(...ids.slice(0, most - known.ids.length))
}

export class Report {
  readonly source: string
  readonly kinds = new Map<string, Counts>()
  readonly #changed = new Map<string, Changed>()
  readonly #unmapped = new Map<string, Unmapped>()
  readonly #reasons = new Map<string, number>()

  constructor(source: string) {
    this.source = source
  }

  static from({ source, kinds, changed, unmapped }: ReportJson): Report {
    const report = new Report(source)
    for (const [kind, counts] of Object.entries(kinds)) report.kinds.set(kind, { ...counts })
    for (const each of changed) report.changed(each)
    for (const each of unmapped) report.unmapped(each)
    return report
  }

  countsOf(kind: string): Counts {
    const counts = this.kinds.get(kind) ?? { found: 0, imported: 0, unchanged: 0, failed: 0 }
    this.kinds.set(kind, counts)
    return counts
  }

  found(kind: string, count = 1): void {
    this.countsOf(kind).found += count
  }

  /** Of data, what many have in common is one entry with a count. */
  changed(change: Changed): void {
    const { kind, id, path, why } = change
    const key = JSON.stringify(isMany(kind) || id === '*' ? [kind, path, why] : [kind, id, path, why, change.from])
    const known = this.#changed.get(key)
    if (known && isMany(kind)) known.count = (known.count ?? 1) + (change.count ?? 1)
    else if (!known) this.#changed.set(key, { ...change })
  }

  /** Of data, what many have in common is one entry with a count and their ids. */
  unmapped(entry: Unmapped): void {
    const { kind, id, path, code, why } = entry
    const key = JSON.stringify(isMany(kind) ? [kind, path, code, why] : [kind, id, path, code, why])
    const known = this.#unmapped.get(key)
    if (!isMany(kind)) {
      if (!known) this.#unmapped.set(key, { ...entry })
    } else if (known) addTo(known, entry)
    else if (this.#isOneMore([kind, path, code]) || why === otherReasons)
      this.#unmapped.set(key, { ...entry, ...(entry.ids ? { ids: [...entry.ids] } : {}) })
    else this.unmapped({ ...entry, why: otherReasons })
  }

  /** Whether there may be another sentence of this code. */
  #isOneMore(of: string[]): boolean {
    const key = JSON.stringify(of)
    const count = (this.#reasons.get(key) ?? 0) + 1
    this.#reasons.set(key, count)
    return count <= mostReasons
  }

  /** Internal ids and the like, which are new here whatever they were. */
  renewed(kind: string, path: string, why: string): void {
    this.changed({ kind, id: '*', path, from: null, to: null, why })
  }

  get isComplete(): boolean {
    return [...this.#unmapped.values()].every(({ code }) => harmless.has(code))
  }

  toJson(): ReportJson {
    return {
      source: this.source,
      kinds: Object.fromEntries(this.kinds),
      changed: [...this.#changed.values()],
      unmapped: [...this.#unmapped.values()],
    }
  }

  toMarkdown({ isApplied, hasFiles }: { isApplied: boolean; hasFiles: boolean }): string {
    const { kinds, changed, unmapped } = this.toJson()
    const cell = (value: unknown) =>
      (typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value))
        .replaceAll('|', '\\|')
        .replaceAll(/\s*\n\s*/g, ' ')
        .slice(0, 200)
    const table = (heads: string[], rows: unknown[][]) => [
      `| ${heads.join(' | ')} |`,
      `|${heads.map(() => '---').join('|')}|`,
      ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
    ]
    const idsOf = ({ kind, path, code, why, ids = [], count = 1 }: Unmapped) => {
      const more = count > ids.length ? ` and ${count - ids.length} more` : ''
      const at = [kind, path, code, why].filter((each) => each !== '').map(cell)
      return ids.length === 0 ? [] : ['', `${at.join(', ')}: ${ids.map(cell).join(', ')}${more}`]
    }
    const times = (id: string, count: number | undefined) => (count ? `${id} and ${count - 1} more` : id)
    return [
      `# Import from ${this.source}`,
      '',
      isApplied
        ? 'This is what was done.'
        : `${dryRunWords(hasFiles)}. What the service would refuse, such as a bad email address, shows only then.`,
      '',
      '## Found',
      '',
      ...table(
        ['kind', 'found', ...(isApplied ? ['imported', 'unchanged', 'failed'] : [])],
        Object.entries(kinds).map(([kind, counts]) => [
          ...[kind, counts.found],
          ...(isApplied ? [counts.imported, counts.unchanged, counts.failed] : []),
        ]),
      ),
      '',
      '## Not mapped',
      '',
      ...(unmapped.length === 0
        ? ['Everything was mapped.']
        : table(
            ['kind', 'id', 'path', 'code', 'why'],
            unmapped.map(({ kind, id, path, code, why, count }) => [kind, times(id, count), path, code, why]),
          )),
      ...unmapped.flatMap(idsOf),
      '',
      '## Changed',
      '',
      ...(changed.length === 0
        ? ['Nothing was changed on the way.']
        : table(
            ['kind', 'id', 'path', 'from', 'to', 'why'],
            changed.map(({ kind, id, path, from, to, why, count }) => [kind, times(id, count), path, from, to, why]),
          )),
      '',
    ].join('\n')
  }
}
