import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'dashboard-'))
const script = `console.log(${'"a rather long text"'.repeat(50)})`
const put = (name: string, bytes: string | Buffer) => writeFileSync(path.join(folder, name), bytes)
mkdirSync(path.join(folder, 'assets'))
put('index.html', '<!doctype html><title>Belfry</title><script>theFirst()</script><script src="/assets/x.js"></script>')
put('favicon.svg', '<svg/>')
put('assets/index-AbCd1234.js', script)
put('assets/index-AbCd1234.js.br', brotliCompressSync(script))
put('assets/index-AbCd1234.js.gz', gzipSync(script))
put('assets/inter-AbCd1234.woff2', 'a font')
put('../outside.txt', 'not for you')
afterAll(() => {
  rmSync(folder, { recursive: true })
  rmSync(path.join(folder, '../outside.txt'))
})

const server = useServer({ dashboardDir: folder })
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const get = (where: string, headers: Record<string, string> = {}) => fetch(server.url + where, { headers })

describe('the page', () => {
  test.each([
    '/',
    '/sign-in',
    '/workflows',
    '/workflows/some-thing',
    '/subscribers/a%20b?env=production',
    '/subscribers/ada@example.com',
    '/webhooks',
    '/webhooks/0123456789abcdef01234567',
    '/no/such/page',
  ])('is served to browsers at %s', async (where) => {
    const response = await get(where, html)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await response.text()).toContain('<title>Belfry</title>')
  })

  test('is served at / for any Accept header', async () => {
    expect(await (await get('/')).text()).toContain('<title>Belfry</title>')
    expect((await fetch(`${server.url}/`, { method: 'HEAD' })).status).toBe(200)
  })

  test('runs its own scripts only, cannot be framed, and is revalidated', async () => {
    const { headers } = await get('/', html)
    const rules = new Map(
      (headers.get('content-security-policy') ?? '').split('; ').map((rule) => [rule.split(' ')[0], rule]),
    )
    expect(rules.get('default-src')).toBe("default-src 'none'")
    const hash = createHash('sha256').update('theFirst()').digest('base64')
    expect(rules.get('script-src')).toBe(`script-src 'self' 'sha256-${hash}'`)
    expect(rules.get('connect-src')).toBe("connect-src 'self'")
    expect(rules.get('frame-ancestors')).toBe("frame-ancestors 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-cache')
    const tag = headers.get('etag') ?? ''
    expect((await get('/', { ...html, 'if-none-match': tag })).status).toBe(304)
  })

  test.each([
    '/v1/nothing',
    '/v2',
    '/v3/future',
    '/webhooks/organizations/nothing',
    '/docs/nothing',
    '/inbox/nothing',
    '/robots.txt',
    '/assets/nothing.js',
  ])('does not replace the 404 at %s', async (where) => {
    const response = await get(where, html)
    expect([response.status, await response.json()]).toEqual([
      404,
      expect.objectContaining({ code: 'route_not_found' }),
    ])
  })

  test('programs get a JSON 404', async () => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }] as Record<string, string>[]) {
      const response = await get('/workflows', headers)
      expect(await response.json()).toMatchObject({ statusCode: 404, message: 'Cannot GET /workflows' })
    }
    const response = await fetch(`${server.url}/workflows`, { method: 'POST', headers: html })
    expect(response.status).toBe(404)
  })
})

describe('its files', () => {
  test('with a hash in their name are cached forever, and served with the compression of the build', async () => {
    const whole = await raw('/assets/index-AbCd1234.js', 'identity')
    expect(whole.body.toString()).toBe(script)
    expect(whole.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(whole.headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(whole.headers.vary).toBe('Accept-Encoding')
    const brotli = await raw('/assets/index-AbCd1234.js', 'gzip, deflate, br')
    expect(brotli.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(brotli.body).toString()).toBe(script)
    const gzip = await raw('/assets/index-AbCd1234.js', 'gzip, br;q=0')
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(gzip.body).toString()).toBe(script)
    const font = await raw('/assets/inter-AbCd1234.woff2', 'gzip, br')
    expect(font.headers['content-encoding']).toBeUndefined()
    expect(font.headers['content-type']).toBe('font/woff2')
  })

  test.each(['/favicon.svg'])('%s is revalidated, since its name has no hash', async (where) => {
    const response = await get(where)
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache'])
  })

  test.each([
    '/assets/../outside.txt',
    '/assets/..%2foutside.txt',
    '/assets/..%2f..%2foutside.txt',
    '/assets/',
    '/assets/%00',
  ])('do not include %s', async (where) => {
    const { status, body } = await raw(where, 'identity')
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(body.toString()).not.toContain('not for you')
  })
})

test('without a build, / says so and the API works', async () => {
  const other = await server.startAnother({ dashboardDir: path.join(folder, 'nowhere') })
  const response = await fetch(`${other.url}/`, { headers: html })
  expect([response.status, response.headers.get('content-type')]).toEqual([503, 'text/plain; charset=utf-8'])
  expect(await response.text()).toMatch(/^The dashboard is not built\. .*\/docs/)
  expect((await fetch(`${other.url}/health/live`)).status).toBe(200)
})

test('a worker has no dashboard', async () => {
  const worker = await server.startAnother({ role: 'worker' })
  for (const where of ['/', '/workflows', '/assets/index-AbCd1234.js'])
    expect((await fetch(worker.url + where, { headers: html })).status).toBe(404)
})

/** The raw response: fetch would decompress it and normalize the path. */
function raw(where: string, encoding: string) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    request({ hostname, port, path: where, headers: { 'accept-encoding': encoding } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
      .on('error', reject)
      .end()
  })
}
