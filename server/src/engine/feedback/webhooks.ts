// Sends webhooks: takes due deliveries, makes the requests outside of any transaction, and records the results. A delivery
// taken but never recorded is sent again, under the same id.
import { createHmac } from 'node:crypto'
import type pg from 'pg'
import type { Logger } from 'pino'
import { announce } from '../../db/core/changes.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import { storableJson } from '../../db/core/storable.ts'
import type { WebhookAttempt } from '../../db/core/tables.ts'
import { inTransaction, statement } from '../../db/core/transaction.ts'
import type { EndpointRow, EventRow } from '../../db/queries/webhook-events.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import type { HttpClient } from '../../providers/http-client.ts'
import type { Tracing } from '../../tracing.ts'
import type { Meter } from '../core/meter.ts'
import { queueComing, queueWakeUps } from '../runs/store.ts'
import { type EnvelopeContext, envelopeOf } from './webhook-envelope.ts'

const seconds = 1_000
const minutes = 60 * seconds
const hours = 60 * minutes

const timeoutMs = 15 * seconds
/** After the first attempt, and after each that failed. */
const retryAfterMs = [5 * seconds, 5 * minutes, 30 * minutes, 2 * hours, 5 * hours, 10 * hours, 10 * hours]
/** An endpoint that fails for this long is turned off. */
const patienceMs = 5 * 24 * hours
/** A request ends long before. An attempt not recorded by then was lost with its process. */
const leaseMs = 4 * timeoutMs

/** In parallel in one process, over all endpoints and for one of them: one that hangs leaves room for others. */
const mostAtOnce = 64
const mostPerEndpoint = 16
/** How much of the responses is kept. */
const longestResponse = 500
const mostHistory = 20

/**
 * Takes due deliveries, some of each endpoint, longest waiting first. Endpoints with work are found by skipping through the
 * index: reading everything due would cost more the longer an endpoint is down.
 */
const takeDeliveries = statement(
  'take_webhook_deliveries',
  `WITH RECURSIVE waiting AS (
     (SELECT endpoint_id FROM webhook_deliveries WHERE due_at IS NOT NULL ORDER BY endpoint_id LIMIT 1)
     UNION ALL
     SELECT (SELECT d.endpoint_id FROM webhook_deliveries d
             WHERE d.due_at IS NOT NULL AND d.endpoint_id > w.endpoint_id ORDER BY d.endpoint_id LIMIT 1)
     FROM waiting w WHERE w.endpoint_id IS NOT NULL
   ), turns AS (
     SELECT w.endpoint_id FROM waiting w CROSS JOIN LATERAL (
       SELECT d.due_at FROM webhook_deliveries d
       WHERE d.endpoint_id = w.endpoint_id AND d.due_at <= $1 ORDER BY d.due_at LIMIT 1) first
     WHERE w.endpoint_id <> ALL ($3::text[]) ORDER BY first.due_at LIMIT $4
   ), due AS (
     SELECT d.environment_id, d.id FROM turns t CROSS JOIN LATERAL (
       SELECT d.environment_id, d.id FROM webhook_deliveries d
       WHERE d.endpoint_id = t.endpoint_id AND d.due_at <= $1
       ORDER BY d.due_at LIMIT $2 FOR UPDATE SKIP LOCKED) d
     LIMIT $4
   ), taken AS (
     UPDATE webhook_deliveries d SET status = 'sending', attempts = d.attempts + 1, due_at = $5, updated_at = $1
     FROM due WHERE d.environment_id = due.environment_id AND d.id = due.id
     RETURNING d.environment_id, d.id, d.event_id, d.endpoint_id, d.attempts
   )
   SELECT t.*, row_to_json(v) AS event, row_to_json(e) AS endpoint, n.identifier, n.organization_id, n.type AS environment_type
   FROM taken t
   LEFT JOIN webhook_events v ON v.environment_id = t.environment_id AND v.id = t.event_id
   LEFT JOIN webhook_endpoints e ON e.environment_id = t.environment_id AND e.id = t.endpoint_id
   LEFT JOIN environments n ON n.id = t.environment_id`,
)

/** Records attempts. A delivery that another worker has leased since, because it seemed lost, is left alone. */
const saveAttempts = statement(
  'save_webhook_attempts',
  `UPDATE webhook_deliveries d SET status = r.status, due_at = r.due_at, updated_at = $2,
     history = (SELECT coalesce(jsonb_agg(entry ORDER BY place), '[]') FROM (
       SELECT entry, place FROM jsonb_array_elements(d.history || r.entry) WITH ORDINALITY AS h (entry, place)
       ORDER BY place DESC LIMIT ${mostHistory}) latest)
   FROM json_to_recordset($1::json)
     AS r (environment_id text, id text, attempts smallint, status text, due_at timestamptz, entry jsonb)
   WHERE d.environment_id = r.environment_id AND d.id = r.id AND d.attempts = r.attempts AND d.status = 'sending'`,
)

