import { execFile } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiRequest, languages, snippet } from '../src/ui/snippets.ts'

const run = promisify(execFile)
const apiKey = "a'key"
const received: Array<{ method?: string; url?: string; authorization?: string; type?: string; body: unknown }> = []
const server = createServer((request: IncomingMessage, response) => {
  void text(request).then((body) => {
    const { authorization, 'content-type': type } = request.headers
    const { method, url } = request
    received.push({
      ...(method ? { method } : {}),
      ...(url ? { url } : {}),
      ...(authorization ? { authorization } : {}),
      ...(type ? { type } : {}),
      body: body === '' ? undefined : JSON.parse(body),
    })
    response.setHeader('content-type', 'application/json').end('{"it":"works"}')
  })
})
let origin = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

const body = {
  name: 'Ada\'s "welcome"',
  to: [{ subscriberId: 'ada', data: { vip: true, manager: null, 'two words': 1.5 } }],
  payload: { text: 'line one\nline two \\ ünïcode 🎉', none: {}, nothing: [], flag: false },
}
const requests: ApiRequest[] = [
  { method: 'POST', path: '/v1/events/trigger', body },
  { method: 'GET', path: '/v2/subscribers?limit=10' },
  { method: 'PATCH', path: '/v2/subscribers/ada', body: { firstName: 'Ada' } },
  { method: 'DELETE', path: '/v2/topics/all' },
]

describe.each(['curl', 'node'] as const)('%s', (language) => {
  test.each(requests)('sends $method $path as it is meant', async (request) => {
    const code = snippet(language, request, { origin, apiKey })
    const { stdout } =
      language === 'curl'
        ? await run('sh', ['-c', code])
        : await run(process.execPath, ['--input-type=module', '-e', code])
    expect(stdout).toContain('works')
    expect(received.pop()).toEqual({
      method: request.method,
      url: request.path,
      authorization: `ApiKey ${apiKey}`,
      ...(request.body === undefined ? {} : { type: 'application/json' }),
      body: request.body,
    })
  })
})

test.each(languages)('$label names the key, the address and every text of the body', ({ value }) => {
  const place = { origin: 'https://belfry.example.com', apiKey: 'k' }
  const body = { name: 'welcome', to: 'ada', payload: { count: 3, isNew: true } }
  const code = snippet(value, { method: 'POST', path: '/v1/events/trigger', body }, place)
  for (const part of [`${place.origin}/v1/events/trigger`, 'ApiKey k', 'welcome', 'ada', 'count', '3'])
    expect(code).toContain(part)
  expect(code).toMatchSnapshot()
})
