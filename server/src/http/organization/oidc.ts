// Sign-in with an identity provider (OpenID Connect): the code flow with state, nonce and PKCE, which only the browser that
// started it can finish. The provider identifies people; they also must be members, invited, or allowed by the settings.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type * as openid from 'openid-client'
import { Type } from 'typebox'
import type { OidcSettings } from '../../config.ts'
import { announce } from '../../db/core/changes.ts'
import type { Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { recordAct } from '../../db/queries/audit-log.ts'
import { lockOrganization } from '../../db/queries/environments.ts'
import { removeFactors } from '../../db/queries/second-factors.ts'
import { firstOrganization } from '../../db/queries/sign-in-links.ts'
import { fail } from '../../errors.ts'
import { userActs } from '../edge/audit.ts'
import { Cookies } from '../edge/cookies.ts'
import type { Resource, Services } from '../edge/resource.ts'
import { acceptInvitation } from './invitations.ts'
import { beginSession, giveCookie } from './sessions.ts'

const flowCookie = 'belfry_oidc'
/** How long the sign-in at the provider may take. */
const flowSeconds = 600
const callbackPath = '/v1/auth/oidc/callback'
const timeoutSeconds = 10
/** Tells the person that the password and the sessions of before have ended. */
const linkedPage = '/account?linked=true'

/** The signed cookie between start and callback. */
interface Flow {
  state: string
  nonce: string
  verifier: string
  returnTo: string
  expiresAt: number
}

type Refusal = 'oidc_failed' | 'oidc_unavailable' | 'oidc_email_unverified' | 'oidc_no_account'
class Refused extends Error {
  readonly code: Refusal
  constructor(code: Refusal, cause?: unknown) {
    super(code, { cause })
    this.code = code
  }
}

interface Vouched {
  issuer: string
  subject: string
  email: string
  name: string
}

export const oidc: Resource = (app, services) => {
  const { db, clock, config, secrets, log, people } = services
  const tags = ['Signing in']
  const cookies = new Cookies(config)
  const provider = new Provider(config.oidc)
  const hide = true

  app.get(
    '/v1/auth/oidc/start',
    {
      config: { public: true },
      schema: {
        tags,
        summary: 'Start a sign-in with the identity provider',
        querystring: Type.Object({
          again: Type.Optional(
            Type.Boolean({ description: 'Have the provider ask even those who are signed in there' }),
          ),
          returnTo: Type.Optional(
            Type.String({ maxLength: 2_000, description: 'The path of this service to go to afterwards' }),
          ),
        }),
        response: { 302: Type.Null({ description: 'To the identity provider' }) },
      },
    },
    async (request, reply) => {
      if (!config.oidc) throw fail('oidc_not_configured')
      return orExplained(reply, async () => {
        const { client, known } = await provider.reach()
        const flow: Flow = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          verifier: client.randomPKCECodeVerifier(),
          returnTo: within(request.query.returnTo),
          expiresAt: clock.now().getTime() + flowSeconds * 1000,
        }
        const url = client.buildAuthorizationUrl(known, {
          redirect_uri: config.publicUrl + callbackPath,
          scope: 'openid email profile',
          state: flow.state,
          nonce: flow.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
          code_challenge_method: 'S256',
          ...(request.query.again ? { prompt: 'login' } : {}),
        })
        cookies.set(request, reply, flowCookie, secrets.makeToken({ ...flow, aud: flowCookie }), flowSeconds)
        return reply.redirect(url.href, 302)
      })
    },
  )

  app.get(callbackPath, { config: { public: true }, schema: { hide } }, async (request, reply) => {
    if (!config.oidc) throw fail('oidc_not_configured')
    return orExplained(reply, async () => {
      const flow = flowOf(request)
      cookies.clear(request, reply, flowCookie)
      const vouched = await provider.vouchedFor(new URL(request.url, config.publicUrl), flow)
      const begun = await db.transaction().execute(async (tx) => {
        const { user, isLinked } = await findOrAdmit(tx, services, vouched, request)
        const act = { action: 'member.signed-in', target: { id: user.id, name: user.name }, details: { by: 'oidc' } }
        await recordAct(tx, { ...userActs(user, request), ...act }, clock.now())
        const begun = await beginSession(tx, request, user.id, clock.now(), { isFromProvider: true })
        return { ...begun, isLinked }
      })
      if (begun.isLinked) people.forget()
      giveCookie(config, request, reply, begun.token)
      return reply.redirect(begun.isLinked ? linkedPage : flow.returnTo, 302)
    })
  })

  /** The callback is opened by a person in a browser, so errors are shown as a page. */
  async function orExplained(reply: FastifyReply, work: () => Promise<FastifyReply>): Promise<FastifyReply> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      // Not the whole error, which can contain tokens and codes.
      const { cause } = error
      const reason = cause instanceof Error ? { name: cause.name, reason: cause.message } : {}
      if (error.code !== 'oidc_no_account')
        log.warn({ code: error.code, ...reason }, 'sign-in with the identity provider failed')
      return reply.redirect(`/sign-in?error=${error.code}`, 302)
    }
  }

  function flowOf(request: FastifyRequest): Flow {
    const flow = secrets.readToken(cookies.read(request, flowCookie) ?? '') as (Flow & { aud: string }) | undefined
    if (flow?.aud !== flowCookie) throw new Refused('oidc_failed')
    if (!(flow.expiresAt > clock.now().getTime())) throw new Refused('oidc_failed')
    return flow
  }
}