/** Written when it changes, not with every request. */
const noteSuccess = statement(
  'note_webhook_success',
  `UPDATE webhook_endpoints SET failing_since = NULL WHERE environment_id = $1 AND id = $2 AND failing_since IS NOT NULL`,
)
const noteFailure = statement(
  'note_webhook_failure',
  `UPDATE webhook_endpoints SET failing_since = $3
   WHERE environment_id = $1 AND id = $2 AND active AND failing_since IS NULL`,
)
const disableFailing = statement(
  'disable_failing_webhook',
  `UPDATE webhook_endpoints SET active = false, disabled_at = $3, updated_at = $3
   WHERE environment_id = $1 AND id = $2 AND active AND failing_since <= $4 RETURNING id`,
)

const findSoon = statement(
  'find_webhooks_soon',
  `SELECT min(due_at) AS due_at FROM webhook_deliveries WHERE due_at <= $1
   GROUP BY floor(extract(epoch FROM due_at) * 10) ORDER BY 1 LIMIT 5000`,
)

interface Surroundings {
  pool: pg.Pool
  clock: { now(): Date }
  log: Logger
  http: HttpClient
  secrets: Secrets
  brand: Pick<EnvelopeContext, 'toWire'>
  tracing?: Tracing | undefined
  meter?: Meter | undefined
}

interface Taken {
  environment_id: string
  id: string
  endpoint_id: string
  attempts: number
  /** Null if deleted since. */
  event: EventRow | null
  endpoint: EndpointRow | null
  identifier: string | null
  organization_id: string | null
  environment_type: 'dev' | 'prod' | null
}

type Verdict = { isDelivered: boolean; entry: WebhookAttempt; isFinal?: boolean }

