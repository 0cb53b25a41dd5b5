// One's own second factors: the authenticator app, passkeys and recovery codes.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import type { Db, Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { recordAct } from '../../db/queries/audit-log.ts'
import { factorsOf, hasAny } from '../../db/queries/second-factors.ts'
import { fail } from '../../errors.ts'
import { personActs } from '../edge/audit.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Empty, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import { takeAttempt } from '../edge/sign-in-limit.ts'
import { acceptAppCode, beginApp } from '../factors/authenticator-app.ts'
import { mostPasskeys, registrationOptions, siteOf, verifyRegistration } from '../factors/passkeys.ts'
import { makeRecoveryCodes } from '../factors/recovery-codes.ts'
import { signedIn } from './account.ts'
import { Code, PasskeyAnswer, PasskeyOptions } from './second-step.ts'
import { PersonName } from './sign-in-fields.ts'

const Passkey = Type.Object({
  _id: Type.String(),
  name: Type.String(),
  host: Type.String({ description: 'It works at this host only' }),
  createdAt: Timestamp,
  lastUsedAt: NullableTimestamp,
})
const OwnFactors = Type.Object({
  appSince: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: 'Null without an authenticator app' }),
  passkeys: Type.Array(Passkey),
  recoveryCodesLeft: Type.Integer(),
})
const Codes = Type.Array(Type.String(), { description: 'Shown this once; each works once' })
const Added = Type.Object({
  recoveryCodes: Type.Unsafe<string[] | null>({
    ...Codes,
    type: ['array', 'null'],
    description: 'With the first factor; shown this once',
  }),
})
const Params = Type.Object({ passkeyId: Type.String() })

