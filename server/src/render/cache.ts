// A cache bounded by the size of its keys; the entry used longest ago goes first.

export class Cache<V> {
  readonly #entries = new Map<string, V>()
  readonly #limit: number
  #size = 0

  /** `limit` is in characters of keys: what is made of a template is proportional to its text. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string, make: () => V): V {
    const known = this.#entries.get(key)
    if (known !== undefined) {
      // A Map keeps the order of insertion, so moving the entry to the end marks it as used. Skipped while half empty: the
      // order only matters once something has to go, and the move costs more than most renderings.
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

  /** What is there, without making it or marking it as used. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)
  }

  get size() {
    return this.#size
  }
}
