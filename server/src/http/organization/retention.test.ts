import { expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer({ retention: { activityDays: 90, messageDays: 365 } })
const place = ({ environmentId }: Api) => `/v2/environments/${environmentId}/retention`
const usual = { activityDays: 90, messageDays: 365, inboxDays: 365 }

test('an environment uses the retention of the service until it sets its own', async () => {
  const api = await server.freshApi()
  const nothing = { activityDays: null, messageDays: null, inboxDays: null }
  expect((await api.get(place(api))).body).toEqual({ ...nothing, usual })
  const changed = await api.patch(place(api), { activityDays: 30, inboxDays: 0 })
  expect(changed).toMatchObject({ status: 200, body: { ...nothing, activityDays: 30, inboxDays: 0, usual } })
  // Absent fields stay; null resets to the service's setting.
  await api.patch(place(api), { messageDays: 14, inboxDays: null })
  expect((await api.get(place(api))).body).toEqual({ activityDays: 30, messageDays: 14, inboxDays: null, usual })
  const other = await server.freshApi()
  expect((await other.get(place(other))).body).toMatchObject(nothing)
  const [entry] = (await api.get('/v1/audit?action=environment.retention-changed')).body.data
  expect(entry).toMatchObject({ target: { id: api.environmentId }, details: { fields: ['messageDays', 'inboxDays'] } })
})

test.each([
  ['a negative number', { activityDays: -1 }],
  ['a part of a day', { messageDays: 1.5 }],
  ['more than a hundred years', { inboxDays: 36_501 }],
  ['no number', { inboxDays: 'long' }],
])('%s is refused', async (_, body) => {
  const api = await server.freshApi()
  expect((await api.patch(place(api), body)).status).toBe(422)
  expect((await api.get(place(api))).body).toMatchObject({ activityDays: null, messageDays: null, inboxDays: null })
})

test("another organization's environment is not found", async () => {
  const api = await server.freshApi()
  const { development } = await server.freshOrganizationWide()
  for (const method of ['GET', 'PATCH'])
    expect(
      await development.send(method, place(api), method === 'GET' ? undefined : { activityDays: 1 }),
    ).toMatchObject({
      status: 404,
      body: { code: 'environment_not_found' },
    })
  expect((await api.get(place(api))).body.activityDays).toBeNull()
})
