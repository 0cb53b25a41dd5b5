// Invitations: a link for one address and one role, mailed if an integration can, and always shown to the inviting person.
import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { sha256 } from '../../db/core/secrets.ts'
import type { InvitationTable } from '../../db/core/tables.ts'
import { recordAct } from '../../db/queries/audit-log.ts'
import { lockOrganization } from '../../db/queries/environments.ts'
import { linkTo, newToken } from '../../db/queries/sign-in-links.ts'
import { fail } from '../../errors.ts'
import { personActs, userActs } from '../edge/audit.ts'
import { refuseOtherSites } from '../edge/people.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Empty, Enum, Nullable, Timestamp } from '../edge/schema.ts'
import { takeAttempt } from '../edge/sign-in-limit.ts'
import { signedIn } from './account.ts'
import { mailInvitation } from './account-mail.ts'
import {
  checkedEnvironmentRoles,
  EnvironmentRoles,
  GivenEnvironmentRoles,
  toEnvironmentRoles,
} from './environment-roles.ts'
import { mostMembers } from './members.ts'
import { hashPassword, refuseWeakPassword } from './passwords.ts'
import { answerSession, beginSession, RoleName, Session } from './sessions.ts'
import { Email, explainingTakenEmail, Password, PersonName, Token } from './sign-in-fields.ts'

const dayMs = 86_400_000
const validDays = 7
/** How long an expired invitation stays listed. */
const shownDays = 30

