// The people of an organization: roles, removal, and password links.
import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import type { Db, Tx } from '../../db/core/database.ts'
import { recordAct } from '../../db/queries/audit-log.ts'
import { lockOrganization } from '../../db/queries/environments.ts'
import { factorsOf, hasAny, hasFactor, removeFactors } from '../../db/queries/second-factors.ts'
import { linkTo, makeSignInLink } from '../../db/queries/sign-in-links.ts'
import { fail } from '../../errors.ts'
import { personActs } from '../edge/audit.ts'
import type { Person, Resource } from '../edge/resource.ts'
import { isUnlimited } from '../edge/roles.ts'
import { Body, Empty, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import { signedIn } from './account.ts'
import {
  checkedEnvironmentRoles,
  EnvironmentRoles,
  GivenEnvironmentRoles,
  toEnvironmentRoles,
} from './environment-roles.ts'
import { RoleName } from './sessions.ts'
import { PersonName } from './sign-in-fields.ts'

/** Open invitations included. */
export const mostMembers = 1_000

const Member = Type.Object({
  _id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  role: RoleName,
  environmentRoles: EnvironmentRoles,
  hasPassword: Type.Boolean(),
  hasOidc: Type.Boolean(),
  hasSecondFactor: Type.Boolean({ description: 'An authenticator app or a passkey of their own' }),
  isYou: Type.Boolean(),
  lastSeenAt: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: 'Null without a current session' }),
  createdAt: Timestamp,
})
const Organization = Type.Object({ _id: Type.String(), name: Type.String() })
const Params = Type.Object({ memberId: Type.String() })

