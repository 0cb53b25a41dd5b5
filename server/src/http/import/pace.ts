// Imports leave time to triggers: while the process is busy with other requests, the next import waits longer than the last one took.
import { setTimeout as sleep } from 'node:timers/promises'

/** Busy with others: an import itself mostly waits for the database. Alone it stays far below this. */
const busyShare = 0.7
/** How much longer it waits than the last one took. */
const restFactor = 4
const longestWaitMs = 2_000

export class Pace {
  #freeAt = 0

  async run<T>(work: () => Promise<T>): Promise<T> {
    const waitMs = this.#freeAt - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    const began = performance.now()
    const before = performance.eventLoopUtilization()
    try {
      return await work()
    } finally {
      const now = performance.now()
      const isBusy = performance.eventLoopUtilization(before).utilization > busyShare
      this.#freeAt = isBusy ? now + Math.min((now - began) * restFactor, longestWaitMs) : 0
    }
  }
}
