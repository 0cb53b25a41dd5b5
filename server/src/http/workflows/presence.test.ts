import { expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

const path = '/v2/workflows/welcome/presence'

async function welcome(api: Api) {
  const { body } = await api.post('/v2/workflows', { name: 'Welcome', workflowId: 'welcome', steps: [] })
  return body
}

async function named(api: Api, name: string, role: 'viewer' | 'editor' = 'editor') {
  const person = await signInAs(server, api, role)
  await server.database.db.updateTable('users').set({ name }).where('id', '=', person.id).execute()
  return person
}

const othersOf = async (person: Api, at = path) => {
  const { status, body } = await person.put(at, {})
  expect(status).toBe(200)
  return body.others.map(({ name }: { name: string }) => name)
}

test('people who have the same workflow open are told of each other, for half a minute', async () => {
  const { development: api, production } = await server.freshOrganization()
  const { _id } = await welcome(api)
  await welcome(production)
  await api.post('/v2/workflows', { name: 'Other', workflowId: 'other', steps: [] })
  const [ada, grace, mary] = [await named(api, 'Ada'), await named(api, 'Grace', 'viewer'), await named(api, 'Mary')]
  expect(await othersOf(ada)).toEqual([])
  expect(await othersOf(ada)).toEqual([])
  expect(await othersOf(grace)).toEqual(['Ada'])
  expect(await othersOf(mary, `/v2/workflows/${_id}/presence`)).toEqual(['Ada', 'Grace'])
  expect((await ada.put(path, {})).body.others).toEqual([
    { _id: grace.id, name: 'Grace' },
    { _id: mary.id, name: 'Mary' },
  ])
  expect(await othersOf(mary, '/v2/workflows/other/presence')).toEqual([])
  expect(await othersOf(mary.at(production))).toEqual([])

  server.clock.advance({ seconds: 20 })
  expect(await othersOf(grace)).toEqual(['Ada', 'Mary'])
  server.clock.advance({ seconds: 10 })
  expect(await othersOf(ada)).toEqual(['Grace'])
})

test('whoever shows an older version is told of the newer one, with who saved it when', async () => {
  const { development: api } = await server.freshOrganization()
  await welcome(api)
  const [ada, grace] = [await named(api, 'Ada'), await named(api, 'Grace', 'viewer')]
  expect((await grace.put(path, { version: 1 })).body).toEqual({ others: [] })
  await ada.patch('/v2/workflows/welcome', { name: 'Hello' })
  const savedAt = server.clock.now().toISOString()
  const workflow = (await api.get('/v2/workflows/welcome')).body
  expect((await grace.put(path, { version: 1 })).body).toEqual({
    others: [],
    newer: { version: 2, savedAt, savedBy: { _id: ada.id, name: 'Ada' }, workflow },
  })
  expect((await grace.put(path, { version: 2 })).body).toEqual({ others: [] })
})

test('it is for people who may see the workflow, and is not in the audit log', async () => {
  const { development: api, production } = await server.freshOrganization()
  await welcome(api)
  await welcome(production)
  expect((await api.put(path, {})).body).toMatchObject({ statusCode: 403, code: 'people_only' })
  const owner = await signInAs(server, api, 'owner')
  expect((await owner.put('/v2/workflows/nowhere/presence', {})).body).toMatchObject({ code: 'workflow_not_found' })
  const stranger = await signInAs(server, (await server.freshOrganization()).development, 'owner')
  expect((await stranger.put(path, {})).body).toMatchObject({ code: 'workflow_not_found' })

  const viewer = await signInAs(server, api, 'viewer')
  const closed = JSON.stringify({ [production.environmentId]: 'none' })
  await server.database.db.updateTable('users').set({ environment_roles: closed }).where('id', '=', viewer.id).execute()
  expect((await viewer.at(production).put(path, {})).body).toMatchObject({ code: 'insufficient_role' })
  expect((await viewer.put(path, {})).status).toBe(200)

  expect((await owner.put(path, {})).status).toBe(200)
  expect((await owner.get('/v1/audit')).body.data).toEqual([])
  expect((await owner.put(path, { version: 'x' })).status).toBe(422)
})

test('a protected environment does not stop people from looking', async () => {
  const { development: api } = await server.freshOrganization()
  await welcome(api)
  const owner = await signInAs(server, api, 'owner')
  await owner.patch(`/v2/environments/${api.environmentId}/protection`, { isProtected: true })
  expect((await owner.put(path, {})).status).toBe(200)
})
