// What files own, and who else may change it: files.md §3.4.
import { beforeEach, describe, expect, test } from 'vitest'
import { brand, comments, definitionsOf, german, layout, mail, workflow } from '../../../test/definitions.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
let other: Api
beforeEach(async () => {
  ;({ development: api, production: other } = await server.freshOrganization())
})

const { push, pushed, read, one } = definitionsOf(() => api)

describe('what files own', () => {
  const source = { repository: 'acme/app', commit: '8f3c', url: 'https://example.com/8f3c' }

  test('says so in answers, and when it drifted', async () => {
    await pushed([workflow(comments(), { path: 'workflows/comments/workflow.yaml' }), layout()], { source })
    const pushedAt = server.clock.now().toISOString()
    server.clock.advance({ minutes: 5 })
    const files = { ...source, path: 'workflows/comments/workflow.yaml', pushedAt, drifted: false }
    expect((await api.get('/v2/workflows/comments')).body.files).toMatchObject(files)
    expect((await api.get('/v2/layouts/brand')).body.files).toMatchObject({ ...source, path: null })
    expect((await api.patch('/v2/workflows/comments', { description: 'Else' })).body.files.drifted).toBe(true)
    expect((await one('workflow', 'comments')).files.drifted).toBe(true)
    expect((await one('layout', 'default-layout')).files).toBeNull()
  })

  test('is changed by nobody else under refuse, until it is released', async () => {
    await pushed([workflow(comments({ steps: [mail({ layoutId: 'brand' })] }), { path: 'w.yaml' }), layout()])
    expect((await api.get('/v2/definitions/settings')).body).toEqual({ edits: 'warn' })
    expect((await api.patch('/v2/definitions/settings', { edits: 'refuse' })).body).toEqual({ edits: 'refuse' })
    const refused = { status: 409, body: { code: 'owned_by_files' } }
    expect(await api.patch('/v2/workflows/comments', { description: 'Else' })).toMatchObject({
      ...refused,
      body: { message: '"comments" is kept in files (w.yaml); change it there, or release it' },
    })
    expect(await api.delete('/v2/workflows/comments')).toMatchObject(refused)
    expect(await api.put('/v2/layouts/brand', { name: 'Else' })).toMatchObject(refused)
    expect(await api.delete('/v2/layouts/brand')).toMatchObject(refused)
    expect((await api.patch('/v2/workflows/comments', { name: 'Comments' })).status).toBe(200)
    expect((await api.put('/v2/layouts/default-layout', { name: 'Mine' })).status).toBe(200)
    expect((await push([workflow(comments({ name: 'Pushed' }))])).status).toBe(200)
    const resources = [
      { kind: 'workflow', id: 'comments' },
      { kind: 'workflow', id: 'unknown' },
    ]
    expect((await api.post('/v2/definitions/release', { resources })).body).toEqual({ released: 1 })
    expect((await api.patch('/v2/workflows/comments', { description: 'Else' })).status).toBe(200)
    expect((await api.get('/v2/workflows/comments')).body).not.toHaveProperty('files')
    expect((await api.patch('/v2/definitions/settings', { edits: 'never' })).status).toBe(422)
  })

  test('is not changed by the way either, where that is refused', async () => {
    const own = layout(brand('A', { isDefault: true }))
    await pushed([workflow(comments({ steps: [mail({ layoutId: 'mine' })] })), own].slice(1))
    await api.put('/v2/layouts/mine?upsert=true', { name: 'Mine' })
    await pushed([workflow(comments({ steps: [mail({ layoutId: 'mine' })] })), own])
    await api.patch('/v2/workflows/comments', { description: 'Else' })
    await api.put('/v2/layouts/brand', { name: 'Else' })
    await api.patch('/v2/definitions/settings', { edits: 'refuse' })
    const before = await read()
    const refused = { status: 409, body: { code: 'owned_by_files' } }
    expect(await api.post('/v2/workflows/comments/versions/1/restore')).toMatchObject(refused)
    expect(await api.post('/v2/layouts/brand/versions/1/restore')).toMatchObject(refused)
    expect(await api.post('/v2/workflows?onConflict=update', comments())).toMatchObject(refused)
    expect(await api.put('/v2/workflows/comments?upsert=true', comments())).toMatchObject(refused)
    // The default layout that files own would no longer be it, and the workflow would lose its layout.
    expect(await api.post('/v1/layouts/mine/default')).toMatchObject(refused)
    expect(await api.delete('/v2/layouts/mine')).toMatchObject(refused)
    expect(await read()).toEqual(before)
    expect((await api.put('/v2/layouts/mine', { name: 'Still mine' })).status).toBe(200)
  })

  test('is not changed by an import either, where that is refused', async () => {
    const translated = comments({ isTranslationEnabled: true })
    const all = [workflow(translated), layout(), german({ comments: { hi: 'Hallo' } })]
    await pushed(all)
    await api.patch('/v2/definitions/settings', { edits: 'refuse' })
    const imported = { source: { importedFrom: 'novu' } }
    const refused = { status: 409, body: { code: 'owned_by_files' } }
    for (const resource of [
      ...[workflow(comments({ ...translated, name: 'Theirs' })), layout(brand('Theirs'))],
      german({ comments: { hi: 'Servus' } }),
    ])
      expect(await push([{ ...resource, base: 'any' }], imported)).toMatchObject(refused)
    expect(
      await push([workflow(translated), german({ comments: { hi: 'Hallo' } })], { ...imported, prune: true }),
    ).toMatchObject(refused)
    expect((await push([...all, workflow(comments({ workflowId: 'new' }))], imported)).status).toBe(200)
    expect((await api.get('/v2/workflows/new')).body).not.toHaveProperty('files')
  })

  test('can be published over, also under refuse', async () => {
    const [here, there] = [await server.organizationOf(api), other]
    await pushed([workflow()], {}, there)
    await there.patch('/v2/definitions/settings', { edits: 'refuse' })
    await api.post('/v2/workflows', comments({ name: 'Published' }))
    const sync = await here.put('/v2/workflows/comments/sync', { targetEnvironmentId: there.environmentId })
    expect(sync).toMatchObject({ status: 200, body: { name: 'Published' } })
  })
})

