// Asking again: before what cannot be undone, and before secrets are shown or made, a signed-in person must have proved who they
// are a short time ago: by signing in, or by a password, a code or a passkey since. API keys are never asked.
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { fail } from '../../errors.ts'

/** How long a proof counts. */
export const proofMs = 15 * 60_000

/** The whole list. A test compares it with the routes. Choosing a first password is checked where it is done. */
export const provedOperations: ReadonlySet<string> = new Set([
  // Gone for good.
  'DELETE /v1/environments/:environmentId',
  'PATCH /v2/environments/:environmentId/retention',
  'POST /v2/subscribers/:subscriberId/erase',
  'DELETE /v1/auth/members/:memberId',
  // Keys and secrets.
  'GET /v1/environments/api-keys',
  'POST /v1/environments/api-keys/regenerate',
  'POST /v1/environments/api-keys/rotate',
  'POST /v2/api-keys',
  'PATCH /v2/api-keys/:keyId',
  'GET /v2/signing-secrets',
  'POST /v2/signing-secrets/:purpose/rotate',
  'POST /v2/webhooks/endpoints/:endpointId/rotate-secret',
  // How people sign in.
  'POST /v1/auth/members/:memberId/reset-link',
  'DELETE /v1/auth/members/:memberId/factors',
  'PUT /v1/auth/organization/second-factor',
  'POST /v1/auth/factors/app',
  'POST /v1/auth/factors/app/confirm',
  'DELETE /v1/auth/factors/app',
  'POST /v1/auth/factors/passkeys/challenge',
  'POST /v1/auth/factors/passkeys',
  'DELETE /v1/auth/factors/passkeys/:passkeyId',
  'POST /v1/auth/factors/recovery-codes',
])

/** Notes on every route whether it asks for a proof. */
export function registerProof(app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    const isListed = [route.method].flat().some((method) => provedOperations.has(`${method} ${route.url}`))
    if (isListed) route.config = { ...route.config, proof: true }
  })
}

/** For a signed-in person; API keys pass. */
export function refuseStaleProof({ person }: Pick<FastifyRequest, 'person'>, now: Date): void {
  if (person && now.getTime() - person.provedAt.getTime() >= proofMs) throw fail('proof_needed')
}
