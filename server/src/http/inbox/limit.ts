// Rate limits of browsers. The identifier of an environment is in the source of a page, so anybody can start sessions and use
// them: no key protects the database. Each process counts for itself, in memory, because sharing the counts would cost as
// much as the requests.
import { fail } from '../../errors.ts'
import { networkOf } from '../edge/caller-network.ts'
import type { Clock } from '../edge/resource.ts'

interface Rate {
  perSecond: number
  /** Requests allowed at once after a pause. */
  burst: number
}

const rates = {
  /** Per address. An office shares one, and so does everybody behind an untrusted proxy. */
  session: { perSecond: 50, burst: 1_000 },
  /** New subscribers and contexts of pages without a hash: per address, and for all addresses of an environment. */
  creation: { perSecond: 1, burst: 200 },
  creationOfAll: { perSecond: 10, burst: 2_000 },
  /** Per subscriber, over all tabs: a click costs up to five requests, most of them counts. */
  read: { perSecond: 60, burst: 600 },
  write: { perSecond: 20, burst: 200 },
} satisfies Record<string, Rate>
type Kind = keyof typeof rates

/** Beyond this the least recently used buckets are dropped, and start full again. */
const mostKnown = 50_000

interface Bucket {
  tokens: number
  filledAt: number
}

export class InboxLimits {
  readonly #clock: Clock
  readonly #buckets = new Map<string, Bucket>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  takeSession(address: string): void {
    this.#take('session', networkOf(address))
  }

  takeCreation(address: string, environmentId: string): void {
    this.#take('creation', `${environmentId} ${networkOf(address)}`)
    this.#take('creationOfAll', environmentId)
  }

  takeRequest(subscriberRowId: string, method: string): void {
    this.#take(method === 'GET' || method === 'HEAD' ? 'read' : 'write', subscriberRowId)
  }

  #take(kind: Kind, who: string): void {
    const { perSecond, burst } = rates[kind]
    const key = `${kind} ${who}`
    const now = this.#clock.now().getTime()
    const bucket = this.#buckets.get(key) ?? { tokens: burst, filledAt: now }
    // Moves the key to the end of the LRU order.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.filledAt) / 1000) * perSecond)
    bucket.filledAt = now
    if (this.#buckets.size > mostKnown)
      for (const [oldest] of this.#buckets) {
        this.#buckets.delete(oldest)
        break
      }
    if (bucket.tokens < 1) {
      const seconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond))
      throw fail('rate_limited', undefined, { headers: { 'Retry-After': String(seconds) } })
    }
    bucket.tokens -= 1
  }
}
