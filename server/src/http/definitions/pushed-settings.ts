// Topics, integrations and variables in a push: their shape, what would be stored of them, and the statements that store them.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import type { Tx } from '../../db/core/database.ts'
import { mask } from '../../db/core/environment-access.ts'
import { newId } from '../../db/core/ids.ts'
import { hasPrimary, isSandbox } from '../../db/core/integration-facts.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import { type IntegrationRow, mostIntegrations, promoteNext, renumber } from '../../db/queries/integrations.ts'
import { deleteSubscriptions } from '../../db/queries/topic-subscriptions.ts'
import { isTopicKey, type TopicRow } from '../../db/queries/topics.ts'
import {
  integrationDefinition,
  type SettingRows,
  type VariableRow,
  variableDefinition,
} from '../../engine/definitions/settings.ts'
import type { Definition } from '../../engine/definitions/workflow-definition.ts'
import { fail, RequestError } from '../../errors.ts'
import { credentialNames, findStoredProvider, secretCredentials } from '../../providers/catalog.ts'
import type { Credentials } from '../../providers/provider.ts'
import { Body, Channel, FreeObject, Identifier } from '../edge/schema.ts'
import { GivenCredentials, openCredentials, readCredentials, sealCredentials } from '../integrations/credentials.ts'
import { readFilters, StepFilters } from '../workflows/step-filter.ts'

type Report = (path: string, message: string) => void

export const TopicDefinition = Body({
  key: Type.String({ minLength: 1, maxLength: 100 }),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  joinableFromBrowser: Type.Optional(Type.Boolean()),
})

/** Each credential may be `{$secret: NAME}` instead of a value. */
export const IntegrationDefinition = Body({
  identifier: Identifier(),
  name: Identifier(),
  channel: Channel,
  providerId: Type.String({ minLength: 1, maxLength: 100 }),
  active: Type.Optional(Type.Boolean()),
  primary: Type.Optional(Type.Boolean()),
  conditions: Type.Optional(StepFilters),
  credentials: Type.Optional(
    Body(
      Object.fromEntries(
        Object.keys((GivenCredentials as unknown as { properties: object }).properties).map((name) => [
          name,
          Type.Optional(Type.Unsafe({ ...FreeObject, type: ['string', 'boolean', 'object'] })),
        ]),
      ),
    ),
  ),
})

export const VariableDefinition = Body({
  key: Type.String({ minLength: 1, maxLength: 256, pattern: '^[A-Za-z][A-Za-z0-9_]*$' }),
  isSecret: Type.Optional(Type.Boolean()),
  value: Type.Unsafe<string | SecretReference>({
    type: ['string', 'object'],
    maxLength: 256,
    properties: { $secret: { type: 'string', minLength: 1, maxLength: 300 } },
    required: ['$secret'],
    additionalProperties: false,
  }),
})

/** Stands for a secret that is stored somewhere else. */
const unseen = 'unseen'
const unseenOf = (name: string) => (credentialNames.object.includes(name) ? { [unseen]: true } : unseen)

interface SecretReference {
  $secret: string
}

const isReference = (value: unknown): value is SecretReference =>
  typeof value === 'object' && value !== null && typeof (value as Definition).$secret === 'string'

export interface SettingWrites {
  topics: TopicRow[]
  integrations: IntegrationRow[]
  /** They are no longer primary, though the push does not name them. */
  unset: IntegrationRow[]
  variables: Array<{ row: VariableRow; isNew: boolean; value: string }>
  deletedTopics: string[]
  deletedIntegrations: IntegrationRow[]
  /** Their value in this environment. */
  deletedVariables: string[]
}

export const noSettingWrites = (): SettingWrites => ({
  ...{ topics: [], integrations: [], unset: [], variables: [] },
  ...{ deletedTopics: [], deletedIntegrations: [], deletedVariables: [] },
})

