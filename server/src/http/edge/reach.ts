// Which environments an API key reaches: its own. What reaches another one, or what all of them share, needs a person, a key of
// the organization, or a door that was left open (`openToKeys`).
import type { FastifyRequest } from 'fastify'
import type { Db, Tx } from '../../db/core/database.ts'
import { fail } from '../../errors.ts'
import type { Brand } from './brand.ts'

interface Surroundings {
  db: Db | Tx
  brand: Brand
}

/** Whether the request comes with the key of one environment. */
export const isOfOneEnvironment = ({ key }: FastifyRequest): boolean => key?.isOrganizationWide === false

/** For what concerns this environment alone. */
export function requireOwn(request: FastifyRequest, environmentId: string): void {
  if (isOfOneEnvironment(request) && environmentId !== request.environment.id) throw fail('foreign_environment')
}

/** The same, unless the door of that environment is open. */
export async function requireReach(
  surroundings: Surroundings,
  request: FastifyRequest,
  environmentId: string,
): Promise<void> {
  if (!isOfOneEnvironment(request) || environmentId === request.environment.id) return
  if (!(await isOpen(surroundings, request, environmentId))) throw fail('foreign_environment')
}

/** For what all environments share: the names of environments and variables. */
export async function requireOrganization(surroundings: Surroundings, request: FastifyRequest): Promise<void> {
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
  if (!key) return
  if (key.mayPublishInto(targetId)) {
    if (!key.isOrganizationWide && sourceId !== environment.id) throw fail('foreign_environment')
    return
  }
  if (key.isOrganizationWide || !key.may('administer') || !(await isOpen(surroundings, request, targetId)))
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
