// Environments in front of another service: the workflows that are live, and how both sides compare.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { differenceKinds } from '../../db/core/tables.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import { findShadow } from '../../db/queries/shadow.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Enum, Id, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import {
  readUpstreamUrl,
  SettleMinutes,
  Shadow,
  shownShadow,
  UpstreamKey,
  UpstreamUrl,
} from '../edge/shadow-settings.ts'

const mostLive = 1_000
const mostWorkflows = 1_000

const Count = Type.Integer()
const Report = Type.Object({
  triggers: Type.Integer({ description: 'Passed on, and done here too' }),
  compared: Count,
  same: Count,
  different: Count,
  pending: Count,
  kinds: Type.Object(Object.fromEntries(differenceKinds.map((kind) => [kind, Count])), {
    description: 'Differences by kind. `missing` is there and not here, `extra` here and not there',
  }),
  workflows: Type.Array(
    Type.Object({
      workflowId: Type.String(),
      compared: Count,
      different: Count,
      cleanSince: Type.Unsafe<Date | null>({
        ...NullableTimestamp,
        description:
          'The first trigger after the last that differed; null if the newest differed, or none was compared',
      }),
    }),
  ),
})
const NullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] })
const Side = Type.Unsafe<unknown>({ description: 'What this side has: a text, a list, an object, or null' })
const Difference = Type.Object({
  _id: Type.String(),
  transactionId: Type.Unsafe<string | null>({ ...NullableText, description: 'Null for a write that is no trigger' }),
  subscriberId: NullableText,
  workflowId: NullableText,
  stepId: NullableText,
  kind: Enum(differenceKinds),
  path: Type.String({ description: 'What differs, such as `status` or `subject`; or the write that failed here' }),
  upstream: Side,
  here: Side,
  createdAt: Timestamp,
})

export const shadow: Resource = (app, { db, clock, secrets }) => {
  const tags = ['Shadow']

  const found = async (environmentId: string) => {
    const settings = await findShadow(db, environmentId)
    if (!settings) throw fail('shadow_not_set')
    return settings
  }

  app.get(
    '/v2/shadow',
    {
      config: { refusals: [409] },
      schema: { tags, summary: 'Retrieve the service behind this environment', response: { 200: Shadow } },
    },
    async ({ environment }) => shownShadow(await found(environment.id)),
  )

  app.patch(
    '/v2/shadow',
    {
      config: { role: 'admin', act: 'shadow.changed', refusals: [404, 409] },
      schema: {
        tags,
        summary: 'Choose the workflows that are delivered here',
        description:
          'From the answer on, triggers of a live workflow are not passed on and are delivered through the integrations here; taking it out again goes back. A trigger goes one way, whatever changes afterwards.',
        body: Body(
          {
            live: Type.Optional(
              Type.Array(Type.String(), {
                ...{ maxItems: mostLive, uniqueItems: true },
                description: 'All of them, by `workflowId`',
              }),
            ),
            upstreamUrl: Type.Optional(UpstreamUrl),
            upstreamKey: Type.Optional(UpstreamKey),
            settleMinutes: Type.Optional(SettleMinutes),
          },
          { examples: [{ live: ['comments'] }] },
        ),
        response: { 200: Shadow },
      },
    },
    async (request) => {
      const { id: environmentId } = request.environment
      const { live, upstreamUrl, upstreamKey, settleMinutes } = request.body
      const changed = await db.transaction().execute(async (tx) => {
        await lockEnvironment(tx, environmentId)
        const current = await findShadow(tx, environmentId)
        if (!current) throw fail('shadow_not_set')
        if (live) await refuseUnknown(tx, environmentId, live)
        const settings = {
          ...shownShadow(current),
          ...(live === undefined ? {} : { live: live.toSorted() }),
          ...(upstreamUrl === undefined ? {} : { upstreamUrl: readUpstreamUrl(upstreamUrl) }),
          ...(settleMinutes === undefined ? {} : { settleMinutes }),
        }
        await tx
          .updateTable('environments')
          .set({
            ...{ shadow: JSON.stringify(settings), updated_at: clock.now() },
            ...(upstreamKey === undefined ? {} : { shadow_key: secrets.encrypt(upstreamKey) }),
          })
          .where('id', '=', environmentId)
          .execute()
        request.acted = {
          ...(live === undefined ? {} : { before: current.live, live: settings.live }),
          ...(upstreamUrl === undefined ? {} : { upstreamUrl: settings.upstreamUrl }),
          ...(upstreamKey === undefined ? {} : { keyReplaced: true }),
          ...(settleMinutes === undefined ? {} : { settleMinutes }),
        }
        return settings
      })
      return changed
    },
  )

  app.get(
    '/v2/shadow/report',
    {
      config: { refusals: [409] },
      schema: {
        tags,
        summary: 'Report how the triggers of both sides compare',
        description: 'Of the last 30 days. `cleanSince` does not depend on `since`.',
        querystring: Type.Object({
          since: Type.Optional(Type.String({ format: 'date-time', description: 'Only triggers from then on' })),
        }),
        response: { 200: Report },
      },
    },
    async ({ environment, query }) => {
      await found(environment.id)
      return reportOf(db, environment.id, query.since === undefined ? new Date(0) : new Date(query.since))
    },
  )

  app.get(
    '/v2/shadow/differences',
    {
      config: { refusals: [409] },
      schema: {
        tags,
        summary: 'List the differences, newest first',
        querystring: Type.Object({
          kind: Type.Optional(Enum(differenceKinds)),
          workflowId: Type.Optional(Type.String()),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
          after: Type.Optional(Type.Unsafe<string>({ ...Id, description: 'The `next` of the page before' })),
        }),
        response: {
          200: Type.Object({ data: Type.Array(Difference), next: NullableText }),
        },
      },
    },
    async ({ environment, query }) => {
      await found(environment.id)
      const { kind, workflowId, limit = 20, after } = query
      const rows = await db
        .selectFrom('shadow_differences')
        .selectAll()
        .where('environment_id', '=', environment.id)
        .$if(kind !== undefined, (select) => select.where('kind', '=', kind ?? 'missing'))
        .$if(workflowId !== undefined, (select) => select.where('workflow_id', '=', workflowId ?? ''))
        .$if(after !== undefined, (select) => select.where('id', '<', (after ?? '').toLowerCase()))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute()
      const data = rows.slice(0, limit).map(
        (row): Static<typeof Difference> => ({
          ...{ _id: row.id, transactionId: row.transaction_id, subscriberId: row.subscriber_id },
          ...{ workflowId: row.workflow_id, stepId: row.step_id, kind: row.kind, path: row.path },
          ...{ upstream: row.upstream, here: row.here, createdAt: row.created_at },
        }),
      )
      return { data, next: rows.length > limit ? (data.at(-1)?._id ?? null) : null }
    },
  )
}

