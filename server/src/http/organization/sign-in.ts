// Sign-in: the first owner by the link of the first start, everybody else by email address and password or by a link.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import type { Db, Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { sha256 } from '../../db/core/secrets.ts'
import type { Role } from '../../db/core/tables.ts'
import { recordAct } from '../../db/queries/audit-log.ts'
import { lockOrganization } from '../../db/queries/environments.ts'
import { hasOwner, isSetUp } from '../../db/queries/sign-in-links.ts'
import { fail } from '../../errors.ts'
import { userActs } from '../edge/audit.ts'
import { Cookies } from '../edge/cookies.ts'
import { refuseOtherSites, sessionCookie } from '../edge/people.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Empty, Enum, Nullable, Timestamp } from '../edge/schema.ts'
import { forgetAttempts, takeAttempt } from '../edge/sign-in-limit.ts'
import { mailsLinks } from './account-mail.ts'
import { openInvitation } from './invitations.ts'
import { hashPassword, isPassword, leastLength, mostLength, refuseWeakPassword } from './passwords.ts'
import { answerEntered, enter, SecondStep } from './second-step.ts'
import { answerSession, beginSession, Session } from './sessions.ts'
import { Email, explainingTakenEmail, Password, PersonName, Token } from './sign-in-fields.ts'

const Options = Type.Object({
  isSetUp: Type.Boolean({ description: 'Whether there is an owner' }),
  oidc: Type.Unsafe<{ name: string; url: string } | null>({
    type: ['object', 'null'],
    required: ['name', 'url'],
    properties: { name: { type: 'string' }, url: { type: 'string' } },
    description: 'The identity provider, and the URL to start with',
  }),
  password: Type.Object({ minLength: Type.Integer(), maxLength: Type.Integer() }),
  hasPasskeys: Type.Boolean({ description: 'Whether somebody can sign in with a passkey' }),
  mailsResets: Type.Boolean({ description: 'Whether an email integration can mail a link for a new password' }),
})
const Link = Type.Object({
  kind: Enum(['set-up', 'invitation', 'reset']),
  organization: Type.String(),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  role: Type.Unsafe<Role | null>({ type: ['string', 'null'] }),
  expiresAt: Timestamp,
})

