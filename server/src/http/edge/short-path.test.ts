// Hot routes answer on their short path as they do on the usual one.
import { connect } from 'node:net'
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { serveWith } from '../../../test/extra-routes.ts'
import { type Answer, Api, useServer } from '../../../test/server.ts'
import { fail } from '../../errors.ts'
import { Body } from './schema.ts'

const server = useServer()
let api: Api
let stop: () => Promise<void>
/** How many requests took the usual way, and what the handler was given. */
let usual = 0
let given: unknown[] = []
let letGo: () => void = () => undefined
const held = new Promise<void>((resolve) => {
  letGo = resolve
})

beforeAll(async () => {
  ;({ api, stop } = await serveWith(
    server,
    (app) => {
      app.addHook('onRequest', (request, _reply, done) => {
        if (request.url.startsWith('/v1/events/hot')) usual += 1
        done()
      })
      const schema = {
        body: Body({ what: Type.String({ minLength: 1 }), text: Type.Optional(Type.String()) }),
        response: { 201: Type.Object({ what: Type.String() }) },
      }
      app.post('/v1/events/hot', { config: { hot: true }, schema }, async (request, reply) => {
        const { what } = request.body
        given.push(request.body)
        if (what === 'refuse') throw fail('unavailable', undefined, { headers: { 'Retry-After': '7' } })
        if (what === 'break') throw new Error('the password is hunter2')
        if (what === 'hang') await held
        reply.code(201)
        return { what, more: 'dropped by the schema' }
      })
    },
    { answerSeconds: 2, mostRequests: 10 },
  ))
})
afterAll(async () => {
  letGo()
  await stop()
})
beforeEach(async () => {
  // The first request with a key looks it up, and after any change of keys.
  await post({ what: 'first' })
  usual = 0
  given = []
})

const post = (body: unknown, headers: Record<string, string> = {}, from = api) =>
  from.post('/v1/events/hot', body, headers)
/** Right, and written in a way that the short path does not know. */
const theUsualWay = { 'content-type': 'application/json;charset="utf-8"' }

/** Without what differs between any two answers. */
function comparable({ status, headers, body }: Answer) {
  const { date: _, connection: __, 'keep-alive': ___, ...kept } = Object.fromEntries(headers)
  const { timestamp: ____, errorId, ...rest } = body
  return { status, headers: kept, body: { ...rest, hasErrorId: errorId !== undefined } }
}

test.each([
  ['a good body', { what: 'good', text: 'ü' }, 201],
  ['a body with unknown members', { what: 'good', extra: 1 }, 201],
  ['an invalid one', { what: '', text: 5 }, 422],
  ['one that is not an object', '[]', 422],
  ['one that is null', 'null', 422],
  ['text that is not JSON', '{"what": ', 400],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400],
  ['a NUL character', '{"what": "\\u0000"}', 400],
  ['a key that is dangerous to copy', '{"__proto__": {}, "what": "good"}', 400],
  ['a refusal of the handler', { what: 'refuse' }, 503],
  ['a bug in the handler', { what: 'break' }, 500],
])('%s is answered alike on both ways', async (_, body, status) => {
  const short = await post(body)
  const [ways, first] = [usual, given]
  given = []
  const long = await post(body, theUsualWay)
  expect([ways, usual]).toEqual([0, 1])
  expect(comparable(short)).toEqual(comparable(long))
  expect(short.status).toBe(status)
  expect(first).toEqual(given)
  expect(short.text).not.toContain('hunter2')
  if (status === 422) expect(short.body.errors).toBeDefined()
})

