// Subscriber preferences: global and per workflow, separate for each set of context keys, and the schedule.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import { type Choices, chooseForWorkflow, chooseGlobally, usualAskChannels } from '../core/preference-choices.ts'
import type { ChannelChoices, SubscriberPreferenceTable, WorkflowTable } from '../core/tables.ts'
import { endRefusals } from './suppressions.ts'
import { telling } from './webhook-events.ts'

type PreferenceRow = Selectable<SubscriberPreferenceTable>

/** Whose preferences: a subscriber in one set of contexts. */
export interface PreferenceOwner {
  environmentId: string
  subscriberRowId: string
  /** Sorted, without duplicates; the empty set is one of its own. */
  contextKeys: string[]
}

/** The part of a workflow that preferences need. */
export type PreferenceWorkflow = Pick<
  Selectable<WorkflowTable>,
  | 'id'
  | 'identifier'
  | 'name'
  | 'critical'
  | 'severity'
  | 'tags'
  | 'data'
  | 'preferences'
  | 'user_preferences'
  | 'updated_at'
  | 'message_class'
  | 'consent_category'
> & { step_types: string[] }

/** As many as BELFRY_MAX_WORKFLOWS can allow. */
const mostListed = 1_000

// Steps are long, so only their types are read; of a question, the channels it is asked in.
const workflowColumns = sql`
  w.id, w.identifier, w.name, w.critical, w.severity, w.tags, w.data, w.preferences, w.user_preferences, w.updated_at,
  w.message_class, w.consent_category,
  CASE WHEN w.steps @> '[{"type": "branch"}]' OR w.steps @> '[{"type": "ask"}]' THEN ARRAY(
    SELECT DISTINCT coalesce(asked.channel #>> '{}', a.step ->> 'type') FROM all_steps(w.steps) a
    LEFT JOIN LATERAL jsonb_array_elements(
      coalesce(nullif(jsonb_path_query_array(a.step, '$.controlValues.channels[*]'), '[]'), ${JSON.stringify(usualAskChannels)}::jsonb)
    ) AS asked (channel) ON a.step ->> 'type' = 'ask')
    ELSE ARRAY(SELECT DISTINCT step ->> 'type' FROM jsonb_array_elements(w.steps) step) END AS step_types`

/** Oldest first. */
export async function listActiveWorkflows(db: Db | Tx, environmentId: string): Promise<PreferenceWorkflow[]> {
  const { rows } = await sql<PreferenceWorkflow>`
    SELECT ${workflowColumns} FROM workflows w
    WHERE w.environment_id = ${environmentId} AND w.active
    ORDER BY w.created_at, w.id LIMIT ${mostListed}`.execute(db)
  return rows
}

/**
 * Workflows by identifier or id, locked against deletion until the transaction ends: deleting a workflow deletes its
 * preferences, and would miss uncommitted ones.
 */
export async function holdWorkflows(
  tx: Tx,
  environmentId: string,
  { identifiers, ids }: { identifiers: string[]; ids: string[] },
): Promise<PreferenceWorkflow[]> {
  const { rows } = await sql<PreferenceWorkflow>`
    SELECT ${workflowColumns} FROM workflows w
    WHERE w.environment_id = ${environmentId}
      AND (w.identifier = ANY(${identifiers}::text[]) OR w.id = ANY(${ids}::text[]))
    ORDER BY w.id FOR KEY SHARE`.execute(tx)
  return rows
}

/**
 * The subscriber's internal id, with its row locked: changes of one subscriber's preferences are serialized, so that a global
 * choice and one for a workflow made at the same time apply in some order. It also cannot be deleted meanwhile.
 */
