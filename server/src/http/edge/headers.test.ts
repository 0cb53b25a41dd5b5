// The headers that every route sends to browsers.
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { sendAs, signInAs } from '../../../test/people.ts'
import { type Route, useRouteTable } from '../../../test/route-table.ts'
import { useServer } from '../../../test/server.ts'

const routes = useRouteTable()
const server = useServer()
const filled = ({ path }: Route) => path.replaceAll(/\{[^}]+\}/g, 'x').replaceAll('*', 'x')

test('no answer may be framed, sniffed or referred from, and none is for other origins but those of the inbox', async () => {
  const owner = await signInAs(server, server.api, 'owner')
  const html: string[] = []
  // Sockets are not pages, and answer in their own protocol.
  const seen = routes.filter(({ method, path }) => method === 'GET' && path !== '/socket.io')
  expect(seen.length).toBeGreaterThan(90)
  for (const route of seen)
    for (const headers of [{}, { accept: 'text/html' }])
      for (const answer of [
        await sendAs(server.url, 'GET', filled(route), undefined, headers),
        await owner.send('GET', filled(route), undefined, headers),
      ]) {
        const all = answer.headers
        const policy = all.get('content-security-policy') ?? ''
        expect([route.path, all.get('x-content-type-options'), all.get('x-frame-options')]).toEqual([
          ...[route.path, 'nosniff', 'DENY'],
        ])
        expect([route.path, all.get('referrer-policy')]).toEqual([route.path, 'no-referrer'])
        expect([route.path, all.get('permissions-policy')]).toEqual([route.path, expect.stringContaining('camera=()')])
        const opener =
          route.path === '/v1/integrations/chat/oauth/callback' ? 'unsafe-none' : 'same-origin-allow-popups'
        expect([route.path, all.get('cross-origin-opener-policy')]).toEqual([route.path, opener])
        expect([route.path, policy]).toEqual([route.path, expect.not.stringContaining('unsafe-eval')])
        expect([route.path, policy]).toEqual([route.path, expect.stringContaining("frame-ancestors 'none'")])
        expect([route.path, policy]).toEqual([route.path, expect.stringMatching(/^default-src '(none|self)'/)])
        const isForPages = /^\/(v1\/inbox|inbox|inbox\.js|push-worker\.js)(\/|$)/.test(route.path)
        if (!isForPages) expect([route.path, all.get('access-control-allow-origin')]).toEqual([route.path, null])
        expect([route.path, all.get('access-control-allow-credentials')]).toEqual([route.path, null])
        for (const cookie of all.getSetCookie())
          expect([route.path, cookie]).toEqual([route.path, expect.stringMatching(/HttpOnly.*SameSite=(Lax|Strict)/)])
        if (all.get('content-type')?.startsWith('text/html')) html.push(route.path)
      }
  // Otherwise this would cover JSON only.
  expect([...new Set(html)]).toEqual(expect.arrayContaining(['/', '/docs', '/demo']))
}, 300_000)

test('a page of another origin gets no CORS headers', async () => {
  for (const route of routes.filter(({ config }) => !config.inbox && !config.public)) {
    const answer = await sendAs(server.url, 'OPTIONS', filled(route), undefined, {
      origin: 'https://evil.example',
      'access-control-request-method': route.method,
    })
    const allowed = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))
    expect([route.path, allowed]).toEqual([route.path, []])
  }
}, 300_000)

test('a compressed body is not decompressed', async () => {
  const bomb = gzipSync(JSON.stringify({ subscriberId: 'a', firstName: 'x'.repeat(50_000_000) }))
  expect(bomb.length).toBeLessThan(100_000)
  for (const encoding of ['gzip', 'deflate', 'br']) {
    const answer = await server.api.post('/v2/subscribers', bomb, {
      'content-type': 'application/json',
      'content-encoding': encoding,
    })
    expect([encoding, answer.status, answer.body.code]).toEqual([encoding, 400, 'malformed_json'])
  }
})
