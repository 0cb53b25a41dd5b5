import { expect, test } from 'vitest'
import { newId } from '../src/db/core/ids.ts'
import { Secrets } from '../src/db/core/secrets.ts'
import { createEnvironment } from '../src/db/queries/environments.ts'
import { secretKey, useServer } from './server.ts'

const server = useServer()

test('a copied environment has the rows of a created one', async () => {
  const { pool, db } = server.database
  const { rows: columns } = await pool.query<{ table_name: string; column_name: string }>(
    `SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
       AND (column_name = 'environment_id' OR (table_name, column_name) = ('environments', 'id'))`,
  )
  const countsOf = async (id: string) => {
    const counts: Record<string, number> = {}
    for (const { table_name, column_name } of columns) {
      const { rowCount } = await pool.query(`SELECT FROM ${table_name} WHERE ${column_name} = $1`, [id])
      if (rowCount) counts[table_name] = rowCount
    }
    return counts
  }
  const fields = { name: newId(new Date()), type: 'prod', color: '#000', parent_id: null } as const
  const created = await db.transaction().execute((tx) => {
    const owner = { organization_id: server.api.organizationId, userId: '0'.repeat(24) }
    return createEnvironment(tx, { ...fields, ...owner }, new Secrets(secretKey), server.clock.now())
  })
  const [first, second] = [await server.freshApi(), await server.freshApi()]
  const counts = await countsOf(created.id)
  expect(Object.keys(counts).length).toBeGreaterThan(5)
  expect(await countsOf(first.environmentId)).toEqual(counts)
  expect(await countsOf(second.environmentId)).toEqual(counts)
})

test('copies of an organization share no id', async () => {
  const idsOf = async ({ development, production }: Awaited<ReturnType<typeof server.freshOrganizationWide>>) => {
    const answers = await Promise.all(
      [development, production].flatMap((api) =>
        ['/v1/integrations', '/v2/layouts', '/v1/environments'].map((path) => api.get(path)),
      ),
    )
    for (const { status } of answers) expect(status).toBe(200)
    return new Set(answers.flatMap(({ text }) => text.match(/\b[0-9a-f]{24}\b/g) ?? []))
  }
  const [one, other] = [
    await idsOf(await server.freshOrganizationWide()),
    await idsOf(await server.freshOrganizationWide()),
  ]
  expect(one.size).toBeGreaterThan(10)
  expect(one.size).toBe(other.size)
  expect([...one].filter((id) => other.has(id))).toEqual([])
})
