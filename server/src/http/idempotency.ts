// POST and PATCH requests that carry an idempotency-key run once; a repeat gets the first answer again for 24 hours.
import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { sha256 } from '../db/secrets.ts'
import { fail } from '../errors.ts'
import type { App, Clock } from './resource.ts'

const lockMs = 5 * 60_000
const keptMs = 24 * 3_600_000
const longestKey = 255

interface Claim {
  key: string
  environmentId: string
  requestHash: string
  holder: string
}

declare module 'fastify' {
  interface FastifyRequest {
    idempotencyClaim: Claim | undefined
  }
}

export function registerIdempotency(app: App, { db, clock }: { db: Db; clock: Clock }): void {
  app.decorateRequest('idempotencyClaim', undefined)

  app.addHook('preValidation', async (request, reply) => {
    const key = request.headers['idempotency-key']
    if (typeof key !== 'string' || key === '' || !isProtected(request)) return
    if (key.length > longestKey) throw fail('idempotency_key_too_long', { key })
    reply.header('Idempotency-Key', key)
    const claim = {
      key,
      environmentId: request.environment.id,
      requestHash: sha256(JSON.stringify([request.method, pathOf(request), key])),
      holder: randomUUID(),
    }
    const bodyHash = sha256(JSON.stringify([request.query, request.body]))
    if (await claimKey(db, claim, bodyHash, clock.now())) {
      request.idempotencyClaim = claim
      return
    }
    await answerRepeat(db, claim, bodyHash, reply)
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const claim = request.idempotencyClaim
    if (!claim) return payload
    request.idempotencyClaim = undefined
    // A fault of ours is no result: the caller's next attempt may succeed.
    if (reply.statusCode >= 500) await releaseKey(db, claim)
    else await storeResult(db, claim, reply.statusCode, typeof payload === 'string' ? payload : '', clock.now())
    return payload
  })
}

function isProtected(request: FastifyRequest): boolean {
  return (
    (request.method === 'POST' || request.method === 'PATCH') && request.environment !== undefined && !request.is404
  )
}

const pathOf = (request: FastifyRequest) => request.url.split('?', 1)[0] ?? ''

/** Takes the key for this request, atomically: of two at once, one gets it. A lock or result past its time is taken over. */
async function claimKey(db: Db, claim: Claim, bodyHash: string, now: Date): Promise<boolean> {
  const lockedUntil = new Date(now.getTime() + lockMs)
  const { rows } = await sql`
    INSERT INTO idempotency_keys AS k (environment_id, request_hash, body_hash, holder, expires_at)
    VALUES (${claim.environmentId}, ${claim.requestHash}, ${bodyHash}, ${claim.holder}, ${lockedUntil})
    ON CONFLICT (environment_id, request_hash) DO UPDATE
      SET body_hash = excluded.body_hash, holder = excluded.holder, status = NULL, body = NULL, expires_at = excluded.expires_at
      WHERE k.expires_at <= ${now}
    RETURNING 1`.execute(db)
  return rows.length === 1
}

async function answerRepeat(db: Db, claim: Claim, bodyHash: string, reply: FastifyReply): Promise<void> {
  const first = await db
    .selectFrom('idempotency_keys')
    .select(['body_hash', 'status', 'body'])
    .where('environment_id', '=', claim.environmentId)
    .where('request_hash', '=', claim.requestHash)
    .executeTakeFirst()
  // Gone between the two statements means it was released just now; a retry in a second will find it free.
  if (!first || first.status === null) {
    throw fail('idempotency_in_progress', { key: claim.key }, { headers: { 'Retry-After': '1', Link: link } })
  }
  if (first.body_hash !== bodyHash)
    throw fail('idempotency_key_reused', { key: claim.key }, { headers: { Link: link } })
  reply.header('Idempotency-Replay', 'true').code(first.status)
  if (first.body) reply.type('application/json; charset=utf-8')
  await reply.send(first.body ?? '')
}

const link = '</docs>; rel="help"'

async function storeResult(db: Db, claim: Claim, status: number, body: string, now: Date): Promise<void> {
  await db
    .updateTable('idempotency_keys')
    .set({ status, body, expires_at: new Date(now.getTime() + keptMs) })
    .where('environment_id', '=', claim.environmentId)
    .where('request_hash', '=', claim.requestHash)
    .where('holder', '=', claim.holder)
    .execute()
}

async function releaseKey(db: Db, claim: Claim): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('environment_id', '=', claim.environmentId)
    .where('request_hash', '=', claim.requestHash)
    .where('holder', '=', claim.holder)
    .execute()
}
