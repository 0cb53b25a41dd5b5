// People with second factors, for tests.
import { Secret, TOTP } from 'otpauth'
import { expect } from 'vitest'
import type { Role } from '../src/db/core/tables.ts'
import { Authenticator } from './authenticator.ts'
import { type PersonApi, signInAs } from './people.ts'
import type { Api, TestServer } from './server.ts'

export const password = 'compilers are fun'

/** The code of the app with this secret, so many steps from now. */
export const codeOf = (secret: string, now: Date, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now.getTime() + steps * 30_000 })

export async function signInWithPassword(server: TestServer, api: Api, role: Role): Promise<PersonApi> {
  const person = await signInAs(server, api, role)
  expect(await person.patch('/v1/auth/me', { newPassword: password })).toMatchObject({ status: 200 })
  return person
}

export async function addApp(
  server: TestServer,
  person: PersonApi,
): Promise<{ secret: string; recoveryCodes: string[] }> {
  const begun = await person.post('/v1/auth/factors/app')
  expect(begun).toMatchObject({ status: 201 })
  const { secret } = begun.body
  const code = codeOf(secret, server.clock.now())
  const added = await person.post('/v1/auth/factors/app/confirm', { code })
  expect(added).toMatchObject({ status: 200 })
  server.clock.advance({ seconds: 60 })
  return { secret, recoveryCodes: added.body.recoveryCodes }
}

export async function addPasskey(
  person: PersonApi,
  { origin, name = 'Laptop', counter = 0 }: { origin: string; name?: string; counter?: number },
): Promise<{ authenticator: Authenticator; recoveryCodes: string[] | null }> {
  const authenticator = new Authenticator()
  const { body: options } = await person.post('/v1/auth/factors/passkeys/challenge')
  const passkey = authenticator.make(options, { origin, counter })
  const added = await person.post('/v1/auth/factors/passkeys', { name, passkey })
  expect(added, added.text).toMatchObject({ status: 201 })
  return { authenticator, recoveryCodes: added.body.recoveryCodes }
}
