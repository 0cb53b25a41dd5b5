// A notification that the service sends itself every minute, the same way as any other: accepted, queued, run, stored. How long
// ago one last arrived tells an operator whether notifications arrive. Its environment belongs to a hidden organization, so it
// appears in no lists or counts, and it deletes what earlier rounds left.
import type { CronItem, TaskList } from 'graphile-worker'
import type pg from 'pg'
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
  pool: pg.Pool
  db: Db
  secrets: Secrets
  clock: { now(): Date }
  engine: { trigger(request: TriggerRequest): Promise<unknown> }
}

export function canary(surroundings: Surroundings): TaskList {
  return {
    async canary() {
      if (!(await hasPlace(surroundings))) return
      await tidyUp(surroundings.pool)
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
async function tidyUp(pool: pg.Pool): Promise<void> {
  await pool.query({ name: 'tidy_up_canary', text: tidying, values: [hiddenId] })
}

const tidying = `
  WITH last AS (SELECT event_id AS id FROM messages WHERE environment_id = $1 ORDER BY id DESC LIMIT 1),
  ${[
    ['messages', 'id'],
    ['jobs', 'notification_id'],
    ['notifications', 'id'],
  ]
    .map(
      ([table, id]) =>
        `of_${table} AS (DELETE FROM ${table} WHERE environment_id = $1 AND ${id} < (SELECT id FROM last))`,
    )
    .join(', ')}
  DELETE FROM events WHERE environment_id = $1 AND id < (SELECT id FROM last)`
