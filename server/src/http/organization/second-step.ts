// The second step of signing in: after the password a code, a passkey or a recovery code. And signing in with a passkey alone.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { recordAct } from '../../db/queries/audit-log.ts'
import { type Factors, factorsOf, hasAny } from '../../db/queries/second-factors.ts'
import { newToken } from '../../db/queries/sign-in-links.ts'
import { fail } from '../../errors.ts'
import { userActs } from '../edge/audit.ts'
import { refuseOtherSites } from '../edge/people.ts'
import type { Resource, Services } from '../edge/resource.ts'
import { Body, Enum, FreeObject, Timestamp } from '../edge/schema.ts'
import { takeAttempt } from '../edge/sign-in-limit.ts'
import { acceptAppCode } from '../factors/authenticator-app.ts'
import { forNetwork, forPerson, requestOptions, siteOf, verifyPasskey } from '../factors/passkeys.ts'
import { useRecoveryCode } from '../factors/recovery-codes.ts'
import { answerSession, type Begun, beginSession, Session } from './sessions.ts'
import { Token } from './sign-in-fields.ts'

/** From the password to the second factor. */
const stepMs = 10 * 60_000
/** Wrong codes for one password; then it has to be given again. */
const mostAttempts = 5
/** Of one person; the oldest ends. */
const mostSteps = 20

export const SecondStep = Type.Object({
  secondStep: Type.Object({
    token: Type.String({ description: 'For `POST /v1/auth/second-step`' }),
    ways: Type.Array(Enum(['app', 'passkey', 'recovery-code'])),
    expiresAt: Timestamp,
  }),
})

/** A passkey's answer as the browser gives it, in JSON. */
export const PasskeyAnswer = Type.Unsafe<Record<string, unknown>>({
  ...FreeObject,
  description: 'What the browser answered, as `PublicKeyCredential.toJSON()` has it',
})
/** The options for the browser. */
export const PasskeyOptions = Type.Unsafe<Record<string, unknown>>({
  ...FreeObject,
  description: 'For `navigator.credentials`, in JSON',
})
export const Code = Type.String({ minLength: 1, maxLength: 40 })

interface User {
  id: string
  organization_id: string
  name: string
  email: string
}

type Entered = { begun: Begun } | { step: Static<typeof SecondStep> }

/**
 * The session of somebody whose password was right, or what is asked next. In the transaction that locked the person, so that a
 * factor added meanwhile counts.
 */
export async function enter(
  tx: Tx,
  request: FastifyRequest,
  user: User,
  now: Date,
  by: 'password' | 'link',
): Promise<Entered> {
  const factors = await factorsOf(tx, user.id)
  if (hasAny(factors)) return { step: await beginStep(tx, user.id, factors, now) }
  if (by === 'password') await recordSignIn(tx, request, user, by, now)
  return { begun: await beginSession(tx, request, user.id, now) }
}

/** After the commit. */
export async function answerEntered(
  services: Pick<Services, 'db' | 'config'>,
  request: FastifyRequest,
  reply: FastifyReply,
  entered: Entered,
) {
  if ('begun' in entered) return answerSession(services, request, reply, entered.begun)
  reply.code(202)
  return entered.step
}

async function beginStep(tx: Tx, userId: string, factors: Factors, now: Date): Promise<Static<typeof SecondStep>> {
  const token = newToken()
  const expiresAt = new Date(now.getTime() + stepMs)
  await tx
    .insertInto('sign_in_steps')
    .values({ hash: sha256(token), user_id: userId, expires_at: expiresAt })
    .execute()
  await sql`
    DELETE FROM sign_in_steps WHERE hash IN (
      SELECT hash FROM sign_in_steps WHERE user_id = ${userId} ORDER BY expires_at DESC, hash OFFSET ${mostSteps})`.execute(
    tx,
  )
  const ways = [
    ...(factors.hasApp ? ['app' as const] : []),
    ...(factors.passkeys > 0 ? ['passkey' as const] : []),
    ...(factors.recoveryCodes > 0 ? ['recovery-code' as const] : []),
  ]
  return { secondStep: { token, ways, expiresAt } }
}

async function recordSignIn(tx: Tx, request: FastifyRequest, user: User, by: string, now: Date): Promise<void> {
  const act = { action: 'member.signed-in', target: { id: user.id, name: user.name }, details: { by } }
  await recordAct(tx, { ...userActs(user, request), ...act }, now)
}

