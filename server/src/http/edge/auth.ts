// Authentication by API key: the key, found by its SHA-256, opens its environment.
import type { FastifyRequest } from 'fastify'
import type { Changes } from '../../db/core/changes.ts'
import type { Db } from '../../db/core/database.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { fail } from '../../errors.ts'
import type { Clock, Environment } from './resource.ts'
import { WrongKeys } from './sign-in-limit.ts'

const scheme = 'ApiKey'
/** Wrong keys to remember: a client with a replaced key keeps retrying. */
const mostWrong = 1_000

interface Known {
  environment: Environment
  /** Set once the key has been replaced. */
  expiresAt: Date | null
}

/** This process's cache of keys: all valid ones, and the latest wrong ones. */
export class ApiKeys {
  #known = new Map<string, Known>()
  #wrong = new Set<string>()
  /** Valid when last looked up. Kept when the cache is emptied, so that these do not wait behind guesses. */
  readonly #everRight = new Set<string>()
  readonly #guesses: WrongKeys
  readonly #db: Db
  readonly #changes: Changes
  readonly #clock: Clock

  constructor(db: Db, changes: Changes, clock: Clock) {
    this.#db = db
    this.#changes = changes
    this.#clock = clock
    this.#guesses = new WrongKeys(db)
    // Keys change rarely, so emptying the whole cache is cheap enough: one look-up per key.
    changes.on('api_keys', () => this.forget())
    changes.onLoss(() => this.forget())
  }

  /** Call after changing keys in this process; other processes hear the announcement. */
  forget(): void {
    // A new map: a look-up in flight writes its stale result into the old one.
    this.#known = new Map()
    this.#wrong = new Set()
  }

  /** A key that is not cached is looked up in the database; `beforeLookUp` may refuse that. */
  async authenticate(request: FastifyRequest, beforeLookUp: () => void): Promise<Environment> {
    const hash = sha256(keyOf(request.headers.authorization))
    const [known, wrong] = [this.#known, this.#wrong]
    const remembered = known.get(hash)
    if (remembered) return this.#unlessExpired(remembered)
    // Repeating the same wrong key is not a guess.
    if (wrong.has(hash)) throw fail('api_key_not_found')
    beforeLookUp()
    // Read before the look-up: while disconnected we miss announcements, so the result must not be cached.
    const wouldHearOfChange = this.#changes.connected
    const find = () => this.#find(hash)
    const found = this.#everRight.has(hash)
      ? await find()
      : await this.#guesses.lookUp(request.ip, this.#clock.now(), find)
    if (!found) {
      this.#everRight.delete(hash)
      if (wouldHearOfChange) rememberWrong(wrong, hash)
      await this.#guesses.count(request.ip, this.#clock.now())
      throw fail('api_key_not_found')
    }
    this.#everRight.add(hash)
    if (wouldHearOfChange) known.set(hash, found)
    return this.#unlessExpired(found)
  }

  /** Checked on every request, because nothing announces an expiry. */
  #unlessExpired({ environment, expiresAt }: Known): Environment {
    if (expiresAt !== null && expiresAt <= this.#clock.now()) throw fail('api_key_not_found')
    return environment
  }

  async #find(hash: string): Promise<Known | undefined> {
    const row = await this.#db
      .selectFrom('api_keys as k')
      .innerJoin('environments as e', 'e.id', 'k.environment_id')
      .select(['e.id', 'e.organization_id', 'k.user_id', 'k.expires_at', 'e.rate_limits'])
      .where('k.hash', '=', hash)
      .executeTakeFirst()
    if (!row) return undefined
    const { id, organization_id: organizationId, user_id: userId, rate_limits: rateLimits } = row
    return { environment: { id, organizationId, userId, rateLimits }, expiresAt: row.expires_at }
  }
}

function rememberWrong(wrong: Set<string>, hash: string): void {
  const [oldest] = wrong
  if (oldest !== undefined && wrong.size >= mostWrong) wrong.delete(oldest)
  wrong.add(hash)
}

/** The key is everything after the scheme and one space. */
function keyOf(header: string | undefined): string {
  if (!header) throw fail('missing_authorization')
  const [word = ''] = header.split(' ', 1)
  if (word !== scheme)
    throw fail('invalid_scheme', { scheme: word, expected: `${scheme} <the key of the environment>` })
  const key = header.slice(scheme.length + 1)
  if (key === '') throw fail('unauthorized')
  return key
}
