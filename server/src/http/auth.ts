// Who is asking: an API key, found by its SHA-256, opens the environment it belongs to.
import type { FastifyRequest } from 'fastify'
import type { Changes } from '../db/changes.ts'
import type { Db } from '../db/database.ts'
import { sha256 } from '../db/secrets.ts'
import { fail } from '../errors.ts'
import type { Clock, Environment } from './resource.ts'

const scheme = 'ApiKey'

interface Known {
  environment: Environment
  /** Of a key that has been replaced. */
  expiresAt: Date | null
}

/** Keys seen by this process. Only hits are remembered, so an attacker's guesses cannot fill it. */
export class ApiKeys {
  #known = new Map<string, Known>()
  readonly #db: Db
  readonly #changes: Changes
  readonly #clock: Clock

  constructor(db: Db, changes: Changes, clock: Clock) {
    this.#db = db
    this.#changes = changes
    this.#clock = clock
    // The change of one environment's keys is rare: forgetting all of them costs one look-up each.
    changes.on('api_keys', () => this.forget())
    changes.onLoss(() => this.forget())
  }

  /** Called by whoever changed keys in this process, so that it need not wait for its own announcement. */
  forget(): void {
    // A new map: a look-up under way puts what it found into the old one, where it can no longer outlive a removal.
    this.#known = new Map()
  }

  async authenticate(request: FastifyRequest): Promise<Environment> {
    const hash = sha256(keyOf(request.headers.authorization))
    const known = this.#known
    const remembered = known.get(hash)
    if (remembered) return this.#unlessExpired(remembered)
    // Asked before the look-up: what was read while nobody listened may have been removed unheard since.
    const wouldHearOfRemoval = this.#changes.connected
    const found = await this.#find(hash)
    if (wouldHearOfRemoval) known.set(hash, found)
    return this.#unlessExpired(found)
  }

  /** Asked each time: nobody announces that time has passed. */
  #unlessExpired({ environment, expiresAt }: Known): Environment {
    if (expiresAt !== null && expiresAt <= this.#clock.now()) throw fail('api_key_not_found')
    return environment
  }

  async #find(hash: string): Promise<Known> {
    const row = await this.#db
      .selectFrom('api_keys as k')
      .innerJoin('environments as e', 'e.id', 'k.environment_id')
      .select(['e.id', 'e.organization_id', 'k.user_id', 'k.expires_at', 'e.rate_limits'])
      .where('k.hash', '=', hash)
      .executeTakeFirst()
    if (!row) throw fail('api_key_not_found')
    const { id, organization_id: organizationId, user_id: userId, rate_limits: rateLimits } = row
    return { environment: { id, organizationId, userId, rateLimits }, expiresAt: row.expires_at }
  }
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
