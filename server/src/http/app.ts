// The HTTP server: parsing, authentication, the one place that turns an error into an answer, and all resources.
import { createHash, randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import formbody from '@fastify/formbody'
import serializerOf from 'fast-json-stringify'
import fastify, { type FastifyError, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { TSchema } from 'typebox'
import { isOutage, isTransient, isUnstorable } from '../db/core/database.ts'
import { EnvironmentGone } from '../engine/core/held-clocks.ts'
import { fail, RequestError } from '../errors.ts'
import { registerAnswerLinks } from './edge/answer-links.ts'
import { registerAudit } from './edge/audit.ts'
import { ApiKeys } from './edge/auth.ts'
import { parseBody, parseBodyOfItems, parseForm, refuseUnstorableUrl } from './edge/body.ts'
import { networkOf } from './edge/caller-network.ts'
import { Deadline } from './edge/deadline.ts'
import { health } from './edge/health.ts'
import { HeldRequests } from './edge/held-clock.ts'
import { Idempotency } from './edge/idempotency.ts'
import { announcedBytes, type Held, Overload } from './edge/overload.ts'
import { People } from './edge/people.ts'
import { registerProof } from './edge/proof.ts'
import { registerProtection } from './edge/protection.ts'
import { takeTokens } from './edge/rate-limit.ts'
import { type App, type Clock, logOf, type Services, sharedLogger } from './edge/resource.ts'
import { refuseLesserKey, registerScopes, scopeNeededFor } from './edge/scopes.ts'
import { type FailedRequest, type Failure, json, ShortPath } from './edge/short-path.ts'
import { registerTraces } from './edge/traces.ts'
import { compileValidator } from './edge/validation.ts'
import { openToBrowsers } from './inbox/cors.ts'
import { InboxTokens } from './inbox/token.ts'
import { resources } from './routes.ts'
import { ShadowDoor } from './shadow/door.ts'
import { registerDocs } from './site/docs.ts'

/** Of one path segment. A longer one would only reach the catch-all route of the dashboard. */
const longestPart = 2_000

/** The route of the dashboard's page: whatever no other route is. */
const everyPath = '/*'

/** Bodies over this many bytes are refused, unless a route allows more. */
const bodyLimit = 100 * 1024

export async function buildApp(given: Omit<Services, 'apiKeys' | 'people'>): Promise<App> {
  const apiKeys = new ApiKeys(given)
  const people = new People(given)
  const services: Services = { ...given, apiKeys, people }
  const { clock, log, metrics, tracing, config, stopping } = services
  const failureOf = failureWith(clock)
  const answer = (error: Error, request: FastifyRequest, reply: FastifyReply) => {
    const { status, headers, body } = failureOf(error, request)
    void reply.code(status).headers(headers).type(json).send(body)
  }
  const newId = requestIds()
  const tokens = new InboxTokens(services)
  const overload = new Overload({ ...config, metrics })
  const app = fastify({
    loggerInstance: sharedLogger(log),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    keepAliveTimeout: 61_000,
    // A client that trickles bytes must not hold a connection forever.
    requestTimeout: 120_000,
    // At shutdown, close idle sockets and finish every request, even one that arrived a moment late.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: longestPart, ignoreTrailingSlash: true },
    genReqId: newId,
    trustProxy: config.trustedProxies.length > 0 && config.trustedProxies,
    frameworkErrors: (error, request, reply) => {
      openToBrowsers(request, reply.headers(securityHeaders), services.brand)
      answer(error, request, reply)
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, clock.now()),
  }).withTypeProvider() as unknown as App

  app.setValidatorCompiler((route) =>
    onFirstUse(() => validators.of([route.httpPart === 'body', route.schema], () => compileValidator(route))),
  )
  app.setSerializerCompiler(({ schema }) => onFirstUse(() => serializers.of(schema, () => serializerOf(schema))))
  app.setErrorHandler(answer)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    let body: unknown
    try {
      body = request.rules.judgesItems ? parseBodyOfItems(bytes) : parseBody(bytes)
    } catch (error) {
      return done(error as Error)
    }
    done(null, body)
  })
  await app.register(formbody, { parser: parseForm as (text: string) => Record<string, unknown> })

  if (tracing) registerTraces(app, tracing)
  app.decorateRequest('environment')
  app.decorateRequest('session')
  app.decorateRequest('person')
  app.decorateRequest('key')
  app.decorateRequest('held')
  app.decorateRequest('rules')
  const deadline = new Deadline(app, config.answerSeconds)
  const idempotency = new Idempotency(app, services)
  const heldRequests = new HeldRequests(app, services)
  const door = new ShadowDoor(app, services)
  // One hook for each stage of a request: each costs something even where it has nothing to do. None has a promise where there is
  // nothing to wait for.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders)
    // A client with a kept-alive connection would otherwise never move to another process.
    if (stopping.isStopping) reply.header('Connection', 'close')
    const isPreflight = openToBrowsers(request, reply, services.brand)
    if (isPreflight) return void reply.code(204).send()
    // Made anew each time it is asked for.
    const { config: rules } = request.routeOptions
    request.rules = rules
    const isUnknown = request.is404 || rules.url === everyPath
    // The service behind a shadow environment may know it.
    const isTried = isUnknown && request.headers.authorization !== undefined
    if (request.is404 && !isTried) throw notFound(request)
    refuseUnstorableUrl(request.url)
    if (request.url.length > longestPart) refuseLongParts(request.url)
    const held = rules.always ? undefined : overload.enter()
    request.held = held
    deadline.watch(reply)
    // Answered completely, or abandoned by the client.
    reply.raw.on('close', () => {
      deadline.forget(reply)
      if (held) overload.leave(held)
    })
    const waiting = isTried ? tryKey(request) : held && authenticate(request, reply, held)
    if (!waiting && !request.isPassedOn) return done()
    Promise.resolve(waiting)
      .then(() => {
        if (request.isPassedOn) return door.pass(request, reply)
        return request.is404 ? done(notFound(request)) : done()
      }, done)
      .catch(done)
  })
  /** Whose key it is, for a path that we do not know. Whoever has none gets the same answer as ever. */
  const tryKey = async (request: FastifyRequest): Promise<void> => {
    try {
      await apiKeys.authenticate(request, () => undefined)
      const needed = scopeNeededFor(request.method, request.url.split('?', 1)[0] ?? '', {})
      request.isPassedOn = request.environment.isShadow && door.takes(request) && request.key?.may(needed) === true
    } catch {
      request.isPassedOn = false
    }
  }
  /** Who asks, and whether they may. @returns a promise if that has to be looked up */
  const authenticate = (request: FastifyRequest, reply: FastifyReply, held: Held): Promise<void> | undefined => {
    const { inbox: isInbox, public: isPublic, people: isForPeople } = request.rules
    // Until we know who asks, the load counts against the client's address: made-up keys must not use up others' share.
    const from = () => `from ${networkOf(request.ip)}`
    const beforeLookUp = () => overload.charge(held, from(), 0)
    const chargeTo = (environmentId?: string) => overload.charge(held, environmentId ?? from(), announcedBytes(request))
    const admit = (): Promise<void> | undefined => {
      if (isForPeople && request.key) throw fail('people_only')
      if (request.environment?.isShadow) request.isPassedOn = door.takes(request)
      if (request.key) refuseLesserKey(request, request.key)
      chargeTo(request.environment?.id)
      // A request that we make to ourselves was counted when it came in.
      if (config.rateLimit === 'off' || request.way !== undefined) return undefined
      return takeTokens({ ...services, level: config.rateLimit }, request, reply)
    }
    if (isInbox)
      return tokens.authenticate(request).then((session) => {
        request.session = session
        chargeTo(session?.environmentId)
      })
    if (isPublic) {
      chargeTo()
      return undefined
    }
    const token = people.tokenOf(request)
    if (token !== undefined) {
      // The next person at the same browser must not see this from its cache.
      reply.header('Cache-Control', 'no-store')
      return people.authenticate(request, token, beforeLookUp).then(admit)
    }
    if (isForPeople && request.headers.authorization === undefined) throw fail('not_signed_in')
    const looking = apiKeys.authenticate(request, beforeLookUp)
    return looking ? looking.then(admit) : admit()
  }
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, takesBody: route.schema?.body !== undefined }
    const isReading = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD')
    if (isReading) return
    route.preParsing = (request, _reply, body, done) => {
      // The time a client takes to send its body does not count.
      request.waitsSince = Number.POSITIVE_INFINITY
      const { held, headers } = request
      done(null, held && headers['transfer-encoding'] ? (overload.counted(held, body) as typeof body) : body)
    }
  })
  app.addHook('preValidation', (request, reply, done) => {
    request.waitsSince = performance.now()
    // Treat a missing body as an empty one, so that the answer names the missing members.
    if (request.body === undefined && request.rules.takesBody) request.body = {}
    const held = heldRequests.environmentOf(request)
    const hasKey = request.headers['idempotency-key'] !== undefined
    if (held === undefined && !hasKey) return done()
    if (held === undefined) return idempotency.take(request, reply)
    return heldRequests.enter(request, reply, held).then(() => (hasKey ? idempotency.take(request, reply) : undefined))
  })
  app.addHook('onSend', idempotency.keep)
  app.addHook('onClose', apiKeys.writeUses)
  registerScopes(app)
  const shortPath = new ShortPath({
    ...{ apiKeys, overload, deadline, metrics, log, stopping, newId },
    headers: Object.entries(securityHeaders).flat(),
    compile: ({ body, response } = {}) => {
      const schemas = response as Record<string, object>
      return {
        check: onFirstUse(() =>
          compileValidator({ schema: body as TSchema, httpPart: 'body', method: '', url: '' }),
        ) as never,
        serialize: onFirstUse(() => serializerOf(schemas['201'] ?? {})),
      }
    },
    failureOf,
  })
  app.addHook('onRoute', (route) => shortPath.add(route))
  registerProtection(app)
  registerProof(app)
  registerAudit(app, services)
  registerAnswerLinks(app)
  app.addHook('onResponse', (request, reply, done) => {
    metrics.observe(request, reply)
    done()
  })
  if (config.wrapData) registerWrapping(app)

  if (config.role === 'worker') {
    health(app, services)
    return app
  }
  await registerDocs(app)
  for (const register of resources) register(app, services)
  if (!tracing && !config.wrapData && config.rateLimit === 'off') shortPath.serve(app.server)
  return app
}

