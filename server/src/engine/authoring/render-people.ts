// For whom a change is rendered: named subscribers, and the recipients of the last triggers, with what their runs read then.
import { sql } from 'kysely'
import type { Tx } from '../../db/core/database.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'

type Members = Record<string, unknown>

export interface RenderAsked {
  subscriberIds: string[]
  /** How many of the last triggers. */
  triggers: number
}

/** Somebody for whom the messages of a workflow are rendered. */
export interface Viewer {
  /** The workflow's internal id. */
  workflowRowId: string
  /** Undefined for the person of previews, where there is nobody else. */
  subscriber: SubscriberRow | undefined
  /** The run whose data it is; undefined for an example. */
  run: PastRun | undefined
}

export interface PastRun {
  transactionId: string
  payload: Members
  /** By type: `{id, data}`. */
  context: Members
  tenant: Members | undefined
  actor: SubscriberRow | undefined
  /** What the steps of that run gave, by `stepId`. */
  results: Members
}

interface RunRow {
  workflow_id: string
  id: string
  event_id: string
  subscriber_row_id: string
  digested_into: string | null
}

interface EventRow {
  id: string
  transaction_id: string
  payload: Members
  context: Members | null
  tenant: Members | null
  actor: Members | null
}

interface Chosen extends Pick<Viewer, 'workflowRowId' | 'subscriber'> {
  row: RunRow | undefined
}

/** Of one person, so many runs are searched for the last one of a workflow. */
const mostSearched = 1_000

/**
 * In the order of the given workflows: first the named subscribers, in their order, then recipients, newest first. Nobody twice
 * with the same trigger. At most `most`, and one more if there are more.
 */
export async function readViewers(
  tx: Tx,
  environmentId: string,
  workflowRowIds: string[],
  { asked, subscribers, most }: { asked: RenderAsked; subscribers: SubscriberRow[]; most: number },
): Promise<Viewer[]> {
  const ids = workflowRowIds.slice(0, most + 1)
  const own = await lastRunsOf(tx, environmentId, ids, subscribers)
  const recent = await lastRuns(tx, environmentId, ids, { asked, most })
  const people = new Map(subscribers.map((row) => [row.id, row]))
  const others = recent.flatMap(({ subscriber_row_id: id, isAsked }) => (isAsked && !people.has(id) ? id : []))
  for (const row of await subscribersOf(tx, environmentId, others)) people.set(row.id, row)
  const chosen = ids.flatMap((id): Chosen[] => {
    const last = recent.find(({ workflow_id }) => workflow_id === id)
    const named = subscribers.map((subscriber): Chosen & { subscriber: SubscriberRow } => {
      const run = own.find((each) => each.workflow_id === id && each.subscriber_row_id === subscriber.id) ?? last
      return { workflowRowId: id, subscriber, row: run }
    })
    const shown = new Set(named.map(({ subscriber, row }) => `${subscriber.id} ${row?.event_id}`))
    const reached = recent
      .filter((run) => run.workflow_id === id && run.isAsked && !shown.has(`${run.subscriber_row_id} ${run.event_id}`))
      .flatMap((row) => {
        const subscriber = people.get(row.subscriber_row_id)
        return subscriber ? [{ workflowRowId: id, subscriber, row }] : []
      })
    const all = [...named, ...reached]
    return all.length > 0 ? all : [{ workflowRowId: id, subscriber: undefined, row: last }]
  })
  const kept = chosen.slice(0, most + 1)
  const runs = await readRuns(
    tx,
    environmentId,
    kept.flatMap(({ row }) => row ?? []),
  )
  return kept.map(({ workflowRowId, subscriber, row }) => ({
    workflowRowId,
    subscriber,
    run: row && runs.get(row.id),
  }))
}

/** Of each person and workflow the last run. */
async function lastRunsOf(
  tx: Tx,
  environmentId: string,
  workflowIds: string[],
  subscribers: SubscriberRow[],
): Promise<RunRow[]> {
  if (subscribers.length === 0 || workflowIds.length === 0) return []
  const { rows } = await sql<RunRow>`
    SELECT DISTINCT ON (n.workflow_id, n.subscriber_row_id)
           n.workflow_id, n.id, n.event_id, n.subscriber_row_id, n.digested_into
    FROM unnest(${subscribers.map(({ id }) => id)}::text[]) AS s (id)
    CROSS JOIN LATERAL (
      SELECT * FROM notifications n
      WHERE n.environment_id = ${environmentId} AND n.subscriber_row_id = s.id
      ORDER BY n.id DESC LIMIT ${mostSearched}) n
    WHERE n.workflow_id = ANY (${workflowIds}::text[])
    ORDER BY n.workflow_id, n.subscriber_row_id, n.id DESC`.execute(tx)
  return rows
}

