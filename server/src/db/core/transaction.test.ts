import { setImmediate as turn } from 'node:timers/promises'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { isOutage } from './database.ts'
import { inTransaction, statement } from './transaction.ts'

const server = useServer()
const current = statement('current_transaction', 'SELECT pg_current_xact_id()::text AS id')

test('prepared statements and the query builder share a transaction, concurrently and in turn', async () => {
  const idsOfOne = () =>
    inTransaction(server.database.pool, async (transaction) => {
      const [prepared] = await transaction.run<{ id: string }>(current, [])
      const { rows } = await sql<{ id: string }>`SELECT pg_current_xact_id()::text AS id`.execute(transaction.tx)
      return [prepared?.id, rows[0]?.id]
    })
  const all = [...(await Promise.all(Array.from({ length: 5 }, idsOfOne))), await idsOfOne(), await idsOfOne()]
  for (const [prepared, built] of all) expect(built).toBe(prepared)
  expect(new Set(all.flat())).toHaveLength(all.length)
})

test('callbacks run after the commit or after the failure, never both', async () => {
  const done: string[] = []
  await inTransaction(server.database.pool, async (transaction) => {
    transaction.afterCommit(() => done.push('kept'))
    transaction.afterFailure(() => done.push('never'))
  })
  const failing = inTransaction(server.database.pool, async (transaction) => {
    transaction.afterCommit(() => done.push('never'))
    transaction.afterFailure(() => done.push('taken back'))
    throw new Error('a fault')
  })
  await expect(failing).rejects.toThrow('a fault')
  expect(done).toEqual(['kept', 'taken back'])
})

// Full collections pause the whole process, so a trigger's garbage should not need one.
test('a minor garbage collection frees the data of a transaction', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void
  setFlagsFromString('--no-expose-gc')
  const used = () => getHeapStatistics().used_heap_size
  const transact = async (numbers: number[]) => {
    await inTransaction(server.database.pool, async (transaction) => {
      await sql`SELECT 1`.execute(transaction.tx)
      transaction.afterCommit(() => numbers.reverse())
    })
  }
  for (let n = 0; n < 20; n += 1) await transact([n])
  collect()
  const before = used()
  const [count, bytes] = [100, 80_000]
  for (let n = 0; n < count; n += 1) await transact(new Array(bytes / 8).fill(n + 0.5))
  for (let n = 0; n < 4; n += 1) {
    await turn()
    collect({ type: 'minor' })
  }
  expect(used() - before).toBeLessThan((count * bytes) / 2)
})

test('a connection that PostgreSQL ends, because this process left its transaction idle, is an outage', () => {
  const error = new pg.DatabaseError('terminating connection due to idle-in-transaction timeout', 122, 'error')
  error.code = '25P03'
  expect(isOutage(error)).toBe(true)
  error.code = '25P02'
  expect(isOutage(error)).toBe(false)
})
