// A database that is reachable but fails: locks, timeouts, or internal errors. None of it is the request's fault, so no
// caller gets 500 or waits forever.
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { insertMessage, insertRun } from './activity.ts'
import { serveWith } from './extra-routes.ts'
import { inApp, makeWorkflow, runOf, trigger } from './runs.ts'
import { type Api, useServer } from './server.ts'

const server = useServer()

/** Until the end of the test, the first changes of a table fail with this code. */
async function failAtFirst(change: string, times: number, code = '40001'): Promise<void> {
  await server.database.pool.query(`
    CREATE SEQUENCE tries;
    CREATE FUNCTION fail_at_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('tries') <= ${times} THEN RAISE 'not now' USING ERRCODE = '${code}'; END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER fail_at_first BEFORE ${change} EXECUTE FUNCTION fail_at_first()`)
}
afterEach(async () => {
  await server.database.pool.query('DROP FUNCTION IF EXISTS fail_at_first CASCADE; DROP SEQUENCE IF EXISTS tries')
})

const delay = { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } }

describe('temporary errors of PostgreSQL', () => {
  let api: Api
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ api, stop } = await serveWith(server, (app) => {
      app.get('/v1/refused/:code', async (request) => {
        const { code } = request.params as { code: string }
        await server.database.pool.query(
          `DO $$ BEGIN RAISE 'the password is hunter2' USING ERRCODE = '${code}'; END $$`,
        )
      })
    }))
  })
  afterAll(() => stop())

  test.each([
    ['40001', 'unfinished', 'a serialization failure'],
    ['40P01', 'unfinished', 'a deadlock'],
    ['55P03', 'unfinished', 'a lock timeout'],
    ['57014', 'unfinished', 'a statement timeout'],
    ['XX000', 'unfinished', 'an internal error'],
    ['XX001', 'unfinished', 'a corrupt page'],
    ['25006', 'unavailable', 'a read-only replica'],
    ['53100', 'unavailable', 'a full disk'],
    ['53200', 'unavailable', 'too little memory'],
    ['53300', 'unavailable', 'too many connections'],
    ['57P01', 'unavailable', 'a shutdown'],
    ['58030', 'unavailable', 'an I/O error'],
    ['58P01', 'unavailable', 'a missing file'],
  ])('%s is answered with 503 %s: %s', async (sqlState, code) => {
    const answer = await api.get(`/v1/refused/${sqlState}`)
    expect(answer).toMatchObject({ status: 503, body: { statusCode: 503, code } })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(answer.text).not.toContain('hunter2')
  })

  test.each(['42P01', '25P02', '42601'])('%s is a bug of ours', async (sqlState) => {
    expect(await api.get(`/v1/refused/${sqlState}`)).toMatchObject({ status: 500, body: { code: 'internal' } })
  })
})

