// Erases a person from an environment: a job of many small transactions. Each records what it removed, so an interrupted job
// continues where it was and its report stays right.
import { type RawBuilder, sql } from 'kysely'
import type { Logger } from 'pino'
import type { Db, Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { ErasureTable } from '../../db/core/tables.ts'
import {
  auditRows,
  callsNaming,
  callWithout,
  type EventRow,
  erased,
  mayName,
  ownRows,
  type Person,
  passedOverRows,
  suppressionRows,
  withoutPerson,
} from '../../db/queries/personal-data.ts'
import { batch, type CloseQuestions, type Counts, type Done, type Round } from './erasure-part.ts'
import {
  eraseFromChains,
  eraseFromQuestions,
  eraseFromRotas,
  eraseFromTold,
  eraseQuestionsIn,
} from './erasure-questions.ts'
import { deleteAll, deleteEvents, isSpent } from './rows.ts'

interface Surroundings {
  db: Db
  clock: { now(): Date }
  secrets: Secrets
  log: Logger
  closeQuestions: CloseQuestions
}

export interface ErasureKey {
  environmentId: string
  erasureId: string
}

type Subject = Pick<Person, 'subscriberId' | 'email' | 'phone'>

/**
 * Hides the person at once and queues the rest, in one transaction. A person whose erasure is in progress is not erased twice.
 * @returns undefined if there is no such subscriber
 */
export async function beginErasure(
  { db, clock, secrets }: Pick<Surroundings, 'db' | 'clock' | 'secrets'>,
  environmentId: string,
  subscriberId: string,
): Promise<string | undefined> {
  const now = clock.now()
  const hash = secrets.sign(`${environmentId} ${subscriberId}`, 'erasure')
  return db.transaction().execute(async (tx) => {
    const subscriber = await tx
      .selectFrom('subscribers')
      .select(['id', 'email', 'phone'])
      .where('environment_id', '=', environmentId)
      .where('subscriber_id', '=', subscriberId)
      .forUpdate()
      .executeTakeFirst()
    if (!subscriber) {
      const known = await tx
        .selectFrom('erasures')
        .select('id')
        .where('environment_id', '=', environmentId)
        .where('subject_hash', '=', hash)
        .where('status', '<>', 'completed')
        .executeTakeFirst()
      return known?.id
    }
    const { id: rowId, email, phone } = subscriber
    const person = { environmentId, subscriberId, rowIds: [rowId], email, phone }
    const counts: Counts = {}
    for (const table of [
      'subscription_preferences',
      'topic_subscriptions',
      'subscriber_preferences',
      'subscribers',
    ] as const)
      await remove(tx, environmentId, table, ownRows[table](person), counts)
    await forgetAddresses(tx, person)
    const subject: Subject = { subscriberId, email, phone }
    const { rows } = await sql<{ id: string }>`
      INSERT INTO erasures AS e (environment_id, id, status, subject_hash, subject, subscriber_row_ids, part, reached, report,
                                 created_at, updated_at)
      VALUES (${environmentId}, ${newId(now)}, 'pending', ${hash}, ${secrets.encrypt(JSON.stringify(subject))},
              ${[rowId]}::text[], ${parts[0]?.name ?? ''}, '', ${JSON.stringify(added({}, counts))}::jsonb, ${now}, ${now})
      ON CONFLICT (environment_id, subject_hash) WHERE status <> 'completed' DO UPDATE
        SET status = 'pending', part = excluded.part, reached = '', updated_at = ${now},
            subscriber_row_ids = e.subscriber_row_ids || excluded.subscriber_row_ids
      RETURNING e.id`.execute(tx)
    const id = rows[0]?.id ?? ''
    await queue(tx, { environmentId, erasureId: id }, '0 seconds')
    return id
  })
}

/** A "no" stays, known by its hash alone. */
async function forgetAddresses(tx: Tx, person: Person): Promise<void> {
  await sql`
    UPDATE suppressions t SET address = NULL, subscriber_id = NULL, note = NULL, message_id = NULL
    WHERE t.environment_id = ${person.environmentId} AND ${suppressionRows(person)}`.execute(tx)
}

async function queue(tx: Tx, key: ErasureKey, delay: string): Promise<void> {
  await sql`
    SELECT graphile_worker.add_job('erase_subscriber', ${JSON.stringify(key)}::json, run_at := now() + ${delay}::interval,
                                   max_attempts := 1000)`.execute(tx)
}

/** The queue's job: everything that is left. The second round, an hour later, deletes what was in flight during the first. */
export async function eraseSubscriber(
  surroundings: Surroundings,
  key: ErasureKey,
  stopping?: AbortSignal,
): Promise<void> {
  while (await oneRound(surroundings, key)) stopping?.throwIfAborted()
}

async function oneRound({ db, clock, secrets, log, closeQuestions }: Surroundings, key: ErasureKey): Promise<boolean> {
  const now = clock.now()
  return db.transaction().execute(async (tx) => {
    await sql`SET LOCAL statement_timeout = 0`.execute(tx)
    // Locked to the end: of two jobs for one person, the second continues where the first ended.
    const erasure = await tx
      .selectFrom('erasures')
      .selectAll()
      .where('environment_id', '=', key.environmentId)
      .where('id', '=', key.erasureId)
      .forUpdate()
      .executeTakeFirst()
    if (!erasure) return false
    if (erasure.status === 'completed') return sweep(tx, erasure, now, closeQuestions)
    const { subscriberId, email, phone } = JSON.parse(secrets.decrypt(erasure.subject ?? '')) as Subject
    const { environment_id: environmentId, subscriber_row_ids: rowIds, reached } = erasure
    const person: Person = { environmentId, subscriberId, rowIds, email, phone }
    const at = parts.findIndex(({ name }) => name === erasure.part)
    const part = parts[at]
    if (!part) throw new Error(`Unknown part of an erasure: ${erasure.part}.`)
    const { counts, next } = await part.work({ tx, person, reached, secrets, now, closeQuestions })
    const following = next === undefined ? parts[at + 1] : part
    await tx
      .updateTable('erasures')
      .set({
        subscriber_row_ids: person.rowIds,
        report: JSON.stringify(added(erasure.report, counts)),
        updated_at: now,
        ...(following
          ? { status: 'running', part: following.name, reached: next ?? '' }
          : { status: 'completed', subject: null, completed_at: now }),
      })
      .where('environment_id', '=', environmentId)
      .where('id', '=', erasure.id)
      .execute()
    if (following) return true
    await queue(tx, key, '1 hour')
    log.info({ environmentId, erasureId: erasure.id }, 'erased a subscriber')
    return false
  })
}

/** Steps in flight during the erasure may have written once more. By then only ids tell whose rows they are. */
async function sweep(
  tx: Tx,
  {
    environment_id: environmentId,
    id,
    subscriber_row_ids: rowIds,
    report,
  }: Pick<Selected, 'environment_id' | 'id' | 'subscriber_row_ids' | 'report'>,
  now: Date,
  closeQuestions: CloseQuestions,
): Promise<boolean> {
  const person: Person = { environmentId, subscriberId: '', rowIds, email: null, phone: null }
  const { counts } = await eraseRuns({ tx, person, now, closeQuestions })
  for (const table of ['timers', 'tracked_clicks', 'messages', 'digests', 'throttles', 'cap_counts'] as const)
    await remove(tx, environmentId, table, ownRows[table](person), counts)
  if (total(counts) === 0) return false
  await tx
    .updateTable('erasures')
    .set({ report: JSON.stringify(added(report, counts)), updated_at: now })
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .execute()
  return true
}

type Selected = { [Column in keyof ErasureTable]: Column extends 'report' ? Counts : ErasureTable[Column] }

const total = (counts: Counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)

function added(to: Counts, counts: Counts): Counts {
  const sum = { ...to }
  for (const [name, count] of Object.entries(counts)) if (count > 0) sum[name] = (sum[name] ?? 0) + count
  return sum
}

/** In this order: who it is, then what could produce more, then the rest. */
const parts: Array<{ name: string; work(round: Round): Promise<Done> }> = [
  { name: 'ids', work: findIds },
  { name: 'outbox', work: (round) => eraseFromCalls(round, 'outbox') },
  { name: 'refused', work: (round) => eraseFromCalls(round, 'refused') },
  { name: 'runs', work: eraseRuns },
  { name: 'events', work: eraseFromEvents },
  ...(Object.keys(ownRows) as Array<keyof typeof ownRows>).map((table) => ({
    name: table,
    async work({ tx, person }: Round) {
      const counts: Counts = {}
      const count = await remove(tx, person.environmentId, table, ownRows[table](person), counts)
      return { counts, ...(count === batch ? { next: '' } : {}) }
    },
  })),
  { name: 'questions', work: eraseFromQuestions },
  { name: 'chains', work: eraseFromChains },
  // When no step names them any more that could tell of them.
  { name: 'told', work: eraseFromTold },
  { name: 'rotas', work: eraseFromRotas },
  { name: 'passed_over', work: eraseFromPassedOver },
  { name: 'idempotency_keys', work: eraseAnswers },
  { name: 'audit_log', work: eraseFromAudit },
  {
    // Again, and last: until its message was gone, a link or a report could make an entry with the address.
    name: 'suppressions',
    async work({ tx, person }) {
      await forgetAddresses(tx, person)
      return { counts: {} }
    },
  },
]

/** A person who was deleted and came back has several ids. Only their runs and messages tell the earlier ones. */
async function findIds({ tx, person }: Round): Promise<Done> {
  const { environmentId, subscriberId } = person
  const { rows } = await sql<{ id: string }>`
    SELECT DISTINCT subscriber_row_id AS id FROM notifications
    WHERE environment_id = ${environmentId} AND subscriber_id = ${subscriberId}
    UNION SELECT DISTINCT subscriber_row_id FROM messages
    WHERE environment_id = ${environmentId} AND subscriber_id = ${subscriberId}`.execute(tx)
  person.rowIds = [...new Set([...person.rowIds, ...rows.map(({ id }) => id)])]
  return { counts: {} }
}

/** Calls of the SQL functions that wait, or were refused. Those for others stay, without the person. */
async function eraseFromCalls({ tx, person }: Round, table: 'outbox' | 'refused'): Promise<Done> {
  const name = sql.table(`belfry.${table}`)
  const { rows } = await sql<{ id: string; kind: string; body: Record<string, unknown> }>`
    SELECT t.id::text AS id, t.kind, t.body FROM ${name} t
    WHERE t.environment_id = ${person.environmentId} AND ${callsNaming(person)}
    ORDER BY t.id FOR UPDATE`.execute(tx)
  const [gone, changed]: [string[], Array<{ id: string; body: unknown }>] = [[], []]
  for (const { id, kind, body } of rows) {
    const left = callWithout(kind, body, person)
    if (!left) gone.push(id)
    else if (left !== body) changed.push({ id, body: left })
  }
  if (gone.length > 0)
    await sql`DELETE FROM ${name} t WHERE t.environment_id = ${person.environmentId} AND t.id::text = ANY (${gone}::text[])`.execute(
      tx,
    )
  if (changed.length > 0)
    await sql`
      UPDATE ${name} t SET body = r.body FROM json_to_recordset(${JSON.stringify(changed)}::json) AS r (id text, body jsonb)
      WHERE t.environment_id = ${person.environmentId} AND t.id::text = r.id`.execute(tx)
  return { counts: { [table]: gone.length, [`${table}_changed`]: changed.length } }
}

/** At most a batch of rows. */
async function remove(
  tx: Tx,
  environmentId: string,
  table: string,
  matches: RawBuilder<unknown>,
  counts: Counts,
): Promise<number> {
  const name = sql.table(table)
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM ${name} x WHERE (x.tableoid, x.ctid) IN (
      SELECT t.tableoid, t.ctid FROM ${name} t WHERE t.environment_id = ${environmentId} AND ${matches}
      LIMIT ${batch})`.execute(tx)
  const count = Number(numAffectedRows)
  counts[table] = (counts[table] ?? 0) + count
  return count
}

/**
 * Runs with their steps, waits and replies, and triggers that were for nobody else. Locked in the order that timers use:
 * timers, then runs.
 */
async function eraseRuns({
  tx,
  person,
  now,
  closeQuestions,
}: Pick<Round, 'tx' | 'person' | 'now' | 'closeQuestions'>): Promise<Done> {
  const { environmentId, rowIds } = person
  const found = await tx
    .selectFrom('notifications')
    .select(['id', 'event_id'])
    .where('environment_id', '=', environmentId)
    .where('subscriber_row_id', 'in', rowIds)
    .orderBy('id')
    .limit(batch)
    .execute()
  const ids = found.map(({ id }) => id)
  const counts: Counts = {}
  const of = async (table: string, column: RawBuilder<unknown>) => {
    counts[table] = await deleteAll(tx, table, environmentId, sql`${column} = ANY (${ids}::text[])`)
  }
  if (ids.length === 0) return { counts }
  await of('timers', sql`t.subject_id`)
  await tx
    .selectFrom('notifications')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
  await of('event_waits', sql`t.notification_id`)
  await closeQuestions(
    tx,
    ids.map((id) => ({ environmentId, id })),
    now,
  )
  await eraseQuestionsIn(tx, environmentId, ids)
  await of('jobs', sql`t.notification_id`)
  await of('inbound_mails', sql`t.notification_id`)
  await of('notifications', sql`t.id`)
  const eventIds = [...new Set(found.map(({ event_id }) => event_id))]
  return { counts: added(counts, await eraseEvents(tx, environmentId, eventIds)), next: '' }
}

/** Those of these triggers that have no run and will start none. */
async function eraseEvents(tx: Tx, environmentId: string, eventIds: string[]): Promise<Counts> {
  const { rows } = await sql<{ id: string }>`
    SELECT t.id FROM events t
    WHERE t.environment_id = ${environmentId} AND t.id = ANY (${eventIds}::text[]) AND ${isSpent}
    ORDER BY t.id FOR UPDATE OF t`.execute(tx)
  return eraseWhole(
    tx,
    environmentId,
    rows.map(({ id }) => id),
  )
}

/** Also the dedup row: the caller chose the transaction id, and it may say whom it was for. */
async function eraseWhole(tx: Tx, environmentId: string, ids: string[]): Promise<Counts> {
  const transactions = await deleteAll(
    tx,
    'transactions',
    environmentId,
    sql`t.event_id = ANY (${ids}::text[]) AND t.transaction_id IN (
      SELECT e.transaction_id FROM events e WHERE e.environment_id = ${environmentId} AND e.id = ANY (${ids}::text[]))`,
  )
  return { ...(await deleteEvents(tx, environmentId, ids)), transactions }
}

/** Triggers that name the person: those for nobody else are deleted, even if not started; from others the person is removed. */
async function eraseFromEvents({ tx, person, reached }: Round): Promise<Done> {
  const { environmentId } = person
  const { rows } = await sql<EventRow>`
    SELECT t.* FROM events t
    WHERE t.environment_id = ${environmentId} AND t.id > ${reached} AND ${mayName(person)}
    ORDER BY t.id LIMIT ${batch} FOR UPDATE`.execute(tx)
  const counts: Counts = {}
  const theirs: string[] = []
  for (const row of rows) {
    const { changes, isTheirs } = withoutPerson(row, person)
    if (isTheirs) theirs.push(row.id)
    else if (Object.keys(changes).length > 0) {
      const values = Object.entries(changes).map(([column, value]) => [
        column,
        value === null ? null : JSON.stringify(value),
      ])
      await tx
        .updateTable('events')
        .set(Object.fromEntries(values))
        .where('environment_id', '=', environmentId)
        .where('id', '=', row.id)
        .execute()
      counts.events_changed = (counts.events_changed ?? 0) + 1
    }
  }
  const last = rows[batch - 1]
  return { counts: added(counts, await eraseWhole(tx, environmentId, theirs)), ...(last ? { next: last.id } : {}) }
}

async function eraseFromPassedOver({ tx, person }: Round): Promise<Done> {
  const { environmentId, subscriberId } = person
  const { numAffectedRows = 0n } = await sql`
    UPDATE passed_over t SET subscriber_ids = array_remove(t.subscriber_ids, ${subscriberId}),
      named = CASE t.named WHEN ${subscriberId} THEN ${erased} ELSE t.named END
    WHERE t.environment_id = ${environmentId} AND ${passedOverRows(person)}`.execute(tx)
  return { counts: { passed_over: Number(numAffectedRows) } }
}

/** Responses kept for idempotency keys. They are encrypted, so each has to be opened. */
async function eraseAnswers({ tx, person, reached, secrets }: Round): Promise<Done> {
  const { environmentId, rowIds, subscriberId, email } = person
  const rows = await tx
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'body'])
    .where('environment_id', '=', environmentId)
    .where('request_hash', '>', reached)
    .where('body', 'is not', null)
    .orderBy('request_hash')
    .limit(batch)
    .execute()
  const needles = [subscriberId, ...rowIds, ...(email === null ? [] : [email])].map((text) => JSON.stringify(text))
  const hashes = rows
    .filter(({ body }) => {
      const text = secrets.decrypt(body ?? '')
      return needles.some((needle) => text.includes(needle))
    })
    .map(({ request_hash }) => request_hash)
  if (hashes.length > 0)
    await tx
      .deleteFrom('idempotency_keys')
      .where('environment_id', '=', environmentId)
      .where('request_hash', 'in', hashes)
      .execute()
  const last = rows[batch - 1]
  return { counts: { idempotency_keys: hashes.length }, ...(last ? { next: last.request_hash } : {}) }
}

/** The action stays recorded; the person does not. */
async function eraseFromAudit({ tx, person }: Round): Promise<Done> {
  const { numAffectedRows = 0n } = await sql`
    UPDATE audit_log t SET target_id = ${erased}, target_name = NULL, target_salt = NULL WHERE ${auditRows(person)}`.execute(
    tx,
  )
  return { counts: { audit_log: Number(numAffectedRows) } }
}