/** A path of this service only: `//elsewhere` and `/\elsewhere` lead to other hosts. */
const within = (path = '/') => (/^\/(?![/\\])[^\s\\]*$/.test(path) ? path : '/')

/** The provider's metadata, fetched at the first sign-in, and again after a failure. */
class Provider {
  readonly #settings: OidcSettings | undefined
  #known: Promise<{ client: typeof openid; known: openid.Configuration }> | undefined

  constructor(settings: OidcSettings | undefined) {
    this.#settings = settings
  }

  async reach() {
    this.#known ??= this.#discover()
    try {
      return await this.#known
    } catch (cause) {
      this.#known = undefined
      throw new Refused('oidc_unavailable', cause)
    }
  }

  async #discover() {
    if (!this.#settings) throw fail('oidc_not_configured')
    const { issuer, clientId, clientSecret } = this.#settings
    // Loaded only if used.
    const client = await import('openid-client')
    const url = new URL(issuer)
    const execute = [client.enableNonRepudiationChecks]
    if (url.protocol === 'http:') execute.push(client.allowInsecureRequests)
    const known = await client.discovery(url, clientId, clientSecret, undefined, { execute, timeout: timeoutSeconds })
    return { client, known }
  }

  /** Finishes the flow: exchanges the code, and reads the person from the fully validated ID token. */
  async vouchedFor(callback: URL, { state, nonce, verifier }: Flow): Promise<Vouched> {
    const { client, known } = await this.reach()
    let claims: openid.IDToken | undefined
    let email: unknown
    let isVerified: unknown
    let name: unknown
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      const tokens = await client.authorizationCodeGrant(known, callback, checks)
      claims = tokens.claims()
      if (!claims) throw new Error('there is no ID token')
      ;({ email, email_verified: isVerified, name } = claims)
      if (email === undefined && known.serverMetadata().userinfo_endpoint !== undefined)
        ({
          email,
          email_verified: isVerified,
          name,
        } = await client.fetchUserInfo(known, tokens.access_token, claims.sub))
    } catch (cause) {
      throw new Refused('oidc_failed', cause)
    }
    // Anybody can claim any address, so only a verified one identifies a person.
    if (typeof email !== 'string' || email.length > 254 || (isVerified !== true && isVerified !== 'true'))
      throw new Refused('oidc_email_unverified')
    const called = typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 100) : email
    return { issuer: claims.iss, subject: claims.sub, email, name: called }
  }
}

