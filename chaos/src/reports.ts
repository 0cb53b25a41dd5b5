// The provider's delivery reports on push messages: more than once, in any order, and sometimes before the service has
// recorded the send. Each is repeated until accepted, as vendors do.
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from './client.ts'
import { Random } from './random.ts'

export const reported = ['delivered', 'opened', 'clicked'] as const

/** The share of messages that get reports. */
const share = 0.3

export class Reports {
  readonly #seed: string
  readonly #urls: () => string[]
  readonly #path: string
  readonly #over = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  /** Accepted reports, by message id. */
  readonly understood = new Map<string, Set<string>>()
  sent = 0
  /** How many were answered with 500. */
  faults = 0

  constructor(seed: string, urls: () => string[], path: string) {
    this.#seed = seed
    this.#urls = urls
    this.#path = path
    // Any number of them wait at once.
    setMaxListeners(0, this.#over.signal)
  }

  /** Reports everything about some of the messages, in the background. */
  tell(id: string): void {
    const random = new Random(`${this.#seed}/report/${id}`)
    if (!random.chance(share)) return
    const twice = random.shuffled([...reported, ...reported])
    for (const eventType of twice) {
      const telling = this.#insist(id, eventType, random.int(0, 6_000)).finally(() => this.#underWay.delete(telling))
      this.#underWay.add(telling)
    }
  }

  /** Stops reporting: from now on `understood` is final. */
  async end(): Promise<void> {
    this.#over.abort()
    await Promise.all(this.#underWay)
  }

  async #insist(id: string, eventType: string, afterMs: number): Promise<void> {
    const { signal } = this.#over
    const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined)
    await pause(afterMs)
    for (let tries = 1; !signal.aborted && tries < 12; tries += 1) {
      const urls = this.#urls()
      this.sent += 1
      const answer = await ask(urls[tries % urls.length] ?? '', 'POST', this.#path, [{ eventId: id, eventType }])
      if (answer?.status === 500) this.faults += 1
      if (answer?.status === 200 && (answer.body as unknown[]).length > 0) {
        const known = this.understood.get(id) ?? new Set()
        this.understood.set(id, known.add(eventType))
        return
      }
      await pause(1_000 * tries)
    }
  }
}
