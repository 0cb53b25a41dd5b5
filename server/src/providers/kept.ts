// Connections and access tokens, kept per integration between messages. When its credentials change, the old ones are closed
// as soon as the last message that uses them is done.

/** Enough for a busy service; beyond it, the least recently used integration is dropped. */
const mostIntegrations = 1_000
/** Of one integration. A push service's address is part of the name of its token, and people choose their push services. */
const mostTokens = 50
/** A token is renewed early, so that it does not expire in flight. */
const marginSeconds = 60

interface Entry {
  fingerprint: string
  users: number
  isRetired: boolean
  kept: Promise<{ close(): unknown }> | undefined
  remembered: Map<string, { value: Promise<string>; until: number }>
}

export class Kept {
  readonly #clock: { now(): Date }
  readonly #entries = new Map<string, Entry>()
  /** The last in the map: the most recently used. */
  #latest: Entry | undefined

  constructor(clock: { now(): Date }) {
    this.#clock = clock
  }

  /** For one message; `end` releases it. */
  use(id: string, fingerprint: string) {
    const entry = this.#entry(id, fingerprint)
    entry.users += 1
    return {
      // The cast holds because only the integration's own provider makes what it keeps.
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
        const [oldest] = entry.remembered.keys()
        if (entry.remembered.size > mostTokens && oldest !== undefined) entry.remembered.delete(oldest)
        return fresh.value
      },
      forget: (name: string) => void entry.remembered.delete(name),
      end: () => {
        entry.users -= 1
        if (entry.isRetired) void closeUnused(entry)
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
        : { fingerprint, users: 0, isRetired: false, kept: undefined, remembered: new Map() }
    // Moves it to the end: the map is in order of use.
    this.#entries.set(id, entry)
    this.#latest = entry
    for (const [oldest, unused] of this.#entries) {
      if (this.#entries.size <= mostIntegrations) break
      this.#entries.delete(oldest)
      void retire(unused)
    }
    return entry
  }
}

/** A failure is not cached. */
async function once<T>(make: () => T | Promise<T>, forget: () => void): Promise<T> {
  try {
    return await make()
  } catch (error) {
    forget()
    throw error
  }
}

function retire(entry: Entry): Promise<void> {
  entry.isRetired = true
  return closeUnused(entry)
}

async function closeUnused(entry: Entry): Promise<void> {
  const { kept } = entry
  if (!entry.isRetired || entry.users > 0 || !kept) return
  entry.kept = undefined
  try {
    const closable = await kept
    await closable.close()
  } catch {
    // It was never opened, or is closed already.
  }
}
