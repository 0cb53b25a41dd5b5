// Environments of an organization and their compatible API keys, which public client libraries use (`api-keys.ts` has all keys).
// A key sees the names of all environments, and the rest of its own only: a Development key on a laptop must not open Production.
import type { FastifyRequest } from 'fastify'
import { type NotNull, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import { type Db, type Tx, violatedKey } from '../../db/core/database.ts'
import { newApiKey } from '../../db/core/ids.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { ShadowSettings } from '../../db/core/tables.ts'
import { insertCompatibleKey, isValidAt } from '../../db/queries/api-keys.ts'
import { createEnvironment, lockEnvironment, lockOrganization } from '../../db/queries/environments.ts'
import { endInboxSessions } from '../../db/queries/inbox-access.ts'
import { lockIntegrations } from '../../db/queries/integrations.ts'
import { queueEnvironmentPurge } from '../../engine/queue/chores.ts'
import { isShowable } from '../../engine/runs/clock.ts'
import { fail } from '../../errors.ts'
import { protectionOf } from '../edge/chosen-environment.ts'
import { refuseProtected } from '../edge/protection.ts'
import { isForeign, requireOrganization, requireOwn, requireReach } from '../edge/reach.ts'
import type { Resource } from '../edge/resource.ts'
import { maySeeKeys, requireRoleInOrganization } from '../edge/roles.ts'
import { Body, Enum, Id, Identifier, Timestamp } from '../edge/schema.ts'
import {
  readUpstreamUrl,
  SettleMinutes,
  Shadow,
  shownShadow,
  UpstreamKey,
  UpstreamUrl,
  usualMinutes,
} from '../edge/shadow-settings.ts'
import { slugOf } from '../edge/slug.ts'
import { momentOf } from './clock.ts'

/** As many as BELFRY_MAX_ENVIRONMENTS can allow. */
const mostListed = 1_000
/** With a held clock, beside the others. */
const mostHeld = 100

const mostKeys = 10
const longestOverlapHours = 720

const Key = Type.Object({
  key: Type.String(),
  _userId: Type.String(),
  createdAt: Timestamp,
  expiresAt: Type.Optional(Type.Unsafe<Date>({ ...Timestamp, description: 'Set once the key has been replaced' })),
})
const Dns = Type.Object({ inboundParseDomain: Type.Optional(Type.String()) })
const Bridge = Type.Object({ url: Type.Optional(Type.String()) })
export const Clock = Type.Object(
  { held: Type.Literal(true), now: Timestamp, seed: Type.Integer() },
  { description: 'Only where the clock is held: what it shows. See `GET /v1/clock`' },
)
const Environment = Type.Object({
  _id: Type.String(),
  name: Type.String(),
  _organizationId: Type.String(),
  identifier: Type.String(),
  type: Enum(['dev', 'prod']),
  color: Type.Optional(Type.String()),
  _parentId: Type.Optional(Type.String()),
  slug: Type.String(),
  apiKeys: Type.Array(Type.Object({ ...Key.properties, hash: Type.String() })),
  dns: Dns,
  bridge: Bridge,
  clock: Type.Optional(Clock),
  shadow: Type.Optional(Shadow),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const nameText = 'Environment name is required'
/** Not only white space, since it is trimmed before it is stored. */
const Name = Identifier({ pattern: '\\S', texts: { required: nameText, minLength: nameText, pattern: nameText } })
const colorText = 'Color must be a valid hex color code'
const Color = Type.String({
  format: 'hex-color',
  texts: { required: 'Environment color is required', format: colorText, type: colorText },
})
const Params = Type.Object({ environmentId: Type.String() })

/** The system environments, created with the organization; they cannot be renamed or deleted. */
const shortNames: Record<string, string> = { development: 'dev', production: 'prod' }
const shortNameOf = (name: string) => shortNames[name.toLowerCase()]
const isSystem = (name: string) => shortNameOf(name) !== undefined

/** The member that shows a held clock. */
export const clockOf = (row: {
  clock_now: Date | null
  clock_seed: number | null
}): { clock?: Static<typeof Clock> } =>
  row.clock_now === null || row.clock_seed === null
    ? {}
    : { clock: { held: true, now: row.clock_now, seed: row.clock_seed } }

async function findEnvironments(
  db: Db | Tx,
  secrets: Secrets,
  now: Date,
  organizationId: string,
  environmentId?: string,
): Promise<Static<typeof Environment>[]> {
  const rows = await db
    .selectFrom('environments')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(environmentId !== undefined, (query) => query.where('id', '=', environmentId ?? ''))
    .orderBy('created_at')
    .orderBy('id')
    .limit(mostListed)
    .execute()
  const ids = rows.map((row) => row.id)
  const keys = await db
    .selectFrom('api_keys')
    .select(['environment_id', 'encrypted_key', 'user_id', 'hash', 'created_at', 'expires_at'])
    .where((where) => where('environment_id', '=', where.fn.any(where.val(ids))))
    .where('encrypted_key', 'is not', null)
    .$narrowType<{ encrypted_key: NotNull }>()
    .where(isValidAt(now))
    .orderBy('created_at', 'desc')
    .orderBy('expires_at', (order) => order.desc().nullsFirst())
    .limit(mostListed)
    .execute()
  return rows.map((row) => ({
    _id: row.id,
    name: row.name,
    _organizationId: row.organization_id,
    identifier: row.identifier,
    type: row.type,
    ...(row.color === null ? {} : { color: row.color }),
    ...(row.parent_id === null ? {} : { _parentId: row.parent_id }),
    slug: slugOf(shortNameOf(row.name) ?? row.name, 'env', row.id),
    apiKeys: keys
      .filter((key) => key.environment_id === row.id)
      .map((key) => ({
        key: secrets.decrypt(key.encrypted_key),
        _userId: key.user_id,
        hash: key.hash,
        createdAt: key.created_at,
        ...(key.expires_at === null ? {} : { expiresAt: key.expires_at }),
      })),
    dns: row.dns,
    bridge: row.bridge,
    ...clockOf(row),
    ...(row.shadow === null ? {} : { shadow: shownShadow(row.shadow) }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }))
}

function forEyesOf(request: FastifyRequest, given: Static<typeof Environment>): Static<typeof Environment> {
  const { shadow, ...environment } = given
  return {
    ...environment,
    ...(shadow && !isForeign(request, environment._id) ? { shadow } : {}),
    ...(maySeeKeys(request, environment._id) ? {} : { apiKeys: [] }),
    ...(isForeign(request, environment._id) ? { dns: {}, bridge: {} } : {}),
  }
}

function justWritten([environment]: Static<typeof Environment>[]): Static<typeof Environment> {
  if (!environment) throw new Error('The environment written in this transaction cannot be read back.')
  return environment
}

/** The database keeps names and identifiers unique; this turns a violation into the right error. */
async function explainingTakenKeys<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const key = violatedKey(error)
    if (key === 'environments_name') throw fail('environment_name_taken')
    if (key === 'environments_identifier_key') throw fail('environment_identifier_taken')
    throw error
  }
}

export const environments: Resource = (app, services) => {
  const { db, clock, secrets, brand, apiKeys, people, config } = services
  const { limits } = config
  const tags = ['Environments']

  app.post(
    '/v1/environments',
    {
      config: { role: 'admin', act: 'environment.created' },
      schema: {
        tags,
        summary: 'Create an environment',
        description:
          'The answer has its API key; only owners can see it again. One with a held clock is of the type `dev`, and sends to the sandbox only; so does one in front of another service, until a workflow is live.',
        body: Body(
          {
            name: Name,
            color: Color,
            parentId: Type.Optional({ ...Id, description: 'Accepted from older clients and ignored' }),
            clock: Type.Optional(
              Body(
                {
                  now: Type.Optional(
                    Type.String({
                      description: 'ISO 8601, or `2026-03-29T02:30[Europe/Berlin]`; without it, the real time',
                    }),
                  ),
                  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
                },
                { description: 'Makes an environment for tests: its clock stands still until it is advanced' },
              ),
            ),
            shadow: Type.Optional(
              Body(
                {
                  upstreamUrl: UpstreamUrl,
                  upstreamKey: UpstreamKey,
                  settleMinutes: Type.Optional(SettleMinutes),
                },
                {
                  description:
                    'Makes an environment in front of another service: requests with its key go on to that one, and are done here too, where nothing is sent until a workflow is live',
                },
              ),
            ),
          },
          { examples: [{ name: 'Staging', color: '#2e86de' }] },
        ),
        response: { 201: Environment },
      },
    },
    async (request, reply) => {
      const { organizationId, userId } = request.environment
      await requireOrganization({ db, brand }, request)
      const name = request.body.name.trim()
      if (isSystem(name)) throw fail('environment_name_reserved')
      const { color, clock: wanted, shadow: asked } = request.body
      if (wanted && asked) throw fail('shadow_without_clock')
      const held = wanted && readClock(wanted, clock.now())
      const behind = asked && readShadow(asked, secrets)
      const created = await explainingTakenKeys(
        db.transaction().execute(async (tx) => {
          await lockOrganization(tx, organizationId)
          const { count } = await tx
            .selectFrom('environments')
            .select((select) => select.fn.countAll<string>().as('count'))
            .where('organization_id', '=', organizationId)
            .where('clock_seed', held ? 'is not' : 'is', null)
            .executeTakeFirstOrThrow()
          if (held && Number(count) >= mostHeld) throw fail('too_many_held_environments', { limit: mostHeld })
          const limit = limits.environments
          if (!held && Number(count) >= limit) throw fail('too_many_environments', { limit })
          const type = held || behind ? 'dev' : 'prod'
          const kind = { ...held, ...behind }
          const fields = { organization_id: organizationId, name, type, color, parent_id: null, ...kind } as const
          const { id } = await createEnvironment(
            tx,
            { ...fields, userId, signsApart: !brand.startsOpen },
            secrets,
            clock.now(),
          )
          return justWritten(await findEnvironments(tx, secrets, clock.now(), organizationId, id))
        }),
      )
      reply.code(201)
      return created
    },
  )

  app.get(
    '/v1/environments',
    {
      schema: {
        tags,
        summary: 'List the environments of the organization',
        description:
          'Signed-in owners see the compatible API keys of every environment, a key that administers its environment those of its own, others none. `dns` and `bridge` of other environments are empty for a key of one environment. A person sees those they have access to.',
        response: { 200: Type.Array(Environment) },
      },
    },
    async (request) =>
      (await findEnvironments(db, secrets, clock.now(), request.environment.organizationId))
        .filter(({ _id }) => !request.person || !isForeign(request, _id))
        .map((environment) => forEyesOf(request, environment)),
  )

  app.get(
    '/v1/environments/me',
    { schema: { tags, summary: "Retrieve the key's own environment", response: { 200: Environment } } },
    async (request) => {
      const { id, organizationId } = request.environment
      const [environment] = await findEnvironments(db, secrets, clock.now(), organizationId, id)
      // The environment was deleted after the key was checked.
      if (!environment) throw fail('api_key_not_found')
      return forEyesOf(request, environment)
    },
  )

  app.put(
    '/v1/environments/:environmentId',
    {
      config: { role: 'admin', act: 'environment.changed' },
      schema: {
        tags,
        summary: 'Change the given fields of an environment',
        params: Params,
        body: Type.Optional(
          Body({
            name: Type.Optional(Name),
            identifier: Type.Optional(Identifier({ pattern: '^\\S+$', texts: { pattern: 'must not contain spaces' } })),
            parentId: Type.Optional(Id),
            color: Type.Optional(Color),
            dns: Type.Optional(Body(Dns.properties)),
            bridge: Type.Optional(Body(Bridge.properties)),
            clock: Type.Optional(Type.Unknown({ description: 'Refused: it is decided when an environment is made' })),
          }),
        ),
        response: { 200: Environment },
      },
    },
    async (request) => {
      const { organizationId } = request.environment
      const { environmentId } = request.params
      const { name, identifier, parentId, color, dns, bridge, clock: wanted } = request.body ?? {}
      if (wanted !== undefined) throw fail('clock_fixed')
      // These decide where an environment's data goes, so an open door is not enough.
      if (identifier !== undefined || dns || bridge) requireOwn(request, environmentId)
      await requireReach({ db, brand }, request, environmentId)
      const changed = await explainingTakenKeys(
        db.transaction().execute(async (tx) => {
          await lockOrganization(tx, organizationId)
          const all = await findEnvironments(tx, secrets, clock.now(), organizationId)
          const current = all.find((environment) => environment._id === environmentId)
          if (!current) throw fail('environment_to_update_not_found')
          if (bridge) refuseProtected(request, await protectionIn(tx, environmentId))
          if (name !== undefined) refuseName(current.name, name.trim())
          if (parentId !== undefined) refuseParent(all, environmentId, parentId)
          const changes = {
            ...(name === undefined ? {} : { name: name.trim() }),
            ...(identifier === undefined ? {} : { identifier }),
            ...(parentId === undefined ? {} : { parent_id: parentId }),
            ...(color === undefined ? {} : { color }),
            ...(dns === undefined ? {} : { dns: JSON.stringify({ ...current.dns, ...dns }) }),
            ...(bridge === undefined ? {} : { bridge: JSON.stringify({ ...current.bridge, ...bridge }) }),
          }
          if (Object.keys(changes).length === 0) return current
          await tx
            .updateTable('environments')
            .set({ ...changes, updated_at: clock.now() })
            .where('id', '=', environmentId)
            .execute()
          return justWritten(await findEnvironments(tx, secrets, clock.now(), organizationId, environmentId))
        }),
      )
      return forEyesOf(request, changed)
    },
  )

  app.delete(
    '/v1/environments/:environmentId',
    {
      config: { role: 'admin', act: 'environment.deleted' },
      schema: {
        tags,
        summary: 'Delete an environment with all its data',
        params: Params,
        response: { 200: Type.Unsafe<undefined>({ type: 'null', description: 'Empty body' }) },
      },
    },
    async (request, reply) => {
      const { organizationId } = request.environment
      const { environmentId } = request.params
      requireRoleInOrganization(request)
      await requireReach({ db, brand }, request, environmentId)
      await db.transaction().execute(async (tx) => {
        await lockOrganization(tx, organizationId)
        const [environment] = await findEnvironments(tx, secrets, clock.now(), organizationId, environmentId)
        if (!environment) throw fail('environment_not_found', { environmentId })
        if (isSystem(environment.name)) throw fail('environment_protected', environment)
        if (await protectionIn(tx, environmentId)) throw fail('protection_first', environment)
        await deleteEnvironment(tx, environmentId, clock.now())
      })
      apiKeys.forget()
      people.forget()
      return reply.send()
    },
  )

  app.get(
    '/v1/environments/api-keys',
    {
      config: { role: 'owner' },
      schema: { tags, summary: "List the API keys of the key's environment", response: { 200: Type.Array(Key) } },
    },
    async (request) => {
      const { id, organizationId } = request.environment
      const [environment] = await findEnvironments(db, secrets, clock.now(), organizationId, id)
      return environment?.apiKeys ?? []
    },
  )

  app.post(
    '/v1/environments/api-keys/regenerate',
    {
      config: { role: 'admin', act: 'api-key.replaced' },
      schema: {
        tags,
        summary: "Replace the compatible API key of the key's environment; the old one is refused at once",
        description: 'Keys that were made by `POST /v2/api-keys` stay. All inbox sessions of the environment end.',
        response: { 201: Type.Array(Key) },
      },
    },
    async (request, reply) => {
      const { id: environmentId, userId } = request.environment
      const apiKey = newApiKey()
      const now = clock.now()
      await db.transaction().execute(async (tx) => {
        // Serializes rotations, so that one compatible key is left.
        await holdKeys(tx, environmentId)
        await tx
          .deleteFrom('api_keys')
          .where('environment_id', '=', environmentId)
          .where('encrypted_key', 'is not', null)
          .execute()
        await insertCompatibleKey(tx, { environmentId, userId, apiKey }, secrets, now)
        // A key is replaced at once because it leaked: sessions made with its hashes end too.
        await endInboxSessions(tx, [environmentId])
        await announce(tx, 'api_keys', environmentId)
      })
      apiKeys.forget()
      reply.code(201)
      return [{ key: apiKey, _userId: userId, createdAt: now }]
    },
  )

  app.post(
    '/v1/environments/api-keys/rotate',
    {
      config: { role: 'admin', act: 'api-key.rotated' },
      schema: {
        tags,
        summary: "Add an API key to the key's environment; existing keys stay valid for a while",
        description:
          'Until they expire, inbox hashes may use any of them; an inbox session ends with the key that made its hash. Belfry itself signs with the newest.',
        body: Type.Optional(
          Body(
            {
              overlapHours: Type.Optional(
                Type.Integer({
                  minimum: 1,
                  maximum: longestOverlapHours,
                  default: 24,
                  description: 'How long existing keys stay valid; one that expires sooner is not extended',
                }),
              ),
            },
            { examples: [{ overlapHours: 24 }] },
          ),
        ),
        response: {
          201: Type.Array(Key, { description: 'All valid keys, newest first; an admin sees only the new one' }),
        },
      },
    },
    async (request, reply) => {
      const { id: environmentId, organizationId, userId } = request.environment
      const { overlapHours = 24 } = request.body ?? {}
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + overlapHours * 3_600_000)
      const keys = await db.transaction().execute(async (tx) => {
        await holdKeys(tx, environmentId)
        const [environment] = await findEnvironments(tx, secrets, now, organizationId, environmentId)
        if ((environment?.apiKeys.length ?? 0) >= mostKeys) throw fail('too_many_api_keys', { limit: mostKeys })
        await tx
          .updateTable('api_keys')
          .set({ expires_at: expiresAt })
          .where('environment_id', '=', environmentId)
          .where('encrypted_key', 'is not', null)
          .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', expiresAt)]))
          .execute()
        await insertCompatibleKey(tx, { environmentId, userId, apiKey: newApiKey() }, secrets, now)
        await announce(tx, 'api_keys', environmentId)
        const { apiKeys: all } = justWritten(await findEnvironments(tx, secrets, now, organizationId, environmentId))
        return maySeeKeys(request, environmentId) ? all : all.filter(({ expiresAt }) => expiresAt === undefined)
      })
      apiKeys.forget()
      reply.code(201)
      return keys
    },
  )

  app.get(
    '/v2/environments/:environmentId/tags',
    {
      schema: {
        tags,
        summary: 'List the tags of the workflows in an environment of the organization',
        params: Type.Object({ environmentId: Type.String({ description: 'Its `_id` or `identifier`' }) }),
        response: { 200: Type.Array(Type.Object({ name: Type.String() })) },
      },
    },
    async (request) => {
      const { environmentId } = request.params
      const environment = await db
        .selectFrom('environments')
        .select('id')
        .where('organization_id', '=', request.environment.organizationId)
        .where((where) => where.or([where('id', '=', environmentId), where('identifier', '=', environmentId)]))
        // If the identifier of one looks like the id of another, the id wins.
        .orderBy((order) => order('id', '=', environmentId), 'desc')
        .limit(1)
        .executeTakeFirst()
      await requireReach({ db, brand }, request, environment?.id ?? environmentId)
      if (!environment) throw fail('environment_not_found', { environmentId })
      return db
        .selectFrom('workflows')
        .select((select) => select.fn<string>('unnest', ['tags']).as('name'))
        .distinct()
        .where('environment_id', '=', environment.id)
        .orderBy('name')
        .limit(mostListed)
        .execute()
    },
  )
}

/** Where a held clock begins. */
function readClock({ now, seed = 0 }: { now?: string; seed?: number }, real: Date) {
  const shown = now === undefined ? real : momentOf('clock.now', now)
  if (!isShowable(shown)) throw fail('clock_out_of_range')
  return { clock_now: shown, clock_seed: seed }
}

/** What is stored of a service behind the environment. */
function readShadow(
  { upstreamUrl, upstreamKey, settleMinutes = usualMinutes }: ShadowAsked,
  secrets: Secrets,
): { shadow: string; shadow_key: string } {
  const settings: ShadowSettings = { upstreamUrl: readUpstreamUrl(upstreamUrl), settleMinutes, live: [] }
  return { shadow: JSON.stringify(settings), shadow_key: secrets.encrypt(upstreamKey) }
}

interface ShadowAsked {
  upstreamUrl: string
  upstreamKey: string
  settleMinutes?: number
}

/** Serializes changes of the environment's keys. */
async function holdKeys(tx: Tx, environmentId: string): Promise<void> {
  await lockEnvironment(tx, environmentId)
  const row = await tx.selectFrom('environments').select('id').where('id', '=', environmentId).executeTakeFirst()
  if (!row) throw fail('api_key_not_found')
}

async function protectionIn(tx: Tx, environmentId: string) {
  const row = await tx
    .selectFrom('environments')
    .select(['is_protected', 'is_open_to_automation'])
    .where('id', '=', environmentId)
    .executeTakeFirstOrThrow()
  return protectionOf(row)
}

function refuseName(current: string, wanted: string): void {
  if (current === wanted) return
  if (isSystem(current)) throw fail('environment_name_fixed')
  if (isSystem(wanted)) throw fail('environment_name_reserved')
}

/** A parent must be another environment of the organization, and no descendant. */
function refuseParent(all: Static<typeof Environment>[], environmentId: string, parentId: string): void {
  const parentOf = new Map(all.map((environment) => [environment._id, environment._parentId]))
  if (!parentOf.has(parentId)) throw fail('parent_environment_not_found', { parentId })
  const line = new Set<string>()
  for (let id: string | undefined = parentId; id !== undefined && !line.has(id); id = parentOf.get(id)) line.add(id)
  if (line.has(environmentId)) throw fail('environment_own_ancestor')
}

/** Deletes keys and variable values with the row; the rest can be millions of rows, and is purged later. */
async function deleteEnvironment(tx: Tx, environmentId: string, now: Date): Promise<void> {
  // Locked before the integrations, as every change of them does, to avoid deadlocks.
  await lockIntegrations(tx, environmentId)
  await tx
    .updateTable('integrations')
    .set({ deleted_at: now, updated_at: now })
    .where('environment_id', '=', environmentId)
    .where('deleted_at', 'is', null)
    .execute()
  await tx.updateTable('environments').set({ parent_id: null }).where('parent_id', '=', environmentId).execute()
  await tx.deleteFrom('environments').where('id', '=', environmentId).execute()
  for (const table of ['users', 'invitations'] as const)
    await sql`
      UPDATE ${sql.table(table)} SET environment_roles = environment_roles - ${environmentId}::text
      WHERE environment_roles ? ${environmentId}`.execute(tx)
  await announce(tx, 'api_keys', environmentId)
  await announce(tx, 'integrations', environmentId)
  await queueEnvironmentPurge(tx, environmentId)
}
