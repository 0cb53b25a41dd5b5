// Hole 2 of the review: a key acts in its own environment only.
import { describe, expect, test } from 'vitest'
import { signInAs } from './people.ts'
import { inApp, makeWorkflow } from './runs.ts'
import { type Api, useServer } from './server.ts'

const server = useServer()

const refused = (code: string) => ({ status: 403, body: { code } })

/** Everything of Production that a Development key must leave alone. */
async function stateOf(owner: Api, { environmentId }: Api) {
  const { body: all } = await owner.get('/v1/environments')
  const inProduction = { 'belfry-environment': environmentId }
  return {
    environment: all.find(({ _id }: { _id: string }) => _id === environmentId),
    retention: (await owner.get(`/v2/environments/${environmentId}/retention`)).body,
    variables: (await owner.get('/v1/environment-variables')).body,
    settings: (await owner.get('/v1/organizations/settings')).body,
    workflows: (await owner.get('/v2/workflows', inProduction)).body,
    count: all.length,
  }
}

describe('hole 2: a Development key does not control Production:', () => {
  const attacks: Array<[string, (api: Api, production: string) => Promise<unknown>, string]> = [
    ['publishing', (api, id) => api.post(`/v2/environments/${id}/publish`, {}), 'publish_refused'],
    [
      'publishing with deletions',
      (api, id) => api.post(`/v2/environments/${id}/publish`, { deleteMissing: true }),
      'publish_refused',
    ],
    ['comparing', (api, id) => api.post(`/v2/environments/${id}/diff`, {}), 'publish_refused'],
    [
      'publishing one workflow',
      (api, id) => api.put('/v2/workflows/welcome/sync', { targetEnvironmentId: id }),
      'publish_refused',
    ],
    [
      'its bridge URL',
      (api, id) => api.put(`/v1/environments/${id}`, { bridge: { url: 'https://evil.example.com' } }),
      'foreign_environment',
    ],
    [
      'its inbound domain',
      (api, id) => api.put(`/v1/environments/${id}`, { dns: { inboundParseDomain: 'evil.example.com' } }),
      'foreign_environment',
    ],
    [
      'its identifier',
      (api, id) => api.put(`/v1/environments/${id}`, { identifier: 'taken-over' }),
      'foreign_environment',
    ],
    ['its color', (api, id) => api.put(`/v1/environments/${id}`, { color: '#000000' }), 'foreign_environment'],
    [
      'its retention',
      (api, id) => api.patch(`/v2/environments/${id}/retention`, { activityDays: 1 }),
      'foreign_environment',
    ],
    ['reading its retention', (api, id) => api.get(`/v2/environments/${id}/retention`), 'foreign_environment'],
    ['its tags', (api, id) => api.get(`/v2/environments/${id}/tags`), 'foreign_environment'],
    [
      'its value of a secret variable',
      (api, id) =>
        api.patch('/v1/environment-variables/TOKEN', { values: [{ _environmentId: id, value: 'overwritten' }] }),
      'foreign_environment',
    ],
    [
      'a new variable with a value there',
      (api, id) => api.post('/v1/environment-variables', { key: 'X', values: [{ _environmentId: id, value: 'x' }] }),
      'foreign_environment',
    ],
    [
      'the name of a variable',
      (api) => api.patch('/v1/environment-variables/TOKEN', { key: 'OTHER' }),
      'organization_key_needed',
    ],
    ['deleting a variable', (api) => api.delete('/v1/environment-variables/TOKEN'), 'organization_key_needed'],
    ['a new variable', (api) => api.post('/v1/environment-variables', { key: 'X' }), 'organization_key_needed'],
    [
      'a new environment',
      (api) => api.post('/v1/environments', { name: 'Mine', color: '#000000' }),
      'organization_key_needed',
    ],
    ['deleting it', (api, id) => api.delete(`/v1/environments/${id}`), 'foreign_environment'],
    [
      'settings of the organization',
      (api) => api.patch('/v1/organizations/settings', { defaultLocale: 'de_DE' }),
      'organization_key_needed',
    ],
    [
      'its doors',
      (api, id) => api.patch(`/v2/environments/${id}/doors`, { openToKeys: true }),
      'organization_key_needed',
    ],
    [
      'its own doors',
      (api) => api.patch(`/v2/environments/${api.environmentId}/doors`, { openToKeys: true }),
      'organization_key_needed',
    ],
  ]

  test.each(attacks)('%s is refused and changes nothing', async (_, attack, code) => {
    const { development, production } = await server.freshOrganization()
    const owner = await signInAs(server, development, 'owner')
    await makeWorkflow(development, 'welcome', [inApp('Hello')])
    const values = [{ _environmentId: production.environmentId, value: 'a secret' }]
    await owner.post('/v1/environment-variables', { key: 'TOKEN', isSecret: true, values })
    const before = await stateOf(owner, production)
    expect(await attack(development, production.environmentId)).toMatchObject(refused(code))
    expect(await stateOf(owner, production)).toEqual(before)
  })

  test('it sees neither values nor addresses of other environments', async () => {
    const { development, production } = await server.freshOrganization()
    const owner = await signInAs(server, development, 'owner')
    const values = [development, production].map(({ environmentId }) => ({
      _environmentId: environmentId,
      value: `of ${environmentId}`,
    }))
    await owner.post('/v1/environment-variables', { key: 'PLAIN', values })
    await owner.put(`/v1/environments/${production.environmentId}`, { bridge: { url: 'https://app.example.com' } })
    expect((await development.get('/v1/environment-variables/PLAIN')).body.values).toEqual([values[0]])
    expect((await development.get('/v1/environment-variables')).body).toMatchObject([{ values: [values[0]] }])
    const { body } = await development.get('/v1/environments')
    expect(body).toMatchObject([{ name: 'Development' }, { name: 'Production', bridge: {}, dns: {}, apiKeys: [] }])
    expect(JSON.stringify(body)).not.toContain('app.example.com')
  })

  test('it still administers its own environment', async () => {
    const { development: api } = await server.freshOrganization()
    const owner = await signInAs(server, api, 'owner')
    await owner.post('/v1/environment-variables', { key: 'OWN' })
    const path = `/v1/environments/${api.environmentId}`
    expect(await api.put(path, { bridge: { url: 'https://app.example.com' } })).toMatchObject({ status: 200 })
    expect(await api.patch(`/v2/environments/${api.environmentId}/retention`, { activityDays: 9 })).toMatchObject({
      status: 200,
    })
    const values = [{ _environmentId: api.environmentId, value: 'mine' }]
    expect(await api.patch('/v1/environment-variables/OWN', { values })).toMatchObject({
      status: 200,
      body: { values },
    })
    expect((await api.get(`/v2/environments/${api.environmentId}/doors`)).body).toEqual({
      openToKeys: false,
      isDefault: true,
    })
  })

  test('a key with the right to publish there publishes from its own environment', async () => {
    const { development, production } = await server.freshOrganization()
    await makeWorkflow(development, 'welcome', [inApp('Hello')])
    const path = `/v2/environments/${production.environmentId}/publish`
    const publisher = await server.keyFor(development, [`publish:${production.environmentId}`])
    expect(await publisher.post(path, {})).toMatchObject({ status: 200, body: { summary: { successful: 1 } } })
    expect(await publisher.get('/v2/workflows')).toMatchObject(refused('insufficient_scope'))
    const { _id: staging } = (
      await (await server.organizationOf(development)).post('/v1/environments', { name: 'Staging', color: '#123456' })
    ).body
    expect(await publisher.post(`/v2/environments/${staging}/publish`, {})).toMatchObject(refused('publish_refused'))
    expect(await publisher.post(path, { sourceEnvironmentId: staging })).toMatchObject(refused('foreign_environment'))
  })

  test('a key of the organization reaches every environment, by name', async () => {
    const { development, production } = await server.freshOrganization()
    const key = await server.organizationOf(development)
    await makeWorkflow(key, 'welcome', [inApp('Hello')])
    expect((await development.get('/v2/workflows')).body).toMatchObject({ totalCount: 1 })
    expect(await key.post(`/v2/environments/${production.environmentId}/publish`, {})).toMatchObject({ status: 200 })
    const inProduction = { 'belfry-environment': production.environmentId }
    expect((await key.get('/v2/workflows', inProduction)).body).toMatchObject({ totalCount: 1 })
    expect(await key.get('/v2/workflows', { 'belfry-environment': server.api.environmentId })).toMatchObject({
      status: 404,
      body: { code: 'environment_not_found' },
    })
  })
})

