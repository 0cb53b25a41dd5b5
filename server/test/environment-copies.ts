// New environments for tests are copies of a first one, in one statement. To make one takes twenty, and 10 ms more of processor
// time each.
import { sql } from 'kysely'
import { hintOf } from '../src/db/core/api-key-form.ts'
import type { Database, Tx } from '../src/db/core/database.ts'
import { newApiKey, newId, randomUrlSafe } from '../src/db/core/ids.ts'
import { type Secrets, sha256 } from '../src/db/core/secrets.ts'

/** Where a new environment has rows, and what names it there; `environment-copies.test.ts` compares them with a real one. */
const copied = {
  organizations: 'id',
  environments: 'id',
  api_keys: 'environment_id',
  integrations: 'environment_id',
  layouts: 'environment_id',
  layout_versions: 'environment_id',
  notification_groups: 'environment_id',
} as const

type CopiedTable = keyof typeof copied
type Rows = Record<CopiedTable, Array<Record<string, unknown>>>

const tables = Object.keys(copied) as CopiedTable[]
const inserting = {
  name: 'copy_environments',
  text: `WITH ${tables
    .map(
      (table) =>
        `${table}_made AS (INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json -> '${table}'))`,
    )
    .join(', ')} SELECT`,
}

export interface Copy {
  organizationId: string
  environments: Array<{ id: string; apiKey: string }>
}

interface Pattern {
  environmentIds: string[]
  /** Where the organization is to be copied too. */
  organizationIds?: string[]
}

class RolledBack extends Error {}

/**
 * @param makePattern makes what is to be copied, in a transaction that is rolled back
 * @returns a function that makes a copy, its environments in their order
 */
export async function copiesOf(
  { db, pool }: Database,
  secrets: Secrets,
  makePattern: (tx: Tx) => Promise<Pattern>,
): Promise<(now: Date, name?: string) => Promise<Copy>> {
  let pattern: Pattern = { environmentIds: [] }
  const rows = {} as Rows
  const made = db.transaction().execute(async (tx) => {
    pattern = await makePattern(tx)
    const ids = [...pattern.environmentIds, ...(pattern.organizationIds ?? [])]
    for (const table of tables) {
      const found = await sql<{ row: Rows[CopiedTable][number] }>`
        SELECT row_to_json(t) AS row FROM ${sql.table(table)} t WHERE ${sql.ref(copied[table])} = ANY (${ids})`.execute(
        tx,
      )
      rows[table] = found.rows.map(({ row }) => row)
    }
    throw new RolledBack()
  })
  await made.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error
  })
  const { environmentIds, organizationIds = [] } = pattern
  const text = JSON.stringify(rows)
  return async (now, name) => {
    const made = new Map<unknown, string>()
    const { organizations, environments, api_keys, integrations, layouts, notification_groups } = rows
    for (const { id } of [organizations, environments, api_keys, integrations, layouts, notification_groups].flat())
      made.set(id, newId(now))
    for (const { owner_user_id } of organizations) made.set(owner_user_id, newId(now))
    for (const { identifier } of environments) made.set(identifier, randomUrlSafe(12))
    for (const { identifier } of integrations) {
      const end = randomUrlSafe(8)
      made.set(identifier, String(identifier).slice(0, -end.length) + end)
    }
    const keys = new Map(environmentIds.map((id) => [id, newApiKey()]))
    for (const { environment_id, hash, encrypted_key, hint } of api_keys) {
      const key = keys.get(String(environment_id)) as string
      made.set(hash, sha256(key))
      made.set(encrypted_key, secrets.encrypt(key))
      made.set(hint, hintOf(key))
    }
    for (const { created_at } of environments) made.set(created_at, now.toISOString())
    if (name !== undefined) made.set(environments[0]?.name, name)
    let copy = text
    for (const [old, other] of made) copy = copy.replaceAll(JSON.stringify(old), JSON.stringify(other))
    await pool.query({ ...inserting, values: [copy] })
    return {
      organizationId: made.get(organizationIds[0]) ?? '',
      environments: environmentIds.map((id) => ({ id: made.get(id) as string, apiKey: keys.get(id) as string })),
    }
  }
}
