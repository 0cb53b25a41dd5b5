// Triggers accepted per second by one process, each on disk before it is answered, compared with a bare Fastify route that
// only reads the request and answers it.
import { type Load, sendMany } from '../harness/load.ts'
import { type Reference, startReference } from '../harness/reference.ts'
import { secretKey, startService } from '../harness/service.ts'
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
  const references: Reference[] = []
  try {
    await makeWorkflow(service)
    for (const [name, args] of [
      ['bare-fastify', []],
      ['bare-http', []],
      ['without-work', [service.databaseUrl, secretKey]],
    ] as const)
      references.push(await startReference(name, [...args]))
    const loads = [service, ...references].map(({ url }): Load => ({ url, apiKey: service.apiKey, connections }))
    for (const load of loads) await sendMany(load, '/v1/events/trigger', warmUps, triggerOf)
    const rates = loads.map((): number[] => [])
    // In turns, so that other load on the machine affects all alike.
    for (let round = 0; round < rounds; round += 1)
      for (const [place, load] of loads.entries())
        rates[place]?.push((await sendMany(load, '/v1/events/trigger', count, triggerOf)).perSecond)
    const [ours = 0, fastify = 0, http = 0, withoutWork = 0] = rates.map(median)
    const accepted = { name: 'triggers accepted, each committed', unit: '/s', ours }
    return {
      figures: [
        { ...accepted, id: 'accepted', reference: fastify, against: 'a bare Fastify route', target: { atLeast: 0.65 } },
        { ...accepted, id: 'accepted-http', reference: http, against: 'a bare node:http server' },
        { ...accepted, id: 'accepted-edge', reference: withoutWork, against: 'our own route without work' },
        await whileDelivering(fastify, sizes),
      ],
      notes: { rounds, count, connections, value: 'median of the rounds, taken in turns' },
    }
  } finally {
    for (const reference of references) reference.stop()
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
      against: 'a bare Fastify route',
      target: { atLeast: 0.3 },
    }
  } finally {
    await service.stop()
  }
}
