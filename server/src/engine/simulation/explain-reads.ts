// Reads what an explanation needs, in the caller's snapshot: of "would she get it?" the windows that are really open, of "why did
// she not?" the record.
import { CompiledQuery, type Selectable, sql } from 'kysely'
import type { Tx } from '../../db/core/database.ts'
import { wholeLog } from '../../db/core/step-log.ts'
import type { NotificationTable } from '../../db/core/tables.ts'
import { circuitsOf } from '../../db/queries/circuits.ts'
import { findMovedEnds } from '../../db/queries/digests.ts'
import { isOfTransaction } from '../../db/queries/transactions.ts'
import { placesOf } from '../../steps/contract/tree.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import { findMerged } from '../core/window-statements.ts'
import { contextKeysOf, type EventRow } from '../runs/compose.ts'
import { type JobState, waitsUntil } from '../runs/run-state.ts'
import { mostEventBytes, mostEvents } from '../runs/windows.ts'
import type { PastRecord } from './explain-past.ts'
import type { Owner } from './remedies.ts'
import type { CollectingRun } from './runs.ts'
import type { Members, Scenario, Snapshot } from './scenario.ts'
import type { Situation } from './situation.ts'
import { type Means, Reading } from './snapshot.ts'
import { noWindows } from './windows.ts'

/** Groups of one person at one workflow. */
const mostWindows = 1_000

interface Asked {
  subscriberId: string
  context: Members | undefined
  tenant: string | undefined
}

export async function readSituation(
  tx: Tx,
  means: Means,
  environmentId: string,
  scenario: Scenario,
  asked: Asked,
): Promise<{ situation: Situation; owner: Owner }> {
  const reading = new Reading(tx, environmentId, scenario)
  const snapshot = await reading.all(means, undefined)
  const { workflow } = snapshot
  const subscriber = snapshot.subscribers.find((row) => row.subscriber_id === asked.subscriberId)
  const rows = { environmentId, workflowId: workflow.id, subscriberRowId: subscriber?.id ?? '' }
  const situation: Situation = {
    ...{ scenario, snapshot },
    beginning: await readWindows(tx, reading, workflow, {
      ...{ ...rows, at: new Date(scenario.startAt) },
      hasCaps: snapshot.environment.guards.caps.length > 0,
    }),
    circuits: await circuitsOf(tx, environmentId).where('host', '=', '').execute(),
    spare: reading.integrations.filter(({ active }) => !active),
    changed: await readChanges(tx, snapshot, { ...rows, ...asked }),
  }
  const { id, identifier, name } = workflow
  return { situation, owner: { ...asked, subscriber, workflow: { id, identifier, name } } }
}

interface Rows {
  environmentId: string
  workflowId: string
  subscriberRowId: string
}

