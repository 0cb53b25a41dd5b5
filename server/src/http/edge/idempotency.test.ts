import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { serveWith } from '../../../test/extra-routes.ts'
import { type Answer, Api, useServer } from '../../../test/server.ts'
import { fail } from '../../errors.ts'

const server = useServer()
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
})

const keyed = (key: string) => ({ 'idempotency-key': key })
const marks = ({ headers }: Answer) => [headers.get('idempotency-key'), headers.get('idempotency-replay')]
const subscriberCount = async () => (await api.get('/v2/subscribers')).body.totalCount

/** The parts of an answer that a repeat must return unchanged. */
const essence = ({ status, text, headers }: Answer) => ({ status, text, type: headers.get('content-type') })

/** Blocks changes of this subscriber until released. */
async function holdSubscriber(subscriberId: string) {
  const client = await server.database.pool.connect()
  await client.query('BEGIN')
  await client.query('SELECT 1 FROM subscribers WHERE environment_id = $1 AND subscriber_id = $2 FOR UPDATE', [
    api.environmentId,
    subscriberId,
  ])
  const waiting = async () => {
    const { rows } = await server.database.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND query ILIKE '%subscribers%'`,
    )
    return rows
  }
  return {
    waiting,
    someoneWaits: () => expect.poll(async () => (await waiting()).length).toBe(1),
    async release() {
      await client.query('ROLLBACK')
      client.release()
    },
  }
}

describe('a repeated request', () => {
  test('gets the first answer again and does nothing', async () => {
    const body = { subscriberId: 'ada', firstName: 'Ada' }
    const first = await api.post('/v2/subscribers', body, keyed('k1'))
    expect(first.status).toBe(201)
    expect(marks(first)).toEqual(['k1', null])
    await api.patch('/v2/subscribers/ada', { firstName: 'Changed' })
    server.clock.advance({ minutes: 1 })

    const again = await api.post('/v2/subscribers', body, { 'IDEMPOTENCY-KEY': 'k1' })
    expect(essence(again)).toEqual(essence(first))
    expect(marks(again)).toEqual(['k1', 'true'])
    expect((await api.get('/v2/subscribers/ada')).body.firstName).toBe('Changed')
  })

  test('works for PATCH as for POST', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const first = await api.patch('/v2/subscribers/ada', { firstName: 'One' }, keyed('p'))
    await api.patch('/v2/subscribers/ada', { firstName: 'Two' })
    const again = await api.patch('/v2/subscribers/ada', { firstName: 'One' }, keyed('p'))
    expect(essence(again)).toEqual(essence(first))
    expect(marks(again)).toEqual(['p', 'true'])
    expect((await api.get('/v2/subscribers/ada')).body.firstName).toBe('Two')
  })

  test('without a body is a repeat of one without a body', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const first = await api.patch('/v2/subscribers/ada', undefined, keyed('empty'))
    expect(first.status).toBe(200)
    expect(marks(await api.patch('/v2/subscribers/ada', undefined, keyed('empty')))).toEqual(['empty', 'true'])
    expect((await api.patch('/v2/subscribers/ada', { firstName: 'x' }, keyed('empty'))).status).toBe(422)
  })

  test.each<[number, () => Promise<Answer>, () => Promise<unknown>]>([
    [
      422,
      () => api.post('/v2/contexts', { type: 'no good' }, keyed('bad')),
      () => Promise.resolve(), // nothing can make it valid
    ],
    [
      404,
      () => api.patch('/v2/contexts/tenant/acme', { data: { a: 1 } }, keyed('bad')),
      () => api.post('/v2/contexts', { type: 'tenant', id: 'acme' }),
    ],
    [
      409,
      () => api.post('/v2/contexts', { type: 'tenant', id: 'twice' }, keyed('bad')),
      () => api.delete('/v2/contexts/tenant/twice'),
    ],
  ])('an error with status %i is a result too', async (status, request, makeItSucceed) => {
    if (status === 409) await api.post('/v2/contexts', { type: 'tenant', id: 'twice' })
    const first = await request()
    expect(first.status).toBe(status)
    expect(marks(first)).toEqual(['bad', null])
    await makeItSucceed()
    server.clock.advance({ seconds: 5 })
    const again = await request()
    expect(essence(again)).toEqual(essence(first))
    expect(marks(again)).toEqual(['bad', 'true'])
  })

  test.each<[string, string, string]>([
    ['another value', '{"subscriberId":"ada"}', '{"subscriberId":"bob"}'],
    ['members in another order', '{"subscriberId":"ada","firstName":"A"}', '{"firstName":"A","subscriberId":"ada"}'],
    ['a member the route does not know', '{"subscriberId":"ada"}', '{"subscriberId":"ada","x":1}'],
  ])('with %s is refused', async (_what, one, two) => {
    const first = await api.post('/v2/subscribers', one, keyed('k'))
    const other = await api.post('/v2/subscribers', two, keyed('k'))
    expect(other.status).toBe(422)
    const message = 'Request with key "k" is being reused for a different body'
    expect(other.body).toMatchObject({
      message,
      code: 'idempotency_key_reused',
      errors: { general: { messages: [message], value: 'No Value Recorded' } },
    })
    expect(marks(other)).toEqual(['k', null])
    expect(other.headers.get('link')).toMatch(/^<.*docs.*>/)
    expect(await subscriberCount()).toBe(1)
    // The refusal leaves the first result unchanged.
    expect(essence(await api.post('/v2/subscribers', one, keyed('k')))).toEqual(essence(first))
  })

  test('with the same JSON written differently is a repeat', async () => {
    await api.post('/v2/subscribers', '{"subscriberId":"ada","data":{"n":1}}', keyed('k'))
    const spaced = await api.post(
      '/v2/subscribers',
      '{ "subscriberId": "\\u0061da",\n "data": {"n": 1.0} }',
      keyed('k'),
    )
    expect(marks(spaced)).toEqual(['k', 'true'])
  })

  test('with another query is another request', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'ada' }, keyed('k'))
    expect((await api.post('/v2/subscribers?failIfExists=true', { subscriberId: 'ada' }, keyed('k'))).status).toBe(422)
  })
})

describe('the scope of a key', () => {
  test('is one environment, method and path', async () => {
    const other = await server.freshApi()
    const fresh = [
      await api.post('/v2/subscribers', { subscriberId: 'ada' }, keyed('k')),
      await api.post('/v2/subscribers', { subscriberId: 'ada' }, keyed('other')),
      await other.post('/v2/subscribers', { subscriberId: 'ada' }, keyed('k')),
      await api.post('/v2/contexts', { type: 'tenant', id: 'acme' }, keyed('k')),
      await api.post('/v2/contexts', { type: 'tenant', id: 'apex' }, keyed('j')),
      await api.patch('/v2/contexts/tenant/acme', { data: {} }, keyed('k')),
      await api.patch('/v2/contexts/tenant/apex', { data: {} }, keyed('k')),
    ]
    expect(fresh.map((answer) => answer.status)).toEqual([201, 201, 201, 201, 201, 200, 200])
    for (const answer of fresh) expect(answer.headers.get('idempotency-replay')).toBeNull()
  })

  test('is the decoded path, however it was encoded', async () => {
    await api.post('/v2/contexts', { type: 'tenant', id: 'acme' })
    await api.patch('/v2/contexts/tenant/acme', { data: {} }, keyed('k'))
    for (const path of ['/v2/contexts/tenant/acme/', '/v2/contexts/tenant/%61cme'])
      expect([path, ...marks(await api.patch(path, { data: {} }, keyed('k')))]).toEqual([path, 'k', 'true'])
  })

  test('leaves GET, PUT and DELETE alone', async () => {
    await api.post('/v2/contexts', { type: 'tenant', id: 'acme' })
    const get = await api.get('/v2/contexts/tenant/acme', keyed('k'))
    const gone = await api.delete('/v2/contexts/tenant/acme', undefined, keyed('k'))
    const goneAgain = await api.delete('/v2/contexts/tenant/acme', undefined, keyed('k'))
    const put = await api.put('/v2/contexts/tenant/acme', {}, keyed('k'))
    expect([get.status, gone.status, goneAgain.status, put.status]).toEqual([200, 204, 404, 404])
    for (const answer of [get, gone, goneAgain, put]) expect(marks(answer)).toEqual([null, null])
    const ignored = await api.get('/v2/contexts', keyed('k'.repeat(300)))
    expect(ignored.status).toBe(200)
  })
})

describe('the key itself', () => {
  test('may have 255 characters and no more', async () => {
    const longest = 'k'.repeat(255)
    const fits = await api.post('/v2/subscribers', { subscriberId: 'ada' }, keyed(longest))
    expect(fits.status).toBe(201)
    expect(marks(fits)).toEqual([longest, null])

    const tooLong = await api.post('/v2/subscribers', { subscriberId: 'bob' }, keyed(`${longest}k`))
    expect(tooLong).toMatchObject({
      status: 400,
      body: { message: `idempotencyKey "${longest}k" has exceeded the maximum allowed length of 255 characters` },
    })
    expect(await subscriberCount()).toBe(1)
  })

  test('an empty key counts as no key', async () => {
    for (const firstName of ['One', 'Two']) {
      const answer = await api.post('/v2/subscribers', { subscriberId: 'ada', firstName }, keyed(''))
      expect(answer).toMatchObject({ status: 201, body: { firstName } })
      expect(marks(answer)).toEqual([null, null])
    }
  })

  test('may hold any character a header can', async () => {
    const key = 'a "quoted" \\ ~; key\twith=all, of it'
    const send = () => api.post('/v2/subscribers', { subscriberId: 'ada' }, keyed(key))
    expect(marks(await send())).toEqual([key, null])
    expect(marks(await send())).toEqual([key, 'true'])
  })
})

describe('while the first request runs', () => {
  test('a repeat gets a 409 that says to retry in a second, whatever its body, and the first still finishes', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const hold = await holdSubscriber('ada')
    const first = api.patch('/v2/subscribers/ada', { firstName: 'Ada' }, keyed('busy'))
    await hold.someoneWaits()
    for (const body of [{ firstName: 'Ada' }, { firstName: 'Other' }]) {
      const meanwhile = await api.patch('/v2/subscribers/ada', body, keyed('busy'))
      expect(meanwhile).toMatchObject({
        status: 409,
        body: {
          message: 'Request with key "busy" is currently being processed. Please retry after 1 second',
          code: 'idempotency_in_progress',
        },
      })
      expect(marks(meanwhile)).toEqual(['busy', null])
      expect(meanwhile.headers.get('retry-after')).toBe('1')
      expect(meanwhile.headers.get('link')).toMatch(/^<.*docs.*>/)
    }
    await hold.release()
    expect((await first).body.firstName).toBe('Ada')
    const after = await api.patch('/v2/subscribers/ada', { firstName: 'Ada' }, keyed('busy'))
    expect(essence(after)).toEqual(essence(await first))
  })

  test('a request that never ends holds the key for five minutes, no longer', async () => {
    // The lock of a request whose process is alive.
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    await api.patch('/v2/subscribers/ada', { firstName: 'Ada' }, keyed('dead'))
    await server.database.db
      .updateTable('idempotency_keys')
      .set({ status: null, body: null, expires_at: new Date(server.clock.now().getTime() + 5 * 60_000) })
      .where('environment_id', '=', api.environmentId)
      .execute()
    const retry = () => api.patch('/v2/subscribers/ada', { firstName: 'Ada' }, keyed('dead'))
    server.clock.advance({ ms: 5 * 60_000 - 1 })
    expect((await retry()).status).toBe(409)
    server.clock.advance({ ms: 1 })
    const executed = await retry()
    expect(executed.status).toBe(200)
    expect(marks(executed)).toEqual(['dead', null])
    expect(marks(await retry())).toEqual(['dead', 'true'])
  })

  test('after five minutes another request takes over, and the slow first one does not overwrite its result', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const hold = await holdSubscriber('ada')
    const slow = api.patch('/v2/subscribers/ada', { firstName: 'Slow' }, keyed('slow'))
    await hold.someoneWaits()
    server.clock.advance({ minutes: 5 })
    // The same key and path with another body: it fails its validation without waiting for the subscriber.
    const quick = await api.patch('/v2/subscribers/ada', { firstName: 5 }, keyed('slow'))
    expect(quick.status).toBe(422)
    expect(marks(quick)).toEqual(['slow', null])
    await hold.release()
    expect((await slow).status).toBe(200)
    const replayed = await api.patch('/v2/subscribers/ada', { firstName: 5 }, keyed('slow'))
    expect(essence(replayed)).toEqual(essence(quick))
    expect(marks(replayed)).toEqual(['slow', 'true'])
  })

  test('a client that hung up gets the result when it retries', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const hold = await holdSubscriber('ada')
    const caller = new AbortController()
    const lost = fetch(`${api.url}/v2/subscribers/ada`, {
      method: 'PATCH',
      headers: { authorization: `ApiKey ${api.key}`, 'content-type': 'application/json', ...keyed('lost') },
      body: '{"firstName":"Ada"}',
      signal: caller.signal,
    })
    await hold.someoneWaits()
    caller.abort()
    await expect(lost).rejects.toThrow()
    await hold.release()
    const ask = () => api.patch('/v2/subscribers/ada', { firstName: 'Ada' }, keyed('lost'))
    await expect.poll(async () => (await ask()).status).toBe(200)
    const answer = await ask()
    expect(marks(answer)).toEqual(['lost', 'true'])
    expect(answer.body.firstName).toBe('Ada')
  })

  test('of twenty concurrent requests to two processes one executes', async () => {
    const another = await server.startAnother()
    const there = new Api(another.url, api.key, api.environmentId, api.organizationId)
    await api.get('/v2/subscribers')
    const send = (caller: Api) => caller.post('/v2/contexts', { type: 'tenant', id: 'acme' }, keyed('race'))
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => send(i % 2 ? api : there)))
    const executed = answers.filter((one) => one.status === 201 && one.headers.get('idempotency-replay') === null)
    expect(executed).toHaveLength(1)
    for (const answer of answers) {
      // A second execution would have been a conflict with a message of its own.
      if (answer.status === 409) expect(answer.body.code).toBe('idempotency_in_progress')
      else expect(essence(answer)).toEqual(essence(executed[0] as Answer))
    }
    expect(marks(await send(api))).toEqual(['race', 'true'])
    expect(marks(await send(there))).toEqual(['race', 'true'])
    await another.stop()
  })
})

describe('a result is kept', () => {
  test('for 24 hours', async () => {
    const send = () => api.post('/v2/subscribers', { subscriberId: 'ada' }, keyed('day'))
    await send()
    server.clock.advance({ ms: 24 * 3_600_000 - 1 })
    expect(marks(await send())).toEqual(['day', 'true'])
    server.clock.advance({ ms: 1 })
    const executed = await send()
    expect(marks(executed)).toEqual(['day', null])
    expect(executed.body.updatedAt).toBe(server.clock.now().toISOString())
  })

  test('encrypted, because answers can hold credentials', async () => {
    const answer = await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Confidential' }, keyed('k'))
    const rows = await server.database.db
      .selectFrom('idempotency_keys')
      .selectAll()
      .where('environment_id', '=', api.environmentId)
      .execute()
    expect(rows).toMatchObject([{ status: 201, body: expect.stringMatching(/^enc:v1:/) }])
    expect(JSON.stringify(rows)).not.toContain('Confidential')
    expect(answer.text).toContain('Confidential')
  })
})

describe('not stored as a result', () => {
  const stored = () =>
    server.database.db
      .selectFrom('idempotency_keys')
      .select('status')
      .where('environment_id', '=', api.environmentId)
      .execute()

  test('a refused key', async () => {
    const body = { subscriberId: 'ada' }
    const refused = await api.post('/v2/subscribers', body, { ...keyed('k'), authorization: 'ApiKey wrong' })
    expect(refused.status).toBe(401)
    expect(marks(refused)).toEqual([null, null])
    expect(marks(await api.post('/v2/subscribers', body, keyed('k')))).toEqual(['k', null])
  })

  test('a request over the rate limit', async () => {
    const strict = await server.startAnother({ rateLimit: 'free' })
    const there = new Api(strict.url, api.key, api.environmentId, api.organizationId)
    await server.database.db
      .insertInto('rate_buckets')
      .values({
        environment_id: api.environmentId,
        category: 'configuration',
        tokens: 0,
        refilled_at: server.clock.now(),
        granted: true,
      })
      .execute()
    const send = () => there.post('/v2/subscribers', { subscriberId: 'ada' }, keyed('k'))
    const refused = await send()
    expect(refused.status).toBe(429)
    expect(marks(refused)).toEqual([null, null])
    expect(await stored()).toEqual([])
    server.clock.advance({ seconds: 5 })
    const executed = await send()
    expect(executed.status).toBe(201)
    expect(marks(executed)).toEqual(['k', null])
    await strict.stop()
  })

  test('a body that could not be read', async () => {
    expect((await api.post('/v2/subscribers', '{"subscriberId":', keyed('k'))).status).toBe(400)
    expect(await stored()).toEqual([])
    expect((await api.post('/v2/subscribers', '{"subscriberId":"ada"}', keyed('k'))).status).toBe(201)
  })

  test('an internal error', async () => {
    const send = () => api.post('/v2/contexts', { type: 'tenant', id: 'acme' }, keyed('k'))
    await server.database.pool.query('ALTER TABLE contexts RENAME TO contexts_away')
    const failed = await send()
    await server.database.pool.query('ALTER TABLE contexts_away RENAME TO contexts')
    expect(failed.status).toBe(500)
    expect(marks(failed)).toEqual(['k', null])
    expect(await stored()).toEqual([])
    const executed = await send()
    expect(executed.status).toBe(201)
    expect(marks(executed)).toEqual(['k', null])
  })

  test('a request whose database connection broke', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const hold = await holdSubscriber('ada')
    const send = () => api.patch('/v2/subscribers/ada', { firstName: 'Ada' }, keyed('cut'))
    const first = send()
    await hold.someoneWaits()
    const [backend] = await hold.waiting()
    await server.database.pool.query('SELECT pg_terminate_backend($1, 5000)', [backend?.pid])
    expect(await first).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    await hold.release()
    const answers: Answer[] = []
    await expect.poll(async () => answers.push(await send()) && answers.at(-1)?.status).toBe(200)
    expect(marks(answers.at(-1) as Answer)).toEqual(['cut', null])
  })
})

describe('when the results cannot be stored', () => {
  const away = (isAway: boolean) =>
    server.database.pool.query(
      isAway
        ? 'ALTER TABLE idempotency_keys RENAME TO idempotency_keys_away'
        : 'ALTER TABLE idempotency_keys_away RENAME TO idempotency_keys',
    )

  test('the client gets its answer, and the result is stored when the database is back', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const hold = await holdSubscriber('ada')
    const first = api.patch('/v2/subscribers/ada', { firstName: 'Ada' }, keyed('later'))
    await hold.someoneWaits()
    await away(true)
    await hold.release()
    expect(await first).toMatchObject({ status: 200, body: { firstName: 'Ada' } })
    await away(false)
    expect(server.logged.at(-1)?.msg).toBe('could not store the result of an idempotent request yet')
    const ask = () => api.patch('/v2/subscribers/ada', { firstName: 'Ada' }, keyed('later'))
    await expect.poll(async () => (await ask()).status, { timeout: 30_000 }).toBe(200)
    expect(essence(await ask())).toEqual(essence(await first))
    expect(marks(await ask())).toEqual(['later', 'true'])
  })
})

describe('answers of every kind', () => {
  let there: Api
  let stop: () => Promise<void>
  let runs = 0
  beforeAll(async () => {
    ;({ api: there, stop } = await serveWith(server, (app) => {
      app.post('/v1/test/nothing', async (_request, reply) => {
        runs += 1
        return reply.code(204).send(null)
      })
      app.post('/v1/test/empty', async (_request, reply) => {
        runs += 1
        return reply.code(200).send()
      })
      app.post('/v1/test/true', async (_request, reply) => {
        runs += 1
        return reply.code(200).type('application/json').send(true)
      })
      app.post('/v1/test/bytes', async (_request, reply) => {
        runs += 1
        return reply.code(202).type('application/json; charset=utf-8').send(Buffer.from('{"ü":[1,"\\u0000"]}'))
      })
      app.post('/v1/test/bad-gateway', async () => {
        runs += 1
        throw fail('oauth_unavailable', { vendor: 'x', reason: 'y' })
      })
    }))
  })
  afterAll(() => stop())

  test.each([
    ['nothing', 204, ''],
    ['empty', 200, ''],
    ['true', 200, 'true'],
    ['bytes', 202, '{"ü":[1,"\\u0000"]}'],
  ])('%s is replayed to the byte', async (name, status, text) => {
    runs = 0
    const send = () => there.post(`/v1/test/${name}`, {}, keyed(name))
    const [first, again] = [await send(), await send()]
    expect(first).toMatchObject({ status, text })
    expect(essence(again)).toEqual(essence(first))
    expect(marks(again)).toEqual([name, 'true'])
    expect(runs).toBe(1)
  })

  test('a 502 is not stored as a result', async () => {
    runs = 0
    const send = () => there.post('/v1/test/bad-gateway', {}, keyed('gw'))
    expect([(await send()).status, (await send()).status]).toEqual([502, 502])
    expect(runs).toBe(2)
  })
})

describe('a key held by a process that', () => {
  /** Starts a request that never ends, as if its process had stopped in the middle. @returns its key */
  async function unfinished(processId: string): Promise<string> {
    const key = `held by ${processId}`
    await api.post('/v2/subscribers', { subscriberId: 'ada' }, keyed(key))
    await server.database.pool.query(
      'UPDATE idempotency_keys SET status = NULL, body = NULL, holder = $2, expires_at = $3 WHERE environment_id = $1',
      [api.environmentId, `${processId} request`, new Date(server.clock.now().getTime() + 300_000)],
    )
    await api.delete('/v2/subscribers/ada')
    return key
  }
  const repeat = (key: string) => api.post('/v2/subscribers', { subscriberId: 'ada' }, keyed(key))
  const agedBy = (seconds: number) =>
    server.database.pool.query(
      "UPDATE idempotency_keys SET suspect_since = clock_timestamp() - $2 * interval '1 second' WHERE environment_id = $1",
      [api.environmentId, seconds],
    )
  const suspectSince = async () =>
    (
      await server.database.pool.query('SELECT suspect_since FROM idempotency_keys WHERE environment_id = $1', [
        api.environmentId,
      ])
    ).rows[0].suspect_since as Date | null

  test('died is free after a few seconds, and its request runs once more', async () => {
    const key = await unfinished('a process that died')
    expect(await repeat(key)).toMatchObject({ status: 409, body: { code: 'idempotency_in_progress' } })
    expect(await suspectSince()).toBeInstanceOf(Date)
    await agedBy(2)
    expect(await repeat(key)).toMatchObject({ status: 409 })
    await agedBy(4)
    const answers = await Promise.all([repeat(key), repeat(key), repeat(key)])
    expect(answers.filter(({ status, headers }) => status === 201 && !headers.get('idempotency-replay'))).toHaveLength(
      1,
    )
    expect(await repeat(key)).toMatchObject({ status: 201 })
    expect(await subscriberCount()).toBe(1)
  })

  test('is alive stays held, even if its lock was free for a moment', async () => {
    const { rows } = await server.database.pool.query<{ holder: string }>(
      "SELECT split_part(holder, ' ', 1) AS holder FROM idempotency_keys LIMIT 1",
    )
    const own = rows[0]?.holder ?? ''
    const key = await unfinished(own)
    await agedBy(60)
    expect(await repeat(key)).toMatchObject({ status: 409, body: { code: 'idempotency_in_progress' } })
    expect(await suspectSince()).toBeNull()
    expect(await subscriberCount()).toBe(0)
  })
})