const notFound = ({ method, url }: FastifyRequest) => fail('route_not_found', { method, path: url })

function refuseLongParts(url: string): void {
  const [path = ''] = url.split('?', 1)
  if (path.split('/').some((part) => part.length > longestPart)) throw fail('url_too_long')
}

/** Compiling every response schema up front would be a good part of the start time. */
function onFirstUse<Argument, Result>(make: () => (argument: Argument) => Result): (argument: Argument) => Result {
  let made: ((argument: Argument) => Result) | undefined
  return (argument) => {
    made ??= make()
    return made(argument)
  }
}

/** By schema: of several routes that have the same one, the first compiles it. */
class Compiled<Made> {
  readonly #made = new Map<string, Made>()

  of(schema: unknown, make: () => Made): Made {
    const key = createHash('sha256').update(JSON.stringify(schema)).digest('base64')
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const made = make()
    this.#made.set(key, made)
    return made
  }
}

const validators = new Compiled<ReturnType<typeof compileValidator>>()
const serializers = new Compiled<ReturnType<typeof serializerOf>>()

/** Unique among all processes: a name that is drawn at the start, and a number. */
function requestIds(): () => string {
  const process = randomUUID()
  let count = 0
  return () => {
    count += 1
    return `${process}-${count}`
  }
}

