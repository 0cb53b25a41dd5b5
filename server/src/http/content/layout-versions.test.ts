// Layouts: what is read can be written back, versions and revisions. files.md §1.
import { beforeEach, describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
beforeEach(async () => {
  api = await server.freshApi()
})

const path = '/v2/layouts/brand'
const upsert = `${path}?upsert=true`
const html = (text: string) => `<html><body>${text}{{content}}</body></html>`
const content = (text: string) => ({ email: { body: html(text), editorType: 'html' } })

const versions = async () =>
  (
    await server.database.db
      .selectFrom('layout_versions')
      .innerJoin('layouts', 'layouts.id', 'layout_versions.layout_id')
      .select(['layout_versions.version', 'layout_versions.definition'])
      .where('layout_versions.environment_id', '=', api.environmentId)
      .where('layouts.identifier', '=', 'brand')
      .orderBy('layout_versions.version')
      .execute()
  ).map(({ version, definition }) => [version, definition.name])

describe('PUT with upsert', () => {
  test('makes the layout with its content in one request, then changes it', async () => {
    expect((await api.put(path, { name: 'Brand' })).status).toBe(404)
    const made = await api.put(upsert, { name: 'Brand', layoutId: 'brand', controlValues: content('A') })
    expect(made).toMatchObject({
      status: 201,
      body: { layoutId: 'brand', isDefault: false, version: 1, controls: { values: content('A') } },
    })
    const changed = await api.put(upsert, { name: 'Brand', controlValues: content('B') })
    expect(changed).toMatchObject({ status: 200, body: { _id: made.body._id, version: 2 } })
    expect((await api.put('/v2/layouts/plain?upsert=true', { name: 'Plain' })).body.controls.values).toHaveProperty(
      'email',
    )
  })

  test('refuses another identifier in the body, one that cannot be one, and content that cannot be shown', async () => {
    expect((await api.put(upsert, { name: 'Brand', layoutId: 'other' })).status).toBe(422)
    expect((await api.put('/v2/layouts/a%20b?upsert=true', { name: 'Brand' })).status).toBe(422)
    const controlValues = { email: { body: 'no document', editorType: 'html' } }
    expect(await api.put(upsert, { name: 'Brand', controlValues })).toMatchObject({ body: { code: 'layout_invalid' } })
    expect((await api.get(path)).status).toBe(404)
    await api.put(upsert, { name: 'Brand' })
    expect((await api.put(upsert, { name: 'Brand', layoutId: 'other' })).status).toBe(422)
  })

  test('of two at the same moment one makes it; with If-None-Match: * it is never changed', async () => {
    const names = ['a', 'b', 'c', 'd']
    const answers = await Promise.all(names.map((name) => api.put(upsert, { name })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201])
    expect(await api.put(upsert, { name: 'Again' }, { 'if-none-match': '*' })).toMatchObject({
      status: 412,
      body: { code: 'revision_changed' },
    })
    expect((await api.put('/v2/layouts/new?upsert=true', { name: 'New' }, { 'if-none-match': '*' })).status).toBe(201)
    expect((await api.put('/v2/layouts/none?upsert=true', { name: 'New' }, { 'if-match': '*' })).status).toBe(412)
  })
})

test('a change that changes nothing writes no version; every other one does', async () => {
  const { body } = await api.put(upsert, { name: 'Brand', controlValues: content('A') })
  server.clock.advance({ minutes: 1 })
  const same = await api.put(path, { ...body, controlValues: body.controls.values })
  expect(same.body).toEqual(body)
  expect((await api.put(path, (await api.get(path)).body)).body).toEqual(body)
  await api.put(path, { name: 'Renamed' })
  await api.post('/v1/layouts/brand/default')
  await api.put(path, { name: 'Renamed', isTranslationEnabled: true })
  await api.delete('/v2/translations/layout/brand')
  const names = ['Brand', 'Renamed', 'Renamed', 'Renamed', 'Renamed']
  expect(await versions()).toEqual(names.map((name, index) => [index + 1, name]))
  expect((await api.get(path)).body).toMatchObject({ version: 5, isDefault: true, isTranslationEnabled: false })
})

test('PUT and DELETE obey If-Match', async () => {
  const made = await api.put(upsert, { name: 'Brand' })
  const tag = made.headers.get('etag') ?? ''
  expect(tag).toBe(`"${made.body.revision}"`)
  const put = await api.put(path, { name: 'Mine' }, { 'if-match': tag })
  expect(put.status).toBe(200)
  expect(await api.put(path, { name: 'Stale' }, { 'if-match': tag })).toMatchObject({
    status: 412,
    body: { code: 'revision_changed', ctx: { revision: put.body.revision, version: 2 } },
  })
  expect((await api.delete(path, undefined, { 'if-match': tag })).status).toBe(412)
  expect((await api.delete(path, undefined, { 'if-match': `"${put.body.revision}"` })).status).toBe(204)
})
