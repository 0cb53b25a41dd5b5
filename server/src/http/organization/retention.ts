// Retention of an environment: its own periods, or those of the service.
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import type { EnvironmentRetention } from '../../db/core/tables.ts'
import { lockOrganization } from '../../db/queries/environments.ts'
import { fail } from '../../errors.ts'
import { requireOwn } from '../edge/reach.ts'
import type { Resource } from '../edge/resource.ts'
import { Body } from '../edge/schema.ts'

const longestDays = 36_500

const Days = (description: string) =>
  Type.Optional(
    Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, maximum: longestDays, description }),
  )
const periods = {
  activityDays: Days('Days to keep triggers, runs and their steps; 0: forever, null: as the service'),
  messageDays: Days('The same for messages sent by email, SMS, chat and push'),
  inboxDays: Days('The same for in-app messages'),
}
const Chosen = Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'Null: as the service' })
const Retention = Type.Object({
  activityDays: Chosen,
  messageDays: Chosen,
  inboxDays: Chosen,
  usual: Type.Object(
    { activityDays: Type.Integer(), messageDays: Type.Integer(), inboxDays: Type.Integer() },
    { description: 'The settings of the service, for environments without their own' },
  ),
})
const Params = Type.Object({ environmentId: Type.String() })

export const environmentRetention: Resource = (app, { db, clock, config }) => {
  const tags = ['Environments']
  const { activityDays, messageDays } = config.retention
  const usual = { activityDays, messageDays, inboxDays: messageDays }
  const toRetention = (chosen: EnvironmentRetention | null): Static<typeof Retention> => ({
    activityDays: chosen?.activityDays ?? null,
    messageDays: chosen?.messageDays ?? null,
    inboxDays: chosen?.inboxDays ?? null,
    usual,
  })

  app.get(
    '/v2/environments/:environmentId/retention',
    {
      schema: {
        tags,
        summary: 'Retrieve the retention of an environment',
        params: Params,
        response: { 200: Retention },
      },
    },
    async (request) => {
      const { environmentId } = request.params
      requireOwn(request, environmentId)
      return toRetention(await findRetention(db, request.environment.organizationId, environmentId))
    },
  )

  app.patch(
    '/v2/environments/:environmentId/retention',
    {
      config: { role: 'admin', act: 'environment.retention-changed' },
      schema: {
        tags,
        summary: 'Change the retention of an environment',
        description: 'The next daily chore deletes expired data, unless a run still needs it.',
        params: Params,
        body: Body(periods, { examples: [{ activityDays: 30, messageDays: 90, inboxDays: null }] }),
        response: { 200: Retention },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const { organizationId } = environment
      requireOwn(request, params.environmentId)
      return db.transaction().execute(async (tx) => {
        await lockOrganization(tx, organizationId)
        const current = await findRetention(tx, organizationId, params.environmentId)
        const wanted = Object.entries({ ...current, ...body }).filter(([, days]) => days !== null)
        const chosen = wanted.length === 0 ? null : (Object.fromEntries(wanted) as EnvironmentRetention)
        await tx
          .updateTable('environments')
          .set({ retention: chosen && JSON.stringify(chosen), updated_at: clock.now() })
          .where('id', '=', params.environmentId)
          .execute()
        return toRetention(chosen)
      })
    },
  )
}

async function findRetention(
  db: Db | Tx,
  organizationId: string,
  environmentId: string,
): Promise<EnvironmentRetention | null> {
  const row = await db
    .selectFrom('environments')
    .select('retention')
    .where('organization_id', '=', organizationId)
    .where('id', '=', environmentId)
    .executeTakeFirst()
  if (!row) throw fail('environment_not_found', { environmentId })
  return row.retention
}
