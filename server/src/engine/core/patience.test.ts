import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { makeWorkflow, runOf, trigger } from '../../../test/runs.ts'
import { useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { patientDb } from './patience.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

/** Sessions that wait for a lock on this table. */
const waiting = async () => {
  const { rows } = await sql<{ pid: number }>`
    SELECT pid FROM pg_locks WHERE relation = 'channel_endpoints'::regclass AND NOT granted`.execute(server.database.db)
  return rows.map(({ pid }) => pid)
}

test('a step whose connection breaks while it prepares its message still sends it', async () => {
  const api = await server.freshApi()
  await addIntegration(server, api, { identifier: `chat-${api.environmentId}`, provider: 'discord' })
  await makeWorkflow(api, 'talk', [{ type: 'chat', controlValues: { body: 'Hello' } }])
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  const credentials = { webhookUrl: `${vendor.url}/hook` }
  await api.put('/v1/subscribers/ada/credentials', { providerId: 'discord', credentials })
  vendor.plays(() => ({ body: { id: 'vendor-id' } }))
  const transactionId = await trigger(api, 'talk', 'ada')

  const holder = await server.database.pool.connect()
  await holder.query('BEGIN; LOCK TABLE channel_endpoints IN ACCESS EXCLUSIVE MODE')
  const drained = server.drain()
  await expect.poll(waiting).toHaveLength(1)
  const [first] = await waiting()
  await sql`SELECT pg_terminate_backend(${first})`.execute(server.database.db)
  await expect.poll(async () => (await waiting()).filter((pid) => pid !== first)).toHaveLength(1)
  await holder.query('COMMIT')
  holder.release()
  await drained
  expect((await runOf(api, transactionId)).jobs).toMatchObject([{ type: 'chat', status: 'completed' }])
  expect(vendor.asked).toHaveLength(1)
})

test('the patient connection offers no transactions', () => {
  expect(() => patientDb(server.database.pool).transaction()).toThrow('has no transactions')
})
