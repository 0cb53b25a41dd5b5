// What comes due, earliest first, and of one moment in the order it was added: a binary heap.

interface Due {
  at: number
  place: number
}

export class DueList<T> {
  readonly #heap: Array<Due & { item: T }> = []
  #count = 0

  add(at: number, item: T): void {
    this.#heap.push({ at, place: this.#count, item })
    this.#count += 1
    this.#rise(this.#heap.length - 1)
  }

  /** When the next comes due. */
  get next(): number | undefined {
    return this.#heap[0]?.at
  }

  get first(): T | undefined {
    return this.#heap[0]?.item
  }

  take(): T | undefined {
    const [first] = this.#heap
    const last = this.#heap.pop()
    if (!first || !last) return undefined
    if (this.#heap.length > 0) {
      this.#heap[0] = last
      this.#sink(0)
    }
    return first.item
  }

  #rise(index: number): void {
    for (let at = index; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #sink(index: number): void {
    for (let at = index; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      let first = at
      if (this.#isBefore(left, first)) first = left
      if (this.#isBefore(right, first)) first = right
      if (first === at) return
      this.#swap(at, first)
      at = first
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (!one || !other) return false
    return one.at < other.at || (one.at === other.at && one.place < other.place)
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (one && other) [this.#heap[a], this.#heap[b]] = [other, one]
  }
}