const Invitation = Type.Object({
  _id: Type.String(),
  email: Type.String(),
  role: RoleName,
  environmentRoles: EnvironmentRoles,
  invitedBy: Type.String(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  isExpired: Type.Boolean(),
})
const Made = Type.Object({
  ...Invitation.properties,
  link: Type.String({ description: 'Shown only this once' }),
  mail: Type.Object({
    status: Enum(['sent', 'not_configured', 'failed']),
    integration: Nullable(Type.String({ description: 'The name of the integration that sent it' })),
    reason: Nullable(Type.String()),
  }),
})

type Row = Selectable<InvitationTable>

const toInvitation = (row: Row, now: Date): Static<typeof Invitation> => ({
  _id: row.id,
  email: row.email,
  role: row.role,
  environmentRoles: toEnvironmentRoles(row.environment_roles),
  invitedBy: row.invited_by,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  isExpired: row.expires_at <= now,
})

export const invitations: Resource = (app, services) => {
  const { db, clock, config } = services
  const tags = ['Team']
  const administers = { people: true, role: 'admin' } as const

  app.get(
    '/v1/auth/invitations',
    {
      config: administers,
      schema: { tags, summary: 'List open and expired invitations', response: { 200: Type.Array(Invitation) } },
    },
    async (request) => {
      const now = clock.now()
      const rows = await db
        .selectFrom('invitations')
        .selectAll()
        .where('organization_id', '=', signedIn(request.person).organizationId)
        .where('accepted_at', 'is', null)
        .where('expires_at', '>', new Date(now.getTime() - shownDays * dayMs))
        .orderBy('id', 'desc')
        .limit(mostMembers)
        .execute()
      return rows.map((row) => toInvitation(row, now))
    },
  )

  app.post(
    '/v1/auth/invitations',
    {
      config: administers,
      schema: {
        tags,
        summary: 'Invite somebody',
        description:
          'Replaces an open invitation of the same address. The link is mailed through an email integration of the ' +
          'environment, or else of another one, and is in the answer in any case.',
        body: Body(
          { email: Email, role: RoleName, environmentRoles: Type.Optional(GivenEnvironmentRoles) },
          { examples: [{ email: 'ada@example.com', role: 'editor' }] },
        ),
        response: { 201: Made },
      },
    },
    async (request, reply) => {
      const person = signedIn(request.person)
      const { role, environmentRoles = [] } = request.body
      const email = request.body.email.trim()
      if (role === 'owner' && person.role !== 'owner') throw fail('owner_needed')
      const now = clock.now()
      const token = newToken()
      const row = await db.transaction().execute(async (tx) => {
        const { organizationId } = person
        await lockOrganization(tx, organizationId)
        if (await isTaken(tx, email)) throw fail('email_taken')
        await withdraw(tx, organizationId, email)
        if ((await countPeople(tx, organizationId, now)) >= mostMembers)
          throw fail('too_many_members', { limit: mostMembers })
        const stored = await checkedEnvironmentRoles(tx, organizationId, role, environmentRoles)
        const made = await tx
          .insertInto('invitations')
          .values({
            id: newId(now),
            organization_id: organizationId,
            hash: sha256(token),
            email,
            role,
            environment_roles: JSON.stringify(stored),
            invited_by: person.name,
            created_at: now,
            expires_at: new Date(now.getTime() + validDays * dayMs),
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        const act = { action: 'invitation.created', target: { id: made.id, name: email }, details: { role } }
        await recordAct(tx, { ...personActs(request), ...act }, now)
        return made
      })
      const link = linkTo(config.publicUrl, 'invitation', token)
      const mail = await mailInvitation(services, request.environment, { row, link })
      reply.code(201)
      return { ...toInvitation(row, now), link, mail }
    },
  )

  app.delete(
    '/v1/auth/invitations/:invitationId',
    {
      config: administers,
      schema: {
        tags,
        summary: 'Withdraw an invitation; its link stops working',
        params: Type.Object({ invitationId: Type.String() }),
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { invitationId } = request.params
      await db.transaction().execute(async (tx) => {
        const row = await tx
          .deleteFrom('invitations')
          .where('organization_id', '=', signedIn(request.person).organizationId)
          .where('id', '=', invitationId)
          .where('accepted_at', 'is', null)
          .returning('email')
          .executeTakeFirst()
        if (!row) throw fail('invitation_not_found', { invitationId })
        const act = { action: 'invitation.withdrawn', target: { id: invitationId, name: row.email } }
        await recordAct(tx, { ...personActs(request), ...act }, clock.now())
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/auth/invitations/accept',
    {
      config: { public: true },
      onRequest: async (request, reply) => {
        refuseOtherSites(request, config)
        reply.header('Cache-Control', 'no-store')
      },
      schema: {
        tags,
        summary: 'Accept an invitation by its link, and sign in',
        body: Body({ token: Token, name: PersonName, password: Password }),
        response: { 201: Session },
      },
    },
    async (request, reply) => {
      const { token, password } = request.body
      const name = request.body.name.trim()
      const now = clock.now()
      const giveBack = await takeAttempt(db, { address: request.ip }, now)
      const invitation = await openInvitation(db, token, now)
      if (!invitation) throw fail('link_not_found')
      await giveBack()
      const { email, role, organization_id, environment_roles } = invitation
      refuseWeakPassword('password', password, { email, name })
      const password_hash = await hashPassword(password)
      const begun = await explainingTakenEmail(
        db.transaction().execute(async (tx) => {
          if (!(await acceptInvitation(tx, invitation.id, now))) throw fail('link_not_found')
          const user = { id: newId(now), organization_id, name, email }
          await tx
            .insertInto('users')
            .values({
              ...user,
              role,
              environment_roles: JSON.stringify(environment_roles),
              password_hash,
              created_at: now,
              updated_at: now,
            })
            .execute()
          const act = { action: 'member.joined', target: { id: user.id, name }, details: { role, by: 'invitation' } }
          await recordAct(tx, { ...userActs(user, request), ...act }, now)
          return beginSession(tx, request, user.id, now)
        }),
      )
      reply.code(201)
      return answerSession(services, request, reply, begun)
    },
  )
}

/** The invitation of this token, with the name of the organization. */
export async function openInvitation(db: Db, token: string, now: Date) {
  return db
    .selectFrom('invitations as i')
    .innerJoin('organizations as o', 'o.id', 'i.organization_id')
    .selectAll('i')
    .select('o.name as organization')
    .where('i.hash', '=', sha256(token))
    .where('i.accepted_at', 'is', null)
    .where('i.expires_at', '>', now)
    .executeTakeFirst()
}

/** Of two concurrent requests one returns true. */
export async function acceptInvitation(tx: Tx, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('invitations')
    .set({ accepted_at: now })
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

async function isTaken(tx: Tx, email: string): Promise<boolean> {
  const user = await tx
    .selectFrom('users')
    .select('id')
    .where((where) => where(where.fn('lower', ['email']), '=', where.fn('lower', [where.val(email)])))
    .executeTakeFirst()
  return user !== undefined
}

async function withdraw(tx: Tx, organizationId: string, email: string): Promise<void> {
  await tx
    .deleteFrom('invitations')
    .where('organization_id', '=', organizationId)
    .where((where) => where(where.fn('lower', ['email']), '=', where.fn('lower', [where.val(email)])))
    .where('accepted_at', 'is', null)
    .execute()
}

async function countPeople(tx: Tx, organizationId: string, now: Date): Promise<number> {
  const row = await tx
    .selectNoFrom((select) => [
      select
        .selectFrom('users')
        .select((count) => count.fn.countAll<string>().as('n'))
        .where('organization_id', '=', organizationId)
        .as('members'),
      select
        .selectFrom('invitations')
        .select((count) => count.fn.countAll<string>().as('n'))
        .where('organization_id', '=', organizationId)
        .where('accepted_at', 'is', null)
        .where('expires_at', '>', now)
        .as('invited'),
    ])
    .executeTakeFirstOrThrow()
  return Number(row.members) + Number(row.invited)
}
