// What a trigger costs in processor time, of Node and of PostgreSQL. Unlike rates these hold on a busy machine.
import { sendMany } from '../harness/load.ts'
import { cpuMs, cpuMsOfAll, cpuOf, postmasterOf } from '../harness/processes.ts'
import { type Reference, startReference } from '../harness/reference.ts'
import { type Service, secretKey, startService } from '../harness/service.ts'
import { bulkOf, makeWorkflow, newestMessage, perRequest, triggerOf, untilMessages } from '../harness/triggers.ts'
import { plainInserts } from '../references/storage-floor.ts'
import type { Figure, Options, Outcome } from '../report/figures.ts'

const connections = 64

interface Sizes {
  rounds: number
  count: number
  warmUps: number
}

export async function benchCost({ quick }: Options): Promise<Outcome> {
  const sizes: Sizes = quick ? { rounds: 2, count: 1_000, warmUps: 1_000 } : { rounds: 8, count: 5_000, warmUps: 8_000 }
  const service = await startService()
  const references: Record<string, Reference> = {}
  try {
    references.ours = await startReference('without-work', [service.databaseUrl, secretKey])
    references.fastify = await startReference('bare-fastify')
    references.http = await startReference('bare-http')
    await makeWorkflow(service)
    const edge = await costOfEdge(service, references, sizes)
    const whole = await costOfTrigger(service, references.fastify, sizes)
    return {
      figures: [...edge, ...whole],
      notes: { ...sizes, connections, value: 'the least of the rounds, taken in turns' },
    }
  } finally {
    for (const reference of Object.values(references)) reference.stop()
    await service.stop()
  }
}

/** The HTTP side alone, beside the least that an HTTP server does with the same request. */
async function costOfEdge(
  { apiKey }: Service,
  references: Record<string, Reference>,
  { rounds, count, warmUps }: Sizes,
): Promise<Figure[]> {
  const least: Record<string, number> = {}
  for (const { url } of Object.values(references)) await sendTo(url, apiKey)(warmUps)
  for (let round = 0; round < rounds; round += 1)
    for (const [name, reference] of Object.entries(references))
      least[name] = Math.min(least[name] ?? Number.POSITIVE_INFINITY, await costOf(reference, apiKey, count))
  const { ours = Number.NaN, fastify, http } = least
  const name = 'Node for the HTTP side of a trigger, with an engine that does nothing'
  const beside = { reference: fastify, against: 'a bare Fastify route' }
  return [
    figure({ id: 'edge', name, ours, ...beside, target: { atMost: 1.25 } }),
    figure({ id: 'edge-http', name, ours, reference: http, against: 'a bare node:http server' }),
  ]
}

const sendTo = (url: string, apiKey: string) => (number: number) =>
  sendMany({ url, apiKey, connections }, '/v1/events/trigger', number, triggerOf)

/** In µs of Node for a request. */
async function costOf({ url, pid }: Reference, apiKey: string, count: number): Promise<number> {
  const { node } = await cpuOf({ node: () => cpuMs(pid) }, () => sendTo(url, apiKey)(count))
  return (node * 1000) / count
}

/** From the request to the readable message: Node beside a bare Fastify route, PostgreSQL beside plain inserts of the same rows. */
async function costOfTrigger(service: Service, route: Reference, { rounds, count, warmUps }: Sizes): Promise<Figure[]> {
  const postmaster = await postmasterOf(service)
  const measured = { node: () => cpuMs(service.pid), postgres: () => cpuMsOfAll(postmaster) }
  const load = { url: service.url, apiKey: service.apiKey, connections }
  const delivered = (send: (number: number) => Promise<unknown>) => async (number: number) => {
    const after = await newestMessage(service)
    await send(number)
    await untilMessages(service, number, { after })
  }
  const ways: Record<string, (number: number) => Promise<unknown>> = {
    singly: delivered(sendTo(service.url, service.apiKey)),
    bulk: delivered((number) =>
      sendMany({ ...load, connections: 8 }, '/v1/events/trigger/bulk', number / perRequest, bulkOf),
    ),
    floor: (number) => plainInserts(service, number),
  }
  const least: Record<string, { node: number; postgres: number; wal: number }> = {}
  let fastify = Number.POSITIVE_INFINITY
  for (const way of Object.values(ways)) await way(warmUps)
  for (let round = 0; round < rounds; round += 1) {
    fastify = Math.min(fastify, await costOf(route, service.apiKey, count))
    for (const [name, way] of Object.entries(ways)) {
      const from = await walPosition(service)
      const spent = await cpuOf(measured, () => way(count))
      const wal = ((await walPosition(service)) - from) / count
      const before = least[name]
      least[name] = {
        node: Math.min(before?.node ?? Number.POSITIVE_INFINITY, (spent.node * 1000) / count),
        postgres: Math.min(before?.postgres ?? Number.POSITIVE_INFINITY, (spent.postgres * 1000) / count),
        wal: Math.min(before?.wal ?? Number.POSITIVE_INFINITY, wal),
      }
    }
  }
  const { singly, bulk, floor } = least
  if (!singly || !bulk || !floor) return []
  const bare = { reference: fastify, against: 'a bare Fastify route' }
  const inserts = { reference: floor.postgres, against: 'plain inserts of the same rows, 100 a commit' }
  return [
    figure({
      ...{ id: 'node', name: 'Node for a trigger, until its in-app message can be read', ours: singly.node, ...bare },
      target: { atMost: 3.5 },
    }),
    figure({ id: 'postgres', name: 'PostgreSQL for the same', ours: singly.postgres, ...inserts }),
    figure({ id: 'node-bulk', name: 'Node for a trigger, 100 in a request', ours: bulk.node, ...bare }),
    figure({
      ...{ id: 'postgres-bulk', name: 'PostgreSQL for the same', ours: bulk.postgres, ...inserts },
      target: { atMost: 1.5 },
    }),
    {
      ...{ id: 'wal', name: 'written to the log of PostgreSQL for a trigger, 100 in a request', unit: 'bytes' },
      ...{ ours: bulk.wal, reference: floor.wal, against: inserts.against },
    },
  ]
}

const figure = (given: Omit<Figure, 'unit' | 'reference'> & { reference?: number | undefined }): Figure => {
  const { reference, ...rest } = given
  return { ...rest, unit: 'µs', ...(reference === undefined ? {} : { reference }) }
}

async function walPosition({ database }: Service): Promise<number> {
  const { rows } = await database.query<{ at: string }>("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS at")
  return Number(rows[0]?.at)
}
