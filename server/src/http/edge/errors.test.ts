import { connect } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { serveWith } from '../../../test/extra-routes.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { fail } from '../../errors.ts'

const server = useServer()

describe('the body of an error', () => {
  test('has the standard fields, and those of ctx at the top level too', async () => {
    const answer = await server.api.get('/v2/subscribers/u1')
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.body).toEqual({
      error: 'Not Found',
      statusCode: 404,
      timestamp: '2026-05-01T10:00:00.000Z',
      path: '/v2/subscribers/u1',
      message: 'Subscriber: u1 was not found',
      code: 'subscriber_not_found',
      ctx: { error: 'Not Found', statusCode: 404 },
    })
  })

  test('names the path with its query', async () => {
    const answer = await server.api.get('/v2/subscribers/u%201?a=b%20c')
    expect(answer.body).toMatchObject({
      path: '/v2/subscribers/u%201?a=b%20c',
      message: 'Subscriber: u 1 was not found',
    })
  })

  test('a conflict carries the existing subscriber, for clients that read the answer as one', async () => {
    const { body: ada } = await server.api.post('/v2/subscribers', { subscriberId: 'ada', data: { plan: 'pro' } })
    const answer = await server.api.post('/v2/subscribers?failIfExists=true', { subscriberId: 'ada' })
    expect(answer.status).toBe(409)
    expect(answer.body).toMatchObject({ ...ada, statusCode: 409, message: 'Subscriber with id "ada" already exists' })
    expect(answer.body.ctx).toEqual({ error: 'Conflict', statusCode: 409, ...ada })
  })

  test('a 422 always has errors, whoever raised it', async () => {
    const shape = await server.api.post('/v2/subscribers', { subscriberId: 5 })
    expect(shape).toMatchObject({ status: 422, body: { message: 'Validation Error', code: 'validation', ctx: {} } })
    expect(shape.body.errors).toEqual({
      general: { messages: ['subscriberId must be a string'], value: 'No Value Recorded' },
    })
    expect(shape.body.error).toBeUndefined()

    const field = await server.api.get('/v2/subscribers?limit=-1')
    expect(field).toMatchObject({
      status: 422,
      body: {
        message: 'Validation failed for ListSubscribersCommand: limit: limit must not be less than 1',
        ctx: {},
        errors: { limit: { messages: ['limit must not be less than 1'], value: -1 } },
      },
    })

    const rule = await server.api.post('/v2/contexts', { type: 'a', id: 'b', data: { text: 'x'.repeat(70_000) } })
    const message = "Context 'a' Data is too large: 69KB exceeds 64KB limit"
    expect(rule).toMatchObject({
      status: 422,
      body: {
        message,
        ctx: { error: 'Unprocessable Entity', statusCode: 422 },
        errors: { general: { messages: [message], value: 'No Value Recorded' } },
      },
    })
  })

  describe('as a route may raise it', () => {
    let api: Api
    let stop: () => Promise<void>
    beforeAll(async () => {
      ;({ api, stop } = await serveWith(server, (app) => {
        app.get('/v1/clash', async () => {
          throw fail('subscriber_to_delete_not_found', undefined, {
            ctx: { message: 'mine', path: 'mine', code: 'mine', timestamp: 'mine', ctx: 'mine', reason: 'kept' },
          })
        })
        app.get('/v1/bug', async () => {
          throw new Error('the password is hunter2', { cause: new Error('deeper') })
        })
        app.get('/v1/odd-bug', async () => {
          throw Object.assign(new Error('the password is hunter2'), { statusCode: 503, code: 'EODD', ctx: { a: 1 } })
        })
      }))
    })
    afterAll(() => stop())

    test('the standard fields win over members of ctx with their names', async () => {
      const { body } = await api.get('/v1/clash')
      expect(body).toMatchObject({
        statusCode: 404,
        message: 'Subscriber was not found',
        path: '/v1/clash',
        code: 'subscriber_to_delete_not_found',
        timestamp: server.clock.now().toISOString(),
        reason: 'kept',
      })
      expect(body.ctx).toMatchObject({ message: 'mine', reason: 'kept', statusCode: 404 })
    })

    test.each(['/v1/bug', '/v1/odd-bug'])('%s reveals no internals', async (path) => {
      const answer = await api.get(path)
      expect(answer.status).toBe(500)
      expect(Object.keys(answer.body).sort()).toEqual(
        ['code', 'errorId', 'message', 'path', 'statusCode', 'timestamp'].sort(),
      )
      expect(answer.text).not.toMatch(/hunter2|deeper|EODD/)
    })
  })
})