/** What a topic becomes. */
export function rowOfTopic(definition: Definition, old: TopicRow | undefined, place: Place, report: Report): TopicRow {
  const {
    key,
    name = null,
    joinableFromBrowser = false,
  } = definition as { key: string; name?: string; joinableFromBrowser?: boolean }
  if (!isTopicKey(key)) report('key', 'may have letters, digits and -_:. only, or be an email address')
  return {
    ...{ environment_id: place.environmentId, id: old?.id ?? newId(place.now), key, name },
    joinable_from_browser: joinableFromBrowser,
    ...{ created_at: old?.created_at ?? place.now, updated_at: place.now },
  }
}

interface Place {
  environmentId: string
  now: Date
}

interface Opening {
  secrets: Secrets
  hidesCredentials: boolean
  /** A held clock sends to the sandbox only. */
  isHeld: boolean
  /** Where files are checked without a service, secrets count as stored. */
  hasEverySecret?: boolean
}

export interface PlannedIntegration {
  row: IntegrationRow
  definition: Definition
  /** Secrets that get another value. Their values are no part of the definition. */
  changedSecrets: string[]
  missingSecrets: string[]
}

/** What an integration becomes; undefined if it cannot be stored. One whose secrets are missing becomes inactive. */
export function rowOfIntegration(
  definition: Definition,
  old: IntegrationRow | undefined,
  place: Place & Opening,
  report: Report,
): PlannedIntegration | undefined {
  const given = definition as {
    identifier: string
    name: string
    channel: Channel
    providerId: string
    active?: boolean
    primary?: boolean
    conditions?: unknown[]
    credentials?: Record<string, unknown>
  }
  const { identifier, channel, providerId, primary = false, conditions = [] } = given
  const provider = findStoredProvider(providerId)
  if (!provider) report('providerId', `there is no provider "${providerId}"`)
  else if (provider.channel !== channel)
    report('channel', `"${providerId}" is a provider of ${String(provider.channel)}`)
  if (old && (old.channel !== channel || old.provider_id !== providerId))
    report('providerId', 'an integration keeps its provider and channel; take another identifier')
  if (place.isHeld && channel !== 'in_app' && !isSandbox({ provider_id: providerId }))
    throw fail('clock_sandbox_only', { providerId }, { ctx: { providerId } })
  if (primary && !hasPrimary(channel)) report('primary', 'only email and SMS have a primary integration')
  if (primary && given.active !== true) report('primary', 'a primary integration has to be active')
  if (primary && conditions.length > 0) report('primary', 'a primary integration has no conditions')
  const filters = attempt(() => readFilters(conditions), 'conditions', report)
  const before: Record<string, unknown> = old ? openCredentials(place.secrets, old) : {}
  const storedOf = (name: string) => (place.hasEverySecret ? unseenOf(name) : before[name])
  const { values, missing } = resolved(given.credentials ?? {}, storedOf)
  const credentials = attempt(() => readCredentials(values as Credentials, provider), 'credentials', report)
  if (!provider || !filters || !credentials) return undefined
  const active = given.active === true && (old?.active === true || missing.length === 0)
  const row: IntegrationRow = {
    ...{ environment_id: place.environmentId, id: old?.id ?? newId(place.now) },
    ...{ identifier, name: given.name, channel, provider_id: providerId, kind: old?.kind ?? 'delivery' },
    ...{ active, is_primary: primary && active, priority: active ? (old?.priority ?? 0) : 0 },
    conditions: filters,
    credentials: JSON.parse(sealCredentials(place.secrets, credentials)) as Record<string, unknown>,
    configurations: old?.configurations ?? {},
    ...{ connected: old?.connected ?? false, deleted_at: null, deleted_by: null },
    ...{ created_at: old?.created_at ?? place.now, updated_at: place.now },
  }
  const isHidden = (name: string) => place.hidesCredentials || secretCredentials.has(name)
  return {
    row,
    definition: integrationDefinition(row, place.hidesCredentials),
    changedSecrets: Object.keys(credentials).filter(
      (name) => isHidden(name) && !isDeepStrictEqual((credentials as Record<string, unknown>)[name], before[name]),
    ),
    missingSecrets: missing,
  }
}

