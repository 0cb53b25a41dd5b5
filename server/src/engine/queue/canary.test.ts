import { expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { hiddenId } from '../../db/core/ids.ts'
import { canarySchedule } from './canary.ts'

const server = useServer()

async function sendCanary(): Promise<void> {
  await server.database.pool.query("SELECT graphile_worker.add_job('canary')")
  await server.drain()
}

async function figure(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}

const age = () => figure('belfry_canary_age_seconds')

async function rowsLeft(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of ['transactions', 'events', 'notifications', 'jobs', 'messages', 'subscribers', 'workflows']) {
    const { rows } = await server.database.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table} WHERE environment_id = $1`,
      [hiddenId],
    )
    counts[table] = rows[0]?.count ?? 0
  }
  return counts
}

test('it is sent every minute, and missed ones are skipped', () => {
  expect(canarySchedule).toEqual([
    { task: 'canary', match: '* * * * *', options: { backfillPeriod: 0, maxAttempts: 1 } },
  ])
})

test('how long ago a notification last arrived, and how long it took, are metrics', async () => {
  expect(await age()).toBeNaN()
  await sendCanary()
  expect(await age()).toBe(0)
  expect(await figure('belfry_canary_seconds')).toBe(0)
  server.clock.advance({ seconds: 90 })
  expect(await age()).toBe(90)

  // Accepted, but no worker runs: the age keeps growing, and the duration stays.
  let works = 0
  await server.database.pool.query("SELECT graphile_worker.add_job('canary')")
  await server.drain(async (work) => {
    works += 1
    if (works === 2) {
      server.clock.advance({ seconds: 7 })
      expect(await age()).toBe(97)
    }
    await work()
  })
  expect(await figure('belfry_canary_seconds')).toBe(7)
})

test('it leaves nothing behind but the last message, and shows nowhere', async () => {
  for (let round = 0; round < 4; round += 1) {
    server.clock.advance({ minutes: 1 })
    await sendCanary()
  }
  server.clock.advance({ minutes: 1 })
  await sendCanary()
  const left = await rowsLeft()
  expect(left).toMatchObject({ subscribers: 1, workflows: 1 })
  for (const table of ['transactions', 'events', 'notifications', 'jobs', 'messages'])
    expect(left[table], table).toBeLessThanOrEqual(2)

  const environments = await server.api.get('/v1/environments')
  expect(environments.body.map(({ name }: { name: string }) => name)).toEqual(['Development', 'Production'])
  const seen = await Promise.all(
    ['/v1/notifications', '/v1/messages', '/v2/subscribers', '/v2/workflows'].map((path) => server.api.get(path)),
  )
  for (const { status, text } of seen) {
    expect(status).toBe(200)
    expect(text).not.toContain('canary')
  }
})

test('people who sign in join the organization created first, whatever the clock said since', async () => {
  await server.database.pool.query("UPDATE organizations SET created_at = '2000-01-01' WHERE id = $1", [hiddenId])
  const answer = await server.api.post('/v1/auth/set-up', {
    ...{ token: server.setUpToken, name: 'Ada', email: 'ada@example.com', password: 'a difference engine' },
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  const { rows } = await server.database.pool.query('SELECT organization_id FROM users')
  expect(rows).toEqual([{ organization_id: server.api.organizationId }])
})
