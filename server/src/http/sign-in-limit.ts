// How often passwords and links may be tried: per account and per caller's address, counted where all processes see it.
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { sha256 } from '../db/secrets.ts'
import { fail } from '../errors.ts'
import { networkOf } from './caller-network.ts'

/** Within this time of the first attempt. */
const windowMs = 15 * 60_000
const mostPerAccount = 10
/** Offices share an address. */
const mostPerAddress = 60

interface Attempt {
  /** Left out where only a link is tried. */
  email?: string
  address: string
}

/**
 * Counts the attempt before it is made, so that many at once are no way round; what turns out right is given back.
 * An account that does not exist is counted like one that does.
 */
export async function takeAttempt(db: Db, { email, address }: Attempt, now: Date): Promise<() => Promise<void>> {
  const limits = new Map([[keyOf('address', networkOf(address)), mostPerAddress]])
  if (email !== undefined) limits.set(keyOf('account', email.toLowerCase()), mostPerAccount)
  const keys = [...limits.keys()].sort()
  const { rows } = await sql<{ key: string; attempts: number; ends_at: Date }>`
    INSERT INTO sign_in_attempts AS a (key, attempts, ends_at)
    SELECT key, 1, ${new Date(now.getTime() + windowMs)} FROM unnest(${keys}::text[]) AS key
    ON CONFLICT (key) DO UPDATE SET
      attempts = CASE WHEN a.ends_at <= ${now} THEN 1 ELSE least(a.attempts + 1, 1000000) END,
      ends_at = CASE WHEN a.ends_at <= ${now} THEN excluded.ends_at ELSE a.ends_at END
    RETURNING key, attempts, ends_at`.execute(db)
  const over = rows.filter(({ key, attempts }) => attempts > (limits.get(key) ?? 0))
  if (over.length > 0) {
    const endsAt = Math.max(...over.map(({ ends_at }) => ends_at.getTime()))
    const seconds = Math.max(1, Math.ceil((endsAt - now.getTime()) / 1000))
    throw fail('sign_in_limited', undefined, { headers: { 'Retry-After': String(seconds) } })
  }
  return async () => {
    // The owner of the account is here: what others tried before does not count against them.
    if (email !== undefined) await forgetAttempts(db, email)
    await db
      .updateTable('sign_in_attempts')
      .set((set) => ({ attempts: set('attempts', '-', 1) }))
      .where('key', '=', keyOf('address', networkOf(address)))
      .where('attempts', '>', 0)
      .execute()
  }
}

export async function forgetAttempts(db: Pick<Db, 'deleteFrom'>, email: string): Promise<void> {
  await db.deleteFrom('sign_in_attempts').where('key', '=', keyOf('account', email.toLowerCase())).execute()
}

const keyOf = (kind: 'account' | 'address', name: string) => sha256(`${kind} ${name}`)
