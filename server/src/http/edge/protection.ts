// Protected environments: their workflows, layouts and translations change by an approved publish only (`publish-requests.ts`).
// This refuses every other way; the publish itself is checked where it locks the environments (`engine/authoring/publish.ts`).
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { fail } from '../../errors.ts'
import type { Environment } from './resource.ts'
import type { NeededScope } from './scopes.ts'

/** A route that needs one of these changes content, unless it says that it does not. */
const contentScopes: ReadonlySet<NeededScope | undefined> = new Set([
  'write:workflows',
  'write:layouts',
  'write:translations',
] as const)

/** Guards every route that changes content, found by the scope it needs: register after the scopes. */
export function registerProtection(app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    const { scope, keepsContent } = route.config ?? {}
    const isReading = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD')
    if (isReading || keepsContent || !contentScopes.has(scope)) return
    route.preValidation = [
      ...[route.preValidation ?? []].flat(),
      async (request: FastifyRequest) => {
        if (!isPause(request)) refuseProtected(request, request.environment.protection)
      },
    ]
  })
}

/** Also for the bridge URL, from which an environment takes content. */
export function refuseProtected({ key }: FastifyRequest, protection: Environment['protection']): void {
  if (protection && !(key && protection.isOpenToAutomation)) throw fail('content_protected')
}

/** Turning a workflow off must not wait for a second person: it may be flooding somebody. */
function isPause({ method, rules, body }: FastifyRequest): boolean {
  if (method !== 'PATCH' || rules.url !== '/v2/workflows/:workflowId') return false
  const entries = Object.entries(body ?? {})
  return entries.length === 1 && entries[0]?.[0] === 'active' && entries[0][1] === false
}
