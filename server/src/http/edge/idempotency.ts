// POST and PATCH requests that carry an idempotency-key run once; a repeat gets the first answer again for 24 hours. The key of
// a process that died is free a few seconds later.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { sql } from 'kysely'
import { isAlive } from '../../db/core/changes.ts'
import type { Db } from '../../db/core/database.ts'
import { type Secrets, sha256 } from '../../db/core/secrets.ts'
import { fail } from '../../errors.ts'
import { type App, type Clock, logOf, type Services } from './resource.ts'

const lockMs = 5 * 60_000
const keptMs = 24 * 3_600_000
const longestKey = 255
const longestRetryMs = 1_000
/** How long the lock of the process that holds a key must be free: a live one, whose connection broke, takes it again sooner. */
const graceMs = 3_000

/** The right to run the request, until it is settled or `lockedUntil` has passed. */
interface Claim {
  key: string
  environmentId: string
  requestHash: string
  bodyHash: string
  holder: string
  lockedUntil: Date
}

interface Result {
  status: number
  body: string
}

declare module 'fastify' {
  interface FastifyRequest {
    idempotencyClaim: Claim | undefined
  }
}

export class Idempotency {
  readonly #services: Pick<Services, 'clock' | 'changes'>
  readonly #results: Results

  constructor(app: App, services: Pick<Services, 'db' | 'clock' | 'secrets' | 'changes'>) {
    this.#services = services
    this.#results = new Results(services.db, services.clock, services.secrets)
    app.decorateRequest('idempotencyClaim', undefined)
    app.addHook('onClose', async () => this.#results.close())
  }

  /** Before the handler, for a request with an idempotency-key: runs it, or answers as the first with this key was answered. */
  async take(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { clock, changes } = this.#services
    const key = request.headers['idempotency-key']
    if (typeof key !== 'string' || key === '' || !isProtected(request)) return undefined
    if (key.length > longestKey) throw fail('idempotency_key_too_long', { key })
    reply.header('Idempotency-Key', key)
    const claim = claimFor(request, key, { processId: changes.processId, now: clock.now() })
    if ((await this.#results.claim(claim)) || (await this.#results.takeFromDead(claim))) {
      request.idempotencyClaim = claim
      return undefined
    }
    return replay(await this.#results.ofFirst(claim), reply)
  }

  /** The hook that keeps the answer, if the request has a claim. */
  keep: onSendHookHandler = (request, reply, payload, done) => {
    const claim = request.idempotencyClaim
    return claim ? this.#keep(claim, request, reply, payload) : done(null, payload)
  }

  async #keep(claim: Claim, request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    request.idempotencyClaim = undefined
    // The handler is still running, so nobody else may run it until the lock expires.
    if (request.isOverdue) return payload
    const result = { status: reply.statusCode, body: reply.statusCode === 204 ? '' : textOf(payload) }
    try {
      await this.#results.settle(claim, result)
    } catch (error) {
      // The work is done, so the client gets its answer; we store the result when the database is back.
      logOf(request).warn({ err: error }, 'could not store the result of an idempotent request yet')
      void this.#results.settleLater(claim, result)
    }
    return payload
  }
}

function isProtected(request: FastifyRequest): boolean {
  return (request.method === 'POST' || request.method === 'PATCH') && request.environment !== undefined
}

/**
 * Identifies the path by route and parameters, however it was encoded. Each person has keys of their own, and so have API keys of
 * the organization: the answer to one of them may hold what a key of the environment must not see.
 */
function claimFor(request: FastifyRequest, key: string, { processId, now }: { processId: string; now: Date }) {
  const { method, rules, params, query, body, environment, person, key: apiKey } = request
  const asked = [method, rules.url, params, key]
  const caller = person?.id ?? (apiKey?.isOrganizationWide ? 'organization' : undefined)
  return {
    key,
    environmentId: environment.id,
    requestHash: sha256(JSON.stringify(caller === undefined ? asked : [...asked, caller])),
    bodyHash: sha256(JSON.stringify([query, body])),
    holder: `${processId} ${randomUUID()}`,
    lockedUntil: new Date(now.getTime() + lockMs),
  }
}

const textOf = (payload: unknown) =>
  typeof payload === 'string' ? payload : Buffer.isBuffer(payload) ? payload.toString() : ''

function replay({ status, body }: Result, reply: FastifyReply): FastifyReply {
  reply.header('Idempotency-Replay', 'true').code(status)
  return body === '' ? reply.send() : reply.type('application/json; charset=utf-8').send(body)
}

const link = '</docs>; rel="help"'

class Results {
  readonly #db: Db
  readonly #clock: Clock
  readonly #secrets: Secrets
  #isClosed = false

  constructor(db: Db, clock: Clock, secrets: Secrets) {
    this.#db = db
    this.#clock = clock
    this.#secrets = secrets
  }

  close(): void {
    this.#isClosed = true
  }

  /** Claims the key for this request atomically. An expired lock or result is taken over. */
  async claim(claim: Claim): Promise<boolean> {
    const { rows } = await sql`
      INSERT INTO idempotency_keys AS k (environment_id, request_hash, body_hash, holder, expires_at)
      VALUES (${claim.environmentId}, ${claim.requestHash}, ${claim.bodyHash}, ${claim.holder}, ${claim.lockedUntil})
      ON CONFLICT (environment_id, request_hash) DO UPDATE
        SET body_hash = excluded.body_hash, holder = excluded.holder, status = NULL, body = NULL, expires_at = excluded.expires_at
        WHERE k.expires_at <= ${this.#clock.now()}
      RETURNING 1`.execute(this.#db)
    return rows.length === 1
  }

  /**
   * Takes the key over if the process that holds it has died. Its lock must have been free for a while: the first who finds it
   * free notes the time, by the database's clock.
   */
  async takeFromDead({ environmentId, requestHash, bodyHash, holder, lockedUntil }: Claim): Promise<boolean> {
    const isDead = sql`l.is_free AND k.suspect_since <= clock_timestamp() - ${graceMs} * interval '1 millisecond'`
    const { rows } = await sql<{ is_taken: boolean }>`
      WITH looked AS MATERIALIZED (
        SELECT holder, NOT ${isAlive(sql`split_part(holder, ' ', 1)`)} AS is_free FROM idempotency_keys
        WHERE environment_id = ${environmentId} AND request_hash = ${requestHash} AND status IS NULL
      )
      UPDATE idempotency_keys k SET
        suspect_since = CASE WHEN ${isDead} THEN NULL WHEN l.is_free THEN coalesce(k.suspect_since, clock_timestamp()) END,
        holder = CASE WHEN ${isDead} THEN ${holder} ELSE k.holder END,
        body_hash = CASE WHEN ${isDead} THEN ${bodyHash} ELSE k.body_hash END,
        expires_at = CASE WHEN ${isDead} THEN ${lockedUntil} ELSE k.expires_at END
      FROM looked l
      WHERE k.environment_id = ${environmentId} AND k.request_hash = ${requestHash} AND k.holder = l.holder
        AND (l.is_free OR k.suspect_since IS NOT NULL)
      RETURNING k.holder = ${holder} AS is_taken`.execute(this.#db)
    return rows[0]?.is_taken === true
  }

  /** The result of the first request with this key. Throws while it runs, or if it was a different request. */
  async ofFirst({ key, environmentId, requestHash, bodyHash }: Claim): Promise<Result> {
    const first = await this.#db
      .selectFrom('idempotency_keys')
      .select(['body_hash', 'status', 'body'])
      .where('environment_id', '=', environmentId)
      .where('request_hash', '=', requestHash)
      .executeTakeFirst()
    // Gone since our claim failed: it was released just now, and a retry in a second will find it free.
    if (!first || first.status === null || first.body === null)
      throw fail('idempotency_in_progress', { key }, { headers: { 'Retry-After': '1', Link: link } })
    if (first.body_hash !== bodyHash) throw fail('idempotency_key_reused', { key }, { headers: { Link: link } })
    return { status: first.status, body: this.#secrets.decrypt(first.body) }
  }

  /** Stores the result. A 5xx is not one: it frees the key for the client's retry. */
  async settle(claim: Claim, { status, body }: Result): Promise<void> {
    // A request that took over an expired lock has another holder, so this does not touch it.
    if (status >= 500) {
      await this.#db.deleteFrom('idempotency_keys').where(heldBy(claim)).execute()
      return
    }
    // Encrypted at rest, because answers can hold credentials and keys.
    const expiresAt = new Date(this.#clock.now().getTime() + keptMs)
    await this.#db
      .updateTable('idempotency_keys')
      .set({ status, body: this.#secrets.encrypt(body), expires_at: expiresAt })
      .where(heldBy(claim))
      .execute()
  }

  /** Retries until the lock expires; otherwise an outage would keep the key locked for its five minutes. */
  async settleLater(claim: Claim, result: Result): Promise<void> {
    for (let waitMs = 10; !this.#isClosed && this.#clock.now() < claim.lockedUntil; waitMs *= 2) {
      await delay(Math.min(waitMs, longestRetryMs), undefined, { ref: false })
      try {
        await this.settle(claim, result)
        return
      } catch {
        // Still unreachable; failing requests log the outage.
      }
    }
  }
}

const heldBy = ({ environmentId, requestHash, holder }: Claim) =>
  sql<boolean>`environment_id = ${environmentId} AND request_hash = ${requestHash} AND holder = ${holder}`
