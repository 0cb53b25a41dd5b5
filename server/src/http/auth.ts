// Who is asking: an API key, found by its SHA-256, opens the environment it belongs to.
import type { FastifyRequest } from 'fastify'
import type { Changes } from '../db/changes.ts'
import type { Db } from '../db/database.ts'
import { sha256 } from '../db/secrets.ts'
import { fail } from '../errors.ts'
import type { Environment } from './resource.ts'

/** Keys seen by this process. Only hits are remembered, so an attacker's guesses cannot fill it. */
export class ApiKeys {
  readonly #known = new Map<string, Environment>()
  readonly #db: Db
  readonly #changes: Changes

  constructor(db: Db, changes: Changes) {
    this.#db = db
    this.#changes = changes
    // The change of one environment's keys is rare: forgetting all of them costs one look-up each.
    changes.on('api_keys', () => this.#known.clear())
    changes.onLoss(() => this.#known.clear())
  }

  /** Called by whoever changed keys in this process, so that it need not wait for its own announcement. */
  forget(): void {
    this.#known.clear()
  }

  async authenticate(request: FastifyRequest): Promise<Environment> {
    const header = request.headers.authorization
    if (header === undefined || header === '') throw fail('missing_authorization')
    const [scheme = '', key = ''] = header.split(' ', 2)
    if (scheme !== 'ApiKey') throw fail('invalid_scheme', { scheme })
    if (key === '') throw fail('unauthorized')
    const hash = sha256(key)
    const known = this.#known.get(hash)
    if (known) return known
    const environment = await this.#find(hash)
    // Without the announcements of others a remembered key could outlive its removal.
    if (this.#changes.connected) this.#known.set(hash, environment)
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
