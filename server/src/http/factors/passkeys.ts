// Passkeys (WebAuthn): what a browser is asked to sign, and whether it did. A challenge is kept in the database, for one use by
// the person or the network that asked for it.
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import { sha256 } from '../../db/core/secrets.ts'
import type { PasskeyChallengeTable } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'
import { networkOf } from '../edge/caller-network.ts'

type Purpose = PasskeyChallengeTable['purpose']

/** How long a person may take at the authenticator. */
const challengeMs = 5 * 60_000
/** Of one person or network; the oldest ends. */
const mostChallenges = 20
export const mostPasskeys = 20

interface Site {
  /** The host that passkeys are made for (the RP ID). */
  host: string
  /** Where pages may ask for them. */
  origins: string[]
}

interface Address {
  publicUrl: string
  isPublicUrlGiven: boolean
}

/** The public address, if it is set; else the one that this request came to. Browsers have no passkeys for IP addresses. */
export function siteOf(request: FastifyRequest, { publicUrl, isPublicUrlGiven }: Address): Site {
  const url = new URL(isPublicUrlGiven ? publicUrl : `${request.protocol}://${request.host}`)
  const isName = /[a-z]/i.test(url.hostname) && !url.hostname.includes(':')
  if (!isName) throw fail('passkeys_unavailable', { host: url.host })
  // A proxy that is not listed as trusted hides whether it is HTTPS; the browser knows, and signs it.
  const origins = isPublicUrlGiven ? [url.origin] : [`https://${url.host}`, `http://${url.host}`]
  return { host: url.hostname, origins }
}

/** Who a challenge is for: a person, or before sign-in a network. */
export const forPerson = (userId: string) => `person ${userId}`
export const forNetwork = (address: string) => `network ${networkOf(address)}`

async function keepChallenge(db: Db, challenge: string, purpose: Purpose, owner: string, now: Date): Promise<void> {
  const expires_at = new Date(now.getTime() + challengeMs)
  await db
    .insertInto('passkey_challenges')
    .values({ hash: sha256(challenge), purpose, owner, expires_at })
    .execute()
  await sql`
    DELETE FROM passkey_challenges WHERE hash IN (
      SELECT hash FROM passkey_challenges WHERE owner = ${owner} ORDER BY expires_at DESC, hash OFFSET ${mostChallenges})`.execute(
    db,
  )
}

/** The challenge that the browser signed, if it is one of ours for this. It ends here, whatever comes of it. */
async function useChallenge(db: Db, response: unknown, purpose: Purpose, owner: string, now: Date): Promise<string> {
  const challenge = await challengeIn(response)
  const { numDeletedRows } = await db
    .deleteFrom('passkey_challenges')
    .where('hash', '=', sha256(challenge ?? ''))
    .where('purpose', '=', purpose)
    .where('owner', '=', owner)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (challenge === undefined || numDeletedRows === 0n) throw fail('passkey_refused')
  return challenge
}

async function challengeIn(response: unknown): Promise<string | undefined> {
  const { decodeClientDataJSON } = await import('@simplewebauthn/server/helpers')
  try {
    const { challenge } = decodeClientDataJSON((response as RegistrationResponseJSON).response.clientDataJSON)
    return typeof challenge === 'string' ? challenge : undefined
  } catch {
    // Not what a browser sends.
    return undefined
  }
}

/** What `navigator.credentials.create` takes. */
export async function registrationOptions(
  db: Db,
  site: Site,
  user: { id: string; name: string; email: string },
  now: Date,
): Promise<Record<string, unknown>> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server')
  const known = await db
    .selectFrom('passkeys')
    .select(['credential_id', 'transports'])
    .where('user_id', '=', user.id)
    .limit(mostPasskeys)
    .execute()
  if (known.length >= mostPasskeys) throw fail('too_many_passkeys', { limit: mostPasskeys })
  const options = await generateRegistrationOptions({
    rpName: 'Belfry',
    rpID: site.host,
    userID: new TextEncoder().encode(user.id),
    userName: user.email,
    userDisplayName: user.name,
    timeout: challengeMs,
    attestationType: 'none',
    excludeCredentials: known.map((each) => ({ id: each.credential_id, transports: transportsOf(each) })),
    // Discoverable where the authenticator can, so that it signs in without a password.
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  })
  await keepChallenge(db, options.challenge, 'register', forPerson(user.id), now)
  return options as unknown as Record<string, unknown>
}

