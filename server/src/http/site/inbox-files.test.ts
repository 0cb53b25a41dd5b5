import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'

const server = useServer()
const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers })

describe('the inbox that pages embed', () => {
  test.each([
    ['/inbox.js', 'text/javascript; charset=utf-8'],
    ['/inbox/client.js', 'text/javascript; charset=utf-8'],
    ['/inbox/elements.js', 'text/javascript; charset=utf-8'],
    ['/inbox/react.js', 'text/javascript; charset=utf-8'],
    ['/inbox/ar.json', 'application/json; charset=utf-8'],
  ])('%s can be loaded by any page', async (path, type) => {
    const response = await get(path)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': type,
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=300',
      vary: 'Accept-Encoding',
    })
  })

  test('chunks with a hash in their name are cached forever', async () => {
    const source = await (await get('/inbox/client.js')).text()
    const [, part = ''] = /from ?["'`]\.\/([\w-]+\.js)["'`]/.exec(source) ?? []
    const response = await get(`/inbox/${part}`)
    expect([response.status, response.headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ])
  })

  test('it is sent again only when it has changed', async () => {
    const first = await get('/inbox.js')
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[\w-]{22}"$/)
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const again = await get('/inbox.js', { 'if-none-match': known })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
    expect((await get('/inbox.js', { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('it is compressed for clients that accept that', async () => {
    const raw = (encoding: string) =>
      new Promise<{ encoding: string | undefined; bytes: Buffer }>((resolve, reject) => {
        request(`${server.url}/inbox.js`, { headers: { 'accept-encoding': encoding } }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () =>
            resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(chunks) }),
          )
        })
          .on('error', reject)
          .end()
      })
    const plain = await raw('identity')
    const small = await raw('br, gzip')
    expect([plain.encoding, small.encoding, (await raw('gzip;q=0')).encoding]).toEqual([undefined, 'gzip', undefined])
    expect(gunzipSync(small.bytes).equals(plain.bytes)).toBe(true)
  })

  test.each([
    '/inbox/nothing.js',
    '/inbox/',
    '/inbox/..%2fbuilt-from',
    '/inbox/..%2f..%2fpackage.json',
    '/inbox/%00.js',
  ])('%s does not exist', async (path) => {
    const response = await get(path)
    expect([404, 400]).toContain(response.status)
    expect(await response.json()).toMatchObject({ statusCode: response.status })
  })
})
