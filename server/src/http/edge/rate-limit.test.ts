import { describe, expect, test } from 'vitest'
import { serveWith } from '../../../test/extra-routes.ts'
import { type Answer, Api, useServer } from '../../../test/server.ts'
import type { RateLimits } from '../../db/core/tables.ts'

const server = useServer({ rateLimit: 'free' })

const limits = ({ headers }: Answer) => ({
  limit: headers.get('ratelimit-limit'),
  remaining: headers.get('ratelimit-remaining'),
  reset: headers.get('ratelimit-reset'),
})
const remaining = (answer: Answer) => Number(answer.headers.get('ratelimit-remaining'))

/** Configuration at the free level: 100 requests in 5 s, one token every 50 ms, at most 110 at once. */
const ask = (api: Api) => api.get('/v2/subscribers/nobody')

async function drain(api: Api): Promise<void> {
  const left = remaining(await ask(api))
  await Promise.all(Array.from({ length: left }, () => ask(api)))
}

const at = (url: string, { key, environmentId, organizationId }: Api) =>
  new Api(url, key, environmentId, organizationId)

async function limitedTo(rates: RateLimits): Promise<Api> {
  const api = await server.freshApi()
  await server.database.db
    .updateTable('environments')
    .set({ rate_limits: JSON.stringify(rates) })
    .where('id', '=', api.environmentId)
    .execute()
  return api
}

describe('headers', () => {
  test('tell the remaining tokens and the policy', async () => {
    const api = await server.freshApi()
    const first = await api.get('/v2/subscribers')
    expect(first.status).toBe(200)
    expect(limits(first)).toEqual({ limit: '100', remaining: '109', reset: '0' })
    expect(first.headers.get('ratelimit-policy')).toBe(
      '100;w=5;burst=110;comment="token bucket";category="configuration";cost="single";serviceLevel="free"',
    )
    expect(first.headers.get('retry-after')).toBeNull()
    expect(limits(await api.get('/v2/subscribers'))).toEqual({ limit: '100', remaining: '108', reset: '0' })
  })

  test('are also on errors and replays, which cost a token each', async () => {
    const api = await server.freshApi()
    const invalid = await api.post('/v2/subscribers', {})
    const unreadable = await api.post('/v2/subscribers', '{')
    const missing = await api.get('/v2/subscribers/nobody')
    const created = await api.post('/v2/subscribers', { subscriberId: 'a' }, { 'idempotency-key': 'k' })
    const replayed = await api.post('/v2/subscribers', { subscriberId: 'a' }, { 'idempotency-key': 'k' })
    const answers = [invalid, unreadable, missing, created, replayed]
    expect(answers.map((answer) => answer.status)).toEqual([422, 400, 404, 201, 201])
    expect(answers.map(remaining)).toEqual([109, 108, 107, 106, 105])
  })

  test('are absent on public routes, and when the limiter is off', async () => {
    const off = await server.startAnother({ rateLimit: 'off' })
    const api = await server.freshApi()
    const answers = [
      await api.get('/health/live'),
      await api.get('/v1/nothing'),
      await api.get('/v2/subscribers', { authorization: 'ApiKey wrong' }),
      await at(off.url, api).get('/v2/subscribers'),
    ]
    expect(answers.map((answer) => answer.status)).toEqual([200, 404, 401, 200])
    for (const { headers } of answers)
      expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([])
    await off.stop()
  })
})

