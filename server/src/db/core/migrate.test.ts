import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { addWorkflow } from '../../../test/workflows.ts'
import { openDatabase } from './database.ts'
import { migrate } from './migrate.ts'
import { preparePartitions } from './partitions.ts'

const server = useServer()

test('environments and workflows from before groups get the group that new ones have', async () => {
  const { db, pool } = server.database
  const api = await server.freshApi()
  const id = await addWorkflow(server, api.environmentId, 'older')
  await sql`
    DROP TABLE notification_groups;
    ALTER TABLE workflows DROP COLUMN created_by;
    DELETE FROM belfry_migrations WHERE name = '0012-notification-groups.sql'`.execute(db)
  expect((await migrate(pool)).applied).toEqual(['0012-notification-groups.sql'])
  const { rows: groups } = await sql<{ id: string; name: string }>`
    SELECT g.id, g.name FROM environments e LEFT JOIN notification_groups g ON g.environment_id = e.id`.execute(db)
  expect(groups.length).toBeGreaterThan(1)
  for (const group of groups) expect(group).toEqual({ id: expect.stringMatching(/^[0-9a-f]{24}$/), name: 'General' })
  expect(new Set(groups.map((group) => group.id)).size).toBe(groups.length)
  const workflow = await db.selectFrom('workflows').select('created_by').where('id', '=', id).executeTakeFirst()
  expect(workflow).toEqual({ created_by: '0'.repeat(24) })
})

test('tables stay where ours are, though the schema for applications has the name of the role', async () => {
  const { url } = server.database
  const name = /@\/([^?]*)/.exec(url)?.[1] ?? ''
  await server.database.pool.query(`ALTER ROLE belfry IN DATABASE ${name} RESET search_path`)
  const { db, pool, close } = openDatabase(url, { connections: 2, onError: () => undefined })
  const { rows } = await sql<{ role: string; first: string }>`
    SELECT current_user AS role, current_schema() AS first`.execute(db)
  expect(rows).toEqual([{ role: 'belfry', first: 'belfry' }])
  expect((await migrate(pool)).applied).toEqual([])
  const { rows: tables } = await sql<{ name: string }>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'belfry' ORDER BY 1`.execute(db)
  expect(tables.map(({ name }) => name)).toEqual(['allowed', 'outbox', 'refused'])
  await preparePartitions(pool, new Date('2031-01-15T00:00:00Z'))
  const { rows: made } = await sql<{ schema: string }>`
    SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'messages_2031_01'`.execute(db)
  expect(made).toEqual([{ schema: 'public' }])
  await close()
})
