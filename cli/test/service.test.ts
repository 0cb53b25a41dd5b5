// The service as the tool calls it: what is tried again, and how, and through which proxy. files.md §4.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { EnvHttpProxyAgent } from 'undici'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { certificate, certificateKey } from '../../server/test/certificate.ts'
import { Service } from '../src/service.ts'

type Reply = { status: number; headers?: Record<string, string> } | 'hang up' | 'hang up within the answer'
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
    else if (reply === 'hang up within the answer')
      response.writeHead(200, { 'content-length': '100' }).write('{"data":', () => socket.destroy())
    else
      response
        .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
        .end('{"data":{"is":1}}')
  })
  url = await listening(server)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
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

/** Every look at the clock is later than the patience lasts. */
const timeFlies = () => {
  let now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => (now += 11_000))
}

test('a connection that breaks is tried again, however long that takes', async () => {
  timeFlies()
  replies = ['hang up within the answer', 'hang up']
  expect(await new Service({ url, key: 'k' }).get('/x')).toEqual({ is: 1 })
  expect(asked).toHaveLength(3)
  replies = ['hang up within the answer']
  const call = new Service({ url, key: 'k' }).call('/x', { method: 'PATCH', body: {} })
  await expect(call).rejects.toMatchObject({ exitCode: 5, code: 'unreachable' })
  expect(asked).toHaveLength(4)
})

test('where nobody listens it is tried again, but not after ten seconds', async () => {
  const { port } = server.address() as AddressInfo
  const again = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
  const refused = vi.spyOn(EnvHttpProxyAgent.prototype, 'dispatch')
  const answer = new Service({ url, key: 'k' }).get('/x')
  await vi.waitFor(() => expect(refused).toHaveBeenCalledTimes(2))
  await again()
  expect(await answer).toEqual({ is: 1 })
  expect(asked).toHaveLength(1)

  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  refused.mockClear()
  timeFlies()
  const given = new Service({ url, key: 'k' }).get('/x')
  await expect(given).rejects.toMatchObject({ exitCode: 5, message: expect.stringContaining('ECONNREFUSED') })
  expect(refused).toHaveBeenCalledTimes(1)
  await again()
})

test('what another attempt would not mend is not tried again', async () => {
  let connections = 0
  const secure = createSecureServer({ key: certificateKey, cert: certificate }).on('connection', () => {
    connections += 1
  })
  try {
    const address = (await listening(secure)).replace('http:', 'https:')
    const call = new Service({ url: address, key: 'k' }).get('/x')
    await expect(call).rejects.toMatchObject({ exitCode: 5, message: expect.stringContaining('self-signed') })
    expect(connections).toBe(1)
  } finally {
    secure.closeAllConnections()
    secure.close()
  }
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
