// API keys: several for an environment, and some for the whole organization, each with a name and rights of its own. A new key is
// shown once and kept as a hash.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { newScopedKey } from '../../db/core/api-key-form.ts'
import { announce } from '../../db/core/changes.ts'
import type { Db, Tx } from '../../db/core/database.ts'
import { insertKey, isValidAt } from '../../db/queries/api-keys.ts'
import { lockEnvironment, lockOrganization } from '../../db/queries/environments.ts'
import { addMissingSecrets } from '../../db/queries/signing-secrets.ts'
import { fail } from '../../errors.ts'
import { isNetwork } from '../edge/caller-network.ts'
import { isOfOneEnvironment } from '../edge/reach.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Empty, Identifier, Nullable, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import { plainScopes, publishPrefix } from '../edge/scopes.ts'

/** Of one environment, or of one organization. More than anybody can keep track of. */
const mostKeys = 100
const mostAddresses = 50

const Scopes = Type.Array(Type.String({ maxLength: 100 }), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: `${plainScopes.map((scope) => `\`${scope}\``).join(', ')}, and \`publish:<id of an environment>\``,
})
const Addresses = Type.Array(Type.String({ maxLength: 50 }), {
  minItems: 1,
  maxItems: mostAddresses,
  description: 'IP addresses and networks such as 192.0.2.0/24; null: from everywhere',
})
const Key = Type.Object({
  _id: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: 'The beginning of the key' }),
  scopes: Type.Array(Type.String()),
  isOrganizationWide: Type.Boolean({
    description: 'Opens every environment of the organization, and what they share',
  }),
  isCompatible: Type.Boolean({
    description:
      'Kept encrypted, because public client libraries sign with it; the others are kept as hashes and sign nothing',
  }),
  allowedAddresses: Nullable(Type.Array(Type.String(), { description: 'Null: from everywhere' })),
  createdBy: Type.String({ description: 'The id of a person' }),
  createdAt: Timestamp,
  expiresAt: NullableTimestamp,
  lastUsedAt: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: 'Up to a minute late' }),
})
const NewKey = Type.Object({ ...Key.properties, key: Type.String({ description: 'Shown this once' }) })
const Params = Type.Object({ keyId: Type.String() })

interface Owner {
  environmentId: string
  organizationId: string
}

async function findKeys(db: Db | Tx, of: Partial<Owner>, now: Date, id?: string): Promise<Static<typeof Key>[]> {
  const rows = await db
    .selectFrom('api_keys as k')
    .leftJoin('api_key_uses as u', 'u.key_id', 'k.id')
    .select(['k.id', 'k.name', 'k.hint', 'k.scopes', 'k.organization_id', 'k.allowed_addresses', 'k.user_id'])
    .select(['k.created_at', 'k.expires_at', 'u.used_at'])
    .select((select) => select('k.encrypted_key', 'is not', null).as('is_compatible'))
    .where((where) =>
      where.or([
        where('k.environment_id', '=', of.environmentId ?? ''),
        where('k.organization_id', '=', of.organizationId ?? ''),
      ]),
    )
    .where(isValidAt(now))
    .$if(id !== undefined, (query) => query.where('k.id', '=', id ?? ''))
    .orderBy('k.created_at', 'desc')
    .orderBy('k.id', 'desc')
    .limit(2 * mostKeys)
    .execute()
  return rows.map((row) => ({
    _id: row.id,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes,
    isOrganizationWide: row.organization_id !== null,
    isCompatible: Boolean(row.is_compatible),
    allowedAddresses: row.allowed_addresses,
    createdBy: row.user_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.used_at,
  }))
}

/** A key of one environment manages the keys of that one. */
const inReachOf = (request: FastifyRequest): Partial<Owner> => {
  const { id: environmentId, organizationId } = request.environment
  return isOfOneEnvironment(request) ? { environmentId } : { environmentId, organizationId }
}

