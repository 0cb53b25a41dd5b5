// Whether an environment is protected: then a publish into it needs the approval of a second person, and nothing else changes
// its content.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import type { Db, Tx } from '../../db/core/database.ts'
import { recordAct } from '../../db/queries/audit-log.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import { fail } from '../../errors.ts'
import { personActs } from '../edge/audit.ts'
import { requireOwn } from '../edge/reach.ts'
import type { Resource } from '../edge/resource.ts'
import { Body } from '../edge/schema.ts'
import { signedIn } from './account.ts'

const Params = Type.Object({ environmentId: Type.String() })
const isProtected = 'Whether a publish into the environment needs the approval of a second person'
const isOpenToAutomation =
  'Whether API keys are exempt: they publish and change content as their scopes allow, without approval'
const Protection = Type.Object({
  isProtected: Type.Boolean({ description: isProtected }),
  isOpenToAutomation: Type.Boolean({ description: isOpenToAutomation }),
})

export const environmentProtection: Resource = (app, { db, clock, apiKeys, people }) => {
  const tags = ['Environments']
  const path = '/v2/environments/:environmentId/protection'

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Retrieve the protection of an environment',
        params: Params,
        response: { 200: Protection },
      },
    },
    async (request) => {
      const { environmentId } = request.params
      requireOwn(request, environmentId)
      const { name: _, ...protection } = await find(db, request, environmentId)
      return protection
    },
  )

  app.patch(
    path,
    {
      config: { people: true, role: 'admin' },
      schema: {
        tags,
        summary: 'Protect an environment; only an owner can turn the protection off or open it to automation',
        params: Params,
        body: Body(
          {
            isProtected: Type.Optional(Type.Boolean({ description: isProtected })),
            isOpenToAutomation: Type.Optional(Type.Boolean({ description: isOpenToAutomation })),
          },
          { examples: [{ isProtected: true }] },
        ),
        response: { 200: Protection },
      },
    },
    async (request) => {
      const person = signedIn(request.person)
      const { environmentId } = request.params
      const now = clock.now()
      const changed = await db.transaction().execute(async (tx) => {
        // A publish holds the same lock, so it is either before the protection or under it.
        await find(tx, request, environmentId)
        await lockEnvironment(tx, environmentId)
        const { name, ...before } = await find(tx, request, environmentId)
        const after = { ...before, ...request.body }
        // Opening it means nothing without protection, and must not wait there for somebody who turns that on.
        if (!after.isProtected) after.isOpenToAutomation = false
        const isWeaker =
          (before.isProtected && !after.isProtected) || (!before.isOpenToAutomation && after.isOpenToAutomation)
        if (isWeaker) await refuseUnlessOwner(tx, person.id)
        if (before.isProtected === after.isProtected && before.isOpenToAutomation === after.isOpenToAutomation)
          return before
        await tx
          .updateTable('environments')
          .set({
            is_protected: after.isProtected,
            is_open_to_automation: after.isOpenToAutomation,
            updated_at: now,
          })
          .where('id', '=', environmentId)
          .execute()
        const action =
          before.isProtected === after.isProtected
            ? 'environment.protection-changed'
            : after.isProtected
              ? 'environment.protected'
              : 'environment.unprotected'
        const act = { action, target: { id: environmentId, name }, environmentId, details: { from: before, to: after } }
        await recordAct(tx, { ...personActs(request), ...act }, now)
        await announce(tx, 'api_keys', environmentId)
        return after
      })
      apiKeys.forget()
      people.forget()
      return changed
    },
  )
}

async function find(
  from: Db | Tx,
  { environment }: FastifyRequest,
  id: string,
): Promise<Static<typeof Protection> & { name: string }> {
  const row = await from
    .selectFrom('environments')
    .select(['name', 'is_protected', 'is_open_to_automation'])
    .where('organization_id', '=', environment.organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw fail('environment_not_found', { environmentId: id })
  return { name: row.name, isProtected: row.is_protected, isOpenToAutomation: row.is_open_to_automation }
}

/** Read anew: the role may have changed while the request waited for the lock. */
async function refuseUnlessOwner(tx: Tx, userId: string): Promise<void> {
  const row = await tx.selectFrom('users').select('role').where('id', '=', userId).executeTakeFirst()
  if (row?.role !== 'owner') throw fail('protection_owner_needed')
}
