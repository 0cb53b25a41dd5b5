// The HTTP server: parsing, authentication, the one place that turns an error into an answer, and all resources.
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import formbody from '@fastify/formbody'
import fastify, { type FastifyError, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { isOutage, isUnstorable } from '../db/database.ts'
import { fail, RequestError } from '../errors.ts'
import { ApiKeys } from './auth.ts'
import { parseBody, refuseUnstorableText } from './body.ts'
import { registerDocs } from './docs.ts'
import { health } from './health.ts'
import { registerIdempotency } from './idempotency.ts'
import { takeTokens } from './rate-limit.ts'
import type { App, Services } from './resource.ts'
import { resources } from './routes.ts'
import { compileValidator } from './validation.ts'

/** Bodies over this many bytes are refused, unless a route allows more. */
const bodyLimit = 100 * 1024

export async function buildApp(services: Services): Promise<App> {
  const { log, metrics, config } = services
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    keepAliveTimeout: 61_000,
    // Idle sockets are closed at shutdown, running requests are waited for.
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 2_000, ignoreTrailingSlash: true },
    genReqId: () => randomUUID(),
    frameworkErrors: (error, request, reply) => void answer(error, request, reply),
  }).withTypeProvider() as unknown as App

  app.setValidatorCompiler(compileValidator)
  app.setErrorHandler((error: FastifyError, request, reply) => answer(error, request, reply))
  app.setNotFoundHandler((request, reply) =>
    answer(fail('route_not_found', { method: request.method, path: request.url }), request, reply),
  )
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) =>
    parseBody(bytes),
  )
  await app.register(formbody)

  app.decorateRequest('environment')
  const apiKeys = new ApiKeys(services.db, services.changes)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders)
    refuseUnstorableText(decodeURIComponent(request.url))
    if (request.is404 || request.routeOptions.config.public) return
    request.environment = await apiKeys.authenticate(request)
    if (config.rateLimit !== 'off') await takeTokens({ ...services, level: config.rateLimit }, request, reply)
  })
  registerIdempotency(app, services)
  app.addHook('onResponse', async (request, reply) => metrics.observe(request, reply))
  if (config.wrapData) registerWrapping(app)

  if (config.role === 'worker') {
    health(app, services)
    return app
  }
  await registerDocs(app, services)
  for (const register of resources) register(app, services)
  return app
}

const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
}

async function answer(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const failure = asRequestError(error)
  const errorId = failure.code === 'internal' ? randomUUID() : undefined
  if (errorId) request.log.error({ err: error, errorId, path: request.url }, 'request failed unexpectedly')
  else if (failure.status >= 500) request.log.warn({ err: error, path: request.url }, 'request could not be served')
  return reply
    .code(failure.status)
    .headers(failure.headers)
    .type('application/json; charset=utf-8')
    .send(errorBody(failure, request.url, errorId))
}

/** Every member of `ctx` also stands at the top level, where older callers look for it; the standard fields win. */
function errorBody(failure: RequestError, path: string, errorId: string | undefined): string {
  const reason = { error: STATUS_CODES[failure.status], statusCode: failure.status }
  const ctx = failure.code === 'internal' ? undefined : isBare(failure) ? {} : { ...reason, ...failure.ctx }
  const missingErrors = failure.status === 422 && failure.ctx?.errors === undefined
  return JSON.stringify({
    ...ctx,
    ...(isBare(failure) ? failure.ctx : {}),
    ...(missingErrors ? { errors: { general: { messages: [failure.message], value: 'No Value Recorded' } } } : {}),
    statusCode: failure.status,
    timestamp: new Date().toISOString(),
    path,
    message: failure.message,
    code: failure.code,
    ctx,
    errorId,
  })
}

/** Validation and rate-limit answers have an empty `ctx`. */
const isBare = ({ code }: RequestError) =>
  code === 'validation' || code === 'field_validation' || code === 'rate_limited'

function asRequestError(error: Error): RequestError {
  if (error instanceof RequestError) return error
  if (isOutage(error)) return fail('unavailable', undefined, { cause: error, headers: { 'Retry-After': '1' } })
  if (isUnstorable(error)) return fail('invalid_text', { reason: error.message }, { cause: error })
  const { code, statusCode } = error as FastifyError
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return fail('body_too_large')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return fail('unsupported_media_type', { contentType: error.message.split(': ').at(-1) ?? '' })
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return fail('bad_request', { reason: error.message }, { cause: error })
  return fail('internal', undefined, { cause: error })
}

/** For clients that expect `{"data": …}` around every body that is no page of a list. */
function registerWrapping(app: App): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isBody = typeof payload === 'string' && payload !== '' && reply.statusCode < 300
    const isJson = String(reply.getHeader('content-type')).startsWith('application/json')
    if (!isBody || !isJson || isPage(request) || request.routeOptions.config.public) return payload
    return `{"data":${payload}}`
  })
}

function isPage(request: FastifyRequest): boolean {
  const answers = request.routeOptions.schema?.response as Record<string, { properties?: object }> | undefined
  return Object.values(answers ?? {}).some(({ properties }) => properties !== undefined && 'data' in properties)
}
