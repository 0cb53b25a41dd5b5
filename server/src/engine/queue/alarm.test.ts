import { sql } from 'kysely'
import { afterEach, expect, test, vi } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { Alarm, untilBeat } from './alarm.ts'

const server = useServer()
const leaves: Array<() => void> = []
afterEach(() => {
  for (const leave of leaves.splice(0)) leave()
})

test('rings for due jobs of its own tasks, and for no others', async () => {
  const { db, pool } = server.database
  for (const task of ['mine', 'mine', 'theirs'])
    await sql`SELECT graphile_worker.add_job(${task}, run_at := now() - interval '1 second')`.execute(db)
  const [mine, theirs, nobodys]: [number[], number[], number[]] = [[], [], []]
  const alarm = new Alarm(pool)
  leaves.push(alarm.join(['mine', 'nobodys'], (count) => mine.push(count)))
  leaves.push(alarm.join(['theirs'], (count) => theirs.push(count)))
  leaves.push(alarm.join(['nobodys'], (count) => nobodys.push(count)))
  await vi.waitFor(() => expect([mine[0], theirs[0]]).toEqual([2, 1]), { timeout: 20_000, interval: 5 })
  expect(nobodys).toEqual([])
})

test('tells of calls in the outbox, which may have come without a notification', async () => {
  const { pool } = server.database
  const alarm = new Alarm(pool)
  let told = 0
  alarm.onCalls = () => {
    told += 1
  }
  let looked = 0
  leaves.push(
    alarm.join(['some'], () => {
      looked += 1
    }),
  )
  await pool.query("SELECT graphile_worker.add_job('some')")
  await vi.waitFor(() => expect(looked).toBeGreaterThan(0), { timeout: 20_000, interval: 5 })
  expect(told).toBe(0)
  await pool.query(
    "INSERT INTO belfry.outbox (environment_id, kind, format, body, role, created_at) VALUES ($1, 'trigger', 1, '{}', '', now())",
    [server.api.environmentId],
  )
  await vi.waitFor(() => expect(told).toBeGreaterThan(0), { timeout: 20_000, interval: 5 })
  await pool.query('DELETE FROM belfry.outbox')
})

test.each([
  [10_000, 1_000],
  [10_001.5, 998.5],
  // Woken a little early: not a second time for the same beat.
  [10_998, 1_002],
  [10_996.9, 3.1],
])('all that looks every second rests until the same moment: at %d ms for %d', (now, rest) => {
  expect(untilBeat(1_000, now)).toBeCloseTo(rest, 6)
})
