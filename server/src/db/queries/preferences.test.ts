import { expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'
import { addWorkflow } from '../../../test/workflows.ts'
import { readRecipients } from './preferences.ts'
import { readChoices } from './subscription-preferences.ts'

const server = useServer()
const schedule = { isEnabled: true, weeklySchedule: { monday: { isEnabled: true } } }

async function idsOf(api: Api, names: string[]): Promise<string[]> {
  await api.post('/v1/subscribers/bulk', { subscribers: names.map((subscriberId) => ({ subscriberId })) })
  const ids = names.map(async (name) => (await api.get(`/v2/subscribers/${name}`)).body._id)
  return Promise.all(ids)
}

test('preferences of many subscribers for one workflow are read in one statement, for exactly these contexts', async () => {
  const api = await server.freshApi()
  const names = ['ada', 'bob', 'cid', 'dan', 'eve']
  const [ada, bob, cid, dan, eve] = (await idsOf(api, names)) as [string, string, string, string, string]
  const workflowId = await addWorkflow(server, api.environmentId, 'news')
  await addWorkflow(server, api.environmentId, 'other')
  const set = (name: string, body: object) => api.patch(`/v2/subscribers/${name}/preferences`, body)
  await set('ada', { workflowId: 'news', channels: { email: false } })
  await set('ada', { channels: { sms: false }, schedule })
  await set('bob', { channels: { email: true } })
  await set('cid', { workflowId: 'news', channels: { push: true } })
  await set('dan', { workflowId: 'other', channels: { push: true } })
  await set('eve', { channels: { push: false }, context: { tenant: 'acme' } })

  const of = { environmentId: api.environmentId, workflowId, contextKeys: [] }
  expect(await readRecipients(server.database.db, of, [ada, bob, cid, dan, eve, 'nobody'])).toEqual(
    new Map([
      [ada, { global: { sms: false }, workflow: { email: false }, schedule }],
      [bob, { global: { email: true }, workflow: undefined, schedule: null }],
      [cid, { global: undefined, workflow: { push: true }, schedule: null }],
    ]),
  )
  const inContext = { ...of, contextKeys: ['tenant:acme'] }
  expect(await readRecipients(server.database.db, inContext, [ada, eve])).toEqual(
    new Map([[eve, { global: { push: false }, workflow: undefined, schedule: null }]]),
  )
  const elsewhere = { ...of, environmentId: (await server.freshApi()).environmentId }
  expect(await readRecipients(server.database.db, elsewhere, [ada])).toEqual(new Map())
})

test('preferences of many topic subscriptions for one workflow are read in one statement', async () => {
  const api = await server.freshApi()
  await idsOf(api, ['ada', 'bob', 'cid'])
  const workflowId = await addWorkflow(server, api.environmentId, 'news')
  await addWorkflow(server, api.environmentId, 'other')
  const condition = { '==': [{ var: 'payload.a' }, 1] }
  const subscribe = async (name: string, preferences: object[]) =>
    (await api.post('/v2/topics/t/subscriptions', { subscriptions: [name], preferences })).body.data[0]._id as string
  const ids = [
    await subscribe('ada', [{ workflowId: 'news', enabled: false }]),
    await subscribe('bob', [{ workflowId: 'news', condition }]),
    await subscribe('cid', [{ workflowId: 'other', enabled: false }]),
  ] as const
  expect(await readChoices(server.database.db, api.environmentId, workflowId, [...ids])).toEqual(
    new Map([
      [ids[0], { enabled: false, condition: null }],
      [ids[1], { enabled: true, condition }],
    ]),
  )
})