async function readWindows(
  tx: Tx,
  reading: Reading,
  workflow: WorkflowVersion,
  { environmentId, workflowId, subscriberRowId, at, hasCaps }: Rows & { at: Date; hasCaps: boolean },
): Promise<Situation['beginning']> {
  const of = <Row extends { step_row_id: string; value: string }>({ step_row_id: stepRowId, value }: Row) => ({
    ...{ environmentId, workflowId, stepRowId, subscriberRowId, value },
  })
  const places = hasCaps ? await readPlaces(tx, { environmentId, subscriberRowId }) : []
  const types = new Set(placesOf(workflow.steps).map(({ step }) => step.type))
  if (!types.has('digest') && !types.has('throttle')) return { collecting: [], open: { ...noWindows(), places } }
  const digests = await tx
    .selectFrom('digests')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('workflow_id', '=', workflowId)
    .where('subscriber_row_id', '=', subscriberRowId)
    .limit(mostWindows)
    .execute()
  const throttles = await tx
    .selectFrom('throttles')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('workflow_id', '=', workflowId)
    .where('subscriber_row_id', '=', subscriberRowId)
    .where('ends_at', '>', at)
    .limit(mostWindows)
    .execute()
  const ids = digests.flatMap(({ notification_id }) => notification_id ?? [])
  const collecting = ids.length === 0 ? [] : await readRuns(tx, reading, workflow, { environmentId, ids })
  // A digest that will have been delivered by then collects no more.
  const isOpen = (id: string | null) => {
    const { bounds } = digests.find(({ notification_id }) => notification_id === id) ?? {}
    const endOf = (dueAt: Date | null) => Math.max(dueAt?.getTime() ?? 0, bounds?.endsAt ?? 0)
    return collecting.some((run) => run.id === id && run.jobs.some(({ dueAt }) => dueAt && endOf(dueAt) > at.getTime()))
  }
  return {
    collecting: collecting.filter(({ id }) => isOpen(id)),
    open: {
      digests: digests.map((row) => ({
        group: of(row),
        state: {
          notification_id: isOpen(row.notification_id) ? row.notification_id : null,
          ...{ seen_at: row.seen_at, forget_at: row.forget_at, bounds: row.bounds },
        },
      })),
      throttles: throttles.map((row) => ({
        group: of(row),
        state: { passed: row.passed, started_at: row.started_at, ends_at: row.ends_at },
      })),
      merged: ids.length === 0 ? [] : await readMerged(tx, environmentId, ids),
      places,
    },
  }
}

/** When the person's places in caps were taken. */
async function readPlaces(
  tx: Tx,
  { environmentId, subscriberRowId }: Pick<Rows, 'environmentId' | 'subscriberRowId'>,
): Promise<Situation['beginning']['open']['places']> {
  const rows = await tx
    .selectFrom('cap_counts')
    .select(['cap_id', 'places'])
    .where('environment_id', '=', environmentId)
    .where('subscriber_row_id', '=', subscriberRowId)
    .execute()
  return rows.map(({ cap_id: capId, places: times }) => ({ subscriberRowId, capId, times }))
}

/** Runs that collect, with the versions of their workflow. */
async function readRuns(
  tx: Tx,
  reading: Reading,
  workflow: WorkflowVersion,
  { environmentId, ids }: { environmentId: string; ids: string[] },
): Promise<CollectingRun[]> {
  const runs = await tx
    .selectFrom('notifications')
    .select(['id', 'event_id', 'workflow_version', 'subscriber_id'])
    .where('environment_id', '=', environmentId)
    .where('id', 'in', ids)
    .execute()
  const jobs = await tx
    .selectFrom('jobs')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('notification_id', 'in', ids)
    .execute()
  const events = await tx
    .selectFrom('events')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', 'in', ['', ...runs.map(({ event_id }) => event_id)])
    .execute()
  const versions = new Map<number, WorkflowVersion>()
  for (const version of new Set(runs.map((run) => run.workflow_version)))
    versions.set(version, await reading.version(workflow, version))
  return runs.flatMap(({ id, event_id, workflow_version, subscriber_id: subscriberId }) => {
    const event = events.find((each) => each.id === event_id)
    const definition = versions.get(workflow_version)
    if (!event || !definition) return []
    return [
      {
        ...{ id, definition, event: { ...(event as unknown as EventRow), recipients: [{ subscriberId }] } },
        jobs: jobs
          .filter(({ notification_id }) => notification_id === id)
          .map((job) => ({
            ...{ position: job.position, id: job.id, status: job.status as JobState['status'], error: job.error },
            ...{ reason: job.reason as JobState['reason'], output: job.output, digest: job.digest, dueAt: job.due_at },
            ...{ delivery: job.delivery, attempts: job.attempts, createdAt: job.created_at },
            scheduleExtensions: job.schedule_extensions,
          })),
      },
    ]
  })
}

