// From the request to a readable message, compared with a Redis pipeline of five empty queues: the number of hops of a
// comparable product. The pipeline is fed by function calls. Ours is fed over HTTP, with one trigger per request and with a
// hundred, so that HTTP is not what is compared. Two floors: the same rows without the service, and the queue without the
// rows.

import { sendMany } from '../harness/load.ts'
import { startService } from '../harness/service.ts'
import { bulkOf, makeWorkflow, newestMessage, perRequest, triggerOf, untilMessages } from '../harness/triggers.ts'
import { emptyJobs } from '../references/empty-jobs.ts'
import { pipeline } from '../references/redis-pipeline.ts'
import { plainInserts } from '../references/storage-floor.ts'
import { type Figure, median, type Options, type Outcome } from '../report/figures.ts'

const connections = 128

export async function benchEndToEnd({ quick }: Options): Promise<Outcome> {
  const [rounds, count, warmUps] = quick ? [1, 1_000, 300] : [5, 10_000, 2_000]
  const service = await startService()
  let redis: Awaited<ReturnType<typeof pipeline>>
  try {
    redis = await pipeline()
    await makeWorkflow(service)
    const load = { url: service.url, apiKey: service.apiKey, connections }
    const timed = async (number: number, send: () => Promise<unknown>) => {
      const after = await newestMessage(service)
      const began = performance.now()
      await send()
      await untilMessages(service, number, { after })
      return number / ((performance.now() - began) / 1000)
    }
    const singly = (number: number) => timed(number, () => sendMany(load, '/v1/events/trigger', number, triggerOf))
    const inBulk = (number: number) =>
      timed(number, () => sendMany({ ...load, connections: 8 }, '/v1/events/trigger/bulk', number / perRequest, bulkOf))
    const jobs = await emptyJobs(service)
    const measured = {
      ...(redis ? { redis: redis.send } : {}),
      ...{ jobs: jobs.send, inBulk, floor: (number: number) => plainInserts(service, number), singly },
    }
    // The storage floor copies the newest row, so the service runs first.
    for (const warmUp of [singly, ...Object.values(measured)]) await warmUp(warmUps)
    const rates = new Map<string, number[]>()
    // In turns, so that other load on the machine affects all alike.
    for (let round = 0; round < rounds; round += 1)
      for (const [name, measure] of Object.entries(measured))
        rates.set(name, [...(rates.get(name) ?? []), await measure(count)])
    await jobs.stop()
    const rate = (name: keyof typeof measured) => median(rates.get(name) ?? [])
    const beside = redis
      ? { reference: rate('redis'), against: 'five empty BullMQ hops on Redis' }
      : { against: 'no Redis here' }
    const ours: Figure = {
      id: 'bulk',
      name: `triggers to readable in-app messages, ${perRequest} in a request`,
      ...{ unit: '/s', ours: rate('inBulk'), ...beside },
      target: { atLeast: 5 },
    }
    return {
      figures: [
        ours,
        {
          ...{ id: 'single', name: 'the same, each trigger a request', unit: '/s', ours: rate('singly'), ...beside },
          target: { atLeast: 4 },
        },
        {
          ...{ id: 'floor', name: `the same, ${perRequest} in a request, beside the storage alone`, unit: '/s' },
          ...{
            ours: ours.ours,
            reference: rate('floor'),
            against: `the same rows by plain inserts, ${perRequest} a commit`,
          },
        },
        {
          ...{ id: 'jobs', name: `the same, ${perRequest} in a request, beside the queue alone`, unit: '/s' },
          ...{ ours: ours.ours, reference: rate('jobs'), against: 'empty graphile-worker jobs' },
        },
      ],
      notes: { rounds, count, connections, value: 'median of the rounds, taken in turns' },
    }
  } finally {
    await service.stop()
    await redis?.stop()
  }
}
