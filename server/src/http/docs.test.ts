import { describe, expect, test } from 'vitest'
import { useServer } from '../../test/server.ts'

const server = useServer()
const open = (path: string) => fetch(server.url + path)

describe('/openapi.json', () => {
  test('describes every operation, without asking for a key', async () => {
    const response = await open('/openapi.json')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const description = (await response.json()) as any
    expect(description).toMatchObject({ openapi: '3.1.0', info: { title: 'Belfry' }, security: [{ apiKey: [] }] })

    const ids: string[] = []
    for (const [path, methods] of Object.entries<Record<string, any>>(description.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const name = `${method} ${path}`
        expect({ name, ...operation }).toMatchObject({
          name,
          tags: [expect.any(String)],
          summary: expect.stringMatching(/^[A-Z].{5,}/),
        })
        const statuses = Object.keys(operation.responses)
        expect([name, ...statuses]).toContainEqual(expect.stringMatching(/^[23]\d\d$/))
        for (const response of Object.values<any>(operation.responses))
          expect({ name, ...response }).toMatchObject({ name, description: expect.any(String) })
        const isPublic = JSON.stringify(operation.security) === '[]'
        if (!isPublic)
          expect([name, ...statuses]).toEqual(expect.arrayContaining([name, '400', '401', '422', '429', '503']))
        if (operation.operationId) ids.push(operation.operationId)

        const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1])
        const declared = (operation.parameters ?? []).filter((p: any) => p.in === 'path').map((p: any) => p.name)
        expect([name, new Set(declared)]).toEqual([name, new Set(inPath)])
      }
    }
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('every reference leads somewhere', async () => {
    const text = await (await open('/openapi.json')).text()
    const description = JSON.parse(text)
    for (const [, pointer = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = pointer.split('/').reduce((inner, key) => inner?.[key], description)
      expect([pointer, target]).toEqual([pointer, expect.anything()])
    }
  })
})

describe('/docs', () => {
  test('is a page that brings everything along', async () => {
    const redirect = await fetch(`${server.url}/docs`, { redirect: 'manual' })
    expect([redirect.status, redirect.headers.get('location')]).toEqual([301, '/docs/'])
    const response = await open('/docs/')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await response.text()
    expect(html).toContain('<title>Belfry API</title>')
    expect(html).not.toMatch(/https?:\/\/|src="\/\/|href="\/\//)

    const sources = [...html.matchAll(/<script[^>]* src="([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(sources).toHaveLength(1)
    for (const source of sources) {
      const script = await fetch(new URL(source, `${server.url}/docs/`))
      expect(script.status).toBe(200)
      expect(script.headers.get('content-type')).toMatch(/javascript/)
      expect((await script.text()).length).toBeGreaterThan(100_000)
    }
    const [, document = ''] = /"url": "([^"]+)"/.exec(html) ?? []
    const described = await fetch(new URL(document, `${server.url}/docs/`))
    expect(await described.json()).toMatchObject({ openapi: '3.1.0', info: { title: 'Belfry' } })
  })

  test('may run its own script and talk to this service, and nothing else', async () => {
    const policy = (await open('/docs/')).headers.get('content-security-policy') ?? ''
    const rules = new Map(policy.split(';').map((rule) => [rule.trim().split(' ')[0], rule.trim()]))
    expect(rules.get('script-src')).toMatch(/'self' 'unsafe-inline'/)
    expect(rules.get('connect-src')).toBe("connect-src 'self'")
    expect(rules.get('frame-ancestors')).toBe("frame-ancestors 'none'")
    expect(policy).not.toMatch(/https?:|\*/)
  })

  test('has no route that fails', async () => {
    for (const path of ['/docs/openapi.json', '/docs/openapi.yaml'])
      expect((await (await open(path)).text()).length).toBeGreaterThan(10_000)
    expect((await open('/docs/nothing')).status).toBe(404)
  })
})
