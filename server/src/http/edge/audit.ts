// The audit log: who did what to whom or what, when, and from where. It never holds values.
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { allOf, cursorPage } from '../../db/core/page.ts'
import { type Act, type Actor, actorTypes, entriesAfter, recordAct, verifyChain } from '../../db/queries/audit-log.ts'
import { isBound } from './reach.ts'
import { type App, logOf, type Resource, type Services } from './resource.ts'
import { CursorPage, cursorQuery, Enum, FreeObject, Nullable, Timestamp } from './schema.ts'

/** The actor of a signed-in person's request. */
export const personActs = ({ person, ip }: FastifyRequest): Pick<Act, 'organizationId' | 'actor' | 'address'> => ({
  organizationId: person?.organizationId ?? '',
  actor: { type: 'person', id: person?.id ?? '', name: person?.name ?? '', email: person?.email ?? '' },
  address: ip,
})

/** The actor of a request before sign-in or after sign-out. */
export const userActs = (
  user: { id: string; organization_id: string; name: string; email: string },
  { ip }: FastifyRequest,
): Pick<Act, 'organizationId' | 'actor' | 'address'> => ({
  organizationId: user.organization_id,
  actor: { type: 'person', id: user.id, name: user.name, email: user.email },
  address: ip,
})

/** Logs a successful request of a route that names an act, before its answer goes out. Other routes pay nothing. */
export function registerAudit(app: App, { db, clock }: Pick<Services, 'db' | 'clock'>): void {
  app.decorateRequest('acted', undefined)
  app.decorateRequest('targetName', undefined)
  app.addHook('onRoute', (route) => {
    const action = route.config?.act
    if (action === undefined) return
    // Before it happens: afterwards, what was deleted has no name any more.
    route.preHandler = [
      ...[route.preHandler ?? []].flat(),
      async (request: FastifyRequest) => {
        const id = namedIn(request)
        if (id !== undefined) request.targetName = await nameOf(db, action, id)
      },
    ]
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (request, reply, payload) => {
        if (reply.statusCode < 300 && request.acted !== false)
          await recordRequest(db, request, action, targetIn(request, payload), clock.now())
        return payload
      },
    ]
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the audit log says of this request beyond its fields; false if nothing was done after all. */
    acted: Record<string, unknown> | false | undefined
    targetName: string | undefined
  }
}

/** The name of what an act concerns, by the first part of the action. URLs may hold secrets, so only their host. */
const names: Record<string, RawBuilder<unknown>> = {
  'api-key': sql`SELECT name FROM api_keys`,
  environment: sql`SELECT name FROM environments`,
  integration: sql`SELECT name FROM integrations`,
  webhook: sql`SELECT substring(url FROM '://([^/?#]+)') AS name FROM webhook_endpoints`,
  workflow: sql`SELECT name FROM workflows`,
}

async function nameOf(db: Db, action: string, id: string): Promise<string | undefined> {
  const found = names[action.split('.', 1)[0] ?? '']
  if (!found) return undefined
  const { rows } = await sql<{ name: string | null }>`${found} WHERE id = ${id}`.execute(db)
  return rows[0]?.name ?? undefined
}

/** The actor of a request in an environment: a person, or its API key. */
export function requestActs(
  request: FastifyRequest,
): Pick<Act, 'organizationId' | 'actor' | 'address' | 'environmentId'> {
  const { environment, ip, person, key } = request
  const byKey = { type: 'api-key', id: key?.id ?? environment.id, name: key?.name ?? 'API key', email: null } as const
  return {
    ...(person ? personActs(request) : { organizationId: environment.organizationId, actor: byKey, address: ip }),
    environmentId: environment.id,
  }
}

async function recordRequest(db: Db, request: FastifyRequest, action: string, target: Target, now: Date) {
  const act = { ...requestActs(request), action, target, details: detailsOf(request) }
  try {
    await recordAct(db, act, now)
  } catch (error) {
    // The change is committed, so the client must get its answer.
    logOf(request).error(
      { err: error, act: { ...act, actor: act.actor.id } },
      'an act could not be written to the audit log',
    )
  }
}

/** What the handler says, or else the names of the given fields, without their values. */
function detailsOf({ body, acted }: FastifyRequest): Record<string, unknown> {
  if (acted) return acted
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  const fields = isObject ? Object.keys(body) : []
  return fields.length === 0 ? {} : { fields }
}

/** The first parameter of the path. */
const namedIn = ({ params }: FastifyRequest) => Object.values(params as Record<string, string>)[0]

type Target = { id: string | null; name: string | null }

/** What the path names, or else what was created. */
function targetIn(request: FastifyRequest, payload: unknown): Target {
  const id = namedIn(request)
  if (id !== undefined) return { id, name: request.targetName ?? null }
  if (typeof payload !== 'string' || !payload.startsWith('{')) return { id: null, name: null }
  const made = JSON.parse(payload) as Made & { data?: Made }
  const { _id, name, url } = made.data ?? made
  return { id: _id ?? null, name: name ?? (url === undefined ? null : new URL(url).host) }
}

interface Made {
  _id?: string
  name?: string
  url?: string
}

