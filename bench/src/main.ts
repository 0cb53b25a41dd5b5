// `npm run bench`: runs the benchmarks, prints one table, stores the results and updates the documentation. Arguments select
// suites; `--quick` uses smaller sizes and keeps its results apart.
import path from 'node:path'
import { readCommand } from './harness/command-line.ts'
import { root, seen } from './harness/service.ts'
import { cellsOf, columns, type Figure, isMeasured, isMet, type Suite, tableOf } from './report/figures.ts'
import { writePages } from './report/page.ts'
import { currentCommit, describeMachine, readResults, writeResult } from './report/results.ts'
import { benchAccepting } from './suites/accepting.ts'
import { benchBacklog } from './suites/backlog.ts'
import { benchConsent } from './suites/consent.ts'
import { benchCost } from './suites/cost.ts'
import { benchDeliveries } from './suites/deliveries.ts'
import { benchEndToEnd } from './suites/end-to-end.ts'
import { benchFanOut } from './suites/fan-out.ts'
import { benchFiles } from './suites/files.ts'
import { benchGrowth } from './suites/growth.ts'
import { benchIdle } from './suites/idle.ts'
import { benchImporting } from './suites/importing.ts'
import { benchInbox } from './suites/inbox.ts'
import { benchJourneys } from './suites/journeys.ts'
import { benchLatency } from './suites/latency.ts'
import { benchLists } from './suites/lists.ts'
import { benchOutbox } from './suites/outbox.ts'
import { benchOverload } from './suites/overload.ts'
import { benchRendering } from './suites/rendering.ts'
import { benchScale } from './suites/scale.ts'
import { benchSimulating } from './suites/simulating.ts'
import { benchSmtp } from './suites/smtp.ts'
import { benchSoak } from './suites/soak.ts'
import { benchStart } from './suites/start.ts'
import { benchWorkers } from './suites/workers.ts'

const suites: Record<string, Suite> = {
  start: benchStart,
  rendering: benchRendering,
  accepting: benchAccepting,
  cost: benchCost,
  'end-to-end': benchEndToEnd,
  'fan-out': benchFanOut,
  latency: benchLatency,
  deliveries: benchDeliveries,
  smtp: benchSmtp,
  workers: benchWorkers,
  scale: benchScale,
  backlog: benchBacklog,
  growth: benchGrowth,
  inbox: benchInbox,
  lists: benchLists,
  overload: benchOverload,
  simulating: benchSimulating,
  files: benchFiles,
  journeys: benchJourneys,
  consent: benchConsent,
  importing: benchImporting,
  outbox: benchOutbox,
  idle: benchIdle,
  soak: benchSoak,
}
/** Runs only by name: it takes an hour. */
const onlyByName = new Set(['soak'])

const command = readCommand(process.argv.slice(2), Object.keys(suites))
if ('text' in command) {
  process[command.exitCode === 0 ? 'stdout' : 'stderr'].write(command.text)
  process.exit(command.exitCode)
}
const { options, names } = command

const results = path.join(root, 'bench/results')
const folder = options.quick ? path.join(results, 'quick') : results
const wanted = Object.entries(suites).filter(([name]) =>
  names.length > 0 ? names.includes(name) : !onlyByName.has(name),
)
// A rejection that its suite has not awaited yet: the suite reports it later, or continues without it.
process.on('unhandledRejection', (error) => process.stderr.write(`  in the background: ${String(error)}\n`))

const machine = describeMachine()
const commit = currentCommit(root)
const figures: Figure[] = []
const failed: string[] = []
const began = performance.now()
for (const [suite, run] of wanted) {
  process.stderr.write(`${suite}\n`)
  try {
    const outcome = await run(options)
    const measured = outcome.figures.filter(isMeasured)
    figures.push(...measured)
    writeResult(folder, {
      ...{ suite, date: new Date().toISOString(), ...(commit ? { commit } : {}), machine: { ...machine, ...seen } },
      ...{ ...outcome, figures: measured },
    })
  } catch (error) {
    // Continue with the other suites: most of an hour's work would be lost otherwise.
    failed.push(suite)
    process.stderr.write(`  failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  }
}

if (!options.quick) process.stderr.write(`written: ${writePages(root).join(', ')}\n`)

const last = options.quick || names.length > 0 ? [] : (readResults(results).get('soak')?.figures ?? [])
const lines = [...figures, ...last.map((figure) => ({ ...figure, name: `soak, when last run: ${figure.name}` }))]
process.stdout.write(`\n${tableOf([columns, ...lines.map(cellsOf)])}\n`)
const missed = figures.filter((figure) => isMet(figure) === false)
const promised = figures.filter((figure) => isMet(figure) !== undefined)
process.stdout.write(
  `\n${promised.length - missed.length} of ${promised.length} targets hold; ${((performance.now() - began) / 60_000).toFixed(1)} minutes\n`,
)
if (failed.length > 0) process.stdout.write(`Failed, and missing from the results: ${failed.join(', ')}\n`)
process.exit(missed.length + failed.length === 0 ? 0 : 1)
