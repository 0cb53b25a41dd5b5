// Who may do what. Each role may do all that those before it may; a route says which one it takes, or the method does.
import type { FastifyRequest } from 'fastify'
import type { Role } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'

export const roles = ['viewer', 'editor', 'admin', 'owner'] as const satisfies readonly Role[]

export const isAtLeast = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed)

/** What a route takes that says nothing: reading is for everybody, anything else for those who edit. */
export const usualRole = (method: string): Role => (method === 'GET' || method === 'HEAD' ? 'viewer' : 'editor')

/** The one place where a person's role decides about a request. */
export function refuseLesserRole(request: FastifyRequest, role: Role): void {
  const needed = request.routeOptions.config.role ?? usualRole(request.method)
  if (!isAtLeast(role, needed)) throw fail('insufficient_role', { role, needed }, { ctx: { role, needed } })
}

/** Whether secrets may be in the answer. An API key is an admin of its environment. */
export const maySeeSecrets = ({ person }: FastifyRequest): boolean =>
  person === undefined || isAtLeast(person.role, 'admin')

/** Whether the clear API keys of an environment may be in the answer: owners see them on demand, and a key knows its own. */
export const maySeeKeys = ({ person, environment }: FastifyRequest, environmentId: string): boolean =>
  person === undefined ? environment.id === environmentId : isAtLeast(person.role, 'owner')
