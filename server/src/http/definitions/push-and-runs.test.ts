// A run has one side of a push: its workflow, the texts and the layouts belong together: files.md §3.3. That it holds at every
// statement: server/test/push-runs.test.ts.
import { beforeEach, describe, expect, test } from 'vitest'
import { contentsOf, pass, runOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const ada = { subscriberId: 'ada', email: 'ada@example.com', locale: 'de_DE' }
let api: Api
beforeEach(async () => {
  ;({ development: api } = await server.freshOrganization())
  vendor.plays(() => ({ body: {} }))
  const made = await api.post('/v1/integrations', {
    ...{ providerId: 'email-webhook', channel: 'email', name: 'Webhook', identifier: `mail-${api.environmentId}` },
    ...{ active: true, credentials: { webhookUrl: vendor.url, secretKey: 'key', from: 'news@acme.example' } },
  })
  if (made.status !== 201) throw new Error(made.text)
})

const wait = { stepId: 'wait', name: 'Wait', type: 'delay', controlValues: { amount: 1, unit: 'hours' } }
const inbox = (side: string) => ({
  ...{ stepId: 'inbox', name: 'Inbox', type: 'in_app', controlValues: { body: `step=${side} {{t.word}}` } },
})
/** Everything says which side it is of; the default layout is meant where none is named. */
const sideOf = (side: string, { layoutId = 'brand', first = [] as object[] } = {}) => [
  {
    ...{ kind: 'layout', id: layoutId, base: 'any' },
    definition: {
      ...{ layoutId, name: 'Brand', isTranslationEnabled: true, isDefault: true },
      controlValues: {
        email: { body: `<html><body>layout=${side} {{t.word}} {{content}}</body></html>`, editorType: 'html' },
      },
    },
  },
  {
    ...{ kind: 'workflow', id: 'news', base: 'any' },
    definition: {
      ...{ workflowId: 'news', name: 'News', active: true, validatePayload: true, isTranslationEnabled: true },
      steps: [
        ...first,
        inbox(side),
        {
          ...{ stepId: 'mail', name: 'Mail', type: 'email' },
          controlValues: { subject: `step=${side} {{t.word}}`, body: `<p>step=${side}</p>`, editorType: 'html' },
        },
      ],
    },
  },
  {
    ...{ kind: 'translation', id: 'de_DE', base: 'any' },
    definition: {
      workflows: { news: { word: `text=${side}` } },
      layouts: { [layoutId]: { word: `layout-text=${side}` } },
    },
  },
]
async function push(resources: object[], more: object = {}): Promise<void> {
  server.clock.advance({ seconds: 1 })
  const answer = await api.post('/v2/definitions/push', { resources, ...more })
  expect(answer, answer.text).toMatchObject({ status: 200 })
}
/** `step=old`, `text=old`, … of the only mail and the only message in the inbox. */
async function seen(): Promise<{ mail: string[]; inbox: string[] }> {
  const [mail] = vendor.asked.map(({ body }) => JSON.parse(body))
  const marksIn = (text: string) => [...new Set(text.match(/[a-z-]+=(old|new|newer)/g))].sort()
  const [content = ''] = (await contentsOf(api, 'ada')).filter((each) => each?.startsWith('step='))
  return { mail: marksIn(`${mail?.subject} ${mail?.html}`), inbox: marksIn(content) }
}
const whole = (side: string) => ({
  mail: [`layout-text=${side}`, `layout=${side}`, `step=${side}`, `text=${side}`],
  inbox: [`step=${side}`, `text=${side}`],
})

describe('a run whose trigger was accepted before a push', () => {
  test('has the old side, though it starts afterwards', async () => {
    await push(sideOf('old'))
    await trigger(api, 'news', ada)
    await push(sideOf('new'))
    await server.drain()
    expect(await seen()).toEqual(whole('old'))
  })

  test('has the old side, though another process starts it, or starts for the first time', async () => {
    await push(sideOf('old'))
    await trigger(api, 'news', ada)
    await push(sideOf('new'))
    const another = await server.startAnother({ role: 'worker' })
    await another.drain()
    await another.stop()
    await server.drain()
    expect(await seen()).toEqual(whole('old'))
  })

  test('has it after a wait, and after several pushes', async () => {
    await push(sideOf('old', { first: [wait] }))
    await trigger(api, 'news', ada)
    await server.drain()
    for (const side of ['new', 'newer']) await push(sideOf(side))
    await pass(server, { hours: 1 })
    expect(await seen()).toEqual(whole('old'))
  })

  test('has it when a call is repeated', async () => {
    await push(sideOf('old'))
    const transactionId = await trigger(api, 'news', ada)
    vendor.plays(() => ({ status: 503 }))
    await server.drain()
    expect(vendor.asked).toHaveLength(1)
    await push(sideOf('new'))
    vendor.plays(() => ({ body: {} }))
    await pass(server, { hours: 1 })
    expect(vendor.asked).toHaveLength(2)
    vendor.asked.shift()
    expect(await seen()).toEqual(whole('old'))
    expect(await runOf(api, transactionId)).toMatchObject({ status: 'completed' })
  })

  test('has the layout that was the default then, though the push makes another the default and deletes it', async () => {
    await push(sideOf('old'))
    await trigger(api, 'news', ada)
    const after = sideOf('new', { layoutId: 'second' })
    const left = { kind: 'layout', id: 'brand', base: 'any', definition: { layoutId: 'brand', name: 'Left over' } }
    await push([...after, left])
    await push(after, { prune: true })
    expect((await api.get('/v2/layouts/brand')).status).toBe(404)
    await server.drain()
    expect(await seen()).toEqual(whole('old'))
  })

  test('has the texts of then, though the push turns translation off', async () => {
    await push(sideOf('old'))
    await trigger(api, 'news', ada)
    const [layout, workflow] = sideOf('new').map((each) => ({
      ...each,
      definition: { ...each.definition, isTranslationEnabled: false },
    }))
    await push([layout as object, workflow as object])
    await server.drain()
    expect(await seen()).toEqual(whole('old'))
  })

  test('has a layout and its texts of the new side where its workflow stays as it is', async () => {
    await push(sideOf('old'))
    await trigger(api, 'news', ada)
    const [layout] = sideOf('new')
    const [, workflow, { definition }] = sideOf('old') as [object, object, { definition: { workflows: object } }]
    const layouts = { brand: { word: 'layout-text=new' } }
    await push([
      ...[layout as object, workflow],
      { kind: 'translation', id: 'de_DE', base: 'any', definition: { ...definition, layouts } },
    ])
    await server.drain()
    expect(await seen()).toEqual({
      ...whole('old'),
      mail: ['layout-text=new', 'layout=new', 'step=old', 'text=old'],
    })
  })
})

test('a trigger that is accepted after a push has the new side', async () => {
  await push(sideOf('old'))
  await trigger(api, 'news', { ...ada, subscriberId: 'bob' })
  await server.drain()
  vendor.asked.splice(0)
  await push(sideOf('new'))
  await trigger(api, 'news', ada)
  await server.drain()
  expect(await seen()).toEqual(whole('new'))
})

test('a step that is driven again has the texts and layouts that mend it', async () => {
  await push(sideOf('old'))
  const transactionId = await trigger(api, 'news', ada)
  vendor.plays(() => ({ status: 400 }))
  await server.drain()
  await push(sideOf('new'))
  vendor.asked.splice(0)
  vendor.plays(() => ({ body: {} }))
  const { _id } = await runOf(api, transactionId)
  expect((await api.post('/v1/deliveries/redrive', { notificationId: _id })).body).toEqual({
    redriven: 1,
    hasMore: false,
  })
  await server.drain()
  expect((await seen()).mail).toEqual(whole('new').mail)
})
