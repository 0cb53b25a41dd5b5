// Past what it can do, the service refuses at once what is too much, and answers what it has taken.
import { EventEmitter } from 'node:events'
import { connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { expect, test } from 'vitest'
import { type Answer, type Api, useServer } from '../../test/server.ts'
import { Overload } from './overload.ts'

const server = useServer({ mostRequests: 10 })

const metric = async (name: string) => {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}
const underWay = () => metric('belfry_http_requests_under_way')
const shed = (reason: string) => metric(`belfry_http_requests_shed_total{reason="${reason}"}`)
const list = (api: Api) => api.get('/v2/subscribers')

test('an environment may have as much under way as is left for all others; the rest is refused, and nothing that was taken', async () => {
  const [busy, second, third, fourth, fifth] = await Promise.all(Array.from({ length: 5 }, () => server.freshApi()))
  if (!busy || !second || !third || !fourth || !fifth) throw new Error('no environments')
  // Each key is looked up once; what follows is about lists that nobody can read for a while.
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
  // Whoever watches over it is answered all the same.
  expect((await fetch(`${server.url}/health/live`)).status).toBe(200)
  expect([await shed('too_many_at_once'), await shed('overloaded')]).toEqual([3, 1])

  await holder.query('COMMIT')
  holder.release()
  expect(new Set((await Promise.all(taken)).map(({ status }) => status))).toEqual(new Set([200]))
  await expect.poll(underWay).toBe(0)
  expect((await list(fifth)).status).toBe(200)
})

/** The head of a trigger whose body, or the rest of it, does not come. */
function announce(bytes: number): Socket {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const lines = ['POST /v1/events/trigger HTTP/1.1', 'Host: x', `Authorization: ApiKey ${server.api.key}`]
  socket.write([...lines, 'Content-Type: application/json', `Content-Length: ${bytes}`, '\r\n'].join('\r\n'))
  return socket
}

test('bodies count by their size from the moment they are announced, until their callers hang up', async () => {
  const bytes = 26 * 1024 * 1024
  const sockets = [announce(bytes), announce(bytes), announce(bytes)]
  // There is room for two; whoever comes last is refused.
  const answers = sockets.map(
    (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString()))),
  )
  expect(await Promise.race(answers)).toMatch(/^HTTP\/1.1 429 Too Many Requests\r\n/)
  // A small one finds room.
  expect((await server.api.post('/v1/events/trigger', {})).status).toBe(422)
  for (const socket of sockets) socket.destroy()
  await expect.poll(underWay).toBe(0)
})

const noMetrics = { shed: () => undefined, underWay: () => undefined }
const newReply = () => ({ raw: new EventEmitter() }) as unknown as FastifyReply

test('a body whose length nobody has said is counted as it comes', async () => {
  const overload = new Overload({ mostRequests: 10, metrics: noMetrics })
  const reply = newReply()
  const held = overload.enter(reply)
  overload.charge(held, 'a', 0)
  const body = new PassThrough()
  const counted = overload.counted(held, body)
  counted.resume()
  const failed = new Promise((resolve) => counted.once('error', resolve))
  for (let sent = 0; sent < 5; sent += 1) body.write(Buffer.alloc(32 * 1024 * 1024))
  expect(await failed).toMatchObject({ code: 'overloaded' })
  expect(() => overload.charge(overload.enter(newReply()), 'b', 1)).toThrow('Too many requests of this environment')
  reply.raw.emit('close')
  overload.charge(overload.enter(newReply()), 'b', 1)
})

test('the later the event loop, the less of those who have much under way is taken on, and as much as before once it is in time', () => {
  const overload = new Overload({ mostRequests: 100, metrics: noMetrics })
  const enterAll = () => {
    const replies: FastifyReply[] = []
    for (;;) {
      const reply = newReply()
      try {
        overload.charge(overload.enter(reply), 'busy', 0)
      } catch {
        // Somebody else finds room all the same.
        const other = newReply()
        overload.charge(overload.enter(other), 'calm', 0)
        for (const { raw } of [other, reply, ...replies]) raw.emit('close')
        return replies.length
      }
      replies.push(reply)
    }
  }
  const taken = [0, 250, 500, 1_000, 60_000, 10].map((delayMs) => {
    overload.noteDelay(delayMs)
    return enterAll()
  })
  expect(taken).toEqual([50, 50, 25, 13, 5, 50])
})
