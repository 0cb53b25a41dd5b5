// Places for requests to one origin: so many at once, the others wait in their order. Who takes a place first can decide
// at the last moment whether to send: with it, a request never waits for a connection.
import { DeliveryError } from './delivery-error.ts'

/** One request at a time. */
export interface Place {
  /** Gives it back; again, it does nothing. */
  leave(): void
}

/** Per origin and set of permissions. */
export const mostAtOnce = 128

interface Taken {
  count: number
  waiting: Array<() => void>
}

export class HttpPlaces {
  readonly #taken = new Map<string, Taken>()

  /** At once if one is free; else a promise, which fails after so many milliseconds. */
  take(key: string, host: string, timeoutMs: number): Place | Promise<Place> {
    const taken = this.#taken.get(key) ?? { count: 0, waiting: [] }
    this.#taken.set(key, taken)
    if (taken.count < mostAtOnce) {
      taken.count += 1
      return this.#place(key, taken)
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        taken.waiting.splice(taken.waiting.indexOf(enter), 1)
        reject(new DeliveryError('timeout', { host, mayHaveArrived: false }))
      }, timeoutMs)
      const enter = () => {
        clearTimeout(timer)
        resolve(this.#place(key, taken))
      }
      taken.waiting.push(enter)
    })
  }

  #place(key: string, taken: Taken): Place {
    let isTaken = true
    return {
      leave: () => {
        if (!isTaken) return
        isTaken = false
        const next = taken.waiting.shift()
        if (next) return next()
        taken.count -= 1
        if (taken.count === 0) this.#taken.delete(key)
      },
    }
  }
}
