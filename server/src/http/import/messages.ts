// Imported inbox history: in-app messages with their ids, times and marks. They belong to no run, and nobody is told of them.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Selectable, sql } from 'kysely'
import { Type } from 'typebox'
import { HeldMoment, realOf } from '../../db/core/held-clock.ts'
import { idPattern, timeOfId } from '../../db/core/ids.ts'
import { makePartitionsFor } from '../../db/core/partitions.ts'
import type { MessageTable } from '../../db/core/tables.ts'
import { findSubscriberRowIds } from '../../db/queries/topic-subscriptions.ts'
import { fail, type RequestError } from '../../errors.ts'
import { ctaOf } from '../../steps/kinds/in-app.ts'
import { Body, FreeObject, Identifier } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'
import { SubscriberId } from '../subscribers/subscribers.ts'
import { Severity } from '../workflows/shape.ts'
import { GivenContextKeys, makeContexts, sortedKeys } from './context-keys.ts'
import { type Importing, type ImportKind, type Outcome, timeOf } from './kind.ts'
import { MaybeTime, Time } from './times.ts'

interface Redirect {
  url: string
  target?: string
}
interface Action {
  label: string
  redirect?: Redirect | null
  isCompleted?: boolean
}

interface MessageItem {
  id?: string
  subscriberId: string
  workflowId: string
  stepId?: string
  transactionId?: string
  subject?: string | null
  body?: string | null
  avatar?: string | null
  redirect?: Redirect | null
  primaryAction?: Action | null
  secondaryAction?: Action | null
  tags?: string[]
  data?: Record<string, unknown> | null
  severity?: 'none' | 'low' | 'medium' | 'high'
  contextKeys?: string[]
  createdAt: string
  deliveredAt?: string[]
  seenAt?: string | null
  lastSeenAt?: string | null
  readAt?: string | null
  archivedAt?: string | null
  snoozedUntil?: string | null
  updatedAt?: string
}

const MaybeText = Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] }))
const link = { url: Type.String(), target: Type.Optional(Type.String()) }
const MaybeLink = Type.Optional(Type.Unsafe<Redirect | null>({ ...Body(link), type: ['object', 'null'] }))
const MaybeAction = Type.Optional(
  Type.Unsafe<Action | null>({
    ...Body({ label: Type.String({ minLength: 1 }), redirect: MaybeLink, isCompleted: Type.Optional(Type.Boolean()) }),
    type: ['object', 'null'],
  }),
)

const isId = new RegExp(idPattern)

/**
 * Its own id, if that is one of ours and begins with its time, as those of Novu do; else one made of what it says, so that the
 * same message gets the same id again.
 */
function idOf(item: MessageItem): string {
  if (item.id !== undefined && isId.test(item.id)) return item.id.toLowerCase()
  const { subscriberId, workflowId, transactionId = '', subject = '', body = '', createdAt, id = '' } = item
  const said = JSON.stringify([id, ...(id === '' ? [subscriberId, workflowId, transactionId, subject, body] : [])])
  const seconds = Math.floor(new Date(createdAt).getTime() / 1000)
  return seconds.toString(16).padStart(8, '0') + createHash('sha256').update(said).digest('hex').slice(0, 16)
}

export const importedMessages: ImportKind<MessageItem> = {
  name: 'messages',
  summary: 'Import up to 500 in-app messages',
  description:
    'They show in the inbox as they did at the source. Without `updatedAt` a message was last changed at the latest of its times.',
  item: Body({
    id: Type.Optional(Identifier()),
    subscriberId: SubscriberId,
    workflowId: Identifier(),
    stepId: Type.Optional(Identifier()),
    transactionId: Type.Optional(Identifier()),
    subject: MaybeText,
    body: MaybeText,
    avatar: MaybeText,
    redirect: MaybeLink,
    primaryAction: MaybeAction,
    secondaryAction: MaybeAction,
    tags: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 })),
    data: Type.Optional(Type.Unsafe<Record<string, unknown> | null>({ ...FreeObject, type: ['object', 'null'] })),
    severity: Type.Optional(Severity),
    contextKeys: GivenContextKeys,
    createdAt: Time,
    deliveredAt: Type.Optional(Type.Array(Time, { maxItems: 100 })),
    seenAt: MaybeTime,
    lastSeenAt: MaybeTime,
    readAt: MaybeTime,
    archivedAt: MaybeTime,
    snoozedUntil: MaybeTime,
    updatedAt: Type.Optional(Time),
  }),
  example: {
    ...{ id: '65a1f0c2e4b0a1b2c3d4e5f6', subscriberId: 'ada', workflowId: 'comments', transactionId: 'comment-42' },
    ...{ subject: 'Bob wrote', body: 'Nice work', createdAt: '2026-01-05T10:00:00.000Z' },
    readAt: '2026-01-05T10:05:00.000Z',
  },
  scope: 'write:messages',
  keyOf: idOf,

  /** Each month has a partition, as if the messages had been sent here; later they would have to be moved. */
  async prepare(pool, items, { now, keptSince }) {
    const times = items.map((item) => timeOfId(idOf(item)))
    const kept = times.filter((time) => time <= realOf(now) && (keptSince === undefined || time >= keptSince))
    await makePartitionsFor(pool, 'messages', kept)
  },

  async store(importing, items) {
    const { tx, environmentId, now } = importing
    await makeContexts(importing, items)
    const subscriberIds = [...new Set(items.map(({ subscriberId }) => subscriberId.trim()))]
    const rowIds = await findSubscriberRowIds(tx, environmentId, subscriberIds, { lock: true })
    const workflows = await findWorkflows(
      importing,
      items.map(({ workflowId }) => workflowId),
    )
    const stored = await findStored(importing, items.map(idOf))
    const planned = new Map<number, Row>()
    const outcomes = items.map((item, index): Outcome => {
      const rowId = rowIds.get(item.subscriberId.trim())
      if (rowId === undefined) return fail('subscriber_not_found', item)
      const workflow = workflows.get(item.workflowId)
      if (!workflow) return fail('workflow_not_found')
      const problem = problemOf(item, importing)
      if (problem) return problem
      const row = rowOf(item, { importing, rowId, workflow })
      const old = stored.get(row.id)
      if (old && old.subscriber_row_id !== rowId) return fail('message_id_taken', { id: row.id })
      if (old && (old.updated_at > row.updated_at || isSame(old, row))) return 'unchanged'
      planned.set(index, row)
      return 'imported'
    })
    const written = await write(importing, [...planned.values()])
    for (const [index, { id }] of planned) if (!written.has(id)) outcomes[index] = 'unchanged'
    await setTimers(
      importing,
      [...planned.values()].filter(({ id }) => written.has(id)),
      now,
    )
    return outcomes
  },
}