describe('categories', () => {
  const table = [
    ['GET', '/v1/events/anything', 'trigger', 300],
    ['POST', '/v1/events/trigger', 'trigger', 300],
    ['GET', '/v2/subscribers', 'configuration', 100],
    ['GET', '/v1/subscribers/x', 'configuration', 100],
    ['GET', '/v2/topics', 'configuration', 100],
    ['GET', '/v1/tenants', 'configuration', 100],
    ['GET', '/v1/channel-connections', 'configuration', 100],
    ['GET', '/v1/channel-endpoints', 'configuration', 100],
    ['GET', '/v1/environment-variables', 'configuration', 100],
    ['GET', '/v2/workflows', 'configuration', 100],
    ['GET', '/v2/layouts', 'configuration', 100],
    ['GET', '/v2/import', 'configuration', 100],
    ['GET', '/v1/integrations', 'global', 150],
    ['GET', '/v1/environments', 'global', 150],
    ['GET', '/v2/contexts', 'global', 150],
    ['GET', '/v1/messages', 'global', 150],
    ['GET', '/v1/notifications', 'global', 150],
  ] as const

  test('depend on the path', async () => {
    const { api, stop } = await serveWith(
      server,
      (app) => {
        // Paths that no resource serves.
        for (const [method, url] of table)
          if (!app.hasRoute({ method, url })) app.route({ method, url, handler: async () => ({}) })
      },
      { rateLimit: 'free' },
    )
    for (const [method, url, category, limit] of table) {
      const { headers } = await api.send(method, url)
      const [, found] = /category="(\w+)"/.exec(headers.get('ratelimit-policy') ?? '') ?? []
      expect([url, found, Number(headers.get('ratelimit-limit'))]).toEqual([url, category, limit])
    }
    await stop()
  })

  test.each([
    ['pro', 1200, 400, 600],
    ['team', 3000, 1000, 1500],
    ['enterprise', 30_000, 10_000, 15_000],
  ] as const)('the level %s has its own limits', async (level, trigger, configuration, global) => {
    const { api, stop } = await serveWith(server, (app) => app.get('/v1/events/anything', async () => ({})), {
      rateLimit: level,
    })
    const paths = ['/v1/events/anything', '/v2/subscribers', '/v2/contexts']
    const answers = await Promise.all(paths.map((path) => api.get(path)))
    expect(answers.map((answer) => Number(limits(answer).limit))).toEqual([trigger, configuration, global])
    for (const { headers } of answers)
      expect(headers.get('ratelimit-policy')).toMatch(new RegExp(`;serviceLevel="${level}"$`))
    expect(answers.map(remaining)).toEqual([trigger, configuration, global].map((n) => Math.floor(n * 1.1) - 1))
    await stop()
  })

  test('each has its own bucket, and each environment its own', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    await drain(api)
    expect((await ask(api)).status).toBe(429)
    expect((await api.get('/v2/contexts')).status).toBe(200)
    expect((await ask(other)).status).toBe(404)
  })
})

describe('an empty bucket', () => {
  test('is answered with 429 and Retry-After', async () => {
    const api = await server.freshApi()
    await drain(api)
    const refused = await api.post('/v2/subscribers', { subscriberId: 'one-too-many' })
    expect(refused.status).toBe(429)
    expect(refused.body).toEqual({
      statusCode: 429,
      timestamp: server.clock.now().toISOString(),
      path: '/v2/subscribers',
      message: 'API rate limit exceeded',
      code: 'rate_limited',
      ctx: {},
    })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(limits(refused)).toEqual({ limit: '100', remaining: '0', reset: '1' })
    expect(refused.headers.get('ratelimit-policy')).toContain('category="configuration"')
    server.clock.advance({ seconds: 5 })
    expect((await api.get('/v2/subscribers/one-too-many')).status).toBe(404)
  })

  test('gets a token every 50 ms, and loses no fraction of that time', async () => {
    const api = await server.freshApi()
    await drain(api)
    const statuses: number[] = []
    for (const ms of [49, 1, 0, 75, 0, 24, 1, 0]) {
      server.clock.advance({ ms })
      statuses.push((await ask(api)).status)
    }
    expect(statuses).toEqual([429, 404, 429, 404, 429, 429, 404, 429])
  })

  test('never refills beyond the burst', async () => {
    const api = await server.freshApi()
    await drain(api)
    server.clock.advance({ seconds: 5 })
    expect(remaining(await ask(api))).toBe(99)
    await drain(api)
    server.clock.advance({ days: 400 })
    expect(remaining(await ask(api))).toBe(109)
  })

  test('is refilled only once it is found empty', async () => {
    const api = await server.freshApi()
    expect(remaining(await ask(api))).toBe(109)
    server.clock.advance({ seconds: 1 })
    expect(remaining(await ask(api))).toBe(108)
    await drain(api)
    // The second that passed yields twenty tokens.
    expect(remaining(await ask(api))).toBe(19)
  })

  test('loses no tokens to a process whose clock is behind', async () => {
    const api = await server.freshApi()
    await drain(api)
    server.clock.advance({ seconds: -30 })
    expect(limits(await ask(api))).toMatchObject({ remaining: '0' })
    server.clock.advance({ seconds: 35 })
    expect(remaining(await ask(api))).toBe(99)
  })
})

