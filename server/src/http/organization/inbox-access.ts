// What browsers of subscribers may do in an environment: its own choices, or those of the service.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { InboxAccessChoices } from '../../db/core/tables.ts'
import { lockOrganization } from '../../db/queries/environments.ts'
import { findInboxAccess } from '../../db/queries/inbox-access.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Nullable } from '../edge/schema.ts'

const openTopics = 'Whether browsers may join every topic, and create topics. Otherwise only topics with joinableFromBrowser'
const InboxAccess = Type.Object({
  openTopics: Nullable(Type.Boolean({ description: `${openTopics}. Null: as usual` })),
  usual: Type.Object({ openTopics: Type.Boolean() }, { description: 'What applies where nothing is chosen' }),
})
const Params = Type.Object({ environmentId: Type.String() })

/** A key acts in its own environment only; people choose among those of their organization. */
function refuseOthers({ person, environment }: FastifyRequest, environmentId: string): void {
  if (person === undefined && environment.id !== environmentId) throw fail('environment_not_found', { environmentId })
}

export const inboxAccess: Resource = (app, { db, clock, brand }) => {
  const tags = ['Environments']
  const path = '/v2/environments/:environmentId/inbox-access'
  const toAccess = (chosen: InboxAccessChoices): Static<typeof InboxAccess> => ({
    openTopics: chosen.openTopics ?? null,
    usual: { openTopics: brand.hasOpenTopics },
  })

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Retrieve what browsers of subscribers may do',
        params: Params,
        response: { 200: InboxAccess },
      },
    },
    async (request) => {
      const { environmentId } = request.params
      refuseOthers(request, environmentId)
      return toAccess(await findInboxAccess(db, environmentId, request.environment.organizationId))
    },
  )

  app.patch(
    path,
    {
      config: { role: 'admin', act: 'environment.inbox-access-changed' },
      schema: {
        tags,
        summary: 'Change what browsers of subscribers may do',
        params: Params,
        body: Body(
          { openTopics: Type.Optional(Nullable(Type.Boolean({ description: openTopics }))) },
          { examples: [{ openTopics: false }] },
        ),
        response: { 200: InboxAccess },
      },
    },
    async (request) => {
      const { organizationId } = request.environment
      const { environmentId } = request.params
      refuseOthers(request, environmentId)
      return db.transaction().execute(async (tx) => {
        await lockOrganization(tx, organizationId)
        const current = await findInboxAccess(tx, environmentId, organizationId)
        const wanted = Object.entries({ ...current, ...request.body }).filter(([, choice]) => choice !== null)
        const chosen: InboxAccessChoices = Object.fromEntries(wanted)
        await tx
          .updateTable('environments')
          .set({ inbox_access: JSON.stringify(chosen), updated_at: clock.now() })
          .where('id', '=', environmentId)
          .execute()
        return toAccess(chosen)
      })
    },
  )
}
