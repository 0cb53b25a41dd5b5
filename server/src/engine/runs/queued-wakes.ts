// Wake-ups that this process has queued and that have not fired. Adding one again costs as much as recording a delivery, and
// while a provider hangs, a thousand messages wait for the same few seconds.

/** A commit closer than this to a wake-up might come too late for it. */
const marginMs = 2_000

export class QueuedWakes {
  /** When each stops counting, by the monotonic clock. */
  readonly #until = new Map<string, number>()

  /** @param delays slot to delay @returns the slots to queue, and a function to call once they are committed */
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
