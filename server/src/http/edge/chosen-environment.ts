// Callers with more than one environment, people and keys of an organization, name the one they mean in a header.
import type { Db } from '../../db/core/database.ts'
import { fail } from '../../errors.ts'
import type { Environment } from './resource.ts'

export const environmentHeader = 'belfry-environment'

/** The named environment of the organization, or Development if none is named. */
export async function findChosen(db: Db, organizationId: string, id: string): Promise<Omit<Environment, 'userId'>> {
  const row = await db
    .selectFrom('environments')
    .select(['id', 'rate_limits'])
    .where('organization_id', '=', organizationId)
    .$if(id !== '', (query) => query.where('id', '=', id))
    .orderBy((order) => order('type', '=', 'dev'), 'desc')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (!row) throw fail('environment_not_found', { environmentId: id })
  return { id: row.id, organizationId, rateLimits: row.rate_limits }
}
