// Proving again who one is, before what cannot be undone: by password, code or passkey. Who only has the identity provider signs
// in there again. edge/proof.ts has the list of what asks for it.
import { Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import { fail, RequestError } from '../../errors.ts'
import { proofMs } from '../edge/proof.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Timestamp } from '../edge/schema.ts'
import { takeAttempt } from '../edge/sign-in-limit.ts'
import { acceptAppCode } from '../factors/authenticator-app.ts'
import { forPerson, requestOptions, siteOf, verifyPasskey } from '../factors/passkeys.ts'
import { signedIn } from './account.ts'
import { isPassword } from './passwords.ts'
import { Code, PasskeyAnswer, PasskeyOptions } from './second-step.ts'

export const prove: Resource = (app, { db, clock, people, config, secrets }) => {
  const tags = ['Signing in']
  const own = { people: true, role: 'viewer', beforeSecondFactor: true } as const

  app.post(
    '/v1/auth/proof/challenge',
    {
      config: own,
      schema: {
        tags,
        summary: 'Ask for a challenge to prove who you are with a passkey',
        response: { 200: PasskeyOptions },
      },
    },
    async (request) => {
      const { id: userId } = signedIn(request.person)
      const asked = { purpose: 'proof', userId, owner: forPerson(userId) } as const
      return requestOptions(db, siteOf(request, config), asked, clock.now())
    },
  )

  app.post(
    '/v1/auth/proof',
    {
      config: own,
      schema: {
        tags,
        summary: 'Prove who you are, with one of password, code or passkey',
        description: 'What cannot be undone and what shows a secret is then open for 15 minutes, in this session.',
        body: Body({
          password: Type.Optional(Type.String({ maxLength: 1_000 })),
          code: Type.Optional(Code),
          passkey: Type.Optional(PasskeyAnswer),
        }),
        response: { 200: Type.Object({ provedUntil: Timestamp }) },
      },
    },
    async (request) => {
      const person = signedIn(request.person)
      const { password, code, passkey } = request.body
      const now = clock.now()
      const kind = password === undefined ? 'codes' : 'account'
      const giveBack = await takeAttempt(db, { email: person.email, address: request.ip, kind }, now)
      if (!(await isProved())) throw fail('proof_failed')
      await giveBack()
      await db.transaction().execute(async (tx) => {
        await tx.updateTable('user_sessions').set({ proved_at: now }).where('id', '=', person.sessionId).execute()
        await announce(tx, 'people', person.id)
      })
      people.forget()
      return { provedUntil: new Date(now.getTime() + proofMs) }

      async function isProved(): Promise<boolean> {
        if (password !== undefined) {
          const user = await db
            .selectFrom('users')
            .select('password_hash')
            .where('id', '=', person.id)
            .executeTakeFirst()
          return isPassword(password, user?.password_hash)
        }
        if (code !== undefined) return acceptAppCode(db, secrets, { userId: person.id, code }, now)
        const asked = { response: passkey, purpose: 'proof', owner: forPerson(person.id), userId: person.id } as const
        try {
          await verifyPasskey(db, siteOf(request, config), asked, now)
          return true
        } catch (error) {
          if (error instanceof RequestError && error.code === 'passkey_refused') return false
          throw error
        }
      }
    },
  )
}
