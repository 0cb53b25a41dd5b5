// Lets many callers share one statement: items that arrive during a commit go into the next one.
import { setTimeout as sleep } from 'node:timers/promises'

interface Entry<Item, Result> {
  item: Item
  size: number
  resolve(result: Result): void
  reject(error: unknown): void
}

interface Limits<Item> {
  /** Concurrent commits; one by default. */
  lanes?: number
  /** The same while whole groups wait. With fewer waiting, more lanes would only mean smaller commits. */
  lanesWhenFull?: number
  /** Another lane begins once this share of what is being committed waits: small groups cost most for each item. */
  leastShare?: number
  mostItems: number
  /** The same when that many and another group wait, so that the other lanes still find work. */
  mostItemsWhenFull?: number
  /** Whether to hold back, however many wait: then there is one lane, and no larger group. */
  isSlow?(): boolean
  /** Least time between the starts of two commits of a lane, unless a whole group waits: where that wait is not noticed. */
  paceMs?: number
  /** After a commit, until its lane may begin the next. */
  rest?(): Promise<void> | undefined
  /** In the unit of `sizeOf`. */
  mostSize: number
  sizeOf(item: Item): number
  /** Who the item belongs to. When not all fit into a commit, every owner's first item goes before anyone's second. */
  ownerOf?(item: Item): string
}

export class GroupCommit<Item, Result> {
  readonly #commit: (items: Item[]) => Promise<Result[]>
  readonly #isShared: (error: unknown) => boolean
  readonly #limits: Limits<Item>
  #waiting: Entry<Item, Result>[] = []
  #busyLanes = 0
  /** How many are being committed. */
  #inFlight = 0

  /**
   * @param commit returns one result per item, in their order
   * @param isShared whether an error concerns all items alike; after any other error each item is tried alone, so that one that
   * cannot be stored does not fail the others
   */
  constructor(
    commit: (items: Item[]) => Promise<Result[]>,
    isShared: (error: unknown) => boolean,
    limits: Limits<Item>,
  ) {
    this.#commit = commit
    this.#isShared = isShared
    this.#limits = limits
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, size: this.#limits.sizeOf(item), resolve, reject })
      if (this.#hasWorkFor(this.#busyLanes + 1)) void this.#work()
    })
  }

  /** Whether another commit follows the one that is going on. */
  get isWanted(): boolean {
    return this.#waiting.length > 0
  }

  #hasWorkFor(lanes: number): boolean {
    const { lanes: usual = 1, lanesWhenFull = usual, leastShare = 0, mostItems } = this.#limits
    const waiting = this.#waiting.length
    if (lanes === 1 || waiting === 0) return waiting > 0
    if (this.#isSlow || waiting < leastShare * this.#inFlight) return false
    return lanes <= usual || (lanes <= lanesWhenFull && waiting >= mostItems)
  }

  get #isSlow(): boolean {
    return this.#limits.isSlow?.() ?? false
  }

  async #work(): Promise<void> {
    this.#busyLanes += 1
    // Callers of the same moment go together from the start.
    await new Promise(setImmediate)
    while (this.#hasWorkFor(this.#busyLanes)) {
      const began = performance.now()
      const entries = this.#take()
      this.#inFlight += entries.length
      await this.#commitSome(entries)
      this.#inFlight -= entries.length
      await this.#rest(began)
    }
    this.#busyLanes -= 1
  }

  async #rest(began: number): Promise<void> {
    const { paceMs = 0, rest, mostItems } = this.#limits
    const leftMs = this.#waiting.length < mostItems ? paceMs - (performance.now() - began) : 0
    await Promise.all([leftMs > 0 ? sleep(leftMs) : undefined, rest?.()])
  }

  #take(): Entry<Item, Result>[] {
    const { mostItems: usual, mostItemsWhenFull = usual, mostSize, ownerOf } = this.#limits
    const isFull = this.#waiting.length >= mostItemsWhenFull + usual && !this.#isSlow
    const mostItems = isFull ? mostItemsWhenFull : usual
    if (ownerOf && this.#waiting.length > mostItems) this.#waiting = inTurn(this.#waiting, ownerOf)
    let [count, size] = [0, 0]
    for (const entry of this.#waiting) {
      if (count > 0 && (count === mostItems || size + entry.size > mostSize)) break
      count += 1
      size += entry.size
    }
    return this.#waiting.splice(0, count)
  }

  async #commitSome(entries: Entry<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#commit(entries.map(({ item }) => item))
      for (const [index, { resolve }] of entries.entries()) resolve(results[index] as Result)
    } catch (error) {
      if (entries.length === 1 || this.#isShared(error)) for (const { reject } of entries) reject(error)
      else for (const entry of entries) await this.#commitSome([entry])
    }
  }
}

/** Items of one owner keep their order. */
function inTurn<E extends { item: Item }, Item>(entries: E[], ownerOf: (item: Item) => string): E[] {
  const byOwner = new Map<string, E[]>()
  for (const entry of entries) {
    const owner = ownerOf(entry.item)
    const own = byOwner.get(owner)
    if (own) own.push(entry)
    else byOwner.set(owner, [entry])
  }
  if (byOwner.size === 1) return entries
  const taken: E[] = []
  for (let round = 0; taken.length < entries.length; round += 1)
    for (const [owner, own] of byOwner) {
      const entry = own[round]
      if (entry) taken.push(entry)
      else byOwner.delete(owner)
    }
  return taken
}
