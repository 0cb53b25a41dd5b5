import { pino } from 'pino'
import { expect, test } from 'vitest'
import { planOf } from '../../../test/plan.ts'
import { inApp, makeWorkflow } from '../../../test/runs.ts'
import { useServer } from '../../../test/server.ts'
import { EarlyStatistics } from './statistics.ts'

const server = useServer()

const looksFor = async () => {
  const { rows } = await server.database.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples > 0 ORDER BY relname`,
  )
  return rows.map(({ name }) => name.replace(/_(\d{4}_\d\d|default)$/, ''))
}

/** The lookup of a message for browsers. */
const byId = {
  text: `SELECT m.* FROM unnest($1::text[], $2::text[]) AS g (environment_id, id)
         JOIN messages m ON m.environment_id = g.environment_id AND m.id = g.id`,
  values: [['a'], ['b']],
}

test('growing tables are analysed, so that a row is found by its id', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'news', [inApp()])
  expect(await looksFor()).not.toContain('messages')
  const events = Array.from({ length: 100 }, (_, number) => ({ name: 'news', to: `reader-${number}` }))
  for (let round = 0; round < 2; round += 1) {
    const answer = await api.post('/v1/events/trigger/bulk', { events })
    expect(answer, answer.text).toMatchObject({ status: 201 })
    await server.drain()
  }
  await expect
    .poll(looksFor, { timeout: 30_000 })
    .toEqual(expect.arrayContaining(['jobs', 'messages', 'notifications']))
  const plan = JSON.stringify(await planOf(server.database, byId))
  expect(plan).toMatch(/messages_(\d{4}_\d\d|default)_pkey/)
})

test('tables are analysed when they have doubled, again each month, up to a limit', async () => {
  const asked: string[] = []
  const { pool } = server.database
  const watched = new Proxy(pool, {
    get: (target, name) =>
      name === 'query'
        ? (text: string) => {
            asked.push(text)
            return target.query(text)
          }
        : (Reflect.get(target, name) as unknown),
  })
  const statistics = new EarlyStatistics({ pool: watched, log: pino({ level: 'silent' }) })
  const looks = async (rows: number, now: string) => {
    asked.length = 0
    await statistics.note(rows, new Date(now))
    return asked.filter((text) => text.includes('pg_relation_size')).length
  }
  expect(await looks(99, '2026-03-01')).toBe(0)
  expect(await looks(1, '2026-03-01')).toBe(1)
  expect(await looks(99, '2026-03-02')).toBe(0)
  expect(await looks(1, '2026-03-02')).toBe(1)
  expect(await looks(1_000_000, '2026-03-03')).toBe(1)
  expect(await looks(1_000_000, '2026-03-04')).toBe(0)
  expect(await looks(99, '2026-04-01')).toBe(0)
  expect(await looks(1, '2026-04-01')).toBe(1)
})
