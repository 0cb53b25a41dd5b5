// The activity: one record for each run, that is for each trigger and subscriber.
import { type RawBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { idPattern } from '../../db/core/ids.ts'
import { fail } from '../../errors.ts'
import { mayAnswer } from '../edge/answer-links.ts'
import type { Resource } from '../edge/resource.ts'
import { Id, NumberedPage } from '../edge/schema.ts'
import { answerOf, TriggerAnswer } from '../triggers/answer.ts'
import { activityFilter, findRunIds, readMoment, type Selection, selectRuns } from './filter.ts'
import { replayOf } from './replay.ts'
import { Activity, type RunRow, showActivities } from './run-shape.ts'

const mostPerPage = 50
/** Beyond this the dashboard shows "more than a hundred". */
const mostCounted = 100

const Params = Type.Object({
  notificationId: Type.String({
    pattern: idPattern,
    texts: { pattern: 'must be a mongodb id' },
    perField: { command: 'GetActivityCommand' },
  }),
})

/** Runs `t` with their subscriber and workflow, looked up only for these. */
async function readRuns(db: Db, runs: RawBuilder<unknown>): Promise<RunRow[]> {
  const { rows } = await sql<RunRow>`
    SELECT n.*, s.first_name, s.last_name, s.email, s.phone, s.id IS NOT NULL AS is_subscriber_there,
           w.name AS workflow_name, w.identifier AS workflow_identifier, w.origin AS workflow_origin
    FROM (SELECT t.* FROM notifications t WHERE ${runs}) n
    LEFT JOIN subscribers s ON s.environment_id = n.environment_id AND s.id = n.subscriber_row_id
    LEFT JOIN workflows w ON w.environment_id = n.environment_id AND w.id = n.workflow_id
    ORDER BY n.id DESC`.execute(db)
  return rows
}

async function readPage(db: Db, selection: Selection, limit: number, offset: number): Promise<RunRow[]> {
  const { environmentId, where, lead } = selection
  if (!lead) return readRuns(db, sql`${where} ORDER BY t.id DESC LIMIT ${limit} OFFSET ${offset}`)
  const ids = (await findRunIds(db, selection, offset + limit)).slice(offset)
  return ids.length === 0 ? [] : readRuns(db, sql`t.environment_id = ${environmentId} AND t.id = ANY(${ids}::text[])`)
}

export const notifications: Resource = (app, services) => {
  const { db, brand, engine } = services
  const tags = ['Activity']

  app.get(
    '/v1/notifications',
    {
      schema: {
        tags,
        summary: 'List the activity, one record for each trigger and subscriber, newest first',
        querystring: Type.Object({
          ...activityFilter,
          page: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000, default: 0 })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostPerPage, default: 10 })),
          cursor: Type.Optional({
            ...Id,
            description: 'The `_id` of a record: lists those below it. Faster than `page` in long lists',
          }),
        }),
        response: { 200: NumberedPage(Activity) },
      },
    },
    async (request) => {
      const { environment, query } = request
      const { page = 0, limit = 10, cursor } = query
      const selection = await selectRuns(db, environment, query, { olderThan: cursor?.toLowerCase() })
      if (!selection) return { page: 0, pageSize: limit, hasMore: false, data: [] }
      const runs = await readPage(db, selection, limit + 1, page * limit)
      const data = await showActivities(db, runs.slice(0, limit), environment, brand, {
        ...{ isAlone: false, hidesAnswers: !mayAnswer(request) },
      })
      return { page, pageSize: limit, hasMore: runs.length > limit, data }
    },
  )

  app.get(
    '/v1/notifications/count',
    {
      schema: {
        tags,
        summary: 'Count the records above a record, or since a time',
        querystring: Type.Object({
          since: Type.String({
            minLength: 1,
            description: 'The `_id` of the newest record you know, or an ISO 8601 time',
          }),
          ...activityFilter,
        }),
        response: {
          200: Type.Object({
            count: Type.Integer({ description: `At most ${mostCounted}` }),
            isCapped: Type.Boolean({ description: 'Whether there are more' }),
          }),
        },
      },
    },
    async (request) => {
      const { environment, query } = request
      const newerThan = readMoment('since', query.since)
      const selection = await selectRuns(db, environment, query, { newerThan })
      if (!selection) return { count: 0, isCapped: false }
      const { length } = await findRunIds(db, selection, mostCounted + 1)
      return { count: Math.min(length, mostCounted), isCapped: length > mostCounted }
    },
  )

  app.get(
    '/v1/notifications/:notificationId',
    {
      schema: {
        tags,
        summary: 'Retrieve an activity record',
        params: Params,
        response: { 200: Activity },
      },
    },
    async (request) => {
      const { environment, params } = request
      const runs = await readRuns(db, sql`t.environment_id = ${environment.id} AND t.id = ${params.notificationId}`)
      const [record] = await showActivities(db, runs, environment, brand, {
        ...{ isAlone: true, hidesAnswers: !mayAnswer(request) },
      })
      if (!record) throw fail('activity_not_found')
      return record
    },
  )

  app.post(
    '/v1/notifications/:notificationId/end-wait',
    {
      config: { act: 'run.wait-ended', role: 'editor', refusals: [404, 409] },
      schema: {
        tags,
        summary: 'End the wait of this run',
        description:
          'The run goes on at once. A digest sends what it has collected, a wait for an event ends as after its timeout, a question as after its deadline.',
        params: Params,
        response: { 200: Type.Object({ stepId: Type.String({ description: 'The step that waited' }) }) },
      },
    },
    async (request) => {
      const { environment, params } = request
      const notificationId = params.notificationId.toLowerCase()
      const [run] = await readRuns(db, sql`t.environment_id = ${environment.id} AND t.id = ${notificationId}`)
      if (!run) throw fail('activity_not_found')
      const step = await engine.endWait(environment.id, notificationId)
      if (!step) throw fail('run_not_waiting')
      request.targetName = run.workflow_name ?? undefined
      // Not whose run: the log is a chain of hashes, from which nobody can be erased later.
      request.acted = { workflow: run.workflow_identifier, step: step.stepId }
      return { stepId: step.stepId }
    },
  )

  app.post(
    '/v1/notifications/:notificationId/replay',
    {
      schema: {
        tags,
        summary: 'Trigger the workflow of this record again, for the same subscriber',
        description:
          'The same workflow as it is now, with the same payload, overrides, actor, tenant and context, under a new `transactionId`.',
        params: Params,
        response: { 201: TriggerAnswer },
      },
    },
    async (request, reply) => {
      const again = await replayOf(db, request.environment.id, request.params.notificationId)
      const result = await engine.trigger(again)
      reply.code(201)
      return answerOf(result, services.config.publicUrl)
    },
  )
}