export const members: Resource = (app, { db, clock, people, config }) => {
  const tags = ['Team']
  const administers = { people: true, role: 'admin' } as const

  /** Changes one member. Serialized per organization, so that two changes cannot remove the last owner. */
  async function change<T>(person: Person, memberId: string, work: (tx: Tx, member: Listed) => Promise<T>): Promise<T> {
    const result = await db.transaction().execute(async (tx) => {
      await lockOrganization(tx, person.organizationId)
      const [member] = await listMembers(tx, person, memberId)
      if (!member) throw fail('member_not_found', { memberId })
      if (member.role === 'owner') await refuseUnlessOwner(tx, person)
      const done = await work(tx, member)
      await announce(tx, 'people', memberId)
      return done
    })
    people.forget()
    return result
  }

  app.get(
    '/v1/auth/members',
    {
      config: { people: true, role: 'viewer' },
      schema: { tags, summary: 'List the people of the organization', response: { 200: Type.Array(Member) } },
    },
    async (request) => listMembers(db, signedIn(request.person)),
  )

  app.patch(
    '/v1/auth/members/:memberId',
    {
      config: administers,
      schema: {
        tags,
        summary: "Change a member's role, in the organization or in single environments",
        description:
          'A role in an environment replaces the role in the organization there. An owner or admin has the same role everywhere, so becoming one ends the others.',
        params: Params,
        body: Body(
          { role: Type.Optional(RoleName), environmentRoles: Type.Optional(GivenEnvironmentRoles) },
          { examples: [{ role: 'editor' }] },
        ),
        response: { 200: Member },
      },
    },
    async (request) => {
      const person = signedIn(request.person)
      const { organizationId } = person
      return change(person, request.params.memberId, async (tx, member) => {
        const { role = member.role } = request.body
        const isChanged = role !== member.role
        if (isChanged && role === 'owner') await refuseUnlessOwner(tx, person)
        if (isChanged && member.role === 'owner') await refuseLastOwner(tx, organizationId)
        const given = request.body.environmentRoles ?? (isUnlimited(role) ? [] : member.environmentRoles)
        const stored = await checkedEnvironmentRoles(tx, organizationId, role, given)
        const environmentRoles = toEnvironmentRoles(stored)
        const isMoved = !isDeepStrictEqual(environmentRoles, member.environmentRoles)
        if (!isChanged && !isMoved) return member
        const now = clock.now()
        await tx
          .updateTable('users')
          .set({ role, environment_roles: JSON.stringify(stored), updated_at: now })
          .where('id', '=', member._id)
          .execute()
        const record = (action: string, details: object) =>
          recordAct(tx, { ...personActs(request), action, target: targetOf(member), details: { ...details } }, now)
        if (isChanged) await record('member.role-changed', { from: member.role, to: role })
        if (isMoved) {
          const names = await namesOfEnvironments(tx, organizationId)
          const named = (list: Listed['environmentRoles']) =>
            Object.fromEntries(list.map((one) => [names.get(one._environmentId) ?? one._environmentId, one.role]))
          const details = { from: named(member.environmentRoles), to: named(environmentRoles) }
          await record('member.environment-roles-changed', details)
        }
        return { ...member, role, environmentRoles }
      })
    },
  )

  app.delete(
    '/v1/auth/members/:memberId',
    {
      config: administers,
      schema: { tags, summary: 'Remove a member; all their sessions end', params: Params, response: { 204: Empty } },
    },
    async (request, reply) => {
      const person = signedIn(request.person)
      await change(person, request.params.memberId, async (tx, member) => {
        if (member.role === 'owner') await refuseLastOwner(tx, person.organizationId)
        // Deletes sessions and links with the row.
        await tx.deleteFrom('users').where('id', '=', member._id).execute()
        const act = { action: 'member.removed', target: targetOf(member), details: { email: member.email } }
        await recordAct(tx, { ...personActs(request), ...act }, clock.now())
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/auth/members/:memberId/reset-link',
    {
      config: administers,
      schema: {
        tags,
        summary: 'Create a link for a member to choose a new password',
        description: 'It works once, within a day, and replaces an earlier one. Hand it over in private.',
        params: Params,
        response: { 201: Type.Object({ link: Type.String(), expiresAt: Timestamp }) },
      },
    },
    async (request, reply) => {
      const person = signedIn(request.person)
      const now = clock.now()
      const made = await change(person, request.params.memberId, async (tx, member) => {
        const act = { action: 'member.reset-link-made', target: targetOf(member) }
        await recordAct(tx, { ...personActs(request), ...act }, now)
        return makeSignInLink(tx, { organizationId: person.organizationId, userId: member._id, now })
      })
      reply.code(201)
      return { link: linkTo(config.publicUrl, 'reset', made.token), expiresAt: made.expiresAt }
    },
  )

  app.delete(
    '/v1/auth/members/:memberId/factors',
    {
      config: { people: true, role: 'owner' },
      schema: {
        tags,
        summary: 'Remove the second factors of a member who lost them; all their sessions end',
        params: Params,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      await change(signedIn(request.person), request.params.memberId, async (tx, member) => {
        if (!(await removeFactors(tx, member._id))) throw fail('member_without_second_factor')
        await tx.deleteFrom('user_sessions').where('user_id', '=', member._id).execute()
        const act = { action: 'member.second-factor-reset', target: targetOf(member) }
        await recordAct(tx, { ...personActs(request), ...act }, clock.now())
      })
      return reply.code(204).send(null)
    },
  )

  app.put(
    '/v1/auth/organization/second-factor',
    {
      config: administers,
      schema: {
        tags,
        summary: 'Say whether every member needs a second factor',
        description:
          'Members without one can do nothing else until they have set one up. Who turns it on needs one of their own.',
        body: Body({ isRequired: Type.Boolean() }),
        response: { 200: Type.Object({ isRequired: Type.Boolean() }) },
      },
    },
    async (request) => {
      const { id, organizationId } = signedIn(request.person)
      const { isRequired } = request.body
      await db.transaction().execute(async (tx) => {
        await lockOrganization(tx, organizationId)
        if (isRequired && !hasAny(await factorsOf(tx, id))) throw fail('no_second_factor')
        await tx
          .updateTable('organizations')
          .set({ requires_second_factor: isRequired })
          .where('id', '=', organizationId)
          .execute()
        const action = isRequired ? 'organization.second-factor-required' : 'organization.second-factor-optional'
        await recordAct(tx, { ...personActs(request), action, target: { id: organizationId } }, clock.now())
        await announce(tx, 'people', organizationId)
      })
      people.forget()
      return { isRequired }
    },
  )

  app.patch(
    '/v1/auth/organization',
    {
      config: administers,
      schema: {
        tags,
        summary: 'Rename the organization',
        body: Body({ name: PersonName }),
        response: { 200: Organization },
      },
    },
    async (request) => {
      const { organizationId: _id } = signedIn(request.person)
      const name = request.body.name.trim()
      await db.transaction().execute(async (tx) => {
        await tx.updateTable('organizations').set({ name }).where('id', '=', _id).execute()
        const act = { action: 'organization.renamed', target: { id: _id, name } }
        await recordAct(tx, { ...personActs(request), ...act }, clock.now())
      })
      return { _id, name }
    },
  )
}

type Listed = Static<typeof Member>

const targetOf = ({ _id, name }: Listed) => ({ id: _id, name })

async function listMembers(db: Db | Tx, person: Person, memberId?: string): Promise<Listed[]> {
  const rows = await db
    .selectFrom('users as u')
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
    .select((select) =>
      select
        .selectFrom('user_sessions as s')
        .whereRef('s.user_id', '=', 'u.id')
        .select((seen) => seen.fn.max('s.last_seen_at').as('at'))
        .as('last_seen_at'),
    )
    .select(hasFactor('u.id').as('has_factor'))
    .where('u.organization_id', '=', person.organizationId)
    .$if(memberId !== undefined, (query) => query.where('u.id', '=', memberId ?? ''))
    .orderBy((order) => order.fn('lower', ['u.name']))
    .orderBy('u.id')
    .limit(mostMembers)
    .execute()
  return rows.map((row) => ({
    _id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    environmentRoles: toEnvironmentRoles(row.environment_roles),
    hasPassword: row.password_hash !== null,
    hasOidc: row.oidc_subject !== null,
    hasSecondFactor: row.has_factor,
    isYou: row.id === person.id,
    lastSeenAt: row.last_seen_at,
    createdAt: row.created_at,
  }))
}

async function namesOfEnvironments(tx: Tx, organizationId: string): Promise<Map<string, string>> {
  const rows = await tx
    .selectFrom('environments')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .limit(1_000)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Checked inside the transaction, since the person may have lost the role while the request waited. */
async function refuseUnlessOwner(tx: Tx, { id }: Person): Promise<void> {
  const row = await tx.selectFrom('users').select('role').where('id', '=', id).executeTakeFirst()
  if (row?.role !== 'owner') throw fail('owner_needed')
}

async function refuseLastOwner(tx: Tx, organizationId: string): Promise<void> {
  const { count } = await tx
    .selectFrom('users')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('role', '=', 'owner')
    .executeTakeFirstOrThrow()
  if (Number(count) <= 1) throw fail('last_owner')
}
