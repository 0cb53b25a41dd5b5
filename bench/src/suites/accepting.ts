// Triggers accepted per second by one process, each on disk before it is answered, compared with the same route without
// work.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../server/test/free-port.ts'
import { type Load, sendMany } from '../harness/load.ts'
import { flags, type Service, secretKey, startService, untilReady } from '../harness/service.ts'
import { makeWorkflow, triggerOf } from '../harness/triggers.ts'
import { type Figure, median, type Options, type Outcome } from '../report/figures.ts'

const connections = 256

interface Sizes {
  rounds: number
  count: number
  warmUps: number
}

export async function benchAccepting({ quick }: Options): Promise<Outcome> {
  const sizes: Sizes = quick ? { rounds: 1, count: 1_000, warmUps: 300 } : { rounds: 5, count: 15_000, warmUps: 2_000 }
  const { rounds, count, warmUps } = sizes
  const service = await startService({ BELFRY_ROLE: 'api' })
  let withoutWork: { url: string; stop(): void } | undefined
  try {
    withoutWork = await startWithoutWork(service)
    await makeWorkflow(service)
    const ours: Load = { url: service.url, apiKey: service.apiKey, connections }
    const theirs: Load = { ...ours, url: withoutWork.url }
    for (const load of [ours, theirs]) await sendMany(load, '/v1/events/trigger', warmUps, triggerOf)
    const rates: Array<{ ours: number; reference: number }> = []
    for (let round = 0; round < rounds; round += 1) {
      const answered = await sendMany(theirs, '/v1/events/trigger', count, triggerOf)
      const accepted = await sendMany(ours, '/v1/events/trigger', count, triggerOf)
      rates.push({ ours: accepted.perSecond, reference: answered.perSecond })
    }
    const reference = median(rates.map((rate) => rate.reference))
    const accepting: Figure = {
      id: 'accepted',
      name: 'triggers accepted, each committed',
      unit: '/s',
      ours: median(rates.map((rate) => rate.ours)),
      reference,
      against: 'the same route without work',
      target: { atLeast: 0.85 },
    }
    return {
      figures: [accepting, await whileDelivering(reference, sizes)],
      notes: { rounds, count, connections, value: 'median of the rounds, taken in turns' },
    }
  } finally {
    withoutWork?.stop()
    await service.stop()
  }
}

/** With the worker in the same process: the rate of a process that does everything. */
async function whileDelivering(reference: number, { rounds, count, warmUps }: Sizes): Promise<Figure> {
  const service = await startService()
  try {
    await makeWorkflow(service)
    const load: Load = { url: service.url, apiKey: service.apiKey, connections }
    await sendMany(load, '/v1/events/trigger', warmUps, triggerOf)
    const rates: number[] = []
    for (let round = 0; round < rounds; round += 1)
      rates.push((await sendMany(load, '/v1/events/trigger', count, triggerOf)).perSecond)
    return {
      id: 'accepted-delivering',
      name: 'the same while the process delivers them',
      unit: '/s',
      ours: median(rates),
      reference,
      against: 'the same route without work',
      target: { atLeast: 0.6 },
    }
  } finally {
    await service.stop()
  }
}

async function startWithoutWork({ databaseUrl }: Service): Promise<{ url: string; stop(): void }> {
  const port = await freePort()
  const program = fileURLToPath(new URL('../references/without-work.js', import.meta.url))
  const child = spawn(process.execPath, [...flags, program, databaseUrl, secretKey, String(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  await untilReady(`${url}/health/live`, child)
  return { url, stop: () => void child.kill('SIGTERM') }
}
