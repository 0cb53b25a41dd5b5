// From the request to a message that can be read, next to a pipeline of five queues on Redis that does nothing at all: the
// number of hops a comparable product takes for the same notification.
import { type Figure, median } from './figures.ts'
import { sendMany } from './load.ts'
import { pipeline } from './redis-pipeline.ts'
import { startService } from './service.ts'
import { makeWorkflow, triggerOf, untilMessages } from './triggers.ts'

const connections = 128

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
    const send = async (number: number) => {
      const began = performance.now()
      await sendMany(load, '/v1/events/trigger', number, triggerOf)
      sent += number
      await untilMessages(service, sent)
      return number / ((performance.now() - began) / 1000)
    }
    await send(2_000)
    await redis?.send(2_000)
    const rates: Array<{ ours: number; reference: number }> = []
    for (let round = 0; round < rounds; round += 1)
      rates.push({ reference: (await redis?.send(count)) ?? Number.NaN, ours: await send(count) })
    const figure: Figure = {
      name: 'trigger to readable in-app message',
      unit: '/s',
      ours: median(rates.map((rate) => rate.ours)),
      reference: median(rates.map((rate) => rate.reference)),
      against: 'five empty BullMQ hops on Redis',
      target: redis ? { atLeast: 3 } : { oursAtLeast: 0 },
    }
    return { figures: [figure], notes: { rounds, count, connections, value: 'median of the rounds, taken in turns' } }
  } finally {
    await service.stop()
    await redis?.stop()
  }
}
