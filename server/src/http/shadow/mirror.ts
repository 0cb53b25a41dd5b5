// Does here what succeeded at the service behind an environment: as a request to ourselves, so that it passes through everything
// that a caller's does. What fails here is a difference; callers never learn of it.
import type { FastifyRequest } from 'fastify'
import { type Difference, noteFailed, notePassedOn, shadowHeader } from '../../db/queries/shadow.ts'
import type { RelayedAnswer } from '../../providers/http-client.ts'
import { type App, logOf, type Services } from '../edge/resource.ts'
import { type Event, jsonOf, parsed, pathOf, toJson, withEvents } from './said.ts'

/** What is done here too. What belongs to single messages is not: their ids differ. */
const written = /^\/v[12]\/(subscribers|topics|contexts|tenants)(\/|$)|^\/v1\/events\/(cancel$|trigger\/)/
const ofMessages = /\/(messages|notifications|preferences-link|inbox-sessions|push-subscriptions)(\/|$)/

const longestMessage = 500

type Parts = Pick<Services, 'db' | 'clock' | 'log'>

/** A trigger, or several, that the service behind has taken. */
interface PassedOn {
  body: Buffer
  events: Event[]
  isBulk: boolean
  answer: RelayedAnswer
  settleMinutes: number
}

export class Mirror {
  readonly #app: App
  readonly #parts: Parts
  readonly #secret: string

  constructor(app: App, parts: Parts, secret: string) {
    this.#app = app
    this.#parts = parts
    this.#secret = secret
  }

  /** Here only: the answer is for the caller. */
  here(request: FastifyRequest, body: Buffer): Promise<RelayedAnswer> {
    return this.#send(request, 'here', body)
  }

  /** A part of a bulk request. A refusal of all becomes one of each, as the others were taken. */
  async hereInBulk(request: FastifyRequest, body: Buffer, count: number): Promise<unknown[]> {
    const answer = await this.#send(request, 'here', body)
    const { value, list } = jsonOf(answer)
    if (list && answer.status < 300) return list
    const error = [messageIn(value)]
    return Array.from({ length: count }, () => ({ acknowledged: true, status: 'error', error }))
  }

  /** Triggers, under the transaction ids that the service behind gave them. */
  async triggers(request: FastifyRequest, { body, events, isBulk, answer, settleMinutes }: PassedOn): Promise<void> {
    await this.#quietly(request, async () => {
      const { value, list } = jsonOf(answer)
      const answers = (isBulk ? (list ?? []) : [value]) as Array<Record<string, unknown> | null>
      const taken = events.flatMap((event, place) => {
        const { transactionId, status } = answers[place] ?? {}
        return typeof transactionId === 'string' && status !== 'error' ? [{ ...event, transactionId }] : []
      })
      if (taken.length === 0) return
      const { db, clock } = this.#parts
      const passedOn = taken.map(({ name, transactionId }) => ({ workflowId: name, transactionId }))
      const { id } = request.environment
      await notePassedOn(db, id, passedOn, { now: clock.now(), settleMinutes })
      const done = await this.#send(request, 'mirrored', isBulk ? withEvents(body, taken) : toJson(taken[0]))
      const { value: said, list: each } = jsonOf(done)
      const failed = passedOn.flatMap(({ workflowId, transactionId }, place) => {
        const one = (isBulk && each ? each[place] : said) as Record<string, unknown> | undefined
        const isFailed = done.status >= 300 || one?.status === 'error'
        const here = isFailed ? failureIn(done.status, one) : undefined
        return here ? [{ ...differenceOf('trigger', answer, here), workflowId, transactionId }] : []
      })
      if (failed.length > 0) await noteFailed(db, id, failed, clock.now())
    })
  }

  /** Any other write. */
  async write(request: FastifyRequest, body: Buffer, answer: RelayedAnswer): Promise<void> {
    const path = pathOf(request)
    const { method } = request
    if (method === 'GET' || method === 'HEAD' || !written.test(path) || ofMessages.test(path)) return
    await this.#quietly(request, async () => {
      const done = await this.#send(request, 'mirrored', body)
      if (done.status < 300) return
      const { subscriberId } = {
        ...(parsed(body) as Record<string, unknown> | undefined),
        ...(request.params as Record<string, string>),
      }
      const found = {
        ...differenceOf(`${method} ${path}`, answer, failureIn(done.status, jsonOf(done).value)),
        subscriberId: typeof subscriberId === 'string' ? subscriberId : null,
      }
      const { db, clock } = this.#parts
      await noteFailed(db, request.environment.id, [found], clock.now())
    })
  }

  /** The caller has the answer of the service behind, whatever happens here. */
  async #quietly(request: FastifyRequest, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      logOf(request).error({ err: error }, 'what was passed on could not be done here too')
    }
  }

  async #send(request: FastifyRequest, way: 'mirrored' | 'here', body: Buffer): Promise<RelayedAnswer> {
    const { headers, method, url, ip } = request
    // A repetition is found by its transaction id, or has the same effect.
    const kept = ['authorization', 'content-type', 'belfry-environment', ...(way === 'here' ? ['idempotency-key'] : [])]
    const {
      statusCode,
      headers: said,
      rawPayload,
    } = await this.#app.inject({
      ...{ method: method as 'POST', url, remoteAddress: ip },
      headers: {
        ...Object.fromEntries(kept.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))),
        [shadowHeader]: `${this.#secret} ${way}`,
      },
      ...(body.length === 0 ? {} : { payload: body }),
    })
    return { status: statusCode, headers: said as RelayedAnswer['headers'], bytes: rawPayload }
  }
}

const differenceOf = (path: string, { status }: RelayedAnswer, here: object): Difference => ({
  ...{ transactionId: null, subscriberId: null, workflowId: null, stepId: null },
  ...{ kind: 'missing', path, upstream: { status }, here },
})

function failureIn(status: number, said: unknown): object {
  const { code } = (said ?? {}) as { code?: unknown }
  return { status, ...(typeof code === 'string' ? { code } : {}), message: messageIn(said) }
}

function messageIn(said: unknown): string {
  const { message, error } = (said ?? {}) as { message?: unknown; error?: unknown }
  const [first] = [error, message].flat().filter((each): each is string => typeof each === 'string')
  return (first ?? 'It failed here').slice(0, longestMessage).toWellFormed()
}
