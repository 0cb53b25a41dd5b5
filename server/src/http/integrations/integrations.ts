// Integrations: the delivery providers an environment uses, per channel, and which of them is primary.
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import { type Db, type Tx, violatedKey } from '../../db/core/database.ts'
import { idPattern, newId, randomUrlSafe } from '../../db/core/ids.ts'
import { hasPrimary, isSandbox } from '../../db/core/integration-facts.ts'
import { newVapidKeys } from '../../db/core/vapid.ts'
import {
  findIntegration,
  type IntegrationRow,
  listIntegrations,
  lockIntegrations,
  makePrimary,
  makeRoom,
  mostIntegrations,
  promoteNext,
  rankAfter,
  renumber,
} from '../../db/queries/integrations.ts'
import { fail } from '../../errors.ts'
import { findProvider, type Provider, reportingIds } from '../../providers/catalog.ts'
import { Delivery } from '../../providers/delivery.ts'
import { type AutoConfigured, notConfigurable } from '../../providers/events.ts'
import { deliveryProvider } from '../../providers/index.ts'
import type { Credentials } from '../../providers/provider.ts'
import { ProviderId } from '../edge/provider-id.ts'
import type { Environment, Resource, Services } from '../edge/resource.ts'
import { maySeeSecrets } from '../edge/roles.ts'
import { Body, Channel, Enum, Id, Identifier, Timestamp } from '../edge/schema.ts'
import { slugify } from '../edge/slug.ts'
import { generalError } from '../edge/validation.ts'
import { readFilters, StepFilter, StepFilters } from '../workflows/step-filter.ts'
import {
  Configurations,
  GivenCredentials,
  IntegrationCredentials,
  openConfigurations,
  openCredentials,
  readCredentials,
  sealConfigurations,
  sealCredentials,
  withoutSecrets,
} from './credentials.ts'

