import { sql } from 'kysely'
import { afterEach, expect, test, vi } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { Alarm } from './alarm.ts'

const server = useServer()
const alarm = new Alarm()
afterEach(() => alarm.stop())

test('rings for due jobs of its own tasks, and for no others', async () => {
  const { db, pool } = server.database
  for (const task of ['mine', 'mine', 'theirs'])
    await sql`SELECT graphile_worker.add_job(${task}, run_at := now() - interval '1 second')`.execute(db)
  const rung: number[] = []
  alarm.start(pool, ['mine', 'nobodys'], (count) => rung.push(count))
  await vi.waitFor(() => expect(rung[0]).toBe(2), { timeout: 20_000, interval: 5 })
})
