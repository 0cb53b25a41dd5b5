// Reads what the impact of a change is made from: the last triggers of the workflows, with those who had runs then, and the runs
// that wait. All in the caller's snapshot.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Tx } from '../../db/core/database.ts'
import { switchesOf, type WorkflowRow, type WorkflowStep } from '../../db/queries/workflows.ts'
import { allSteps } from '../../steps/contract/tree.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import type { TriggerRequest } from '../runs/trigger-request.ts'
import type { ChangedWorkflow, Impact, ReplayedTrigger, Waiting } from './impact.ts'
import { limits, type Members, type Scenario, type Snapshot } from './scenario.ts'
import { type Means, Reading } from './snapshot.ts'

/** Runs read at once, for all workflows together. */
const batchRuns = 20_000
const [fewestRuns, mostRuns] = [20, 2_000]
const mostBatches = 20
/** Of the payloads that are played. */
const mostBytes = 16 * 1024 * 1024

/** A workflow before and after the change. */
export interface Change {
  workflowId: string
  /** Undefined for a new one. */
  before: WorkflowRow | undefined
  /** Undefined if it is deleted. */
  after: WorkflowVersion | undefined
  token: string
}

interface Asked {
  environmentId: string
  changes: Change[]
  /** How many triggers to play. */
  triggers: number
  /** Besides the workflows, as they are after the change. */
  after?: Pick<Snapshot, 'layouts' | 'translations'>
}

export async function readImpact(
  tx: Tx,
  means: Means,
  { environmentId, changes, triggers, after }: Asked,
): Promise<Omit<Impact, 'brand' | 'hasExamples'>> {
  const stored = changes.flatMap(({ before }) => before ?? [])
  // The user's code is not called, and what it would say is not known.
  const shares = sharesOf(
    triggers,
    stored.filter(({ origin }) => origin !== 'external'),
  )
  const played = await readTriggers(tx, environmentId, shares)
  const waiting = await readWaiting(tx, environmentId, changes)
  const first = played[0]
  const scenario = first && scenarioOf(played)
  const snapshot = scenario && (await new Reading(tx, environmentId, scenario).all(means, undefined))
  const workflows = changes.map(({ workflowId, before, after: draft, token }): ChangedWorkflow => {
    const none: Waiting = { runs: 0, steps: [] }
    return {
      ...{ workflowId, version: before?.version ?? null, token },
      waiting: (before && waiting.get(before.id)) ?? none,
      // What is deleted is found by no trigger.
      after: draft
        ? { ...draft, brake: before?.brake ?? null }
        : before && { ...(before as WorkflowVersion), active: false, steps: [] },
    }
  })
  return {
    workflows,
    replay: scenario && snapshot && { scenario, snapshot, triggers: played, after: after ?? {} },
  }
}

/** As many for each as for the others. */
function sharesOf(triggers: number, workflows: WorkflowRow[]): Array<{ row: WorkflowRow; share: number }> {
  const each = Math.floor(triggers / Math.max(workflows.length, 1))
  const rest = triggers - each * workflows.length
  return workflows.map((row, index) => ({ row, share: each + (index < rest ? 1 : 0) })).filter(({ share }) => share > 0)
}

function scenarioOf(triggers: ReplayedTrigger[]): Scenario {
  return {
    ...{ startAt: triggers[0]?.at ?? 0, horizonMs: 0, seed: 0, workflowId: triggers[0]?.request.name ?? '' },
    ...{ version: undefined, subscribers: [], topics: [], integrations: null, answers: {}, hasDetails: false },
    needsAnswers: false,
    inputs: triggers.map(({ at, request }) => ({ at, type: 'trigger', request, isBroadcast: false })),
  }
}

// ---- Triggers

interface RunRow {
  workflow_id: string
  id: string
  event_id: string
  subscriber_id: string
  is_there: boolean
}

function byWorkflow<Row extends { workflow_id: string }>(rows: Row[]): Map<string, Row[]> {
  const found = new Map<string, Row[]>()
  for (const row of rows) {
    const own = found.get(row.workflow_id)
    if (own) own.push(row)
    else found.set(row.workflow_id, [row])
  }
  return found
}

interface Found {
  eventId: string
  runs: number
  subscriberIds: string[]
  gone: number
}

/** The runs of one workflow, from the newest on. */
class Walk {
  readonly share: number
  readonly workflowId: string
  readonly #found = new Map<string, Found>()
  cursor = 'g'
  isOver = false