describe('an unexpected error', () => {
  test('is a 500 with an errorId; the log has the cause under the same id', async () => {
    await server.database.pool.query('ALTER TABLE contexts RENAME TO contexts_away')
    const answer = await server.api.get('/v2/contexts/tenant/acme')
    await server.database.pool.query('ALTER TABLE contexts_away RENAME TO contexts')

    expect(answer.status).toBe(500)
    const { errorId, ...rest } = answer.body
    expect(rest).toEqual({
      statusCode: 500,
      timestamp: server.clock.now().toISOString(),
      path: '/v2/contexts/tenant/acme',
      message: 'Internal server error, contact support and provide them with the errorId',
      code: 'internal',
    })
    expect(errorId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(answer.text).not.toMatch(/relation|contexts"|stack|at /)
    const line = server.logged.find((entry) => entry.errorId === errorId)
    expect(line?.err?.message).toBe('relation "contexts" does not exist')
    expect(line?.err?.stack).toContain('contexts.ts')
    expect((await server.api.get('/v2/contexts/tenant/acme')).status).toBe(404)
  })
})

describe('an unknown route', () => {
  test.each([
    ['GET', '/nothing'],
    ['GET', '/v1/nothing?a=1'],
    ['POST', '/v3/subscribers'],
    ['PUT', '/v2/subscribers'],
    ['DELETE', '/v2/subscribers'],
    ['OPTIONS', '/v2/subscribers'],
    ['PATCH', '/v2/contexts/only-one'],
    ['GET', '/V2/subscribers'],
  ])('%s %s is a 404, key or no key', async (method, path) => {
    const expected = { status: 404, body: { message: `Cannot ${method} ${path}`, code: 'route_not_found', path } }
    expect(await server.api.send(method, path)).toMatchObject(expected)
    expect((await fetch(server.url + path, { method })).status).toBe(404)
  })

  test('is a 404 whatever its body', async () => {
    for (const body of ['{"broken', 'x'.repeat(300_000)])
      expect((await server.api.post('/v1/nothing', body)).status).toBe(404)
    expect((await server.api.post('/v1/nothing', '<x/>', { 'content-type': 'text/xml' })).status).toBe(404)
  })

  test('a trailing slash leads to the same route', async () => {
    expect((await server.api.get('/v2/subscribers/')).status).toBe(200)
    expect((await server.api.get('/v2/subscribers/nobody/')).body.message).toBe('Subscriber: nobody was not found')
  })

  test('HEAD answers as GET does, without the body', async () => {
    const [head, get] = [await server.api.send('HEAD', '/v2/subscribers'), await server.api.get('/v2/subscribers')]
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers.get('content-length')).toBe(String(get.text.length))
    expect(await server.api.send('HEAD', '/v2/subscribers/nobody')).toMatchObject({ status: 404, text: '' })
    expect((await fetch(`${server.url}/v2/subscribers`, { method: 'HEAD' })).status).toBe(401)
  })
})

describe('on the wire', () => {
  test('every answer carries the security headers and keeps the connection for 61 s', async () => {
    const answers = [
      await server.api.get('/v2/subscribers'),
      await server.api.get('/v1/nothing'),
      await server.api.get('/v2/subscribers/%zz'),
      await server.api.get('/v2/subscribers', { authorization: 'ApiKey wrong' }),
      await server.api.get('/health/live'),
    ]
    expect(answers.map((answer) => answer.status)).toEqual([200, 404, 400, 401, 200])
    for (const { headers } of answers) {
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
      expect(headers.get('keep-alive')).toBe('timeout=61')
      expect(headers.get('access-control-allow-origin')).toBeNull()
      expect(headers.get('x-powered-by')).toBeNull()
    }
  })

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'malformed_request'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['a broken header', 'GET / HTTP/1.1\r\nHost x\r\n\r\n', 400, 'malformed_request'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'malformed_request',
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'malformed_request',
    ],
    [
      'too much in the headers',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['too long a URL', `GET /${'y'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'headers_too_large'],
  ])('%s is answered in the shape of every error, and the connection closed', async (_what, sent, status, code) => {
    const received = await exchange(sent)
    const [head = '', body = ''] = received.split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(head).toContain('Connection: close')
    expect(JSON.parse(body)).toMatchObject({ statusCode: status, code, path: '', timestamp: expect.any(String) })
    expect((await server.api.get('/health/live')).status).toBe(200)
  })

  test('a client that sends its request too slowly gets a 408, and the connection is closed', async () => {
    let limitMs: number | undefined
    const { api, stop } = await serveWith(server, ({ server: http }) => {
      limitMs = http.requestTimeout
      // As Node.js does after its timeout.
      const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      http.once('connection', (socket) => http.emit('clientError', late, socket))
    })
    expect(limitMs).toBe(120_000)
    const received = await exchange('GET / HTTP/1.1\r\n', api.url)
    expect(received).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
    expect(JSON.parse(received.split('\r\n\r\n')[1] ?? '')).toMatchObject({ statusCode: 408, code: 'request_timeout' })
    await stop()
  })

  test('a client that hangs up while sending its body does not count as an outage', async () => {
    const began: string[] = []
    const ended: number[] = []
    const { api, stop } = await serveWith(server, (app) => {
      app.addHook('preParsing', async (request) => void began.push(request.url))
      app.addHook('onSend', async (_request, reply) => void ended.push(reply.statusCode))
      app.post('/v1/test/upload', async () => ({}))
    })
    const { port, hostname } = new URL(api.url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /v1/test/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${api.key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":',
    )
    await expect.poll(() => began).toEqual(['/v1/test/upload'])
    socket.destroy()
    await expect.poll(() => ended).toEqual([400])
    await stop()
  })
})

/** What the server sends back until it closes the connection. */
async function exchange(sent: string, url = server.url): Promise<string> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  await new Promise<void>((resolve, reject) => {
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
    })
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('end', () => socket.end())
    socket.write(sent)
  })
  return received
}

describe('while the database is unreachable', () => {
  const administer = async (statement: string) => {
    const client = new pg.Client({ connectionString: inject('databaseUrl') })
    await client.connect()
    await client.query(statement)
    await client.end()
  }

  test('requests get a 503 with Retry-After, and work again later', async () => {
    const name = (await server.database.pool.query('SELECT current_database() AS name')).rows[0].name
    const stranger = await server.freshApi()
    await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    await administer(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`)
    try {
      const answers = [
        await server.api.get('/v2/subscribers'),
        await server.api.post('/v2/subscribers', { subscriberId: 'outage' }),
        await server.api.post('/v2/subscribers', { subscriberId: 'outage' }, { 'idempotency-key': 'outage' }),
        await stranger.get('/v2/contexts'),
      ]
      for (const answer of answers) {
        expect(answer.status).toBe(503)
        expect(answer.headers.get('retry-after')).toBe('1')
        expect(answer.body).toEqual({
          statusCode: 503,
          timestamp: server.clock.now().toISOString(),
          path: expect.any(String),
          message: 'The database cannot be reached at the moment. Please retry.',
          code: 'unavailable',
          error: 'Service Unavailable',
          ctx: { error: 'Service Unavailable', statusCode: 503 },
        })
      }
      // Without the database a wrong key looks like a right one; a missing key is still refused.
      expect((await server.api.get('/v2/contexts', { authorization: 'ApiKey wrong' })).status).toBe(503)
      expect((await fetch(`${server.url}/v2/contexts`)).status).toBe(401)
      expect((await server.api.get('/health/live')).status).toBe(200)
      const ready = await server.api.get('/health/ready')
      expect(ready).toMatchObject({ status: 503, body: { status: 'unavailable', checks: { database: { ok: false } } } })
      expect(await server.api.get('/metrics')).toMatchObject({ status: 200 })
      expect(server.logged.some((line) => line.msg === 'could not serve the request')).toBe(true)
    } finally {
      await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    }
    expect((await server.api.get('/v2/subscribers/outage')).status).toBe(404)
    const retried = await server.api.post(
      '/v2/subscribers',
      { subscriberId: 'outage' },
      { 'idempotency-key': 'outage' },
    )
    expect(retried.status).toBe(201)
    expect((await stranger.get('/v2/contexts')).status).toBe(200)
    expect((await server.api.get('/health/ready')).status).toBe(200)
  })
})
