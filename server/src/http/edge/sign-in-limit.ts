// Limits on guessing passwords, links and API keys: per account and per client address, counted in the database for all processes.
import { sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { fail } from '../../errors.ts'
import { networkOf } from './caller-network.ts'

/** Counted from the first attempt. */
const windowMs = 15 * 60_000
const mostPerAccount = 10
/** High, because offices share an address. */
const mostPerAddress = 60
/** Addresses over the limit that a process caches. */
const mostRemembered = 10_000

interface Attempt {
  /** Absent for attempts with a link. */
  email?: string
  address: string
}

/**
 * Counts the attempt before it is made, so that concurrent attempts cannot bypass the limit. The caller refunds a correct one.
 * Unknown accounts count like existing ones.
 */
export async function takeAttempt(db: Db, { email, address }: Attempt, now: Date): Promise<() => Promise<void>> {
  const limits = new Map([[keyOf('address', networkOf(address)), mostPerAddress]])
  if (email !== undefined) limits.set(keyOf('account', email.toLowerCase()), mostPerAccount)
  const endsAt = await countAttempts(db, limits, now)
  if (endsAt) throw limited('sign_in_limited', endsAt, now)
  return async () => {
    // The owner signed in: earlier attempts by others must not count against them.
    if (email !== undefined) await forgetAttempts(db, email)
    await db
      .updateTable('sign_in_attempts')
      .set((set) => ({ attempts: set('attempts', '-', 1) }))
      .where('key', '=', keyOf('address', networkOf(address)))
      .where('attempts', '>', 0)
      .execute()
  }
}

/** When the limit ends, if one of the keys is over it. */
async function countAttempts(db: Db, limits: Map<string, number>, now: Date): Promise<Date | undefined> {
  const keys = [...limits.keys()].sort()
  const { rows } = await sql<{ key: string; attempts: number; ends_at: Date }>`
    INSERT INTO sign_in_attempts AS a (key, attempts, ends_at)
    SELECT key, 1, ${new Date(now.getTime() + windowMs)} FROM unnest(${keys}::text[]) AS key
    ON CONFLICT (key) DO UPDATE SET
      attempts = CASE WHEN a.ends_at <= ${now} THEN 1 ELSE least(a.attempts + 1, 1000000) END,
      ends_at = CASE WHEN a.ends_at <= ${now} THEN excluded.ends_at ELSE a.ends_at END
    RETURNING key, attempts, ends_at`.execute(db)
  const over = rows.filter(({ key, attempts }) => attempts > (limits.get(key) ?? 0))
  return over.length === 0 ? undefined : new Date(Math.max(...over.map(({ ends_at }) => ends_at.getTime())))
}

const limited = (code: 'sign_in_limited' | 'too_many_wrong_keys', endsAt: Date, now: Date) => {
  const seconds = Math.max(1, Math.ceil((endsAt.getTime() - now.getTime()) / 1000))
  return fail(code, undefined, { headers: { 'Retry-After': String(seconds) } })
}

/**
 * Wrong API keys per client address, counted once they turn out wrong. Nobody guesses 128 bits; the limit only keeps guessing
 * from costing the database too much, and right keys cost nothing.
 */
export class WrongKeys {
  /** Cached, so that a flood costs no statements. */
  readonly #overUntil = new Map<string, Date>()
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  refuseMore(address: string, now: Date): void {
    const endsAt = this.#overUntil.get(networkOf(address))
    if (endsAt === undefined) return
    if (endsAt > now) throw limited('too_many_wrong_keys', endsAt, now)
    this.#overUntil.delete(networkOf(address))
  }

  async count(address: string, now: Date): Promise<void> {
    const network = networkOf(address)
    const endsAt = await countAttempts(this.#db, new Map([[keyOf('wrong keys', network), mostPerAddress]]), now)
    if (endsAt === undefined) return
    const [oldest] = this.#overUntil.keys()
    if (oldest !== undefined && this.#overUntil.size >= mostRemembered) this.#overUntil.delete(oldest)
    this.#overUntil.set(network, endsAt)
    throw limited('too_many_wrong_keys', endsAt, now)
  }
}

export async function forgetAttempts(db: Pick<Db, 'deleteFrom'>, email: string): Promise<void> {
  await db.deleteFrom('sign_in_attempts').where('key', '=', keyOf('account', email.toLowerCase())).execute()
}

const keyOf = (kind: 'account' | 'address' | 'wrong keys', name: string) => sha256(`${kind} ${name}`)