export interface NewPasskey {
  credential_id: string
  public_key: string
  counter: number
  transports: string[]
  host: string
}

export async function verifyRegistration(
  db: Db,
  { host, origins }: Site,
  { userId, response }: { userId: string; response: unknown },
  now: Date,
): Promise<NewPasskey> {
  const expectedChallenge = await useChallenge(db, response, 'register', forPerson(userId), now)
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const made = await orRefused(() =>
    verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge,
      expectedOrigin: origins,
      expectedRPID: host,
      requireUserVerification: false,
    }),
  )
  if (!made.verified) throw fail('passkey_refused')
  const { id, publicKey, counter, transports = [] } = made.registrationInfo.credential
  return {
    credential_id: id,
    public_key: Buffer.from(publicKey).toString('base64url'),
    counter,
    transports: transports.map(String).slice(0, 10),
    host,
  }
}

/** What `navigator.credentials.get` takes. Without a person, the authenticator says who it is. */
export async function requestOptions(
  db: Db,
  site: Site,
  { purpose, userId, owner }: { purpose: Purpose; userId?: string; owner: string },
  now: Date,
): Promise<Record<string, unknown>> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  const own =
    userId === undefined
      ? []
      : await db
          .selectFrom('passkeys')
          .select(['credential_id', 'transports'])
          .where('user_id', '=', userId)
          .where('host', '=', site.host)
          .limit(mostPasskeys)
          .execute()
  const options = await generateAuthenticationOptions({
    rpID: site.host,
    timeout: challengeMs,
    allowCredentials: own.map((each) => ({ id: each.credential_id, transports: transportsOf(each) })),
    userVerification: userId === undefined ? 'required' : 'preferred',
  })
  await keepChallenge(db, options.challenge, purpose, owner, now)
  return options as unknown as Record<string, unknown>
}

interface Presented {
  response: unknown
  purpose: Purpose
  owner: string
  /** Whose passkey it has to be; undefined: of anybody, with a PIN, finger or face, since there was no password. */
  userId?: string
}

/** @returns whose passkey signed; throws for anything but a right signature */
export async function verifyPasskey(
  db: Db,
  { origins, host }: Site,
  { response, purpose, owner, userId }: Presented,
  now: Date,
): Promise<string> {
  const expectedChallenge = await useChallenge(db, response, purpose, owner, now)
  const { id } = response as { id: unknown }
  if (typeof id !== 'string') throw fail('passkey_refused')
  let query = db.selectFrom('passkeys').selectAll().where('credential_id', '=', id).where('host', '=', host)
  if (userId !== undefined) query = query.where('user_id', '=', userId)
  const passkey = await query.executeTakeFirst()
  if (!passkey) throw fail('passkey_refused')
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { verified, authenticationInfo } = await orRefused(() =>
    verifyAuthenticationResponse({
      response: response as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      expectedChallenge,
      expectedOrigin: origins,
      expectedRPID: host,
      requireUserVerification: userId === undefined,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
        counter: Number(passkey.counter),
        transports: transportsOf(passkey),
      },
    }),
  )
  if (!verified) throw fail('passkey_refused')
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ counter: authenticationInfo.newCounter, last_used_at: now })
    .where('id', '=', passkey.id)
    // A copy may have been used since we read it.
    .where('counter', '=', passkey.counter)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw fail('passkey_refused')
  return passkey.user_id
}

/** The library throws for each thing that is wrong: signature, origin, host, counter, form. */
async function orRefused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw fail('passkey_refused', undefined, { cause })
  }
}

type Transports = NonNullable<RegistrationResponseJSON['response']['transports']>
const transportsOf = ({ transports }: { transports: string[] }) => transports as Transports
