// Authentication by API key: the key, found by its SHA-256, opens its environment, or the one of its organization that the
// request names.
import type { BlockList } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { isMisspelt } from '../../db/core/api-key-form.ts'
import type { Changes } from '../../db/core/changes.ts'
import type { Db } from '../../db/core/database.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { fail } from '../../errors.ts'
import { isIn, networksOf } from './caller-network.ts'
import { environmentHeader, findChosen, protectionOf } from './chosen-environment.ts'
import { KeyUses } from './key-uses.ts'
import type { Environment, Services } from './resource.ts'
import { KeyRights } from './scopes.ts'
import { WrongKeys } from './sign-in-limit.ts'

const scheme = 'ApiKey'
/** Wrong keys to remember: a client with a replaced key keeps retrying. */
const mostWrong = 1_000

interface Known {
  rights: KeyRights
  organizationId: string
  userId: string
  /** By the name in the request; a key of one environment has that one only. */
  environments: Map<string, Environment>
  expiresAt: Date | null
  /** Undefined: everywhere. */
  allowed: BlockList | undefined
  /** Set if nothing but its rights has to be checked. */
  plain: Caller | undefined
}

interface Caller {
  rights: KeyRights
  environment: Environment
}

/** Under which a key of one environment has it, whatever the request names. */
const own = ''

/** This process's cache of keys: all valid ones, and the latest wrong ones. */
export class ApiKeys {
  /** By the header of a request: hashing the key would cost as much as all other checks. */
  #known = new Map<string, Known>()
  #wrong = new Set<string>()
  /** Valid when last looked up. Kept when the cache is emptied, so that these do not wait behind guesses. */
  readonly #everRight = new Set<string>()
  readonly #guesses: WrongKeys
  readonly #db: Db
  readonly #changes: Changes
  readonly #clock: Services['clock']
  readonly #uses: KeyUses

  constructor({ db, changes, clock, log }: Pick<Services, 'db' | 'changes' | 'clock' | 'log'>) {
    this.#db = db
    this.#changes = changes
    this.#clock = clock
    this.#uses = new KeyUses(db, log)
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

  /** Writes when keys were last used. */
  writeUses = (): Promise<void> => this.#uses.write()

  /**
   * Sets the key's rights and its environment. A key that is not cached is looked up in the database; `beforeLookUp` may refuse
   * that. @returns a promise only if something has to be looked up
   */
  authenticate(request: FastifyRequest, beforeLookUp: () => void): Promise<void> | undefined {
    const { authorization = '' } = request.headers
    const known = this.#known.get(authorization)
    if (known) return this.#admit(request, known)
    return this.#lookUp(request, authorization, beforeLookUp).then((found) => this.#admit(request, found))
  }

  /** Whom a cached key stands for: one of an environment, without an expiry or a list of addresses. Undefined for any other. */
  recall(authorization: string | undefined): Caller | undefined {
    const plain = this.#known.get(authorization ?? '')?.plain
    if (plain) this.#uses.note(plain.rights.id, this.#clock.now())
    return plain
  }

  #admit(request: FastifyRequest, known: Known): Promise<void> | undefined {
    const { rights, environments, expiresAt, allowed } = known
    const now = this.#clock.now()
    // Checked on every request: nothing announces an expiry, and the address differs.
    if (expiresAt !== null && expiresAt <= now) throw fail('api_key_not_found')
    if (allowed && !isIn(allowed, request.ip)) throw fail('api_key_address_refused', { address: request.ip })
    this.#uses.note(rights.id, now)
    request.key = rights
    const environment = environments.get(own)
    if (!environment) return this.#choose(request, known)
    request.environment = environment
    return undefined
  }

  async #lookUp(request: FastifyRequest, authorization: string, beforeLookUp: () => void): Promise<Known> {
    const key = keyOf(authorization)
    if (isMisspelt(key)) throw fail('api_key_not_found')
    const hash = sha256(key)
    const [known, wrong] = [this.#known, this.#wrong]
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
    if (wouldHearOfChange) known.set(authorization, found)
    return found
  }

  /** For a key of the organization: the environment that the request names, or Development. */
  async #choose(request: FastifyRequest, { organizationId, userId, environments }: Known): Promise<void> {
    const name = String(request.headers[environmentHeader] ?? '')
    const found = environments.get(`named ${name}`) ?? {
      ...(await findChosen(this.#db, organizationId, name)),
      userId,
    }
    environments.set(`named ${name}`, found)
    request.environment = found
  }

  async #find(hash: string): Promise<Known | undefined> {
    const row = await this.#db
      .selectFrom('api_keys as k')
      .leftJoin('environments as e', 'e.id', 'k.environment_id')
      .select(['k.id', 'k.name', 'k.scopes', 'k.allowed_addresses', 'k.user_id', 'k.expires_at'])
      .select(['k.organization_id', 'e.id as environment_id', 'e.organization_id as of', 'e.rate_limits'])
      .select(['e.is_protected', 'e.is_open_to_automation', 'e.clock_seed', 'e.shadow'])
      .where('k.hash', '=', hash)
      .executeTakeFirst()
    if (!row) return undefined
    const { id, name, scopes, environment_id: environmentId, user_id: userId, rate_limits: rateLimits } = row
    const organizationId = row.organization_id ?? row.of
    if (organizationId === null) return undefined
    const environments = new Map<string, Environment>()
    if (environmentId !== null) {
      const protection = protectionOf(row)
      const isHeld = row.clock_seed !== null
      const kind = { isHeld, isShadow: row.shadow !== null }
      environments.set(own, { id: environmentId, organizationId, userId, rateLimits, protection, ...kind })
    }
    const rights = new KeyRights({ id, name, scopes, isOrganizationWide: row.organization_id !== null })
    const { expires_at: expiresAt, allowed_addresses: addresses } = row
    const environment = environments.get(own)
    const isPlain =
      expiresAt === null && addresses === null && environment && !environment.isHeld && !environment.isShadow
    return {
      ...{ rights, organizationId, userId, environments, expiresAt },
      allowed: addresses === null ? undefined : networksOf(addresses),
      plain: isPlain ? { rights, environment } : undefined,
    }
  }
}

function rememberWrong(wrong: Set<string>, hash: string): void {
  const [oldest] = wrong
  if (oldest !== undefined && wrong.size >= mostWrong) wrong.delete(oldest)
  wrong.add(hash)
}

/** The key is everything after the scheme and one space. */
function keyOf(header: string): string {
  if (header === '') throw fail('missing_authorization')
  if (!header.startsWith(`${scheme} `)) {
    const [word = ''] = header.split(' ', 1)
    if (word === scheme) throw fail('unauthorized')
    throw fail('invalid_scheme', { scheme: word, expected: `${scheme} <the key of the environment>` })
  }
  const key = header.slice(scheme.length + 1)
  if (key === '') throw fail('unauthorized')
  return key
}
