import { afterEach, expect, test } from 'vitest'
import { SimulationAbandoned, Simulations, SimulationsBusy } from './simulations.ts'
import type { Job } from './thread.ts'

/** A thread that works for ever on what it is told to, and answers everything else. */
const thread = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads'
    parentPort.on('message', (job) => {
      while (job.isEndless) Math.random()
      parentPort.postMessage({ answer: { threadId } })
    })`)}`,
)
const endless = { isEndless: true } as unknown as Job
const short = { isEndless: false } as unknown as Job

let simulations: Simulations
const start = () => {
  simulations = new Simulations({ file: () => thread })
  return simulations
}
afterEach(() => simulations.close())

const stays = new AbortController().signal
const threadOf = (outcome: unknown) => (outcome as { answer: { threadId: number } }).answer.threadId

test('a caller who hangs up ends the work, also in the middle of it, and the next one has a new thread', async () => {
  const all = start()
  const first = await all.enter(stays)
  const used = threadOf(await all.play(short, stays))
  const gone = new AbortController()
  const playing = all.play(endless, gone.signal)
  setImmediate(() => gone.abort())
  await expect(playing).rejects.toBeInstanceOf(SimulationAbandoned)
  first()
  const next = await all.enter(stays)
  expect(threadOf(await all.play(short, stays))).not.toBe(used)
  next()
})

test('a caller who hangs up while waiting gives the place free, and one who is gone already is not played', async () => {
  const all = start()
  const leave = await all.enter(stays)
  const gone = Array.from({ length: 8 }, () => new AbortController())
  const waiting = gone.map(({ signal }) => all.enter(signal))
  const refused = Promise.allSettled(waiting)
  await expect(all.enter(stays)).rejects.toBeInstanceOf(SimulationsBusy)
  for (const each of gone) each.abort()
  expect(await refused).toEqual(gone.map(() => ({ status: 'rejected', reason: expect.any(SimulationAbandoned) })))
  const next = all.enter(stays)
  leave()
  const last = await next
  await expect(all.enter(AbortSignal.abort())).rejects.toBeInstanceOf(SimulationAbandoned)
  await expect(all.play(short, AbortSignal.abort())).rejects.toBeInstanceOf(SimulationAbandoned)
  last()
})
