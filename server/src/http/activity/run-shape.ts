// Activity records in the API's format: a run with its steps, their logs and messages, and the delivery progress.

import { type Selectable, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { firstIdAt, timeOfId } from '../../db/core/ids.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { wholeLog } from '../../db/core/step-log.ts'
import type { JobTable, NotificationTable, Recipient, StartedBy, StoredDetail } from '../../db/core/tables.ts'
import { findMovedEnds } from '../../db/queries/digests.ts'
import type { MessageRow } from '../../db/queries/messages.ts'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import { armsTo, copyOf, outcomeOf } from '../../engine/runs/extension-outcome.ts'
import { lifecycleOf, lifecycleStatuses } from '../../engine/runs/lifecycle.ts'
import { isHeld, type JobState, waitsUntil } from '../../engine/runs/run-state.ts'
import { providerIds } from '../../providers/catalog.ts'
import type { Exchange } from '../../providers/delivery-error.ts'
import { extensionKinds } from '../../steps/contract/kind.ts'
import { placeOf } from '../../steps/contract/tree.ts'
import { wireKind, wireType, wireTypes, wireValues } from '../../steps/contract/wire.ts'
import type { Brand } from '../edge/brand.ts'
import type { Environment } from '../edge/resource.ts'
import { Channel, Enum, FreeObject, Timestamp } from '../edge/schema.ts'
import { Severity } from '../workflows/shape.ts'
import { OwnStepFilter } from '../workflows/step-filter.ts'
import { StepPath } from '../workflows/tree.ts'
import { given } from './message-shape.ts'

const OptionalText = Type.Optional(Type.String())
const OptionalObject = Type.Optional(FreeObject)
const NullableObject = Type.Unsafe<Record<string, unknown> | null>({
  type: ['object', 'null'],
  additionalProperties: true,
})

const ExecutionDetail = Type.Object({
  _id: Type.String(),
  createdAt: Timestamp,
  status: Enum(['Success', 'Warning', 'Failed', 'Pending', 'Queued', 'ReadConfirmation']),
  detail: Type.String(),
  isRetry: Type.Boolean(),
  isTest: Type.Boolean(),
  providerId: OptionalText,
  raw: OptionalText,
  source: Enum(['Credentials', 'Internal', 'Payload', 'Webhook']),
  webhookStatus: Type.Optional(Type.String({ description: 'What the provider reported, such as `bounced`' })),
})

/** Members of a message that only the single record shows. */
const alone = {
  recipient: Type.Optional(Type.String({ description: 'The address or number it went to' })),
  subject: OptionalText,
  content: OptionalText,
  avatar: OptionalText,
  cta: OptionalObject,
  data: OptionalObject,
  providerMessageId: OptionalText,
  integrationId: OptionalText,
  createdAt: Type.Optional(Timestamp),
  updatedAt: Type.Optional(Timestamp),
}

const Job = Type.Object({
  _id: Type.String(),
  type: Type.String(),
  kind: Type.Optional(Type.String({ description: 'Of a kind such as `branch`' })),
  outcome: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'Of such a kind what later steps read, and of a branch also `arms`: `{name, held, read}`, where `held` is null if it was not asked any more, and `read` has what its condition read; of a wait under way also `keys`, one for each entry as this run has it; of an `ask` its `questionId` from the beginning',
      },
    ),
  ),
  path: Type.Optional(StepPath),
  of: Type.Optional(Type.String({ description: 'Of a copy of a question: the step that asks' })),
  asked: Type.Optional(Type.String({ description: 'Of a copy of a question: the subscriber who is asked' })),
  level: Type.Optional(Type.Integer({ description: 'Of a copy of a question: the level of the chain, from 0' })),
  status: Type.String(),
  reason: Type.Optional(
    Type.String({ description: 'Why it did not complete normally, such as `preference` or `missing_email`' }),
  ),
  error: OptionalText,
  providerId: Type.String(),
  digest: OptionalObject,
  executionDetails: Type.Array(ExecutionDetail),
  messages: Type.Array(
    Type.Object({
      _id: Type.String(),
      channel: Channel,
      status: Enum(['sent', 'error', 'warning']),
      providerId: OptionalText,
      errorId: OptionalText,
      errorText: OptionalText,
      ...alone,
    }),
    { description: 'The messages of the step. Their content and recipients are in the single record' },
  ),
  step: Type.Object({
    _id: Type.String(),
    _templateId: Type.String(),
    _parentId: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] })),
    stepId: Type.String(),
    name: OptionalText,
    active: Type.Boolean(),
    filters: Type.Array(OwnStepFilter),
    controlVariables: OptionalObject,
  }),
  payload: OptionalObject,
  overrides: OptionalObject,
  scheduleExtensionsCount: Type.Integer(),
  collectedEvents: Type.Optional(
    Type.Integer({ description: 'How many events a digest has collected that still waits. Only in the single record' }),
  ),
  dueAt: Type.Optional(Type.Unsafe<Date>({ ...Timestamp, description: 'When a waiting step continues' })),
  heldUntil: Type.Optional(
    Type.Unsafe<Date>({ ...Timestamp, description: 'When the schedule opens that the step is held by' }),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

export const Activity = Type.Object({
  _id: Type.String(),
  _environmentId: Type.String(),
  _organizationId: Type.String(),
  _subscriberId: Type.String(),
  _templateId: Type.String(),
  _digestedNotificationId: OptionalText,
  workflowVersion: Type.Integer({ description: 'The version of the workflow that the run began with' }),
  transactionId: Type.String(),
  status: Enum(['processing', 'completed', 'error']),
  deliveryLifecycle: Type.Object(
    { status: Enum(lifecycleStatuses), detail: OptionalText },
    { description: 'The furthest delivery state over all channels, and what stopped it' },
  ),
  channels: Type.Array(Type.String()),
  subscriber: Type.Optional(
    Type.Object({
      _id: Type.String(),
      subscriberId: Type.String(),
      firstName: OptionalText,
      lastName: OptionalText,
      email: OptionalText,
      phone: OptionalText,
    }),
  ),
  template: Type.Optional(
    Type.Object({
      _id: Type.String(),
      name: Type.String(),
      origin: Type.String(),
      triggers: Type.Array(
        Type.Object({
          type: Enum(['event']),
          identifier: Type.String(),
          variables: Type.Array(Type.Object({ name: Type.String() })),
        }),
      ),
    }),
  ),
  jobs: Type.Array(Job),
  payload: OptionalObject,
  overrides: OptionalObject,
  to: OptionalObject,
  tags: Type.Array(Type.String()),
  topics: Type.Optional(Type.Array(Type.Object({ _topicId: Type.String(), topicKey: Type.String() }))),
  severity: Severity,
  critical: Type.Boolean(),
  contextKeys: Type.Array(Type.String()),
  startedBy: Type.Optional(
    Type.Object(
      {
        ...{ notificationId: Type.String(), transactionId: Type.String(), workflowId: Type.String() },
        ...{ stepId: Type.String(), depth: Type.Integer() },
      },
      { description: 'The step of another run that started this one' },
    ),
  ),
  goal: Type.Optional(
    Type.Object(
      { name: Type.String(), event: NullableObject, createdAt: Type.String({ format: 'date-time' }) },
      { description: 'The goal that was met, which ended the run; `event` is null for a condition' },
    ),
  ),
  triggeredAt: Type.Optional(
    Type.Unsafe<Date>({ ...Timestamp, description: 'When the trigger was accepted; the run began at `createdAt`' }),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
type Activity = Static<typeof Activity>

/** A run with its subscriber and workflow, whose columns are null after their deletion. */
export interface RunRow extends Selectable<NotificationTable> {
  first_name: string | null
  last_name: string | null
  email: string | null
  phone: string | null
  is_subscriber_there: boolean
  workflow_name: string | null
  workflow_identifier: string | null
  workflow_origin: string | null
}

type JobRow = Selectable<JobTable> & { collected?: number; moved_end?: Date }
type SentMessage = Pick<
  MessageRow,
  | 'id'
  | 'notification_id'
  | 'job_id'
  | 'channel'
  | 'status'
  | 'provider_id'
  | 'error_id'
  | 'error_text'
  | 'seen'
  | 'read'
  | 'archived'
  | 'snoozed_until'
  | 'delivered_at'
> &
  Partial<
    Pick<
      MessageRow,
      | 'subject'
      | 'content'
      | 'avatar'
      | 'cta'
      | 'data'
      | 'email'
      | 'phone'
      | 'identifier'
      | 'integration_id'
      | 'created_at'
      | 'updated_at'
    >
  >

interface TriggerRow {
  id: string
  payload: Record<string, unknown> | null
  overrides: Record<string, unknown> | null
  recipients: Recipient[] | null
  created_at: Date
  started_by: StartedBy | null
}

interface VersionRow {
  workflow_id: string
  version: number
  steps: WorkflowStep[]
}

/** The largest payload shown in a list, since a page has fifty. */
const mostPayloadBytes = 64 * 1024
const hourMs = 3_600_000

interface Parts {
  jobs: Map<string, JobRow[]>
  messages: Map<string, SentMessage[]>
  triggers: Map<string, TriggerRow>
  steps: Map<string, WorkflowStep[]>
}

/**
 * Everything that belongs to these runs, in four statements however many they are, and one more where digests collect. Only a single record has payloads of any
 * size, the payload in each job, and the events that its digests collected.
 */
export async function showActivities(
  db: Db,
  runs: RunRow[],
  environment: Environment,
  brand: Brand,
  { isAlone, hidesAnswers }: Showing,
): Promise<Activity[]> {
  if (runs.length === 0) return []
  const [jobs, messages, triggers, versions] = await Promise.all([
    jobsOf(db, environment.id, runs, isAlone),
    messagesOf(db, environment.id, runs, isAlone),
    triggersOf(db, environment.id, runs, isAlone),
    versionsOf(db, environment.id, runs),
  ])
  const parts: Parts = {
    jobs: byRun(jobs),
    messages: byRun(messages),
    triggers: new Map(triggers.map((trigger) => [trigger.id, trigger])),
    steps: new Map(versions.map(({ workflow_id, version, steps }) => [`${workflow_id} ${version}`, steps])),
  }
  return runs.map((run) => toActivity(run, parts, environment, brand, { isAlone, hidesAnswers }))
}

interface Showing {
  isAlone: boolean
  /** Whether the bodies of requests that put a question stay hidden: they may have the link that answers in any encoding. */
  hidesAnswers: boolean
}

function byRun<Row extends { notification_id: string }>(rows: Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.notification_id)
    if (group) group.push(row)
    else groups.set(row.notification_id, [row])
  }
  return groups
}

async function jobsOf(db: Db, environmentId: string, runs: RunRow[], isAlone: boolean): Promise<JobRow[]> {
  const { rows } = await sql<JobRow>`
    SELECT environment_id, notification_id, position, id, step_row_id, step_id, type, status, reason, error, provider_id,
           details, digest, merged_into, schedule_extensions, due_at, asked, created_at, updated_at,
           CASE WHEN ${isAlone} AND type = 'digest' OR type = ANY(${[...extensionKinds]}::text[]) THEN output END AS output,
           CASE WHEN type = ANY(${[...extensionKinds]}::text[]) THEN delivery END AS delivery
    FROM jobs WHERE environment_id = ${environmentId} AND notification_id = ANY(${runs.map(({ id }) => id)}::text[])
    ORDER BY notification_id, coalesce((asked ->> 'of')::smallint, position), position`.execute(db)
  const collecting = rows.filter(({ type, status }) => type === 'digest' && status === 'delayed')
  if (isAlone) for (const row of collecting) row.collected = await collectedBy(db, row)
  const ends = await findMovedEnds(
    db,
    environmentId,
    collecting.flatMap(({ notification_id, step_row_id }) =>
      runs
        .filter(({ id }) => id === notification_id)
        .map(({ workflow_id, subscriber_row_id }) => ({
          workflow_id,
          step_row_id,
          subscriber_row_id,
          notification_id,
        })),
    ),
  )
  for (const end of ends)
    for (const row of collecting)
      if (row.notification_id === end.notification_id && row.step_row_id === end.step_row_id)
        row.moved_end = end.ends_at
  return rows
}

/** How many events a waiting digest has, with its own. They are not much older than it: earlier partitions are not read. */
async function collectedBy(db: Db, { environment_id, notification_id }: JobRow): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM jobs
    WHERE environment_id = ${environment_id} AND merged_into = ${notification_id} AND status = 'merged' AND digest IS NOT NULL
      AND notification_id >= ${firstIdAt(new Date(timeOfId(notification_id).getTime() - hourMs))}`.execute(db)
  return 1 + (rows[0]?.count ?? 0)
}

const saidOfMessages = sql`, subject, content, avatar, cta, data, email, phone, identifier, integration_id, created_at, updated_at`

/** Reads no partition older than the runs (minus clock skew), since messages are younger than their run. */
async function messagesOf(db: Db, environmentId: string, runs: RunRow[], isAlone: boolean): Promise<SentMessage[]> {
  const oldest = Math.min(...runs.map(({ id }) => timeOfId(id).getTime()))
  const { rows } = await sql<SentMessage>`
    SELECT id, notification_id, job_id, channel, status, provider_id, error_id, error_text,
           seen, read, archived, snoozed_until, delivered_at ${isAlone ? saidOfMessages : sql``}
    FROM messages
    WHERE environment_id = ${environmentId}
      AND transaction_id = ANY(${[...new Set(runs.map((run) => run.transaction_id))]}::text[])
      AND notification_id = ANY(${runs.map(({ id }) => id)}::text[]) AND id >= ${firstIdAt(new Date(oldest - hourMs))}
    ORDER BY id`.execute(db)
  return rows
}

async function triggersOf(db: Db, environmentId: string, runs: RunRow[], isAlone: boolean): Promise<TriggerRow[]> {
  const ids = [...new Set(runs.map(({ event_id }) => event_id))]
  const shown = (column: string) =>
    isAlone
      ? sql.ref(column)
      : sql`CASE WHEN octet_length(${sql.ref(column)}::text) <= ${mostPayloadBytes} THEN ${sql.ref(column)} END AS ${sql.ref(column)}`
  const { rows } = await sql<TriggerRow>`
    SELECT id, recipients, created_at, started_by, ${shown('payload')}, ${shown('overrides')} FROM events
    WHERE environment_id = ${environmentId} AND id = ANY(${ids}::text[])`.execute(db)
  return rows
}

/** The steps as they were when the runs began. */
async function versionsOf(db: Db, environmentId: string, runs: RunRow[]): Promise<VersionRow[]> {
  const { rows } = await sql<VersionRow>`
    SELECT workflow_id, version, definition -> 'steps' AS steps FROM workflow_versions
    WHERE environment_id = ${environmentId} AND (workflow_id, version) IN (
      SELECT * FROM unnest(${runs.map((run) => run.workflow_id)}::text[], ${runs.map((run) => run.workflow_version)}::int[]))`.execute(
    db,
  )
  return rows
}

function toActivity(run: RunRow, parts: Parts, environment: Environment, brand: Brand, showing: Showing): Activity {
  const jobs = parts.jobs.get(run.id) ?? []
  const messages = parts.messages.get(run.id) ?? []
  const trigger = parts.triggers.get(run.event_id)
  const steps = parts.steps.get(`${run.workflow_id} ${run.workflow_version}`) ?? []
  return {
    _id: run.id,
    _environmentId: run.environment_id,
    _organizationId: environment.organizationId,
    _subscriberId: run.subscriber_row_id,
    _templateId: run.workflow_id,
    workflowVersion: run.workflow_version,
    transactionId: run.transaction_id,
    status: run.status as Activity['status'],
    deliveryLifecycle: lifecycleOf(jobs, messages),
    channels: wireTypes(run.channels, brand.word),
    jobs: jobs
      .filter(({ type }) => type !== 'trigger')
      .map((job) => toJob(job, { steps, messages, trigger, brand, ...showing })),
    tags: run.tags,
    severity: run.severity as Activity['severity'],
    critical: run.critical,
    contextKeys: run.context_keys,
    createdAt: run.created_at,
    updatedAt: run.updated_at,
    to: recipientOf(run, trigger),
    ...given({
      _digestedNotificationId: run.digested_into,
      subscriber: subscriberOf(run),
      template: templateOf(run, brand),
      payload: trigger?.payload,
      overrides: overridesOf(trigger),
      triggeredAt: trigger?.created_at,
      startedBy: trigger?.started_by,
      goal: run.goals?.met,
      topics: run.topics?.map(({ _topicId, topicKey }) => ({ _topicId, topicKey })),
    }),
  }
}

function subscriberOf(run: RunRow): Activity['subscriber'] {
  if (!run.is_subscriber_there) return undefined
  const { first_name, last_name, email, phone } = run
  return {
    _id: run.subscriber_row_id,
    subscriberId: run.subscriber_id,
    ...given({ firstName: first_name, lastName: last_name, email, phone }),
  }
}

function templateOf(run: RunRow, brand: Brand): Activity['template'] {
  if (run.workflow_name === null) return undefined
  const identifier = run.workflow_identifier ?? ''
  return {
    _id: run.workflow_id,
    name: run.workflow_name,
    origin: brand.toWire(run.workflow_origin ?? ''),
    triggers: [{ type: 'event', identifier, variables: [] }],
  }
}

/** The recipient as the trigger named it, or its id if it was reached through a topic. */
function recipientOf({ subscriber_id: subscriberId }: RunRow, trigger: TriggerRow | undefined) {
  const named = trigger?.recipients?.find((one) => 'subscriberId' in one && one.subscriberId === subscriberId)
  return named ? { ...named } : { subscriberId }
}

/** Most triggers have none. */
const overridesOf = (trigger: TriggerRow | undefined) =>
  Object.keys(trigger?.overrides ?? {}).length > 0 ? trigger?.overrides : null

interface JobContext extends Showing {
  steps: WorkflowStep[]
  messages: SentMessage[]
  trigger: TriggerRow | undefined
  brand: Brand
}

const knownProviders: ReadonlySet<string> = new Set(providerIds)
/** Public clients know a closed set of ids here. */
const standInFor = (providerId: string): string => (providerId === 'web-push' ? 'push-webhook' : providerId)

function toJob(job: JobRow, context: JobContext): Static<typeof Job> {
  const { steps, messages, trigger, brand, isAlone } = context
  const hidesBodies = context.hidesAnswers && job.asked !== null
  const { step, before } = placeOf(steps, job.step_row_id) ?? {}
  const sent = messages.filter(({ job_id }) => job_id === job.id)
  const used = standInFor(job.provider_id ?? sent.at(-1)?.provider_id ?? 'svc')
  return {
    _id: job.id,
    type: wireType(job.type, brand.word),
    ...wireKind(job.type),
    ...outcomeOf(job),
    ...armsTo(steps, job.step_row_id),
    ...copyOf(job),
    status: job.status,
    providerId: brand.toWire(knownProviders.has(used) ? used : 'svc'),
    executionDetails: wholeLog(job.details, {
      createdAt: job.created_at,
      providerId: job.provider_id,
      output: job.output,
    }).map((detail, place) => toDetail(detail, { id: detailId(job.id, place), brand, hidesBodies })),
    messages: sent.map((message) => ({
      _id: message.id,
      channel: message.channel,
      status: message.status,
      ...given({
        providerId: message.provider_id === null ? null : brand.toWire(message.provider_id),
        errorId: message.error_id,
        errorText: message.error_text,
        recipient: message.email ?? message.phone,
        subject: message.subject,
        content: message.content,
        avatar: message.avatar,
        cta: message.cta,
        data: message.data,
        providerMessageId: message.identifier,
        integrationId: message.integration_id,
        createdAt: message.created_at,
        updatedAt: message.updated_at,
      }),
    })),
    step: {
      _id: job.step_row_id,
      _templateId: job.step_row_id,
      _parentId: before?._id ?? null,
      stepId: job.step_id,
      active: true,
      filters: (step?.filters ?? []) as OwnStepFilter[],
      ...given({
        name: step?.name,
        controlVariables: step?.controlValues && wireValues(step.type, step.controlValues, brand.word),
      }),
    },
    scheduleExtensionsCount: job.schedule_extensions,
    createdAt: job.created_at,
    updatedAt: job.updated_at,
    ...given({
      reason: job.reason,
      error: job.error,
      digest: job.digest ? { type: 'regular', ...job.digest, ...given({ events: job.output?.events }) } : null,
      payload: isAlone ? trigger?.payload : null,
      overrides: overridesOf(trigger),
      dueAt: waitsUntil(
        { ...(job as Pick<JobState, 'type' | 'status' | 'delivery'>), dueAt: job.due_at },
        job.moved_end,
      ),
      heldUntil: isHeld(job as Pick<JobState, 'type' | 'status'>) ? job.due_at : null,
      collectedEvents: job.collected,
    }),
  }
}

/** Lines are only appended, so their position can serve as an id. */
const detailId = (jobId: string, place: number) => jobId.slice(0, 8) + sha256(`${jobId} ${place}`).slice(0, 16)

/** Of a line that was cut off nothing is left. */
function withoutBodies(raw: string): string {
  try {
    return JSON.stringify(JSON.parse(raw), (name, value) => (name === 'exchange' ? bodiless(value) : value))
  } catch {
    return '***'
  }
}

const bodiless = ({ request, response }: Exchange): Exchange => ({
  request: { ...request, ...('body' in request ? { body: '***' } : {}) },
  ...(response ? { response: { ...response, ...('body' in response ? { body: '***' } : {}) } } : {}),
})

interface DetailContext {
  id: string
  brand: Brand
  hidesBodies: boolean
}

function toDetail(detail: StoredDetail, { id, brand, hidesBodies }: DetailContext): Static<typeof ExecutionDetail> {
  const providerId = detail.providerId === undefined ? undefined : standInFor(detail.providerId)
  const isKnown = providerId !== undefined && knownProviders.has(providerId)
  return {
    _id: id,
    createdAt: new Date(detail.at),
    status: detail.status,
    detail: detail.detail,
    isRetry: detail.isRetry ?? false,
    isTest: false,
    source: detail.source ?? 'Internal',
    ...given({
      providerId: isKnown ? brand.toWire(providerId) : null,
      raw: hidesBodies && detail.raw?.includes('"exchange"') ? withoutBodies(detail.raw) : detail.raw,
      webhookStatus: detail.source === 'Internal' ? undefined : detail.webhook?.status,
    }),
  }
}
