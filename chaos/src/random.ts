// Pseudo-random numbers derived from a seed, so that a run can be repeated.
import { createHash } from 'node:crypto'

export class Random {
  readonly #seed: string
  readonly #state: Uint32Array

  constructor(seed: string) {
    this.#seed = seed
    const digest = createHash('sha256').update(seed).digest()
    this.#state = Uint32Array.from([0, 4, 8, 12], (at) => digest.readUInt32LE(at))
  }

  /** An independent source, unaffected by how many numbers this one has given. */
  of(name: string): Random {
    return new Random(`${this.#seed}/${name}`)
  }

  /** At least 0, less than 1: the generator `sfc32`. */
  next(): number {
    const s = this.#state
    const [a = 0, b = 0, c = 0, d = 0] = s
    const sum = (a + b + d) >>> 0
    s[3] = d + 1
    s[0] = b ^ (b >>> 9)
    s[1] = c + (c << 3)
    s[2] = ((c << 21) | (c >>> 11)) + sum
    return sum / 2 ** 32
  }

  /** Both ends included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)] as T
  }

  some<T>(list: readonly T[], count: number): T[] {
    return this.shuffled(list).slice(0, count)
  }

  shuffled<T>(list: readonly T[]): T[] {
    const copy = [...list]
    for (let at = copy.length - 1; at > 0; at -= 1) {
      const other = this.int(0, at)
      ;[copy[at], copy[other]] = [copy[other] as T, copy[at] as T]
    }
    return copy
  }

  /** Weighted choice. */
  weighted<T extends string>(weights: Record<T, number>): T {
    const entries = Object.entries(weights) as Array<[T, number]>
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [value, weight] of entries) {
      left -= weight
      if (left < 0) return value
    }
    return (entries.at(-1) as [T, number])[0]
  }
}