export class Webhooks {
  readonly #surroundings: Surroundings
  /** Endpoints with requests in flight. */
  readonly #busy = new Map<string, Promise<void>>()
  #underWay = 0
  #sent = 0
  #isSending = false
  #isAskedAgain = false
  #nudge: () => void = () => undefined

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /**
   * Sends until nothing is due. A call during that returns at once and makes the loop look again.
   * @returns how many requests were made
   */
  async sendDue(stopping?: AbortSignal): Promise<number> {
    this.#isAskedAgain = true
    if (this.#isSending) {
      this.#nudge()
      return 0
    }
    this.#isSending = true
    const before = this.#sent
    try {
      while ((this.#isAskedAgain || this.#busy.size > 0) && !stopping?.aborted) {
        this.#isAskedAgain = false
        const nudged = new Promise<void>((resolve) => {
          this.#nudge = resolve
        })
        if ((await this.#start()) > 0) this.#isAskedAgain = true
        const isFull = this.#underWay >= mostAtOnce
        if (this.#busy.size > 0 && (isFull || !this.#isAskedAgain)) await Promise.race([nudged, ...this.#busy.values()])
      }
      return this.#sent - before
    } finally {
      // Only if requests are in flight: a call during a needless await would go unnoticed.
      if (this.#busy.size > 0) await Promise.all(this.#busy.values())
      this.#isSending = false
    }
  }

  /** @returns how many were taken */
  async #start(): Promise<number> {
    const { pool, clock } = this.#surroundings
    const now = clock.now()
    const room = mostAtOnce - this.#underWay
    if (room <= 0) return 0
    const lease = new Date(now.getTime() + leaseMs)
    const taken = await inTransaction(pool, (transaction) =>
      transaction.run<Taken>(takeDeliveries, [now, mostPerEndpoint, [...this.#busy.keys()], room, lease]),
    )
    for (const endpointId of new Set(taken.map(({ endpoint_id }) => endpoint_id))) {
      const own = taken.filter(({ endpoint_id }) => endpoint_id === endpointId)
      this.#busy.set(endpointId, this.#sendAll(endpointId, own))
    }
    return taken.length
  }

  /** Never rejects: what could not be recorded is due again when its lease ends. */
  async #sendAll(endpointId: string, deliveries: Taken[]): Promise<void> {
    this.#underWay += deliveries.length
    this.#sent += deliveries.length
    try {
      const verdicts = await Promise.all(deliveries.map((delivery) => this.#send(delivery)))
      await this.#record(deliveries.map((delivery, index) => ({ delivery, verdict: verdicts[index] as Verdict })))
    } catch (error) {
      this.#surroundings.log.warn({ err: error, endpointId }, 'could not record the results of webhooks')
    } finally {
      this.#underWay -= deliveries.length
      this.#busy.delete(endpointId)
      // There may be more for it.
      this.#isAskedAgain = true
    }
  }

  async #send({ event, endpoint, identifier, organization_id, environment_type }: Taken): Promise<Verdict> {
    const { clock, brand, secrets } = this.#surroundings
    const http = environment_type === 'dev' ? this.#surroundings.http.development : this.#surroundings.http
    const now = clock.now()
    const at = now.toISOString()
    const refused = (error: string): Verdict => ({
      isDelivered: false,
      isFinal: true,
      entry: { at, durationMs: 0, error },
    })
    if (!event || !endpoint || identifier === null || organization_id === null)
      return refused('The event has been deleted')
    if (!endpoint.active) return refused('The endpoint is turned off')
    const envelope = envelopeOf(
      { ...event, created_at: new Date(event.created_at) },
      { environmentIdentifier: identifier, organizationId: organization_id, toWire: (id) => brand.toWire(id) },
    )
    const body = JSON.stringify(envelope)
    const began = performance.now()
    const took = () => Math.round(performance.now() - began)
    try {
      const ask = () =>
        http.exchange(endpoint.url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...signatureHeaders(envelope.id, body, secretsOf(endpoint, secrets, now), now),
          },
          body,
          timeoutMs,
          sharesTrace: true,
        })
      const answer = await this.#traced(event, ask)
      const isDelivered = answer.status >= 200 && answer.status < 300
      const response = answer.text.slice(0, longestResponse).replaceAll('\0', '').toWellFormed()
      const error = isDelivered ? {} : { error: `The endpoint answered with HTTP status ${answer.status}` }
      return { isDelivered, entry: { at, durationMs: took(), status: answer.status, response, ...error } }
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error
      return { isDelivered: false, entry: { at, durationMs: took(), error: error.message } }
    }
  }

  /** Webhooks of a run belong to the trace of its trigger. */
  #traced<T>({ type, object, environment_id }: EventRow, work: () => Promise<T>): Promise<T> {
    const { tracing } = this.#surroundings
    if (!tracing || typeof object.trace !== 'string') return work()
    const attributes = { 'belfry.environment_id': environment_id, 'belfry.event': type }
    return tracing.during(tracing.begin('webhook', { kind: 'producer', parent: object.trace, attributes }), work)
  }

  async #record(results: Array<{ delivery: Taken; verdict: Verdict }>): Promise<void> {
    const { pool, clock, log, meter } = this.#surroundings
    const now = clock.now()
    const rows = results.map(({ delivery: { environment_id, id, attempts }, verdict }) => {
      const afterMs = verdict.isDelivered || verdict.isFinal ? undefined : retryAfterMs[attempts - 1]
      const due_at = afterMs === undefined ? null : new Date(now.getTime() + afterMs)
      const status = verdict.isDelivered ? 'delivered' : due_at ? 'pending' : 'failed'
      return { environment_id, id, attempts, status, due_at, entry: verdict.entry }
    })
    const [first] = results
    if (!first) return
    const delivered = results.filter(({ verdict }) => verdict.isDelivered).length
    meter?.told('delivered', delivered)
    meter?.told('failed', results.length - delivered)
    const endpoint = [first.delivery.environment_id, first.delivery.endpoint_id]
    await inTransaction(pool, async (transaction) => {
      await transaction.run(saveAttempts, [storableJson(rows), now])
      if (results.some(({ verdict }) => verdict.isDelivered)) await transaction.run(noteSuccess, endpoint)
      else if (results.some(({ verdict }) => !verdict.isFinal)) {
        await transaction.run(noteFailure, [...endpoint, now])
        const limit = new Date(now.getTime() - patienceMs)
        const disabled = await transaction.run(disableFailing, [...endpoint, now, limit])
        if (disabled.length > 0) {
          await announce(transaction.tx, 'webhook_endpoints', first.delivery.environment_id)
          log.warn({ endpointId: first.delivery.endpoint_id }, 'a webhook endpoint has failed for days; turned it off')
        }
      }
      await queueWakeUps(
        transaction,
        rows.flatMap(({ due_at }) => due_at ?? []),
        now,
      )
    })
  }

  /** Every minute: queues wake-ups for what comes due, or was lost. */
  async queueSoon(): Promise<void> {
    const { pool, clock } = this.#surroundings
    await queueComing({ pool, clock }, findSoon)
  }
}

/** The current secret, and the previous one until it expires. */
function secretsOf(endpoint: EndpointRow, secrets: Secrets, now: Date): string[] {
  const { secret, previous_secret, previous_secret_expires_at: expiresAt } = endpoint
  const isValid = previous_secret !== null && expiresAt !== null && new Date(expiresAt) > now
  return [secret, ...(isValid ? [previous_secret] : [])].map((stored) => secrets.decrypt(stored))
}

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function signatureHeaders(id: string, body: string, keys: string[], now: Date): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = keys.map((key) => {
    const bytes = Buffer.from(key.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', bytes).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
