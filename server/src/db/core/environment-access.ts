// What a process needs to act for an environment: what it signs with, the URL of its code, and its variables.
import { sql } from 'kysely'
import type { Db, Tx } from './database.ts'
import type { Secrets } from './secrets.ts'
import { readSigning, type Signing } from './signing.ts'

/** Shown instead of a secret of any length. */
export const mask = '••••••••'

export interface EnvironmentAccess {
  id: string
  name: string
  type: 'dev' | 'prod'
  signing: Signing
  bridgeUrl: string | undefined
  /** Whether its organization shows our branding in emails. */
  hasBranding: boolean
  /** Only those with a value in this environment. */
  variables: Array<{ key: string; value: string; isSecret: boolean }>
}

interface Row {
  name: string
  type: 'dev' | 'prod'
  bridge: { url?: string }
  has_branding: boolean
  variables: EnvironmentAccess['variables']
}

/** Undefined if the environment does not exist. */
export async function findEnvironmentAccess(
  db: Db | Tx,
  secrets: Secrets,
  environmentId: string,
): Promise<EnvironmentAccess | undefined> {
  const facts = await findUnsignedAccess(db, secrets, environmentId)
  return facts && { ...facts, signing: await readSigning(db, secrets, environmentId) }
}

/** For whoever signs nothing. */
export async function findUnsignedAccess(
  db: Db | Tx,
  secrets: Secrets,
  environmentId: string,
): Promise<Omit<EnvironmentAccess, 'signing'> | undefined> {
  const { rows } = await sql<Row>`
    SELECT e.name, e.type, e.bridge, NOT g.remove_branding AS has_branding, coalesce((
      SELECT json_agg(json_build_object('key', v.key, 'isSecret', v.is_secret, 'value', o.value) ORDER BY v.key)
      FROM environment_variable_values o JOIN environment_variables v ON v.id = o.variable_id
      WHERE o.environment_id = e.id), '[]') AS variables
    FROM environments e
    JOIN organizations g ON g.id = e.organization_id
    WHERE e.id = ${environmentId}`.execute(db)
  const [row] = rows
  if (!row) return undefined
  return {
    id: environmentId,
    name: row.name,
    type: row.type,
    bridgeUrl: row.bridge.url || undefined,
    hasBranding: row.has_branding,
    variables: row.variables.map((variable) => ({ ...variable, value: secrets.decrypt(variable.value) })),
  }
}

/** The `env` of templates: variables, and the environment's own members, which no variable can override. */
export function envOf(
  { name, type, variables }: Pick<EnvironmentAccess, 'name' | 'type' | 'variables'>,
  { showSecrets }: { showSecrets: boolean },
): Record<string, string> {
  const values = variables.map(({ key, value, isSecret }) => [key, isSecret && !showSecrets ? mask : value])
  return { ...Object.fromEntries(values), name, type }
}

/** Only the names. */
export async function envKeysOf(db: Db | Tx, environmentId: string): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    SELECT v.key FROM environment_variable_values o JOIN environment_variables v ON v.id = o.variable_id
    WHERE o.environment_id = ${environmentId} ORDER BY v.key`.execute(db)
  return rows.map(({ key }) => key)
}

/** The rotas that chains of questions can name. */
export async function rotaIdsOf(db: Db | Tx, environmentId: string): Promise<string[]> {
  const { rows } = await sql<{ rota_id: string }>`
    SELECT rota_id FROM rotas WHERE environment_id = ${environmentId} ORDER BY rota_id`.execute(db)
  return rows.map(({ rota_id }) => rota_id)
}
