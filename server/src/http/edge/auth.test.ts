import type { FastifyRequest } from 'fastify'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { announce, Changes } from '../../db/core/changes.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { ApiKeys } from './auth.ts'

// With the limiter on, so that its headers would show if a refused request had reached it.
const server = useServer({ rateLimit: 'free' })

const later = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-policy', 'idempotency-key', 'idempotency-replay']

async function withAuthorization(value: string | undefined, path = '/v2/subscribers/ada') {
  const response = await fetch(server.url + path, {
    headers: { ...(value === undefined ? {} : { authorization: value }), 'idempotency-key': 'k' },
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}

describe('a request without a valid key', () => {
  test.each<[string, string | undefined, string, string]>([
    ['no header', undefined, 'missing_authorization', 'Missing authorization header'],
    ['an empty header', '', 'missing_authorization', 'Missing authorization header'],
    [
      'another scheme',
      'Basic dXNlcjpwYXNz',
      'invalid_scheme',
      'Invalid authentication scheme: "Basic"; send "Authorization: ApiKey <the key of the environment>"',
    ],
    [
      'a user token',
      'Bearer eyJhbGciOiJIUzI1NiJ9.e30.x',
      'invalid_scheme',
      'Invalid authentication scheme: "Bearer"; send "Authorization: ApiKey <the key of the environment>"',
    ],
    [
      'the scheme in other case',
      'apikey 0123',
      'invalid_scheme',
      'Invalid authentication scheme: "apikey"; send "Authorization: ApiKey <the key of the environment>"',
    ],
    [
      'the scheme in capitals',
      'APIKEY 0123',
      'invalid_scheme',
      'Invalid authentication scheme: "APIKEY"; send "Authorization: ApiKey <the key of the environment>"',
    ],
    [
      'a bare key',
      '0123456789abcdef',
      'invalid_scheme',
      'Invalid authentication scheme: "0123456789abcdef"; send "Authorization: ApiKey <the key of the environment>"',
    ],
    [
      'no space after the scheme',
      'ApiKey:0123',
      'invalid_scheme',
      'Invalid authentication scheme: "ApiKey:0123"; send "Authorization: ApiKey <the key of the environment>"',
    ],
    ['an empty key', 'ApiKey ', 'unauthorized', 'Unauthorized'],
    ['the scheme alone', 'ApiKey', 'unauthorized', 'Unauthorized'],
    ['an unknown key', `ApiKey ${'0'.repeat(32)}`, 'api_key_not_found', 'API Key not found'],
    ['a key with spaces', 'ApiKey not a key', 'api_key_not_found', 'API Key not found'],
  ])('%s', async (_what, authorization, code, message) => {
    const answer = await withAuthorization(authorization, '/v2/subscribers/ada?x=1')
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual({
      statusCode: 401,
      timestamp: server.clock.now().toISOString(),
      path: '/v2/subscribers/ada?x=1',
      message,
      code,
      error: 'Unauthorized',
      ctx: { error: 'Unauthorized', statusCode: 401 },
    })
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(later.filter((name) => answer.headers.has(name))).toEqual([])
  })

  test('a key is valid only exactly as issued', async () => {
    const { key } = server.api
    for (const spoilt of [`${key} `.padEnd(40, 'x'), ` ${key}`, key.toUpperCase(), key.slice(0, -1), `${key}0`])
      expect({ spoilt, ...(await withAuthorization(`ApiKey ${spoilt}`)) }).toMatchObject({
        spoilt,
        status: 401,
        body: { message: 'API Key not found' },
      })
    expect((await withAuthorization(`ApiKey ${key}`)).status).toBe(404)
  })

  test('is refused before its body is read, and nothing is stored', async () => {
    const send = (body: string) =>
      fetch(`${server.url}/v2/subscribers`, {
        method: 'POST',
        headers: {
          authorization: 'ApiKey wrong',
          'content-type': 'application/json',
          'idempotency-key': 'refused',
        },
        body,
      })
    for (const body of ['{"subscriberId":"intruder"}', '{"broken', 'x'.repeat(200_000)])
      expect((await send(body)).status).toBe(401)
    const { db } = server.database
    expect(await db.selectFrom('subscribers').select('id').execute()).toEqual([])
    expect(await db.selectFrom('idempotency_keys').select('holder').execute()).toEqual([])
  })
})

describe('guessing keys', () => {
  const count = async () => (await server.database.db.selectFrom('sign_in_attempts').selectAll().execute())[0]?.attempts
  const guess = (n: number) => withAuthorization(`ApiKey guess ${n}`)

  test('hole 10: is limited per address; right keys get in, and repeating the same wrong key is not a guess', async () => {
    const { key } = server.api
    expect((await withAuthorization(`ApiKey ${key}`)).status).toBe(404)
    await server.database.db.deleteFrom('sign_in_attempts').execute()
    for (let n = 0; n < 3; n += 1) expect(await guess(0)).toMatchObject({ status: 401 })
    expect(await count()).toBe(1)
    await server.database.db.updateTable('sign_in_attempts').set({ attempts: 59 }).execute()
    expect((await guess(1)).status).toBe(401)
    const limited = await guess(2)
    expect(limited).toMatchObject({ status: 429, body: { code: 'too_many_wrong_keys' } })
    expect(limited.headers.get('retry-after')).toBe('900')
    // A right key gets in from there, though no request has used it yet.
    expect((await withAuthorization(`ApiKey ${(await server.freshApi()).key}`)).status).toBe(404)
    const newKey = (await server.freshApi()).key
    const flood = Array.from({ length: 40 }, (_, n) => guess(100 + n))
    expect((await withAuthorization(`ApiKey ${newKey}`)).status).toBe(404)
    expect((await Promise.all(flood)).map(({ status }) => status)).toEqual(Array(40).fill(429))
    // From here on guesses are not counted.
    const after = await count()
    expect((await guess(3)).status).toBe(429)
    expect(await count()).toBe(after)
    expect((await withAuthorization(`ApiKey ${key}`)).status).toBe(404)
    // Also after a change of some key has emptied the cache.
    await server.database.db.transaction().execute((tx) => announce(tx, 'api_keys', 'somebody'))
    await expect.poll(async () => (await guess(0)).status).toBe(429)
    expect((await withAuthorization(`ApiKey ${key}`)).status).toBe(404)
    // In every process, after its first look-up.
    const another = await server.startAnother()
    const there = await fetch(`${another.url}/v2/subscribers`, { headers: { authorization: 'ApiKey guess 4' } })
    expect(there.status).toBe(429)
    await another.stop()

    server.clock.advance({ minutes: 15 })
    expect((await guess(5)).status).toBe(401)
    expect((await withAuthorization(`ApiKey ${(await server.freshApi()).key}`)).status).toBe(404)
  })

  test('a key that was unknown works as soon as it is created', async () => {
    const api = await server.freshApi()
    const row = await server.database.db
      .deleteFrom('api_keys')
      .where('hash', '=', sha256(api.key))
      .returningAll()
      .executeTakeFirstOrThrow()
    const ask = async () => (await withAuthorization(`ApiKey ${api.key}`)).status
    expect([await ask(), await ask()]).toEqual([401, 401])
    await server.database.db.transaction().execute(async (tx) => {
      await tx.insertInto('api_keys').values(row).execute()
      await announce(tx, 'api_keys', api.environmentId)
    })
    await expect.poll(ask).toBe(404)
  })
})

describe('a valid key', () => {
  test('opens its own environment and no other', async () => {
    const [mine, other] = [await server.freshApi(), await server.freshApi()]
    await mine.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Mine' })
    await other.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Theirs' })
    await other.post('/v2/subscribers', { subscriberId: 'bob' })

    const found = (await mine.get('/v2/subscribers/ada')).body
    expect(found).toMatchObject({ firstName: 'Mine', _environmentId: mine.environmentId })
    expect((await mine.get('/v2/subscribers/bob')).status).toBe(404)
    expect((await mine.patch('/v2/subscribers/bob', { firstName: 'x' })).status).toBe(404)
    expect((await mine.delete('/v2/subscribers/bob')).status).toBe(404)
    expect((await mine.get('/v2/subscribers')).body).toMatchObject({ totalCount: 1, data: [found] })

    const theirs = (await other.get('/v2/subscribers')).body
    expect(theirs.data.map((one: { subscriberId: string }) => one.subscriberId)).toEqual(['bob', 'ada'])
    // A cursor of another environment is a place like any other in one's own list.
    const after = (await mine.get(`/v2/subscribers?after=${theirs.data[0]._id}`)).body
    expect(after).toMatchObject({ totalCount: 1, data: [found] })
  })

  test('is stored hashed and encrypted, never in plain text', async () => {
    const { key } = server.api
    const rows = await server.database.db.selectFrom('api_keys').selectAll().execute()
    expect(rows.map((row) => row.hash)).toContain(sha256(key))
    expect(JSON.stringify(rows)).not.toContain(key)
  })
})

describe('a deleted key', () => {
  const removeKey = (key: string) =>
    server.database.db.transaction().execute(async (tx) => {
      await tx.deleteFrom('api_keys').where('hash', '=', sha256(key)).execute()
      await announce(tx, 'api_keys', sha256(key))
    })

  test('stops working in every process that had cached it', async () => {
    const api = await server.freshApi()
    const another = await server.startAnother()
    const ask = async (url: string) =>
      (await fetch(`${url}/v2/subscribers`, { headers: { authorization: `ApiKey ${api.key}` } })).status
    expect([await ask(api.url), await ask(another.url)]).toEqual([200, 200])
    await removeKey(api.key)
    await expect.poll(async () => [await ask(api.url), await ask(another.url)]).toEqual([401, 401])
    await another.stop()
  })

  /** As by somebody whom this process does not hear. */
  const removeUnheard = (key: string) =>
    server.database.db.deleteFrom('api_keys').where('hash', '=', sha256(key)).execute()

  test('stops working once the connection by which its removal was announced is lost', async () => {
    const api = await server.freshApi()
    const ask = async () => (await api.get('/v2/subscribers')).status
    expect(await ask()).toBe(200)
    await removeUnheard(api.key)
    await server.database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'belfry changes' AND datname = current_database()`,
    )
    await expect.poll(ask).toBe(401)
  })

  test('is not remembered while nobody would hear of its removal', async () => {
    const api = await server.freshApi()
    const { db, url } = server.database
    // Never started: it hears nothing.
    const keys = new ApiKeys({
      db,
      changes: new Changes(url, () => undefined),
      clock: server.clock,
      log: pino({ level: 'silent' }),
    })
    const request = { headers: { authorization: `ApiKey ${api.key}` }, ip: '192.0.2.1' } as FastifyRequest
    const ask = async () => {
      await keys.authenticate(request, () => undefined)
      return request.environment
    }
    expect(await ask()).toMatchObject({ id: api.environmentId })
    await removeUnheard(api.key)
    await expect(ask()).rejects.toMatchObject({ code: 'api_key_not_found' })
  })

  test('is not cached again by a look-up that began earlier', async () => {
    const [api, bystander] = [await server.freshApi(), await server.freshApi()]
    const { pool } = server.database
    // An earlier test has cut the connection; until it is back no key is cached, and every look-up would wait at the gate.
    const listening = `SELECT 1 FROM pg_stat_activity
      WHERE application_name = 'belfry changes' AND datname = current_database() AND state = 'idle' AND query LIKE 'LISTEN%'`
    await expect.poll(async () => (await pool.query(listening)).rowCount).toBe(1)
    expect((await bystander.get('/v2/subscribers')).status).toBe(200)
    const gate = await pool.connect()
    const waiting = async () =>
      (await pool.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%api_keys%'"))
        .rowCount
    try {
      // From here on a look-up has read the key and then waits at the gate.
      await gate.query(`
        ALTER TABLE environments RENAME TO real_environments;
        ALTER TABLE api_keys DISABLE TRIGGER counted;
        CREATE FUNCTION pass_gate(id text) RETURNS text LANGUAGE plpgsql VOLATILE AS
          $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN id; END $$;
        CREATE VIEW environments AS
          SELECT pass_gate(id) AS id, organization_id, rate_limits, is_protected, is_open_to_automation, clock_seed, shadow FROM real_environments`)
      await gate.query('SELECT pg_advisory_lock(1)')
      const early = api.get('/v2/subscribers')
      await expect.poll(waiting).toBe(1)
      await removeKey(api.key)
      // The process has heard the announcement once it looks up the other, cached key again.
      const others: Array<Promise<unknown>> = []
      await expect
        .poll(async () => {
          others.push(bystander.get('/v2/subscribers'))
          return waiting()
        })
        .toBeGreaterThan(1)
      await gate.query('SELECT pg_advisory_unlock(1)')
      expect((await early).status).toBe(200)
      await Promise.all(others)
    } finally {
      await gate.query(
        `SELECT pg_advisory_unlock_all(); DROP VIEW environments; ALTER TABLE real_environments RENAME TO environments;
         ALTER TABLE api_keys ENABLE TRIGGER counted`,
      )
      gate.release()
    }
    expect((await api.get('/v2/subscribers')).status).toBe(401)
  })
})
