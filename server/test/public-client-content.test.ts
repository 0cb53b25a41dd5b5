// The public client library, unmodified, with its response validation on, works with layouts and translations.
import { Novu } from '@novu/api'
import { EditorType } from '@novu/api/models/components/emailcontrolsdto.js'
import { ErrorDto } from '@novu/api/models/errors/index.js'
import { beforeEach, expect, test } from 'vitest'
import { type Api, useServer } from './server.ts'

const server = useServer({ brand: 'novu' })
let api: Api
let novu: Novu

beforeEach(async () => {
  api = (await server.freshOrganization()).development
  novu = new Novu({ serverURL: api.url, secretKey: api.key, retryConfig: { strategy: 'none' } })
})

test('layouts: create, conflict, list, retrieve, update, preview, usage, duplicate, delete', async () => {
  const created = await novu.layouts.create({ layoutId: 'letter', name: 'Letter' })
  expect(created.result).toMatchObject({
    layoutId: 'letter',
    name: 'Letter',
    isDefault: false,
    isTranslationEnabled: false,
    origin: 'novu-cloud',
    type: 'BRIDGE',
  })
  const conflict = await novu.layouts.create({ layoutId: 'letter', name: 'Letter' }).catch((error: unknown) => error)
  expect(conflict).toBeInstanceOf(ErrorDto)
  expect(conflict).toMatchObject({ statusCode: 409 })

  const list = await novu.layouts.list({ limit: 10, query: 'lett' })
  expect(list.result).toMatchObject({ totalCount: 1, layouts: [{ layoutId: 'letter' }] })
  expect((await novu.layouts.retrieve(created.result.slug)).result).toEqual(created.result)

  const body = '<html><body><h1>Hi {{subscriber.firstName}}</h1>{{content}}</body></html>'
  const updated = await novu.layouts.update(
    { name: 'Letter', controlValues: { email: { body, editorType: EditorType.Html } } },
    'letter',
  )
  expect(updated.result.controls.values.email).toEqual({ body, editorType: 'html' })
  const refused = await novu.layouts
    .update({ name: 'Letter', controlValues: { email: { body: '<p></p>', editorType: EditorType.Html } } }, 'letter')
    .catch((error: unknown) => error)
  expect(refused).toMatchObject({ statusCode: 400 })

  const preview = await novu.layouts.generatePreview({ previewPayload: { subscriber: { firstName: 'Ada' } } }, 'letter')
  expect(preview.result.result.preview?.body).toContain('Hi Ada')
  expect(preview.result.previewPayloadExample.subscriber?.firstName).toBe('Ada')
  expect((await novu.layouts.usage('letter')).result.workflows).toEqual([])
  const copy = await novu.layouts.duplicate({ name: 'Second letter' }, 'letter')
  expect(copy.result).toMatchObject({ layoutId: 'second-letter', controls: { values: { email: { body } } } })
  await novu.layouts.delete('second-letter')
  const missing = await novu.layouts.retrieve('second-letter').catch((error: unknown) => error)
  expect(missing).toMatchObject({ statusCode: 404 })
})

test('translations: write, retrieve, group, upload, delete', async () => {
  await (await server.organizationOf(api)).patch('/v1/organizations/settings', {
    targetLocales: ['fr_FR'],
    removeNovuBranding: true,
  })
  await novu.layouts.create({ layoutId: 'letter', name: 'Letter', isTranslationEnabled: true })
  const written = await novu.translations.create({
    resourceId: 'letter',
    resourceType: 'layout',
    locale: 'en_US',
    content: { greeting: { morning: 'Good morning' } },
  })
  expect(written).toMatchObject({ resourceId: 'letter', locale: 'en_US' })
  const retrieved = await novu.translations.retrieve({ resourceType: 'layout', resourceId: 'letter', locale: 'en_US' })
  expect(retrieved.content).toEqual({ greeting: { morning: 'Good morning' } })
  expect(await novu.translations.groups.retrieve('layout', 'letter')).toMatchObject({
    resourceName: 'Letter',
    locales: ['en_US', 'fr_FR'],
    outdatedLocales: ['fr_FR'],
  })

  const content = new TextEncoder().encode('{"greeting":{"morning":"Bonjour"}}')
  const uploaded = await novu.translations.upload({
    resourceId: 'letter',
    resourceType: 'layout',
    files: [{ fileName: 'fr_FR.json', content }],
  })
  expect(uploaded).toEqual({ totalFiles: 1, successfulUploads: 1, failedUploads: 0, errors: [] })
  expect((await novu.translations.groups.retrieve('layout', 'letter')).outdatedLocales).toBeUndefined()
  await novu.translations.delete({ resourceType: 'layout', resourceId: 'letter', locale: 'fr_FR' })
  await novu.translations.groups.delete('layout', 'letter')
  const gone = await novu.translations.groups.retrieve('layout', 'letter').catch((error: unknown) => error)
  expect(gone).toMatchObject({ statusCode: 404 })
})

test('translations: master JSON out and in', async () => {
  await novu.layouts.create({ layoutId: 'letter', name: 'Letter', isTranslationEnabled: true })
  const imported = await novu.translations.master.import({
    locale: 'zh_CN',
    masterJson: { layouts: { letter: { hello: 'Ni hao' }, nope: {} } },
  })
  expect(imported).toMatchObject({ success: true, successful: ['letter'], failed: ['nope'] })
  const exported = await novu.translations.master.retrieve('zh_CN')
  expect(exported).toEqual({ workflows: {}, layouts: { letter: { hello: 'Ni hao' } } })
  const file = { fileName: 'zh_CN.json', content: new TextEncoder().encode(JSON.stringify(exported)) }
  expect(await novu.translations.master.upload({ file })).toMatchObject({ successful: ['letter'] })
})
