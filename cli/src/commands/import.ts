// `import`: brings everything along from another service. A dry run first; `--apply` does it.
import { existsSync, statSync } from 'node:fs'
import type { Context } from '../context.ts'
import { exitCodes, Failure, failureOfPlace } from '../failure.ts'
import { writeOutput } from '../folder/write.ts'
import { writeDefinitions } from '../import/define.ts'
import { Intake, noSink } from '../import/intake.ts'
import { dryRunWords, Report } from '../import/report.ts'
import { send } from '../import/send.ts'
import { stampOf } from '../import/source-file.ts'
import { Spool } from '../import/spool.ts'
import { readEnvironment } from '../remote.ts'
import type { Service } from '../service.ts'
import type { Terminal } from '../terminal.ts'
import { counted } from '../words.ts'

export interface ImportOptions {
  apply?: boolean
  report?: string
  strict?: boolean
  restart?: boolean
  /** Whether `--dir` was said: then definitions become files there. */
  hasDir?: boolean
}

/** Reads a source, and puts what it finds into the intake. */
export interface ImportSource {
  /** In the report and the history. */
  name: string
  /** What makes two imports the same one, beside the target: an address, files. */
  identity: string[]
  /** Files and folders that are read: if they changed, an import that was interrupted does not go on with what it had read. */
  files?: string[]
  /** @param mode a dry run writes nothing, not even beside the source */
  read(intake: Intake, terminal: Terminal, mode: { isDry: boolean }): Promise<void>
}

export async function importFrom(context: Context, source: ImportSource, options: ImportOptions): Promise<void> {
  const { terminal } = context
  const { apply = false } = options
  if (options.report !== undefined) refuseFolder(options.report)
  const report = apply ? await applied(context, source, options) : await tried(context, source, options)
  const hasFiles = options.hasDir === true
  const hasReport = options.report !== undefined && writeReport(terminal, options.report, report, apply, hasFiles)
  terminal.result(report.toJson(), () => inWords(terminal, report, { isApplied: apply, hasReport, hasFiles }))
  if (options.strict && !report.isComplete) process.exitCode = exitCodes.different
}

/** Before anything is read or sent. */
function refuseFolder(file: string): void {
  if (existsSync(file) && statSync(file).isDirectory())
    throw new Failure('usage', 'bad_report', `${file} is a folder; --report takes a file`)
}

/** What was imported is told even where the file cannot be written. @returns whether it was */
function writeReport(terminal: Terminal, file: string, report: Report, isApplied: boolean, hasFiles: boolean): boolean {
  try {
    writeOutput(file, report.toMarkdown({ isApplied, hasFiles }))
    terminal.say(`report: ${file}`)
    return true
  } catch (error) {
    const failure = failureOfPlace(error)
    if (!failure) throw error
    terminal.warn(`The report could not be written: ${failure.message}`)
    process.exitCode = exitCodes.usage
    return false
  }
}

async function tried({ dir, terminal }: Context, source: ImportSource, { hasDir }: ImportOptions): Promise<Report> {
  const report = new Report(source.name)
  const intake = new Intake(report, noSink)
  await source.read(intake, terminal, { isDry: !hasDir })
  filesOf(dir, intake.definitions(), report, terminal, hasDir)
  return report
}

async function applied(context: Context, source: ImportSource, options: ImportOptions): Promise<Report> {
  const service = context.service()
  const environment = await readEnvironment(service)
  const spool = new Spool(context.dir, [source.name, ...source.identity, environment.identifier])
  const unlock = spool.lock()
  try {
    return await sentFrom(context, source, options, { service, spool })
  } finally {
    unlock()
  }
}

/** Goes on with what was read, or reads the source anew. */
async function sentFrom(
  { dir, terminal, env }: Context,
  source: ImportSource,
  options: ImportOptions,
  { service, spool }: { service: Service; spool: Spool },
): Promise<Report> {
  const unfinished = options.restart ? undefined : spool.unfinished()
  if (unfinished?.stamp === stampOf(source.files ?? [])) {
    terminal.say('Going on where the last import was; --restart begins anew')
    return send({ service, env, terminal, spool, progress: unfinished })
  }
  if (unfinished) terminal.say('The source changed since the last import, which did not end: beginning anew')
  spool.begin()
  const report = new Report(source.name)
  const intake = new Intake(report, spool)
  try {
    await source.read(intake, terminal, { isDry: false })
  } catch (error) {
    // It holds personal data.
    spool.clear()
    throw error
  }
  const definitions = intake.definitions()
  filesOf(dir, definitions, report, terminal, options.hasDir)
  // Only now: answers about channels are kept beside the source.
  const stamp = stampOf(source.files ?? [])
  return send({ service, env, terminal, spool, progress: spool.complete(report.toJson(), definitions, stamp) })
}

function filesOf(
  dir: string,
  definitions: ReturnType<Intake['definitions']>,
  report: Report,
  terminal: Terminal,
  hasDir = false,
): void {
  if (!hasDir) return
  const written = writeDefinitions(dir, definitions, report)
  terminal.say(`${counted(written.length, 'file')} written in ${dir}; look at them, then "belfry push"`)
}

function inWords(
  terminal: Terminal,
  report: Report,
  { isApplied, hasReport, hasFiles }: { isApplied: boolean; hasReport: boolean; hasFiles: boolean },
) {
  const { kinds, changed, unmapped } = report.toJson()
  const most = 20
  const lines = unmapped.slice(0, most).map(({ kind, id, path, why, count }) => {
    const more = count ? ` (and ${count - 1} more)` : ''
    return `${terminal.paint('yellow', 'not mapped')} ${kind} ${id}${more}${path === '' ? '' : ` ${path}`}: ${why}`
  })
  return [
    ...Object.entries(kinds).map(([kind, { found, imported, unchanged, failed }]) =>
      isApplied ? `${kind}: ${imported} imported, ${unchanged} unchanged, ${failed} failed` : `${kind}: ${found}`,
    ),
    ...lines,
    ...(unmapped.length > most ? [`… ${unmapped.length - most} more`] : []),
    `${changed.length} changed on the way, ${unmapped.length} not mapped${hasReport ? '' : '; --report out.md lists them all'}`,
    ...(isApplied ? [] : [dryRunWords(hasFiles)]),
  ].join('\n')
}