export const secondStep: Resource = (app, services) => {
  const { db, clock, config, secrets } = services
  const tags = ['Signing in']
  /** Public, but not for pages of other sites, against CSRF. */
  const open = {
    config: { public: true },
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      refuseOtherSites(request, config)
      reply.header('Cache-Control', 'no-store')
    },
  }

  app.post(
    '/v1/auth/second-step',
    {
      ...open,
      schema: {
        tags,
        summary: 'Sign in: the second step, with one of a code, a recovery code or a passkey',
        body: Body({
          token: Token,
          code: Type.Optional(Code),
          recoveryCode: Type.Optional(Code),
          passkey: Type.Optional(PasskeyAnswer),
        }),
        response: { 200: Session },
      },
    },
    async (request, reply) => {
      const { token, code, recoveryCode, passkey } = request.body
      const now = clock.now()
      const user = await userOfStep(db, token, now)
      const giveBack = await takeAttempt(db, { email: user.email, address: request.ip, kind: 'codes' }, now)
      await countStep(db, token)
      let by: string
      if (passkey !== undefined) {
        const asked = { response: passkey, purpose: 'second-step', owner: forPerson(user.id), userId: user.id } as const
        await verifyPasskey(db, siteOf(request, config), asked, now)
        by = 'password and passkey'
      } else if (recoveryCode !== undefined) by = 'password and recovery code'
      else if (await acceptAppCode(db, secrets, { userId: user.id, code: code ?? '' }, now))
        by = 'password and authenticator app'
      else throw fail('wrong_code')
      const begun = await db.transaction().execute(async (tx) => {
        // Ended if the password changed meanwhile.
        const { numDeletedRows } = await tx
          .deleteFrom('sign_in_steps')
          .where('hash', '=', sha256(token))
          .executeTakeFirst()
        if (numDeletedRows === 0n) throw fail('second_step_expired')
        if (passkey === undefined && recoveryCode !== undefined) {
          if (!(await useRecoveryCode(tx, user.id, recoveryCode))) throw fail('wrong_code')
          const { recoveryCodes: left } = await factorsOf(tx, user.id)
          const act = {
            action: 'member.recovery-code-used',
            target: { id: user.id, name: user.name },
            details: { left },
          }
          await recordAct(tx, { ...userActs(user, request), ...act }, now)
        }
        await recordSignIn(tx, request, user, by, now)
        return beginSession(tx, request, user.id, now)
      })
      await giveBack()
      return answerSession(services, request, reply, begun)
    },
  )

  app.post(
    '/v1/auth/passkey-challenge',
    {
      ...open,
      schema: {
        tags,
        summary: 'Ask for a challenge to sign in with a passkey',
        body: Body({ token: Type.Optional(Token) }, { description: 'With the token of a second step, or without' }),
        response: { 200: PasskeyOptions },
      },
    },
    async (request) => {
      const { token } = request.body
      const now = clock.now()
      const site = siteOf(request, config)
      if (token === undefined)
        return requestOptions(db, site, { purpose: 'sign-in', owner: forNetwork(request.ip) }, now)
      const { id: userId } = await userOfStep(db, token, now)
      return requestOptions(db, site, { purpose: 'second-step', userId, owner: forPerson(userId) }, now)
    },
  )

  app.post(
    '/v1/auth/passkey-sign-in',
    {
      ...open,
      schema: {
        tags,
        summary: 'Sign in with a passkey alone, which must check a PIN, finger or face',
        body: Body({ passkey: PasskeyAnswer }),
        response: { 200: Session },
      },
    },
    async (request, reply) => {
      const now = clock.now()
      const giveBack = await takeAttempt(db, { address: request.ip }, now)
      const presented = { response: request.body.passkey, purpose: 'sign-in', owner: forNetwork(request.ip) } as const
      const userId = await verifyPasskey(db, siteOf(request, config), presented, now)
      await giveBack()
      const begun = await db.transaction().execute(async (tx) => {
        const user = await tx
          .selectFrom('users')
          .select(['id', 'organization_id', 'name', 'email'])
          .where('id', '=', userId)
          .forShare()
          .executeTakeFirst()
        // Removed meanwhile, with or without the person.
        const { passkeys } = await factorsOf(tx, userId)
        if (!user || passkeys === 0) throw fail('passkey_refused')
        await recordSignIn(tx, request, user, 'passkey', now)
        return beginSession(tx, request, userId, now)
      })
      return answerSession(services, request, reply, begun)
    },
  )
}

async function userOfStep(db: Db, token: string, now: Date): Promise<User> {
  const user = await db
    .selectFrom('sign_in_steps as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select(['u.id', 'u.organization_id', 'u.name', 'u.email'])
    .where('s.hash', '=', sha256(token))
    .where('s.expires_at', '>', now)
    .executeTakeFirst()
  if (!user) throw fail('second_step_expired')
  return user
}

/** Before the attempt is made, so that concurrent ones cannot exceed the limit. */
async function countStep(db: Db, token: string): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('sign_in_steps')
    .set((set) => ({ attempts: set('attempts', '+', 1) }))
    .where('hash', '=', sha256(token))
    .where('attempts', '<', mostAttempts)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw fail('second_step_expired')
}
