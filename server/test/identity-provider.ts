// A small OpenID Connect provider: discovery, keys, codes with PKCE, and signed tokens.
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll } from 'vitest'

export const clientId = 'belfry'
export const clientSecret = 'a client secret'

interface Granted {
  claims: Record<string, unknown>
  challenge: string
  nonce: string
}

export interface IdentityProvider {
  readonly issuer: string
  /** Signs in as this person. @returns the address the browser is redirected to */
  signIn(authorizationUrl: string, claims: Record<string, unknown>): URL
  /** Changes the claims of the next token after signing in. */
  forge(change: ((claims: Record<string, unknown>) => Record<string, unknown>) | undefined): void
  /** Signs with an unknown key. */
  signsWrongly(isWrong: boolean): void
  stop(): Promise<void>
}

export function useIdentityProvider(): IdentityProvider {
  const codes = new Map<string, Granted>()
  let server: Server
  let issuer = ''
  let forged: ((claims: Record<string, unknown>) => Record<string, unknown>) | undefined
  let keys: Awaited<ReturnType<typeof generateKeyPair>>
  let others: typeof keys
  let isWrong = false

  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  async function answer(path: string, body: string): Promise<{ status: number; body: unknown }> {
    if (path === '/.well-known/openid-configuration')
      return {
        status: 200,
        body: {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          code_challenge_methods_supported: ['S256'],
        },
      }
    if (path === '/keys')
      return { status: 200, body: { keys: [{ ...(await exportJWK(keys.publicKey)), alg: 'RS256', kid: '1' }] } }
    const form = new URLSearchParams(body)
    const granted = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isClient = form.get('client_id') === clientId && form.get('client_secret') === clientSecret
    if (path !== '/token' || !isClient || granted?.challenge !== challenge)
      return { status: 400, body: { error: 'invalid_grant' } }
    const claims = { nonce: granted.nonce, ...granted.claims }
    const token = await new SignJWT(forged ? forged(claims) : claims)
      .setProtectedHeader({ alg: 'RS256', kid: '1' })
      .setIssuer(issuer)
      .setAudience(clientId)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign((isWrong ? others : keys).privateKey)
    return { status: 200, body: { access_token: 'opaque', token_type: 'Bearer', id_token: token } }
  }

  beforeAll(async () => {
    ;[keys, others] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])
    server = createServer((request, response) => {
      void text(request)
        .then((body) => answer(request.url ?? '', body))
        .then(({ status, body }) => {
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
        })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    if (server.listening) await stop()
  })

  return {
    get issuer() {
      return issuer
    },
    signIn(authorizationUrl, claims) {
      const { searchParams, origin } = new URL(authorizationUrl)
      const asked = (name: string) => searchParams.get(name) ?? ''
      if (origin !== issuer || asked('client_id') !== clientId || asked('code_challenge_method') !== 'S256')
        throw new Error(`not a request of ours: ${authorizationUrl}`)
      const code = randomBytes(16).toString('hex')
      codes.set(code, { claims, challenge: asked('code_challenge'), nonce: asked('nonce') })
      const back = new URL(asked('redirect_uri'))
      back.searchParams.set('code', code)
      back.searchParams.set('state', asked('state'))
      return back
    },
    forge(change) {
      forged = change
    },
    signsWrongly(wrong) {
      isWrong = wrong
    },
    stop,
  }
}
