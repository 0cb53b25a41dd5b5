// Who has asked for much lately goes after who has not, wherever both have to wait: so one environment's flood does not hold up
// the others. It changes nothing while nobody has to wait, needs no agreement between processes, and costs no statement.

/** What was asked for counts half after this time: longer than a queue usually is, so that one's own triggers keep their order. */
const halfLifeMs = 10_000
/** So much an environment may ask for within moments without going after anybody: about 35 a second for ever. */
const unhindered = 500
/** The others are told apart by how many times they double that; topics and broadcasts come after all of them. */
const mostBehind = 9
/** Environments that are remembered; those who have asked for nothing lately are forgotten first. */
const mostTabs = 10_000

interface Tab {
  amount: number
  at: number
}

export class FairShare {
  readonly #tabs = new Map<string, Tab>()

  /** Notes what an environment asks for. @returns how far behind the others it goes: 0 for most, 9 at the most */
  note(environmentId: string, amount: number, now: Date): number {
    const at = now.getTime()
    const tab = this.#tabs.get(environmentId)
    const owed = tab ? owedAt(tab, at) : 0
    // Put last, so that those who ask for nothing come to stand first.
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
