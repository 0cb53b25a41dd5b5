// Under overload the service refuses excess requests at once, and answers those it accepted.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { type Answer, Api, useServer } from '../../../test/server.ts'
import { type Held, Overload } from './overload.ts'

// A list takes two connections: with all requests in flight some are left for metrics.
const server = useServer({ mostRequests: 10, databaseConnections: 30 })

const metric = async (name: string, url = server.url) => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}
const underWay = (url?: string) => metric('belfry_http_requests_under_way', url)
const shed = (reason: string) => metric(`belfry_http_requests_shed_total{reason="${reason}"}`)
const list = (api: Api) => api.get('/v2/subscribers')

test('an environment may have as many requests in flight as it leaves for the others; more are refused, and accepted ones finish', async () => {
  const [busy, second, third, fourth, fifth] = await Promise.all(Array.from({ length: 5 }, () => server.freshApi()))
  if (!busy || !second || !third || !fourth || !fifth) throw new Error('no environments')
  // Look up each key once, so that the rest is about lists that are blocked for a while.
  for (const api of [busy, second, third, fourth, fifth]) await list(api)
  const holder = await server.database.pool.connect()
  await holder.query('BEGIN; LOCK TABLE subscribers IN ACCESS EXCLUSIVE MODE')
  const taken: Promise<Answer>[] = []
  const take = async (api: Api, count: number) => {
    const before = await underWay()
    for (let more = 0; more < count; more += 1) taken.push(list(api))
    await expect.poll(underWay).toBe(before + count)
  }

  await take(busy, 5)
  const refused = await list(busy)
  expect(refused).toMatchObject({ status: 429, body: { statusCode: 429, code: 'too_many_at_once' } })
  expect(refused.headers.get('retry-after')).toBe('1')
  await take(second, 3)
  expect((await list(second)).status).toBe(429)
  await take(third, 1)
  expect((await list(third)).status).toBe(429)
  await take(fourth, 1)
  const full = await list(fifth)
  expect(full).toMatchObject({ status: 503, body: { statusCode: 503, code: 'overloaded' } })
  expect(full.headers.get('retry-after')).toBe('1')
  // Health and metrics still answer.
  expect((await fetch(`${server.url}/health/live`)).status).toBe(200)
  expect([await shed('too_many_at_once'), await shed('overloaded')]).toEqual([3, 1])

  await holder.query('COMMIT')
  holder.release()
  expect(new Set((await Promise.all(taken)).map(({ status }) => status))).toEqual(new Set([200]))
  await expect.poll(underWay).toBe(0)
  expect((await list(fifth)).status).toBe(200)
})

test('unknown keys take no capacity from known ones, and no more than their share', async () => {
  const [known, newcomer] = [await server.freshApi(), await server.freshApi()]
  expect((await list(known)).status).toBe(200)
  const holder = await server.database.pool.connect()
  await holder.query('BEGIN; LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE')
  const guesses: Array<Promise<Answer>> = []
  for (let n = 0; n < 12; n += 1) guesses.push(known.get('/v2/subscribers', { authorization: `ApiKey guess ${n}` }))
  // Half of the capacity; the rest is refused at once.
  await expect.poll(underWay).toBe(5)
  expect((await list(newcomer)).status).toBe(429)
  for (let n = 0; n < 3; n += 1) expect((await list(known)).status).toBe(200)
  await holder.query('COMMIT')
  holder.release()
  const statuses = (await Promise.all(guesses)).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([...Array(5).fill(401), ...Array(7).fill(429)])
  await expect.poll(underWay).toBe(0)
  expect((await list(newcomer)).status).toBe(200)
})

/** The head of a trigger whose body never arrives completely. */
function announce(bytes: number, { url, key } = server.api): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const lines = ['POST /v1/events/trigger HTTP/1.1', 'Host: x', `Authorization: ApiKey ${key}`]
  socket.write([...lines, 'Content-Type: application/json', `Content-Length: ${bytes}`, '\r\n'].join('\r\n'))
  return socket
}

test('bodies count by their announced size, until the client hangs up', async () => {
  const bytes = 26 * 1024 * 1024
  const sockets = [announce(bytes), announce(bytes), announce(bytes)]
  // There is room for two; the third is refused.
  const answers = sockets.map(
    (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString()))),
  )
  expect(await Promise.race(answers)).toMatch(/^HTTP\/1.1 429 Too Many Requests\r\n/)
  // There is still room for a small one.
  expect((await server.api.post('/v1/events/trigger', {})).status).toBe(422)
  for (const socket of sockets) socket.destroy()
  await expect.poll(underWay).toBe(0)
})

