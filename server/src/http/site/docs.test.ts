import { describe, expect, test } from 'vitest'
import { useBrowser } from '../../../test/browser.ts'
import { useServer } from '../../../test/server.ts'
import { ownKeywords } from '../edge/validation.ts'

const server = useServer()
const browser = useBrowser()
const open = (path: string) => fetch(server.url + path)

describe('/openapi.json', () => {
  test('describes every operation, without asking for a key', async () => {
    const response = await open('/openapi.json')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const description = (await response.json()) as any
    expect(description).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Belfry' },
      security: [{ apiKey: [] }, { person: [] }],
    })

    const ids: string[] = []
    const usedTags = new Set<string>()
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
        // Browser operations use a session token, without rate limits or idempotency.
        const isInbox = JSON.stringify(operation.security) === '[{"session":[]}]'
        expect([name, isInbox]).toEqual([name, path.startsWith('/v1/inbox/') && path !== '/v1/inbox/session'])
        const limited = isInbox ? [] : ['429']
        if (!isPublic)
          expect([name, ...statuses]).toEqual(expect.arrayContaining([name, '400', '401', '422', ...limited, '503']))
        expect([name, operation.operationId]).toEqual([name, expect.stringMatching(/^[a-z][A-Za-z0-9]+$/)])
        ids.push(operation.operationId)
        usedTags.add(operation.tags[0])
        const headers = (operation.parameters ?? []).filter((p: any) => p.in === 'header').map((p: any) => p.name)
        const canRepeat = !isPublic && !isInbox && ['post', 'patch'].includes(method)
        expect([name, headers]).toEqual([name, canRepeat ? ['idempotency-key'] : []])

        const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1])
        const declared = (operation.parameters ?? []).filter((p: any) => p.in === 'path').map((p: any) => p.name)
        expect([name, new Set(declared)]).toEqual([name, new Set(inPath)])
      }
    }
    expect(new Set(ids).size).toBe(ids.length)
    const described = description.tags.map((tag: any) => [tag.name, tag.description])
    expect(described).toEqual(described.map(() => [expect.any(String), expect.stringMatching(/\.$/)]))
    expect(new Set(described.map(([name]: string[]) => name))).toEqual(usedTags)
  })

  test('names operations by method and path, so that names are stable', async () => {
    const { paths } = (await (await open('/openapi.json')).json()) as any
    expect(paths['/v2/subscribers'].post.operationId).toBe('postV2Subscribers')
    expect(paths['/v2/subscribers/{subscriberId}'].get.operationId).toBe('getV2SubscribersBySubscriberId')
    expect(paths['/v1/integrations/{integrationId}/set-primary'].post.operationId).toBe(
      'postV1IntegrationsByIntegrationIdSetPrimary',
    )
  })

  test('has example bodies that are accepted as they are', async () => {
    const { development } = await server.freshOrganizationWide()
    // The workflow that the example trigger names.
    const steps = [{ name: 'Tell', type: 'in_app', controlValues: { body: 'Hello' } }]
    await development.post('/v2/workflows', { name: 'Welcome', workflowId: 'welcome', active: true, steps })
    const { paths } = (await (await open('/openapi.json')).json()) as any
    // Parameters that need an existing name.
    const fitting: Record<string, string> = {
      type: 'primary',
      messageId: '0'.repeat(24),
      keyId: '0'.repeat(24),
      purpose: 'inbox',
    }
    let shown = 0
    for (const [path, methods] of Object.entries<Record<string, any>>(paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const example = operation.requestBody?.content['application/json']?.schema.examples?.[0]
        if (example === undefined) continue
        shown += 1
        const answer = await development.send(
          method.toUpperCase(),
          path.replaceAll(/\{(\w+)\}/g, (_, name: string) => fitting[name] ?? 'ada'),
          example,
        )
        expect(`${method} ${path}: ${answer.status} ${answer.text}`).not.toContain(': 422 ')
      }
    }
    expect(shown).toBeGreaterThan(10)
  })

  test('uses standard JSON Schema, without our own keywords', async () => {
    const text = await (await open('/openapi.json')).text()
    expect(ownKeywords).toContain('perField')
    for (const keyword of ownKeywords) expect(text).not.toContain(`"${keyword}":`)
    expect(text).not.toContain('Default Response')
  })

  test('every reference resolves', async () => {
    const text = await (await open('/openapi.json')).text()
    const description = JSON.parse(text)
    for (const [, pointer = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = pointer.split('/').reduce((inner, key) => inner?.[key], description)
      expect([pointer, target]).toEqual([pointer, expect.anything()])
    }
  })
})

describe('/docs', () => {
  test('works in a browser without unsafe-eval', async () => {
    const page = await browser.open(`${server.url}/docs`)
    await page.getByRole('heading', { name: 'Subscribers' }).first().waitFor()
  })

  test('is a self-contained page', async () => {
    const response = await open('/docs')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await response.text()
    expect(await (await open('/docs/')).text()).toBe(html)
    expect(html).toContain('<title>Belfry API</title>')
    expect(html).not.toMatch(/https?:\/\/|src="\/\/|href="\/\//)

    const sources = [...html.matchAll(/<script[^>]* src="([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(sources).toHaveLength(1)
    for (const source of sources) {
      const script = await fetch(new URL(source, `${server.url}/docs`))
      expect(script.status).toBe(200)
      expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
      expect((await script.text()).length).toBeGreaterThan(100_000)
    }
    const [, document = ''] = /url: '([^']+)'/.exec(html) ?? []
    expect(await (await open(document)).json()).toMatchObject({ openapi: '3.1.0', info: { title: 'Belfry' } })
  })

  test('prefills the scheme, so that only the key has to be pasted', async () => {
    const { components } = (await (await open('/openapi.json')).json()) as any
    expect(components.securitySchemes).toMatchObject({
      apiKey: { type: 'apiKey', in: 'header', name: 'Authorization' },
    })
    expect(await (await open('/docs')).text()).toContain("apiKey: { value: 'ApiKey '")
  })

  test('may only run its own script and call this service', async () => {
    const policy = (await open('/docs')).headers.get('content-security-policy') ?? ''
    const rules = new Map(policy.split(';').map((rule) => [rule.trim().split(' ')[0], rule.trim()]))
    expect(rules.get('script-src')).toMatch(/^script-src 'self' 'sha256-[^']+'$/)
    expect(rules.get('connect-src')).toBe("connect-src 'self'")
    expect(rules.get('frame-ancestors')).toBe("frame-ancestors 'none'")
    expect(policy).not.toMatch(/https?:|\*/)
  })

  test('has no paths below it', async () => {
    expect((await open('/docs/nothing')).status).toBe(404)
  })
})
