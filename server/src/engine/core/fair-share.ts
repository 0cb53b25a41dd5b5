// Where work has to wait, environments that asked for much lately go after those that did not, so one flood does not hold up
// the others. It changes nothing while nothing waits, needs no agreement between processes, and costs no statement.

/**
 * Earlier requests count half after this time: longer than the queue usually is, so that one environment's triggers keep their
 * order.
 */
const halfLifeMs = 10_000
/** An environment may ask for this much at once without falling behind: about 35 a second sustained. */
const unhindered = 500
/** Beyond that, each doubling is one step back; topics and broadcasts come after all of them. */
const mostBehind = 9
/** Environments remembered; the longest idle is forgotten first. */
const mostTabs = 10_000

/**
 * Of jobs in the queue. Smaller numbers go first. Topics and broadcasts never delay a login code; the numbers between are for
 * environments that asked for much lately.
 */
export const priorities = { single: 0, many: 10 } as const

interface Tab {
  amount: number
  at: number
}

export class FairShare {
  readonly #tabs = new Map<string, Tab>()

  /** Counts what an environment asks for. @returns how far behind the others it goes: 0 for most, 9 at most */
  note(environmentId: string, amount: number, now: Date): number {
    const at = now.getTime()
    const tab = this.#tabs.get(environmentId)
    const owed = tab ? owedAt(tab, at) : 0
    // Reinsert at the end, so that the longest idle come first.
    this.#tabs.delete(environmentId)
    this.#tabs.set(environmentId, { amount: owed + amount, at })
    if (this.#tabs.size > mostTabs) {
      const { value: oldest } = this.#tabs.keys().next()
      if (oldest !== undefined) this.#tabs.delete(oldest)
    }
    return owed < unhindered ? 0 : Math.min(mostBehind, 1 + Math.floor(Math.log2(owed / unhindered)))
  }
}

const owedAt = ({ amount, at }: Tab, now: number) => amount * 2 ** (-Math.max(0, now - at) / halfLifeMs)
