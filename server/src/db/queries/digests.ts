// Windows that digests collect in.
import { sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import type { DigestTable } from '../core/tables.ts'

/** A digest that waits, and the run that it belongs to. */
export type CollectingStep = Pick<DigestTable, 'workflow_id' | 'step_row_id' | 'subscriber_row_id'> & {
  notification_id: string
}

/** Where events have moved the ends of their windows; the steps of one run differ. */
export async function findMovedEnds(
  db: Db | Tx,
  environmentId: string,
  steps: CollectingStep[],
): Promise<Array<{ notification_id: string; step_row_id: string; ends_at: Date }>> {
  if (steps.length === 0) return []
  const listed = <Key extends keyof CollectingStep>(key: Key) => steps.map((step) => step[key])
  const { rows } = await sql<{ notification_id: string; step_row_id: string; ends_at: number }>`
    SELECT d.notification_id, d.step_row_id, (d.bounds ->> 'endsAt')::float8 AS ends_at
    FROM unnest(${listed('workflow_id')}::text[], ${listed('step_row_id')}::text[],
      ${listed('subscriber_row_id')}::text[], ${listed('notification_id')}::text[])
      AS asked (workflow_id, step_row_id, subscriber_row_id, notification_id)
    JOIN digests d ON d.environment_id = ${environmentId} AND d.workflow_id = asked.workflow_id
      AND d.step_row_id = asked.step_row_id AND d.subscriber_row_id = asked.subscriber_row_id
      AND d.notification_id = asked.notification_id
    WHERE d.bounds IS NOT NULL`.execute(db)
  return rows.map(({ ends_at: endsAt, ...row }) => ({ ...row, ends_at: new Date(endsAt) }))
}