describe('bulk requests', () => {
  const bulk = (api: Api) => api.post('/v1/subscribers/bulk', { subscribers: [] })

  test('cost a hundred', async () => {
    const api = await server.freshApi()
    const first = await bulk(api)
    expect(first.status).not.toBe(429)
    expect(limits(first)).toEqual({ limit: '100', remaining: '10', reset: '5' })
    expect(first.headers.get('ratelimit-policy')).toContain(';cost="bulk";')
    const second = await bulk(api)
    expect(second.status).toBe(429)
    expect(second.headers.get('retry-after')).toBe('5')
    // Tokens that were too few for the bulk request are left for others.
    expect(limits(await ask(api))).toEqual({ limit: '100', remaining: '9', reset: '0' })
    server.clock.advance({ seconds: 5 })
    expect((await bulk(api)).status).not.toBe(429)
  })

  test.each(['/v1/events/trigger/bulk', '/v1/events/trigger/broadcast'])('%s is a bulk request', async (url) => {
    const { api, stop } = await serveWith(
      server,
      (app) => app.hasRoute({ method: 'POST', url }) || app.post(url, async () => ({})),
      { rateLimit: 'free' },
    )
    const answer = await api.post(url, {})
    expect(limits(answer)).toMatchObject({ limit: '300', remaining: '230' })
    await stop()
  })

  test.each(['subscribers', 'messages', 'preferences', 'credentials', 'topic-subscriptions'])(
    'an import of %s is one; the list of imports is not',
    async (kind) => {
      const api = await server.freshApi()
      const first = await api.post(`/v2/import/${kind}`, { items: [{}] })
      expect(first.status).toBe(200)
      expect(limits(first)).toEqual({ limit: '100', remaining: '10', reset: '5' })
      expect(first.headers.get('ratelimit-policy')).toContain('category="configuration";cost="bulk";')
      expect((await api.post(`/v2/import/${kind}`, { items: [{}] })).status).toBe(429)
      const list = await api.get('/v2/import')
      expect([list.status, remaining(list)]).toEqual([200, 9])
      expect(list.headers.get('ratelimit-policy')).toContain(';cost="single";')
    },
  )
})

describe('limits of an environment', () => {
  test('replace those of the level, category by category', async () => {
    const api = await limitedTo({ configuration: 2 })
    const own = await ask(api)
    expect(limits(own)).toEqual({ limit: '10', remaining: '10', reset: '0' })
    expect(own.headers.get('ratelimit-policy')).toBe(
      '10;w=5;burst=11;comment="token bucket";category="configuration";cost="single";serviceLevel="custom"',
    )
    const common = await api.get('/v2/contexts')
    expect(common.headers.get('ratelimit-policy')).toMatch(/^150;.*serviceLevel="free"$/)
  })

  test('below the cost of a bulk request still let one through, from a full bucket', async () => {
    const api = await limitedTo({ configuration: 2 })
    const send = () => api.post('/v1/subscribers/bulk', { subscribers: [] })
    const first = await send()
    expect(first.status).not.toBe(429)
    expect(remaining(first)).toBe(0)
    const second = await send()
    expect(second.status).toBe(429)
    server.clock.advance({ seconds: Number(second.headers.get('retry-after')) })
    expect((await send()).status).not.toBe(429)
  })

  test('close to zero allow one request in five seconds', async () => {
    for (const configuration of [0, 0.01]) {
      const api = await limitedTo({ configuration })
      expect((await ask(api)).status).toBe(404)
      const refused = await ask(api)
      expect(refused.status).toBe(429)
      expect(refused.headers.get('retry-after')).toBe('5')
      server.clock.advance({ seconds: 5 })
      expect((await ask(api)).status).toBe(404)
    }
  })
})

test('a bucket never gives more tokens than it holds, however many processes ask at once', async () => {
  const another = await server.startAnother()
  const api = await server.freshApi()
  const there = at(another.url, api)
  const answers = await Promise.all(Array.from({ length: 150 }, (_, i) => ask(i % 2 ? api : there)))
  const granted = answers.filter((answer) => answer.status === 404)
  expect(granted).toHaveLength(110)
  expect(granted.map(remaining).sort((a, b) => b - a)).toEqual(Array.from({ length: 110 }, (_, i) => 109 - i))
  expect(answers.filter((answer) => answer.status === 429)).toHaveLength(40)
  await another.stop()
})