/** In lower case, as they are sent: anything else is converted for each request. */
const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  // The dashboard follows the pop-ups in which chat workspaces are connected.
  'cross-origin-opener-policy': 'same-origin-allow-popups',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Without the query, which can hold sign-in codes and email addresses, and without the token of a link. */
const loggedPath = ({ url, rules }: FailedRequest) =>
  rules?.url?.includes(':token') ? rules.url : url.split('?', 1)[0]

const failureWith =
  (clock: Clock) =>
  (error: Error, request: FailedRequest): Failure => {
    const failure = asRequestError(error, request)
    const errorId = failure.code === 'internal' ? randomUUID() : undefined
    const path = loggedPath(request)
    if (errorId) logOf(request).error({ err: error, errorId, path }, 'request failed unexpectedly')
    // Metrics count shed requests; logging them would add work just when there is too much.
    else if (failure.status >= 500 && failure.code !== 'overloaded')
      logOf(request).warn({ err: error, path }, 'could not serve the request')
    else if (failure.code === 'unstorable')
      logOf(request).warn({ err: error, path }, 'validation accepted a value that the database refused')
    const { status, headers } = failure
    return { status, headers, body: errorBody(failure, { path: request.url, now: clock.now(), errorId }) }
  }

interface Occasion {
  path: string
  now: Date
  errorId?: string | undefined
}

