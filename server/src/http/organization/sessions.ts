// Sessions of people: starting one, and its answer.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { factorsOf, hasAny } from '../../db/queries/second-factors.ts'
import { newToken } from '../../db/queries/sign-in-links.ts'
import { fail } from '../../errors.ts'
import { Cookies } from '../edge/cookies.ts'
import { expiryOf, longestMs, sessionCookie } from '../edge/people.ts'
import { proofMs } from '../edge/proof.ts'
import type { Services } from '../edge/resource.ts'
import { roleIn, roles } from '../edge/roles.ts'
import { Enum, Nullable, Timestamp } from '../edge/schema.ts'
import { Clock, clockOf } from './environments.ts'

/** Per person; beyond this the least recently used ends. */
const mostSessions = 50
const longestUserAgent = 500
const mostEnvironments = 1_000

export const RoleName = Enum(roles)
export const Session = Type.Object({
  user: Type.Object({
    _id: Type.String(),
    name: Type.String(),
    email: Type.String(),
    role: RoleName,
    hasPassword: Type.Boolean(),
    hasOidc: Type.Boolean({ description: 'Whether they have signed in with the identity provider' }),
    createdAt: Timestamp,
  }),
  organization: Type.Object({
    _id: Type.String(),
    name: Type.String(),
    requiresSecondFactor: Type.Boolean({
      description: 'Whether its members need one; the service can ask for it, too',
    }),
  }),
  secondFactor: Type.Object({
    hasApp: Type.Boolean(),
    passkeys: Type.Integer(),
    recoveryCodesLeft: Type.Integer(),
    isRequired: Type.Boolean({ description: 'By the organization or the service' }),
    mustSetUp: Type.Boolean({ description: 'Nothing else is open until a factor has been set up' }),
  }),
  environments: Type.Array(
    Type.Object({
      _id: Type.String(),
      name: Type.String(),
      identifier: Type.String(),
      type: Enum(['dev', 'prod']),
      color: Nullable(Type.String()),
      role: Enum(roles, { description: 'Your role there' }),
      isProtected: Type.Boolean({ description: 'Whether a publish into it needs the approval of a second person' }),
      clock: Type.Optional(Clock),
    }),
    { description: 'Those you have access to: the values for `Belfry-Environment`; the first is the default' },
  ),
  session: Type.Object({
    _id: Type.String(),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    provedUntil: Type.Unsafe<Date>({
      ...Timestamp,
      description: 'Until then it does not ask again before what cannot be undone',
    }),
  }),
})

export interface Begun {
  id: string
  token: string
}

/** Runs in the transaction that identified the person. */
export async function beginSession(
  tx: Db | Tx,
  request: FastifyRequest,
  userId: string,
  now: Date,
  { isFromProvider = false } = {},
): Promise<Begun> {
  const [id, token] = [newId(now), newToken()]
  await tx
    .insertInto('user_sessions')
    .values({
      id,
      hash: sha256(token),
      user_id: userId,
      user_agent: request.headers['user-agent']?.slice(0, longestUserAgent) ?? null,
      address: request.ip,
      created_at: now,
      last_seen_at: now,
      expires_at: expiryOf(now, now),
      proved_at: now,
      is_from_provider: isFromProvider,
    })
    .execute()
  await sql`
    DELETE FROM user_sessions WHERE id IN (
      SELECT id FROM user_sessions WHERE user_id = ${userId} ORDER BY last_seen_at DESC, id DESC OFFSET ${mostSessions})`.execute(
    tx,
  )
  return { id, token }
}

/** Sends the session, after the commit. */
export async function answerSession(
  { db, config }: Pick<Services, 'db' | 'config'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, token }: Begun,
): Promise<Static<typeof Session>> {
  const session = await readSession(db, id, config)
  giveCookie(config, request, reply, token)
  return session
}

export function giveCookie(
  config: { publicUrl: string },
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
): void {
  // The database knows the real end, so the cookie need not be renewed.
  new Cookies(config).set(request, reply, sessionCookie, token, longestMs / 1000)
}

export async function readSession(
  db: Db,
  sessionId: string,
  config: { requireSecondFactor: boolean },
): Promise<Static<typeof Session>> {
  const row = await db
    .selectFrom('user_sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('organizations as o', 'o.id', 'u.organization_id')
    .select(['s.proved_at', 's.is_from_provider', 'o.requires_second_factor'])
    .select(['s.created_at as begun_at', 's.expires_at', 'o.id as organization_id', 'o.name as organization_name'])
    .select([
      'u.id',
      'u.name',
      'u.email',
      'u.role',
      'u.environment_roles',
      'u.password_hash',
      'u.oidc_subject',
      'u.created_at',
    ])
    .where('s.id', '=', sessionId)
    .executeTakeFirst()
  // Ended since the request was authenticated.
  if (!row) throw fail('not_signed_in')
  const environments = await db
    .selectFrom('environments')
    .select(['id as _id', 'name', 'identifier', 'type', 'color', 'is_protected as isProtected'])
    .select(['clock_now', 'clock_seed'])
    .where('organization_id', '=', row.organization_id)
    // Those for tests come last: the first two are where things are made and where they are published.
    .orderBy((order) => order('clock_seed', 'is not', null))
    .orderBy((order) => order('type', '=', 'dev'), 'desc')
    .orderBy('created_at')
    .orderBy('id')
    .limit(mostEnvironments)
    .execute()
  const factors = await factorsOf(db, row.id)
  const isRequired = config.requireSecondFactor || row.requires_second_factor
  const provedAt = row.proved_at ?? row.begun_at
  return {
    user: {
      _id: row.id,
      name: row.name,
      email: row.email,
      role: row.role,
      hasPassword: row.password_hash !== null,
      hasOidc: row.oidc_subject !== null,
      createdAt: row.created_at,
    },
    organization: {
      _id: row.organization_id,
      name: row.organization_name,
      requiresSecondFactor: row.requires_second_factor,
    },
    secondFactor: {
      hasApp: factors.hasApp,
      passkeys: factors.passkeys,
      recoveryCodesLeft: factors.recoveryCodes,
      isRequired,
      mustSetUp: isRequired && !hasAny(factors) && !row.is_from_provider,
    },
    environments: environments.flatMap(({ clock_now, clock_seed, ...environment }) => {
      const role = roleIn({ role: row.role, environmentRoles: row.environment_roles }, environment._id)
      return role === 'none' ? [] : [{ ...environment, ...clockOf({ clock_now, clock_seed }), role }]
    }),
    session: {
      _id: sessionId,
      createdAt: row.begun_at,
      expiresAt: row.expires_at,
      provedUntil: new Date(provedAt.getTime() + proofMs),
    },
  }
}
