// A span for every request, continuing the client's trace; log lines and calls within the request belong to it.
import type { Span } from '@opentelemetry/api'
import { loggedOf, type Tracing } from '../../tracing.ts'
import type { App } from './resource.ts'

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | undefined
  }
}

/** Polled every few seconds by machines, or open for hours. */
const untraced = new Set(['/health/live', '/health/ready', '/metrics', '/socket.io'])

/** Register before all other hooks. */
export function registerTraces(app: App, tracing: Tracing): void {
  app.decorateRequest('span')
  app.addHook('onRequest', async (request) => {
    const { method, headers } = request
    const { url: route } = request.routeOptions
    if (route === undefined || untraced.has(route)) return
    const { traceparent } = headers
    request.span = tracing.begin(`${method} ${route}`, {
      kind: 'server',
      parent: typeof traceparent === 'string' ? traceparent : null,
      attributes: { 'http.request.method': method, 'http.route': route },
    })
    request.log = request.log.child(loggedOf(request.span))
  })
  // The last hook before the handler: earlier hooks lose the span when the body arrives.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span) tracing.within(request.span, done)
    else done()
  })
  app.addHook('onResponse', async ({ span, environment, session }, { statusCode }) => {
    if (!span) return
    const environmentId = environment?.id ?? session?.environmentId
    span.setAttribute('http.response.status_code', statusCode)
    if (environmentId !== undefined) span.setAttribute('belfry.environment_id', environmentId)
    if (statusCode >= 500) tracing.fail(span, String(statusCode))
    span.end()
  })
}
