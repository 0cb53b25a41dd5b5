// Roles. Each includes those before it; a route names the role it needs, or its method decides.
import type { FastifyRequest } from 'fastify'
import { mask } from '../../db/core/environment-access.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { EnvironmentRole, EnvironmentRoles, Role } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'

export const roles = ['viewer', 'editor', 'admin', 'owner'] as const satisfies readonly Role[]

/** What somebody can be in one environment. Owners are of the organization. */
export const environmentRoles = ['none', 'viewer', 'editor', 'admin'] as const satisfies readonly EnvironmentRole[]

const ranks: ReadonlyArray<Role | 'none'> = ['none', ...roles]
export const isAtLeast = (role: Role | 'none', needed: Role): boolean => ranks.indexOf(role) >= ranks.indexOf(needed)

/** Owners and admins cannot be limited in single environments: they could lift the limit themselves. */
export const isUnlimited = (role: Role): boolean => isAtLeast(role, 'admin')

/** A person's role in the organization, and those in single environments. */
interface Roles {
  role: Role
  environmentRoles: EnvironmentRoles
}

/** The only place that decides a person's role in an environment: the one set for it, or else the one in the organization. */
export const roleIn = ({ role, environmentRoles: set }: Roles, environmentId: string): Role | 'none' =>
  isUnlimited(role) || !Object.hasOwn(set, environmentId) ? role : (set[environmentId] ?? role)

/** The default role of a route: everybody may read, editors may do the rest. */
export const usualRole = (method: string): Role => (method === 'GET' || method === 'HEAD' ? 'viewer' : 'editor')

const neededFor = ({ rules, method }: FastifyRequest): Role => rules.role ?? usualRole(method)

/**
 * Checks a person's role before anything else is done. It is the one in the environment that the path names, or else in the one
 * that the request chose; for the team and for what all environments share, the one in the organization.
 */
export function refuseLesserRole(request: FastifyRequest, person: Roles): void {
  const { people: isForPeople, reach } = request.rules
  const { environmentId, targetEnvironmentId } = request.params as Record<string, string | undefined>
  const named = environmentId ?? targetEnvironmentId
  const isOfOrganization = reach === 'organization' || (isForPeople && reach === undefined && named === undefined)
  const role = isOfOrganization ? person.role : roleIn(person, named ?? request.environment.id)
  refuseRole(role, neededFor(request))
}

/** For handlers that reach another environment. Keys are checked elsewhere (`reach.ts`). */
export function requireRoleIn(request: FastifyRequest, environmentId: string, needed = neededFor(request)): void {
  if (request.person) refuseRole(roleIn(request.person, environmentId), needed)
}

/** For handlers that change what all environments share. */
export function requireRoleInOrganization(request: FastifyRequest, needed = neededFor(request)): void {
  if (request.person) refuseRole(request.person.role, needed)
}

function refuseRole(role: Role | 'none', needed: Role): void {
  if (!isAtLeast(role, needed)) throw fail('insufficient_role', { role, needed }, { ctx: { role, needed } })
}

/** Whether the answer may contain credentials: for admins, and for keys that could change them. */
export const maySeeSecrets = ({ person, key, environment }: FastifyRequest): boolean =>
  person ? isAtLeast(roleIn(person, environment.id), 'admin') : key?.may('write:integrations') === true

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