interface User {
  id: string
  organization_id: string
  name: string
  email: string
}

/** The member with this subject; else the one with this address; else a new member, if invited or allowed. */
async function findOrAdmit(
  tx: Tx,
  { clock, config }: Pick<Services, 'clock' | 'config'>,
  vouched: Vouched,
  request: FastifyRequest,
): Promise<{ user: User; isLinked: boolean }> {
  const { issuer, subject, email, name } = vouched
  const { allowedDomain, defaultRole } = config.oidc ?? {}
  const now = clock.now()
  if (allowedDomain !== undefined && !email.toLowerCase().endsWith(`@${allowedDomain}`))
    throw new Refused('oidc_no_account')
  const columns = ['id', 'organization_id', 'name', 'email'] as const
  const known = await tx
    .selectFrom('users')
    .select(columns)
    .where('oidc_issuer', '=', issuer)
    .where('oidc_subject', '=', subject)
    .executeTakeFirst()
  if (known) return { user: known, isLinked: false }
  const named = await tx
    .selectFrom('users')
    .select([...columns, 'password_hash'])
    .where((where) => where(where.fn('lower', ['email']), '=', where.fn('lower', [where.val(email)])))
    // Another subject with the same address is another person.
    .where('oidc_subject', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (named) return link(tx, named, vouched, request, now)
  const invitation = await tx
    .selectFrom('invitations')
    .select(['id', 'organization_id', 'role', 'environment_roles'])
    .where((where) => where(where.fn('lower', ['email']), '=', where.fn('lower', [where.val(email)])))
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const accepted = invitation && (await acceptInvitation(tx, invitation.id, now)) ? invitation : undefined
  const role = accepted?.role ?? defaultRole
  const organizationId = accepted?.organization_id ?? (await firstOrganization(tx))?.id
  if (role === undefined || organizationId === undefined) throw new Refused('oidc_no_account')
  await lockOrganization(tx, organizationId)
  const user = { id: newId(now), organization_id: organizationId, name, email }
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('users')
    .values({
      ...user,
      role,
      environment_roles: JSON.stringify(accepted?.environment_roles ?? {}),
      password_hash: null,
      oidc_issuer: issuer,
      oidc_subject: subject,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  // The address belongs to a member with another subject.
  if (numInsertedOrUpdatedRows === 0n) throw new Refused('oidc_no_account')
  const act = { action: 'member.joined', target: { id: user.id, name }, details: { role, by: 'oidc' } }
  await recordAct(tx, { ...userActs(user, request), ...act }, now)
  return { user, isLinked: false }
}

/**
 * The first sign-in of a member by identity provider. Passwords, second factors, sessions and links of before end: whoever made them need not
 * be the person with this address, since anybody who gets hold of an invitation can accept it.
 */
async function link(
  tx: Tx,
  { password_hash, ...user }: User & { password_hash: string | null },
  { issuer, subject }: Vouched,
  request: FastifyRequest,
  now: Date,
): Promise<{ user: User; isLinked: boolean }> {
  await tx
    .updateTable('users')
    .set({ oidc_issuer: issuer, oidc_subject: subject, password_hash: null, updated_at: now })
    .where('id', '=', user.id)
    .execute()
  const { numDeletedRows } = await tx.deleteFrom('user_sessions').where('user_id', '=', user.id).executeTakeFirst()
  await tx.deleteFrom('sign_in_links').where('user_id', '=', user.id).execute()
  const hadSecondFactor = await removeFactors(tx, user.id)
  await announce(tx, 'people', user.id)
  const details = {
    by: 'oidc',
    hadPassword: password_hash !== null,
    hadSecondFactor,
    endedSessions: Number(numDeletedRows),
  }
  const act = { action: 'member.linked', target: { id: user.id, name: user.name }, details }
  await recordAct(tx, { ...userActs(user, request), ...act }, now)
  return { user, isLinked: password_hash !== null || numDeletedRows > 0n }
}