export async function holdSubscriber(tx: Tx, environmentId: string, subscriberId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM subscribers
    WHERE environment_id = ${environmentId} AND subscriber_id = ${subscriberId} FOR NO KEY UPDATE`.execute(tx)
  return rows[0]?.id
}

export interface SubscriberPreferences {
  global: PreferenceRow | undefined
  byWorkflow: Map<string, PreferenceRow>
}

export async function readPreferences(
  db: Db | Tx,
  { environmentId, subscriberRowId, contextKeys }: PreferenceOwner,
): Promise<SubscriberPreferences> {
  const { rows } = await sql<PreferenceRow>`
    SELECT * FROM subscriber_preferences
    WHERE environment_id = ${environmentId} AND subscriber_row_id = ${subscriberRowId}
      AND context_keys = ${contextKeys}::text[]`.execute(db)
  return {
    global: rows.find((row) => row.workflow_id === null),
    byWorkflow: new Map(rows.flatMap((row) => (row.workflow_id === null ? [] : [[row.workflow_id, row]]))),
  }
}

/** When the subscriber's pause from commercial messages ends, if there is one. */
export async function findSnooze(
  db: Db | Tx,
  { environmentId, subscriberRowId }: Pick<PreferenceOwner, 'environmentId' | 'subscriberRowId'>,
  now: Date,
): Promise<Date | undefined> {
  const row = await db
    .selectFrom('subscribers')
    .select('snoozed_until')
    .where('environment_id', '=', environmentId)
    .where('id', '=', subscriberRowId)
    .where('snoozed_until', '>', now)
    .executeTakeFirst()
  return row?.snoozed_until ?? undefined
}

/** For the subscriber in all contexts. The caller has locked it. */
export async function saveSnooze(
  tx: Tx,
  { environmentId, subscriberRowId }: Pick<PreferenceOwner, 'environmentId' | 'subscriberRowId'>,
  until: Date | null,
): Promise<void> {
  await tx
    .updateTable('subscribers')
    .set({ snoozed_until: until })
    .where('environment_id', '=', environmentId)
    .where('id', '=', subscriberRowId)
    .execute()
}

/** The preferences that decide over one workflow's messages to one subscriber. */
export interface RecipientPreferences {
  global: ChannelChoices | undefined
  workflow: ChannelChoices | undefined
  schedule: Record<string, unknown> | null
}

/** The same for many subscribers of one workflow, in one statement. Subscribers without preferences are left out. */
export async function readRecipients(
  db: Db | Tx,
  { environmentId, workflowId, contextKeys }: { environmentId: string; workflowId: string; contextKeys: string[] },
  subscriberRowIds: string[],
): Promise<Map<string, RecipientPreferences>> {
  const { rows } = await sql<Pick<PreferenceRow, 'subscriber_row_id' | 'workflow_id' | 'channels' | 'schedule'>>`
    SELECT subscriber_row_id, workflow_id, channels, schedule FROM subscriber_preferences
    WHERE environment_id = ${environmentId} AND subscriber_row_id = ANY(${subscriberRowIds}::text[])
      AND (workflow_id IS NULL OR workflow_id = ${workflowId}) AND context_keys = ${contextKeys}::text[]`.execute(db)
  const recipients = new Map<string, RecipientPreferences>()
  for (const { subscriber_row_id, workflow_id, channels, schedule } of rows) {
    const known = recipients.get(subscriber_row_id) ?? { global: undefined, workflow: undefined, schedule: null }
    recipients.set(
      subscriber_row_id,
      workflow_id === null ? { ...known, global: channels, schedule } : { ...known, workflow: channels },
    )
  }
  return recipients
}

/** Changes the global choices, as `chooseGlobally` says. The caller has locked the subscriber. */
export async function saveGlobalPreference(
  tx: Tx,
  owner: PreferenceOwner,
  change: { channels?: ChannelChoices | undefined; schedule?: object | undefined },
  now: Date,
): Promise<void> {
  const before = await choicesOf(tx, owner)
  const after = chooseGlobally(before, change)
  await upsertChoices(
    tx,
    owner,
    after.filter(({ workflow_id }) => workflow_id === null),
    now,
  )
  const { environmentId, subscriberRowId, contextKeys } = owner
  const lessened = before.filter((row) => row.workflow_id !== null && !after.includes(row))
  if (lessened.length === 0) return
  const channelsAfter = ({ workflow_id }: Choices) => after.find((row) => row.workflow_id === workflow_id)?.channels
  // Nobody is told of these: the global choice, which they are told of, says the same.
  await sql`
    WITH given AS (
      SELECT * FROM unnest(${lessened.map((row) => row.workflow_id)}::text[],
        ${lessened.map((row) => JSON.stringify(channelsAfter(row) ?? null))}::jsonb[]) AS t (workflow_id, channels)
    ), own AS (
      SELECT p.ctid, g.channels FROM subscriber_preferences p JOIN given g USING (workflow_id)
      WHERE p.environment_id = ${environmentId} AND p.subscriber_row_id = ${subscriberRowId}
        AND p.context_keys = ${contextKeys}::text[]
    ), gone AS (
      DELETE FROM subscriber_preferences p USING own WHERE p.ctid = own.ctid AND own.channels = 'null'::jsonb
    )
    UPDATE subscriber_preferences p SET channels = own.channels
    FROM own WHERE p.ctid = own.ctid AND own.channels <> 'null'::jsonb`.execute(tx)
}

/** Sets the given channels for each of these distinct workflows; turning one on ends that it was unsubscribed. The caller has locked them and the subscriber. */
export async function saveWorkflowPreferences(
  tx: Tx,
  owner: PreferenceOwner,
  choices: ReadonlyMap<string, ChannelChoices>,
  now: Date,
): Promise<void> {
  const said = [...choices].filter(([, channels]) => Object.keys(channels).length > 0)
  if (said.length === 0) return
  const before: Choices[] = await choicesOf(tx, owner)
  const after = said.reduce((rows, [id, channels]) => chooseForWorkflow(rows, id, channels), before)
  await upsertChoices(
    tx,
    owner,
    after.filter((row) => !before.includes(row)),
    now,
  )
  const wanted = said.flatMap(([workflowId, channels]) =>
    Object.entries(channels).flatMap(([channel, isOn]) => (isOn ? [{ workflowId, channel }] : [])),
  )
  await endRefusals(tx, owner, wanted, now)
}

async function choicesOf(tx: Tx, owner: PreferenceOwner): Promise<PreferenceRow[]> {
  const { global, byWorkflow } = await readPreferences(tx, owner)
  return [...(global ? [global] : []), ...byWorkflow.values()]
}

async function upsertChoices(
  tx: Tx,
  { environmentId, subscriberRowId, contextKeys }: PreferenceOwner,
  rows: Choices[],
  now: Date,
): Promise<void> {
  const upsert = sql`
    INSERT INTO subscriber_preferences AS p
      (environment_id, subscriber_row_id, workflow_id, context_keys, channels, schedule, updated_at)
    SELECT ${environmentId}, ${subscriberRowId}, workflow_id, ${contextKeys}::text[], channels, nullif(schedule, 'null'::jsonb), ${now}
    FROM unnest(${rows.map((row) => row.workflow_id)}::text[], ${rows.map((row) => JSON.stringify(row.channels))}::jsonb[],
                ${rows.map((row) => JSON.stringify(row.schedule))}::jsonb[]) AS given (workflow_id, channels, schedule)
    ON CONFLICT (environment_id, subscriber_row_id, workflow_id, context_keys) DO UPDATE
    SET channels = excluded.channels, schedule = excluded.schedule, updated_at = excluded.updated_at`
  await changeAndTell(tx, upsert, now)
}

async function changeAndTell(tx: Tx, change: RawBuilder<unknown>, now: Date): Promise<void> {
  const subscriberId = sql`(SELECT s.subscriber_id FROM subscribers s
    WHERE s.environment_id = c.environment_id AND s.id = c.subscriber_row_id)`
  const workflow = sql`(SELECT json_build_object('id', w.id, 'identifier', w.identifier, 'name', w.name) FROM workflows w
    WHERE w.environment_id = c.environment_id AND w.id = c.workflow_id)`
  const object = sql`(to_jsonb(c) || jsonb_build_object('subscriber_id', ${subscriberId}, 'workflow', ${workflow}))::json`
  await sql`
    WITH changed AS (${change} RETURNING p.*), ${telling({ type: 'preference.updated', object, subscriberId, now })}
    SELECT FROM webhooks`.execute(tx)
}
