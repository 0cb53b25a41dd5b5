// What an erasure takes out of questions: of the person's own runs, of others', and of the rotas that decide who is asked.
import { sql } from 'kysely'
import type { Tx } from '../../db/core/database.ts'
import { erased, type Person, toldRows, toldWithout } from '../../db/queries/personal-data.ts'
import type { KeptQuestion } from '../../steps/kinds/ask.ts'
import { type Shift, without } from '../core/rota.ts'
import { batch, type Done, type Round } from './erasure-part.ts'
import { deleteAll } from './rows.ts'

/** Questions of erased runs, with who was asked. Others' copies of them have been closed. */
export async function eraseQuestionsIn(tx: Tx, environmentId: string, runs: string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    SELECT t.id FROM questions t
    WHERE t.environment_id = ${environmentId} AND t.notification_id = ANY (${runs}::text[])`.execute(tx)
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return
  await deleteAll(tx, 'question_people', environmentId, sql`t.question_id = ANY (${ids}::text[])`)
  await deleteAll(tx, 'questions', environmentId, sql`t.id = ANY (${ids}::text[])`)
}

/** From others' questions the person goes: as one who was asked, and as one who answered. */
export async function eraseFromQuestions({ tx, person }: Round): Promise<Done> {
  const { environmentId, subscriberId } = person
  const { rows } = await sql<{ id: string; notification_id: string }>`
    SELECT q.id, q.notification_id FROM question_people p
    JOIN questions q ON q.environment_id = p.environment_id AND q.id = p.question_id
    WHERE p.environment_id = ${environmentId} AND p.subscriber_id = ${subscriberId}
    ORDER BY q.id LIMIT ${batch}`.execute(tx)
  const ids = rows.map(({ id }) => id)
  const runs = [...new Set(rows.map(({ notification_id }) => notification_id))].sort()
  if (ids.length === 0) return { counts: {} }
  // The runs first, as everybody locks them.
  await sql`
    SELECT FROM notifications n WHERE n.environment_id = ${environmentId} AND n.id = ANY (${runs}::text[])
    ORDER BY n.id FOR UPDATE`.execute(tx)
  const nobody = JSON.stringify({ subscriberId: erased, name: erased })
  await sql`
    UPDATE questions q SET asked = coalesce((
        SELECT jsonb_agg(entry) FROM jsonb_array_elements(q.asked) entry
        WHERE entry ->> 'subscriberId' <> ${subscriberId}), '[]'),
      text = CASE WHEN q.answered_by ->> 'subscriberId' = ${subscriberId} THEN NULL ELSE q.text END,
      answered_by = CASE WHEN q.answered_by ->> 'subscriberId' = ${subscriberId}
        THEN (q.answered_by - 'as') || ${nobody}::jsonb ELSE q.answered_by END
    WHERE q.environment_id = ${environmentId} AND q.id = ANY (${ids}::text[])`.execute(tx)
  await eraseFromSteps(tx, person, runs)
  await sql`
    UPDATE messages m SET
      -- The last line says who decided.
      content = regexp_replace(m.content, ': [^\n]*$', ${`: ${erased}`}),
      data = jsonb_set(m.data, '{question,answeredBy}', ((m.data #> '{question,answeredBy}') - 'as') || ${nobody}::jsonb)
    FROM questions q
    WHERE q.environment_id = ${environmentId} AND q.id = ANY (${ids}::text[]) AND m.environment_id = q.environment_id
      AND m.notification_id = q.notification_id AND m.step_id = q.step_id AND m.channel = 'in_app'
      AND m.data #>> '{question,answeredBy,subscriberId}' = ${subscriberId}`.execute(tx)
  const copies = await deleteAll(
    tx,
    'jobs',
    environmentId,
    sql`t.notification_id = ANY (${runs}::text[]) AND t.asked ->> 'subscriberId' = ${subscriberId}`,
  )
  await deleteAll(
    tx,
    'question_people',
    environmentId,
    sql`t.question_id = ANY (${ids}::text[]) AND t.subscriber_id = ${subscriberId}`,
  )
  return { counts: { questions: ids.length, jobs: copies }, ...(ids.length === batch ? { next: '' } : {}) }
}

/** They leave chains also where their turn had not come: then nothing but the step that asks names them. */
export async function eraseFromChains({ tx, person, reached }: Round): Promise<Done> {
  const { environmentId, subscriberId } = person
  const { rows } = await sql<{ id: string; notification_id: string }>`
    SELECT q.id, q.notification_id FROM questions q
    JOIN jobs j ON j.environment_id = q.environment_id AND j.notification_id = q.notification_id AND j.position = q.position
    WHERE q.environment_id = ${environmentId} AND q.id > ${reached}
      AND strpos(j.delivery ->> 'levels', ${JSON.stringify(subscriberId)}) > 0
    ORDER BY q.id LIMIT ${batch}`.execute(tx)
  const runs = [...new Set(rows.map(({ notification_id }) => notification_id))].sort()
  if (runs.length === 0) return { counts: {} }
  // The runs first, as everybody locks them.
  await sql`
    SELECT FROM notifications n WHERE n.environment_id = ${environmentId} AND n.id = ANY (${runs}::text[])
    ORDER BY n.id FOR UPDATE`.execute(tx)
  await eraseFromSteps(tx, person, runs)
  const last = rows[batch - 1]
  return { counts: { questions: rows.length }, ...(last ? { next: last.id } : {}) }
}

/** The steps that ask: in what they keep of their chain, and as who answered. */
async function eraseFromSteps(tx: Tx, { environmentId, subscriberId }: Person, runs: string[]): Promise<void> {
  const { rows } = await sql<{ notification_id: string; position: number } & AskingStep>`
    SELECT notification_id, position, output, delivery FROM jobs
    WHERE environment_id = ${environmentId} AND notification_id = ANY (${runs}::text[]) AND type = 'ask'
      AND delivery IS NOT NULL`.execute(tx)
  const changed = rows.map(({ notification_id, position, output, delivery }) => ({
    ...{ notification_id, position, output: withoutAnswerer(output, subscriberId) },
    delivery: {
      ...delivery,
      asked: delivery.asked.filter((entry) => entry.subscriberId !== subscriberId),
      levels: delivery.levels.map((level) =>
        'subscriberIds' in level ? { subscriberIds: level.subscriberIds.filter((id) => id !== subscriberId) } : level,
      ),
    },
  }))
  await sql`
    UPDATE jobs j SET output = r.output, delivery = r.delivery
    FROM json_to_recordset(${JSON.stringify(changed)}::json)
      AS r (notification_id text, position smallint, output json, delivery json)
    WHERE j.environment_id = ${environmentId} AND j.notification_id = r.notification_id AND j.position = r.position
      AND j.notification_id = ANY (${runs}::text[])`.execute(tx)
}

interface AskingStep {
  output: Record<string, unknown> | null
  delivery: KeptQuestion
}

function withoutAnswerer(output: AskingStep['output'], subscriberId: string): AskingStep['output'] {
  const { as: _, ...by } = (output?.answeredBy ?? {}) as { subscriberId?: string; as?: unknown }
  if (by.subscriberId !== subscriberId) return output
  return { ...output, text: null, answeredBy: { ...by, subscriberId: erased, name: erased } }
}

/** Webhooks are told of others' questions; whoever was asked or has answered goes from what was told, and from what will be. */
export async function eraseFromTold({ tx, person, reached }: Round): Promise<Done> {
  const { environmentId } = person
  const { rows } = await sql<{ id: string; object: Record<string, unknown> }>`
    SELECT t.id, t.object FROM webhook_events t
    WHERE t.environment_id = ${environmentId} AND t.id > ${reached} AND ${toldRows(person)}
    ORDER BY t.id LIMIT ${batch} FOR UPDATE`.execute(tx)
  const changed = rows.flatMap(({ id, object }) => {
    const left = toldWithout(object, person)
    return left === object ? [] : [{ id, object: left }]
  })
  if (changed.length > 0)
    await sql`
      UPDATE webhook_events t SET object = r.object
      FROM json_to_recordset(${JSON.stringify(changed)}::json) AS r (id text, object json)
      WHERE t.environment_id = ${environmentId} AND t.id = r.id`.execute(tx)
  const last = rows[batch - 1]
  return { counts: { webhook_events_changed: changed.length }, ...(last ? { next: last.id } : {}) }
}

/** They leave rotas; a turn that has nobody left stays, so that the others keep theirs. */
export async function eraseFromRotas({ tx, person }: Round): Promise<Done> {
  const { environmentId, subscriberId } = person
  const { rows } = await sql<{ id: string; shifts: Shift[] }>`
    SELECT t.id, t.shifts FROM rotas t
    WHERE t.environment_id = ${environmentId} AND strpos(t.shifts::text, ${JSON.stringify(subscriberId)}) > 0
    ORDER BY t.id FOR UPDATE`.execute(tx)
  for (const { id, shifts } of rows)
    await tx
      .updateTable('rotas')
      .set({ shifts: JSON.stringify(shifts.map((shift) => without(shift, subscriberId))) })
      .where('environment_id', '=', environmentId)
      .where('id', '=', id)
      .execute()
  return { counts: { rotas: rows.length } }
}
