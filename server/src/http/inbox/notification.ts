// Notifications in the inbox's format.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import type { ButtonType, MessageRow, MessageWorkflowRow } from '../../db/queries/messages.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import { buttonIn } from '../../engine/runs/message-facts.ts'
import { given } from '../activity/message-shape.ts'
import { Channel, FreeObject, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import { Severity } from '../workflows/shape.ts'

const OptionalText = Type.Optional(Type.String())
const Redirect = Type.Object({ url: Type.String(), target: OptionalText })
const Action = Type.Object({ label: Type.String(), isCompleted: Type.Boolean(), redirect: Type.Optional(Redirect) })

export const InboxNotification = Type.Object({
  id: Type.String(),
  transactionId: Type.String(),
  subject: OptionalText,
  body: Type.String(),
  to: Type.Object({
    id: Type.String(),
    subscriberId: Type.String(),
    firstName: OptionalText,
    lastName: OptionalText,
    avatar: OptionalText,
  }),
  isRead: Type.Boolean(),
  isSeen: Type.Boolean(),
  isArchived: Type.Boolean(),
  isSnoozed: Type.Boolean(),
  snoozedUntil: NullableTimestamp,
  deliveredAt: Type.Optional(Type.Array(Timestamp)),
  createdAt: Timestamp,
  readAt: NullableTimestamp,
  firstSeenAt: NullableTimestamp,
  archivedAt: NullableTimestamp,
  avatar: OptionalText,
  primaryAction: Type.Optional(Action),
  secondaryAction: Type.Optional(Action),
  channelType: Channel,
  tags: Type.Array(Type.String()),
  data: Type.Optional(FreeObject),
  redirect: Type.Optional(Redirect),
  workflow: Type.Object({
    id: Type.String(),
    identifier: Type.String(),
    name: Type.String(),
    critical: Type.Boolean(),
    tags: Type.Array(Type.String()),
    data: Type.Optional(FreeObject),
    severity: Severity,
  }),
  severity: Severity,
})
export type InboxNotification = Static<typeof InboxNotification>

export type NotificationWorkflow = MessageWorkflowRow

/** The workflows of these messages; deleted ones in their last version. */
export async function workflowsOf(
  db: Db,
  environmentId: string,
  rows: MessageRow[],
): Promise<Map<string, NotificationWorkflow>> {
  const ids = [...new Set(rows.map(({ workflow_id }) => workflow_id))]
  if (ids.length === 0) return new Map()
  const { rows: found } = await sql<NotificationWorkflow>`
    SELECT g.id, coalesce(w.identifier, v.identifier) AS identifier, coalesce(w.name, v.name) AS name,
           coalesce(w.critical, v.critical) AS critical, coalesce(w.tags, v.tags) AS tags,
           CASE WHEN w.id IS NULL THEN v.data ELSE w.data END AS data, coalesce(w.severity, v.severity) AS severity
    FROM unnest(${ids}::text[]) AS g (id)
    LEFT JOIN workflows w ON w.environment_id = ${environmentId} AND w.id = g.id
    LEFT JOIN LATERAL (
      SELECT d.* FROM (
        SELECT definition FROM workflow_versions
        WHERE w.id IS NULL AND environment_id = ${environmentId} AND workflow_id = g.id ORDER BY version DESC LIMIT 1) last,
      jsonb_to_record(last.definition)
        AS d (identifier text, name text, critical boolean, tags text[], data jsonb, severity text)) v ON true
    WHERE w.id IS NOT NULL OR v.name IS NOT NULL`.execute(db)
  return new Map(found.map((workflow) => [workflow.id, workflow]))
}

/** Any number of notifications of one subscriber in one statement. */
export async function showNotifications(
  db: Db,
  rows: MessageRow[],
  subscriber: SubscriberRow,
): Promise<InboxNotification[]> {
  const workflows = await workflowsOf(db, subscriber.environment_id, rows)
  return rows.map((row) => toNotification(row, subscriber, workflows.get(row.workflow_id)))
}

interface Button {
  type: ButtonType
  content: string
  url?: string
  target?: string
}

interface Cta {
  data?: { url?: string; target?: string }
  action?: { status?: string; buttons?: Button[]; result?: { type?: string } }
}

/** The button of a message, if it has one of this type. */
export const buttonOf = (row: MessageRow, type: ButtonType): Button | undefined => buttonIn<Button>(row.cta, type)

function toNotification(
  row: MessageRow,
  subscriber: SubscriberRow,
  workflow: NotificationWorkflow | undefined,
): InboxNotification {
  const cta = (row.cta ?? {}) as Cta
  const severity = row.severity as Static<typeof Severity>
  return {
    id: row.id,
    transactionId: row.transaction_id,
    body: row.content ?? '',
    to: {
      id: subscriber.id,
      subscriberId: subscriber.subscriber_id,
      ...given({ firstName: subscriber.first_name, lastName: subscriber.last_name, avatar: subscriber.avatar }),
    },
    isRead: row.read,
    isSeen: row.seen,
    isArchived: row.archived,
    isSnoozed: row.snoozed_until !== null,
    snoozedUntil: row.snoozed_until,
    createdAt: row.created_at,
    readAt: row.read ? row.last_read_at : null,
    firstSeenAt: row.first_seen_at,
    archivedAt: row.archived_at,
    channelType: row.channel,
    tags: row.tags,
    severity,
    workflow: toWorkflow(row, workflow),
    ...given({
      subject: row.subject,
      deliveredAt: row.delivered_at,
      avatar: row.avatar,
      primaryAction: toAction(row, 'primary', cta),
      secondaryAction: toAction(row, 'secondary', cta),
      data: row.data,
      redirect: redirectTo(cta.data),
    }),
  }
}

/** A workflow without any stored version is shown by what the message has of it. */
export const toWorkflow = (
  row: MessageRow,
  workflow: NotificationWorkflow | undefined,
): InboxNotification['workflow'] => ({
  id: row.workflow_id,
  identifier: workflow?.identifier ?? row.workflow,
  name: workflow?.name ?? row.workflow,
  critical: workflow?.critical ?? false,
  tags: workflow?.tags ?? row.tags,
  severity: workflow?.severity ?? (row.severity as InboxNotification['severity']),
  ...given({ data: workflow?.data }),
})

function toAction(row: MessageRow, type: ButtonType, { action }: Cta): Static<typeof Action> | undefined {
  const button = buttonOf(row, type)
  if (!button) return undefined
  const isCompleted = action?.status === 'done' && action.result?.type === type
  return { label: button.content, isCompleted, ...given({ redirect: redirectTo(button) }) }
}

const redirectTo = (place: { url?: string; target?: string } | undefined) =>
  place?.url ? { url: place.url, ...given({ target: place.target }) } : undefined