async function readMerged(tx: Tx, environmentId: string, ids: string[]) {
  const { rows } = await tx.executeQuery(
    CompiledQuery.raw(findMerged.text, [ids.map(() => environmentId), ids, mostEvents, mostEventBytes, []]),
  )
  type Merged = { merged_into: string; id: string; created_at: Date; payload: Members }
  return (rows as Merged[]).map(({ merged_into: into, id, created_at, payload }) => ({ into, id, created_at, payload }))
}

/** When each layer of preferences was last changed. */
async function readChanges(
  tx: Tx,
  { workflow }: Snapshot,
  { environmentId, workflowId, subscriberRowId, context, tenant }: Rows & Asked,
): Promise<Situation['changed']> {
  const own = await tx
    .selectFrom('subscriber_preferences')
    .select(['workflow_id', 'updated_at'])
    .where('environment_id', '=', environmentId)
    .where('subscriber_row_id', '=', subscriberRowId)
    .where('context_keys', '=', sql<string[]>`${contextKeysOf(context ?? null)}::text[]`)
    .where((where) => where.or([where('workflow_id', 'is', null), where('workflow_id', '=', workflowId)]))
    .execute()
  const override =
    tenant === undefined
      ? undefined
      : await tx
          .selectFrom('workflow_overrides as o')
          .innerJoin('tenants as t', (join) =>
            join.onRef('t.environment_id', '=', 'o.environment_id').onRef('t.id', '=', 'o.tenant_id'),
          )
          .select('o.updated_at')
          .where('o.environment_id', '=', environmentId)
          .where('o.workflow_id', '=', workflowId)
          .where('t.identifier', '=', tenant)
          .executeTakeFirst()
  const at = (id: string | null) => own.find(({ workflow_id }) => workflow_id === id)?.updated_at ?? null
  return {
    workflow: (workflow as { updated_at?: Date }).updated_at ?? null,
    tenant: override?.updated_at ?? null,
    ...{ subscriberGlobal: at(null), subscriberWorkflow: at(workflowId) },
  }
}

interface TransactionRow {
  id: string
  workflow_id: string
  workflow: string | null
  started_at: Date | null
  created_at: Date
  is_walking: boolean
  payload: Members
  context: Members | null
  tenant: { identifier?: unknown } | null
}

/** What was recorded of a trigger about one person; undefined if there is no such trigger. */
export async function readPast(
  tx: Tx,
  environmentId: string,
  { transactionId, subscriberId }: { transactionId: string; subscriberId: string },
): Promise<PastRecord | undefined> {
  const { rows: events } = await sql<TransactionRow>`
    SELECT e.id, e.workflow_id, w.identifier AS workflow, e.started_at, e.created_at, e.payload, e.context, e.tenant,
      EXISTS (SELECT FROM walks k WHERE k.environment_id = e.environment_id AND k.event_id = e.id) AS is_walking
    FROM (SELECT ${environmentId}::text AS environment_id, ${transactionId}::text AS transaction_id) asked
    JOIN events e ON ${sql.raw(isOfTransaction('asked.environment_id', 'asked.transaction_id'))}
    LEFT JOIN workflows w ON w.environment_id = e.environment_id AND w.id = e.workflow_id`.execute(tx)
  const [event] = events
  if (!event) return undefined
  const run = await tx
    .selectFrom('notifications')
    .select(['id', 'workflow_version', 'subscriber_row_id', 'created_at'])
    .where('environment_id', '=', environmentId)
    .where('transaction_id', '=', transactionId)
    // An id that was used again after days stands for the later trigger.
    .where('event_id', '=', event.id)
    .where('subscriber_id', '=', subscriberId)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  // Somebody else's run may have asked them.
  const asking = run ? undefined : await readAsking(tx, environmentId, { transactionId, subscriberId })
  const shown = run ?? asking
  const { identifier } = event.tenant ?? {}
  return {
    ...{ transactionId, subscriberId, workflowId: event.workflow ?? event.workflow_id, at: event.created_at },
    isStored: event.workflow !== null,
    ...{ payload: event.payload, context: event.context ?? undefined },
    tenant: identifier === undefined ? undefined : String(identifier),
    isUnderWay: event.started_at === null || event.is_walking,
    run: shown && {
      ...(await readRun(tx, environmentId, event.workflow_id, shown)),
      isOfOther: asking !== undefined,
    },
    passedOver: shown ? undefined : await readPassedOver(tx, environmentId, event.id, subscriberId),
  }
}

