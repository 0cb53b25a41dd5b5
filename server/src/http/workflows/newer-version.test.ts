import { describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

const path = '/v2/workflows/welcome'
const controlValues = { subject: 'Hello', body: 'Text' }

/** A new workflow, and the body of a PUT that changes these fields. */
async function welcome(api: Api) {
  const { status, body } = await api.post('/v2/workflows', {
    ...{ name: 'Welcome', workflowId: 'welcome' },
    steps: [{ name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues }],
  })
  expect(status).toBe(201)
  const change = (fields: object) => {
    const { name, steps, origin, preferences } = body
    return { name, steps, origin, preferences: { workflow: preferences.default, user: null }, ...fields }
  }
  return { first: body, change }
}

describe('a save that says on which version it is based', () => {
  test('is stored if nobody saved since, and makes the next version', async () => {
    const { development: api } = await server.freshOrganization()
    const { first, change } = await welcome(api)
    expect(first.version).toBe(1)
    const put = await api.put(path, change({ name: 'Second', baseVersion: 1 }))
    expect([put.status, put.body.version, put.body.name]).toEqual([200, 2, 'Second'])
    const patched = await api.patch(path, { name: 'Third', baseVersion: 2 })
    expect([patched.status, patched.body.version, patched.body.name]).toEqual([200, 3, 'Third'])
    expect((await api.get(path)).body).toMatchObject({ version: 3, name: 'Third' })
  })

  test.each(['PUT', 'PATCH'])(
    'is refused by %s otherwise, with the stored workflow and who saved it when',
    async (method) => {
      const { development: api } = await server.freshOrganization()
      const { change } = await welcome(api)
      const ada = await signInAs(server, api, 'editor')
      server.clock.advance({ minutes: 1 })
      expect((await ada.patch(path, { description: 'From Ada' })).status).toBe(200)
      const savedAt = server.clock.now().toISOString()
      server.clock.advance({ minutes: 1 })
      const stored = (await api.get(path)).body
      const refused = await api.send(method, path, change({ name: 'Mine', baseVersion: 1 }))
      expect(refused.status).toBe(409)
      expect(refused.body).toMatchObject({ code: 'workflow_changed', message: expect.stringContaining('version 2') })
      expect(refused.body.ctx).toMatchObject({
        ...{ version: 2, savedAt, savedBy: { _id: ada.id, name: 'An editor' } },
        workflow: stored,
      })
      expect((await api.get(path)).body).toEqual(stored)
    },
  )

  test('is refused too if the stored version is older, as after a restored backup', async () => {
    const { development: api } = await server.freshOrganization()
    const { change } = await welcome(api)
    expect((await api.put(path, change({ baseVersion: 7 }))).body).toMatchObject({ code: 'workflow_changed' })
  })

  test('names nobody if the account is gone', async () => {
    const { development: api } = await server.freshOrganization()
    const { change } = await welcome(api)
    const ada = await signInAs(server, api, 'editor')
    await ada.patch(path, { description: 'From Ada' })
    await server.database.db.deleteFrom('users').where('id', '=', ada.id).execute()
    const { body } = await api.put(path, change({ baseVersion: 1 }))
    expect(body.ctx.savedBy).toEqual({ _id: ada.id, name: null })
  })

  test('wins once, if many arrive at the same moment', async () => {
    const { development: api } = await server.freshOrganization()
    const { change } = await welcome(api)
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const answers = await Promise.all(names.map((name) => api.put(path, change({ name, baseVersion: 1 }))))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    const winner = answers.find(({ status }) => status === 200)?.body
    for (const { status, body } of answers) if (status === 409) expect(body.ctx.workflow.name).toBe(winner.name)
    expect((await api.get(path)).body).toMatchObject({ version: 2, name: winner.name })
  })

  test.each([0, 1.5, '1'])('must name it by a number, not %j', async (baseVersion) => {
    const { development: api } = await server.freshOrganization()
    const { change } = await welcome(api)
    expect((await api.put(path, change({ baseVersion }))).status).toBe(422)
    expect((await api.patch(path, { name: 'x', baseVersion })).status).toBe(422)
  })
})

test('without a version, or with null, the last save wins', async () => {
  const { development: api } = await server.freshOrganization()
  const { change } = await welcome(api)
  expect((await api.put(path, change({ name: 'Second' }))).status).toBe(200)
  expect((await api.put(path, change({ name: 'Third', baseVersion: null }))).status).toBe(200)
  expect((await api.patch(path, { description: 'Fourth', baseVersion: null })).body).toMatchObject({
    ...{ name: 'Third', description: 'Fourth', version: 4 },
  })
  expect((await api.patch(path, { baseVersion: 1 })).body).toMatchObject({ version: 4 })
})
