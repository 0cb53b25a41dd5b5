// The suppression list: who is not written to, and why. Listed, searched, added to, imported and exported.
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import {
  type AddressChannel,
  addressChannels,
  comparedAddress,
  hashOfAddress,
  isAddress,
} from '../../db/core/addresses.ts'
import { retryConflicts } from '../../db/core/database.ts'
import { allOf, cursorPage } from '../../db/core/page.ts'
import {
  addSuppressions,
  findSuppression,
  importSuppressions,
  type NewSuppression,
  ofAddress,
  removeSuppressions,
  type SuppressionRow,
  scopeTypes,
  suppressionReasons,
  suppressionSources,
  suppressionsOf,
} from '../../db/queries/suppressions.ts'
import { decidingEntry, scopeOf } from '../../engine/consent/rules.ts'
import { fail } from '../../errors.ts'
import type { App, Resource } from '../edge/resource.ts'
import {
  Body,
  CursorPage,
  cursorQuery,
  Empty,
  Enum,
  Identifier,
  Nullable,
  NullableTimestamp,
  Timestamp,
} from '../edge/schema.ts'
import { fieldError } from '../edge/validation.ts'
import { type CsvRow, csvHeader, csvLine, csvRows, readHeader } from './suppressions-csv.ts'

const Channel = Enum(addressChannels)
/** Longer than any address; what is no address is refused by its form. */
const Address = Type.String({ minLength: 1, maxLength: 4_096 })
const Category = Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' })

type Scope = ReturnType<typeof scopeOf>
const Scope = Type.Unsafe<Scope>({
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: [...scopeTypes] },
    workflowId: { type: 'string', description: 'With `workflow`' },
    category: { type: 'string', description: 'With `category`' },
    except: {
      type: 'array',
      items: { type: 'string' },
      description: 'Workflows of the category that are not held back',
    },
  },
})

const GivenScope = Body({
  type: Enum(scopeTypes),
  workflowId: Type.Optional(Identifier({ description: 'With `workflow`: its identifier' })),
  category: Type.Optional(Category),
  except: Type.Optional(Type.Array(Identifier(), { maxItems: 100, description: 'With `category`' })),
})