export const apiKeys: Resource = (app, { db, clock, secrets, apiKeys: known }) => {
  const tags = ['API keys']
  const role = 'admin' as const

  async function requireKey(from: Db | Tx, request: FastifyRequest, keyId: string): Promise<Static<typeof Key>> {
    const [key] = await findKeys(from, inReachOf(request), clock.now(), keyId)
    if (!key) throw fail('key_not_found', { keyId })
    return key
  }

  /** Before the compatible key ends: something else must sign. */
  async function signWithoutIt(tx: Tx, request: FastifyRequest, { isCompatible }: Static<typeof Key>, changes: object) {
    const ends = 'encrypted_key' in changes || 'expires_at' in changes
    if (isCompatible && ends)
      await addMissingSecrets(tx, { environmentId: request.environment.id, secrets, now: clock.now() })
  }

  app.get(
    '/v2/api-keys',
    {
      config: { role, scope: 'administer' },
      schema: {
        tags,
        summary: 'List the API keys of the environment, and those of the organization',
        description: 'A key of one environment sees the keys of that one. No answer has a key itself.',
        response: { 200: Type.Array(Key) },
      },
    },
    async (request) => {
      await known.writeUses()
      return findKeys(db, inReachOf(request), clock.now())
    },
  )

  app.post(
    '/v2/api-keys',
    {
      config: { role, act: 'api-key.created' },
      schema: {
        tags,
        summary: 'Create an API key',
        description:
          'The answer has the key, this once. Only a person or a key of the organization can create keys that reach further than one environment.',
        body: Body(
          {
            name: Identifier(),
            scopes: Scopes,
            isOrganizationWide: Type.Optional(Type.Boolean({ default: false })),
            allowedAddresses: Type.Optional(Nullable(Addresses)),
            expiresAt: Type.Optional(NullableTimestamp),
          },
          { examples: [{ name: 'Checkout', scopes: ['send'] }] },
        ),
        response: { 201: NewKey },
      },
    },
    async (request, reply) => {
      const { id: environmentId, organizationId, userId } = request.environment
      const { name, scopes, isOrganizationWide = false, allowedAddresses, expiresAt } = request.body
      const now = clock.now()
      const reachesFurther = isOrganizationWide || scopes.some((scope) => scope.startsWith(publishPrefix))
      if (reachesFurther && isOfOneEnvironment(request)) throw fail('organization_key_needed')
      refuseUnknownAddresses(allowedAddresses)
      const key = newScopedKey(isOrganizationWide ? 'organization' : 'environment')
      const made = await db.transaction().execute(async (tx) => {
        // The lock keeps the limit exact.
        if (isOrganizationWide) await lockOrganization(tx, organizationId)
        else await lockEnvironment(tx, environmentId)
        await refuseUnknownScopes(tx, organizationId, scopes)
        const owner = isOrganizationWide ? { organizationId } : { environmentId }
        if ((await findKeys(tx, owner, now)).length >= mostKeys) throw fail('too_many_api_keys', { limit: mostKeys })
        const rights = { name, scopes: [...new Set(scopes)], allowedAddresses: allowedAddresses ?? undefined }
        const id = await insertKey(tx, { key, owner, userId, ...rights, expiresAt: expiryOf(expiresAt, now) }, now)
        await announce(tx, 'api_keys', environmentId)
        return requireKey(tx, request, id)
      })
      known.forget()
      reply.code(201)
      return { ...made, key }
    },
  )

  app.patch(
    '/v2/api-keys/:keyId',
    {
      config: { role, act: 'api-key.changed' },
      schema: {
        tags,
        summary: 'Change the name, addresses or expiry of an API key',
        params: Params,
        body: Body(
          {
            name: Type.Optional(Identifier()),
            allowedAddresses: Type.Optional(Nullable(Addresses)),
            expiresAt: Type.Optional(NullableTimestamp),
            isCompatible: Type.Optional(
              Type.Literal(false, {
                description:
                  'Forget the compatible key except for its hash, for ever. It signs nothing any more; the signing secrets do',
              }),
            ),
          },
          { examples: [{ name: 'Checkout, new' }] },
        ),
        response: { 200: Key },
      },
    },
    async (request) => {
      const { keyId } = request.params
      const { name, allowedAddresses, expiresAt, isCompatible } = request.body
      const now = clock.now()
      refuseUnknownAddresses(allowedAddresses)
      const changes = {
        ...(name === undefined ? {} : { name }),
        ...(allowedAddresses === undefined ? {} : { allowed_addresses: allowedAddresses }),
        ...(expiresAt === undefined ? {} : { expires_at: expiryOf(expiresAt, now) ?? null }),
        ...(isCompatible === undefined ? {} : { encrypted_key: null }),
      }
      const changed = await db.transaction().execute(async (tx) => {
        await signWithoutIt(tx, request, await requireKey(tx, request, keyId), changes)
        if (Object.keys(changes).length > 0) {
          await tx.updateTable('api_keys').set(changes).where('id', '=', keyId).execute()
          await announce(tx, 'api_keys', request.environment.id)
        }
        return requireKey(tx, request, keyId)
      })
      known.forget()
      return changed
    },
  )

  app.delete(
    '/v2/api-keys/:keyId',
    {
      config: { role, act: 'api-key.revoked' },
      schema: {
        tags,
        summary: 'Revoke an API key; it is refused at once',
        params: Params,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { keyId } = request.params
      await db.transaction().execute(async (tx) => {
        await signWithoutIt(tx, request, await requireKey(tx, request, keyId), { encrypted_key: null })
        await tx.deleteFrom('api_keys').where('id', '=', keyId).execute()
        await announce(tx, 'api_keys', request.environment.id)
      })
      known.forget()
      return reply.code(204).send(null)
    },
  )
}

function expiryOf(given: Date | string | null | undefined, now: Date): Date | undefined {
  if (given === null || given === undefined) return undefined
  const expiresAt = new Date(given)
  if (expiresAt <= now) throw fail('expiry_past')
  return expiresAt
}

function refuseUnknownAddresses(addresses: string[] | null | undefined): void {
  for (const address of addresses ?? []) if (!isNetwork(address)) throw fail('address_unknown', { address })
}

async function refuseUnknownScopes(tx: Tx, organizationId: string, scopes: string[]): Promise<void> {
  const targets = scopes.filter((scope) => scope.startsWith(publishPrefix))
  const known = new Set<string>(plainScopes)
  if (targets.length > 0) {
    const rows = await tx
      .selectFrom('environments')
      .select('id')
      .where('organization_id', '=', organizationId)
      .limit(1_000)
      .execute()
    for (const { id } of rows) known.add(publishPrefix + id)
  }
  const scope = scopes.find((each) => !known.has(each))
  if (scope !== undefined) throw fail('scope_unknown', { scope })
}
