// A push whose process dies at any of its statements is done as a whole, or not at all: files.md §11.
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CutLine } from './cut-line.ts'
import { type Here, startHere } from './here.ts'
import { Api, createTestDatabase, dropTestDatabase, secretKey } from './server.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

const name = `t_${randomBytes(6).toString('hex')}`
const key = 'the-key-of-development'
const settingsOf = (url: string) => ({
  ...{ DATABASE_URL: url, BELFRY_SECRET_KEY: secretKey, BELFRY_API_KEY: key },
  ...{ BELFRY_CANARY: 'false', BELFRY_ROLE: 'api', BELFRY_LOG: 'silent' },
})
let databaseUrl: string
let survivor: Here
let api: Api

beforeAll(async () => {
  databaseUrl = await createTestDatabase(name)
  survivor = await startHere(settingsOf(databaseUrl))
  api = new Api(survivor.url, key, '', '')
  // The key of one environment changes variables, and makes none.
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`
    INSERT INTO environment_variables (id, organization_id, key, type, is_secret, created_at, updated_at)
    SELECT 'site', id, 'SITE', 'string', false, created_at, created_at FROM organizations LIMIT 1`)
  await client.end()
})
afterAll(async () => {
  await survivor.stop()
  await dropTestDatabase(name)
})

/** Everything that a push can touch: created, updated, deleted, translated and owned. */
const bodyOf = (word: string, isSecond: boolean) => ({
  ...{ source: { commit: word }, message: word, prune: true },
  resources: [
    {
      ...{ kind: 'layout', id: 'brand', base: 'any' },
      definition: {
        ...{ layoutId: 'brand', name: word, isTranslationEnabled: true },
        controlValues: { email: { body: `<html><body>${word}{{content}}</body></html>`, editorType: 'html' } },
      },
    },
    ...['a', 'b', isSecond ? 'new' : 'gone'].map((id) => ({
      ...{ kind: 'workflow', id, base: 'any' },
      definition: {
        ...{ workflowId: id, name: `${id} ${word}`, active: true, validatePayload: true, isTranslationEnabled: true },
        steps: [{ stepId: 's', name: 'S', type: 'sms', controlValues: { body: `{{t.hi}} ${word}` } }],
      },
    })),
    {
      ...{ kind: 'translation', id: 'de_DE', base: 'any' },
      definition: { workflows: { a: { hi: word }, b: { hi: word } }, layouts: { brand: { bye: word } } },
    },
    { kind: 'topic', id: 'news', base: 'any', definition: { key: 'news', name: word } },
    { kind: 'variable', id: 'SITE', base: 'any', definition: { key: 'SITE', value: word } },
    ...['mails', isSecond ? 'mails-new' : 'mails-gone'].map((id, index) => ({
      ...{ kind: 'integration', id, base: 'any' },
      definition: {
        ...{ identifier: id, name: word, channel: 'email', providerId: 'sendgrid', active: true },
        ...(index === Number(isSecond) ? { primary: true } : {}),
        credentials: { apiKey: `SG.${word}`, from: 'hello@example.com' },
      },
    })),
  ],
})

/** All of it, without times. */
async function state(): Promise<unknown> {
  const { resources } = (await api.get('/v2/definitions?kinds=workflow,layout,translation,topic,integration,variable'))
    .body
  const history = await Promise.all(
    ['a', 'b', 'new', 'gone'].map(async (id) => {
      const { data = [] } = (await api.get(`/v2/workflows/${id}/versions`)).body
      return [id, data.map(({ version, message }: { version: number; message: string }) => [version, message])]
    }),
  )
  const shown = resources.map(({ kind, id, definition, version, files }: Record<string, any>) => [
    ...[kind, id, definition, version, files?.commit, files?.drifted],
  ])
  return { shown, history, pushes: (await api.get('/v2/definitions/pushes')).body.data.length }
}

test('at every statement', async () => {
  const line = await CutLine.to(databaseUrl)
  const victim = await startHere(settingsOf(line.url))
  const pushing = new Api(victim.url, key, '', '')
  const read = async () => {
    line.takeCount()
    const { status } = await pushing.get('/v2/definitions')
    return { status, statements: line.takeCount() }
  }
  const seen = new Set<string>()
  try {
    await pushing.post('/v2/definitions/push', bodyOf('warm', false))
    const usual = await read()
    expect(usual.status).toBe(200)
    expect((await pushing.post('/v2/definitions/push', bodyOf('counted', true))).status).toBe(200)
    const statements = line.takeCount()
    expect(statements).toBeGreaterThan(10)
    for (let cut = 1; cut <= statements; cut += 1) {
      await api.post('/v2/definitions/push', bodyOf(`base ${cut}`, false))
      const before = await state()
      // It is connected again, and remembers what it needs: the statements are those that were counted.
      await vi.waitUntil(async () => isDeepStrictEqual(await read(), usual), { timeout: 20_000, interval: 20 })
      const body = bodyOf(`cut ${cut}`, true)
      line.cutAfter(cut)
      await pushing.post('/v2/definitions/push', body).catch(() => undefined)
      line.mend()
      // The database may still be at the last statement that it got.
      const after = await vi.waitUntil(
        async () => {
          const now = await state()
          return JSON.stringify(now) === JSON.stringify(await state()) && now
        },
        { timeout: 20_000, interval: 20 },
      )
      if (JSON.stringify(after) === JSON.stringify(before)) {
        seen.add('nothing')
        continue
      }
      seen.add('all')
      // What is there is exactly what the push says: another one changes nothing.
      const again = await api.post('/v2/definitions/push', body)
      expect(again.body.summary, `cut after ${cut}`).toMatchObject({ created: 0, updated: 0, deleted: 0 })
      expect(JSON.stringify((after as { shown: unknown }).shown)).toContain(`cut ${cut}`)
    }
  } finally {
    await victim.stop().catch(() => undefined)
    await line.close()
  }
  expect(seen).toContain('nothing')
})
