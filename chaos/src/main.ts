// `npm run chaos [-- --minutes N --seed S]`: plays faults to the real service for N minutes, then accounts for everything it
// was given. Ends with 1 when anything was lost, doubled, wrong or stuck.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { Chaos } from './chaos.ts'
import { faultKinds, makePlan } from './plan.ts'
import { planLines, reportLines } from './report.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: randomBytes(4).toString('hex') },
    rate: { type: 'string', default: '1.5' },
    only: { type: 'string' },
  },
})
const [minutes, perSecond] = [Number(values.minutes), Number(values.rate)]
if (!(minutes > 0 && perSecond > 0)) {
  process.stderr.write('--minutes and --rate must be numbers above 0.\n')
  process.exit(2)
}

const kinds = faultKinds.filter((kind) => values.only === undefined || values.only.split(',').includes(kind))
if (kinds.length === 0) {
  process.stderr.write(`--only takes, separated by commas: ${faultKinds.join(', ')}.\n`)
  process.exit(2)
}

const say = (line: string) => process.stdout.write(`${line}\n`)
const plan = makePlan({ seed: values.seed, minutes, perSecond, people: 25, pauseMs: 3_000, kinds })
for (const line of planLines(plan)) say(line)

const chaos = new Chaos({ plan, roles: ['api', 'all', 'worker'], settleMs: 420_000, megabytes: 800, say })
let hasFailed = true
const stop = () => chaos.stop({ keep: hasFailed })
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().finally(() => process.exit(130)))
try {
  await chaos.start()
  say('Everything is up; here it comes.')
  await chaos.run()
  const outcome = await chaos.account()
  for (const line of reportLines(plan, outcome)) say(line)
  hasFailed = outcome.account.findings.length > 0
  if (hasFailed) say(`Repeat it with: npm run chaos -- --minutes ${minutes} --rate ${perSecond} --seed ${values.seed}`)
} finally {
  await stop()
}
process.exit(hasFailed ? 1 : 0)
