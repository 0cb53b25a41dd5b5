// The deadline of requests: one that takes too long is answered with 503. Its work may still complete, as after a broken
// connection, so a client that retries should send a `transactionId` or an `Idempotency-Key`.
import type { FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import type { App } from './resource.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the deadline answered it before its handler did. */
    isOverdue: boolean
    /** Since when it waits for us; infinite while we wait for the client. In milliseconds of this process. */
    waitsSince: number
    /** Its place among those that the deadline watches. */
    watchedAt: number
  }
}

/** A request with its answer, as far as the deadline is concerned. */
interface Watched {
  request: Pick<FastifyRequest, 'waitsSince' | 'watchedAt' | 'isOverdue'>
  raw: object
  sent: boolean
  send(error: Error): unknown
}

/** How often to check, per deadline. */
const looks = 20

export class Deadline {
  /**
   * Places that are used again. In a set, each request would live until the next full garbage collection: sets are copied as they
   * change, and a copy that has become old keeps what it held, and all later copies.
   */
  readonly #open: Array<Watched | undefined> = []
  readonly #free: number[] = []

  constructor(app: App, seconds: number) {
    app.decorateRequest('isOverdue', false)
    app.decorateRequest('waitsSince', 0)
    app.decorateRequest('watchedAt', 0)
    const timer = setInterval(() => this.#look(performance.now() - seconds * 1000), (seconds * 1000) / looks).unref()
    app.addHook('onClose', async () => clearInterval(timer))
  }

  watch(reply: Watched): void {
    const { request } = reply
    request.waitsSince = performance.now()
    request.watchedAt = this.#free.pop() ?? this.#open.length
    this.#open[request.watchedAt] = reply
  }

  /** Once, when it was answered completely, or abandoned by the client. */
  forget({ request }: Watched): void {
    this.#open[request.watchedAt] = undefined
    this.#free.push(request.watchedAt)
  }

  #look(since: number): void {
    for (const reply of this.#open) {
      // A response that is already streaming, such as an export, has no deadline.
      if (!reply || reply.request.waitsSince > since || reply.sent || isStreaming(reply.raw)) continue
      reply.request.isOverdue = true
      reply.send(fail('unfinished', undefined, { headers: { 'Retry-After': '1' } }))
    }
  }
}

const isStreaming = (raw: object): boolean => 'headersSent' in raw && raw.headersSent === true
