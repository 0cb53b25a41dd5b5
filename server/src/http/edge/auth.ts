// Who is asking: an API key, found by its SHA-256, opens the environment it belongs to.
import type { FastifyRequest } from 'fastify'
import type { Changes } from '../../db/core/changes.ts'
import type { Db } from '../../db/core/database.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { fail } from '../../errors.ts'
import type { Clock, Environment } from './resource.ts'
import { WrongKeys } from './sign-in-limit.ts'

const scheme = 'ApiKey'
/** Keys that turned out wrong: a program that has not heard of a new one asks again and again. */
const mostWrong = 1_000

interface Known {
  environment: Environment
  /** Of a key that has been replaced. */
  expiresAt: Date | null
}

/** Keys seen by this process: all that are right, and the last of those that are not. */
export class ApiKeys {
  #known = new Map<string, Known>()
  #wrong = new Set<string>()
  /** Were right when last looked up; not forgotten, so that a change of keys does not make guesses of them. */
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
    // The change of one environment's keys is rare: forgetting all of them costs one look-up each.
    changes.on('api_keys', () => this.forget())
    changes.onLoss(() => this.forget())
  }

  /** Called by whoever changed keys in this process, so that it need not wait for its own announcement. */
  forget(): void {
    // A new map: a look-up under way puts what it found into the old one, where it can no longer outlive a removal.
    this.#known = new Map()
    this.#wrong = new Set()
  }

  /** A key that nobody remembers waits for the database; `beforeLookUp` may refuse that. */
  async authenticate(request: FastifyRequest, beforeLookUp: () => void): Promise<Environment> {
    const hash = sha256(keyOf(request.headers.authorization))
    const [known, wrong] = [this.#known, this.#wrong]
    const remembered = known.get(hash)
    if (remembered) return this.#unlessExpired(remembered)
    // The same once more is no guess.
    if (wrong.has(hash)) throw fail('api_key_not_found')
    if (!this.#everRight.has(hash)) this.#guesses.refuseMore(request.ip, this.#clock.now())
    beforeLookUp()
    // Asked before the look-up: what was read while nobody listened may have been changed unheard since.
    const wouldHearOfChange = this.#changes.connected
    const found = await this.#find(hash)
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

  /** Asked each time: nobody announces that time has passed. */
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

/** The key is all that follows the scheme word and one space. */
function keyOf(header: string | undefined): string {
  if (!header) throw fail('missing_authorization')
  const [word = ''] = header.split(' ', 1)
  if (word !== scheme) throw fail('invalid_scheme', { scheme: word })
  const key = header.slice(scheme.length + 1)
  if (key === '') throw fail('unauthorized')
  return key
}