/** A reference stands for the stored value. */
function resolved(given: Record<string, unknown>, storedOf: (name: string) => unknown) {
  const missing: string[] = []
  const values = Object.entries(given).flatMap(([name, value]) => {
    if (!isReference(value)) return [[name, value]]
    const stored = storedOf(name)
    if (stored === undefined) missing.push(name)
    return stored === undefined ? [] : [[name, stored]]
  })
  return { values: Object.fromEntries(values) as Record<string, unknown>, missing }
}

function attempt<T>(work: () => T, path: string, report: Report): T | undefined {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    report(path, error.message)
    return undefined
  }
}

/** At most one is primary per channel, and each of the service's own providers is there once. */
export function checkIntegrations(
  pushed: Array<{ id: string; row: IntegrationRow; report: Report }>,
  { integrations }: SettingRows,
): { unset: IntegrationRow[] } {
  const named = new Set(pushed.map(({ id }) => id))
  const ids = new Set(pushed.map(({ row }) => row.id))
  const others = integrations.filter(({ identifier, id }) => !named.has(identifier) && !ids.has(id))
  for (const [index, { row, report }] of pushed.entries()) {
    const rest = [...pushed.slice(0, index).map((each) => each.row), ...others]
    const same = isNative(row) ? rest.find(({ provider_id }) => provider_id === row.provider_id) : undefined
    if (same) report('providerId', `"${same.identifier}" has this provider, and an environment has it once`)
    const first = row.is_primary
      ? pushed.slice(0, index).find((each) => each.row.is_primary && each.row.channel === row.channel)
      : undefined
    if (first) report('primary', `"${first.id}" is primary already`)
  }
  const known = new Set(integrations.map(({ identifier }) => identifier))
  if (integrations.length + pushed.filter(({ id }) => !known.has(id)).length > mostIntegrations)
    for (const { report } of pushed.slice(0, 1))
      report('', `an environment has at most ${mostIntegrations} integrations`)
  const taken = new Set(pushed.filter(({ row }) => row.is_primary).map(({ row }) => row.channel))
  return { unset: others.filter(({ is_primary, channel }) => is_primary && taken.has(channel)) }
}

const isNative = ({ provider_id: id }: IntegrationRow) => id === 'svc' || id.startsWith('svc-')

export type PlannedVariable = { definition: Definition; isSecretChanged: boolean } & SettingWrites['variables'][number]

/** What a variable becomes; undefined if its secret is missing, or it cannot be stored. */
export function rowOfVariable(
  definition: Definition,
  old: VariableRow | undefined,
  { secrets, now, hasEverySecret }: Place & Opening,
  report: Report,
): PlannedVariable | 'missing' | undefined {
  const {
    key,
    isSecret = false,
    value,
  } = definition as {
    key: string
    isSecret?: boolean
    value: string | SecretReference
  }
  if (value === mask) report('value', 'is the mask of a secret, not its value')
  if (old?.is_secret && !isSecret && (old.others > 0 || isReference(value))) {
    report('isSecret', 'the values of a secret are not shown later; replace them in every environment first')
    return undefined
  }
  const before = old && old.value !== null ? secrets.decrypt(old.value) : undefined
  const after = isReference(value) ? (hasEverySecret ? unseen : before) : value
  if (after === undefined) return 'missing'
  return {
    row: {
      ...{ id: old?.id ?? newId(now), key, is_secret: isSecret, value: old?.value ?? null },
      ...{ others: old?.others ?? 0, updated_at: now },
    },
    isNew: old === undefined,
    value: after,
    definition: variableDefinition(key, isSecret, after),
    isSecretChanged: isSecret && after !== before,
  }
}

interface Applying {
  environmentId: string
  organizationId: string
  secrets: Secrets
  now: Date
}

/** The caller holds the locks of the environment, and of the organization if there are variables. */
export async function applySettings(tx: Tx, applying: Applying, writes: SettingWrites): Promise<void> {
  await applyVariables(tx, applying, writes)
  await applyIntegrations(tx, applying, writes)
  await applyTopics(tx, applying, writes)
}