export const ownFactors: Resource = (app, { db, clock, people, config, secrets }) => {
  const tags = ['Signing in']
  const own = { people: true, role: 'viewer' } as const
  /** What somebody needs who has to set up a factor before anything else. */
  const setsUp = { ...own, beforeSecondFactor: true } as const

  /** Changes the factors of the person, one change at a time, and announces it to every process that caches sessions. */
  async function change<T>(request: FastifyRequest, work: (tx: Tx) => Promise<T>): Promise<T> {
    const { id } = signedIn(request.person)
    const result = await db.transaction().execute(async (tx) => {
      // Also waits for a sign-in in progress, so that its session is ended with the others.
      await tx.selectFrom('users').select('id').where('id', '=', id).forNoKeyUpdate().execute()
      const done = await work(tx)
      await announce(tx, 'people', id)
      return done
    })
    people.forget()
    return result
  }

  const record = (tx: Tx, request: FastifyRequest, action: string, details: Record<string, unknown> = {}) => {
    const { id, name } = signedIn(request.person)
    return recordAct(tx, { ...personActs(request), action, target: { id, name }, details }, clock.now())
  }

  /** With the first factor come recovery codes, and sessions of before end: they began without one. */
  async function afterAdding(tx: Tx, request: FastifyRequest, kind: string, isFirst: boolean) {
    const { id, sessionId } = signedIn(request.person)
    await record(tx, request, 'member.second-factor-added', { kind })
    if (!isFirst) return { recoveryCodes: null }
    await tx.deleteFrom('user_sessions').where('user_id', '=', id).where('id', '<>', sessionId).execute()
    return { recoveryCodes: await makeRecoveryCodes(tx, id, clock.now()) }
  }

  /** The last one takes the recovery codes with it, unless a factor is required. */
  async function afterRemoving(tx: Tx, request: FastifyRequest, kind: string) {
    const { id, organizationId } = signedIn(request.person)
    await record(tx, request, 'member.second-factor-removed', { kind })
    if (hasAny(await factorsOf(tx, id))) return
    if (config.requireSecondFactor || (await isRequired(tx, organizationId))) throw fail('last_second_factor')
    await tx.deleteFrom('recovery_codes').where('user_id', '=', id).execute()
    await tx.deleteFrom('sign_in_steps').where('user_id', '=', id).execute()
  }

  app.get(
    '/v1/auth/factors',
    { config: setsUp, schema: { tags, summary: 'List your second factors', response: { 200: OwnFactors } } },
    async (request) => {
      const { id } = signedIn(request.person)
      const apps = db.selectFrom('authenticator_apps').select('confirmed_at').where('user_id', '=', id)
      const passkeys = db
        .selectFrom('passkeys')
        .select(['id as _id', 'name', 'host', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
        .where('user_id', '=', id)
        .orderBy('created_at')
        .orderBy('id')
        .limit(mostPasskeys)
      const [appRow, rows, { recoveryCodes }] = await Promise.all([
        apps.executeTakeFirst(),
        passkeys.execute(),
        factorsOf(db, id),
      ])
      return { appSince: appRow?.confirmed_at ?? null, passkeys: rows, recoveryCodesLeft: recoveryCodes }
    },
  )

  app.post(
    '/v1/auth/factors/app',
    {
      config: setsUp,
      schema: {
        tags,
        summary: 'Begin to set up an authenticator app',
        description: 'It counts once a code has confirmed it.',
        response: { 201: Type.Object({ secret: Type.String(), uri: Type.String({ description: 'For a QR code' }) }) },
      },
    },
    async (request, reply) => {
      const begun = await beginApp(db, secrets, signedIn(request.person), clock.now())
      if (!begun) throw fail('authenticator_app_exists')
      reply.code(201)
      return begun
    },
  )

  app.post(
    '/v1/auth/factors/app/confirm',
    {
      config: setsUp,
      schema: {
        tags,
        summary: 'Confirm the authenticator app with a code; a first factor ends your other sessions',
        body: Body({ code: Code }),
        response: { 200: Added },
      },
    },
    async (request) => {
      const person = signedIn(request.person)
      const now = clock.now()
      const giveBack = await takeAttempt(db, { email: person.email, address: request.ip, kind: 'codes' }, now)
      const added = await change(request, async (tx) => {
        const isFirst = !hasAny(await factorsOf(tx, person.id))
        const given = { userId: person.id, code: request.body.code, isFirst: true }
        if (!(await acceptAppCode(tx, secrets, given, now))) throw fail('wrong_code')
        return afterAdding(tx, request, 'authenticator app', isFirst)
      })
      await giveBack()
      return added
    },
  )

  app.delete(
    '/v1/auth/factors/app',
    { config: own, schema: { tags, summary: 'Remove the authenticator app', response: { 204: Empty } } },
    async (request, reply) => {
      await change(request, async (tx) => {
        const { numDeletedRows } = await tx
          .deleteFrom('authenticator_apps')
          .where('user_id', '=', signedIn(request.person).id)
          .where('confirmed_at', 'is not', null)
          .executeTakeFirst()
        if (numDeletedRows === 0n) throw fail('authenticator_app_not_found')
        await afterRemoving(tx, request, 'authenticator app')
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/auth/factors/passkeys/challenge',
    {
      config: setsUp,
      schema: { tags, summary: 'Ask for a challenge to add a passkey', response: { 200: PasskeyOptions } },
    },
    async (request) => registrationOptions(db, siteOf(request, config), signedIn(request.person), clock.now()),
  )

  app.post(
    '/v1/auth/factors/passkeys',
    {
      config: setsUp,
      schema: {
        tags,
        summary: 'Add a passkey; a first factor ends your other sessions',
        body: Body({ name: PersonName, passkey: PasskeyAnswer }),
        response: { 201: Added },
      },
    },
    async (request, reply) => {
      const { id } = signedIn(request.person)
      const now = clock.now()
      const asked = { userId: id, response: request.body.passkey }
      const made = await verifyRegistration(db, siteOf(request, config), asked, now)
      const added = await change(request, async (tx) => {
        const factors = await factorsOf(tx, id)
        if (factors.passkeys >= mostPasskeys) throw fail('too_many_passkeys', { limit: mostPasskeys })
        const isFirst = !hasAny(factors)
        const { numInsertedOrUpdatedRows } = await tx
          .insertInto('passkeys')
          .values({ id: newId(now), user_id: id, name: request.body.name.trim(), ...made, created_at: now })
          .onConflict((conflict) => conflict.column('credential_id').doNothing())
          .executeTakeFirst()
        // The same authenticator twice, or somebody else's.
        if (!numInsertedOrUpdatedRows) throw fail('passkey_refused')
        return afterAdding(tx, request, 'passkey', isFirst)
      })
      reply.code(201)
      return added
    },
  )

  app.patch(
    '/v1/auth/factors/passkeys/:passkeyId',
    {
      config: own,
      schema: {
        tags,
        summary: 'Rename a passkey',
        params: Params,
        body: Body({ name: PersonName }),
        response: { 200: Passkey },
      },
    },
    async (request) => {
      const { passkeyId } = request.params
      return change(request, async (tx) => {
        const row = await tx
          .updateTable('passkeys')
          .set({ name: request.body.name.trim() })
          .where('id', '=', passkeyId)
          .where('user_id', '=', signedIn(request.person).id)
          .returning(['id as _id', 'name', 'host', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
          .executeTakeFirst()
        if (!row) throw fail('passkey_not_found', { passkeyId })
        await record(tx, request, 'member.passkey-renamed')
        return row
      })
    },
  )

  app.delete(
    '/v1/auth/factors/passkeys/:passkeyId',
    { config: own, schema: { tags, summary: 'Remove a passkey', params: Params, response: { 204: Empty } } },
    async (request, reply) => {
      const { passkeyId } = request.params
      await change(request, async (tx) => {
        const { numDeletedRows } = await tx
          .deleteFrom('passkeys')
          .where('id', '=', passkeyId)
          .where('user_id', '=', signedIn(request.person).id)
          .executeTakeFirst()
        if (numDeletedRows === 0n) throw fail('passkey_not_found', { passkeyId })
        await afterRemoving(tx, request, 'passkey')
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/auth/factors/recovery-codes',
    {
      config: own,
      schema: {
        tags,
        summary: 'Make new recovery codes; earlier ones stop working',
        response: { 201: Type.Object({ recoveryCodes: Codes }) },
      },
    },
    async (request, reply) => {
      const { id } = signedIn(request.person)
      const recoveryCodes = await change(request, async (tx) => {
        if (!hasAny(await factorsOf(tx, id))) throw fail('no_second_factor')
        await record(tx, request, 'member.recovery-codes-made')
        return makeRecoveryCodes(tx, id, clock.now())
      })
      reply.code(201)
      return { recoveryCodes }
    },
  )
}

async function isRequired(tx: Db | Tx, organizationId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('organizations')
    .select('requires_second_factor')
    .where('id', '=', organizationId)
    .executeTakeFirst()
  return row?.requires_second_factor === true
}
