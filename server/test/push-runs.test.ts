// A run has one side of a push, wherever the process that accepts it, starts it and sends its mail is at that moment: the push
// happens between any two of its statements. files.md §3.3; by hand at named places: server/src/http/definitions/push-and-runs.test.ts.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CutLine } from './cut-line.ts'
import { type Here, startHere } from './here.ts'
import { contentsOf } from './runs.ts'
import { Api, createTestDatabase, dropTestDatabase, secretKey } from './server.ts'
import { useVendor } from './vendor.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const vendor = useVendor()
const name = `t_${randomBytes(6).toString('hex')}`
const key = 'the-key-of-development'
const settingsOf = (url: string, role: string) => ({
  ...{ DATABASE_URL: url, BELFRY_SECRET_KEY: secretKey, BELFRY_API_KEY: key, BELFRY_ALLOW_PRIVATE_ADDRESSES: 'true' },
  ...{ BELFRY_CANARY: 'false', BELFRY_ROLE: role, BELFRY_LOG: 'silent' },
})
/** Of what a process does beside. */
const beside = /graphile|jobs_due|outbox|pool_id|LISTEN|NOTIFY|workers/
let pushing: Here
let running: Here
let line: CutLine
let api: Api
let triggering: Api

beforeAll(async () => {
  const url = await createTestDatabase(name)
  pushing = await startHere(settingsOf(url, 'api'))
  line = await CutLine.to(url)
  running = await startHere(settingsOf(line.url, 'all'))
  api = new Api(pushing.url, key, '', '')
  triggering = new Api(running.url, key, '', '')
  const made = await api.post('/v1/integrations', {
    ...{ providerId: 'email-webhook', channel: 'email', name: 'Webhook', identifier: 'mail', active: true },
    credentials: { webhookUrl: vendor.url, secretKey: 'key', from: 'news@acme.example' },
  })
  if (made.status !== 201) throw new Error(made.text)
})
afterAll(async () => {
  await running.stop()
  await line.close()
  await pushing.stop()
  await dropTestDatabase(name)
})

/** Every text says which side it is of. */
async function push(side: string): Promise<void> {
  const email = { editorType: 'html', body: `<html><body>layout=${side} {{t.word}} {{content}}</body></html>` }
  const steps = [
    { stepId: 'inbox', name: 'Inbox', type: 'in_app', controlValues: { body: `step=${side} {{t.word}}` } },
    {
      ...{ stepId: 'mail', name: 'Mail', type: 'email' },
      controlValues: { subject: `step=${side} {{t.word}}`, body: '<p>News</p>', editorType: 'html', layoutId: 'brand' },
    },
  ]
  const answer = await api.post('/v2/definitions/push', {
    resources: [
      {
        ...{ kind: 'layout', id: 'brand', base: 'any' },
        definition: { layoutId: 'brand', name: 'Brand', isTranslationEnabled: true, controlValues: { email } },
      },
      {
        ...{ kind: 'workflow', id: 'news', base: 'any' },
        definition: {
          ...{
            workflowId: 'news',
            name: 'News',
            active: true,
            validatePayload: true,
            isTranslationEnabled: true,
            steps,
          },
        },
      },
      {
        ...{ kind: 'translation', id: 'en_US', base: 'any' },
        definition: {
          workflows: { news: { word: `text=${side}` } },
          layouts: { brand: { word: `layout-text=${side}` } },
        },
      },
    ],
  })
  expect(answer, answer.text).toMatchObject({ status: 200 })
}

/** What a new subscriber got. */
async function seenBy(subscriberId: string): Promise<string[]> {
  const mail = await vi.waitUntil(() => vendor.asked.find(({ body }) => body.includes(`${subscriberId}@example.com`)), {
    ...{ timeout: 30_000, interval: 5 },
  })
  const texts = [mail?.body ?? '', ...(await contentsOf(api, subscriberId)).map(String)].join(' ')
  return [...new Set(texts.match(/[a-z-]+=(old|new)\d*/g))].sort()
}

const triggerFor = (subscriberId: string) =>
  triggering.post('/v1/events/trigger', {
    ...{ name: 'news', payload: {} },
    to: { subscriberId, email: `${subscriberId}@example.com` },
  })

test('a push between any two statements of a run', async () => {
  vendor.plays(() => ({ body: {} }))
  const sides = new Set<string>()
  let reached = true
  let at = 0
  for (; reached; at += 1) {
    const [older, newer, who] = [`old${at}`, `new${at}`, `s${at}`]
    await push(older)
    let isPushed = false
    const pushed = line.holdAfter(
      at + 1,
      async () => {
        await push(newer)
        isPushed = true
      },
      beside,
    )
    expect(await triggerFor(who)).toMatchObject({ status: 201 })
    const seen = await seenBy(who)
    reached = isPushed
    if (reached) await pushed
    const ofSide = (side: string) => [`layout-text=${side}`, `layout=${side}`, `step=${side}`, `text=${side}`]
    const side = seen.some((mark) => mark.endsWith(newer)) ? newer : older
    expect(seen, `pushed behind statement ${at + 1}`).toEqual(ofSide(side))
    if (reached) sides.add(side.slice(0, 3))
  }
  expect([...sides].sort()).toEqual(['new', 'old'])
  expect(at).toBeGreaterThan(10)
})