const Integration = Type.Object({
  _id: Type.String(),
  _environmentId: Type.String(),
  _organizationId: Type.String(),
  name: Type.String(),
  identifier: Type.String(),
  providerId: Type.String(),
  channel: Channel,
  kind: Enum(['delivery', 'agent']),
  credentials: IntegrationCredentials,
  configurations: Configurations,
  active: Type.Boolean(),
  deleted: Type.Boolean(),
  primary: Type.Boolean(),
  priority: Type.Integer(),
  conditions: Type.Array(StepFilter),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

/** Fields that creation and change share. */
const fields = {
  name: Type.Optional(Identifier()),
  identifier: Type.Optional(Identifier()),
  _environmentId: Type.Optional(Id),
  active: Type.Optional(Type.Boolean()),
  credentials: Type.Optional(GivenCredentials),
  check: Type.Optional(
    Type.Boolean({ description: 'Check the credentials with the provider first, if it supports that' }),
  ),
  conditions: Type.Optional(StepFilters),
  configurations: Type.Optional(Configurations),
}
const example = {
  providerId: 'sendgrid',
  channel: 'email',
  name: 'SendGrid',
  active: true,
  credentials: { apiKey: 'SG.…', from: 'hello@example.com', senderName: 'Acme' },
}
const Changes = Body(fields, { examples: [{ name: 'SendGrid for receipts', active: true }] })
const Params = Type.Object({ integrationId: Type.String({ description: 'Its `_id`' }) })

export const integrations: Resource = (app, services) => {
  const { db, secrets, brand, config } = services
  const tags = ['Integrations']

  const toIntegration = (row: IntegrationRow, environment: Environment): Static<typeof Integration> => ({
    _id: row.id,
    _environmentId: environment.id,
    _organizationId: environment.organizationId,
    name: row.name,
    identifier: row.identifier,
    providerId: brand.toWire(row.provider_id),
    channel: row.channel as Channel,
    kind: row.kind as 'delivery',
    credentials: config.hideCredentials ? {} : openCredentials(secrets, row),
    configurations: openConfigurations(secrets, row),
    active: row.active,
    deleted: row.deleted_at !== null,
    primary: row.is_primary,
    priority: row.priority,
    conditions: row.conditions as StepFilter[],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  })
  const list = async (request: FastifyRequest, filter?: { onlyActive: boolean }) => {
    const { environment } = request
    const rows = await listIntegrations(db, environment.id, filter)
    const found = rows.map((row) => toIntegration(row, environment))
    return maySeeSecrets(request) ? found : found.map(withoutSecrets)
  }

  /** Changes integrations: serialized per environment, and announced to every process that caches them. */
  const change = <T>(environment: Environment, work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transaction().execute(async (tx) => {
      if (!(await lockIntegrations(tx, environment.id))) throw fail('api_key_not_found')
      const result = await work(tx)
      await announce(tx, 'integrations', environment.id)
      return result
    })

  app.get(
    '/v1/integrations',
    { schema: { tags, summary: 'List integrations', response: { 200: Type.Array(Integration) } } },
    async (request) => list(request),
  )

  app.get(
    '/v1/integrations/active',
    { schema: { tags, summary: 'List active integrations', response: { 200: Type.Array(Integration) } } },
    async (request) => list(request, { onlyActive: true }),
  )

  app.post(
    '/v1/integrations',
    {
      config: { role: 'admin', act: 'integration.created' },
      schema: {
        tags,
        summary: 'Create an integration',
        description:
          'The first active integration of the email or SMS channel becomes its primary one, through which workflows deliver. It takes the place of the sandbox.',
        body: Body(
          {
            ...fields,
            providerId: ProviderId(services),
            channel: Channel,
            kind: Type.Optional(Enum(['delivery'])),
          },
          { examples: [example] },
        ),
        response: { 201: Integration },
      },
    },
    async (request, reply) => {
      const { environment, body } = request
      const { name, channel, active = false, conditions = [], configurations = {} } = body
      await refuseForeignEnvironment(db, environment, body._environmentId)
      const provider = providerOf(services, body.providerId, channel)
      if (environment.isHeld && channel !== 'in_app' && !isSandbox({ provider_id: provider.id }))
        throw fail('clock_sandbox_only', { providerId: body.providerId }, { ctx: { providerId: body.providerId } })
      const credentials = withOwnKeys(provider, readCredentials(body.credentials, provider))
      const filters = readFilters(conditions)
      if (body.check) await refuseFailedCheck(services, provider, credentials)
      const now = request.now()
      const row = await change(environment, async (tx) => {
        await refuseAnother(tx, services, environment, provider)
        const coming = { environment_id: environment.id, channel, provider_id: provider.id }
        const { priority, is_primary } = active
          ? await makeRoom(tx, { ...coming, isConditional: filters.length > 0 }, now)
          : { priority: 0, is_primary: false }
        return tx
          .insertInto('integrations')
          .values({
            ...coming,
            id: newId(now),
            name: name ?? provider.name,
            identifier: body.identifier ?? newIdentifier(name ?? provider.name, provider),
            credentials: sealCredentials(secrets, credentials),
            configurations: sealConfigurations(secrets, configurations),
            conditions: JSON.stringify(filters),
            ...{ active, priority, is_primary },
            created_at: now,
            updated_at: now,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
      }).catch(refuseTakenIdentifier)
      return reply.code(201).send(toIntegration(row, environment))
    },
  )

  app.put(
    '/v1/integrations/:integrationId',
    {
      config: { role: 'admin', act: 'integration.changed' },
      schema: {
        tags,
        summary: 'Change the given fields of an integration',
        params: Params,
        body: Type.Optional(Changes),
        response: { 200: Integration },
      },
    },
    async (request) => {
      const { environment, body = {} } = request
      const { integrationId: id } = request.params
      const stored = await findIntegration(db, environment.id, id)
      if (!stored) throw await whyNotFound(db, environment, id)
      await refuseForeignEnvironment(db, environment, body._environmentId)
      if (Object.keys(body).every((name) => name === 'check')) throw fail('integration_unchanged')
      const provider = findProvider(stored.provider_id)
      const credentials =
        body.credentials &&
        withOwnKeys(provider, readCredentials(body.credentials, provider), openCredentials(secrets, stored))
      const filters = body.conditions && readFilters(body.conditions)
      if (body.check && provider)
        await refuseFailedCheck(services, provider, credentials ?? openCredentials(secrets, stored))
      const now = request.now()
      const row = await change(environment, async (tx) => {
        const current = await findIntegration(tx, environment.id, id)
        if (!current) throw fail('integration_to_change_not_found', { id })
        if (body.identifier !== undefined && body.identifier !== current.identifier)
          await refuseUsedIdentifier(tx, environment, body.identifier)
        const rank = await rankAfter(tx, current, { active: body.active, conditions: filters }, now)
        await tx
          .updateTable('integrations')
          .set({
            name: body.name,
            identifier: body.identifier,
            active: body.active,
            credentials: credentials && sealCredentials(secrets, credentials),
            configurations: body.configurations && sealConfigurations(secrets, body.configurations),
            conditions: filters && JSON.stringify(filters),
            ...rank?.columns,
            updated_at: now,
          })
          .where('environment_id', '=', environment.id)
          .where('id', '=', id)
          .execute()
        if (rank?.renumber) await renumber(tx, environment.id, current.channel, now, rank.renumber.first)
        return requireIntegration(tx, environment.id, id)
      }).catch(refuseTakenIdentifier)
      return toIntegration(row, environment)
    },
  )

  app.delete(
    '/v1/integrations/:integrationId',
    {
      config: { role: 'admin', act: 'integration.deleted' },
      schema: {
        tags,
        summary: 'Delete an integration',
        description:
          'Returns the remaining ones. If it was the primary one, the next active one becomes primary, the sandbox last.',
        params: Params,
        response: { 200: Type.Array(Integration) },
      },
    },
    async (request) => {
      const { environment } = request
      const { integrationId: id } = request.params
      await change(environment, async (tx) => {
        const now = request.now()
        const deleted = await tx
          .updateTable('integrations')
          .set({ deleted_at: now, updated_at: now })
          .where('environment_id', '=', environment.id)
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .returning(['channel', 'is_primary'])
          .executeTakeFirst()
        if (!deleted) throw fail('integration_to_change_not_found', { id })
        await renumber(tx, environment.id, deleted.channel, now)
        if (deleted.is_primary) await promoteNext(tx, environment.id, deleted.channel, now)
      })
      return list(request)
    },
  )

  app.post(
    '/v1/integrations/:integrationId/set-primary',
    {
      config: { role: 'admin', act: 'integration.made-primary' },
      schema: {
        tags,
        summary: 'Make an integration the primary one of its channel',
        description: 'It becomes active and loses its conditions. Only email and SMS have a primary integration.',
        params: Type.Object({
          integrationId: Type.String({
            pattern: idPattern,
            texts: { pattern: 'must be a mongodb id' },
            perField: { command: 'SetIntegrationAsPrimaryCommand' },
          }),
        }),
        response: { 200: Integration },
      },
    },
    async (request) => {
      const { environment } = request
      const { integrationId: id } = request.params
      const row = await change(environment, async (tx) => {
        const current = await findIntegration(tx, environment.id, id)
        if (!current) throw fail('integration_not_found', { id })
        if (!hasPrimary(current.channel)) throw fail('channel_without_primary', current)
        if (current.is_primary) return current
        await makePrimary(tx, current, request.now())
        return requireIntegration(tx, environment.id, id)
      })
      return toIntegration(row, environment)
    },
  )

  app.post(
    '/v1/integrations/:integrationId/auto-configure',
    {
      config: { role: 'admin', act: 'integration.auto-configured' },
      schema: {
        tags,
        summary: 'Set up delivery events at the provider',
        description: 'If the provider does not support it, or refuses, returns `success: false` and the reason.',
        params: Params,
        response: {
          200: Type.Object({
            success: Type.Boolean(),
            message: Type.Optional(Type.String()),
            integration: Type.Optional(Integration),
          }),
        },
      },
    },
    async (request) => {
      const { environment } = request
      const { integrationId: id } = request.params
      const stored = await findIntegration(db, environment.id, id)
      const provider = stored && findProvider(stored.provider_id)
      if (!provider) throw fail('integration_to_configure_not_found', { id })
      const webhookUrl = `${config.publicUrl}/v2/inbound-webhooks/delivery-providers/${environment.id}/${id}`
      const { success, message, configurations } = await configure(services, provider, {
        credentials: openCredentials(secrets, stored),
        webhookUrl,
      })
      if (!configurations) return { success, message }
      const row = await change(environment, async (tx) =>
        tx
          .updateTable('integrations')
          .set({
            configurations: sql`configurations || ${sealConfigurations(secrets, configurations)}::jsonb`,
            updated_at: request.now(),
          })
          .where('environment_id', '=', environment.id)
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .returningAll()
          .executeTakeFirst(),
      )
      if (!row) throw fail('integration_to_configure_not_found', { id })
      return { success, message, integration: toIntegration(row, environment) }
    },
  )

  app.get(
    '/v1/integrations/webhook/provider/:providerOrIntegrationId/status',
    {
      schema: {
        tags,
        summary: 'Check whether the provider of an integration supports delivery events',
        params: Type.Object({ providerOrIntegrationId: Type.String({ description: 'A provider id, or an `_id`' }) }),
        response: { 200: Type.Boolean() },
      },
    },
    async (request) => {
      const { providerOrIntegrationId: id } = request.params
      const row = await db
        .selectFrom('integrations')
        .select(['provider_id', 'channel', 'credentials'])
        .where('environment_id', '=', request.environment.id)
        .where('deleted_at', 'is', null)
        .where((where) => where.or([where('id', '=', id), where('provider_id', '=', brand.toStored(id))]))
        // Of several integrations with one provider, the primary one.
        .orderBy('is_primary', 'desc')
        .orderBy('active', 'desc')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      if (!row) throw fail('integration_of_webhook_not_found', { id })
      const { channel, provider_id } = row
      if (!hasPrimary(channel)) throw fail('webhook_not_offered', { providerId: brand.toWire(provider_id), channel })
      if (Object.keys(row.credentials).length === 0) throw fail('webhook_without_credentials', { id })
      return reportingIds.has(provider_id)
    },
  )
}

async function requireIntegration(tx: Tx, environmentId: string, id: string): Promise<IntegrationRow> {
  const row = await findIntegration(tx, environmentId, id)
  if (!row) throw new Error(`integration ${id} disappeared although it is locked`)
  return row
}

/** A key opens one environment; another one of the organization gets its own error, unlike an unknown one. */
async function refuseForeignEnvironment(db: Db, environment: Environment, named: string | undefined): Promise<void> {
  if (named === undefined || named === environment.id) return
  const other = await db
    .selectFrom('environments')
    .select('id')
    .where('id', '=', named)
    .where('organization_id', '=', environment.organizationId)
    .executeTakeFirst()
  throw other ? fail('foreign_environment') : fail('integration_environment_not_found', { environmentId: named })
}

async function whyNotFound(db: Db, environment: Environment, id: string) {
  const elsewhere = await db
    .selectFrom('integrations as i')
    .innerJoin('environments as e', 'e.id', 'i.environment_id')
    .select('i.id')
    .where('e.organization_id', '=', environment.organizationId)
    .where('i.id', '=', id)
    .where('i.deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return elsewhere ? fail('foreign_environment') : fail('integration_to_change_not_found', { id })
}

function providerOf({ brand }: Services, given: string, channel: Channel): Provider {
  const provider = findProvider(brand.toStored(given))
  // The catalogue lists bots of conversational agents only for their ids.
  if (!provider || provider.kind === 'agent') throw generalError([`providerId ${given} is not a delivery provider`])
  if (provider.channel !== channel)
    throw generalError([
      `providerId ${given} is a provider of the ${String(provider.channel)} channel, not of ${channel}`,
    ])
  return provider
}

/** Only email providers can check credentials without sending. */
async function refuseFailedCheck(services: Services, provider: Provider, credentials: Credentials): Promise<void> {
  const declared = deliveryProvider(provider.id)
  if (declared?.channel !== 'email') return
  const result = await deliveryFor(services).check(declared, credentials)
  if (!result.ok) throw fail('integration_check_failed', result)
}

async function configure(
  services: Services,
  { id, name }: Provider,
  { credentials, webhookUrl }: { credentials: Credentials; webhookUrl: string },
): Promise<AutoConfigured> {
  const declared = deliveryProvider(id)
  return declared ? deliveryFor(services).configure(declared, credentials, webhookUrl) : notConfigurable(name)
}

/** Caches nothing, since a check does not send. */
const deliveryFor = ({ http, clock, brand }: Services) => new Delivery({ http, clock, brand: brand.word })

/** The keys of web push are made here, once; callers cannot bring or change them. */
function withOwnKeys(provider: Provider | undefined, given: Credentials, stored?: Credentials): Credentials {
  if (provider?.id !== 'web-push') return given
  const { applicationId: publicKey, secretKey: privateKey } = stored ?? {}
  const keys = publicKey && privateKey ? { publicKey, privateKey } : newVapidKeys()
  return { ...given, applicationId: keys.publicKey, secretKey: keys.privateKey }
}

/** Each of the service's own providers can exist once; others up to a sanity limit. */
async function refuseAnother(
  tx: Tx,
  { brand }: Services,
  environment: Environment,
  { id, channel }: Provider,
): Promise<void> {
  if (id === 'svc-slack')
    throw fail('native_integration_not_offered', { brand: brand.word, providerId: brand.toWire(id) })
  const { count, same } = await tx
    .selectFrom('integrations')
    .select((select) => [
      select.fn.countAll<string>().as('count'),
      select.fn.countAll<string>().filterWhere('provider_id', '=', id).as('same'),
    ])
    .where('environment_id', '=', environment.id)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (id === 'svc' && Number(same) > 0) throw fail('second_in_app_integration')
  if (['svc-email', 'svc-sms', 'web-push'].includes(id) && Number(same) > 0)
    throw fail('second_native_integration', { brand: brand.word, channel: String(channel) })
  if (Number(count) >= mostIntegrations) throw fail('too_many_integrations', { limit: mostIntegrations })
}

/** `send-grid-Xy12aBc9` */
function newIdentifier(name: string, provider: Provider): string {
  return `${slugify(name).slice(0, 200) || provider.id}-${randomUrlSafe(8)}`
}

function refuseTakenIdentifier(error: unknown): never {
  throw violatedKey(error) === 'integrations_identifier' ? fail('integration_exists') : error
}

/** A new identifier must be unused in all environments of the organization, so that publishing can use it. */
async function refuseUsedIdentifier(tx: Tx, environment: Environment, identifier: string): Promise<void> {
  const used = await tx
    .selectFrom('integrations as i')
    .innerJoin('environments as e', 'e.id', 'i.environment_id')
    .select('i.id')
    .where('e.organization_id', '=', environment.organizationId)
    .where('i.identifier', '=', identifier)
    .where('i.deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  if (used) throw fail('integration_exists')
}
