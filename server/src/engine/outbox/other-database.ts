// Carries out calls of the SQL functions in a database of an application, which knows nothing of ours. The transaction id makes a
// call count once: one that is repeated after a crash is known by it.
import pg from 'pg'
import {
  formatRefusal,
  type OutboxRow,
  oldestHours,
  type Refusal,
  settled,
  settleRows,
  takeRows,
  waveOf,
} from './rows.ts'

const hourMs = 3_600_000

/** Accepts calls of one kind, in their order, and resolves once they are committed. @returns why some were refused, by row id */
export type Accept = (rows: OutboxRow[]) => Promise<Map<string, Refusal>>

export interface OtherDatabase {
  pool: pg.Pool
  /** The words that the roles there are allowed for. */
  environments: string[]
  accept: Accept
  now(): Date
  /** How long transaction ids are remembered, if that is known. */
  dedupDays?: number | undefined
  onTaken?(kind: OutboxRow['kind'], counts: { accepted: number; refused: number }): void
}

/** What was accepted there, for `belfry.status`. Calls refused here were not. */
const noteAccepted = `
  INSERT INTO belfry.accepted (environment_id, transaction_id, accepted_at)
  SELECT * , $3::timestamptz FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING`

/** Locked until they are accepted and removed, so that no other drain takes them. @returns how many were carried out */
export async function drainOther(other: OtherDatabase): Promise<number> {
  const { pool, environments, accept, now, onTaken } = other
  const oldest = oldestHours(other.dedupDays)
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const { rows } = await client.query<OutboxRow>({ ...takeRows, values: [100, environments] })
    const wave = waveOf(rows)
    const refusals = new Map<string, Refusal>()
    const good = wave.filter((row) => {
      const refusal = formatRefusal(row) ?? ageRefusal(row, oldest, now())
      if (refusal) refusals.set(row.id, refusal)
      return !refusal
    })
    for (const [id, refusal] of good.length === 0 ? [] : await accept(good)) refusals.set(id, refusal)
    if (wave.length > 0) await client.query({ ...settleRows, values: settled(wave, refusals, now()) })
    const accepted = good.filter(({ id, kind }) => kind === 'trigger' && !refusals.has(id))
    if (accepted.length > 0)
      await client.query(noteAccepted, [
        accepted.map(({ environment_id }) => environment_id),
        accepted.map(({ transaction_id }) => transaction_id ?? ''),
        now(),
      ])
    await client.query('COMMIT')
    const [first] = wave
    if (first) onTaken?.(first.kind, { accepted: wave.length - refusals.size, refused: refusals.size })
    return wave.length
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: unknown) => {
      broken = failure as Error
    })
    throw error
  } finally {
    client.release(broken)
  }
}

function ageRefusal({ created_at }: OutboxRow, hours: number, now: Date): Refusal | undefined {
  if (now.getTime() - created_at.getTime() < hours * hourMs) return undefined
  const age = hours < 48 ? `${hours} hours` : `${hours / 24} days`
  return { code: 'too_old', message: `The call is older than ${age}; it may have been carried out already` }
}

/** Removes what is past its time. */
export async function tidyOther(pool: pg.Pool, days: number): Promise<void> {
  await pool.query('DELETE FROM belfry.refused WHERE refused_at < now() - make_interval(days => $1)', [days])
  await pool.query('DELETE FROM belfry.accepted WHERE accepted_at < now() - make_interval(days => $1)', [days])
}

/** The version of the functions there; undefined if they are not installed. */
export async function installedVersion(db: Pick<pg.Pool, 'query'>): Promise<number | undefined> {
  const { rows } = await db.query<{ found: string | null }>(`SELECT to_regprocedure('belfry.version()')::text AS found`)
  if (!rows[0]?.found) return undefined
  const { rows: versions } = await db.query<{ version: number }>('SELECT belfry.version() AS version')
  return versions[0]?.version
}

/** A pool for such a database. */
export const openOther = (url: string, onError: (error: Error) => void): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    application_name: 'belfry outbox',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  pool.on('error', onError)
  return pool
}
