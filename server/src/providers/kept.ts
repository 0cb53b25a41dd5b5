// What outlives one message, per integration: connections and access tokens. When an integration's credentials change, what
// was made with the old ones is closed as soon as nobody uses it.

/** Enough for a busy service; beyond it, whoever was quiet the longest connects again. */
const mostIntegrations = 1_000
/** A token is renewed before it can expire on its way. */
const marginSeconds = 60

interface Entry {
  fingerprint: string
  users: number
  isGone: boolean
  kept: Promise<{ close(): unknown }> | undefined
  remembered: Map<string, { value: Promise<string>; until: number }>
}

export class Kept {
  readonly #clock: { now(): Date }
  readonly #entries = new Map<string, Entry>()
  /** The last in the map. */
  #latest: Entry | undefined

  constructor(clock: { now(): Date }) {
    this.#clock = clock
  }

  /** For as long as one message takes. */
  use(id: string, fingerprint: string) {
    const entry = this.#entry(id, fingerprint)
    entry.users += 1
    return {
      // The type is that of the only maker there is for an integration: its provider.
      keep: async <T extends { close(): unknown }>(make: () => T | Promise<T>): Promise<T> => {
        entry.kept ??= once(make, () => {
          entry.kept = undefined
        })
        return (await entry.kept) as T
      },
      remember: async (name: string, make: () => Promise<{ value: string; seconds: number }>): Promise<string> => {
        const known = entry.remembered.get(name)
        if (known && known.until > this.#clock.now().getTime()) return known.value
        const fresh = { value: Promise.resolve(''), until: Number.POSITIVE_INFINITY }
        const forget = () => {
          if (entry.remembered.get(name) === fresh) entry.remembered.delete(name)
        }
        fresh.value = once(async () => {
          const { value, seconds } = await make()
          fresh.until = this.#clock.now().getTime() + Math.max(0, seconds - marginSeconds) * 1000
          return value
        }, forget)
        entry.remembered.set(name, fresh)
        return fresh.value
      },
      forget: (name: string) => void entry.remembered.delete(name),
      end: () => {
        entry.users -= 1
        if (entry.isGone) void closeUnused(entry)
      },
    }
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    this.#latest = undefined
    await Promise.all(entries.map((entry) => retire(entry)))
  }

  #entry(id: string, fingerprint: string): Entry {
    const known = this.#entries.get(id)
    if (known && known === this.#latest && known.fingerprint === fingerprint) return known
    this.#entries.delete(id)
    if (known && known.fingerprint !== fingerprint) void retire(known)
    const entry: Entry =
      known?.fingerprint === fingerprint
        ? known
        : { fingerprint, users: 0, isGone: false, kept: undefined, remembered: new Map() }
    // Last in the order of the map, which is that of use.
    this.#entries.set(id, entry)
    this.#latest = entry
    for (const [oldest, quiet] of this.#entries) {
      if (this.#entries.size <= mostIntegrations) break
      this.#entries.delete(oldest)
      void retire(quiet)
    }
    return entry
  }
}

/** What failed is not kept. */
async function once<T>(make: () => T | Promise<T>, forget: () => void): Promise<T> {
  try {
    return await make()
  } catch (error) {
    forget()
    throw error
  }
}

function retire(entry: Entry): Promise<void> {
  entry.isGone = true
  return closeUnused(entry)
}

async function closeUnused(entry: Entry): Promise<void> {
  const { kept } = entry
  if (!entry.isGone || entry.users > 0 || !kept) return
  entry.kept = undefined
  try {
    const closable = await kept
    await closable.close()
  } catch {
    // It could not be made, or is gone already.
  }
}