test('whatever is unusual about a request sends it the usual way', async () => {
  const good = { what: 'good' }
  expect((await post(good)).status).toBe(201)
  expect(usual).toBe(0)
  const wide = Api.ofOrganization((await server.organizationOf(api)).key, api)
  const lesser = await server.keyFor(api, ['read'])
  const restricted = await server.keyFor(api, ['send'])
  const expiring = await server.keyFor(api, ['send'])
  const { database } = server
  const limit = (name: string, value: unknown, { key }: Api) =>
    database.pool.query(`UPDATE api_keys SET ${name} = $1 WHERE hash = encode(sha256(convert_to($2, 'UTF8')), 'hex')`, [
      value,
      key,
    ])
  await limit('allowed_addresses', ['10.0.0.0/8'], restricted)
  await limit('expires_at', new Date(server.clock.now().getTime() + 60_000), expiring)
  for (const [headers, from, status, ways] of [
    [{ 'idempotency-key': 'k' }, api, 201, 2],
    [{ 'content-type': 'text/plain' }, api, 415, 2],
    [{}, wide, 201, 2],
    [{}, expiring, 201, 2],
    // Refused before they are counted here.
    [{ authorization: 'ApiKey wrong' }, api, 401, 0],
    [{}, lesser, 403, 0],
    [{}, restricted, 403, 0],
  ] as const) {
    // Twice: the second time, the key is cached.
    usual = 0
    expect([headers, (await post(good, headers, from)).status]).toEqual([headers, status])
    expect([headers, (await post(good, headers, from)).status]).toEqual([headers, status])
    expect([headers, usual]).toEqual([headers, ways])
  }
  usual = 0
  expect((await post({ what: 'good', text: 'x'.repeat(70_000) })).status).toBe(201)
  expect((await api.get('/v1/events/hot')).status).toBe(404)
  expect((await api.post('/v1/events/hot?a=b', good)).status).toBe(201)
  expect(usual).toBe(3)
  server.clock.advance({ minutes: 2 })
  expect((await post(good, {}, expiring)).status).toBe(401)
  // The second with the same Idempotency-Key got the answer of the first.
  expect(given.length).toBe(8)
})

const underWay = async () =>
  Number(/^belfry_http_requests_under_way (\d+)$/m.exec(await (await fetch(`${api.url}/metrics`)).text())?.[1])

function open(): ReturnType<typeof connect> {
  const { hostname, port } = new URL(api.url)
  return connect(Number(port), hostname)
}
const headOf = (bytes: number) =>
  `POST /v1/events/hot HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${api.key}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`

test('a body may come in parts, also in the middle of a character, and several on one connection', async () => {
  const body = Buffer.from(JSON.stringify({ what: 'parts', text: 'grüße 😀' }))
  const socket = open()
  let answers = ''
  socket.on('data', (data) => {
    answers += data.toString()
  })
  for (let round = 1; round <= 2; round += 1) {
    socket.write(headOf(body.length))
    for (const byte of body) {
      await new Promise<void>((resolve) => socket.write(Buffer.from([byte]), () => resolve()))
    }
    await expect.poll(() => answers.match(/HTTP\/1\.1 201/g)?.length).toBe(round)
  }
  socket.destroy()
  expect(given).toEqual([
    { what: 'parts', text: 'grüße 😀' },
    { what: 'parts', text: 'grüße 😀' },
  ])
  expect(usual).toBe(0)
})

test('a client that hangs up leaves its place, before its body is complete or before it is answered', async () => {
  const [early, late] = [open(), open()]
  early.write(`${headOf(100)}{`)
  const body = JSON.stringify({ what: 'hang' })
  late.write(headOf(body.length) + body)
  await expect.poll(underWay).toBe(2)
  await expect.poll(() => given).toEqual([{ what: 'hang' }])
  early.destroy()
  late.destroy()
  await expect.poll(underWay).toBe(0)
})

test('an environment with too much in flight is refused, and requests past the deadline are answered', async () => {
  const waiting = Array.from({ length: 5 }, () => post({ what: 'hang' }))
  await expect.poll(underWay).toBe(5)
  const refused = await post({ what: 'good' })
  expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_at_once' } })
  expect(refused.headers.get('retry-after')).toBe('1')
  for (const { status, headers, body } of await Promise.all(waiting))
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'unfinished', '1'])
  await expect.poll(underWay).toBe(0)
  // What the handlers answer after that goes nowhere.
  letGo()
  expect((await post({ what: 'good' })).status).toBe(201)
  expect(usual).toBe(0)
})

test('requests on the short path are measured by route and status', async () => {
  const count = async () => {
    const text = await (await fetch(`${api.url}/metrics`)).text()
    const labels = 'method="POST",route="/v1/events/hot",status="201"'
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`belfry_http_request_seconds_count{${labels}}`))
        ?.split(' ')[1],
    )
  }
  const before = await count()
  await post({ what: 'good' })
  await expect.poll(count).toBe(before + 1)
})
