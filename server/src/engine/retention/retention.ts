// Deletes expired data: whole months of activity and messages once no environment keeps them longer, and single environments'
// rows otherwise. Never anything that is still needed.
import type pg from 'pg'
import type { Logger } from 'pino'
import {
  dropPartition,
  type Month,
  monthOf,
  type PartitionedTable,
  partitionedMonths,
  partitionName,
} from '../../db/core/partitions.ts'
import { dropRows, eventsToStart, type RowsOf } from './rows.ts'

/** The service's defaults, for environments that set nothing else. */
export interface Retention {
  /** How long triggers, runs and their steps are kept; 0 is forever. */
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

/** In the order in which they are dropped, so that nothing points to missing rows. */
const activity = ['notifications', 'jobs', 'events', 'posted_events', 'question_people', 'questions'] as const

/** @returns whether one round was not enough */
export async function dropExpired(surroundings: Surroundings, stopping: AbortSignal): Promise<boolean> {
  const { pool, clock, retention } = surroundings
  const environments = await periodsOf(pool, retention)
  const longest = (kinds: readonly RowsOf[]) => {
    const days = environments.flatMap((each) => kinds.map((kind) => each.days[kind]))
    return days.includes(0) ? 0 : Math.max(...days)
  }
  await dropMonths(surroundings, ['messages'], longest(['messages', 'inbox']), messageWaits, stopping)
  await dropMonths(surroundings, activity, longest(['activity']), activityWaits, stopping)
  let isMore = false
  for (const { id, days, own } of environments) {
    for (const kind of ['inbox', 'messages', 'activity'] as const) {
      const partition = longest(kind === 'activity' ? ['activity'] : ['messages', 'inbox'])
      // Without a choice of its own, data goes with its month's partition, unless another environment keeps that longer.
      if (days[kind] === 0 || (!own[kind] && days[kind] === partition)) continue
      const limit = new Date(clock.now().getTime() - days[kind] * dayMs)
      const until = own[kind] ? limit : monthOf(limit).start
      isMore = (await dropRows(pool, kind, { environmentId: id, until }, stopping)) || isMore
    }
  }
  return isMore
}

const dayMs = 86_400_000

interface Periods {
  id: string
  days: Record<RowsOf, number>
  /** The periods that the environment chose, which are kept to the day. */
  own: Record<RowsOf, boolean>
}

/** For every environment, and, under an empty id, for future ones. */
async function periodsOf(pool: pg.Pool, { activityDays, messageDays }: Retention): Promise<Periods[]> {
  const { rows } = await pool.query<{ id: string; retention: Record<string, number> | null }>(
    `SELECT id, retention FROM environments UNION ALL SELECT '', NULL ORDER BY id`,
  )
  return rows.map(({ id, retention }) => {
    const chosen = { activity: retention?.activityDays, messages: retention?.messageDays, inbox: retention?.inboxDays }
    return {
      id,
      days: {
        activity: chosen.activity ?? activityDays,
        messages: chosen.messages ?? messageDays,
        inbox: chosen.inbox ?? messageDays,
      },
      own: {
        activity: chosen.activity !== undefined,
        messages: chosen.messages !== undefined,
        inbox: chosen.inbox !== undefined,
      },
    }
  })
}

async function dropMonths(
  { pool, clock, log }: Surroundings,
  tables: readonly PartitionedTable[],
  days: number,
  waits: readonly Wait[],
  stopping: AbortSignal,
): Promise<void> {
  if (days === 0) return
  const limit = new Date(clock.now().getTime() - days * dayMs)
  for (const month of await partitionedMonths(pool, tables)) {
    if (month.end > limit) return
    stopping.throwIfAborted()
    const partitions = tables.map((table) => partitionName(table, month))
    const reason = await firstWait(pool, month, waits)
    if (reason) {
      log.warn({ partitions, reason }, 'kept expired data that is still needed')
      continue
    }
    for (const table of tables) await dropPartition(pool, table, month)
    if (tables.includes('events'))
      await pool.query('DELETE FROM passed_over WHERE event_id >= $1 AND event_id < $2', [month.from, month.to])
    log.info({ partitions }, 'dropped expired data')
  }
}

/** A query that returns a row while something of the month from $1 to $2 is still needed. */
interface Wait {
  reason: string
  query: string
}

const timers: Wait = {
  reason: 'a timer is set',
  query: 'SELECT FROM timers WHERE subject_id >= $1 AND subject_id < $2',
}

const messageWaits = [timers]

// Cheapest first: the last three read whole partitions. If nothing waits they run once a month, because the month is then
// dropped; whatever waits for long has a timer.
const activityWaits: Wait[] = [
  timers,
  {
    reason: 'not all runs were told of a posted event',
    query: 'SELECT FROM posted_events WHERE id >= $1 AND id < $2 AND reached IS NOT NULL',
  },
  {
    reason: 'a question is open',
    query: `SELECT FROM questions WHERE id >= $1 AND id < $2 AND state = 'open'`,
  },
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
  {
    reason: 'a run of an earlier month that asked a question has not ended',
    query: `
      SELECT FROM questions q
      JOIN notifications n ON n.environment_id = q.environment_id AND n.id = q.notification_id
      WHERE q.id >= $1 AND q.id < $2 AND n.id < $1 AND n.status = 'processing'`,
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
