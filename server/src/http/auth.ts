// Who is asking: an API key, found by its SHA-256, opens the environment it belongs to.
import type { FastifyRequest } from 'fastify'
import type { Changes } from '../db/changes.ts'
import type { Db } from '../db/database.ts'
import { sha256 } from '../db/secrets.ts'
import { fail } from '../errors.ts'
import type { Environment } from './resource.ts'

const scheme = 'ApiKey'

/** Keys seen by this process. Only hits are remembered, so an attacker's guesses cannot fill it. */
export class ApiKeys {
  #known = new Map<string, Environment>()
  readonly #db: Db
  readonly #changes: Changes

  constructor(db: Db, changes: Changes) {
    this.#db = db
    this.#changes = changes
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
    if (remembered) return remembered
    // Asked before the look-up: what was read while nobody listened may have been removed unheard since.
    const wouldHearOfRemoval = this.#changes.connected
    const environment = await this.#find(hash)
    if (wouldHearOfRemoval) known.set(hash, environment)
    return environment
  }

  async #find(hash: string): Promise<Environment> {
    const row = await this.#db
      .selectFrom('api_keys as k')
      .innerJoin('environments as e', 'e.id', 'k.environment_id')
      .select(['e.id', 'e.organization_id', 'k.user_id', 'e.rate_limits'])
      .where('k.hash', '=', hash)
      .executeTakeFirst()
    if (!row) throw fail('api_key_not_found')
    return { id: row.id, organizationId: row.organization_id, userId: row.user_id, rateLimits: row.rate_limits }
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
