// An LRU cache limited by the total size of its keys.

export class Cache<V> {
  readonly #entries = new Map<string, V>()
  readonly #limit: number
  #size = 0

  /** `limit` is in characters of keys: a compiled template is about proportional to its text. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string, make: () => V): V {
    const known = this.#entries.get(key)
    if (known !== undefined) {
      // A Map keeps insertion order, so moving an entry to the end marks it as used. Skipped while the cache is half empty:
      // the order only matters for eviction, and the move costs more than most renderings.
      if (this.#size > this.#limit / 2) {
        this.#entries.delete(key)
        this.#entries.set(key, known)
      }
      return known
    }
    const made = make()
    this.#size += key.length + 64
    this.#entries.set(key, made)
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#limit) break
      this.#entries.delete(oldest)
      this.#size -= oldest.length + 64
    }
    return made
  }

  /** The cached value, without creating it or marking it as used. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)
  }

  get size() {
    return this.#size
  }
}