async function readAsking(
  tx: Tx,
  environmentId: string,
  { transactionId, subscriberId }: { transactionId: string; subscriberId: string },
): Promise<StoredRun | undefined> {
  const { rows } = await sql<StoredRun>`
    SELECT n.id, n.workflow_version, n.subscriber_row_id FROM question_people p
    JOIN questions q ON q.environment_id = p.environment_id AND q.id = p.question_id AND q.transaction_id = ${transactionId}
    JOIN notifications n ON n.environment_id = q.environment_id AND n.id = q.notification_id
    WHERE p.environment_id = ${environmentId} AND p.subscriber_id = ${subscriberId}
    ORDER BY q.id DESC LIMIT 1`.execute(tx)
  return rows[0]
}

type StoredRun = Pick<Selectable<NotificationTable>, 'id' | 'workflow_version' | 'subscriber_row_id'>

async function readRun(
  tx: Tx,
  environmentId: string,
  workflowId: string,
  { id, workflow_version: version, subscriber_row_id }: StoredRun,
): Promise<Omit<NonNullable<PastRecord['run']>, 'isOfOther'>> {
  const jobs = await tx
    .selectFrom('jobs')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('notification_id', '=', id)
    .orderBy('position')
    .execute()
  const stored = await tx
    .selectFrom('workflow_versions')
    .select('definition')
    .where('environment_id', '=', environmentId)
    .where('workflow_id', '=', workflowId)
    .where('version', '=', version)
    .executeTakeFirst()
  const { steps = [] } = (stored?.definition ?? {}) as unknown as Partial<WorkflowVersion>
  const collecting = jobs.filter(({ type, status }) => type === 'digest' && status === 'delayed')
  const place = { workflow_id: workflowId, subscriber_row_id, notification_id: id }
  const ends = await findMovedEnds(
    tx,
    environmentId,
    collecting.map(({ step_row_id }) => ({ ...place, step_row_id })),
  )
  const untilOf = (job: (typeof jobs)[number]) =>
    waitsUntil(
      { type: job.type, status: job.status as JobState['status'], dueAt: job.due_at, delivery: job.delivery },
      ends.find(({ step_row_id }) => step_row_id === job.step_row_id)?.ends_at,
    )
  return {
    ...{ id, version, steps },
    jobs: jobs.map((job) => ({
      ...{ stepId: job.step_id, stepRowId: job.step_row_id, type: job.type, status: job.status as JobState['status'] },
      ...{ reason: job.reason as JobState['reason'], dueAt: untilOf(job), createdAt: job.created_at },
      ...{ updatedAt: job.updated_at, output: job.output, digest: job.digest, delivery: job.delivery },
      ...{ position: job.position, asked: job.asked },
      details: wholeLog(job.details, { createdAt: job.created_at, providerId: job.provider_id, output: job.output }),
    })),
  }
}

async function readPassedOver(tx: Tx, environmentId: string, eventId: string, subscriberId: string) {
  const { rows } = await sql<{ reason: string; detail: string | null }>`
    SELECT reason, detail FROM passed_over
    WHERE environment_id = ${environmentId} AND event_id = ${eventId}
      AND (${subscriberId} = ANY (subscriber_ids) OR named = ${subscriberId} 
        OR reason = 'canceled_by_user' AND named IS NULL)
    ORDER BY reason = 'canceled_by_user', id LIMIT 1`.execute(tx)
  return rows[0]
}