describe('under the brand of the public clients', () => {
  test('publishing with a key is open until the environment closes it', async () => {
    const { url } = await server.startAnother({ brand: 'novu' })
    const { development, production } = await server.freshOrganization()
    const owner = (await signInAs(server, development, 'owner')).at({ url })
    const path = `/v2/environments/${production.environmentId}/publish`
    const send = () => development.send.call({ ...development, url }, 'POST', path, {})
    expect(await send()).toMatchObject({ status: 200 })
    const doors = `/v2/environments/${production.environmentId}/doors`
    expect((await owner.get(doors)).body).toEqual({ openToKeys: true, isDefault: true })
    expect(await owner.patch(doors, { openToKeys: false })).toMatchObject({
      status: 200,
      body: { openToKeys: false, isDefault: false },
    })
    expect(await send()).toMatchObject(refused('publish_refused'))
    expect((await owner.patch(doors, { openToKeys: null })).body).toEqual({ openToKeys: true, isDefault: true })
    expect(await send()).toMatchObject({ status: 200 })
  })

  test('but no key changes where the data of another environment goes', async () => {
    const { url } = await server.startAnother({ brand: 'novu' })
    const { development, production } = await server.freshOrganization()
    const owner = (await signInAs(server, development, 'owner')).at({ url })
    const values = [{ _environmentId: production.environmentId, value: 'a secret' }]
    await owner.post('/v1/environment-variables', { key: 'TOKEN', isSecret: true, values })
    const send = (method: string, path: string, body?: object) =>
      development.send.call({ ...development, url }, method, path, body)
    const path = `/v1/environments/${production.environmentId}`
    for (const body of [{ bridge: { url: 'https://evil.example.com' } }, { identifier: 'x' }, { dns: {} }])
      expect(await send('PUT', path, body)).toMatchObject(refused('foreign_environment'))
    expect(
      await send('PATCH', `/v2/environments/${production.environmentId}/retention`, { activityDays: 1 }),
    ).toMatchObject(refused('foreign_environment'))
    for (const [method, body] of [
      ['PATCH', { isSecret: true }],
      ['PATCH', { key: 'OTHER' }],
      ['DELETE', undefined],
    ] as const)
      expect(await send(method, '/v1/environment-variables/TOKEN', body)).toMatchObject(
        refused('organization_key_needed'),
      )
  })
})
