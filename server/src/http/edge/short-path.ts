// The short path of hot routes: the same checks in the same order as every request passes, without the hooks that have nothing to
// do for them. Whatever is unusual about a request sends it the usual way, before anything was counted or read: another form of
// body or key, an `Idempotency-Key`, an environment whose clock is held or that stands before another service.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyRequest, RouteOptions } from 'fastify'
import type { ApiKeys } from './auth.ts'
import { parseBody } from './body.ts'
import type { Deadline } from './deadline.ts'
import type { Metrics } from './metrics.ts'
import type { Held, Overload } from './overload.ts'
import type { Environment } from './resource.ts'
import type { NeededScope } from './scopes.ts'

/** Larger bodies take the usual path, which counts their bytes as they come. */
const mostBytes = 64 * 1024
const bodyTypes: ReadonlySet<string | undefined> = new Set(['application/json', 'application/json; charset=utf-8'])
export const json = 'application/json; charset=utf-8'

interface Parts {
  apiKeys: Pick<ApiKeys, 'recall'>
  overload: Overload
  deadline: Deadline
  metrics: Metrics
  log: FastifyBaseLogger
  stopping: { readonly isStopping: boolean }
  newId(): string
  /** Names and values in turns. */
  headers: readonly string[]
  compile(schema: RouteOptions['schema']): Pick<Route, 'check' | 'serialize'>
  failureOf(error: Error, request: FailedRequest): Failure
}

/** What the answer to an error tells of its request. */
export type FailedRequest = Pick<FastifyRequest, 'url' | 'raw' | 'headers' | 'log' | 'id'> &
  Partial<Pick<FastifyRequest, 'rules'>>

export interface Failure {
  status: number
  headers: Record<string, string>
  body: string
}

interface Route {
  url: string
  scope: NeededScope
  check(body: unknown): { value?: unknown; error?: Error }
  handle(request: Exchange, reply: Exchange): Promise<unknown>
  serialize(answer: unknown): string
}

export class ShortPath {
  readonly #parts: Parts
  readonly #routes = new Map<string, Route>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Takes the route in, if it is hot. */
  add({ url, config, schema, handler }: RouteOptions): void {
    if (!config?.hot) return
    const handle = handler as unknown as Route['handle']
    this.#routes.set(url, { url, scope: config.scope ?? 'administer', handle, ...this.#parts.compile(schema) })
  }

  /** Puts itself before those who get the server's requests now. */
  serve(server: Server): void {
    const usual = server.listeners('request') as Array<(raw: IncomingMessage, response: ServerResponse) => void>
    server.removeAllListeners('request')
    server.on('request', (raw: IncomingMessage, response: ServerResponse) => {
      if (!this.#take(raw, response)) for (const listener of usual) listener.call(server, raw, response)
    })
  }

  /** @returns whether the request is answered here */
  #take(raw: IncomingMessage, response: ServerResponse): boolean {
    const route = raw.method === 'POST' ? this.#routes.get(raw.url ?? '') : undefined
    if (!route || this.#parts.stopping.isStopping) return false
    const { headers } = raw
    const bytes = Number(headers['content-length'])
    const isUsual = bytes > 0 && bytes <= mostBytes && bodyTypes.has(headers['content-type'])
    if (!isUsual || headers['idempotency-key'] !== undefined) return false
    const caller = this.#parts.apiKeys.recall(headers.authorization)
    if (!caller?.rights.may(route.scope)) return false
    new Exchange(this.#parts, route, caller.environment, raw, response).begin(bytes)
    return true
  }
}

/**
 * One request and its answer, in the form in which handlers and the deadline know both. Nothing in it is private with `#`, and its
 * constructor alone sets its members: V8 takes 8 µs for what ten of those declare.
 */
class Exchange {
  declare readonly request: this
  declare readonly environment: Environment
  declare readonly raw: IncomingMessage
  declare body: unknown
  declare waitsSince: number
  declare watchedAt: number
  declare isOverdue: boolean
  declare private readonly parts: Parts
  declare private readonly route: Route
  declare private readonly response: ServerResponse
  declare private status: number

  constructor(parts: Parts, route: Route, environment: Environment, raw: IncomingMessage, response: ServerResponse) {
    this.request = this
    this.environment = environment
    this.raw = raw
    this.body = undefined
    this.waitsSince = 0
    this.watchedAt = 0
    this.isOverdue = false
    this.parts = parts
    this.route = route
    this.response = response
    this.status = 200
  }

  get headers() {
    return this.raw.headers
  }

  get url(): string {
    return this.raw.url ?? ''
  }

  get log(): FastifyBaseLogger {
    return this.parts.log
  }

  get id(): string {
    return this.parts.newId()
  }

  get sent(): boolean {
    return this.response.headersSent
  }

  code(status: number): void {
    this.status = status
  }

  begin(bytes: number): void {
    const { overload, deadline, metrics } = this.parts
    let held: Held | undefined
    deadline.watch(this)
    const began = this.waitsSince
    this.response.on('close', () => {
      deadline.forget(this)
      if (held) overload.leave(held)
      if (!this.response.writableFinished) return
      metrics.note('POST', this.route.url, this.response.statusCode, (performance.now() - began) / 1000)
    })
    try {
      held = overload.enter()
      overload.charge(held, this.environment.id, bytes)
    } catch (error) {
      this.send(error as Error)
      return
    }
    this.read(bytes)
  }

  /** The time a client takes to send its body does not count. */
  private read(bytes: number): void {
    this.waitsSince = Number.POSITIVE_INFINITY
    let [parts, missing]: [Buffer[], number] = [[], bytes]
    this.raw.on('data', (part: Buffer) => {
      parts.push(part)
      missing -= part.length
      if (missing > 0) return
      this.work(parts.length === 1 ? part : Buffer.concat(parts))
      parts = []
    })
  }

  private work(bytes: Buffer): void {
    const { check, handle, serialize } = this.route
    this.waitsSince = performance.now()
    try {
      const { value, error } = check(parseBody(bytes))
      if (error) throw error
      this.body = value
      handle(this, this).then(
        (answer) => this.answer(this.status, serialize(answer)),
        (failure: unknown) => this.send(failure as Error),
      )
    } catch (error) {
      this.send(error as Error)
    }
  }

  send(error: Error): void {
    if (this.sent) return
    const { status, headers, body } = this.parts.failureOf(error, this)
    this.answer(status, body, Object.entries(headers).flat())
  }

  /** Unless the deadline has answered, or the client is gone. */
  private answer(status: number, text: string, headers: string[] = []): void {
    if (this.sent || this.response.destroyed) return
    const bytes = Buffer.byteLength(text)
    const head = [...this.parts.headers, 'content-type', json, 'content-length', String(bytes)]
    this.response.writeHead(status, headers.length === 0 ? head : [...head, ...headers])
    // A text of one byte for each character needs no conversion.
    this.response.end(text, bytes === text.length ? 'latin1' : 'utf8')
  }
}
