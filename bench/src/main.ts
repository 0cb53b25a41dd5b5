// `npm run bench`: runs the benchmarks, prints one table and keeps the results. `--quick` takes smaller sizes.
import { benchAccepting } from './accepting.ts'
import { benchDeliveries } from './deliveries.ts'
import { benchEndToEnd } from './end-to-end.ts'
import { benchFanOut } from './fan-out.ts'
import { type Figure, isMet, printTable, writeResults } from './figures.ts'
import { benchIdle } from './idle.ts'
import { benchInbox } from './inbox.ts'
import { benchLatency } from './latency.ts'
import { benchLists } from './lists.ts'
import { benchRendering } from './rendering.ts'
import { benchStart } from './start.ts'

const suites = {
  start: benchStart,
  rendering: benchRendering,
  lists: benchLists,
  accepting: benchAccepting,
  'end-to-end': benchEndToEnd,
  'fan-out': benchFanOut,
  latency: benchLatency,
  deliveries: benchDeliveries,
  inbox: benchInbox,
  idle: benchIdle,
}

const args = process.argv.slice(2)
const quick = args.includes('--quick')
const wanted = args.filter((arg) => !arg.startsWith('--'))
const unknown = wanted.filter((name) => !(name in suites))
if (unknown.length > 0) {
  process.stderr.write(`There is no benchmark ${unknown.join(', ')}; choose from ${Object.keys(suites).join(', ')}.\n`)
  process.exit(2)
}

const all: Figure[] = []
for (const [name, run] of Object.entries(suites)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  process.stderr.write(`${name}\n`)
  const { figures, notes } = await run({ quick })
  all.push(...figures)
  if (!quick) writeResults(name, figures, notes)
}
printTable(all)
process.exit(all.every(isMet) ? 0 : 1)