function problemOf({ id, createdAt }: MessageItem, { now, keptSince }: Importing): RequestError | undefined {
  const time = id !== undefined && isId.test(id) ? timeOfId(id) : new Date(createdAt)
  if (time > realOf(now) || new Date(createdAt) > now) return generalError(['createdAt is in the future'])
  if (keptSince && (time < keptSince || new Date(createdAt) < keptSince)) return fail('past_retention')
  return undefined
}

interface Workflow {
  id: string
  identifier: string
  severity: NonNullable<MessageItem['severity']>
  tags: string[]
  steps: Array<{ _id: string; stepId: string; type: string }>
}

async function findWorkflows({ tx, environmentId }: Importing, identifiers: string[]): Promise<Map<string, Workflow>> {
  const { rows } = await sql<Workflow>`
    SELECT w.id, w.identifier, w.severity, w.tags, (
      SELECT coalesce(json_agg(json_build_object('_id', a.step ->> '_id', 'stepId', a.step ->> 'stepId')), '[]')
      FROM all_steps(w.steps) a WHERE a.step ->> 'type' = 'in_app') AS steps
    FROM workflows w WHERE w.environment_id = ${environmentId} AND w.identifier = ANY(${[...new Set(identifiers)]}::text[])
    ORDER BY w.id FOR KEY SHARE`.execute(tx)
  return new Map(rows.map((row) => [row.identifier, row]))
}

type MessageRow = Selectable<MessageTable>

