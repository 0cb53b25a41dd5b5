// What browsers of subscribers may do in an environment, as far as the environment itself has chosen.
import { fail } from '../../errors.ts'
import type { Db, Tx } from '../core/database.ts'
import type { InboxAccessChoices } from '../core/tables.ts'

/** Members are absent where the environment follows the service. */
export async function findInboxAccess(
  db: Db | Tx,
  environmentId: string,
  organizationId?: string,
): Promise<InboxAccessChoices> {
  const row = await db
    .selectFrom('environments')
    .select('inbox_access')
    .where('id', '=', environmentId)
    .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId ?? ''))
    .executeTakeFirst()
  if (!row) throw fail('environment_not_found', { environmentId })
  return row.inbox_access ?? {}
}
