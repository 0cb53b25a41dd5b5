// The data of the activity charts: runs started and messages created over time, and the latency of messages.
//
// Counting a million rows takes a second, so a chore (engine/queue/chores.ts) counts the past once, in slots of ten
// minutes. A chart adds up slots, and reads rows only for the minutes not counted yet. Only facts that never change are
// counted: runs by their start, which is in their ids, and messages by their creation, which has a block index. Whether a run
// fails can still change, so it is not included.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../core/database.ts'
import { firstIdAt } from '../core/ids.ts'
import { allOf } from '../core/page.ts'

export const slotSeconds = 600

/** Latency bins, twenty per factor of ten: quantiles are accurate to 6 %. */
const binsPerDecade = 20

/** `from` inclusive, `to` exclusive; both whole minutes. */
export interface Span {
  from: Date
  to: Date
}

export interface Count {
  /** Start of the interval in seconds since 1970. */
  at: number
  /** `runs`, `latency` or a channel. */
  measure: string
  bin: number
  count: number
}

interface Whose {
  environmentId: string
  /** Internal ids; undefined means all. */
  workflowIds: string[] | undefined
  /** Its clock is held: ids have the real time, rows their own. */
  isHeld?: boolean
}

const secondsOf = (time: RawBuilder<unknown>) => sql`extract(epoch FROM ${time})`
const startOf = (seconds: RawBuilder<unknown>, interval: number) =>
  sql`(floor(${seconds} / ${sql.lit(interval)}) * ${sql.lit(interval)})::bigint`
/** When a run started, in seconds: it is in its id, which partitions and indexes go by. */
const startedAt = (isHeld: boolean) =>
  isHeld ? secondsOf(sql`n.created_at`) : sql`('x' || left(n.id, 8))::bit(32)::bigint`
const startedWithin = ({ from, to }: Span, isHeld: boolean) =>
  isHeld
    ? sql`n.created_at >= ${from} AND n.created_at < ${to}`
    : sql`n.id >= ${firstIdAt(from)} AND n.id < ${firstIdAt(to)}`

/**
 * Rows `(environment_id, workflow_id, at, measure, bin)`, one for each run, message and latency. Intended waits are not
 * latency: runs with a delay or digest have none. A message that returns from a snooze is not new.
 */
function facts({ from, to }: Span, interval: number, whose?: Whose): RawBuilder<unknown> {
  const { environmentId, workflowIds, isHeld = false } = whose ?? {}
  const of = (alias: string) => [
    ...(environmentId === undefined ? [] : [sql`${sql.ref(`${alias}.environment_id`)} = ${environmentId}`]),
    ...(workflowIds === undefined ? [] : [sql`${sql.ref(`${alias}.workflow_id`)} = ANY(${workflowIds}::text[])`]),
  ]
  const runs = [...of('n'), startedWithin({ from, to }, isHeld)]
  const messages = [
    ...of('m'),
    sql`m.created_at >= ${from} AND m.created_at < ${to}`,
    sql`NOT (m.channel = 'in_app' AND coalesce(cardinality(m.delivered_at), 0) > 1)`,
  ]
  const milliseconds = sql`greatest(1, 1000 * ${secondsOf(sql`m.created_at - e.created_at`)})`
  return sql`
    WITH made AS MATERIALIZED (
      SELECT m.environment_id, m.workflow_id, ${startOf(secondsOf(sql`m.created_at`), interval)} AS at, m.channel,
             CASE WHEN m.status = 'sent' AND NOT n.channels && ARRAY['delay', 'digest']
                  THEN floor(${sql.lit(binsPerDecade)} * log(${milliseconds}))::smallint END AS bin
      FROM messages m
      LEFT JOIN events e ON e.environment_id = m.environment_id AND e.id = m.event_id
      LEFT JOIN notifications n ON n.environment_id = m.environment_id AND n.id = m.notification_id
      WHERE ${allOf(messages)}
    )
    SELECT n.environment_id, n.workflow_id, ${startOf(startedAt(isHeld), interval)} AS at, 'runs' AS measure,
           0::smallint AS bin
    FROM notifications n WHERE ${allOf(runs)}
    UNION ALL SELECT environment_id, workflow_id, at, channel, 0 FROM made
    UNION ALL SELECT environment_id, workflow_id, at, 'latency', bin FROM made WHERE bin IS NOT NULL`
}

/** Stores the counts of whole slots: per workflow and in total. */
export async function storeCounts(db: Db, span: Span): Promise<void> {
  await sql`
    INSERT INTO activity_counts (environment_id, workflow_id, slot, measure, bin, count)
    SELECT environment_id, coalesce(workflow_id, ''), to_timestamp(at), measure, bin, count(*)
    FROM (${facts(span, slotSeconds)}) f
    GROUP BY GROUPING SETS ((environment_id, workflow_id, at, measure, bin), (environment_id, at, measure, bin))`.execute(
    db,
  )
}

/** The end of the last counted slot. */
export async function countedUntil(db: Db): Promise<Date | undefined> {
  const row = await db.selectFrom('activity_counted').select('until').executeTakeFirst()
  return row?.until
}

/** From stored slots. */
export async function storedCounts(db: Db, whose: Whose, { from, to }: Span, interval: number): Promise<Count[]> {
  const { rows } = await sql<Count>`
    SELECT ${startOf(secondsOf(sql`slot`), interval)}::float8 AS at, measure, bin, sum(count)::float8 AS count
    FROM activity_counts
    WHERE environment_id = ${whose.environmentId} AND workflow_id = ANY(${whose.workflowIds ?? ['']}::text[])
      AND slot >= ${from} AND slot < ${to}
    GROUP BY 1, 2, 3`.execute(db)
  return rows
}

/** From the rows. */
export async function freshCounts(db: Db, whose: Whose, span: Span, interval: number): Promise<Count[]> {
  const { rows } = await sql<Count>`
    SELECT at::float8 AS at, measure, bin, count(*)::float8 AS count FROM (${facts(span, interval, whose)}) f
    GROUP BY 1, 2, 3`.execute(db)
  return rows
}

/** Failed runs by start time. There are few and they have an index, so they are counted on demand. */
export async function failedRuns(
  db: Db,
  { environmentId, workflowIds, isHeld = false }: Whose,
  span: Span,
  interval: number,
): Promise<Array<Pick<Count, 'at' | 'count'>>> {
  const ofWorkflows = workflowIds ? sql`AND n.workflow_id = ANY(${workflowIds}::text[])` : sql``
  const { rows } = await sql<Pick<Count, 'at' | 'count'>>`
    SELECT ${startOf(startedAt(isHeld), interval)}::float8 AS at, count(*)::float8 AS count FROM notifications n
    WHERE n.environment_id = ${environmentId} AND n.status = 'error'
      AND ${startedWithin(span, isHeld)} ${ofWorkflows}
    GROUP BY 1`.execute(db)
  return rows
}

/** The latency in milliseconds at this quantile, to the accuracy of the bins. */
export function quantile(bins: ReadonlyMap<number, number>, share: number): number | undefined {
  const total = [...bins.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  let left = share * total
  let last = 0
  for (const [bin, count] of [...bins].sort(([a], [b]) => a - b)) {
    last = bin
    if (left <= count) return rounded(10 ** ((bin + left / count) / binsPerDecade))
    left -= count
  }
  return rounded(10 ** ((last + 1) / binsPerDecade))
}

const rounded = (ms: number) => (ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms))
