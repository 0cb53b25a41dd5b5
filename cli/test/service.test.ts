// The service as the tool calls it: what is tried again, and how, and through which proxy. files.md §4.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Service } from '../src/service.ts'

type Reply = { status: number; headers?: Record<string, string> } | 'hang up'
let server: Server
let url: string
let asked: Array<{ method: string; headers: IncomingHttpHeaders }>
let replies: Reply[]

const listening = async (made: Server): Promise<string> => {
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`
}

beforeEach(async () => {
  ;[asked, replies] = [[], []]
  server = createServer(({ method = '', headers, socket }, response) => {
    asked.push({ method, headers })
    const reply = replies.shift() ?? { status: 200 }
    if (reply === 'hang up') socket.destroy()
    else
      response
        .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
        .end('{"data":{"is":1}}')
  })
  url = await listening(server)
})
afterEach(() => {
  vi.unstubAllEnvs()
  server.closeAllConnections()
  server.close()
})

const busy: Reply = { status: 503, headers: { 'retry-after': '0' } }

test('what may be repeated is sent up to five times, with one idempotency key', async () => {
  replies = ['hang up', busy, { status: 429, headers: { 'retry-after': '0' } }, busy]
  const service = new Service({ url, key: 'k' })
  expect(await service.post('/v2/definitions/push', {}, { isIdempotent: true })).toEqual({ is: 1 })
  expect(asked).toHaveLength(5)
  const keys = new Set(asked.map(({ headers }) => headers['idempotency-key']))
  expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)])
  replies = [busy, busy, busy, busy, busy]
  await expect(service.get('/x')).rejects.toMatchObject({ status: 503, exitCode: 4 })
  expect(asked).toHaveLength(10)
})

test('what may not be repeated, or was refused for good, is sent once', async () => {
  const service = new Service({ url, key: 'k' })
  replies = [busy]
  await expect(service.call('/x', { method: 'PATCH', body: {} })).rejects.toMatchObject({ status: 503 })
  replies = [{ status: 422 }]
  await expect(service.get('/x')).rejects.toMatchObject({ status: 422 })
  expect(asked).toHaveLength(2)
})

test('the proxy of the environment is used, but not for addresses that need none', async () => {
  const through: string[] = []
  const proxy = createServer()
  proxy.on('connect', ({ url: target = '' }, socket, head) => {
    through.push(target)
    const [host = '', port] = target.split(':')
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    })
    for (const end of [upstream, socket]) end.on('error', () => end.destroy())
  })
  const proxyUrl = await listening(proxy)
  try {
    for (const name of ['HTTP_PROXY', 'http_proxy']) vi.stubEnv(name, proxyUrl)
    expect(await new Service({ url, key: 'k' }).get('/x')).toEqual({ is: 1 })
    expect(through).toEqual([new URL(url).host])
    for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, '127.0.0.1')
    expect(await new Service({ url, key: 'k' }).get('/x')).toEqual({ is: 1 })
    expect(through).toHaveLength(1)
    expect(asked).toHaveLength(2)
  } finally {
    proxy.closeAllConnections()
    proxy.close()
  }
})
