// Authentication by session: the cookie, found by its SHA-256, opens the environments of the person's organization.
import type { FastifyRequest } from 'fastify'
import type { Db } from '../../db/core/database.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { hasFactor } from '../../db/queries/second-factors.ts'
import { fail } from '../../errors.ts'
import { environmentHeader, findChosen } from './chosen-environment.ts'
import { Cookies } from './cookies.ts'
import { refuseStaleProof } from './proof.ts'
import type { Environment, Person, Services } from './resource.ts'
import { refuseLesserRole, roleIn } from './roles.ts'

export const sessionCookie = 'belfry_session'

const dayMs = 86_400_000
/** A session ends after this time without use, and in any case after `longestMs`. */
export const idleMs = 14 * dayMs
export const longestMs = 90 * dayMs
/** How often the time of last use is written; otherwise every request would be a write. */
const seenEveryMs = 5 * 60_000

interface KnownSession {
  person: Person
  /** Whether nothing else is open to them until they have set up a second factor. */
  mustSetUpFactor: boolean
  environments: Map<string, Environment>
  createdAt: Date
  lastSeenAt: Date
  expiresAt: Date
}

export const expiryOf = (createdAt: Date, now: Date) =>
  new Date(Math.min(now.getTime() + idleMs, createdAt.getTime() + longestMs))

/** This process's cache of sessions, emptied whenever people or environments change anywhere. */
export class People {
  #known = new Map<string, KnownSession>()
  readonly #services: Pick<Services, 'db' | 'clock' | 'changes' | 'config'>
  readonly #cookies: Cookies

  constructor(services: Pick<Services, 'db' | 'clock' | 'changes' | 'config'>) {
    this.#services = services
    this.#cookies = new Cookies(services.config)
    services.changes.on('people', () => this.forget())
    // This also announces deleted environments.
    services.changes.on('api_keys', () => this.forget())
    services.changes.onLoss(() => this.forget())
  }

  /** Call after changing people in this process; other processes hear the announcement. */
  forget(): void {
    // A new map: a look-up in flight writes its stale result into the old one.
    this.#known = new Map()
  }

  /** The session token, unless the request also has another kind of authentication. */
  tokenOf(request: FastifyRequest): string | undefined {
    if (request.headers.cookie === undefined || request.headers.authorization !== undefined) return undefined
    return this.#cookies.read(request, sessionCookie) || undefined
  }

  /** Sets the person and the environment; refuses cross-site requests and insufficient roles. */
  async authenticate(request: FastifyRequest, token: string, beforeLookUp?: () => void): Promise<void> {
    refuseOtherSites(request, this.#services.config)
    const changesSomething = request.method !== 'GET' && request.method !== 'HEAD'
    const named = request.headers[environmentHeader]
    // Another site's page cannot send this header without a preflight, which we refuse.
    if (changesSomething && named === undefined) throw fail('cross_site_request')
    const session = await this.#session(token, beforeLookUp)
    request.person = session.person
    const { beforeSecondFactor, proof } = request.rules
    if (session.mustSetUpFactor && !beforeSecondFactor) throw fail('second_factor_required')
    request.environment = await this.#environment(session, String(named ?? ''))
    refuseLesserRole(request, session.person)
    if (proof) refuseStaleProof(request, this.#services.clock.now())
  }

  async #session(token: string, beforeLookUp: (() => void) | undefined): Promise<KnownSession> {
    const { db, clock, changes, config } = this.#services
    const now = clock.now()
    const hash = sha256(token)
    const known = this.#known
    let session = known.get(hash)
    if (!session) {
      beforeLookUp?.()
      // Read before the look-up: while disconnected we miss announcements, so the result must not be cached.
      const wouldHearOfRemoval = changes.connected
      session = await findSession(db, hash, config.requireSecondFactor)
      if (session && wouldHearOfRemoval) known.set(hash, session)
    }
    if (!session || session.expiresAt <= now) {
      known.delete(hash)
      throw fail('not_signed_in')
    }
    if (now.getTime() - session.lastSeenAt.getTime() >= seenEveryMs) await this.#see(session, now)
    return session
  }

  async #see(session: KnownSession, now: Date): Promise<void> {
    session.lastSeenAt = now
    session.expiresAt = expiryOf(session.createdAt, now)
    await this.#services.db
      .updateTable('user_sessions')
      .set({ last_seen_at: now, expires_at: session.expiresAt })
      .where('id', '=', session.person.sessionId)
      .execute()
  }

  /** The named environment, or the first that the person has access to. */
  async #environment({ person, environments }: KnownSession, id: string): Promise<Environment> {
    const known = environments.get(id)
    if (known) return known
    const closed = Object.keys(person.environmentRoles).filter((each) => roleIn(person, each) === 'none')
    const chosen = await findChosen(this.#services.db, person.organizationId, id, closed)
    const environment = { ...chosen, userId: person.id }
    environments.set(id, environment)
    return environment
  }
}

async function findSession(db: Db, hash: string, isAlwaysRequired: boolean): Promise<KnownSession | undefined> {
  const row = await db
    .selectFrom('user_sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('organizations as o', 'o.id', 'u.organization_id')
    .select([
      's.id as session_id',
      's.created_at',
      's.last_seen_at',
      's.expires_at',
      's.proved_at',
      's.is_from_provider',
    ])
    .select([
      'u.id',
      'u.name',
      'u.email',
      'u.role',
      'u.environment_roles',
      'u.organization_id',
      'o.requires_second_factor',
    ])
    .select(hasFactor('u.id').as('has_factor'))
    .where('s.hash', '=', hash)
    .executeTakeFirst()
  if (!row) return undefined
  const { id, name, email, role, organization_id: organizationId, session_id: sessionId } = row
  return {
    person: {
      ...{ id, name, email, role, environmentRoles: row.environment_roles, organizationId, sessionId },
      provedAt: row.proved_at ?? row.created_at,
    },
    mustSetUpFactor: (isAlwaysRequired || row.requires_second_factor) && !row.has_factor && !row.is_from_provider,
    environments: new Map(),
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
  }
}

/** Browsers name the origin of a request; other programs do not, and cannot hold another person's cookies. */
export function refuseOtherSites(request: FastifyRequest, { publicUrl }: { publicUrl: string }): void {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw fail('cross_site_request')
  const { origin } = request.headers
  if (origin === undefined || origin === new URL(publicUrl).origin) return
  if (!URL.canParse(origin) || new URL(origin).host !== request.host) throw fail('cross_site_request')
}
