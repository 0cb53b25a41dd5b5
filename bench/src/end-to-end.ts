// From the request to a message that can be read, next to a pipeline of five queues on Redis that does nothing at all: the
// number of hops a comparable product takes for the same notification. The pipeline is fed by function calls; ours by HTTP,
// with a hundred triggers in a request, so that it is not HTTP that is compared, and with one in each.
import { type Figure, median } from './figures.ts'
import { sendMany } from './load.ts'
import { pipeline } from './redis-pipeline.ts'
import { startService } from './service.ts'
import { makeWorkflow, triggerOf, untilMessages } from './triggers.ts'

const connections = 128
const perRequest = 100

const bulkOf = (number: number) => ({
  events: Array.from({ length: perRequest }, (_, place) => triggerOf(number * perRequest + place)),
})

export async function benchEndToEnd({
  quick,
}: {
  quick: boolean
}): Promise<{ figures: Figure[]; notes: Record<string, unknown> }> {
  const [rounds, count] = quick ? [3, 3_000] : [5, 10_000]
  const redis = await pipeline()
  if (!redis) process.stderr.write('  redis-server is not installed: there is nothing to compare with\n')
  const service = await startService()
  try {
    await makeWorkflow(service)
    const load = { url: service.url, apiKey: service.apiKey, connections }
    let sent = 0
    const timed = async (number: number, send: () => Promise<unknown>) => {
      const began = performance.now()
      await send()
      sent += number
      await untilMessages(service, sent)
      return number / ((performance.now() - began) / 1000)
    }
    const singly = (number: number) => timed(number, () => sendMany(load, '/v1/events/trigger', number, triggerOf))
    const inBulk = (number: number) =>
      timed(number, () => sendMany({ ...load, connections: 8 }, '/v1/events/trigger/bulk', number / perRequest, bulkOf))
    for (const warmUp of [singly, inBulk, redis?.send]) await warmUp?.(2_000)
    const rates: Array<{ singly: number; inBulk: number; reference: number }> = []
    for (let round = 0; round < rounds; round += 1)
      rates.push({
        reference: (await redis?.send(count)) ?? Number.NaN,
        inBulk: await inBulk(count),
        singly: await singly(count),
      })
    const figure = (name: string, ours: number, target: Figure['target']): Figure => ({
      ...{ name, ours, target },
      unit: '/s',
      reference: median(rates.map((rate) => rate.reference)),
      against: 'five empty BullMQ hops on Redis',
    })
    return {
      figures: [
        figure(
          `triggers to readable in-app messages, ${perRequest} in a request`,
          median(rates.map((rate) => rate.inBulk)),
          redis ? { atLeast: 3 } : { oursAtLeast: 0 },
        ),
        figure('the same, each trigger a request', median(rates.map((rate) => rate.singly)), { oursAtLeast: 0 }),
      ],
      notes: { rounds, count, connections, value: 'median of the rounds, taken in turns' },
    }
  } finally {
    await service.stop()
    await redis?.stop()
  }
}
