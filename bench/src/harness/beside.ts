// How many triggers a process accepts while it does something else.
import { median } from '../report/figures.ts'
import { sendMany } from './load.ts'
import type { Service } from './service.ts'
import { bulkOf, perRequest } from './triggers.ts'

/** Per second, beside `work` without a break and beside nothing. In turns, so that a slow machine slows both. */
export async function acceptedBeside(
  service: Service,
  seconds: number,
  work: () => Promise<unknown>,
): Promise<{ alone: number; busy: number }> {
  const load = { url: service.url, apiKey: service.apiKey, connections: 8 }
  const accept = async (): Promise<number> => {
    const began = performance.now()
    let accepted = 0
    while (performance.now() - began < (seconds * 1000) / 4) {
      await sendMany(load, '/v1/events/trigger/bulk', 8, bulkOf)
      accepted += 8 * perRequest
    }
    return accepted / ((performance.now() - began) / 1000)
  }
  const [alone, busy]: [number[], number[]] = [[], []]
  await accept()
  for (let turn = 0; turn < 4; turn += 1) {
    alone.push(await accept())
    let isOver = false
    const working = (async () => {
      while (!isOver) await work()
    })()
    busy.push(await accept())
    isOver = true
    await working
  }
  return { alone: median(alone), busy: median(busy) }
}
