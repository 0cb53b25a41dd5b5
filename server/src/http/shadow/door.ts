// The door of an environment in front of another service. Requests with its key go on to that service, and its answers come back
// as they are. What succeeds there is done here too (`mirror.ts`); triggers of live workflows are done here only.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findLiveHere, findShadow, type Shadow, shadowHeader } from '../../db/queries/shadow.ts'
import { fail } from '../../errors.ts'
import { DeliveryError, type DeliveryErrorCode } from '../../providers/delivery-error.ts'
import type { HttpMethod, RelayedAnswer } from '../../providers/http-client.ts'
import type { App, Services } from '../edge/resource.ts'
import { Mirror } from './mirror.ts'
import { type Event, jsonOf, pathOf, readEvents, withEvents } from './said.ts'

/** As large as the largest trigger may be. */
const mostBytes = 26 * 1024 * 1024
/** Of an answer, such as an export. */
const mostAnswered = 64 * 1024 * 1024
const timeoutMs = 30_000

/** Says through which environments a request came, so that none leads back to itself. */
const viaHeader = 'belfry-shadow-via'

/** What is asked of Belfry itself: the parts of a path, by the route's own pattern. */
const own = [
  /^\/v2\/(definitions|shadow|import)(\/|$)/,
  /^\/v1\/(sandbox|environments)(\/|$)/,
  /^\/v2\/(workflows|layouts)\/[^/]+\/versions(\/|$)/,
]

/** Of one connection, not of the request. */
const hopByHop = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'expect'],
])
/** These we say ourselves. Answers come unpacked, since triggers have to be read. */
const notPassedOn = new Set([
  ...hopByHop,
  ...['host', 'authorization', 'content-length', 'accept-encoding', shadowHeader, viaHeader, 'belfry-environment'],
])
const notPassedBack = new Set([...hopByHop, 'content-length'])

const bulkPath = '/v1/events/trigger/bulk'
const triggerPaths = new Set(['/v1/events/trigger', '/v1/events/trigger/broadcast', bulkPath])
const cancelPath = '/v1/events/trigger/:transactionId'
const keyPath = '/v1/events/cancel'

type Parts = Pick<Services, 'db' | 'clock' | 'secrets' | 'http' | 'log'>

export class ShadowDoor {
  readonly #parts: Parts
  readonly #mirror: Mirror
  /** Tells requests that we make to ourselves from those of callers. */
  readonly #secret = randomUUID()

  constructor(app: App, parts: Parts) {
    this.#parts = parts
    this.#mirror = new Mirror(app, parts, this.#secret)
    app.decorateRequest('way')
    app.decorateRequest('isPassedOn', false)
  }

  /** Whether a request in a shadow environment goes on. A request of our own learns its way instead. */
  takes(request: FastifyRequest): boolean {
    const { [shadowHeader]: asked } = request.headers
    if (asked === `${this.#secret} mirrored`) request.way = 'mirrored'
    if (asked === `${this.#secret} here`) request.way = 'here'
    if (!request.key || request.way !== undefined || asked === 'here') return false
    const path = pathOf(request)
    return !own.some((pattern) => pattern.test(path))
  }

  /** Answers the request. Rejects if there is no answer from behind. */
  async pass(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // Its time is that of the service behind; nothing is done here that the audit log would tell.
    request.waitsSince = Number.POSITIVE_INFINITY
    request.acted = false
    const body = await readBody(request.raw)
    const shadow = await findShadow(this.#parts.db, request.environment.id)
    if (!shadow) throw fail('api_key_not_found')
    const answer = await this.#answer({ request, body, shadow })
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined && !notPassedBack.has(name)) reply.header(name, value)
    reply.code(answer.status)
    if (answer.bytes.length === 0) reply.send()
    else reply.send(answer.bytes)
  }

  async #answer(asked: Asked): Promise<RelayedAnswer> {
    const { request, body, shadow } = asked
    const route = request.method + pathOf(request)
    if (request.method === 'POST' && triggerPaths.has(pathOf(request))) return this.#trigger(asked)
    if (route === `DELETE${cancelPath}`) {
      const { transactionId } = request.params as { transactionId: string }
      const live = await findLiveHere(this.#parts.db, request.environment.id, [transactionId])
      if (live.size > 0) return this.#mirror.here(request, body)
    }
    if (route === `POST${keyPath}` && shadow.live.length > 0) return this.#cancelByKey(asked)
    const answer = await this.#relay(request, shadow, body)
    if (isSuccess(answer)) await this.#mirror.write(request, body, answer)
    return answer
  }