/** A workflow that is not here could deliver nothing. */
async function refuseUnknown(db: Pick<Db, 'selectFrom'>, environmentId: string, live: string[]): Promise<void> {
  const rows = await db
    .selectFrom('workflows')
    .select('identifier')
    .where('environment_id', '=', environmentId)
    .where((where) => where('identifier', '=', where.fn.any(where.val(live))))
    .execute()
  const known = new Set(rows.map(({ identifier }) => identifier))
  const workflowId = live.find((each) => !known.has(each))
  if (workflowId !== undefined) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
}

async function reportOf(db: Db, environmentId: string, since: Date): Promise<Static<typeof Report>> {
  const [workflows, kinds] = await Promise.all([
    sql<{ workflow_id: string; triggers: number; compared: number; different: number; clean_since: Date | null }>`
      SELECT w.workflow_id, w.triggers, w.compared, w.different, (
        SELECT min(t.created_at) FROM shadow_triggers t
        WHERE t.environment_id = ${environmentId} AND t.workflow_id = w.workflow_id AND t.outcome = 'same'
          AND t.created_at > coalesce(w.last_different, '-infinity')) AS clean_since
      FROM (
        SELECT workflow_id, count(*) FILTER (WHERE created_at >= ${since})::int AS triggers,
               count(outcome) FILTER (WHERE created_at >= ${since})::int AS compared,
               count(*) FILTER (WHERE outcome = 'different' AND created_at >= ${since})::int AS different,
               max(created_at) FILTER (WHERE outcome = 'different') AS last_different
        FROM shadow_triggers WHERE environment_id = ${environmentId}
        GROUP BY workflow_id ORDER BY workflow_id LIMIT ${mostWorkflows}) w
      ORDER BY w.workflow_id`.execute(db),
    sql<{ kind: string; count: number }>`
      SELECT d.kind, count(*)::int AS count FROM shadow_differences d
      LEFT JOIN shadow_triggers t ON t.environment_id = d.environment_id AND t.transaction_id = d.transaction_id
      WHERE d.environment_id = ${environmentId} AND d.created_at >= ${since}
        AND coalesce(t.created_at, d.created_at) >= ${since} GROUP BY d.kind`.execute(db),
  ])
  const sum = (of: (row: (typeof workflows.rows)[number]) => number) =>
    workflows.rows.reduce((total, row) => total + of(row), 0)
  const [triggers, compared, different] = [
    sum((row) => row.triggers),
    sum((row) => row.compared),
    sum((row) => row.different),
  ]
  const counted = new Map(kinds.rows.map(({ kind, count }) => [kind, count]))
  return {
    ...{ triggers, compared, same: compared - different, different, pending: triggers - compared },
    kinds: Object.fromEntries(differenceKinds.map((kind) => [kind, counted.get(kind) ?? 0])),
    workflows: workflows.rows.map((row) => ({
      ...{ workflowId: row.workflow_id, compared: row.compared, different: row.different, cleanSince: row.clean_since },
    })),
  }
}