const Entry = Type.Object({
  _id: Type.String(),
  action: Type.String({ description: 'The action, such as `member.role-changed`' }),
  actor: Type.Object({
    type: Enum(actorTypes),
    id: Nullable(Type.String()),
    name: Type.String(),
    email: Nullable(Type.String()),
  }),
  target: Type.Object({ type: Type.String(), id: Nullable(Type.String()), name: Nullable(Type.String()) }),
  environmentId: Nullable(Type.String()),
  address: Nullable(Type.String({ description: 'Where the request came from' })),
  details: FreeObject,
  createdAt: Timestamp,
})

interface Row {
  id: string
  action: string
  actor_type: Actor['type']
  actor_id: string | null
  actor_name: string
  actor_email: string | null
  target_type: string
  target_id: string | null
  target_name: string | null
  acted_in: string | null
  address: string | null
  details: Record<string, unknown>
  created_at: Date
}

const toEntry = (row: Row): Static<typeof Entry> => ({
  _id: row.id,
  action: row.action,
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name, email: row.actor_email },
  target: { type: row.target_type, id: row.target_id, name: row.target_name },
  environmentId: row.acted_in,
  address: row.address,
  details: row.details,
  createdAt: row.created_at,
})

/** As an export has it: with its place in the chain, so that others can check that. */
const toLine = (row: Row & { number: string; previous_hash: Buffer; hash: Buffer }): string =>
  `${JSON.stringify({
    ...toEntry(row),
    number: row.number,
    previousHash: row.previous_hash.toString('hex'),
    hash: row.hash.toString('hex'),
  })}\n`

const Chain = Type.Object({
  isWhole: Type.Boolean({ description: 'Whether every hash fits its entry and the entry before' }),
  entries: Type.Integer({ description: 'Entries that are left; older ones are deleted by age, from the oldest on' }),
  erased: Type.Integer({ description: 'Of these, the ones whose subscriber was erased' }),
  first: Type.Optional(Type.Object({ number: Type.String(), createdAt: Timestamp })),
  last: Type.Optional(
    Type.Object(
      { number: Type.String(), hash: Type.String() },
      { description: 'Keep it elsewhere: if a later export has another hash under this number, the log was rewritten' },
    ),
  ),
  broken: Type.Optional(
    Type.Object(
      { id: Nullable(Type.String()), number: Type.String(), reason: Type.String() },
      { description: 'The first entry that does not fit' },
    ),
  ),
})

const entriesPerRead = 1_000

/** The environment whose part of the log the caller may read; undefined: all of it. */
const partOf = (request: FastifyRequest): string | undefined => (isBound(request) ? request.environment.id : undefined)

export const audit: Resource = (app, { db }) => {
  app.get(
    '/v1/audit/verify',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['Team'],
        summary: 'Verify the audit log of the organization',
        description: 'Computes the hash of every entry again.',
        response: { 200: Chain },
      },
    },
    ({ environment }) => verifyChain(db, environment.organizationId),
  )

  app.get(
    '/v1/audit/export',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['Team'],
        summary: 'Export the audit log of the organization',
        description:
          'All entries from the oldest on, one JSON object a line (`application/x-ndjson`). A key of one environment, or an admin of one, gets what was done in that environment.',
        querystring: Type.Object({
          after: Type.Optional(
            Type.String({ pattern: '^\\d{1,18}$', description: 'The `number` of the last entry you have' }),
          ),
        }),
        response: {
          200: {
            description: 'One entry a line',
            content: { 'application/x-ndjson': { schema: Type.Unsafe<Readable>(Type.String()) } },
          },
        },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.environment
      const environmentId = partOf(request)
      async function* lines() {
        let number = request.query.after ?? '0'
        for (;;) {
          const rows = await entriesAfter(db, { organizationId, environmentId, number }, entriesPerRead)
          if (rows.length === 0) return
          yield rows.map((row) => toLine(row as unknown as Parameters<typeof toLine>[0])).join('')
          number = rows.at(-1)?.number ?? number
        }
      }
      reply.header('Content-Disposition', 'attachment; filename="audit.ndjson"')
      return reply.type('application/x-ndjson').send(Readable.from(lines()))
    },
  )

  app.get(
    '/v1/audit',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['Team'],
        summary: 'List the audit log of the organization',
        description: 'A key of one environment, or an admin of one, sees what was done in that environment.',
        querystring: Type.Object({
          ...cursorQuery('ListAuditCommand', ['minimum', 'maximum']),
          action: Type.Optional(Type.String({ description: 'The whole action, or the part before its dot' })),
          actor: Type.Optional(Type.String({ description: 'The id of a person or of an API key' })),
        }),
        response: { 200: CursorPage(Entry) },
      },
    },
    async (request) => {
      const { action, actor } = request.query
      const { organizationId } = request.environment
      const environmentId = partOf(request)
      const where = [
        sql`t.organization_id = ${organizationId}`,
        ...(environmentId === undefined ? [] : [sql`t.acted_in = ${environmentId}`]),
        ...(action ? [sql`(t.action = ${action} OR split_part(t.action, '.', 1) = ${action})`] : []),
        ...(actor ? [sql`t.actor_id = ${actor}`] : []),
      ]
      const page = await cursorPage<Row>(
        db,
        {
          from: sql`audit_log t`,
          table: 'audit_log',
          columns: sql`t.*`,
          where: allOf(where),
          environmentId: organizationId,
          ownedBy: 'organization_id',
        },
        request.query,
      )
      return { ...page, data: page.data.map(toEntry) }
    },
  )
}
