// A notification that the service sends itself every minute, the same way as any other: accepted, queued, run, stored. How long
// ago one last arrived tells an operator whether notifications arrive. Its environment belongs to a hidden organization, so it
// appears in no lists or counts, and it deletes what earlier rounds left.
import type { CronItem, TaskList } from 'graphile-worker'
import { sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import { hiddenId, newId } from '../../db/core/ids.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import { createEnvironment } from '../../db/queries/environments.ts'
import { saveWorkflow } from '../../db/queries/workflows.ts'
import { completePreferences } from '../core/preferences.ts'
import type { TriggerRequest } from '../runs/trigger-request.ts'

/** A missed round is skipped: the next one says as much. */
export const canarySchedule: CronItem[] = [
  { task: 'canary', match: '* * * * *', options: { backfillPeriod: 0, maxAttempts: 1 } },
]

const name = 'canary'

interface Surroundings {
  db: Db
  secrets: Secrets
  clock: { now(): Date }
  engine: { trigger(request: TriggerRequest): Promise<unknown> }
}

export function canary(surroundings: Surroundings): TaskList {
  return {
    async canary() {
      if (!(await hasPlace(surroundings))) return
      await tidyUp(surroundings.db)
      await surroundings.engine.trigger({
        ...{ environmentId: hiddenId, name, recipients: [{ subscriberId: name }], payload: {}, overrides: {} },
        ...{ transactionId: undefined, actor: undefined, tenant: undefined, context: undefined },
      })
    },
  }
}

/** Creates its environment if missing, but not before the first start has created what people use. */
async function hasPlace({ db, secrets, clock }: Surroundings): Promise<boolean> {
  const known = await db.selectFrom('workflows').select('id').where('environment_id', '=', hiddenId).executeTakeFirst()
  if (known) return true
  const now = clock.now()
  return db.transaction().execute(async (tx) => {
    if (!(await tx.selectFrom('organizations').select('id').limit(1).executeTakeFirst())) return false
    const organization = { id: hiddenId, name, owner_user_id: hiddenId, created_at: now }
    const made = await tx
      .insertInto('organizations')
      .values(organization)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (made.numInsertedOrUpdatedRows === 0n) return false
    const environment = {
      id: hiddenId,
      organization_id: hiddenId,
      name,
      type: 'prod' as const,
      color: null,
      parent_id: null,
    }
    await createEnvironment(tx, { ...environment, userId: hiddenId }, secrets, now)
    const step = { _id: newId(now), stepId: name, name, type: 'in_app', controlValues: { body: 'Still here' } }
    await saveWorkflow(
      tx,
      { environmentId: hiddenId, userId: hiddenId, id: newId(now), now },
      {
        ...{ name, identifier: name, description: '', origin: 'svc-cloud', active: true, critical: false },
        ...{ severity: 'none', tags: [], data: null, steps: [step], payload_schema: null, validate_payload: false },
        ...{ is_translation_enabled: false, preferences: completePreferences(undefined), user_preferences: null },
      },
    )
    return true
  })
}

/** Deletes everything before the trigger of the latest message; ids begin with their time. */
async function tidyUp(db: Db): Promise<void> {
  const last = await db
    .selectFrom('messages')
    .select('event_id')
    .where('environment_id', '=', hiddenId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!last) return
  for (const [table, column, before] of [
    ['messages', 'id', last.event_id],
    ['jobs', 'notification_id', last.event_id],
    ['notifications', 'id', last.event_id],
    ['events', 'id', last.event_id],
    ['transactions', 'transaction_id', `txn_${last.event_id}`],
  ])
    await sql`DELETE FROM ${sql.table(table ?? '')}
              WHERE environment_id = ${hiddenId} AND ${sql.ref(column ?? '')} < ${before}`.execute(db)
}
