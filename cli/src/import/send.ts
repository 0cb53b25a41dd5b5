// Sends what was read: definitions, then data in pages. After each commit the place is kept, so that an import can go on.

import { Failure } from '../failure.ts'
import { endsGently } from '../interrupts.ts'
import type { Service } from '../service.ts'
import type { Terminal } from '../terminal.ts'
import { Bar } from './bar.ts'
import { pushDefinitions } from './define.ts'
import type { Json } from './members.ts'
import { type DataKind, dataKinds, type RecordKind, Report, recordKinds } from './report.ts'
import type { Progress, Spool } from './spool.ts'

const mostItems = 500
/** A request may have 10 MB. */
const mostBytes = 8 * 1024 * 1024
const mostRecords = 50

interface Imported {
  imported: number
  unchanged: number
  failed: Array<{ index: number; code: string; message: string }>
}

interface Sending {
  service: Service
  env: NodeJS.ProcessEnv
  terminal: Terminal
  spool: Spool
  progress: Progress
}

/** @returns the report, with what became of everything */
export async function send(sending: Sending): Promise<Report> {
  const { service, env, spool, progress, terminal } = sending
  const report = Report.from(progress.report)
  let isStopped = false
  const gentle = endsGently(() => {
    isStopped = true
    terminal.warn('\nStopping after the request under way…')
  })
  /** After every commit. */
  const keep = () => {
    progress.report = report.toJson()
    spool.save(progress)
    if (isStopped)
      throw new Failure(
        'interrupted',
        'interrupted',
        'Stopped. The same command goes on where it was; --restart does not',
      )
  }
  try {
    if (!progress.isDefined) {
      const bases = await pushDefinitions({ service, env, report, bases: spool.bases() }, progress.definitions)
      spool.saveBases(bases)
      progress.isDefined = true
      keep()
    }
    for (const kind of recordKinds) await sendRecords(sending, report, kind, keep)
    for (const kind of dataKinds) await sendData(sending, report, kind, keep)
  } finally {
    gentle.done()
  }
  spool.clear()
  return report
}

async function sendData(
  { service, terminal, spool, progress }: Sending,
  report: Report,
  kind: DataKind,
  keep: () => void,
) {
  const counts = report.countsOf(kind)
  if (counts.found === 0) {
    report.kinds.delete(kind)
    return
  }
  const found = Object.fromEntries(
    dataKinds.flatMap((name) => (report.kinds.get(name)?.found ? [[name, report.kinds.get(name)?.found]] : [])),
  )
  const bar = new Bar(terminal, kind, { done: progress.offsets[kind] ?? 0, total: counts.found })
  for await (const page of pagesOf(spool.items(kind, progress.offsets[kind] ?? 0))) {
    const offset = progress.offsets[kind] ?? 0
    const answer = await service.post<Imported>(`/v2/import/${kind}`, {
      items: page,
      progress: { importId: progress.importId, source: report.source, found, offset },
    })
    counts.imported += answer.imported
    counts.unchanged += answer.unchanged
    counts.failed += answer.failed.length
    for (const { index, code, message } of answer.failed)
      report.unmapped({ kind, id: idOf(page[index]), path: '', code, why: message })
    progress.offsets[kind] = offset + page.length
    bar.reach(offset + page.length)
    keep()
  }
  bar.end()
}

const idOf = (item: Json | undefined): string => String(item?.subscriberId ?? item?.id ?? item?.topicKey ?? '')

async function* pagesOf(items: AsyncIterable<Json>): AsyncGenerator<Json[]> {
  let page: Json[] = []
  let bytes = 0
  for await (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item))
    if (page.length === mostItems || (page.length > 0 && bytes + size > mostBytes)) {
      yield page
      page = []
      bytes = 0
    }
    page.push(item)
    bytes += size
  }
  if (page.length > 0) yield page
}

/** Each with its own request; those that are there stay. */
async function sendRecords(
  { service, terminal, spool, progress }: Sending,
  report: Report,
  kind: RecordKind,
  keep: () => void,
): Promise<void> {
  const counts = report.countsOf(kind)
  if (counts.found === 0) {
    report.kinds.delete(kind)
    return
  }
  const bar = new Bar(terminal, kind, { done: progress.offsets[kind] ?? 0, total: counts.found })
  let since = 0
  for await (const item of spool.items(kind, progress.offsets[kind] ?? 0)) {
    try {
      await service.post(kind === 'tenants' ? '/v1/tenants' : '/v2/contexts', item)
      counts.imported += 1
    } catch (error) {
      if (!(error instanceof Failure) || error.code === 'unreachable') throw error
      if (/exists|conflict/.test(error.code)) counts.unchanged += 1
      else {
        counts.failed += 1
        report.unmapped({
          kind,
          id: String(item.identifier ?? item.id),
          path: '',
          code: error.code,
          why: error.message,
        })
      }
    }
    progress.offsets[kind] = (progress.offsets[kind] ?? 0) + 1
    bar.reach(progress.offsets[kind] ?? 0)
    since += 1
    if (since % mostRecords === 0) keep()
  }
  keep()
  bar.end()
}
