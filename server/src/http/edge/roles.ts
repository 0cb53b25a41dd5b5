// Roles. Each includes those before it; a route names the role it needs, or its method decides.
import type { FastifyRequest } from 'fastify'
import { mask } from '../../db/core/environment-access.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { Role } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'

export const roles = ['viewer', 'editor', 'admin', 'owner'] as const satisfies readonly Role[]

export const isAtLeast = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed)

/** The default role of a route: everybody may read, editors may do the rest. */
export const usualRole = (method: string): Role => (method === 'GET' || method === 'HEAD' ? 'viewer' : 'editor')

/** The only place that checks a person's role. */
export function refuseLesserRole(request: FastifyRequest, role: Role): void {
  const needed = request.routeOptions.config.role ?? usualRole(request.method)
  if (!isAtLeast(role, needed)) throw fail('insufficient_role', { role, needed }, { ctx: { role, needed } })
}

/** Whether the answer may contain credentials: for admins, and for keys that could change them. */
export const maySeeSecrets = ({ person, key }: FastifyRequest): boolean =>
  person ? isAtLeast(person.role, 'admin') : key?.may('write:integrations') === true

/** How an encrypted address is shown to the caller: in the clear to those who may see secrets. */
export const addressesFor =
  (request: FastifyRequest, secrets: Secrets) =>
  (address: string): string =>
    maySeeSecrets(request) ? secrets.decrypt(address) : mask

/** Whether the answer may contain the environment's API keys in plain text: for owners, and for keys that administer it. */
export const maySeeKeys = ({ person, key, environment }: FastifyRequest, environmentId: string): boolean => {
  if (person) return isAtLeast(person.role, 'owner')
  return key?.may('administer') === true && environment.id === environmentId
}