/** Repeats the members of `ctx` at the top level, where older clients look; the standard fields win. */
function errorBody(failure: RequestError, { path, now, errorId }: Occasion): string {
  const { code, status, message } = failure
  const reason = { error: STATUS_CODES[status], statusCode: status }
  const ctx = code === 'internal' ? undefined : isBare(failure) ? {} : { ...reason, ...failure.ctx }
  const missingErrors = status === 422 && failure.ctx?.errors === undefined
  return JSON.stringify({
    ...ctx,
    ...(isBare(failure) ? failure.ctx : {}),
    ...(missingErrors ? { errors: { general: { messages: [message], value: 'No Value Recorded' } } } : {}),
    statusCode: status,
    timestamp: now.toISOString(),
    path,
    message,
    code,
    ctx,
    errorId,
  })
}

/** Validation and rate-limit answers have an empty `ctx`. */
const isBare = ({ code }: RequestError) =>
  code === 'validation' || code === 'field_validation' || code === 'rate_limited'

function asRequestError(error: Error, request: FailedRequest): RequestError {
  if (error instanceof RequestError) return error
  // Deleted since its key was checked.
  if (error instanceof EnvironmentGone) return fail('api_key_not_found', undefined, { cause: error })
  // The client hung up while sending its body. That fails with ECONNRESET, as an unreachable database does.
  if (!request.raw.complete && request.raw.destroyed) return fail('malformed_request', undefined, { cause: error })
  if (isTransient(error)) {
    const code = isOutage(error) ? 'unavailable' : 'unfinished'
    return fail(code, undefined, { cause: error, headers: { 'Retry-After': '1' } })
  }
  if (isUnstorable(error)) return fail('unstorable', undefined, { cause: error })
  const { code, statusCode } = error as FastifyError
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return fail('body_too_large')
  if (code === 'FST_ERR_BAD_URL') return fail('malformed_encoding')
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return fail('url_too_long')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return fail('unsupported_media_type', { contentType: request.headers['content-type'] ?? '' })
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return fail('bad_request', { reason: error.message }, { cause: error })
  return fail('internal', undefined, { cause: error })
}

const brokenRequestCodes: Record<string, 'request_timeout' | 'headers_too_large'> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
}

/** Input that is not HTTP, or did not arrive completely, never became a request: answer on the bare socket. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, now: Date): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const failure = fail(brokenRequestCodes[error.code ?? ''] ?? 'malformed_request')
  const body = errorBody(failure, { path: '', now })
  const head = [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}`,
    `Content-Type: ${json}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

/** For clients that expect `{"data": …}` around every body except pages of lists. */
function registerWrapping(app: App): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isBody = typeof payload === 'string' && reply.statusCode < 300 && reply.statusCode !== 204
    const isJson = String(reply.getHeader('content-type')).startsWith('application/json')
    if (!isBody || !isJson) return payload
    const isOurs = request.rules.public || request.person !== undefined
    if (isOurs || isPage(request, reply)) return payload
    return `{"data":${payload}}`
  })
}

/** Only pages have a list as their `data`. */
function isPage(request: FastifyRequest, reply: FastifyReply): boolean {
  const answers = request.routeOptions.schema?.response as Record<string, AnswerSchema> | undefined
  return answers?.[reply.statusCode]?.properties?.data?.type === 'array'
}

interface AnswerSchema {
  properties?: { data?: { type?: string } }
}
