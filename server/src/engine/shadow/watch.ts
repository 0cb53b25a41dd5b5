// Compares triggers that were passed on, when both sides have ended them or their time is up. The queue has a job for each five
// seconds in which one is due; without a shadow environment there is none.
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Db } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import { findShadow, noteCompared, queueLook, type Shadow } from '../../db/queries/shadow.ts'
import type { HttpClient } from '../../providers/http-client.ts'
import { compare, isSettled } from './compare.ts'
import { readHere } from './here.ts'
import { readUpstream, UpstreamUnreadable } from './upstream.ts'

export interface ShadowParts {
  db: Db
  clock: { now(): Date }
  secrets: Pick<Secrets, 'decrypt'>
  http: HttpClient
  log: Logger
}

interface Due {
  environment_id: string
  id: string
  transaction_id: string
  workflow_id: string
  settles_at: Date
  looks: number
}

/** Triggers that one process looks at together. */
const batch = 100
const readsAtOnce = 4
/** Whoever takes some has this long, before another process takes them. */
const leaseMs = 5 * 60_000
const [shortestWaitMs, longestWaitMs] = [5_000, 60_000]
/** After the service behind gave no answer. */
const outageWaitMs = 60_000

/** Looks at everything that is due. */
export async function compareDue(parts: ShadowParts, stopping?: AbortSignal): Promise<void> {
  while (!stopping?.aborted) {
    const due = await takeDue(parts)
    if (due.length === 0) return
    for (const environmentId of new Set(due.map((each) => each.environment_id)))
      await compareIn(
        parts,
        environmentId,
        due.filter((each) => each.environment_id === environmentId),
      )
  }
}

async function takeDue({ db, clock }: ShadowParts): Promise<Due[]> {
  const now = clock.now()
  const until = new Date(now.getTime() + leaseMs)
  // Locked by whoever takes them; others take the next ones.
  const { rows } = await sql<Due>`
    UPDATE shadow_triggers t SET due_at = ${until}, looks = least(looks + 1, 1000)
    WHERE (environment_id, id) IN (
      SELECT environment_id, id FROM shadow_triggers WHERE due_at <= ${now} ORDER BY due_at LIMIT ${batch} FOR UPDATE SKIP LOCKED)
    RETURNING environment_id, id, transaction_id, workflow_id, settles_at, looks`.execute(db)
  if (rows.length > 0) await queueLook(db, until, now)
  return rows
}

async function compareIn(parts: ShadowParts, environmentId: string, due: Due[]): Promise<void> {
  const { db, clock, log } = parts
  const shadow = await findShadow(db, environmentId)
  // Deleted since; its rows follow.
  if (!shadow) return
  const open = [...due]
  const waiting = new Map<string, Date>()
  let outage: UpstreamUnreadable | undefined
  await Promise.all(
    Array.from({ length: readsAtOnce }, async () => {
      for (let next = open.shift(); next && !outage; next = open.shift()) {
        const again = await compareOne(parts, shadow, next).catch((error: unknown) => {
          if (!(error instanceof UpstreamUnreadable)) throw error
          outage = error
          return undefined
        })
        if (again) waiting.set(next.id, again)
      }
    }),
  )
  await lookAgain(parts, environmentId, waiting)
  if (!outage) return
  log.warn(
    { environmentId, reason: outage.message },
    'the service behind a shadow environment cannot be read; trying again',
  )
  await putOff(parts, environmentId, new Date(clock.now().getTime() + outageWaitMs))
}

/** @returns when to look again, if it is too early */
async function compareOne(
  { db, clock, secrets, http }: ShadowParts,
  shadow: Shadow,
  due: Due,
): Promise<Date | undefined> {
  const { environment_id: environmentId, id, transaction_id: transactionId, workflow_id: workflowId } = due
  const upstreamOf = { url: shadow.upstreamUrl, key: secrets.decrypt(shadow.key) }
  const upstream = await readUpstream(http.development, upstreamOf, transactionId)
  const here = await readHere(db, environmentId, transactionId)
  const now = clock.now()
  if (isSettled(upstream, here) || now >= due.settles_at) {
    await noteCompared(db, { environmentId, id }, compare({ transactionId, workflowId }, upstream, here), now)
    return undefined
  }
  const waitMs = Math.min(longestWaitMs, shortestWaitMs * 2 ** Math.min(due.looks - 1, 10))
  return new Date(Math.min(due.settles_at.getTime(), now.getTime() + waitMs))
}

async function lookAgain(
  { db, clock }: Pick<ShadowParts, 'db' | 'clock'>,
  environmentId: string,
  waiting: ReadonlyMap<string, Date>,
): Promise<void> {
  if (waiting.size === 0) return
  await sql`
    UPDATE shadow_triggers t SET due_at = w.until
    FROM unnest(${[...waiting.keys()]}::text[], ${[...waiting.values()]}::timestamptz[]) AS w (id, until)
    WHERE t.environment_id = ${environmentId} AND t.id = w.id AND t.due_at IS NOT NULL`.execute(db)
  for (const at of new Set([...waiting.values()].map(Number))) await queueLook(db, new Date(at), clock.now())
}

/** All of an environment that are due by then: what one cannot learn, none can. */
async function putOff(
  { db, clock }: Pick<ShadowParts, 'db' | 'clock'>,
  environmentId: string,
  until: Date,
): Promise<void> {
  const now = clock.now()
  await sql`
    UPDATE shadow_triggers SET due_at = ${until}
    WHERE environment_id = ${environmentId} AND due_at <= ${new Date(now.getTime() + leaseMs)}`.execute(db)
  await queueLook(db, until, now)
}
