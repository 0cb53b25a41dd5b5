// Publish requests: what somebody wants to publish into a protected environment, until a second person approves or declines it.
// A request keeps what would change and the hash of each change; an approval publishes exactly that, or nothing.
import type { FastifyRequest } from 'fastify'
import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import type { PublishRequestTable } from '../../db/core/tables.ts'
import { recordAct } from '../../db/queries/audit-log.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import { type EventType, tell } from '../../db/queries/webhook-events.ts'
import { diffOf } from '../../engine/authoring/environment-diff.ts'
import { publish, readEnvironments } from '../../engine/authoring/publish.ts'
import { planPublish, report } from '../../engine/authoring/publish-plan.ts'
import { changedSince, namesOf, refuseChanged, reviewed, reviewedPairs } from '../../engine/authoring/publish-review.ts'
import { fail } from '../../errors.ts'
import { requestActs } from '../edge/audit.ts'
import { authorOf } from '../edge/authorship.ts'
import { isBound, isForeign, requirePublish, requirePublishSight } from '../edge/reach.ts'
import type { Person, Resource } from '../edge/resource.ts'
import { isAtLeast, requireRoleIn, roleIn } from '../edge/roles.ts'
import { Body, Enum, Nullable, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import { signedIn } from './account.ts'
import { asNamed, Diff, Params, Report, RequestedResource, routeOf, sourceEnvironmentId } from './publish.ts'

const dayMs = 86_400_000
const validDays = 7
const mostPending = 100
const mostListed = 100

const statuses = ['pending', 'approved', 'declined', 'withdrawn', 'expired'] as const

const PublishRequest = Type.Object({
  _id: Type.String(),
  sourceEnvironmentId: Type.String(),
  targetEnvironmentId: Type.String(),
  status: Enum(statuses),
  comment: Type.String(),
  requestedBy: Type.Object({ type: Enum(['person', 'api-key']), id: Type.String(), name: Type.String() }),
  resources: Type.Array(
    Type.Object({
      resourceType: Enum(['workflow', 'layout']),
      resourceId: Type.String(),
      resourceName: Type.String(),
      action: Enum(['created', 'updated', 'deleted']),
      hash: Type.String({ description: 'SHA-256 of the change as it was reviewed' }),
    }),
  ),
  isYours: Type.Boolean({ description: 'You made it, or the API key that made it, so you cannot approve it' }),
  mayDecide: Type.Boolean({ description: 'Whether you can approve or decline it' }),
  decidedBy: Nullable(Type.Object({ id: Type.String(), name: Type.String() })),
  decisionComment: Type.String(),
  decidedAt: NullableTimestamp,
  createdAt: Timestamp,
  expiresAt: Timestamp,
})
const Detailed = Type.Object({
  ...PublishRequest.properties,
  diff: Diff.properties.resources,
  changedSince: Type.Array(Type.String(), {
    description:
      'The names of what is not as it was reviewed. If there are any, the request cannot be approved any more',
  }),
})
const RequestParams = Type.Object({ ...Params.properties, requestId: Type.String() })
const Comment = (options: object = {}) => Type.String({ maxLength: 1_000, ...options })

type Row = Selectable<PublishRequestTable>

export const publishRequests: Resource = (app, { db, clock, brand, config: { limits } }) => {
  const tags = ['Environments']
  const path = '/v2/environments/:targetEnvironmentId/publish-requests'
  /** Whoever made a request can follow it, whatever their role in the target; the gate looks at the target. */
  const seen = { role: 'viewer', scope: 'publish' } as const
  const decides = { people: true, role: 'admin' } as const

  app.post(
    path,
    {
      config: seen,
      schema: {
        tags,
        summary: 'Ask for the approval of a publish into a protected environment',
        description:
          'Needs the role editor in the source. The request keeps exactly what would be published now; it expires after seven days.',
        params: Params,
        body: Body(
          {
            sourceEnvironmentId,
            comment: Type.Optional(Comment({ description: 'For those who approve' })),
            deleteMissing: Type.Optional(Type.Boolean({ description: 'Also delete what only the target has' })),
            resources: Type.Optional(
              Type.Array(RequestedResource, {
                maxItems: 1_000,
                description:
                  'Only these, and the layouts that the workflows among them use. A named resource that only the target has is deleted',
              }),
            ),
          },
          { examples: [{ comment: 'The new welcome email' }] },
        ),
        response: { 201: PublishRequest },
      },
    },
    async (request, reply) => {
      const { comment = '', deleteMissing = false, resources } = request.body
      const route = await routeOf(db, request.environment, request.params, request.body)
      await requirePublish({ db, brand }, request, route)
      requireRoleIn(request, route.sourceId, 'editor')
      const { source, target } = await readEnvironments(db, route)
      const isDeleting = deleteMissing || resources !== undefined
      const plan = planPublish(source, target, {
        resources: resources?.map(asNamed),
        deleteMissing: isDeleting,
        limits,
      })
      const changes = reviewed(plan)
      const diff = reviewedPairs(plan).map((pair) => diffOf(pair, source, target))
      const { person, key, environment } = request
      const now = clock.now()
      const row = await db.transaction().execute(async (tx) => {
        // Keeps the limit exact, and the protection as it is.
        await lockEnvironment(tx, route.targetId)
        await refuseUnneeded(tx, route.targetId)
        if (changes.length === 0) throw fail('publish_request_empty')
        await refuseTooMany(tx, route.targetId, now)
        const made = await tx
          .insertInto('publish_requests')
          .values({
            id: newId(now),
            environment_id: route.targetId,
            source_id: route.sourceId,
            comment: comment.trim(),
            resources: JSON.stringify(changes),
            diff: JSON.stringify(diff),
            requester_type: person ? 'person' : 'api-key',
            requester_id: person?.id ?? key?.id ?? '',
            requester_name: person?.name ?? key?.name ?? '',
            requester_user_id: person?.id ?? environment.userId,
            created_at: now,
            expires_at: new Date(now.getTime() + validDays * dayMs),
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        await record(tx, request, made, 'publish.requested', now)
        return made
      })
      reply.code(201)
      return toRequest(row, request, now)
    },
  )

  app.get(
    path,
    {
      config: seen,
      schema: {
        tags,
        summary: 'List the publish requests of an environment, newest first',
        description: 'The last hundred, of sources that the caller has access to.',
        params: Params,
        querystring: Type.Object({ status: Type.Optional(Enum(statuses)) }),
        response: { 200: Type.Array(PublishRequest) },
      },
    },
    async (request) => {
      const targetId = await targetOf(db, request)
      requirePublishSight(request, targetId)
      return listRequests(db, request, [targetId], clock.now(), request.query.status)
    },
  )

  app.get(
    '/v1/auth/publish-requests',
    {
      config: { people: true, role: 'viewer' },
      schema: {
        tags,
        summary: 'List the publish requests of all environments that you have access to, newest first',
        querystring: Type.Object({ status: Type.Optional(Enum(statuses)) }),
        response: { 200: Type.Array(PublishRequest) },
      },
    },
    async (request) => {
      const { organizationId } = signedIn(request.person)
      const rows = await db
        .selectFrom('environments')
        .select('id')
        .where('organization_id', '=', organizationId)
        .limit(1_000)
        .execute()
      const visible = rows.map(({ id }) => id).filter((id) => !isForeign(request, id))
      return listRequests(db, request, visible, clock.now(), request.query.status)
    },
  )

  app.get(
    `${path}/:requestId`,
    {
      config: seen,
      schema: {
        tags,
        summary: 'Retrieve a publish request with its differences',
        params: RequestParams,
        response: { 200: Detailed },
      },
    },
    async (request) => {
      const row = await visibleRequest(db, request)
      const now = clock.now()
      const shown = toRequest(row, request, now)
      const { organizationId } = request.environment
      const isOpen = shown.status === 'pending'
      const route = { organizationId, sourceId: row.source_id, targetId: row.environment_id }
      const contents = isOpen ? await readEnvironments(db, route) : undefined
      const options = { resources: namesOf(row.resources), deleteMissing: true, limits }
      const changed = contents
        ? changedSince(row.resources, planPublish(contents.source, contents.target, options))
        : []
      return { ...shown, diff: row.diff as Static<typeof Detailed>['diff'], changedSince: changed }
    },
  )

  app.post(
    `${path}/:requestId/approve`,
    {
      config: decides,
      schema: {
        tags,
        summary: 'Approve a publish request, which publishes it',
        description:
          'Not for the person who made it. If anything in it has changed since, nothing is published and the answer says what.',
        params: RequestParams,
        body: Body({ comment: Type.Optional(Comment()) }, { examples: [{ comment: 'Looks good' }] }),
        response: { 200: Type.Object({ request: PublishRequest, report: Report }) },
      },
    },
    async (request) => {
      const person = signedIn(request.person)
      const { comment = '' } = request.body
      const now = clock.now()
      const { organizationId } = person
      const { author, message } = authorOf(request)
      return db.transaction().execute(async (tx) => {
        const row = await openRequest(tx, request, now)
        if (row.requester_user_id === person.id) throw fail('own_publish_request')
        await refuseLostRole(tx, person, row)
        const outcomes = await publish(
          tx,
          { organizationId, sourceId: row.source_id, targetId: row.environment_id },
          { resources: namesOf(row.resources), deleteMissing: true, limits },
          {
            ...{ userId: person.id, now, author, message },
            approved: (plan) => refuseChanged(row.resources, plan),
          },
        )
        const decided = await decide(tx, row, { status: 'approved', comment, person, now })
        await record(tx, request, decided, 'publish.approved', now)
        return { request: toRequest(decided, request, now), report: report(outcomes, { dryRun: false }) }
      })
    },
  )

  app.post(
    `${path}/:requestId/decline`,
    {
      config: decides,
      schema: {
        tags,
        summary: 'Decline a publish request',
        params: RequestParams,
        body: Body(
          { comment: Comment({ minLength: 1, description: 'Why; the person who asked reads it' }) },
          { examples: [{ comment: 'The subject has a typo' }] },
        ),
        response: { 200: PublishRequest },
      },
    },
    async (request) => {
      const person = signedIn(request.person)
      const now = clock.now()
      return db.transaction().execute(async (tx) => {
        const row = await openRequest(tx, request, now)
        await refuseLostRole(tx, person, row)
        const decided = await decide(tx, row, { status: 'declined', comment: request.body.comment, person, now })
        await record(tx, request, decided, 'publish.declined', now)
        return toRequest(decided, request, now)
      })
    },
  )

  app.post(
    `${path}/:requestId/withdraw`,
    {
      config: seen,
      schema: {
        tags,
        summary: 'Withdraw your own publish request',
        params: RequestParams,
        response: { 200: PublishRequest },
      },
    },
    async (request) => {
      const now = clock.now()
      return db.transaction().execute(async (tx) => {
        const row = await openRequest(tx, request, now)
        if (row.requester_id !== (request.person?.id ?? request.key?.id)) throw fail('not_your_publish_request')
        const decided = await decide(tx, row, { status: 'withdrawn', comment: '', now })
        await record(tx, request, decided, 'publish.withdrawn', now)
        return toRequest(decided, request, now)
      })
    },
  )
}

type InTarget = FastifyRequest<{ Params: Static<typeof Params> }>
type OfRequest = FastifyRequest<{ Params: Static<typeof RequestParams> }>

const statusOf = ({ status, expires_at }: Row, now: Date) =>
  status === 'pending' && expires_at <= now ? 'expired' : status

function toRequest(row: Row, { person }: FastifyRequest, now: Date): Static<typeof PublishRequest> {
  const status = statusOf(row, now)
  const isYours = person?.id === row.requester_user_id
  return {
    _id: row.id,
    sourceEnvironmentId: row.source_id,
    targetEnvironmentId: row.environment_id,
    status,
    comment: row.comment,
    requestedBy: { type: row.requester_type, id: row.requester_id, name: row.requester_name },
    resources: row.resources,
    isYours,
    mayDecide: status === 'pending' && !isYours && person !== undefined && mayPublish(person, row),
    decidedBy: row.decided_by === null ? null : { id: row.decided_by, name: row.decided_by_name ?? '' },
    decisionComment: row.decision_comment,
    decidedAt: row.decided_at,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}

const mayPublish = (person: Pick<Person, 'role' | 'environmentRoles'>, row: Row) =>
  isAtLeast(roleIn(person, row.environment_id), 'admin') && isAtLeast(roleIn(person, row.source_id), 'viewer')

/** A request shows content of its source, so that one must be open to the caller, too. */
const isVisible = (request: FastifyRequest, { source_id }: Row) =>
  request.person ? !isForeign(request, source_id) : !isBound(request) || source_id === request.environment.id

async function listRequests(
  db: Db,
  request: FastifyRequest,
  targets: string[],
  now: Date,
  status: (typeof statuses)[number] | undefined,
): Promise<Static<typeof PublishRequest>[]> {
  const isPending = status === 'pending' || status === 'expired'
  const rows = await db
    .selectFrom('publish_requests')
    .selectAll()
    .where((where) => where('environment_id', '=', where.fn.any(where.val(targets))))
    .$if(status !== undefined, (query) => query.where('status', '=', isPending ? 'pending' : (status as Row['status'])))
    .$if(isPending, (query) => query.where('expires_at', status === 'expired' ? '<=' : '>', now))
    .orderBy('id', 'desc')
    .limit(mostListed)
    .execute()
  return rows.filter((row) => isVisible(request, row)).map((row) => toRequest(row, request, now))
}

async function targetOf(db: Db | Tx, { environment, params }: InTarget): Promise<string> {
  const { targetEnvironmentId: id } = params
  const row = await db
    .selectFrom('environments')
    .select('id')
    .where('organization_id', '=', environment.organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw fail('environment_not_found', { environmentId: id })
  return row.id
}

async function visibleRequest(db: Db | Tx, request: OfRequest, lock?: 'locked'): Promise<Row> {
  const { requestId } = request.params
  const targetId = await targetOf(db, request)
  requirePublishSight(request, targetId)
  const row = await db
    .selectFrom('publish_requests')
    .selectAll()
    .where('environment_id', '=', targetId)
    .where('id', '=', requestId)
    .$if(lock === 'locked', (query) => query.forUpdate())
    .executeTakeFirst()
  if (!row || !isVisible(request, row)) throw fail('publish_request_not_found', { requestId })
  return row
}

/** Locked, so that of two decisions at the same moment the second finds it decided. */
async function openRequest(tx: Tx, request: OfRequest, now: Date): Promise<Row> {
  const row = await visibleRequest(tx, request, 'locked')
  const status = statusOf(row, now)
  if (status !== 'pending') throw fail('publish_request_closed', { status }, { ctx: { status } })
  return row
}

/** Read anew: the role may have changed while the request waited for the lock. */
async function refuseLostRole(tx: Tx, { id }: Person, row: Row): Promise<void> {
  const user = await tx
    .selectFrom('users')
    .select(['role', 'environment_roles as environmentRoles'])
    .where('id', '=', id)
    .executeTakeFirst()
  const role = user ? roleIn(user, row.environment_id) : 'none'
  if (!user || !mayPublish(user, row))
    throw fail('insufficient_role', { role, needed: 'admin' }, { ctx: { role, needed: 'admin' } })
}

async function refuseUnneeded(tx: Tx, environmentId: string): Promise<void> {
  const row = await tx
    .selectFrom('environments')
    .select('is_protected')
    .where('id', '=', environmentId)
    .executeTakeFirst()
  if (!row?.is_protected) throw fail('publish_request_unneeded')
}

async function refuseTooMany(tx: Tx, environmentId: string, now: Date): Promise<void> {
  const { count } = await tx
    .selectFrom('publish_requests')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('environment_id', '=', environmentId)
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  if (Number(count) >= mostPending) throw fail('too_many_publish_requests', { limit: mostPending })
}

interface Decision {
  status: Exclude<Row['status'], 'pending'>
  comment: string
  person?: Person
  now: Date
}

async function decide(tx: Tx, { id }: Row, { status, comment, person, now }: Decision): Promise<Row> {
  return tx
    .updateTable('publish_requests')
    .set({
      status,
      decision_comment: comment.trim(),
      decided_by: person?.id ?? null,
      decided_by_name: person?.name ?? null,
      decided_at: now,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** In the audit log and for webhooks, in the transaction of the change. */
async function record(tx: Tx, request: FastifyRequest, row: Row, action: EventType, now: Date): Promise<void> {
  const environments = await tx
    .selectFrom('environments')
    .select(['id', 'name'])
    .where('id', 'in', [row.environment_id, row.source_id])
    .execute()
  const nameOf = (id: string) => environments.find((each) => each.id === id)?.name ?? null
  const count = (wanted: string) => row.resources.filter((each) => each.action === wanted).length
  const counts = { created: count('created'), updated: count('updated'), deleted: count('deleted') }
  const act = {
    action,
    target: { id: row.id, name: nameOf(row.environment_id) },
    environmentId: row.environment_id,
    details: { from: nameOf(row.source_id), requestedBy: row.requester_name, ...counts },
  }
  await recordAct(tx, { ...requestActs(request), ...act }, now)
  const { diff: _, ...object } = row
  await tell(tx, row.environment_id, [{ type: action, object }], now)
}