  /** Runs with one key may be on both sides. Each that was passed on is here too, so we know how many there are. */
  async #cancelByKey({ request, body, shadow }: Asked): Promise<RelayedAnswer> {
    const own = await this.#mirror.here(request, body)
    if (!isSuccess(own)) return own
    const answer = await this.#relay(request, shadow, body)
    // It may not know such a request. One that failed there has to be made again.
    return answer.status >= 500 ? answer : own
  }

  async #trigger({ request, body, shadow }: Asked): Promise<RelayedAnswer> {
    const isBulk = pathOf(request) === bulkPath
    const events = readEvents(body, isBulk)
    // One that was delivered here is found by its transaction id when it is repeated. The service behind would send it again.
    const unsure = events.filter(({ name }) => !shadow.live.includes(name))
    const ids = unsure.flatMap(({ transactionId: id }) => (typeof id === 'string' && !id.includes('\0') ? [id] : []))
    const known = await findLiveHere(this.#parts.db, request.environment.id, ids)
    const isLive = ({ name, transactionId }: Event) =>
      shadow.live.includes(name) || known.has(String(transactionId ?? ''))
    const [live, others] = [events.filter(isLive), events.filter((event) => !isLive(event))]
    if (live.length > 0 && others.length === 0) return this.#mirror.here(request, body)
    const passedOn = live.length === 0 ? body : withEvents(body, others)
    const answer = await this.#relay(request, shadow, passedOn)
    if (!isSuccess(answer)) return answer
    await this.#mirror.triggers(request, { body, events: others, isBulk, answer, ...shadow })
    if (live.length === 0) return answer
    const delivered = await this.#mirror.hereInBulk(request, withEvents(body, live), live.length)
    return merged(answer, events.map(isLive), delivered)
  }

  async #relay(
    { method, url, headers, environment }: FastifyRequest,
    shadow: Shadow,
    body: Buffer,
  ): Promise<RelayedAnswer> {
    const { http, secrets } = this.#parts
    const via = String(headers[viaHeader] ?? '')
    if (via.split(',').includes(environment.id))
      throw fail('upstream_unavailable', { reason: 'it leads back to this environment' })
    const given = Object.entries(headers).filter(([name, value]) => value !== undefined && !notPassedOn.has(name))
    const all = {
      ...Object.fromEntries(given.map(([name, value]) => [name, [value].flat().join(', ')])),
      authorization: `ApiKey ${secrets.decrypt(shadow.key)}`,
      'accept-encoding': 'identity',
      [viaHeader]: [...(via === '' ? [] : [via]), environment.id].join(','),
    }
    try {
      return await http.development.relay(shadow.upstreamUrl + url, {
        ...{ method: method as HttpMethod, headers: all, timeoutMs, mostBytes: mostAnswered },
        ...(body.length === 0 ? {} : { body }),
      })
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error
      throw fail('upstream_unavailable', { reason: reasons[error.code] ?? error.code }, { cause: error })
    }
  }
}

interface Asked {
  request: FastifyRequest
  body: Buffer
  shadow: Shadow
}

const reasons: Partial<Record<DeliveryErrorCode, string>> = {
  timeout: `nothing came within ${timeoutMs / 1000} seconds`,
  host_unknown: 'its host is unknown',
  connection_failed: 'it cannot be reached',
  connection_lost: 'the connection was lost',
  certificate_refused: 'its certificate is not valid',
  address_refused: 'its address is private; BELFRY_ALLOW_PRIVATE_ADDRESSES allows that',
  answer_too_large: `its answer is larger than ${mostAnswered / 1024 / 1024} MB`,
}

const isSuccess = ({ status }: RelayedAnswer): boolean => status >= 200 && status < 300

async function readBody(raw: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of raw as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > mostBytes) throw fail('body_too_large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The answers of both sides, in the order of the events. */
function merged(answer: RelayedAnswer, isLive: boolean[], delivered: unknown[]): RelayedAnswer {
  const { value, list, isWrapped } = jsonOf(answer)
  const [theirs, ours] = [[...(list ?? [])], [...delivered]]
  if (!list) return answer
  const all = isLive.map((live) => (live ? ours.shift() : theirs.shift()))
  const body = isWrapped ? { ...(value as object), data: all } : all
  return { ...answer, bytes: Buffer.from(JSON.stringify(body)) }
}