/** The newest runs of each workflow, at least one; `isAsked` if they are of one of its last triggers. */
async function lastRuns(
  tx: Tx,
  environmentId: string,
  workflowIds: string[],
  { asked: { triggers }, most }: { asked: RenderAsked; most: number },
): Promise<Array<RunRow & { isAsked: boolean }>> {
  if (workflowIds.length === 0) return []
  const { rows } = await sql<RunRow>`
    SELECT n.* FROM unnest(${workflowIds}::text[]) AS w (id)
    CROSS JOIN LATERAL (
      SELECT n.workflow_id, n.id, n.event_id, n.subscriber_row_id, n.digested_into FROM notifications n
      WHERE n.environment_id = ${environmentId} AND n.workflow_id = w.id
      ORDER BY n.id DESC LIMIT ${triggers === 0 ? 1 : most + 1}) n
    ORDER BY n.id DESC`.execute(tx)
  const shares = sharesOf(triggers, [...new Set(rows.map(({ workflow_id }) => workflow_id))])
  const events = new Map<string, Set<string>>()
  return rows.map((row) => {
    const known = events.get(row.workflow_id) ?? new Set()
    events.set(row.workflow_id, known)
    if (known.size < (shares.get(row.workflow_id) ?? 0)) known.add(row.event_id)
    return { ...row, isAsked: known.has(row.event_id) }
  })
}

/** As many for each workflow that has runs as for the others. */
function sharesOf(triggers: number, workflowIds: string[]): Map<string, number> {
  const each = Math.floor(triggers / Math.max(workflowIds.length, 1))
  const rest = triggers - each * workflowIds.length
  return new Map(workflowIds.map((id, index) => [id, each + (index < rest ? 1 : 0)]))
}

const subscribersOf = async (tx: Tx, environmentId: string, ids: string[]): Promise<SubscriberRow[]> =>
  ids.length === 0
    ? []
    : tx
        .selectFrom('subscribers')
        .selectAll()
        .where('environment_id', '=', environmentId)
        .where('id', '=', sql<string>`ANY (${[...new Set(ids)]}::text[])`)
        .execute()

/** By the id of the run. A run whose trigger is no longer kept is left out. */
async function readRuns(tx: Tx, environmentId: string, runs: RunRow[]): Promise<Map<string, PastRun>> {
  if (runs.length === 0) return new Map()
  const { rows: events } = await sql<EventRow>`
    SELECT id, transaction_id, payload, context, tenant, actor FROM events
    WHERE environment_id = ${environmentId} AND id = ANY (${runs.map(({ event_id }) => event_id)}::text[])`.execute(tx)
  const { rows: outputs } = await sql<{ notification_id: string; step_id: string; output: Members }>`
    SELECT notification_id, step_id, output FROM jobs
    WHERE environment_id = ${environmentId} AND output IS NOT NULL AND asked IS NULL
      AND notification_id = ANY (${runs.flatMap(({ id, digested_into: into }) => (into ? [id, into] : id))}::text[])
    ORDER BY notification_id, position`.execute(tx)
  const references = await readReferences(tx, environmentId, events)
  const resultsOf = (runId: string | null) =>
    Object.fromEntries(
      outputs.filter((row) => row.notification_id === runId).map(({ step_id, output }) => [step_id, output]),
    )
  return new Map(
    runs.flatMap(({ id, event_id, digested_into: into }): Array<[string, PastRun]> => {
      const event = events.find((each) => each.id === event_id)
      if (!event) return []
      // A run that another one's digest took goes on there.
      const results = { ...resultsOf(into), ...resultsOf(id) }
      const { transaction_id: transactionId, payload } = event
      return [[id, { transactionId, payload, results, ...references(event) }]]
    }),
  )
}

const contextIdOf = (value: unknown) => String((value as Members | null)?.id ?? value)

/** The contexts, tenants and actors that these triggers name, as they are now. */
async function readReferences(
  tx: Tx,
  environmentId: string,
  events: EventRow[],
): Promise<(event: EventRow) => Pick<PastRun, 'context' | 'tenant' | 'actor'>> {
  const named = events.flatMap(({ context }) => Object.entries(context ?? {}))
  const identifiers = events.flatMap(({ tenant }) => (tenant ? String(tenant.identifier) : []))
  const actors = events.flatMap(({ actor }) => (actor ? String(actor.subscriberId) : []))
  const contexts =
    named.length === 0
      ? []
      : await tx
          .selectFrom('contexts')
          .select(['type', 'context_id', 'data'])
          .where('environment_id', '=', environmentId)
          .where('type', 'in', [...new Set(named.map(([type]) => type))])
          .where('context_id', 'in', [...new Set(named.map(([, value]) => contextIdOf(value)))])
          .execute()
  const tenants =
    identifiers.length === 0
      ? []
      : await tx
          .selectFrom('tenants')
          .select(['identifier', 'name', 'data'])
          .where('environment_id', '=', environmentId)
          .where('identifier', 'in', [...new Set(identifiers)])
          .execute()
  const people =
    actors.length === 0
      ? []
      : await tx
          .selectFrom('subscribers')
          .selectAll()
          .where('environment_id', '=', environmentId)
          .where('subscriber_id', 'in', [...new Set(actors)])
          .execute()
  return ({ context, tenant, actor }) => ({
    context: Object.fromEntries(
      Object.entries(context ?? {}).map(([type, value]) => {
        const id = contextIdOf(value)
        const row = contexts.find((each) => each.type === type && each.context_id === id)
        return [type, { id, data: row?.data ?? {} }]
      }),
    ),
    tenant: tenant ? tenants.find(({ identifier }) => identifier === tenant.identifier) : undefined,
    actor: actor ? people.find(({ subscriber_id }) => subscriber_id === actor.subscriberId) : undefined,
  })
}
