// Replays: a new trigger built from the stored data of an earlier one, for one of its recipients.
import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import type { EventTable, Recipient } from '../../db/core/tables.ts'
import type { TriggerRequest } from '../../engine/runs/trigger-request.ts'
import { fail } from '../../errors.ts'

type Members = Record<string, unknown>

interface Row extends Pick<Selectable<EventTable>, 'recipients' | 'actor' | 'tenant' | 'context'> {
  event_id: string
  subscriber_id: string
  payload: Members
  overrides: Members
  workflow: string | null
  is_subscriber_there: boolean
}

/** Names the subscriber directly, even one reached through a topic or broadcast. */
export async function replayOf(db: Db, environmentId: string, notificationId: string): Promise<TriggerRequest> {
  const { rows } = await sql<Row>`
    SELECT n.event_id, n.subscriber_id, s.id IS NOT NULL AS is_subscriber_there, w.identifier AS workflow,
           e.recipients, e.payload, e.overrides, e.actor, e.tenant, e.context
    FROM notifications n
    JOIN events e ON e.environment_id = n.environment_id AND e.id = n.event_id
    LEFT JOIN subscribers s ON s.environment_id = n.environment_id AND s.id = n.subscriber_row_id
    LEFT JOIN workflows w ON w.environment_id = n.environment_id AND w.id = n.workflow_id
    WHERE n.environment_id = ${environmentId} AND n.id = ${notificationId.toLowerCase()}`.execute(db)
  const [row] = rows
  if (!row) throw fail('activity_not_found')
  const { subscriber_id: subscriberId } = row
  // A trigger would create the deleted subscriber again.
  if (!row.is_subscriber_there) throw fail('subscriber_not_found', { subscriberId })
  if (row.workflow === null) throw fail('replay_workflow_gone')
  const isThisOne = (one: Recipient) => 'subscriberId' in one && one.subscriberId === subscriberId
  return {
    environmentId,
    name: row.workflow,
    recipients: [row.recipients?.find(isThisOne) ?? { subscriberId }],
    payload: await withFiles(db, environmentId, row.event_id, row.payload),
    overrides: row.overrides,
    transactionId: undefined,
    actor: (row.actor ?? undefined) as TriggerRequest['actor'],
    tenant: (row.tenant ?? undefined) as TriggerRequest['tenant'],
    context: (row.context ?? undefined) as TriggerRequest['context'],
  }
}

/** Puts the stored attachments back into the payload. */
async function withFiles(db: Db, environmentId: string, eventId: string, payload: Members): Promise<Members> {
  const { attachments } = payload
  if (!Array.isArray(attachments)) return payload
  const rows = await db
    .selectFrom('attachments')
    .select(['position', 'content'])
    .where('environment_id', '=', environmentId)
    .where('event_id', '=', eventId)
    .orderBy('position')
    .limit(attachments.length)
    .execute()
  const files = new Map(rows.map(({ position, content }) => [position, content]))
  return {
    ...payload,
    attachments: attachments.map((described: unknown) => {
      if (typeof described !== 'object' || described === null || !('position' in described)) return described
      const { position, size: _, ...about } = described as Members & { position: number }
      const file = files.get(position)
      // Better no email than an invoice email without the invoice.
      if (!file) throw fail('replay_files_gone')
      return { ...about, file: file.toString('base64') }
    }),
  }
}
