// The deadline of requests: one that takes too long is answered with 503. Its work may still complete, as after a broken
// connection, so a client that retries should send a `transactionId` or an `Idempotency-Key`.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import type { App } from './resource.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the deadline answered it before its handler did. */
    isOverdue: boolean
  }
}

/** How often to check, per deadline. */
const looks = 20

/** Register before any slow hook. The time a client takes to send its body does not count. */
export function registerDeadline(app: App, seconds: number): void {
  const open = new Map<FastifyRequest, { reply: FastifyReply; since: number }>()
  app.decorateRequest('isOverdue', false)
  app.addHook('onRequest', (request, reply, done) => {
    open.set(request, { reply, since: performance.now() })
    reply.raw.once('close', () => open.delete(request))
    done()
  })
  app.addHook('preParsing', (request, _reply, _body, done) => {
    const entry = open.get(request)
    if (entry) entry.since = Number.POSITIVE_INFINITY
    done()
  })
  app.addHook('preValidation', (request, _reply, done) => {
    const entry = open.get(request)
    if (entry) entry.since = performance.now()
    done()
  })
  const timer = setInterval(
    () => {
      const since = performance.now() - seconds * 1000
      for (const [request, entry] of open) {
        if (entry.since > since) continue
        open.delete(request)
        // A response that is already streaming, such as an export, has no deadline.
        if (entry.reply.sent || entry.reply.raw.headersSent) continue
        request.isOverdue = true
        entry.reply.send(fail('unfinished', undefined, { headers: { 'Retry-After': '1' } }))
      }
    },
    (seconds * 1000) / looks,
  ).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