describe('retries after a conflict', () => {
  test('a cancel', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'later', [delay, inApp()])
    const transactionId = await trigger(api, 'later', 'ada')
    await server.drain()
    for (const code of ['40001', '40P01']) {
      await failAtFirst('UPDATE ON jobs', 3, code)
      expect(await api.delete(`/v1/events/trigger/${transactionId}`)).toMatchObject({
        status: 200,
        body: code === '40001',
      })
      await server.database.pool.query('DROP FUNCTION fail_at_first CASCADE; DROP SEQUENCE tries')
    }
    expect((await runOf(api, transactionId)).jobs[0].status).toBe('canceled')
  })

  test('a cancel that arrives before its runs', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'later', [delay, inApp()])
    const transactionId = await trigger(api, 'later', 'ada')
    await failAtFirst('INSERT ON notifications', 3)
    expect(await api.delete(`/v1/events/trigger/${transactionId}`)).toMatchObject({ status: 200, body: true })
  })

  test('a trigger', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp()])
    await failAtFirst('INSERT ON events', 3)
    const transactionId = await trigger(api, 'news', 'ada')
    await server.drain()
    expect((await runOf(api, transactionId)).status).toBe('completed')
  })

  test("a provider's report", async () => {
    const api = await server.freshApi()
    const { body: integration } = await api.post('/v1/integrations', {
      ...{ providerId: 'sendgrid', channel: 'email', active: true },
      ...{ credentials: { apiKey: 'SG.key', from: 'a@b.c' }, configurations: { inboundWebhookEnabled: true } },
    })
    const run = await insertRun(server, api, 'ada', { jobs: [{ type: 'email', details: [] }] })
    const sent = { provider_id: 'sendgrid', integration_id: integration._id, identifier: 'vendor-1' }
    await insertMessage(server, run, { channel: 'email', delivered_at: null, ...sent })
    await failAtFirst('UPDATE ON messages', 3)
    const path = `/v2/inbound-webhooks/delivery-providers/${api.environmentId}/${integration._id}`
    const answer = await api.post(path, [
      { id: 'vendor-1', event: 'delivered', timestamp: 1777630000, sg_event_id: 'e1' },
    ])
    expect(answer, answer.text).toMatchObject({ status: 200, body: [{ id: 'vendor-1' }] })
    expect((await api.get(`/v1/notifications/${run.id}`)).body.jobs[0].executionDetails).toHaveLength(1)
  })

  test('but does not retry, or accept anything, when the disk is full', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp()])
    await failAtFirst('INSERT ON events', 1_000, '53100')
    const answer = await api.post('/v1/events/trigger', { name: 'news', to: 'ada', transactionId: 'full' })
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(answer.headers.get('retry-after')).toBe('1')
    const { rows } = await server.database.pool.query(
      "SELECT (SELECT last_value FROM tries)::int AS tries, (SELECT count(*) FROM events WHERE transaction_id = 'full')::int AS events",
    )
    expect(rows).toEqual([{ tries: 1, events: 0 }])
  })

  test('but not forever', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp()])
    await failAtFirst('INSERT ON events', 1_000)
    const answer = await api.post('/v1/events/trigger', { name: 'news', to: 'ada' })
    expect(answer).toMatchObject({ status: 503, body: { code: 'unfinished' } })
    expect(answer.headers.get('retry-after')).toBe('1')
  })
})

describe('a request that would have to wait', () => {
  test('for a lock gets told to retry', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'later', [delay, inApp()])
    const transactionId = await trigger(api, 'later', 'ada')
    await server.drain()
    const path = `/v1/events/trigger/${transactionId}`
    await server.database.db.transaction().execute(async (tx) => {
      await tx
        .selectFrom('notifications')
        .select('id')
        .where('transaction_id', '=', transactionId)
        .forUpdate()
        .execute()
      const answer = await api.delete(path)
      expect(answer).toMatchObject({ status: 503, body: { code: 'unfinished' } })
      expect(answer.headers.get('retry-after')).toBe('1')
    })
    expect(await api.delete(path)).toMatchObject({ status: 200, body: true })
  })

  describe('for an answer', () => {
    let api: Api
    let stop: () => Promise<void>
    let finish: (value: object) => void
    const done = new Promise<object>((resolve) => {
      finish = resolve
    })
    const long = async function* () {
      yield 'begun'
      await done
      yield ' and ended'
    }
    beforeAll(async () => {
      const register: Parameters<typeof serveWith>[1] = (app) => {
        app.post('/v1/endless', () => done)
        app.get('/v1/endless', () => done)
        app.addHook('onRequest', async ({ url }) => void (url.startsWith('/v1/endless-hook') && (await done)))
        app.get('/v1/endless-hook', async () => ({}))
        app.get('/v1/long', async (_request, reply) => reply.send(Readable.from(long())))
      }
      ;({ api, stop } = await serveWith(server, register, { answerSeconds: 1 }))
    })
    afterAll(() => stop())

    test('is told to retry, whatever it waits for', async () => {
      for (const path of ['/v1/endless', '/v1/endless-hook']) {
        const answer = await api.get(path)
        expect(answer).toMatchObject({ status: 503, body: { code: 'unfinished', path } })
        expect(answer.headers.get('retry-after')).toBe('1')
      }
    })

    test('finds its idempotency key in use until its work is done', async () => {
      const headers = { 'idempotency-key': 'once' }
      expect(await api.post('/v1/endless', {}, headers)).toMatchObject({ status: 503, body: { code: 'unfinished' } })
      expect(await api.post('/v1/endless', {}, headers)).toMatchObject({
        status: 409,
        body: { code: 'idempotency_in_progress' },
      })
    })

    test('gets a complete answer once that has begun', async () => {
      const answer = api.get('/v1/long')
      expect((await api.get('/v1/endless')).status).toBe(503)
      finish({})
      expect(await answer).toMatchObject({ status: 200, text: 'begun and ended' })
      expect(await api.get('/v1/endless')).toMatchObject({ status: 200 })
    })
  })
})