  constructor(workflowId: string, share: number) {
    this.workflowId = workflowId
    this.share = share
  }

  take(rows: RunRow[], asked: number): void {
    this.isOver = rows.length < asked
    for (const { id, event_id: eventId, subscriber_id, is_there } of rows) {
      const found = this.#found.get(eventId) ?? { eventId, runs: 0, subscriberIds: [], gone: 0 }
      this.#found.set(eventId, found)
      found.runs += 1
      if (is_there) found.subscriberIds.push(subscriber_id)
      else found.gone += 1
      this.cursor = id
      if (found.runs <= limits.runs) continue
      // It cannot be played. Its runs are all newer than itself, so the walk goes on before it.
      found.subscriberIds = []
      if (eventId < this.cursor) this.cursor = eventId
      this.isOver = false
      return
    }
    this.isOver ||= this.whole().length >= this.share
  }

  /** Those all of whose runs have been seen, the newest first: a run is never older than its trigger, but for the second. */
  whole(): Found[] {
    const isWhole = ({ eventId }: Found) => this.isOver || eventId.slice(0, 8) > this.cursor.slice(0, 8)
    return [...this.#found.values()]
      .filter((found) => found.runs <= limits.runs && isWhole(found))
      .sort((a, b) => (a.eventId < b.eventId ? 1 : -1))
      .slice(0, this.share)
  }
}

interface EventRow {
  id: string
  transaction_id: string
  payload: Members
  overrides: Members
  actor: { subscriberId: string } | null
  tenant: { identifier: string } | null
  context: Members | null
  created_at: Date
}

/** The newest that fit, in the order they came. */
async function readTriggers(
  tx: Tx,
  environmentId: string,
  shares: Array<{ row: WorkflowRow; share: number }>,
): Promise<ReplayedTrigger[]> {
  const walks = shares.map(({ row, share }) => new Walk(row.id, share))
  const asked = Math.min(mostRuns, Math.max(fewestRuns, Math.ceil(batchRuns / Math.max(walks.length, 1))))
  for (let batch = 0; batch < mostBatches; batch += 1) {
    const open = walks.filter(({ isOver }) => !isOver)
    if (open.length === 0) break
    const { rows } = await sql<RunRow>`
      SELECT w.workflow_id, n.id, n.event_id, n.subscriber_id, s.id IS NOT NULL AS is_there
      FROM unnest(${open.map(({ workflowId }) => workflowId)}::text[], ${open.map(({ cursor }) => cursor)}::text[])
        AS w (workflow_id, cursor)
      CROSS JOIN LATERAL (
        SELECT n.id, n.event_id, n.subscriber_id, n.subscriber_row_id FROM notifications n
        WHERE n.environment_id = ${environmentId} AND n.workflow_id = w.workflow_id AND n.id < w.cursor COLLATE "C"
        ORDER BY n.id DESC LIMIT ${asked}) n
      LEFT JOIN subscribers s ON s.environment_id = ${environmentId} AND s.id = n.subscriber_row_id
      ORDER BY n.id DESC`.execute(tx)
    const of = byWorkflow(rows)
    for (const walk of open) walk.take(of.get(walk.workflowId) ?? [], asked)
  }
  const names = new Map(shares.map(({ row }) => [row.id, row.identifier]))
  const all = walks.flatMap((walk) =>
    walk.whole().map((found) => ({ ...found, name: names.get(walk.workflowId) ?? '' })),
  )
  const chosen = new Map(fitting(all).map((found) => [found.eventId, found]))
  const { rows } = await sql<EventRow>`
    SELECT id, transaction_id, payload, overrides, actor, tenant, context, created_at FROM (
      SELECT e.*, sum(octet_length(e.payload::text)) OVER (ORDER BY e.id DESC) AS bytes FROM events e
      WHERE e.environment_id = ${environmentId} AND e.id = ANY (${[...chosen.keys()]}::text[])) e
    WHERE bytes <= ${mostBytes}
    ORDER BY created_at, id`.execute(tx)
  const seen = new Set<string>()
  const triggers = rows.reverse().flatMap((event): ReplayedTrigger[] => {
    const found = chosen.get(event.id)
    // A transaction id is used again at most after days. One simulation takes it once.
    if (!found || seen.has(event.transaction_id)) return []
    seen.add(event.transaction_id)
    return [
      {
        at: event.created_at.getTime(),
        gone: found.gone,
        request: requestOf(environmentId, event, { name: found.name, subscriberIds: found.subscriberIds }),
      },
    ]
  })
  return triggers.reverse()
}

/** The newest that come to no more runs than a simulation may have. */
function fitting<Each extends Found>(all: Each[]): Each[] {
  let left: number = limits.runs
  return all
    .sort((a, b) => (a.eventId < b.eventId ? 1 : -1))
    .filter(({ subscriberIds }) => {
      left -= subscriberIds.length
      return left >= 0
    })
}

/** People, tenant and actor are as they are now, so only their names count. */
const requestOf = (
  environmentId: string,
  { transaction_id, payload, overrides, actor, tenant, context }: EventRow,
  { name, subscriberIds }: { name: string; subscriberIds: string[] },
): TriggerRequest => ({
  ...{ environmentId, name, payload, overrides, transactionId: transaction_id },
  // In the order their runs began.
  recipients: subscriberIds.toReversed().map((subscriberId) => ({ subscriberId })),
  actor: actor ? { subscriberId: actor.subscriberId } : undefined,
  tenant: tenant ? { identifier: tenant.identifier } : undefined,
  context: context ?? undefined,
})

// ---- Waiting runs

interface WaitingRow {
  workflow_id: string
  workflow_version: number
  /** Null in the row about the whole workflow. */
  step_row_id: string | null
  step_id: string
  type: string
  runs: number
  step: WorkflowStep | null
}

/** By the workflow's internal id. */
export async function readWaiting(
  tx: Tx,
  environmentId: string,
  changes: Array<Pick<Change, 'before'> & { after: { steps: WorkflowStep[] } | undefined }>,
): Promise<Map<string, Waiting>> {
  const ids = changes.flatMap(({ before }) => before?.id ?? [])
  const { rows } = await sql<WaitingRow>`
    SELECT w.*, (
      SELECT jsonb_path_query_first(
        v.definition, '$.**.steps[*] ? (@._id == $id)', jsonb_build_object('id', w.step_row_id))
      FROM workflow_versions v
      WHERE v.environment_id = ${environmentId} AND v.workflow_id = w.workflow_id AND v.version = w.workflow_version
    ) AS step
    FROM (
      SELECT n.workflow_id, n.workflow_version, j.step_row_id, j.step_id, j.type,
        count(DISTINCT n.id)::int AS runs
      FROM notifications n
      JOIN jobs j ON j.environment_id = n.environment_id AND j.notification_id = n.id
      WHERE n.environment_id = ${environmentId} AND n.status = 'processing' AND n.workflow_id = ANY (${ids}::text[])
        AND (j.status = 'delayed' OR (j.status = 'queued' AND j.due_at IS NOT NULL))
      GROUP BY GROUPING SETS (
        (n.workflow_id, n.workflow_version, j.step_row_id, j.step_id, j.type), (n.workflow_id))) w
    ORDER BY w.step_id, w.workflow_version`.execute(tx)
  const of = byWorkflow(rows)
  return new Map(
    changes.flatMap(({ before, after }) => {
      const own = before && of.get(before.id)
      return before && own ? [[before.id, waitingOf(own, allSteps(after?.steps ?? []))]] : []
    }),
  )
}

function waitingOf(rows: WaitingRow[], after: WorkflowStep[]): Waiting {
  const steps = new Map<string, Waiting['steps'][number]>()
  let all = 0
  for (const { step_row_id, step_id: stepId, type, runs, step } of rows) {
    if (step_row_id === null) {
      // A run with several steps that wait is one.
      all = runs
      continue
    }
    const left = after.find(({ _id }) => _id === step_row_id)
    const change = left === undefined ? 'removed' : step && isSame(step, left) ? 'none' : 'changed'
    const key = [stepId, type, change].join('\n')
    steps.set(key, { stepId, type, runs: (steps.get(key)?.runs ?? 0) + runs, change })
  }
  return { runs: all, steps: [...steps.values()] }
}

/** Their names do not matter. */
const isSame = (a: WorkflowStep, b: WorkflowStep): boolean =>
  a.type === b.type &&
  isDeepStrictEqual(a.controlValues ?? {}, b.controlValues ?? {}) &&
  isDeepStrictEqual(switchesOf(a), switchesOf(b))
