// Roles in single environments, as members and invitations have them: the shape on the wire, and what may be set.
import { type Static, Type } from 'typebox'
import type { Tx } from '../../db/core/database.ts'
import type { Role, EnvironmentRoles as Stored } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'
import { environmentRoles, isUnlimited } from '../edge/roles.ts'
import { Body, Enum } from '../edge/schema.ts'

const fields = { _environmentId: Type.String(), role: Enum(environmentRoles) }
const description =
  'Roles in single environments, each in place of the role in the organization; `none` is no access. Owners and admins have none of these'

export const EnvironmentRoles = Type.Array(Type.Object(fields), { description })
/** In a request; it replaces all that were set before. */
export const GivenEnvironmentRoles = Type.Array(Body(fields), { maxItems: 1_000, description })

export const toEnvironmentRoles = (stored: Stored): Static<typeof EnvironmentRoles> =>
  Object.entries(stored)
    .map(([_environmentId, role]) => ({ _environmentId, role }))
    .sort((a, b) => a._environmentId.localeCompare(b._environmentId))

/** What to store for somebody with this role in the organization. */
export async function checkedEnvironmentRoles(
  tx: Tx,
  organizationId: string,
  role: Role,
  given: Static<typeof GivenEnvironmentRoles>,
): Promise<Stored> {
  if (given.length === 0) return {}
  if (isUnlimited(role)) throw fail('role_unlimited', { role })
  const rows = await tx
    .selectFrom('environments')
    .select('id')
    .where('organization_id', '=', organizationId)
    .limit(1_000)
    .execute()
  const known = new Set(rows.map(({ id }) => id))
  const missing = given.find(({ _environmentId }) => !known.has(_environmentId))
  if (missing) throw fail('environment_not_found', { environmentId: missing._environmentId })
  return Object.fromEntries(given.map(({ _environmentId, role: there }) => [_environmentId, there]))
}
