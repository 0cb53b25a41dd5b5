// Topics, integrations and variables as files know them. Their secrets are never part of a definition: `{$secret: NAME}` stands
// in their place.
import { sql } from 'kysely'
import type { Db, Tx } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { DefinitionKind } from '../../db/core/tables.ts'
import { type IntegrationRow, listIntegrations } from '../../db/queries/integrations.ts'
import type { TopicRow } from '../../db/queries/topics.ts'
import { secretCredentials } from '../../providers/catalog.ts'
import type { StoredDefinition } from './content.ts'
import { isEmptyObject } from './definition-values.ts'
import { revisionOf } from './revision.ts'
import type { Definition } from './workflow-definition.ts'

export interface VariableRow {
  id: string
  key: string
  is_secret: boolean
  /** The value in this environment, encrypted; null if it has none. */
  value: string | null
  /** How many other environments have a value. */
  others: number
  updated_at: Date
}

export interface SettingRows {
  topics: TopicRow[]
  integrations: IntegrationRow[]
  /** Of the organization. */
  variables: VariableRow[]
}

export const noSettings: SettingRows = { topics: [], integrations: [], variables: [] }

interface Place {
  id: string
  organizationId: string
}

/** An environment may have any number of topics: at most `limit`, or those with the given keys. */
export async function readTopics(
  db: Db | Tx,
  { id }: Place,
  { keys, limit }: { keys?: string[] | undefined; limit: number },
): Promise<TopicRow[]> {
  return db
    .selectFrom('topics')
    .selectAll()
    .where('environment_id', '=', id)
    .$if(keys !== undefined, (query) => query.where('key', '=', sql<string>`ANY (${keys ?? []}::text[])`))
    .orderBy('key')
    .limit(limit)
    .execute()
}

/** The caller holds the environment's lock if it wants to change them. */
export const readIntegrations = (db: Db | Tx, { id }: Place): Promise<IntegrationRow[]> => listIntegrations(db, id)

export async function readVariables(db: Db | Tx, { id, organizationId }: Place): Promise<VariableRow[]> {
  const { rows } = await sql<VariableRow>`
    SELECT v.id, v.key, v.is_secret, v.updated_at, own.value,
           (SELECT count(*)::integer FROM environment_variable_values o
            WHERE o.variable_id = v.id AND o.environment_id <> ${id}) AS others
    FROM environment_variables v
    LEFT JOIN environment_variable_values own ON own.variable_id = v.id AND own.environment_id = ${id}
    WHERE v.organization_id = ${organizationId} ORDER BY v.key`.execute(db)
  return rows
}

/** The name of the environment variable that a secret comes from: `SENDGRID_APIKEY`. */
export const secretName = (identifier: string, field: string): string =>
  `${identifier}_${field}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')

export const topicDefinition = (row: Pick<TopicRow, 'key' | 'name' | 'joinable_from_browser'>): Definition => ({
  key: row.key,
  ...(row.name === null ? {} : { name: row.name }),
  ...(row.joinable_from_browser ? { joinableFromBrowser: true } : {}),
})

type DefinedIntegration = Pick<
  IntegrationRow,
  'identifier' | 'name' | 'channel' | 'provider_id' | 'active' | 'is_primary' | 'conditions' | 'credentials'
>

/** `hidesCredentials`: where the operator shows none, all of them are secret. */
export function integrationDefinition(row: DefinedIntegration, hidesCredentials: boolean): Definition {
  const credentials = Object.fromEntries(
    Object.entries(row.credentials)
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => [
        name,
        hidesCredentials || secretCredentials.has(name) ? { $secret: secretName(row.identifier, name) } : value,
      ]),
  )
  return {
    identifier: row.identifier,
    name: row.name,
    channel: row.channel,
    providerId: row.provider_id,
    ...(row.active ? { active: true } : {}),
    ...(row.is_primary ? { primary: true } : {}),
    ...(row.conditions.length === 0 ? {} : { conditions: row.conditions }),
    ...(isEmptyObject(credentials) ? {} : { credentials }),
  }
}

/** `value` is in plain text. */
export const variableDefinition = (key: string, isSecret: boolean, value: string): Definition => ({
  key,
  ...(isSecret ? { isSecret: true } : {}),
  value: isSecret ? { $secret: secretName(key, 'value') } : value,
})

export interface Opening {
  secrets: Pick<Secrets, 'decrypt'>
  hidesCredentials: boolean
}

/** A variable is defined in an environment if it has a value there. */
export function settingsIn(rows: SettingRows, { secrets, hidesCredentials }: Opening): StoredDefinition[] {
  return [
    ...rows.integrations.map((row) =>
      stored('integration', row.identifier, integrationDefinition(row, hidesCredentials), row),
    ),
    ...rows.topics.map((row) => stored('topic', row.key, topicDefinition(row), row)),
    ...rows.variables.flatMap((row) => {
      if (row.value === null) return []
      // A secret is not even decrypted.
      const value = row.is_secret ? '' : secrets.decrypt(row.value)
      return [stored('variable', row.key, variableDefinition(row.key, row.is_secret, value), row)]
    }),
  ]
}

const stored = (
  kind: DefinitionKind,
  id: string,
  definition: Definition,
  row: { updated_at: Date },
): StoredDefinition => ({
  ...{ kind, id, definition, revision: revisionOf(definition) },
  ...{ version: null, updatedAt: row.updated_at },
})
