import { describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'
import { loadTranslations } from '../../db/queries/translations.ts'

const server = useServer()
const settings = '/v1/organizations/settings'

/** A translated layout in its own organization. */
async function translatedLayout(locales: { defaultLocale?: string; targetLocales?: string[] } = {}) {
  const { development: api, production: other } = await server.freshOrganization()
  await (await server.organizationOf(api)).patch(settings, locales)
  const { body: layout } = await api.post('/v2/layouts', { layoutId: 'mail', name: 'Mail', isTranslationEnabled: true })
  const write = (locale: string, content: object) =>
    api.post('/v2/translations', { resourceId: 'mail', resourceType: 'layout', locale, content })
  const group = () => api.get('/v2/translations/group/layout/mail')
  return { api, other, layout, write, group }
}

async function addWorkflow(api: Api, identifier: string, isTranslationEnabled = true) {
  const now = server.clock.now()
  const id = `${Math.floor(now.getTime() / 1000).toString(16)}${Buffer.from(identifier.padEnd(8, '0').slice(0, 8)).toString('hex')}`
  await server.database.db
    .insertInto('workflows')
    .values({
      environment_id: api.environmentId,
      id,
      identifier,
      name: `Workflow ${identifier}`,
      is_translation_enabled: isTranslationEnabled,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return id
}

describe('texts in one locale', () => {
  test('are written, replaced as a whole, read back in their order, and deleted', async () => {
    const { api, write } = await translatedLayout()
    const first = await write('fr-FR', { zebra: 'Z', apple: { pie: 'Tarte' }, 'dotted.key': 'D' })
    expect(first).toMatchObject({
      status: 200,
      body: {
        resourceId: 'mail',
        resourceType: 'layout',
        locale: 'fr_FR',
        createdAt: server.clock.now().toISOString(),
      },
    })
    server.clock.advance({ minutes: 1 })
    const second = await write('fr_FR', { zebra: 'Zz', hello: 'Bonjour' })
    expect(second.body).toMatchObject({
      createdAt: first.body.createdAt,
      updatedAt: server.clock.now().toISOString(),
      content: { zebra: 'Zz', hello: 'Bonjour' },
    })
    const path = '/v2/translations/layout/mail/fr_FR'
    expect((await api.get(path)).text).toContain('"content":{"zebra":"Zz","hello":"Bonjour"}')
    expect((await api.get('/v2/translations/layout/mail/fr-FR')).body).toEqual(second.body)
    expect(await api.delete(path)).toMatchObject({ status: 204, text: '' })
    expect(await api.get(path)).toMatchObject({
      status: 404,
      body: { message: 'The layout "mail" has no translation for fr_FR' },
    })
    expect((await api.delete(path)).status).toBe(404)
  })

  test('belong to a resource named by identifier, slug or id', async () => {
    const { api, layout, write } = await translatedLayout()
    await write('fr_FR', { hello: 'Bonjour' })
    for (const name of ['mail', layout.slug, layout._id]) {
      const answer = await api.get(`/v2/translations/layout/${name}/fr_FR`)
      expect(answer.body).toMatchObject({ resourceId: 'mail', content: { hello: 'Bonjour' } })
    }
  })

  test('of a workflow and of a layout with the same identifier are separate', async () => {
    const { api, write } = await translatedLayout()
    await addWorkflow(api, 'mail')
    await write('fr_FR', { of: 'layout' })
    const body = { resourceId: 'mail', resourceType: 'workflow', locale: 'fr_FR', content: { of: 'workflow' } }
    expect((await api.post('/v2/translations', body)).status).toBe(200)
    expect((await api.get('/v2/translations/layout/mail/fr_FR')).body.content).toEqual({ of: 'layout' })
    expect((await api.get('/v2/translations/workflow/mail/fr_FR')).body.content).toEqual({ of: 'workflow' })
  })

  test.each([
    [{ locale: 'fr' }, 'locale must be a language with its region, such as en_US'],
    [{ locale: undefined }, 'locale should not be empty'],
    [{ content: 'text' }, 'content must be an object'],
    [{ content: [] }, 'content must be an object'],
    [{ resourceType: 'step' }, 'resourceType must be one of the following values: workflow, layout'],
    [{ resourceId: '' }, 'resourceId should not be empty'],
  ])('%j is refused', async (change, message) => {
    const { api, group } = await translatedLayout()
    const body = { resourceId: 'mail', resourceType: 'layout', locale: 'fr_FR', content: {}, ...change }
    const answer = await api.post('/v2/translations', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
    expect((await group()).body.locales).toEqual(['en_US'])
  })

  test('a locale in a path must be supported too', async () => {
    const { api } = await translatedLayout()
    for (const method of ['GET', 'DELETE'])
      expect(await api.send(method, '/v2/translations/layout/mail/french')).toMatchObject({
        status: 400,
        body: { message: 'locale must be a language with its region, such as en_US' },
      })
    expect((await api.get('/v2/translations/step/mail/fr_FR')).status).toBe(422)
  })

  test('need an existing resource with translation on', async () => {
    const { api, other } = await translatedLayout()
    await api.post('/v2/layouts', { layoutId: 'plain', name: 'Plain' })
    const body = { resourceType: 'layout', locale: 'fr_FR', content: {} }
    const disabled = 'Translation is not enabled for the layout "plain"; set its isTranslationEnabled to true first'
    const unknown = 'There is no layout with the identifier "nope"'
    for (const [resourceId, message] of [
      ['plain', disabled],
      ['nope', unknown],
    ]) {
      const refused = { status: 404, body: { message } }
      expect(await api.post('/v2/translations', { ...body, resourceId })).toMatchObject(refused)
      expect(await api.get(`/v2/translations/layout/${resourceId}/fr_FR`)).toMatchObject(refused)
      expect(await api.delete(`/v2/translations/layout/${resourceId}/fr_FR`)).toMatchObject(refused)
      expect(await api.get(`/v2/translations/group/layout/${resourceId}`)).toMatchObject(refused)
      expect(await api.delete(`/v2/translations/layout/${resourceId}`)).toMatchObject(refused)
    }
    expect((await other.get('/v2/translations/group/layout/mail')).status).toBe(404)
    expect((await other.delete('/v2/translations/layout/mail')).status).toBe(404)
    expect((await api.get('/v2/translations/group/layout/mail')).status).toBe(200)
  })
})

describe('groups', () => {
  test('a newly translated resource starts empty, in the default locale', async () => {
    const { api, group } = await translatedLayout({ defaultLocale: 'de_DE' })
    expect((await group()).body).toEqual({
      resourceId: 'mail',
      resourceType: 'layout',
      resourceName: 'Mail',
      locales: ['de_DE'],
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
    })
    expect((await api.get('/v2/translations/layout/mail/de_DE')).body.content).toEqual({})
  })

  test('the locales are the default, the targets, and those with texts', async () => {
    const { write, group } = await translatedLayout({ targetLocales: ['fr_FR', 'es_ES'] })
    await write('it_IT', { hello: 'Ciao' })
    await write('fr_FR', { hello: 'Bonjour' })
    expect((await group()).body.locales).toEqual(['en_US', 'fr_FR', 'es_ES', 'it_IT'])
  })

  test('a target is outdated when it lacks texts, has others, or is older than the default', async () => {
    const { write, group } = await translatedLayout({ targetLocales: ['fr_FR', 'es_ES', 'en_US'] })
    const outdated = async () => (await group()).body.outdatedLocales
    await write('en_US', { a: { b: 'One' }, c: 'Two' })
    expect(await outdated()).toEqual(['fr_FR', 'es_ES'])
    await write('fr_FR', { 'a.b': 'Un', c: 'Deux' })
    await write('es_ES', { 'a.b': 'Uno' })
    expect(await outdated()).toEqual(['es_ES'])
    await write('es_ES', { c: 'Dos', a: { b: 'Uno' } })
    expect(await outdated()).toBeUndefined()

    server.clock.advance({ minutes: 1 })
    await write('en_US', { a: { b: 'One' }, c: 'Two' })
    expect(await outdated()).toBeUndefined()
    await write('en_US', { a: { b: 'One' }, c: 'Second' })
    expect(await outdated()).toEqual(['fr_FR', 'es_ES'])
    await write('fr_FR', { 'a.b': 'Un', c: 'Deux' })
    expect(await outdated()).toEqual(['es_ES'])
  })

  test('nothing is outdated without target locales, whatever texts there are', async () => {
    const { api, write, group } = await translatedLayout()
    await write('fr_FR', { other: 'Autre' })
    server.clock.advance({ minutes: 1 })
    await write('en_US', { hello: 'Hello' })
    expect((await group()).body).not.toHaveProperty('outdatedLocales')
    await api.delete('/v2/translations/layout/mail/en_US')
    await (await server.organizationOf(api)).patch(settings, { targetLocales: ['fr_FR', 'es_ES'] })
    expect((await group()).body).toMatchObject({
      locales: ['en_US', 'fr_FR', 'es_ES'],
      outdatedLocales: ['es_ES'],
    })
  })

  test('deleting one turns translation off', async () => {
    const { api, layout, write, group } = await translatedLayout()
    await write('fr_FR', { hello: 'Bonjour' })
    expect(await api.delete(`/v2/translations/layout/${layout.slug}`)).toMatchObject({ status: 204, text: '' })
    expect((await group()).status).toBe(404)
    expect((await api.get('/v2/layouts/mail')).body.isTranslationEnabled).toBe(false)
    await api.put('/v2/layouts/mail', { name: 'Mail', isTranslationEnabled: true })
    expect((await group()).body.locales).toEqual(['en_US'])
  })

  test('deleting the group of a workflow creates a new version of the workflow', async () => {
    const { api } = await translatedLayout()
    const id = await addWorkflow(api, 'welcome')
    expect((await api.delete('/v2/translations/workflow/welcome')).status).toBe(204)
    const row = await server.database.db
      .selectFrom('workflows')
      .innerJoin('workflow_versions', 'workflow_versions.workflow_id', 'workflows.id')
      .select(['workflows.is_translation_enabled', 'workflows.version', 'workflow_versions.definition'])
      .where('workflows.id', '=', id)
      .where('workflows.environment_id', '=', api.environmentId)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      is_translation_enabled: false,
      version: 2,
      definition: { name: 'Workflow welcome', is_translation_enabled: false, version: 2 },
    })
    expect((await api.get('/v2/translations/group/workflow/welcome')).status).toBe(404)
  })

  test('are listed, last changed first, by any part of name or identifier', async () => {
    const { api, write } = await translatedLayout()
    server.clock.advance({ minutes: 1 })
    await addWorkflow(api, 'welcome')
    await addWorkflow(api, 'plain', false)
    const list = async (query: string) => (await api.get(`/v2/translations/list?${query}`)).body
    const ids = async (query: string) =>
      (await list(query)).data.map((group: { resourceId: string }) => group.resourceId)
    expect(await list('')).toMatchObject({
      data: [
        { resourceType: 'workflow', resourceId: 'welcome', resourceName: 'Workflow welcome' },
        { resourceId: 'mail' },
      ],
      total: 2,
      limit: 50,
      offset: 0,
    })
    server.clock.advance({ minutes: 1 })
    await write('fr_FR', {})
    expect(await ids('')).toEqual(['mail', 'welcome'])
    expect(await list('limit=1&offset=1')).toMatchObject({
      data: [{ resourceId: 'welcome' }],
      total: 2,
      limit: 1,
      offset: 1,
    })
    expect(await ids('query=WORKFLOW')).toEqual(['welcome'])
    expect(await ids('query=AIL')).toEqual(['mail'])
    expect(await ids('query=%25')).toEqual([])
    expect((await api.get('/v2/translations/list?limit=-1')).status).toBe(422)
    expect((await api.get('/v2/translations/list?offset=-1')).status).toBe(422)
  })
})

describe('for rendering', () => {
  test("the default locale's texts are loaded, and the recipient's if there are any", async () => {
    const { api, layout, write } = await translatedLayout()
    await write('en_US', { hello: 'Hello' })
    await write('fr_FR', { hello: 'Bonjour' })
    const load = (locale: string | null) =>
      loadTranslations(
        server.database.db,
        { environmentId: api.environmentId, resourceType: 'layout', resourceRowId: layout._id },
        locale,
      )
    const english = { defaultLocale: 'en_US', locales: { en_US: { hello: 'Hello' } } }
    expect(await load(null)).toEqual(english)
    expect(await load('de_DE')).toEqual(english)
    expect(await load('fr')).toEqual(english)
    for (const locale of ['fr_FR', 'fr-fr'])
      expect((await load(locale)).locales).toEqual({ en_US: { hello: 'Hello' }, fr_FR: { hello: 'Bonjour' } })
  })
})

test('texts written while translation is being turned off are not left behind', async () => {
  const { api, write } = await translatedLayout()
  const [written, off] = await Promise.all([
    write('fr_FR', { hello: 'Bonjour' }),
    api.put('/v2/layouts/mail', { name: 'Mail', isTranslationEnabled: false }),
  ])
  expect([200, 404]).toContain(written.status)
  expect(off.status).toBe(200)
  const left = await server.database.db
    .selectFrom('translations')
    .select('locale')
    .where('environment_id', '=', api.environmentId)
    .execute()
  expect(left).toEqual([])
})
