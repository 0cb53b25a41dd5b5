// What an API key may do. A route needs one scope, decided when it is registered; a request costs one look into a set.
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Role } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'
import { usualRole } from './roles.ts'

/** What a key can be allowed to change, one by one. */
export const writable = [
  'workflows',
  'layouts',
  'translations',
  'subscribers',
  'topics',
  'contexts',
  'integrations',
  'messages',
  'webhooks',
] as const
type Writable = (typeof writable)[number]

/** A key's scopes are these, and `publish:<environmentId>` for each environment it may publish into. */
export const plainScopes = ['administer', 'read', 'send', ...writable.map((each) => `write:${each}` as const)] as const
export const publishPrefix = 'publish:'

/** What a route needs. `administer` includes everything. */
export type NeededScope = (typeof plainScopes)[number] | 'publish'

/** The resource that a path belongs to, by its first part after the version. Anything else needs `administer`. */
const resourceOf: Record<string, Writable> = {
  workflows: 'workflows',
  'workflow-overrides': 'workflows',
  'notification-groups': 'workflows',
  bridge: 'workflows',
  definitions: 'workflows',
  layouts: 'layouts',
  translations: 'translations',
  subscribers: 'subscribers',
  erasures: 'subscribers',
  suppressions: 'subscribers',
  topics: 'topics',
  rotas: 'topics',
  contexts: 'contexts',
  tenants: 'contexts',
  integrations: 'integrations',
  'channel-connections': 'integrations',
  'channel-endpoints': 'integrations',
  messages: 'messages',
  notifications: 'messages',
  deliveries: 'messages',
  sandbox: 'messages',
  webhooks: 'webhooks',
}

export function scopeNeededFor(method: string, url: string, config: { role?: Role; scope?: NeededScope }): NeededScope {
  if (config.scope !== undefined) return config.scope
  if ((config.role ?? usualRole(method)) === 'viewer') return 'read'
  const [, , subject = ''] = url.split('/')
  if (subject === 'events') return 'send'
  const resource = resourceOf[subject]
  return resource === undefined ? 'administer' : `write:${resource}`
}

/** The rights of the key that a request came with. */
export class KeyRights {
  readonly id: string
  readonly name: string
  /** Opens every environment of the organization, and what they share. */
  readonly isOrganizationWide: boolean
  readonly #scopes: ReadonlySet<string>
  readonly #needsMet: ReadonlySet<string>

  constructor({ id, name, scopes, isOrganizationWide }: KeyFacts) {
    this.id = id
    this.name = name
    this.isOrganizationWide = isOrganizationWide
    this.#scopes = new Set(scopes)
    const canPublish = scopes.some((scope) => scope.startsWith(publishPrefix))
    const met = scopes.includes('administer') ? [...plainScopes, 'publish'] : scopes
    this.#needsMet = new Set(canPublish ? [...met, 'publish'] : met)
  }

  may(needed: NeededScope): boolean {
    return this.#needsMet.has(needed)
  }

  mayPublishInto(environmentId: string): boolean {
    return (
      this.#scopes.has(publishPrefix + environmentId) || (this.isOrganizationWide && this.#scopes.has('administer'))
    )
  }
}

interface KeyFacts {
  id: string
  name: string
  scopes: string[]
  isOrganizationWide: boolean
}

/** Notes on every route what a key needs for it. */
export function registerScopes(app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    const config = route.config ?? {}
    const [method = 'GET'] = [route.method].flat()
    route.config = { ...config, scope: scopeNeededFor(method, route.url, config) }
  })
}

/** The only place that checks the scopes of a key. */
export function refuseLesserKey({ rules, isPassedOn }: FastifyRequest, key: KeyRights): void {
  const { scope = 'administer', reach } = rules
  if (!key.may(scope)) throw fail('insufficient_scope', { needed: scope }, { ctx: { needed: scope } })
  // What is passed on reaches no further than the key of the service behind.
  if (reach === 'organization' && !key.isOrganizationWide && !isPassedOn) throw fail('organization_key_needed')
}
