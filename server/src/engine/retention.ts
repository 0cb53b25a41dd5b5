// What may go when its time is over: whole months of activity and messages. Nothing that somebody still waits for.
import type pg from 'pg'
import type { Logger } from 'pino'
import { dropPartition, type Month, type PartitionedTable, partitionedMonths, partitionName } from '../db/partitions.ts'

export interface Retention {
  /** How long triggers, runs and their steps are kept; 0 is for ever. */
  activityDays: number
  /** The same for messages. */
  messageDays: number
}

interface Surroundings {
  pool: pg.Pool
  clock: { now(): Date }
  log: Logger
  retention: Retention
}

/** In the order in which they go: nothing is left that points to what is gone. */
const activity = ['notifications', 'jobs', 'events'] as const

export async function dropExpired(surroundings: Surroundings, stopping: AbortSignal): Promise<void> {
  const { activityDays, messageDays } = surroundings.retention
  await dropMonths(surroundings, ['messages'], messageDays, messageWaits, stopping)
  await dropMonths(surroundings, activity, activityDays, activityWaits, stopping)
}

async function dropMonths(
  { pool, clock, log }: Surroundings,
  tables: readonly PartitionedTable[],
  days: number,
  waits: readonly Wait[],
  stopping: AbortSignal,
): Promise<void> {
  if (days === 0) return
  const limit = new Date(clock.now().getTime() - days * 86_400_000)
  for (const month of await partitionedMonths(pool, tables)) {
    if (month.end > limit) return
    stopping.throwIfAborted()
    const partitions = tables.map((table) => partitionName(table, month))
    const reason = await firstWait(pool, month, waits)
    if (reason) {
      log.warn({ partitions, reason }, 'data past its time is kept, because something still waits for it')
      continue
    }
    for (const table of tables) await dropPartition(pool, table, month)
    if (tables.includes('events'))
      await pool.query('DELETE FROM passed_over WHERE event_id >= $1 AND event_id < $2', [month.from, month.to])
    log.info({ partitions }, 'dropped data past its time')
  }
}

/** The ids of triggers that jobs of the queue will go on with. */
export const eventsToStart = `
  SELECT named.id FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id,
  LATERAL (SELECT j.payload ->> 'eventId'
           UNION ALL SELECT pair ->> 1 FROM json_array_elements(j.payload -> 'events') pair) AS named (id)
  WHERE t.identifier IN ('start_runs', 'fan_out') AND named.id IS NOT NULL`

/** A question whose answer is a row when something of the month from $1 to $2 is still needed. */
interface Wait {
  reason: string
  query: string
}

const timers: Wait = {
  reason: 'a timer is set',
  query: 'SELECT FROM timers WHERE subject_id >= $1 AND subject_id < $2',
}

const messageWaits = [timers]

// From the cheap to the dear: the last two read whole partitions. They are asked once a month where nothing waits, because
// what they clear is dropped; where something waits for long it has a timer.
const activityWaits: Wait[] = [
  timers,
  {
    reason: 'a trigger has not started all its runs',
    query: `SELECT FROM (${eventsToStart}) AS waiting (id) WHERE id >= $1 AND id < $2`,
  },
  {
    reason: 'a run, or the digest it was merged into, has not ended',
    query: `
      SELECT FROM notifications n
      LEFT JOIN notifications d ON d.environment_id = n.environment_id AND d.id = n.digested_into
      WHERE n.id >= $1 AND n.id < $2 AND (n.status = 'processing' OR d.status = 'processing')`,
  },
  {
    reason: 'a run that was started in a later month has not ended',
    query: `SELECT FROM notifications WHERE id >= $2 AND event_id >= $1 AND event_id < $2 AND status = 'processing'`,
  },
]

async function firstWait(pool: pg.Pool, { from, to }: Month, waits: readonly Wait[]): Promise<string | undefined> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    await client.query('BEGIN READ ONLY; SET LOCAL statement_timeout = 0')
    for (const { reason, query } of waits) {
      const { rows } = await client.query(`${query} LIMIT 1`, [from, to])
      if (rows.length > 0) return reason
    }
    return undefined
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    if (!failure) await client.query('COMMIT')
    client.release(failure)
  }
}
