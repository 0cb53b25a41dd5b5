import { expect, test, vi } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { announce, Changes } from './changes.ts'

const server = useServer()

async function listening(): Promise<{ changes: Changes; heard: string[]; losses: () => number }> {
  const heard: string[] = []
  let losses = 0
  const changes = new Changes(server.database.url, () => undefined)
  changes.on('api_keys', (id) => heard.push(id))
  changes.onLoss(() => {
    losses += 1
  })
  await changes.start()
  return { changes, heard, losses: () => losses }
}

const say = (id: string) => server.database.db.transaction().execute((tx) => announce(tx, 'api_keys', id))

test('a change is announced when its transaction commits, and not if it rolls back', async () => {
  const { changes, heard } = await listening()
  await server.database.db
    .transaction()
    .execute(async (tx) => {
      await announce(tx, 'api_keys', 'taken-back')
      throw new Error('taken back')
    })
    .catch(() => undefined)
  await say('kept')
  await vi.waitUntil(() => heard.length > 0)
  expect(heard).toEqual(['kept'])
  await changes.stop()
})

test('a lost connection is reported once and reopened', async () => {
  const { changes, heard, losses } = await listening()
  await server.database.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'belfry changes' AND datname = current_database()",
  )
  await vi.waitUntil(() => losses() > 0)
  expect(changes.connected).toBe(false)
  await vi.waitUntil(() => changes.connected, { timeout: 30_000 })
  await say('after')
  await vi.waitUntil(() => heard.length > 0)
  expect(heard).toEqual(['after'])
  expect(losses()).toBe(1)
  await changes.stop()
})

test('a failed first connection is not retried', async () => {
  const errors: Error[] = []
  const changes = new Changes('postgres://127.0.0.1:1/nothing', (error) => errors.push(error))
  await expect(changes.start()).rejects.toThrow('ECONNREFUSED')
  expect(changes.connected).toBe(false)
  expect(errors).toEqual([])
  await changes.stop()
})
