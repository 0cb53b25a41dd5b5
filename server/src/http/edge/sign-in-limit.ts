// What slows down guessing of passwords, links and API keys: per account and per client address, counted in the database for all
// processes. Beyond a limit nobody is shut out: further attempts are made one after another, with a pause before each. So a
// guesser gets hardly further, and the right password or key still gets in.
import { sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { fail } from '../../errors.ts'
import { networkOf } from './caller-network.ts'

/** Counted from the first attempt. */
const windowMs = 15 * 60_000
const mostPerAccount = 10
/** Mails with a link for a new password. */
const mostResetMails = 3
/** High, because offices share an address. */
const mostPerAddress = 60
/** Beyond a limit, an attempt in each of these. Codes have few digits, so they are guessed more slowly. */
const pausesMs = { account: 1_000, codes: 10_000 }
/** In one lane; more are refused unchecked, and may retry. */
const mostWaiting = { account: 5, codes: 3 }
/** Addresses over the limit that a process caches. */
const mostRemembered = 10_000

interface Attempt {
  /** Absent for attempts with a link. */
  email?: string
  address: string
  /** Codes count apart: who knows the password must not reset their count by giving it again. */
  kind?: 'account' | 'codes'
}

/**
 * Counts the attempt before it is made, so that concurrent attempts cannot bypass the limit. Beyond the limit it waits for its
 * turn. The caller refunds a correct one. Unknown accounts count like existing ones.
 */
export async function takeAttempt(db: Db, attempt: Attempt, now: Date): Promise<() => Promise<void>> {
  const { email, address, kind = 'account' } = attempt
  const network = networkOf(address)
  const [ofAddress, ofAccount] = [keyOf('address', network), keyOf(kind, email?.toLowerCase() ?? '')]
  const limits = new Map([[ofAddress, mostPerAddress]])
  if (email !== undefined) limits.set(ofAccount, mostPerAccount)
  const over = await countAttempts(db, limits, now)
  // Each account has a lane per address, so that a guesser elsewhere does not hold up the owner; and who has signed in from
  // here before does not queue behind strangers who share the address.
  const isKnownHere = over.size > 0 && email !== undefined && (await hasSignedInFrom(db, email, network))
  if (over.has(ofAddress) && !isKnownHere) await takeTurn(ofAddress, kind)
  if (over.has(ofAccount) || (over.has(ofAddress) && isKnownHere)) await takeTurn(ofAccount + ofAddress, kind)
  return async () => {
    // The owner signed in: earlier attempts by others must not count against them.
    if (email !== undefined) await forgetAttempts(db, email, kind)
    await db
      .updateTable('sign_in_attempts')
      .set((set) => ({ attempts: set('attempts', '-', 1) }))
      .where('key', '=', ofAddress)
      .where('attempts', '>', 0)
      .execute()
  }
}

/** Whether another mail with a link may go to this address. Unknown accounts count like existing ones. */
export async function takeResetMail(db: Db, email: string, now: Date): Promise<boolean> {
  const key = keyOf('reset mails', email.toLowerCase())
  return (await countAttempts(db, new Map([[key, mostResetMails]]), now)).size === 0
}

interface Lane {
  waiting: number
  last: Promise<unknown>
}
const lanes = new Map<string, Lane>()

async function takeTurn(name: string, kind: 'account' | 'codes'): Promise<void> {
  const lane = lanes.get(name) ?? { waiting: 0, last: Promise.resolve() }
  const [most, pauseMs] = [mostWaiting[kind], pausesMs[kind]]
  if (lane.waiting >= most)
    throw fail('sign_in_limited', undefined, { headers: { 'Retry-After': String((most * pauseMs) / 1000) } })
  lanes.set(name, lane)
  lane.waiting += 1
  lane.last = lane.last.then(() => new Promise((resolve) => setTimeout(resolve, pauseMs)))
  await lane.last
  lane.waiting -= 1
  if (lane.waiting === 0) lanes.delete(name)
}

async function hasSignedInFrom(db: Db, email: string, network: string): Promise<boolean> {
  const rows = await db
    .selectFrom('user_sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select('s.address')
    .where((where) => where(where.fn('lower', ['u.email']), '=', email.toLowerCase()))
    .limit(100)
    .execute()
  return rows.some(({ address }) => networkOf(address) === network)
}

/** @returns the keys over their limit, and when it ends */
async function countAttempts(db: Db, limits: Map<string, number>, now: Date): Promise<Map<string, Date>> {
  const keys = [...limits.keys()].sort()
  const { rows } = await sql<{ key: string; attempts: number; ends_at: Date }>`
    INSERT INTO sign_in_attempts AS a (key, attempts, ends_at)
    SELECT key, 1, ${new Date(now.getTime() + windowMs)} FROM unnest(${keys}::text[]) AS key
    ON CONFLICT (key) DO UPDATE SET
      attempts = CASE WHEN a.ends_at <= ${now} THEN 1 ELSE least(a.attempts + 1, 1000000) END,
      ends_at = CASE WHEN a.ends_at <= ${now} THEN excluded.ends_at ELSE a.ends_at END
    RETURNING key, attempts, ends_at`.execute(db)
  const over = rows.filter(({ key, attempts }) => attempts > (limits.get(key) ?? 0))
  return new Map(over.map(({ key, ends_at }) => [key, ends_at]))
}

/**
 * Wrong API keys per client address, counted once they turn out wrong. Nobody guesses 128 bits; the limit only keeps guessing
 * from costing the database too much, and right keys cost nothing.
 */
export class WrongKeys {
  /** Cached, so that a flood is not counted any further. */
  readonly #overUntil = new Map<string, Date>()
  /** The look-up in progress for an address over the limit. */
  readonly #lookUps = new Map<string, Promise<unknown>>()
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** For an address over the limit, one look-up at a time: a flood costs little, and a right key still gets in. */
  async lookUp<T>(address: string, now: Date, find: () => Promise<T>): Promise<T> {
    const network = networkOf(address)
    if (!this.#isOver(network, now)) return find()
    const before = this.#lookUps.get(network) ?? Promise.resolve()
    const own = before.then(find)
    const settled = own.catch(() => undefined)
    this.#lookUps.set(network, settled)
    try {
      return await own
    } finally {
      if (this.#lookUps.get(network) === settled) this.#lookUps.delete(network)
    }
  }

  /** Throws when there were too many from this address. */
  async count(address: string, now: Date): Promise<void> {
    const network = networkOf(address)
    if (!this.#isOver(network, now)) {
      const key = keyOf('wrong keys', network)
      const endsAt = (await countAttempts(this.#db, new Map([[key, mostPerAddress]]), now)).get(key)
      if (endsAt === undefined) return
      const [oldest] = this.#overUntil.keys()
      if (oldest !== undefined && this.#overUntil.size >= mostRemembered) this.#overUntil.delete(oldest)
      this.#overUntil.set(network, endsAt)
    }
    const leftMs = (this.#overUntil.get(network)?.getTime() ?? 0) - now.getTime()
    const seconds = Math.max(1, Math.ceil(leftMs / 1000))
    throw fail('too_many_wrong_keys', undefined, { headers: { 'Retry-After': String(seconds) } })
  }

  #isOver(network: string, now: Date): boolean {
    const endsAt = this.#overUntil.get(network)
    if (endsAt !== undefined && endsAt <= now) this.#overUntil.delete(network)
    return endsAt !== undefined && endsAt > now
  }
}

export async function forgetAttempts(
  db: Pick<Db, 'deleteFrom'>,
  email: string,
  kind: 'account' | 'codes' = 'account',
): Promise<void> {
  await db.deleteFrom('sign_in_attempts').where('key', '=', keyOf(kind, email.toLowerCase())).execute()
}

const keyOf = (kind: 'account' | 'codes' | 'address' | 'wrong keys' | 'reset mails', name: string) =>
  sha256(`${kind} ${name}`)
