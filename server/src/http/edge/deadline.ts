// Nobody waits for ever: a request that has not been answered for so long is told to come back. What it began may still be
// done, as when its connection had broken; so whoever repeats it says so, by a `transactionId` or an `Idempotency-Key`.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import type { App } from './resource.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it was answered before it was done. */
    isOverdue: boolean
  }
}

/** Between two looks, as a part of the time there is. */
const looks = 20

/** To be called ahead of everything that may take long. How long a caller takes to send its body is not counted. */
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
        // What has begun to be sent, as an export, takes as long as it takes.
        if (entry.reply.sent || entry.reply.raw.headersSent) continue
        request.isOverdue = true
        entry.reply.send(fail('unfinished', undefined, { headers: { 'Retry-After': '1' } }))
      }
    },
    (seconds * 1000) / looks,
  ).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
