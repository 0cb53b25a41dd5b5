// When each API key was last used. A request only notes it in memory; the notes are written together, now and then.
import { sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import type { Services } from './resource.ts'

const everyMs = 60_000

export class KeyUses {
  #noted = new Map<string, Date>()
  #timer: NodeJS.Timeout | undefined
  readonly #db: Db
  readonly #log: Services['log']

  constructor(db: Db, log: Services['log']) {
    this.#db = db
    this.#log = log
  }

  note(keyId: string, now: Date): void {
    this.#noted.set(keyId, now)
    this.#timer ??= setTimeout(() => void this.write(), everyMs).unref()
  }

  /** If it fails, the time of last use stays too old, which is not worth failing a request for. */
  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const noted = this.#noted
    if (noted.size === 0) return
    this.#noted = new Map()
    try {
      // A key may have been revoked since, so only those that exist; in one order, so that two processes cannot deadlock.
      await sql`
        INSERT INTO api_key_uses AS u (key_id, used_at)
        SELECT k.id, given.at
        FROM unnest(${[...noted.keys()]}::text[], ${[...noted.values()]}::timestamptz[]) AS given (id, at)
          JOIN api_keys k ON k.id = given.id
        ORDER BY k.id
        ON CONFLICT (key_id) DO UPDATE SET used_at = greatest(u.used_at, excluded.used_at)`.execute(this.#db)
    } catch (error) {
      this.#log.warn({ err: error }, 'the last use of API keys could not be written')
    }
  }
}
