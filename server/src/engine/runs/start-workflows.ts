// Triggers that steps of runs make, in the transaction that ends those steps: all of it is stored, or nothing.
import { realOf } from '../../db/core/held-clock.ts'
import { newId } from '../../db/core/ids.ts'
import { storableJson } from '../../db/core/storable.ts'
import { rowsGiven, statement, type Transaction } from '../../db/core/transaction.ts'
import type { StartWorkflow } from '../../steps/contract/need.ts'
import type { Bell } from '../core/bell.ts'
import { priorities } from '../core/fair-share.ts'
import { beforeWaits } from '../core/held-clocks.ts'
import { addHeldWork } from '../core/held-statements.ts'
import type { Memory, WorkflowVersion } from '../core/memory.ts'
import { judgeStart, type Start, type TenantChoice } from './judge.ts'
import { tellHeldWork } from './store.ts'

export interface StartingParts {
  memory: Memory
  bell: Bell
  /** How long a transaction id is remembered. */
  dedupDays: number
}

const dayMs = 86_400_000

/** Accepts triggers with the jobs that start them. A used transaction id adds nothing. Where the clock is held, no job is queued. */
const acceptStarted = statement(
  'accept_started_triggers',
  `WITH given AS MATERIALIZED (
     SELECT * FROM json_to_recordset($1::json) AS r (environment_id text, id text, transaction_id text, workflow_id text,
       workflow_version integer, recipients json, payload json, overrides json, actor json, tenant json, context json, created_at timestamptz,
       trace text, cancellation_key text, started_by json, is_held boolean)
   ), named AS (
     INSERT INTO transactions (environment_id, transaction_id, event_id, expires_at)
     SELECT environment_id, transaction_id, id, $2::timestamptz FROM given ORDER BY environment_id, transaction_id
     ON CONFLICT DO NOTHING RETURNING event_id
   ), accepted AS (
     INSERT INTO events (environment_id, id, transaction_id, workflow_id, workflow_version, recipients, payload, overrides,
       actor, tenant, context, created_at, started_at, trace, cancellation_key, started_by)
     SELECT environment_id, id, transaction_id, workflow_id, workflow_version, recipients, payload, overrides, actor, tenant,
       context, created_at, NULL, trace, cancellation_key, started_by
     FROM given WHERE id IN (SELECT event_id FROM named)
     RETURNING id
   ), queued AS (
     SELECT queue_job('start_runs', json_build_object('events', json_build_array(json_build_array(environment_id, id))),
       ${priorities.single}::smallint)
     FROM given WHERE NOT is_held AND id IN (SELECT event_id FROM named)
   )
   SELECT ARRAY(SELECT id FROM accepted) AS accepted, (SELECT count(*) FROM queued)::int AS queued`,
)

const findTenantChoices = statement(
  'find_tenant_choices',
  `SELECT g.environment_id, g.identifier, g.workflow_id, o.active
   FROM ${rowsGiven('text', 'text', 'text')} AS g (environment_id, identifier, workflow_id)
   JOIN tenants t ON t.environment_id = g.environment_id AND t.identifier = g.identifier
   LEFT JOIN workflow_overrides o
     ON o.environment_id = t.environment_id AND o.tenant_id = t.id AND o.workflow_id = g.workflow_id`,
)

/** A trigger that was accepted where the clock is held. */
export interface HeldStart {
  environment_id: string
  id: string
}

export interface Started {
  /** What each would have been answered. */
  statuses: Map<StartWorkflow, string>
  /** They are started in their turn, once that is said (`queueHeldStarts`). */
  held: Map<StartWorkflow, HeldStart>
}

export async function startWorkflows(
  transaction: Transaction,
  asked: Array<{ need: StartWorkflow; trace: string | null }>,
  { memory, bell, dedupDays }: StartingParts,
  now: Date,
): Promise<Started> {
  const statuses = new Map<StartWorkflow, string>()
  const found: Start[] = []
  for (const { need, trace } of asked) {
    const environment = await memory.recall(need.environmentId)
    const workflow = await environment?.workflow(need.workflowId)
    const isLive = need.isLive && (environment?.shadow?.live.has(need.workflowId) ?? false)
    if (workflow) found.push({ need, workflow: workflow as WorkflowVersion, trace, isLive })
    else statuses.set(need, 'workflow_not_found')
  }
  const choiceOf = await tenantChoices(transaction, found)
  const rows = found.flatMap((each) => {
    const judged = judgeStart(each, choiceOf(each), { now, newId })
    if (typeof judged !== 'string') return [{ need: each.need, row: judged }]
    statuses.set(each.need, judged)
    return []
  })
  if (rows.length === 0) return { statuses, held: new Map() }
  const expiresAt = new Date(realOf(now).getTime() + dedupDays * dayMs)
  const [row] = await transaction.run<{ accepted: string[]; queued: number }>(acceptStarted, [
    storableJson(rows.map(({ need, row }) => ({ ...row, is_held: need.isHeld }))),
    expiresAt,
  ])
  for (const { need } of rows) statuses.set(need, 'processed')
  const accepted = new Set(row?.accepted)
  if (row && row.queued > 0) transaction.afterCommit(() => bell.ring('start_runs', row.queued))
  const held = rows.filter((each) => each.need.isHeld && accepted.has(each.row.id))
  return { statuses, held: new Map(held.map((each) => [each.need, each.row])) }
}

/** In this order. */
export async function queueHeldStarts(
  transaction: Transaction,
  starts: HeldStart[],
  { bell }: Pick<StartingParts, 'bell'>,
): Promise<void> {
  const [first] = starts
  if (!first) return
  const work = starts.map(({ environment_id, id: subject_id }) => ({
    ...{ environment_id, subject_id, position: 0, due_at: beforeWaits, kind: 'start', held: true },
  }))
  await transaction.run(addHeldWork, [JSON.stringify(work)])
  await tellHeldWork(transaction, first.environment_id, { bell })
}

async function tenantChoices(
  transaction: Transaction,
  found: Start[],
): Promise<(of: Start) => TenantChoice | undefined> {
  const named = found.flatMap(({ need, workflow }) =>
    need.tenant === undefined ? [] : [[need.environmentId, need.tenant, workflow.id] as const],
  )
  if (named.length === 0) return () => undefined
  const rows = await transaction.run<
    TenantChoice & { environment_id: string; identifier: string; workflow_id: string }
  >(
    findTenantChoices,
    [0, 1, 2].map((place) => named.map((each) => each[place])),
  )
  return ({ need, workflow }) =>
    rows.find(
      (row) =>
        row.environment_id === need.environmentId && row.identifier === need.tenant && row.workflow_id === workflow.id,
    )
}
