// Which environments a caller reaches. An API key: its own; what reaches another one, or what all of them share, needs a person, a
// key of the organization, or a door that was left open (`openToKeys`). A person: those where their role is enough.
import type { FastifyRequest } from 'fastify'
import type { Db, Tx } from '../../db/core/database.ts'
import type { Role } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'
import type { Brand } from './brand.ts'
import { isUnlimited, requireRoleIn, requireRoleInOrganization, roleIn } from './roles.ts'

interface Surroundings {
  db: Db | Tx
  brand: Brand
}

/** Whether the request comes with the key of one environment. */
const isOfOneEnvironment = ({ key }: FastifyRequest): boolean => key?.isOrganizationWide === false

/** Whether the caller administers single environments only: with the key of one, or with the role there and not in the organization. */
export const isBound = (request: FastifyRequest): boolean =>
  request.person ? !isUnlimited(request.person.role) : isOfOneEnvironment(request)

/** Whether this environment is hidden from the caller. */
export const isForeign = (request: FastifyRequest, environmentId: string): boolean =>
  request.person
    ? roleIn(request.person, environmentId) === 'none'
    : isOfOneEnvironment(request) && environmentId !== request.environment.id

/** For what concerns this environment alone. */
export function requireOwn(request: FastifyRequest, environmentId: string): void {
  requireRoleIn(request, environmentId)
  if (isOfOneEnvironment(request) && environmentId !== request.environment.id) throw fail('foreign_environment')
}

/** The same, unless the door of that environment is open. */
export async function requireReach(
  surroundings: Surroundings,
  request: FastifyRequest,
  environmentId: string,
): Promise<void> {
  requireRoleIn(request, environmentId)
  if (!isOfOneEnvironment(request) || environmentId === request.environment.id) return
  if (!(await isOpen(surroundings, request, environmentId))) throw fail('foreign_environment')
}

/** For what all environments share: the names of environments and variables. */
export async function requireOrganization(
  surroundings: Surroundings,
  request: FastifyRequest,
  needed?: Role,
): Promise<void> {
  requireRoleInOrganization(request, needed)
  if (!isOfOneEnvironment(request)) return
  if (!(await isOpen(surroundings, request, request.environment.id))) throw fail('organization_key_needed')
}

/** Publishing writes the target and reads the source. */
export async function requirePublish(
  surroundings: Surroundings,
  request: FastifyRequest,
  { sourceId, targetId }: { sourceId: string; targetId: string },
): Promise<void> {
  const { key, environment } = request
  requireRoleIn(request, targetId)
  requireRoleIn(request, sourceId, 'viewer')
  if (!key) return
  if (key.mayPublishInto(targetId)) {
    if (!key.isOrganizationWide && sourceId !== environment.id) throw fail('foreign_environment')
    return
  }
  if (key.isOrganizationWide || !key.may('administer') || !(await isOpen(surroundings, request, targetId)))
    throw fail('publish_refused', { environmentId: targetId })
}

/** Publish requests of an environment are for people, for its own keys, and for keys that may publish into it. */
export function requirePublishSight(request: FastifyRequest, targetId: string): void {
  const { key, environment } = request
  requireRoleIn(request, targetId)
  if (!key || key.isOrganizationWide || environment.id === targetId || key.mayPublishInto(targetId)) return
  throw fail('publish_refused', { environmentId: targetId })
}

/** An environment that does not exist counts as open, so that the caller is told as before. */
async function isOpen({ db, brand }: Surroundings, { environment }: FastifyRequest, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('environments')
    .select('open_to_keys')
    .where('organization_id', '=', environment.organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.open_to_keys ?? brand.startsOpen
}
