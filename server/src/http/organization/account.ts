// The own account: who is signed in, sessions, name, password, sign out everywhere.
import { Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import type { Db, Tx } from '../../db/core/database.ts'
import { recordAct } from '../../db/queries/audit-log.ts'
import { fail } from '../../errors.ts'
import { personActs } from '../edge/audit.ts'
import { Cookies } from '../edge/cookies.ts'
import { sessionCookie } from '../edge/people.ts'
import { refuseStaleProof } from '../edge/proof.ts'
import type { Person, Resource } from '../edge/resource.ts'
import { Body, Empty, Nullable, Timestamp } from '../edge/schema.ts'
import { takeAttempt } from '../edge/sign-in-limit.ts'
import { hashPassword, isPassword, refuseWeakPassword } from './passwords.ts'
import { readSession, Session } from './sessions.ts'
import { Password, PersonName } from './sign-in-fields.ts'

const mostListed = 100

const ListedSession = Type.Object({
  _id: Type.String(),
  userAgent: Nullable(Type.String()),
  address: Type.String(),
  createdAt: Timestamp,
  lastSeenAt: Timestamp,
  expiresAt: Timestamp,
  isCurrent: Type.Boolean(),
})

export const account: Resource = (app, { db, clock, people, config }) => {
  const tags = ['Signing in']
  /** Everybody may do this with their own account. */
  const own = { people: true, role: 'viewer' } as const
  /** Also those who still have to set up a second factor. */
  const always = { ...own, beforeSecondFactor: true } as const

  /** Changes an account, and announces it to every process that caches sessions. */
  async function change<T>(userId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const result = await db.transaction().execute(async (tx) => {
      const done = await work(tx)
      await announce(tx, 'people', userId)
      return done
    })
    people.forget()
    return result
  }

  app.get(
    '/v1/auth/session',
    { config: always, schema: { tags, summary: 'Retrieve the signed-in person', response: { 200: Session } } },
    async (request) => readSession(db, signedIn(request.person).sessionId, config),
  )

  app.patch(
    '/v1/auth/me',
    {
      config: own,
      schema: {
        tags,
        summary: 'Change your name or your password, which ends your other sessions',
        body: Body({
          name: Type.Optional(PersonName),
          currentPassword: Type.Optional(Type.String({ maxLength: 1_000 })),
          newPassword: Type.Optional(Password),
        }),
        response: { 200: Session },
      },
    },
    async (request) => {
      const person = signedIn(request.person)
      const { name, currentPassword, newPassword } = request.body
      const now = clock.now()
      const stored = newPassword === undefined ? undefined : await passwordOf(db, person.id)
      if (newPassword !== undefined) {
        // People from the identity provider have no password to check.
        if (!stored) refuseStaleProof(request, now)
        else {
          const giveBack = await takeAttempt(db, { email: person.email, address: request.ip }, now)
          if (!(await isPassword(currentPassword ?? '', stored))) throw fail('wrong_password')
          await giveBack()
        }
        refuseWeakPassword('newPassword', newPassword, { email: person.email, name: name ?? person.name })
      }
      const password_hash = newPassword === undefined ? undefined : await hashPassword(newPassword)
      await change(person.id, async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('users')
          .set({ name: name?.trim(), password_hash, updated_at: now })
          .where('id', '=', person.id)
          .$if(password_hash !== undefined, (query) =>
            query.where('password_hash', 'is not distinct from', stored ?? null),
          )
          .executeTakeFirst()
        // It was changed since we compared.
        if (numUpdatedRows === 0n) throw fail('wrong_password')
        if (password_hash === undefined) return
        await tx
          .deleteFrom('user_sessions')
          .where('user_id', '=', person.id)
          .where('id', '<>', person.sessionId)
          .execute()
        await tx.deleteFrom('sign_in_links').where('user_id', '=', person.id).execute()
        await tx.deleteFrom('sign_in_steps').where('user_id', '=', person.id).execute()
        const target = { id: person.id, name: person.name }
        await recordAct(tx, { ...personActs(request), action: 'member.password-changed', target }, now)
      })
      return readSession(db, person.sessionId, config)
    },
  )

  app.get(
    '/v1/auth/sessions',
    { config: own, schema: { tags, summary: 'List your sessions', response: { 200: Type.Array(ListedSession) } } },
    async (request) => {
      const person = signedIn(request.person)
      const rows = await db
        .selectFrom('user_sessions')
        .selectAll()
        .where('user_id', '=', person.id)
        .where('expires_at', '>', clock.now())
        .orderBy('last_seen_at', 'desc')
        .orderBy('id', 'desc')
        .limit(mostListed)
        .execute()
      return rows.map((row) => ({
        _id: row.id,
        userAgent: row.user_agent,
        address: row.address,
        createdAt: row.created_at,
        lastSeenAt: row.last_seen_at,
        expiresAt: row.expires_at,
        isCurrent: row.id === person.sessionId,
      }))
    },
  )

  app.delete(
    '/v1/auth/sessions/:sessionId',
    {
      config: own,
      schema: {
        tags,
        summary: 'End one of your sessions',
        params: Type.Object({ sessionId: Type.String() }),
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const person = signedIn(request.person)
      const { sessionId } = request.params
      await change(person.id, async (tx) => {
        const { numDeletedRows } = await tx
          .deleteFrom('user_sessions')
          .where('id', '=', sessionId)
          .where('user_id', '=', person.id)
          .executeTakeFirst()
        if (numDeletedRows === 0n) throw fail('session_not_found', { sessionId })
        const act = { action: 'member.session-ended', target: { id: person.id, name: person.name } }
        await recordAct(tx, { ...personActs(request), ...act }, clock.now())
      })
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/v1/auth/sessions',
    {
      config: own,
      schema: {
        tags,
        summary: 'End all your other sessions',
        response: { 200: Type.Object({ ended: Type.Integer() }) },
      },
    },
    async (request) => {
      const person = signedIn(request.person)
      const ended = await change(person.id, async (tx) => {
        const { numDeletedRows } = await tx
          .deleteFrom('user_sessions')
          .where('user_id', '=', person.id)
          .where('id', '<>', person.sessionId)
          .executeTakeFirst()
        const act = { action: 'member.other-sessions-ended', target: { id: person.id, name: person.name } }
        await recordAct(tx, { ...personActs(request), ...act }, clock.now())
        return Number(numDeletedRows)
      })
      return { ended }
    },
  )

  app.post(
    '/v1/auth/sign-out-everywhere',
    { config: always, schema: { tags, summary: 'End all your sessions', response: { 204: Empty } } },
    async (request, reply) => {
      const person = signedIn(request.person)
      await change(person.id, async (tx) => {
        await tx.deleteFrom('user_sessions').where('user_id', '=', person.id).execute()
        const target = { id: person.id, name: person.name }
        await recordAct(tx, { ...personActs(request), action: 'member.signed-out-everywhere', target }, clock.now())
      })
      new Cookies(config).clear(request, reply, sessionCookie)
      return reply.code(204).send(null)
    },
  )
}

/** For routes with `people: true`; app.ts refuses everybody else. */
export function signedIn(person: Person | undefined): Person {
  if (!person) throw fail('not_signed_in')
  return person
}

async function passwordOf(db: Db, userId: string): Promise<string | null | undefined> {
  const row = await db.selectFrom('users').select('password_hash').where('id', '=', userId).executeTakeFirst()
  return row?.password_hash
}
