// Load shedding: how much this process accepts at a time. It refuses more at once, which is cheap, so that accepted requests
// finish in time and memory stays bounded. The busiest environment is refused first: each may use as much as it leaves for
// the others, so a flood leaves room for a newcomer, and two floods share the capacity.
import { PassThrough, type Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import type { Metrics } from './metrics.ts'

/** Total bytes of request bodies in flight. Parsed, they take a few times as much memory. */
const mostBytes = 128 * 1024 * 1024
const lookEveryMs = 100
/** While the event loop is later than this, capacity shrinks in proportion. */
const usualDelayMs = 250
/** Always accepted, or we would never notice that the overload is over. */
const fewest = 10

/** Requests in flight, of all or of one environment. */
interface Load {
  requests: number
  bytes: number
}

/** One request's share of the load. */
export interface Held {
  owner: Load | undefined
  key: string
  bytes: number
}

interface Surroundings {
  mostRequests: number
  metrics: Pick<Metrics, 'shed' | 'underWay'>
}

export class Overload {
  readonly #mostRequests: number
  readonly #metrics: Surroundings['metrics']
  readonly #all: Load = { requests: 0, bytes: 0 }
  readonly #byOwner = new Map<string, Load>()
  #limit: number
  #watching: NodeJS.Timeout | undefined

  constructor({ mostRequests, metrics }: Surroundings) {
    this.#mostRequests = mostRequests
    this.#metrics = metrics
    this.#limit = mostRequests
    metrics.underWay(() => this.#all.requests)
  }

  /** Counts a request; call before anything else, whoever asks. */
  enter(): Held {
    if (this.#all.requests >= this.#mostRequests) throw this.#refusal('overloaded')
    this.#all.requests += 1
    this.#watching ??= this.#watchDelay()
    return { owner: undefined, key: '', bytes: 0 }
  }

  /** Call when it was answered completely, or abandoned by the client. */
  leave(held: Held): void {
    this.#all.requests -= 1
    this.#all.bytes -= held.bytes
    this.#release(held)
  }

  /** Charges the request to a key or address; call before reading the body. */
  charge(held: Held, key: string, bytes: number): void {
    const owner = this.#byOwner.get(key) ?? { requests: 0, bytes: 0 }
    const { requests, bytes: taken } = this.#all
    // An environment with nothing in flight is not the cause of the delay.
    const share = Math.max(1, this.#limit - requests + 1)
    if (owner.requests >= share || owner.bytes + bytes > mostBytes - taken) throw this.#refusal('too_many_at_once')
    this.#release(held)
    owner.requests += 1
    this.#byOwner.set(key, owner)
    held.key = key
    held.owner = owner
    this.#add(held, bytes)
  }

  /** Counts the bytes of a body without a length. */
  counted(held: Held, body: Readable): Readable {
    const counting = new PassThrough()
    body.on('error', (error) => counting.destroy(error))
    counting.on('close', () => body.unpipe(counting))
    body.on('data', (chunk: Buffer) => {
      if (this.#all.bytes + chunk.length > mostBytes) counting.destroy(this.#refusal('overloaded'))
      else this.#add(held, chunk.length)
    })
    return body.pipe(counting)
  }

  /** Reports how late the event loop is. */
  noteDelay(ms: number): void {
    const share = Math.min(1, usualDelayMs / Math.max(ms, 1))
    this.#limit = Math.max(fewest, Math.floor(this.#mostRequests * share))
  }

  #add(held: Held, bytes: number): void {
    held.bytes += bytes
    this.#all.bytes += bytes
    if (held.owner) held.owner.bytes += bytes
  }

  #release({ owner, key, bytes }: Held): void {
    if (!owner) return
    owner.requests -= 1
    owner.bytes -= bytes
    if (owner.requests === 0) this.#byOwner.delete(key)
  }

  /** Measures event loop delay with a timer, which fires late when the loop is busy. Without requests there is none to refuse. */
  #watchDelay(): NodeJS.Timeout {
    let expected = performance.now() + lookEveryMs
    const timer = setInterval(() => {
      const now = performance.now()
      this.noteDelay(now - expected)
      expected = now + lookEveryMs
      if (this.#all.requests > 0 || this.#limit < this.#mostRequests) return
      clearInterval(timer)
      this.#watching = undefined
    }, lookEveryMs)
    return timer.unref()
  }

  #refusal(code: 'overloaded' | 'too_many_at_once') {
    this.#metrics.shed(code)
    return fail(code, undefined, { headers: { 'Retry-After': '1' } })
  }
}

/** The size of the body, as far as the client announced it. */
export const announcedBytes = ({ headers }: FastifyRequest): number => Number(headers['content-length'] ?? 0) || 0