const Suppression = Type.Object({
  _id: Type.String(),
  channel: Channel,
  address: Nullable(
    Type.String({ description: 'In the form in which it is compared; null once its subscriber was erased' }),
  ),
  addressHash: Type.String({ description: 'The SHA-256 of the address, in hex' }),
  reason: Enum(suppressionReasons),
  scope: Scope,
  source: Enum(suppressionSources),
  subscriberId: Nullable(Type.String()),
  integrationId: Nullable(Type.String()),
  messageId: Nullable(Type.String()),
  note: Nullable(Type.String()),
  expiresAt: NullableTimestamp,
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

type Suppression = Static<typeof Suppression>

const toSuppression = (row: SuppressionRow): Suppression => ({
  _id: row.id,
  channel: row.channel as Suppression['channel'],
  address: row.address,
  addressHash: row.address_hash.toString('hex'),
  reason: row.reason as Suppression['reason'],
  scope: scopeOf(row),
  source: row.source as Suppression['source'],
  subscriberId: row.subscriber_id,
  integrationId: row.integration_id,
  messageId: row.message_id,
  note: row.note,
  expiresAt: row.expires_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** By hand: what Belfry counts itself is not added by hand. */
const givenReasons = suppressionReasons.filter((reason) => reason !== 'soft_bounces')

const largestImport = 10 * 1024 * 1024
const mostRows = 100_000
/** In one transaction: each address is locked, and the database has room for some thousands of locks. */
const rowsAtOnce = 1_000
const mostErrors = 100
const rowsPerRead = 1_000

export const suppressions: Resource = (app, { db }) => {
  const tags = ['Suppressions']
  const Params = Type.Object({ suppressionId: Type.String() })

  app.get(
    '/v1/suppressions',
    {
      schema: {
        tags,
        summary: 'List the suppression list, newest first',
        querystring: Type.Object({
          ...cursorQuery('ListSuppressionsCommand', ['minimum', 'maximum']),
          channel: Type.Optional(Channel),
          address: Type.Optional(
            Type.String({ description: 'The whole address; it also finds entries of people who were erased' }),
          ),
          reason: Type.Optional(Enum(suppressionReasons)),
          source: Type.Optional(Enum(suppressionSources)),
          scope: Type.Optional(Enum(scopeTypes)),
          subscriberId: Type.Optional(Type.String()),
          includeExpired: Type.Optional(Type.Boolean()),
        }),
        response: { 200: CursorPage(Suppression) },
      },
    },
    async (request) => {
      const { query, environment } = request
      const { channel, address, reason, source, scope, subscriberId, includeExpired = false } = query
      const where = [
        sql`t.environment_id = ${environment.id}`,
        ...(address === undefined ? [] : [sql`t.address_hash = ANY (${hashesOf(address, channel)}::bytea[])`]),
        ...(channel === undefined ? [] : [sql`t.channel = ${channel}`]),
        ...(reason === undefined ? [] : [sql`t.reason = ${reason}`]),
        ...(source === undefined ? [] : [sql`t.source = ${source}`]),
        ...(scope === undefined ? [] : [sql`t.scope = ${scope}`]),
        ...(subscriberId === undefined ? [] : [sql`t.subscriber_id = ${subscriberId}`]),
        ...(includeExpired ? [] : [sql`(t.expires_at IS NULL OR t.expires_at > ${request.now()})`]),
      ]
      const page = await cursorPage<SuppressionRow>(
        db,
        {
          from: sql`suppressions t`,
          table: 'suppressions',
          columns: sql`t.*`,
          where: allOf(where),
          environmentId: environment.id,
        },
        { ...query, orderDirection: 'DESC' },
      )
      return { ...page, data: page.data.map(toSuppression) }
    },
  )

  app.post(
    '/v1/suppressions',
    {
      config: { act: 'suppression.added' },
      schema: {
        tags,
        summary: 'Add an address to the suppression list',
        description:
          'When this is answered, nothing that the entry holds back will be sent. The same channel, address, reason and scope again returns that entry, with the later `expiresAt`.',
        body: Body(
          {
            channel: Channel,
            address: Address,
            reason: Type.Optional(Enum(givenReasons, { default: 'manual' })),
            scope: Type.Optional(GivenScope),
            expiresAt: Type.Optional(NullableTimestamp),
            note: Type.Optional(Nullable(Type.String({ maxLength: 500 }))),
          },
          { examples: [{ channel: 'email', address: 'ada@example.com', note: 'Asked us by phone' }] },
        ),
        response: { 200: Suppression, 201: Suppression },
      },
    },
    async (request, reply) => {
      const { environment, body } = request
      const now = request.now()
      const expiresAt = body.expiresAt == null ? null : new Date(body.expiresAt)
      if (expiresAt !== null && expiresAt <= now) throw fail('suppression_expired')
      const { channel, reason = 'manual', note = null } = body
      const compared = addressIn(body)
      const scope = scopeIn(body.scope)
      const source = request.person ? 'dashboard' : 'api'
      const [added] = await retryConflicts(() =>
        db.transaction().execute(async (tx) => {
          if (scope.scope === 'workflow') {
            const known = await tx
              .selectFrom('workflows')
              .select('id')
              .where('environment_id', '=', environment.id)
              .where('identifier', '=', scope.scopeId ?? '')
              .executeTakeFirst()
            if (!known) throw fail('suppression_workflow_unknown', { workflowId: scope.scopeId ?? '' })
          }
          const entry = { channel, ...ofAddress(compared), reason, ...scope, source, note, expiresAt } as const
          return addSuppressions(tx, environment.id, [entry], now)
        }),
      )
      if (!added) throw new Error('An entry that was added is not there.')
      request.acted = { channel, reason, scope: scope.scope }
      return reply.code(added.isNew ? 201 : 200).send(toSuppression(added.row))
    },
  )

  app.get(
    '/v1/suppressions/:suppressionId',
    { schema: { tags, summary: 'Retrieve an entry', params: Params, response: { 200: Suppression } } },
    async ({ environment, params }) => {
      const row = await findSuppression(db, environment.id, params.suppressionId)
      if (!row) throw fail('suppression_not_found', { id: params.suppressionId })
      return toSuppression(row)
    },
  )

  app.delete(
    '/v1/suppressions/:suppressionId',
    {
      config: { role: 'admin', act: 'suppression.removed', refusals: [409] },
      schema: {
        tags,
        summary: 'Remove an entry: its address is written to again',
        params: Params,
        querystring: Type.Object({
          force: Type.Optional(Type.Boolean({ description: 'Also where somebody has complained' })),
        }),
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { environment, query } = request
      const { suppressionId: id } = request.params
      await db.transaction().execute(async (tx) => {
        const row = await findSuppression(tx, environment.id, id)
        if (!row) throw fail('suppression_not_found', { id })
        if (row.reason === 'complaint' && query.force !== true) throw fail('suppression_protected')
        const removed = await removeSuppressions(tx, environment.id, [id], request.now())
        // Another request was faster.
        if (removed.length === 0) throw fail('suppression_not_found', { id })
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/suppressions/check',
    {
      config: { role: 'viewer', scope: 'read' },
      schema: {
        tags,
        summary: 'Ask whether an address is held back',
        description: 'Without `workflowId` as for a transactional workflow.',
        body: Body(
          { channel: Channel, address: Address, workflowId: Type.Optional(Identifier()) },
          { examples: [{ channel: 'email', address: 'ada@example.com' }] },
        ),
        response: {
          200: Type.Object({
            suppressed: Type.Boolean(),
            entry: Type.Unsafe<Suppression | null>({ ...Suppression, type: ['object', 'null'] }),
          }),
        },
      },
    },
    async (request) => {
      const { environment, body } = request
      const compared = addressIn(body)
      const { workflowId } = body
      const workflow = workflowId === undefined ? undefined : await findWorkflow(environment.id, workflowId)
      const about = { channel: body.channel, addressHash: hashOfAddress(compared) }
      const entries = await suppressionsOf(db, environment.id, about, request.now())
      const entry = decidingEntry(entries, {
        workflowId,
        category: workflow?.consent_category ?? null,
        messageClass: workflow?.message_class === 'commercial' ? 'commercial' : 'transactional',
        isCritical: workflow?.critical ?? false,
      })
      return { suppressed: entry !== undefined, entry: entry ? toSuppression(entry) : null }
    },
  )

  const findWorkflow = async (environmentId: string, workflowId: string) => {
    const row = await db
      .selectFrom('workflows')
      .select(['critical', 'message_class', 'consent_category'])
      .where('environment_id', '=', environmentId)
      .where('identifier', '=', workflowId)
      .executeTakeFirst()
    if (!row) throw fail('suppression_workflow_unknown', { workflowId })
    return row
  }

  app.get(
    '/v1/suppressions/export',
    {
      config: { role: 'admin', act: 'suppression.exported' },
      schema: {
        tags,
        summary: 'Export the suppression list as CSV',
        description: 'Entries in force, oldest first. Imported elsewhere, it gives the same list.',
        response: {
          200: {
            description: 'One entry a line, after a line with the names of the columns',
            content: { 'text/csv': { schema: Type.Unsafe<Readable>(Type.String()) } },
          },
        },
      },
    },
    async (request, reply) => {
      const { environment } = request
      const now = request.now()
      async function* lines() {
        yield csvHeader
        for (let after = ''; ; ) {
          const rows = await db
            .selectFrom('suppressions')
            .selectAll()
            .where('environment_id', '=', environment.id)
            .where('id', '>', after)
            .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
            .orderBy('id')
            .limit(rowsPerRead)
            .execute()
          if (rows.length === 0) return
          yield rows.map(csvLine).join('')
          after = rows.at(-1)?.id ?? after
        }
      }
      reply.header('Content-Disposition', 'attachment; filename="suppressions.csv"')
      return reply.type('text/csv; charset=utf-8').send(Readable.from(lines()))
    },
  )

  void app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', async ({ headers }: FastifyRequest) => {
      throw fail('csv_expected', { contentType: headers['content-type'] ?? '' })
    })
    scope.addContentTypeParser(
      'text/csv',
      { parseAs: 'buffer', bodyLimit: largestImport },
      async (_: unknown, bytes: Buffer) => bytes,
    )
    scope.post(
      '/v1/suppressions/import',
      {
        config: { role: 'admin', act: 'suppression.imported', refusals: [413, 415] },
        schema: {
          tags,
          summary: 'Import a CSV file into the suppression list',
          description:
            'The columns of the export, of which `address` is needed: without `channel` it is for email, without `reason` manual. Good rows are taken, bad ones told.',
          consumes: ['text/csv'],
          body: Type.Unsafe<Buffer>({ description: 'A CSV file' }),
          response: {
            200: Type.Object({
              imported: Type.Integer(),
              existing: Type.Integer(),
              rejected: Type.Integer(),
              errors: Type.Array(Type.Object({ line: Type.Integer(), problem: Type.String() }), {
                description: `The first ${mostErrors}`,
              }),
            }),
          },
        },
      },
      async (request) => {
        const { environment } = request
        const now = request.now()
        const { entries, rejected, errors } = readFile(request.body, now)
        let [imported, existing] = [0, entries.length]
        for (let at = 0; at < entries.length; at += rowsAtOnce) {
          const some = entries.slice(at, at + rowsAtOnce)
          imported += await retryConflicts(() =>
            db.transaction().execute((tx) => importSuppressions(tx, environment.id, some, now)),
          )
        }
        existing -= imported
        request.acted = { imported, existing, rejected }
        return { imported, existing, rejected, errors }
      },
    )
  })
}

/** In the compared form. */
function addressIn({ channel, address }: { channel: AddressChannel; address: string }): string {
  const compared = comparedAddress(channel, address)
  if (!isAddress(channel, compared))
    throw fail('suppression_address_invalid', { channel, address: address.slice(0, 100) })
  return compared
}

/** An address is compared by the rules of its channel; without one, by those of each. */
const hashesOf = (address: string, channel: AddressChannel | undefined): Buffer[] =>
  [...new Set((channel ? [channel] : addressChannels).map((each) => comparedAddress(each, address)))].map(hashOfAddress)

function scopeIn(
  given: Static<typeof GivenScope> | undefined,
): Pick<NewSuppression, 'scope' | 'scopeId' | 'exceptions'> {
  const { type = 'all', workflowId, category, except = [] } = given ?? {}
  if (type === 'workflow' && workflowId === undefined)
    throw fieldError(addCommand, { 'scope.workflowId': ['a scope of the type workflow names one'] }, given)
  if (type === 'category' && category === undefined)
    throw fieldError(addCommand, { 'scope.category': ['a scope of the type category names one'] }, given)
  if (type === 'workflow') return { scope: type, scopeId: workflowId ?? '' }
  if (type === 'category') return { scope: type, scopeId: category ?? '', exceptions: [...new Set(except)].sort() }
  return { scope: type }
}

const addCommand = 'AddSuppressionCommand'

interface ReadFile {
  entries: NewSuppression[]
  rejected: number
  errors: Array<{ line: number; problem: string }>
}

function readFile(bytes: Buffer | undefined, now: Date): ReadFile {
  const file: ReadFile = { entries: [], rejected: 0, errors: [] }
  const [header, ...rows] = rowsIn(decoded(bytes ?? Buffer.alloc(0)))
  if (!header) throw fail('csv_invalid', { reason: 'it is empty' })
  const read = readHeader(header)
  for (const row of rows) {
    const result = read(row, now)
    if ('entry' in result) file.entries.push(result.entry)
    else {
      file.rejected += 1
      if (file.errors.length < mostErrors) file.errors.push({ line: row.line, problem: result.problem })
    }
  }
  return file
}

function rowsIn(text: string): CsvRow[] {
  const rows: CsvRow[] = []
  for (const row of csvRows(text)) {
    // The first is the header.
    if (rows.length > mostRows) throw fail('too_many_rows', { limit: mostRows })
    rows.push(row)
  }
  return rows
}

function decoded(bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (text.includes('\0')) throw fail('csv_invalid', { reason: 'it contains a null character' })
    return text
  } catch (cause) {
    if (cause instanceof TypeError) throw fail('csv_invalid', { reason: 'it is not UTF-8' }, { cause })
    throw cause
  }
}
