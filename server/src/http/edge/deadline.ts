// The deadline of requests: one that takes too long is answered with 503. Its work may still complete, as after a broken
// connection, so a client that retries should send a `transactionId` or an `Idempotency-Key`.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import type { App } from './resource.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the deadline answered it before its handler did. */
    isOverdue: boolean
    waiting: Waiting | undefined
  }
}

/** A request without an answer so far. */
interface Waiting {
  request: FastifyRequest
  reply: FastifyReply
  since: number
}

/** How often to check, per deadline. */
const looks = 20

/** Register before any slow hook. The time a client takes to send its body does not count. */
export function registerDeadline(app: App, seconds: number): void {
  const open = new Set<Waiting>()
  app.decorateRequest('isOverdue', false)
  app.decorateRequest('waiting', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    const waiting = { request, reply, since: performance.now() }
    request.waiting = waiting
    open.add(waiting)
    reply.raw.on('close', () => open.delete(waiting))
    done()
  })
  app.addHook('preParsing', ({ waiting }, _reply, _body, done) => {
    if (waiting) waiting.since = Number.POSITIVE_INFINITY
    done()
  })
  app.addHook('preValidation', ({ waiting }, _reply, done) => {
    if (waiting) waiting.since = performance.now()
    done()
  })
  const timer = setInterval(
    () => {
      const since = performance.now() - seconds * 1000
      for (const waiting of open) {
        if (waiting.since > since) continue
        open.delete(waiting)
        const { request, reply } = waiting
        // A response that is already streaming, such as an export, has no deadline.
        if (reply.sent || reply.raw.headersSent) continue
        request.isOverdue = true
        reply.send(fail('unfinished', undefined, { headers: { 'Retry-After': '1' } }))
      }
    },
    (seconds * 1000) / looks,
  ).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
