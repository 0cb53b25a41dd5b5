// How much this process takes on at a time. What is more is refused at once, which costs little, so that what was taken is
// answered in time and memory has a bound. Whoever has most under way is refused first: an environment may have as much as is
// left for all others, so that a flood leaves room for a newcomer, and two floods share what there is.
import { PassThrough, type Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import type { Metrics } from './metrics.ts'

/** Of bodies of requests under way, together. They take a few times as much once they are read. */
const mostBytes = 128 * 1024 * 1024
const lookEveryMs = 100
/** While the event loop is later than this, less is taken on, in proportion. */
const usualDelayMs = 250
/** So much is always taken: somebody has to find out whether it goes on. */
const fewest = 10

/** What is under way: of all, or of one environment. */
interface Load {
  requests: number
  bytes: number
}

/** The part of a request in it. */
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

  constructor({ mostRequests, metrics }: Surroundings) {
    this.#mostRequests = mostRequests
    this.#metrics = metrics
    this.#limit = mostRequests
    metrics.underWay(() => this.#all.requests)
  }

  /** Before anything else is done about a request, so that it is counted whoever asks. */
  enter(reply: FastifyReply): Held {
    if (this.#all.requests >= this.#mostRequests) throw this.#refusal('overloaded')
    this.#all.requests += 1
    const held: Held = { owner: undefined, key: '', bytes: 0 }
    // Answered in full, or given up by the caller.
    reply.raw.once('close', () => this.#leave(held))
    return held
  }

  /** Once it is known who asks, or from where, and before the body is read. */
  charge(held: Held, key: string, bytes: number): void {
    const owner = this.#byOwner.get(key) ?? { requests: 0, bytes: 0 }
    const { requests, bytes: taken } = this.#all
    // Whoever has nothing under way is not to blame for how late we are.
    const share = Math.max(1, this.#limit - requests + 1)
    if (owner.requests >= share || owner.bytes + bytes > mostBytes - taken) throw this.#refusal('too_many_at_once')
    this.#release(held)
    owner.requests += 1
    this.#byOwner.set(key, owner)
    held.key = key
    held.owner = owner
    this.#add(held, bytes)
  }

  /** Of bodies whose length nobody has said. */
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

  /** How late the event loop is. */
  noteDelay(ms: number): void {
    const share = Math.min(1, usualDelayMs / Math.max(ms, 1))
    this.#limit = Math.max(fewest, Math.floor(this.#mostRequests * share))
  }

  #add(held: Held, bytes: number): void {
    held.bytes += bytes
    this.#all.bytes += bytes
    if (held.owner) held.owner.bytes += bytes
  }

  #leave(held: Held): void {
    this.#all.requests -= 1
    this.#all.bytes -= held.bytes
    this.#release(held)
  }

  #release({ owner, key, bytes }: Held): void {
    if (!owner) return
    owner.requests -= 1
    owner.bytes -= bytes
    if (owner.requests === 0) this.#byOwner.delete(key)
  }

  #refusal(code: 'overloaded' | 'too_many_at_once') {
    this.#metrics.shed(code)
    return fail(code, undefined, { headers: { 'Retry-After': '1' } })
  }
}

/** Measures the event loop by a timer that comes late when it is busy. */
export function watchDelay(
  app: { addHook(name: 'onClose', hook: () => Promise<void>): unknown },
  overload: Overload,
): void {
  let expected = performance.now() + lookEveryMs
  const timer = setInterval(() => {
    const now = performance.now()
    overload.noteDelay(now - expected)
    expected = now + lookEveryMs
  }, lookEveryMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/** What a body will be, as far as the caller says. */
export const announcedBytes = ({ headers }: FastifyRequest): number => Number(headers['content-length'] ?? 0) || 0
