// Wakes that this process has queued and that are still to come. To add one again costs as much as to write down a delivery,
// and where a provider hangs, a thousand messages wait for the same few seconds.

/** What is committed later than that before a wake comes might be missed by it. */
const marginMs = 2_000

export class QueuedWakes {
  /** Until when each is sure to be there, on a clock that only goes forward. */
  readonly #until = new Map<string, number>()

  /** @param delays in which each has to come @returns those that have to be queued, and whom to tell once they are committed */
  missing(delays: ReadonlyMap<string, number>): { missing: Map<string, number>; commit: () => void } {
    const since = performance.now()
    for (const [slot, until] of this.#until) if (until <= since) this.#until.delete(slot)
    const missing = new Map([...delays].filter(([slot]) => !this.#until.has(slot)))
    const commit = () => {
      for (const [slot, delayMs] of missing) if (delayMs > marginMs) this.#until.set(slot, since + delayMs - marginMs)
    }
    return { missing, commit }
  }
}