async function applyVariables(
  tx: Tx,
  { environmentId, organizationId, secrets, now }: Applying,
  { variables, deletedVariables }: SettingWrites,
): Promise<void> {
  if (variables.length > 0) {
    await tx
      .insertInto('environment_variables')
      .values(
        variables.map(({ row: { id, key, is_secret } }) => ({
          ...{ id, key, is_secret, organization_id: organizationId, type: 'string' },
          ...{ created_at: now, updated_at: now },
        })),
      )
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ is_secret: sql.ref('excluded.is_secret'), updated_at: now }),
      )
      .execute()
    await tx
      .insertInto('environment_variable_values')
      .values(
        variables.map(({ row: { id }, value }) => ({
          ...{ variable_id: id, environment_id: environmentId, value: secrets.encrypt(value) },
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['variable_id', 'environment_id']).doUpdateSet({ value: sql.ref('excluded.value') }),
      )
      .execute()
  }
  if (deletedVariables.length > 0)
    await tx
      .deleteFrom('environment_variable_values')
      .where('environment_id', '=', environmentId)
      .where('variable_id', 'in', deletedVariables)
      .execute()
}

async function applyIntegrations(
  tx: Tx,
  { environmentId, now }: Applying,
  { integrations, unset, deletedIntegrations }: SettingWrites,
): Promise<void> {
  const changed = [...unset, ...integrations, ...deletedIntegrations]
  if (changed.length === 0) return
  const channels = [...new Set(changed.map(({ channel }) => channel))]
  // At no moment may two be primary: those that were are not, until the last statement.
  await tx
    .updateTable('integrations')
    .set({ is_primary: false, updated_at: now })
    .where('environment_id', '=', environmentId)
    .where('is_primary', '=', true)
    .where(
      'id',
      'in',
      changed.map(({ id }) => id),
    )
    .execute()
  if (deletedIntegrations.length > 0)
    await tx
      .updateTable('integrations')
      .set({ deleted_at: now, updated_at: now })
      .where('environment_id', '=', environmentId)
      .where(
        'id',
        'in',
        deletedIntegrations.map(({ id }) => id),
      )
      .execute()
  if (integrations.length > 0)
    await tx
      .insertInto('integrations')
      .values(
        integrations.map((row) => ({
          ...row,
          credentials: JSON.stringify(row.credentials),
          configurations: JSON.stringify(row.configurations),
          conditions: JSON.stringify(row.conditions),
        })),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['environment_id', 'id'])
          .doUpdateSet(
            Object.fromEntries(
              ['identifier', 'name', 'active', 'is_primary', 'priority', 'conditions', 'credentials', 'updated_at'].map(
                (column) => [column, sql.ref(`excluded.${column}`)],
              ),
            ),
          ),
      )
      .execute()
  for (const channel of channels) {
    const primary = integrations.find((row) => row.is_primary && row.channel === channel)
    await renumber(tx, environmentId, channel, now, primary?.id)
    if (deletedIntegrations.some((row) => row.is_primary && row.channel === channel))
      await promoteNext(tx, environmentId, channel, now)
  }
  await announce(tx, 'integrations', environmentId)
}

async function applyTopics(
  tx: Tx,
  { environmentId }: Applying,
  { topics, deletedTopics }: SettingWrites,
): Promise<void> {
  if (topics.length > 0)
    await tx
      .insertInto('topics')
      .values(topics)
      .onConflict((conflict) =>
        conflict.columns(['environment_id', 'key']).doUpdateSet({
          name: sql.ref('excluded.name'),
          joinable_from_browser: sql.ref('excluded.joinable_from_browser'),
          updated_at: sql.ref('excluded.updated_at'),
        }),
      )
      .execute()
  if (deletedTopics.length === 0) return
  await tx.deleteFrom('topics').where('environment_id', '=', environmentId).where('id', 'in', deletedTopics).execute()
  await deleteSubscriptions(tx, environmentId, sql`t.topic_id = ANY (${deletedTopics}::text[])`)
}
