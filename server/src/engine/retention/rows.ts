// Deletes one environment's expired rows where their month cannot be dropped as a whole: in small batches, oldest first, a
// bounded number per round.
import { type RawBuilder, sql } from 'kysely'
import type pg from 'pg'
import type { Tx } from '../../db/core/database.ts'
import { firstIdAt } from '../../db/core/ids.ts'
import { inTransaction } from '../../db/core/transaction.ts'

/** Triggers, runs and their steps, posted events, questions; messages sent by email, SMS, chat and push; inbox messages. */
export type RowsOf = 'activity' | 'messages' | 'inbox'

/** Rows per transaction: few enough that no lock is held for long. */
const batch = 2_000
/** Batches per round, environment and kind, so that others get their turn and the daily chore ends. */
const mostBatches = 100

interface Expired {
  environmentId: string
  until: Date
}

/** The ids after which the next batch begins and before which all of them end. */
interface Range {
  tx: Tx
  environmentId: string
  after: string
  before: string
}

/** Deletes a batch. @returns the ids it saw; fewer than a batch at the end */
type Portion = (range: Range) => Promise<string[]>

const portions: Record<RowsOf, Portion[]> = {
  // Runs first: a trigger can go once none of its runs is left.
  activity: [dropRuns, dropEvents, dropPosted, dropQuestions],
  messages: [(range) => dropMessages(range, sql`t.channel <> 'in_app'`)],
  inbox: [(range) => dropMessages(range, sql`t.channel = 'in_app'`)],
}

/** @returns whether there is more */
export async function dropRows(
  pool: pg.Pool,
  kind: RowsOf,
  { environmentId, until }: Expired,
  stopping: AbortSignal,
): Promise<boolean> {
  const before = firstIdAt(until)
  for (const portion of portions[kind]) {
    let after = ''
    for (let round = 0; ; round += 1) {
      stopping.throwIfAborted()
      if (round === mostBatches) return true
      const ids = await inTransaction(pool, ({ tx }) => portion({ tx, environmentId, after, before }))
      if (ids.length < batch) break
      after = ids.at(-1) ?? after
    }
  }
  return false
}

/** The ids of triggers named by queue jobs. */
export const eventsToStart = `
  SELECT named.id FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id,
  LATERAL (SELECT j.payload ->> 'eventId'
           UNION ALL SELECT pair ->> 1 FROM json_array_elements(j.payload -> 'events') pair) AS named (id)
  WHERE t.identifier IN ('start_runs', 'fan_out') AND named.id IS NOT NULL`

const inRange = ({ environmentId, after, before }: Range, id: RawBuilder<unknown>) =>
  sql`t.environment_id = ${environmentId} AND ${id} > ${after} AND ${id} < ${before}`

const hasTimer = sql`EXISTS (SELECT FROM timers w WHERE w.environment_id = t.environment_id AND w.subject_id = t.id)`

/** Ended runs, whose digest has ended too, with their steps. A locked run gets its turn later. */
async function dropRuns(range: Range): Promise<string[]> {
  const { tx, environmentId } = range
  const { rows } = await sql<{ id: string }>`
    SELECT t.id FROM notifications t
    WHERE ${inRange(range, sql`t.id`)} AND t.status <> 'processing' AND NOT ${hasTimer} AND NOT EXISTS (
      SELECT FROM notifications d
      WHERE d.environment_id = t.environment_id AND d.id = t.digested_into AND d.status = 'processing')
    ORDER BY t.id LIMIT ${batch} FOR UPDATE SKIP LOCKED`.execute(tx)
  const ids = rows.map(({ id }) => id)
  await deleteAll(tx, 'jobs', environmentId, sql`t.notification_id = ANY (${ids}::text[])`)
  await deleteAll(tx, 'notifications', environmentId, sql`t.id = ANY (${ids}::text[])`)
  return ids
}

/** Triggers with no run left that will start none. */
async function dropEvents(range: Range): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT t.id FROM events t
    WHERE ${inRange(range, sql`t.id`)} AND ${isSpent} ORDER BY t.id LIMIT ${batch} FOR UPDATE SKIP LOCKED`.execute(
    range.tx,
  )
  const ids = rows.map(({ id }) => id)
  await deleteEvents(range.tx, range.environmentId, ids)
  return ids
}

/** Posted events that all waiting runs were told of. */
async function dropPosted(range: Range): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT t.id FROM posted_events t
    WHERE ${inRange(range, sql`t.id`)} AND t.reached IS NULL
    ORDER BY t.id LIMIT ${batch} FOR UPDATE SKIP LOCKED`.execute(range.tx)
  const ids = rows.map(({ id }) => id)
  await deleteAll(range.tx, 'posted_events', range.environmentId, sql`t.id = ANY (${ids}::text[])`)
  return ids
}

/** Questions whose run is gone, with who was asked: until then their links hold. */
async function dropQuestions(range: Range): Promise<string[]> {
  const { tx, environmentId } = range
  const { rows } = await sql<{ id: string }>`
    SELECT t.id FROM questions t
    WHERE ${inRange(range, sql`t.id`)} AND t.state <> 'open' AND NOT EXISTS (
      SELECT FROM notifications n WHERE n.environment_id = t.environment_id AND n.id = t.notification_id)
    ORDER BY t.id LIMIT ${batch} FOR UPDATE SKIP LOCKED`.execute(tx)
  const ids = rows.map(({ id }) => id)
  await deleteAll(tx, 'question_people', environmentId, sql`t.question_id = ANY (${ids}::text[])`)
  await deleteAll(tx, 'questions', environmentId, sql`t.id = ANY (${ids}::text[])`)
  return ids
}

/** Of an event `t`: no run is left, and none will start. */
export const isSpent: RawBuilder<unknown> = sql`
  NOT EXISTS (SELECT FROM notifications n
    WHERE n.environment_id = t.environment_id AND n.transaction_id = t.transaction_id AND n.event_id = t.id)
  AND NOT EXISTS (SELECT FROM walks w WHERE w.environment_id = t.environment_id AND w.event_id = t.id)
  AND t.id <> ALL (ARRAY(${sql.raw(eventsToStart)}))`

/** With their dependent rows. @returns how many rows, by table */
export async function deleteEvents(tx: Tx, environmentId: string, ids: string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  if (ids.length === 0) return counts
  for (const table of ['attachments', 'passed_over', 'walks'])
    counts[table] = await deleteAll(tx, table, environmentId, sql`t.event_id = ANY (${ids}::text[])`)
  counts.events = await deleteAll(tx, 'events', environmentId, sql`t.id = ANY (${ids}::text[])`)
  return counts
}

/** Snoozed messages stay. */
async function dropMessages(range: Range, ofKind: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT t.id FROM messages t WHERE ${inRange(range, sql`t.id`)} AND ${ofKind} AND NOT ${hasTimer}
    ORDER BY t.id LIMIT ${batch} FOR UPDATE SKIP LOCKED`.execute(range.tx)
  const ids = rows.map(({ id }) => id)
  await deleteAll(range.tx, 'messages', range.environmentId, sql`t.id = ANY (${ids}::text[])`)
  return ids
}

export async function deleteAll(
  tx: Tx,
  table: string,
  environmentId: string,
  matches: RawBuilder<unknown>,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM ${sql.table(table)} t WHERE t.environment_id = ${environmentId} AND ${matches}`.execute(tx)
  return Number(numAffectedRows)
}