export const signIn: Resource = (app, services) => {
  const { db, clock, people, config } = services
  const tags = ['Signing in']
  const cookies = new Cookies(config)
  const fromHere = async (request: FastifyRequest, reply: FastifyReply) => {
    refuseOtherSites(request, config)
    reply.header('Cache-Control', 'no-store')
  }
  /** Public, but not for pages of other sites, against CSRF. */
  const open = { config: { public: true }, onRequest: fromHere }

  /** Counts attempts with links like those with passwords. */
  async function findingLink<T>(request: FastifyRequest, find: () => Promise<T | undefined>): Promise<T> {
    const giveBack = await takeAttempt(db, { address: request.ip }, clock.now())
    const found = await find()
    if (found === undefined) throw fail('link_not_found')
    await giveBack()
    return found
  }

  app.get(
    '/v1/auth/options',
    { ...open, schema: { tags, summary: 'Retrieve the sign-in options', response: { 200: Options } } },
    async () => {
      const { oidc } = config
      return {
        isSetUp: await isSetUp(db),
        oidc: oidc ? { name: new URL(oidc.issuer).host, url: '/v1/auth/oidc/start' } : null,
        password: { minLength: leastLength, maxLength: mostLength },
        hasPasskeys: (await db.selectFrom('passkeys').select('id').limit(1).executeTakeFirst()) !== undefined,
        mailsResets: await mailsLinks(db),
      }
    },
  )

  app.post(
    '/v1/auth/links/look-up',
    {
      ...open,
      schema: {
        tags,
        summary: 'Look up the purpose of a link',
        body: Body({ token: Token }),
        response: { 200: Link },
      },
    },
    async (request) => {
      const { token } = request.body
      const now = clock.now()
      return findingLink(request, async () => {
        const link = await openLink(db, token, now)
        if (link) {
          const { kind, organization, user, expiresAt } = link
          const { email = null, name = null, role = null } = user ?? {}
          return { kind, organization, email, name, role, expiresAt }
        }
        const invitation = await openInvitation(db, token, now)
        if (!invitation) return undefined
        const { email, role, organization, expires_at: expiresAt } = invitation
        return { kind: 'invitation' as const, organization, email, name: null, role, expiresAt }
      })
    },
  )

  app.post(
    '/v1/auth/set-up',
    {
      ...open,
      schema: {
        tags,
        summary: 'Become the owner, with the link that the first start printed',
        body: Body({
          token: Token,
          name: PersonName,
          email: Email,
          password: Password,
          organizationName: Type.Optional(PersonName),
        }),
        response: { 201: Session },
      },
    },
    async (request, reply) => {
      const { token, password, organizationName } = request.body
      const [name, email] = [request.body.name.trim(), request.body.email.trim()]
      const now = clock.now()
      const found = await findingLink(request, async () => {
        const link = await openLink(db, token, now)
        return link?.kind === 'set-up' ? link : undefined
      })
      refuseWeakPassword('password', password, { email, name })
      const password_hash = await hashPassword(password)
      const begun = await explainingTakenEmail(
        db.transaction().execute(async (tx) => {
          const { organizationId } = found
          await lockOrganization(tx, organizationId)
          if (await hasOwner(tx, organizationId)) throw fail('already_set_up')
          if (!(await useLink(tx, token))) throw fail('link_not_found')
          const id = await ownersId(tx, organizationId, now)
          const user = { id, organization_id: organizationId, name, email }
          await tx
            .insertInto('users')
            .values({ ...user, password_hash, role: 'owner', created_at: now, updated_at: now })
            .execute()
          if (organizationName !== undefined)
            await tx
              .updateTable('organizations')
              .set({ name: organizationName.trim() })
              .where('id', '=', organizationId)
              .execute()
          await recordAct(tx, { ...userActs(user, request), action: 'organization.set-up' }, now)
          return beginSession(tx, request, id, now)
        }),
      )
      reply.code(201)
      return answerSession(services, request, reply, begun)
    },
  )

  app.post(
    '/v1/auth/sign-in',
    {
      ...open,
      schema: {
        tags,
        summary: 'Sign in with email address and password; 202 if a second factor is asked next',
        body: Body({ email: Type.String({ maxLength: 254 }), password: Type.String({ maxLength: 1_000 }) }),
        response: { 200: Session, 202: SecondStep },
      },
    },
    async (request, reply) => {
      const { password } = request.body
      const email = request.body.email.trim()
      const now = clock.now()
      const giveBack = await takeAttempt(db, { email, address: request.ip }, now)
      const user = await db
        .selectFrom('users')
        .select(['id', 'organization_id', 'name', 'email', 'password_hash'])
        .where((where) => where(where.fn('lower', ['email']), '=', where.fn('lower', [where.val(email)])))
        .executeTakeFirst()
      // Always compared, so that the time does not reveal whether the account exists.
      const isRight = await isPassword(password, user?.password_hash)
      if (!user || !isRight) throw fail('sign_in_failed')
      await giveBack()
      const entered = await db.transaction().execute(async (tx) => {
        // Not if the password changed while we compared: that change ended all sessions, and this would add one.
        const isStillRight = await tx
          .selectFrom('users')
          .select('id')
          .where('id', '=', user.id)
          .where('password_hash', '=', user.password_hash)
          .forShare()
          .executeTakeFirst()
        if (!isStillRight) throw fail('sign_in_failed')
        return enter(tx, request, user, now, 'password')
      })
      return answerEntered(services, request, reply, entered)
    },
  )

  app.post(
    '/v1/auth/sign-out',
    { ...open, schema: { tags, summary: 'End the session', response: { 204: Empty } } },
    async (request, reply) => {
      const token = people.tokenOf(request)
      if (token !== undefined) {
        await db.transaction().execute(async (tx) => {
          await tx.deleteFrom('user_sessions').where('hash', '=', sha256(token)).execute()
          await announce(tx, 'people', '')
        })
        people.forget()
      }
      cookies.clear(request, reply, sessionCookie)
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/auth/password-reset',
    {
      ...open,
      schema: {
        tags,
        summary:
          'Choose a new password with a link; ends all sessions and starts a new one, after the second factor if there is one',
        body: Body({ token: Token, password: Password }),
        response: { 200: Session, 202: SecondStep },
      },
    },
    async (request, reply) => {
      const { token, password } = request.body
      const now = clock.now()
      const user = await findingLink(request, async () => (await openLink(db, token, now))?.user)
      refuseWeakPassword('password', password, user)
      const password_hash = await hashPassword(password)
      const entered = await db.transaction().execute(async (tx) => {
        if (!(await useLink(tx, token))) throw fail('link_not_found')
        await tx.updateTable('users').set({ password_hash, updated_at: now }).where('id', '=', user.id).execute()
        await tx.deleteFrom('user_sessions').where('user_id', '=', user.id).execute()
        await tx.deleteFrom('sign_in_steps').where('user_id', '=', user.id).execute()
        await forgetAttempts(tx, user.email)
        const target = { id: user.id, name: user.name }
        await recordAct(tx, { ...userActs(user, request), action: 'member.password-reset', target }, now)
        await announce(tx, 'people', user.id)
        return enter(tx, request, user, now, 'link')
      })
      people.forget()
      return answerEntered(services, request, reply, entered)
    },
  )
}

interface OpenLink {
  kind: 'set-up' | 'reset'
  organizationId: string
  organization: string
  /** The member who chooses a password; undefined for the link of the first owner. */
  user: LinkedUser | undefined
  expiresAt: Date
}

interface LinkedUser {
  id: string
  organization_id: string
  name: string
  email: string
  role: Role
}

async function openLink(db: Db, token: string, now: Date): Promise<OpenLink | undefined> {
  const link = await db
    .selectFrom('sign_in_links as l')
    .innerJoin('organizations as o', 'o.id', 'l.organization_id')
    .select(['l.organization_id', 'l.user_id', 'l.expires_at', 'o.name'])
    .where('l.hash', '=', sha256(token))
    .where('l.expires_at', '>', now)
    .executeTakeFirst()
  if (!link) return undefined
  const user =
    link.user_id === null
      ? undefined
      : await db
          .selectFrom('users')
          .select(['id', 'organization_id', 'name', 'email', 'role'])
          .where('id', '=', link.user_id)
          .executeTakeFirst()
  return {
    kind: link.user_id === null ? 'set-up' : 'reset',
    organizationId: link.organization_id,
    organization: link.name,
    user,
    expiresAt: link.expires_at,
  }
}

/** Of two concurrent uses one returns true. */
async function useLink(tx: Tx, token: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('sign_in_links').where('hash', '=', sha256(token)).executeTakeFirst()
  return numDeletedRows > 0n
}

/** The id of the first owner was fixed with the organization, because its API keys carry it. */
async function ownersId(tx: Tx, organizationId: string, now: Date): Promise<string> {
  const { owner_user_id: id } = await tx
    .selectFrom('organizations')
    .select('owner_user_id')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  const taken = await tx.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst()
  return taken ? newId(now) : id
}
