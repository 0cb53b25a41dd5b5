// Environment variables: keys of the organization with a value per environment, for templates to use as `env.KEY`.
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { mask } from '../../db/core/environment-access.ts'
import { newId } from '../../db/core/ids.ts'
import { allOf, contains } from '../../db/core/page.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import { lockOrganization } from '../../db/queries/environments.ts'
import { fail } from '../../errors.ts'
import { isForeign, requireOrganization, requireOwn } from '../edge/reach.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Empty, Enum, Timestamp } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'

const mostListed = 1_000
const longest = 256

const VariableType = Enum(['string'])
const Variable = Type.Object({
  _id: Type.String(),
  _organizationId: Type.String(),
  key: Type.String(),
  type: VariableType,
  isSecret: Type.Boolean(),
  values: Type.Array(Type.Object({ _environmentId: Type.String(), value: Type.String() })),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const Key = Type.String({
  minLength: 1,
  maxLength: longest,
  pattern: '^[A-Za-z][A-Za-z0-9_]*$',
  texts: { pattern: 'must start with a letter and contain only letters, digits and underscores' },
})
const fields = {
  type: Type.Optional(VariableType),
  isSecret: Type.Optional(Type.Boolean()),
  values: Type.Optional(
    Type.Array(Body({ _environmentId: Type.String(), value: Type.String({ maxLength: longest }) })),
  ),
}
type Values = NonNullable<Static<typeof fields.values>>
const Params = Type.Object({ variableKey: Type.String() })

interface Row {
  id: string
  organization_id: string
  key: string
  type: 'string'
  is_secret: boolean
  created_at: Date
  updated_at: Date
  sealed: Array<{ environmentId: string; value: string }>
}

async function readVariables(db: Db | Tx, where: RawBuilder<unknown>[]): Promise<Row[]> {
  const { rows } = await sql<Row>`
    SELECT v.*, coalesce((
      SELECT json_agg(json_build_object('environmentId', e.environment_id, 'value', e.value) ORDER BY e.environment_id)
      FROM environment_variable_values e WHERE e.variable_id = v.id), '[]') AS sealed
    FROM environment_variables v
    WHERE ${allOf(where)}
    ORDER BY v.created_at DESC, v.id DESC LIMIT ${mostListed}`.execute(db)
  return rows
}

async function readVariable(db: Db | Tx, organizationId: string, key: string): Promise<Row> {
  const [row] = await readVariables(db, [sql`v.organization_id = ${organizationId}`, sql`v.key = ${key}`])
  if (!row) throw fail('variable_not_found', { key })
  return row
}

/** Callers see the values of their environments. */
const toVariable = (row: Row, secrets: Secrets, request: FastifyRequest): Static<typeof Variable> => ({
  _id: row.id,
  _organizationId: row.organization_id,
  key: row.key,
  type: row.type,
  isSecret: row.is_secret,
  values: row.sealed
    .filter(({ environmentId }) => !isForeign(request, environmentId))
    .map(({ environmentId, value }) => ({
      _environmentId: environmentId,
      value: row.is_secret ? mask : secrets.decrypt(value),
    })),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const environmentVariables: Resource = (app, { db, clock, secrets, brand, config: { limits } }) => {
  const tags = ['Environment variables']

  app.get(
    '/v1/environment-variables',
    {
      schema: {
        tags,
        summary: 'List the environment variables of the organization',
        querystring: Type.Object({
          search: Type.Optional(Type.String({ maxLength: longest, description: 'Part of the key, case-insensitive' })),
        }),
        response: { 200: Type.Array(Variable) },
      },
    },
    async (request) => {
      const { search } = request.query
      const rows = await readVariables(db, [
        sql`v.organization_id = ${request.environment.organizationId}`,
        ...(search ? [contains(sql`v.key`, search)] : []),
      ])
      return rows.map((row) => toVariable(row, secrets, request))
    },
  )

  app.post(
    '/v1/environment-variables',
    {
      config: { role: 'admin', act: 'variable.created' },
      schema: {
        tags,
        summary: 'Create an environment variable',
        body: Body({ key: Key, ...fields }, { examples: [{ key: 'SUPPORT_EMAIL' }] }),
        response: { 200: Variable },
      },
    },
    async (request) => {
      const { organizationId } = request.environment
      const { key, type = 'string', isSecret = false, values = [] } = request.body
      refuseValues(values)
      for (const { _environmentId } of values) requireOwn(request, _environmentId)
      await requireOrganization({ db, brand }, request)
      const row = await db.transaction().execute(async (tx) => {
        await lockOrganization(tx, organizationId)
        await refuseTakenKey(tx, organizationId, key)
        await refuseOneTooMany(tx, organizationId, limits.variables)
        const now = clock.now()
        const id = newId(now)
        await tx
          .insertInto('environment_variables')
          .values({
            id,
            organization_id: organizationId,
            key,
            type,
            is_secret: isSecret,
            created_at: now,
            updated_at: now,
          })
          .execute()
        await writeValues(tx, secrets, { id, organizationId, values })
        return readVariable(tx, organizationId, key)
      })
      return toVariable(row, secrets, request)
    },
  )

  app.get(
    '/v1/environment-variables/:variableKey',
    { schema: { tags, summary: 'Retrieve an environment variable', params: Params, response: { 200: Variable } } },
    async (request) =>
      toVariable(
        await readVariable(db, request.environment.organizationId, request.params.variableKey),
        secrets,
        request,
      ),
  )

  app.get(
    '/v1/environment-variables/:variableKey/usage',
    {
      schema: {
        tags,
        summary: 'List the workflows whose steps use an environment variable',
        description: 'Of all environments that the caller has access to; a key of one environment has its own.',
        params: Params,
        response: {
          200: Type.Object({
            workflows: Type.Array(Type.Object({ name: Type.String(), workflowId: Type.String() })),
          }),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.environment
      const { key } = await readVariable(db, organizationId, request.params.variableKey)
      // A key has word characters only. `payload.env.KEY` is another `env`.
      const token = `(?<![\\w.])env\\.${key}(?!\\w)`
      // String by string: in the JSON text an escape such as \n would join the following word.
      const { rows } = await sql<{ name: string; workflowId: string }>`
        SELECT DISTINCT w.name, w.identifier AS "workflowId"
        FROM workflows w JOIN environments e ON e.id = w.environment_id
        WHERE e.organization_id = ${organizationId} AND e.id = ANY (${await environmentsOf(db, request)}) AND EXISTS (
          SELECT FROM jsonb_path_query(w.steps, 'strict $.** ? (@.type() == "string")') AS text
          WHERE text #>> '{}' ~ ${token})
        ORDER BY w.name, w.identifier LIMIT ${mostListed}`.execute(db)
      return { workflows: rows }
    },
  )

  app.patch(
    '/v1/environment-variables/:variableKey',
    {
      config: { role: 'admin', act: 'variable.changed' },
      schema: {
        tags,
        summary: 'Change the given fields of an environment variable; values of other environments stay',
        params: Params,
        body: Type.Optional(Body({ key: Type.Optional(Key), ...fields })),
        response: { 200: Variable },
      },
    },
    async (request) => {
      const { organizationId } = request.environment
      const { key, type, isSecret, values } = request.body ?? {}
      if ([key, type, isSecret, values].every((field) => field === undefined)) throw fail('variable_patch_empty')
      if (values) refuseValues(values)
      for (const { _environmentId } of values ?? []) requireOwn(request, _environmentId)
      const isDefinition = [key, type, isSecret].some((field) => field !== undefined)
      if (isDefinition) await requireOrganization({ db, brand }, request)
      const row = await db.transaction().execute(async (tx) => {
        await lockOrganization(tx, organizationId)
        const current = await readVariable(tx, organizationId, request.params.variableKey)
        if (isDefinition) refuseShared(request, current)
        if (key !== undefined && key !== current.key) await refuseTakenKey(tx, organizationId, key)
        if (isSecret === false) refuseDisclosure(current, values ?? [])
        await tx
          .updateTable('environment_variables')
          .set({
            ...(key === undefined ? {} : { key }),
            ...(type === undefined ? {} : { type }),
            ...(isSecret === undefined ? {} : { is_secret: isSecret }),
            updated_at: clock.now(),
          })
          .where('id', '=', current.id)
          .execute()
        await writeValues(tx, secrets, { id: current.id, organizationId, values: values ?? [] })
        return readVariable(tx, organizationId, key ?? current.key)
      })
      return toVariable(row, secrets, request)
    },
  )

  app.delete(
    '/v1/environment-variables/:variableKey',
    {
      config: { role: 'admin', act: 'variable.deleted' },
      schema: { tags, summary: 'Delete an environment variable', params: Params, response: { 204: Empty } },
    },
    async (request, reply) => {
      const { organizationId } = request.environment
      const { variableKey } = request.params
      await requireOrganization({ db, brand }, request)
      await db.transaction().execute(async (tx) => {
        // Serialized with changes, so that none in flight writes values of a deleted variable.
        await lockOrganization(tx, organizationId)
        const current = await readVariable(tx, organizationId, variableKey)
        refuseShared(request, current)
        await tx.deleteFrom('environment_variables').where('id', '=', current.id).execute()
      })
      return reply.code(204).send(null)
    },
  )
}

async function environmentsOf(db: Db, request: FastifyRequest): Promise<string[]> {
  const rows = await db
    .selectFrom('environments')
    .select('id')
    .where('organization_id', '=', request.environment.organizationId)
    .limit(mostListed)
    .execute()
  return rows.map(({ id }) => id).filter((id) => !isForeign(request, id))
}

/** Even with an open door, a key of one environment does not change what another one has a value of. */
function refuseShared(request: FastifyRequest, { sealed }: Row): void {
  if (sealed.some(({ environmentId }) => isForeign(request, environmentId))) throw fail('organization_key_needed')
}

function refuseValues(values: Values): void {
  const environmentIds = values.map((value) => value._environmentId)
  if (new Set(environmentIds).size < values.length) throw generalError(["All values's elements must be unique"])
  // A form sent the mask back; storing it would destroy the secret.
  if (values.some(({ value }) => value === mask)) throw fail('variable_value_masked', { mask })
}

/** Turning `isSecret` off needs new values for all environments; otherwise it would reveal the old ones. */
function refuseDisclosure({ is_secret, sealed, key }: Row, values: Values): void {
  const replaced = new Set(values.map((value) => value._environmentId))
  if (is_secret && sealed.some(({ environmentId }) => !replaced.has(environmentId)))
    throw fail('variable_stays_secret', { key })
}

async function refuseTakenKey(tx: Tx, organizationId: string, key: string): Promise<void> {
  const taken = await tx
    .selectFrom('environment_variables')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('key', '=', key)
    .executeTakeFirst()
  if (taken) throw fail('variable_exists', { key })
}

async function refuseOneTooMany(tx: Tx, organizationId: string, limit: number): Promise<void> {
  const { count } = await tx
    .selectFrom('environment_variables')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  if (Number(count) >= limit)
    throw fail('too_many_variables', { limit }, { ctx: { currentCount: Number(count), limit } })
}

/** Every value is encrypted, so that a variable can become a secret without rewriting it. */
async function writeValues(
  tx: Tx,
  secrets: Secrets,
  { id, organizationId, values }: { id: string; organizationId: string; values: Values },
): Promise<void> {
  const environmentIds = values.map((value) => value._environmentId)
  const sealed = values.map(({ value }) => secrets.encrypt(value))
  const { rows } = await sql<{ environment_id: string }>`
    INSERT INTO environment_variable_values (variable_id, environment_id, value)
    SELECT ${id}, e.id, given.value
    FROM unnest(${environmentIds}::text[], ${sealed}::text[]) AS given (environment_id, value)
      JOIN environments e ON e.id = given.environment_id AND e.organization_id = ${organizationId}
    ON CONFLICT (variable_id, environment_id) DO UPDATE SET value = excluded.value
    RETURNING environment_id`.execute(tx)
  const unknown = environmentIds.find((environmentId) => !rows.some((row) => row.environment_id === environmentId))
  if (unknown !== undefined) throw fail('variable_environment_unknown', { environmentId: unknown })
}