test('bodies without a length count as they arrive', async () => {
  const { hostname, port } = new URL(server.url)
  const lines = ['POST /v1/events/trigger HTTP/1.1', 'Host: x', `Authorization: ApiKey ${server.api.key}`]
  const head = [...lines, 'Content-Type: application/json', 'Transfer-Encoding: chunked', '\r\n'].join('\r\n')
  const part = Buffer.alloc(1024 * 1024, ' ')
  const sockets = Array.from({ length: 3 }, () => {
    const socket = connect(Number(port), hostname)
    socket.write(head)
    for (let sent = 0; sent < 20; sent += 1) {
      socket.write(`${part.length.toString(16)}\r\n`)
      socket.write(part)
      socket.write('\r\n')
    }
    return socket
  })
  // Nearly half of 128 MB is in use, so this environment has no room for another large body.
  await expect
    .poll(
      () =>
        new Promise<string>((resolve) => {
          const asking = announce(26 * 1024 * 1024)
          const waiting = setTimeout(() => end('taken'), 500)
          const end = (what: string) => {
            clearTimeout(waiting)
            asking.destroy()
            resolve(what)
          }
          asking.once('data', (data) => end(data.toString().slice(0, 12)))
        }),
      { timeout: 60_000 },
    )
    .toBe('HTTP/1.1 429')
  for (const socket of sockets) socket.destroy()
  await expect.poll(underWay).toBe(0)
})

test('a late event loop makes the service refuse requests, and it recovers by itself', async () => {
  const { url } = await server.startAnother({ mostRequests: 50 })
  const api = new Api(url, server.api.key, server.api.environmentId, server.api.organizationId)
  const held: Socket[] = []
  const holdAnother = () => {
    held.push(announce(1, api))
    return underWay(url)
  }
  await expect.poll(holdAnother).toBeGreaterThanOrEqual(5)

  const asking = connect(Number(new URL(url).port), '127.0.0.1')
  let answers = ''
  asking.on('data', (data) => {
    answers += data.toString()
  })
  const ask = () => asking.write(`GET /v2/subscribers HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${api.key}\r\n\r\n`)
  const answered = () => answers.split(/(?=HTTP\/1\.1 \d)/)
  await once(asking, 'connect')
  ask()
  await expect.poll(answered).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 .*\}$/s)])
  // The timer is late before the request is read. Of fifty there is then room for ten, and half of that is five. The loop stays late
  // until the answer: its key may have to be looked up before the request is counted, and one timer in time ends the overload.
  const beLate = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
  const late = setInterval(beLate, 1)
  try {
    ask()
    beLate()
    await expect.poll(() => answered().length).toBe(2)
  } finally {
    clearInterval(late)
  }
  const [, refused] = answered()
  expect(refused).toMatch(/^HTTP\/1\.1 429 .*\r\nretry-after: 1\r\n.*"too_many_at_once"/is)

  await expect.poll(async () => (await list(api)).status).toBe(200)
  for (const socket of [asking, ...held]) socket.destroy()
})

const noMetrics = { shed: () => undefined, underWay: () => undefined }

test('a body without a length is counted as it arrives', async () => {
  const overload = new Overload({ mostRequests: 10, metrics: noMetrics })
  const held = overload.enter()
  overload.charge(held, 'a', 0)
  const body = new PassThrough()
  const counted = overload.counted(held, body)
  counted.resume()
  const failed = new Promise((resolve) => counted.once('error', resolve))
  for (let sent = 0; sent < 5; sent += 1) body.write(Buffer.alloc(32 * 1024 * 1024))
  expect(await failed).toMatchObject({ code: 'overloaded' })
  expect(() => overload.charge(overload.enter(), 'b', 1)).toThrow('Too many requests of this environment')
  overload.leave(held)
  overload.charge(overload.enter(), 'b', 1)
})

test('the later the event loop, the fewer requests of busy environments are accepted; once it is on time, all are again', () => {
  const overload = new Overload({ mostRequests: 100, metrics: noMetrics })
  const enterAll = () => {
    const entered: Held[] = []
    for (;;) {
      const held = overload.enter()
      try {
        overload.charge(held, 'busy', 0)
      } catch {
        // Another environment still finds room.
        const other = overload.enter()
        overload.charge(other, 'calm', 0)
        for (const each of [other, held, ...entered]) overload.leave(each)
        return entered.length
      }
      entered.push(held)
    }
  }
  const taken = [0, 250, 500, 1_000, 60_000, 10].map((delayMs) => {
    overload.noteDelay(delayMs)
    return enterAll()
  })
  expect(taken).toEqual([50, 50, 25, 13, 5, 50])
})
