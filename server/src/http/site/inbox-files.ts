// The embeddable inbox: one script, the same as modules, and languages; and the worker that shows push messages.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import { packageFolder } from '../../package-folder.ts'
import type { Resource } from '../edge/resource.ts'
import { StaticFiles } from './static-files.ts'

/** Any page may load them. */
const headers = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' }

export const inboxFiles: Resource = (app) => {
  const dist = new URL('../inbox/dist/', packageFolder)
  const script = new StaticFiles(dist)
  const modules = new StaticFiles(new URL('inbox/', dist))
  const options = { config: { public: true }, schema: { hide: true } }
  const send = async (files: StaticFiles, request: FastifyRequest, reply: FastifyReply, name: string) => {
    if (!(await files.send(request, reply, name, headers)))
      throw fail('route_not_found', { method: request.method, path: request.url })
    return reply
  }

  app.get('/inbox.js', options, async (request, reply) => send(script, request, reply, 'inbox.js'))
  app.get('/push-worker.js', options, async (request, reply) => send(script, request, reply, 'push-worker.js'))
  app.get('/inbox/*', options, async (request, reply) =>
    send(modules, request, reply, (request.params as { '*': string })['*']),
  )
}
