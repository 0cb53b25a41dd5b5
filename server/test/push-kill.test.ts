// A push whose process dies at any of its statements is done as a whole, or not at all: files.md §11. By default cut off from the
// database at each of them, and killed (-9) at some; killed at each: EVERY=1 npx vitest run server/test/push-kill.test.ts.
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CutLine } from './cut-line.ts'
import { freePort } from './free-port.ts'
import { type Here, startHere } from './here.ts'
import { usePrograms } from './program.ts'
import { type Answer, Api, createTestDatabase, dropTestDatabase, secretKey } from './server.ts'

vi.setConfig({ testTimeout: process.env.EVERY ? 3_600_000 : 300_000, hookTimeout: 300_000 })

/** Of the statements, those at which the process is killed. */
const every = Number(process.env.EVERY ?? 20)
const programs = usePrograms()

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

/** A process on a line of its own. */
interface Victim {
  pushing: Api
  line: CutLine
  /** At the last statement that passes. */
  die(): void
  /** Once its end is seen. */
  rise(): Promise<void>
}

const readBy = async ({ pushing, line }: Pick<Victim, 'pushing' | 'line'>) => {
  line.takeCount()
  const { status } = await pushing.get('/v2/definitions')
  return { status, statements: line.takeCount() }
}
let usual: Awaited<ReturnType<typeof readBy>>
let statements: number
let undisturbed: Answer

/** What a push takes undisturbed. */
beforeAll(async () => {
  const line = await CutLine.to(databaseUrl)
  const counted = await startHere(settingsOf(line.url))
  const pushing = new Api(counted.url, key, '', '')
  await pushing.post('/v2/definitions/push', bodyOf('warm', false))
  usual = await readBy({ pushing, line })
  undisturbed = await pushing.post('/v2/definitions/push', bodyOf('counted', true))
  statements = line.takeCount()
  await counted.stop()
  await line.close()
})

/** A push at a process that ends at this statement. @returns how much of it is there */
async function outlive(at: number, victim: Victim): Promise<'nothing' | 'all'> {
  const { pushing, line } = victim
  await api.post('/v2/definitions/push', bodyOf(`base ${at}`, false))
  const before = await state()
  // It is connected, and remembers what it needs: the statements are those that were counted.
  await vi.waitUntil(async () => isDeepStrictEqual(await readBy(victim), usual), { timeout: 60_000, interval: 20 })
  const body = bodyOf(`cut ${at}`, true)
  line.cutAfter(at, () => victim.die())
  await pushing.post('/v2/definitions/push', body).catch(() => undefined)
  await victim.rise()
  // The database may still be at the last statement that it got.
  const after = await vi.waitUntil(
    async () => {
      const now = await state()
      return JSON.stringify(now) === JSON.stringify(await state()) && now
    },
    { timeout: 20_000, interval: 20 },
  )
  if (JSON.stringify(after) === JSON.stringify(before)) return 'nothing'
  // What is there is exactly what the push says: another one changes nothing.
  const again = await api.post('/v2/definitions/push', body)
  expect(again.body.summary, `ended at ${at}`).toMatchObject({ created: 0, updated: 0, deleted: 0 })
  expect(JSON.stringify((after as { shown: unknown }).shown)).toContain(`cut ${at}`)
  return 'all'
}

test('a push that nobody disturbs is carried out', () => {
  expect([usual.status, undisturbed.status], undisturbed.text).toEqual([200, 200])
  expect(statements).toBeGreaterThan(10)
})

test('a process that is cut off at any statement', async () => {
  const line = await CutLine.to(databaseUrl)
  const here = await startHere(settingsOf(line.url))
  const victim: Victim = {
    ...{ pushing: new Api(here.url, key, '', ''), line, die: () => undefined },
    rise: async () => line.mend(),
  }
  const seen = new Set<string>()
  try {
    for (let at = 1; at <= statements; at += 1) seen.add(await outlive(at, victim))
  } finally {
    await here.stop().catch(() => undefined)
    await line.close()
  }
  expect(seen).toContain('nothing')
})

test('a process that is killed (-9)', async () => {
  for (const at of placesOf(every)) {
    const line = await CutLine.to(databaseUrl)
    const run = await programs
      .start({ ...settingsOf(line.url), PORT: String(await freePort()), BELFRY_LOG: 'info' })
      .ready()
    const victim: Victim = {
      ...{ pushing: new Api(run.url, key, '', ''), line, die: () => run.signal('SIGKILL') },
      async rise() {
        const hasDied = line.isCut
        run.signal('SIGKILL')
        expect((await run.ended).code).toBeNull()
        // The last statements of all only tell others, and the answer may be there first.
        if (at <= statements - 5) expect(hasDied, `killed at ${at} of ${statements}`).toBe(true)
      },
    }
    await outlive(at, victim)
    await line.close()
    if (process.env.EVERY) process.stderr.write(`${at} of ${statements}\n`)
  }
})

function placesOf(step: number): number[] {
  const first = 1 + Math.floor(Math.random() * Math.min(step, statements))
  return Array.from({ length: Math.ceil((statements - first + 1) / step) }, (_, index) => first + index * step)
}