/** The columns that an import writes. */
const columns = {
  subject: 'text',
  content: 'text',
  avatar: 'text',
  cta: 'json',
  data: 'jsonb',
  tags: 'text[]',
  severity: 'text',
  seen: 'boolean',
  read: 'boolean',
  archived: 'boolean',
  snoozed_until: 'timestamptz',
  delivered_at: 'timestamptz[]',
  first_seen_at: 'timestamptz',
  last_seen_at: 'timestamptz',
  last_read_at: 'timestamptz',
  archived_at: 'timestamptz',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const
type Written = keyof typeof columns
const columnNames = Object.keys(columns) as Written[]

type Row = Pick<MessageRow, Written> & {
  id: string
  transaction_id: string
  workflow_id: string
  workflow: string
  step_row_id: string
  step_id: string
  subscriber_row_id: string
  subscriber_id: string
  context_keys: string[]
}

interface Around {
  importing: Importing
  rowId: string
  workflow: Workflow
}

function rowOf(item: MessageItem, { importing: { now }, rowId, workflow }: Around): Row {
  const id = idOf(item)
  const createdAt = new Date(item.createdAt)
  const readAt = timeOf(item.readAt ?? item.archivedAt, now)
  const archivedAt = timeOf(item.archivedAt, now)
  const seenAt = timeOf(item.seenAt, now) ?? readAt
  const until = item.snoozedUntil ? new Date(item.snoozedUntil) : null
  const lastSeenAt = timeOf(item.lastSeenAt, now) ?? seenAt
  const times = [createdAt, readAt, archivedAt, seenAt, lastSeenAt].flatMap((time) => time?.getTime() ?? [])
  const step = workflow.steps.find(({ stepId }) => stepId === item.stepId) ?? workflow.steps[0]
  return {
    ...{ id, transaction_id: item.transactionId ?? id, workflow_id: workflow.id, workflow: workflow.identifier },
    ...{ step_row_id: step?._id ?? id, step_id: item.stepId ?? step?.stepId ?? 'imported' },
    ...{
      subscriber_row_id: rowId,
      subscriber_id: item.subscriberId.trim(),
      context_keys: sortedKeys(item.contextKeys),
    },
    ...{ subject: item.subject ?? null, content: item.body ?? '', avatar: item.avatar ?? null },
    ...{ cta: ctaWith(item), data: item.data ?? null, tags: item.tags ?? workflow.tags },
    severity: item.severity ?? workflow.severity,
    ...{ seen: seenAt !== null, read: readAt !== null, archived: archivedAt !== null },
    // What is over by now came back at the source.
    snoozed_until: until !== null && until > now ? until : null,
    delivered_at: item.deliveredAt?.map((time) => new Date(time)) ?? [createdAt],
    ...{ first_seen_at: seenAt, last_seen_at: lastSeenAt, last_read_at: readAt, archived_at: archivedAt },
    ...{ created_at: createdAt, updated_at: timeOf(item.updatedAt, now) ?? new Date(Math.max(...times)) },
  }
}

function ctaWith({ redirect, primaryAction, secondaryAction }: MessageItem): Record<string, unknown> | null {
  const target = (to: Redirect | null | undefined) =>
    to ? { redirect: { url: to.url, target: to.target ?? (to.url.startsWith('/') ? '_self' : '_blank') } } : {}
  const button = (action: Action | null | undefined) =>
    action ? { label: action.label, ...target(action.redirect) } : undefined
  const [primary, secondary] = [button(primaryAction), button(secondaryAction)]
  const cta = ctaOf({
    ...target(redirect),
    ...(primary ? { primaryAction: primary } : {}),
    ...(secondary ? { secondaryAction: secondary } : {}),
  })
  const pressed = primaryAction?.isCompleted ? 'primary' : secondaryAction?.isCompleted ? 'secondary' : undefined
  if (!cta || pressed === undefined) return cta
  return { ...cta, action: { ...(cta.action as object), status: 'done', result: { type: pressed } } }
}

async function findStored({ tx, environmentId }: Importing, ids: string[]): Promise<Map<string, MessageRow>> {
  const rows = await tx
    .selectFrom('messages')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', 'in', ids)
    .execute()
  return new Map((rows as MessageRow[]).map((row) => [row.id, row]))
}

const isSame = (old: MessageRow, row: Row): boolean =>
  columnNames.every((name) => name === 'updated_at' || isDeepStrictEqual(old[name], row[name]))

/** New ones, and those that were not changed here later. @returns the ids of the messages written */
async function write({ tx, environmentId }: Importing, rows: Row[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set()
  const fixed = [
    ...(['id', 'transaction_id', 'workflow_id', 'workflow', 'step_row_id', 'step_id'] as const),
    ...(['subscriber_row_id', 'subscriber_id'] as const),
  ]
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const typed = [
    ...fixed.map((name) => sql`${sql.ref(name)} text`),
    sql`context_keys text[]`,
    ...columnNames.map((name) => sql`${sql.ref(name)} ${sql.raw(columns[name])}`),
  ]
  const names = sql.join([...fixed, 'context_keys', ...columnNames].map((name) => sql.ref(name)))
  const written = await sql<{ id: string }>`
    INSERT INTO messages AS m (environment_id, notification_id, event_id, job_id, channel, provider_id, status, ${names})
    SELECT ${environmentId}, id, id, id, 'in_app', 'svc', 'sent', ${names}
    FROM jsonb_to_recordset(${JSON.stringify(sorted)}::jsonb) AS given (${sql.join(typed)})
    ON CONFLICT (environment_id, id) DO UPDATE
    SET ${sql.join(columnNames.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`))}
    WHERE m.updated_at <= excluded.updated_at
    RETURNING m.id`.execute(tx)
  return new Set(written.rows.map(({ id }) => id))
}

/** A message that is snoozed comes back. The timer of one that no longer is finds nothing to do. */
async function setTimers({ tx, environmentId }: Importing, rows: Row[], now: Date): Promise<void> {
  const snoozed = rows.filter(({ snoozed_until }) => snoozed_until !== null).sort((a, b) => (a.id < b.id ? -1 : 1))
  if (snoozed.length > 0)
    await sql`
      INSERT INTO timers (environment_id, subject_id, position, kind, due_at, held)
      SELECT ${environmentId}, id, 0, 'unsnooze', due_at, CASE WHEN ${now instanceof HeldMoment}::boolean THEN nextval('held_order') END
      FROM unnest(${snoozed.map(({ id }) => id)}::text[], ${snoozed.map(({ snoozed_until }) => snoozed_until)}::timestamptz[])
        AS given (id, due_at)
      ON CONFLICT (environment_id, subject_id, position) DO UPDATE SET due_at = excluded.due_at, held = excluded.held
      WHERE timers.kind = 'unsnooze'`.execute(tx)
}
