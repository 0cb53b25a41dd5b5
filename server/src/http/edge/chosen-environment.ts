// Callers with more than one environment, people and keys of an organization, name the one they mean in a header.
import type { Db } from '../../db/core/database.ts'
import { fail } from '../../errors.ts'
import type { Environment } from './resource.ts'

/** How an environment is protected, as its row has it. */
export const protectionOf = (row: { is_protected: boolean | null; is_open_to_automation: boolean | null }) =>
  row.is_protected ? { isOpenToAutomation: row.is_open_to_automation === true } : undefined

export const environmentHeader = 'belfry-environment'

/** The named environment of the organization; if none is named, Development, or another if that one is closed to the caller. */
export async function findChosen(
  db: Db,
  organizationId: string,
  id: string,
  closed: string[] = [],
): Promise<Omit<Environment, 'userId'>> {
  const row = await db
    .selectFrom('environments')
    .select(['id', 'rate_limits', 'is_protected', 'is_open_to_automation', 'clock_seed', 'shadow'])
    .where('organization_id', '=', organizationId)
    .$if(id !== '', (query) => query.where('id', '=', id))
    .orderBy((order) => order('id', '=', order.fn.any(order.val(closed))))
    .orderBy((order) => order('type', '=', 'dev'), 'desc')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (!row) throw fail('environment_not_found', { environmentId: id })
  const kind = { isHeld: row.clock_seed !== null, isShadow: row.shadow !== null }
  return { id: row.id, organizationId, rateLimits: row.rate_limits, protection: protectionOf(row), ...kind }
}
