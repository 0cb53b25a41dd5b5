// The doors of an environment: what others may do in it unless somebody closes it. Null goes back to the default of the brand.
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { fail } from '../../errors.ts'
import { requireOwn } from '../edge/reach.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Nullable } from '../edge/schema.ts'

const Params = Type.Object({ environmentId: Type.String() })
const Doors = Type.Object({
  openToKeys: Type.Boolean({
    description:
      'Whether API keys of other environments may publish into this one and rename or delete it, and its own keys may create environments and variables',
  }),
  isDefault: Type.Boolean({ description: 'Nobody has chosen: this is the default of the brand' }),
})

export const environmentDoors: Resource = (app, { db, clock, brand }) => {
  const tags = ['Environments']
  const path = '/v2/environments/:environmentId/doors'

  async function readDoors(from: Db | Tx, organizationId: string, id: string): Promise<Static<typeof Doors>> {
    const row = await from
      .selectFrom('environments')
      .select('open_to_keys')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .executeTakeFirst()
    if (!row) throw fail('environment_not_found', { environmentId: id })
    return { openToKeys: row.open_to_keys ?? brand.startsOpen, isDefault: row.open_to_keys === null }
  }

  app.get(
    path,
    { schema: { tags, summary: 'Retrieve the doors of an environment', params: Params, response: { 200: Doors } } },
    async (request) => {
      const { environmentId } = request.params
      requireOwn(request, environmentId)
      return readDoors(db, request.environment.organizationId, environmentId)
    },
  )

  app.patch(
    path,
    {
      // Otherwise a key could open the door for itself.
      config: { role: 'admin', reach: 'organization', act: 'environment.doors-changed' },
      schema: {
        tags,
        summary: 'Open or close the doors of an environment',
        params: Params,
        body: Body({ openToKeys: Type.Optional(Nullable(Type.Boolean())) }, { examples: [{ openToKeys: false }] }),
        response: { 200: Doors },
      },
    },
    async (request) => {
      const { organizationId } = request.environment
      const { environmentId } = request.params
      const { openToKeys } = request.body
      return db.transaction().execute(async (tx) => {
        await readDoors(tx, organizationId, environmentId)
        if (openToKeys !== undefined)
          await tx
            .updateTable('environments')
            .set({ open_to_keys: openToKeys, updated_at: clock.now() })
            .where('id', '=', environmentId)
            .execute()
        return readDoors(tx, organizationId, environmentId)
      })
    },
  )
}