describe('texts that files own', () => {
  const write = (content: object, locale = 'de_DE', resourceType = 'workflow', resourceId = 'comments') =>
    api.post('/v2/translations', { resourceType, resourceId, locale, content })
  const texts = async (locale = 'de_DE') =>
    (await api.get(`/v2/translations/workflow/comments/${locale}`)).body?.content
  const numbers = async (of: string) => (await api.get(`${of}/versions`)).body.data.map(({ version }: any) => version)

  test('are not changed by others under refuse', async () => {
    await pushed([workflow(comments({ isTranslationEnabled: true })), german({ comments: { hi: 'Hallo' } })])
    await api.patch('/v2/definitions/settings', { edits: 'refuse' })
    expect(await write({ hi: 'Servus' })).toMatchObject({ status: 409, body: { code: 'owned_by_files' } })
    expect((await api.delete('/v2/translations/workflow/comments/de_DE')).status).toBe(409)
    expect((await write({ hi: 'Bonjour' }, 'fr_FR')).status).toBe(200)
    expect(await texts()).toEqual({ hi: 'Hallo' })
  })

  test('are not restored, copied, switched off or deleted by others under refuse', async () => {
    const [path, layoutPath] = ['/v2/workflows/comments', '/v2/layouts/brand']
    await api.post('/v2/workflows', comments({ isTranslationEnabled: true }))
    await api.put(`${layoutPath}?upsert=true`, { name: 'Brand', isTranslationEnabled: true })
    await write({ hi: 'Servus' })
    await write({ bye: 'Tschüs' }, 'de_DE', 'layout', 'brand')
    const pushed = await api.post('/v2/definitions/push', {
      resources: [
        {
          ...{ kind: 'translation', id: 'de_DE', base: 'any', path: 'translations/de_DE.json' },
          definition: { workflows: { comments: { hi: 'Hallo' } }, layouts: { brand: { bye: 'Ade' } } },
        },
      ],
    })
    expect(pushed.status, pushed.text).toBe(200)
    await api.patch('/v2/definitions/settings', { edits: 'refuse' })
    const before = (await api.get('/v2/definitions')).body
    const numbersBefore = [await numbers(path), await numbers(layoutPath)]
    const refused = {
      status: 409,
      body: {
        ...{ code: 'owned_by_files', ctx: { kind: 'translation', id: 'de_DE' } },
        message: '"de_DE" is kept in files (translations/de_DE.json); change it there, or release it',
      },
    }
    // With other texts, and with none.
    for (const version of [2, 1])
      for (const each of [path, layoutPath])
        expect(await api.post(`${each}/versions/${version}/restore`)).toMatchObject(refused)
    expect(await api.patch(path, { isTranslationEnabled: false })).toMatchObject(refused)
    expect(await api.put(layoutPath, { name: 'Brand', isTranslationEnabled: false })).toMatchObject(refused)
    expect(await api.delete('/v2/translations/workflow/comments')).toMatchObject(refused)
    expect(await api.delete('/v2/translations/layout/brand')).toMatchObject(refused)
    expect(await api.post(`${path}/duplicate`, { name: 'Copy' })).toMatchObject(refused)
    expect(await api.post(`${layoutPath}/duplicate`, { name: 'Copy' })).toMatchObject(refused)
    expect(await api.delete(path)).toMatchObject(refused)
    expect(await api.delete(layoutPath)).toMatchObject(refused)
    expect((await api.get('/v2/definitions')).body).toEqual(before)
    expect([await numbers(path), await numbers(layoutPath)]).toEqual(numbersBefore)
    // What leaves these texts alone goes on.
    expect((await api.patch(path, { name: 'Else' })).status).toBe(200)
    expect((await api.post(`${path}/versions/3/restore`)).body).toMatchObject({ name: 'Comments', version: 5 })
    const copy = { name: 'Copy', isTranslationEnabled: false }
    expect((await api.post(`${path}/duplicate`, copy)).status).toBe(201)
    await api.post('/v2/definitions/release', { resources: [{ kind: 'translation', id: 'de_DE' }] })
    expect((await api.post(`${path}/versions/2/restore`)).status).toBe(200)
    expect(await texts()).toEqual({ hi: 'Servus' })
  })
})
