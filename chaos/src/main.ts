// `npm run chaos [-- --minutes N --seed S]`: plays faults against the real service for N minutes, then accounts for every
// trigger. Exits with 1 if anything was lost, duplicated, wrong or stuck, or if a fault was never played; with 2 for bad
// arguments.
import { commandFor, readArguments } from './arguments.ts'
import { Chaos } from './chaos.ts'
import { makePlan } from './plan.ts'
import { planLines, reportLines, verdictOf } from './report.ts'

const asked = readArguments(process.argv.slice(2))
if ('complaint' in asked) {
  process.stderr.write(`${asked.complaint}\n`)
  process.exit(2)
}

const say = (line: string) => process.stdout.write(`${line}\n`)
const plan = makePlan({ ...asked, people: 25, pauseMs: 3_000 })
for (const line of planLines(plan)) say(line)

const chaos = new Chaos({ plan, roles: ['api', 'all', 'worker'], settleMs: 420_000, megabytes: 800, say })
let exitCode = 1
const stop = () => chaos.stop({ keep: exitCode !== 0 })
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().finally(() => process.exit(130)))
try {
  await chaos.start()
  say('Everything is up; here it comes.')
  await chaos.run()
  const outcome = await chaos.account()
  const verdict = verdictOf(outcome, commandFor(asked))
  for (const line of [...reportLines(plan, outcome), ...verdict.lines]) say(line)
  exitCode = verdict.exitCode
} finally {
  await stop()
}
process.exit(exitCode)
