// The brakes of commercial workflows: counts mail that bounced for good or was complained about, and pulls the brake of a
// workflow whose share of it is too large.
import { sql } from 'kysely'
import { announce } from '../core/changes.ts'
import type { Tx } from '../core/database.ts'
import { realOf } from '../core/held-clock.ts'
import type { Brake } from '../core/tables.ts'
import { recordAct } from './audit-log.ts'
import { type ConsentSettings, readConsent } from './consent.ts'
import { tell } from './webhook-events.ts'
import { findWorkflow, lockWorkflow, type WorkflowRow } from './workflows.ts'

export interface BadMail {
  workflowId: string
  messageId: string
  cause: Brake['cause']
  /** When the message was made. */
  sentAt: Date
  /** During the call, so it does not count as sent otherwise. */
  isRefused: boolean
}

const hourMs = 3_600_000

/**
 * Counts this mail, and pulls the brakes that are due: once, however many reports arrive together, because the row of the
 * workflow is locked from counting to pulling.
 */
export async function countBadMail(tx: Tx, environmentId: string, mails: BadMail[], now: Date): Promise<void> {
  if (mails.length === 0) return
  const { brakes } = await readConsent(tx, environmentId)
  if (!brakes.enabled) return
  for (const id of [...new Set(mails.map(({ workflowId }) => workflowId))].sort()) {
    const workflow = await lockToCount(tx, environmentId, id)
    if (workflow?.message_class !== 'commercial' || workflow.brake) continue
    const own = mails.filter(({ workflowId }) => workflowId === id)
    await sql`
      INSERT INTO brake_marks (environment_id, workflow_id, cause, message_id, sent_at, refused)
      SELECT ${environmentId}, ${id}, m.cause, m.message_id, m.sent_at, m.refused
      FROM unnest(${own.map(({ cause }) => cause)}::text[], ${own.map(({ messageId }) => messageId)}::text[],
        ${own.map(({ sentAt }) => sentAt)}::timestamptz[], ${own.map(({ isRefused }) => isRefused)}::boolean[])
        AS m (cause, message_id, sent_at, refused)
      ORDER BY 3, 4 ON CONFLICT DO NOTHING`.execute(tx)
    const brake = await judge(tx, workflow, brakes, now)
    if (brake) await pull(tx, workflow, brake, now)
  }
}

type Counted = Pick<
  WorkflowRow,
  'environment_id' | 'id' | 'identifier' | 'name' | 'message_class' | 'brake' | 'brake_released_at'
>

/** Saves wait for it, and so do other reports; whatever only refers to the workflow does not. */
async function lockToCount(tx: Tx, environmentId: string, id: string): Promise<Counted | undefined> {
  return tx
    .selectFrom('workflows')
    .select(['environment_id', 'id', 'identifier', 'name', 'message_class', 'brake', 'brake_released_at'])
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** The brake that these figures pull, if any. */
async function judge(
  tx: Tx,
  { environment_id: environmentId, id, brake_released_at: releasedAt }: Counted,
  { bouncePercent, complaintPercent, minimum, hours }: ConsentSettings['brakes'],
  now: Date,
): Promise<Brake | undefined> {
  const window = new Date(now.getTime() - hours * hourMs)
  const since = releasedAt !== null && releasedAt > window ? releasedAt : window
  const { rows } = await sql<{ cause: Brake['cause']; counted: number; refused: number }>`
    SELECT cause, count(*)::int AS counted, (count(*) FILTER (WHERE refused))::int AS refused FROM brake_marks
    WHERE environment_id = ${environmentId} AND workflow_id = ${id} AND sent_at > ${since} GROUP BY cause`.execute(tx)
  const refused = rows.reduce((sum, row) => sum + row.refused, 0)
  const limits = { bounces: bouncePercent, complaints: complaintPercent }
  // Beyond so many the share is too small, so nobody has to count further.
  const most = rows.map(({ cause, counted }) => Math.floor((counted * 100) / limits[cause] + roundingError))
  if (Math.max(0, ...most) < minimum) return undefined
  const { rows: found } = await sql<{ sent: number }>`
    SELECT count(*)::int AS sent FROM (
      SELECT FROM messages
      WHERE environment_id = ${environmentId} AND workflow_id = ${id} AND created_at > ${since}
        AND commercial AND identifier IS NOT NULL
      LIMIT ${Math.max(...most) + 1}) m`.execute(tx)
  const sent = (found[0]?.sent ?? 0) + refused
  if (sent < minimum) return undefined
  const due = rows.find(({ cause, counted }) => counted * 100 + roundingError >= limits[cause] * sent)
  if (!due) return undefined
  const { cause, counted } = due
  return { since: now.toISOString(), cause, percent: Math.round((counted / sent) * 10_000) / 100, sent, counted }
}

/** 0.3 · 1,000 is a little more than 300 to a computer. */
const roundingError = 1e-6

async function pull(tx: Tx, workflow: Counted, brake: Brake, now: Date): Promise<void> {
  const { environment_id: environmentId, id } = workflow
  await saveBrake(tx, workflow, { brake }, now)
  const environment = await tx
    .selectFrom('environments')
    .select('organization_id')
    .where('id', '=', environmentId)
    .executeTakeFirstOrThrow()
  await recordAct(
    tx,
    {
      organizationId: environment.organization_id,
      environmentId,
      actor: { type: 'system', id: null, name: 'Brake', email: null },
      action: 'workflow.braked',
      target: { type: 'workflow', id, name: workflow.name },
      details: { ...brake, workflowId: workflow.identifier },
    },
    realOf(now),
  )
}

/** @returns undefined if it is not braked */
export async function releaseBrake(
  tx: Tx,
  environmentId: string,
  workflowId: string,
  now: Date,
): Promise<WorkflowRow | undefined> {
  const row = await lockWorkflow(tx, environmentId, workflowId)
  if (!row || !brakeOf(row)) return undefined
  await tx
    .deleteFrom('brake_marks')
    .where('environment_id', '=', environmentId)
    .where('workflow_id', '=', row.id)
    .execute()
  await saveBrake(tx, row, { brake: null, brake_released_at: now }, now)
  return findWorkflow(tx, environmentId, row.identifier)
}

/** What is not commercial has no brake; one that was pulled is there again once the workflow is commercial again. */
export const brakeOf = ({ message_class, brake }: Pick<WorkflowRow, 'message_class' | 'brake'>): Brake | null =>
  message_class === 'commercial' ? brake : null

async function saveBrake(
  tx: Tx,
  { environment_id: environmentId, id, identifier }: Pick<WorkflowRow, 'environment_id' | 'id' | 'identifier'>,
  change: { brake: Brake | null; brake_released_at?: Date },
  now: Date,
): Promise<void> {
  const { brake } = change
  await tx
    .updateTable('workflows')
    .set({ ...change, brake: brake && JSON.stringify(brake) })
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .execute()
  const object = await findWorkflow(tx, environmentId, identifier)
  if (object)
    await tell(tx, environmentId, [{ type: brake ? 'workflow.braked' : 'workflow.brake-released', object }], now)
  await announce(tx, 'workflows', environmentId)
}
