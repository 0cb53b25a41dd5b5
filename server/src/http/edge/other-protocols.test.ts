import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'

const server = useServer()
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterAll(() => agent.destroy())

const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' }

function send(method: string, path: string, headers: Record<string, string>, body = ''): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const authorization = `ApiKey ${server.api.key}`
    const content = body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const options = { method, agent, headers: { authorization, ...content, ...headers } }
    httpRequest(server.url + path, options, resolve)
      .on('error', reject)
      .on('upgrade', resolve)
      .end(body)
  })
}

test('a request that offers HTTP/2 is answered over HTTP/1.1, even when its body comes in many chunks', async () => {
  const answer = await send('GET', '/v1/environments/me', offer)
  expect(answer.statusCode).toBe(200)
  expect(JSON.parse(await text(answer))).toMatchObject({ name: 'Development' })

  const data = { long: 'ünï'.repeat(8_000) }
  const created = await send('POST', '/v2/subscribers', offer, JSON.stringify({ subscriberId: 'java', data }))
  expect(created.statusCode).toBe(201)
  expect(JSON.parse(await text(created)).data).toEqual(data)
})

test('the connection stays open afterwards, and closes when the request asks for it', async () => {
  const ports: Array<number | undefined> = []
  for (const headers of [offer, {}]) {
    const answer = await send('GET', '/v1/environments/me', headers)
    ports.push(answer.socket.localPort)
    await text(answer)
    expect(answer.statusCode).toBe(200)
  }
  expect(new Set(ports).size).toBe(1)
  const last = await send('GET', '/v1/environments/me', { ...offer, connection: 'Upgrade, close' })
  await text(last)
  expect([last.statusCode, last.headers.connection]).toEqual([200, 'close'])
})

test('a request without a key stays refused', async () => {
  const answer = await send('GET', '/v1/environments/me', { ...offer, authorization: '' })
  expect(answer.statusCode).toBe(401)
  answer.resume()
})

test('web sockets are opened at their own path only', async () => {
  const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const answer = await send('GET', '/v1/environments/me', {
    ...headers,
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  })
  expect(answer.statusCode).toBe(404)
  answer.resume()
})
