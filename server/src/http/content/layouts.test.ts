import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { type Answer, type Api, lowLimits, useServer } from '../../../test/server.ts'
import type { Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { findLayout, layoutOfStep } from '../../db/queries/layouts.ts'
import { saveWorkflow, type WorkflowStep } from '../../db/queries/workflows.ts'
import { SOURCE_LIMIT } from '../../render/limits.ts'

const server = useServer({ limits: lowLimits })

const html = (inside: string) => `<!doctype html><html><body>${inside}</body></html>`
const plain = html('{{ content }}')
const email = (body: string, editorType = 'html') => ({ email: { body, editorType } })

async function addWorkflow(api: Api, identifier: string, layoutIds: Array<string | null | undefined>, within?: Tx) {
  const now = server.clock.now()
  const id = newId(now)
  const steps = layoutIds.map(
    (layoutId, i): WorkflowStep => ({
      _id: newId(now),
      stepId: `email-${i}`,
      name: 'Email',
      type: 'email',
      controlValues: { subject: 'Hi', ...(layoutId === undefined ? {} : { layoutId }) },
    }),
  )
  const fields = {
    name: `Workflow ${identifier}`,
    identifier,
    description: '',
    origin: 'svc-cloud',
    active: true,
    critical: false,
    severity: 'none',
    tags: [],
    data: null,
    steps,
    payload_schema: null,
    validate_payload: false,
    is_translation_enabled: false,
    preferences: {},
    user_preferences: null,
  }
  const save = (tx: Tx) => saveWorkflow(tx, { environmentId: api.environmentId, id, userId: 'somebody', now }, fields)
  await (within ? save(within) : server.database.db.transaction().execute(save))
  return id
}

const stepsOf = async (id: string) =>
  server.database.db
    .selectFrom('workflows')
    .select(['version', 'steps'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
    .then(({ version, steps }) => ({
      version,
      layoutIds: (steps as WorkflowStep[]).map(({ controlValues }) => controlValues?.layoutId),
    }))

describe('creating', () => {
  test('every environment starts with a default layout', async () => {
    const api = await server.freshApi()
    const { body } = await api.get('/v2/layouts')
    expect(body).toMatchObject({
      totalCount: 1,
      layouts: [{ layoutId: 'default-layout', name: 'Default Layout', isDefault: true }],
    })
    expect((await server.api.get('/v2/layouts/default-layout')).body.isDefault).toBe(true)
  })

  test('a new layout only shows the content of the email', async () => {
    const api = await server.freshApi()
    const { status, body } = await api.post('/v2/layouts', {
      layoutId: 'letter.1',
      name: 'My Letter',
      __source: 'dashboard',
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      layoutId: 'letter.1',
      slug: expect.stringMatching(/^my-letter_lt_[0-9A-Za-z]{16}$/),
      name: 'My Letter',
      isDefault: false,
      isTranslationEnabled: false,
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
      updatedBy: { _id: '0'.repeat(24) },
      origin: 'svc-cloud',
      type: 'BRIDGE',
      variables: {
        type: 'object',
        properties: {
          subscriber: expect.objectContaining({ additionalProperties: false }),
          content: expect.objectContaining({ type: 'string' }),
          context: expect.objectContaining({ type: 'object' }),
          env: expect.objectContaining({ additionalProperties: false }),
          unsubscribe_url: { type: 'string' },
          preferences_url: { type: 'string' },
          view_in_browser_url: { type: 'string' },
        },
        required: [],
        additionalProperties: false,
      },
      controls: {
        dataSchema: expect.objectContaining({ type: 'object' }),
        uiSchema: {
          group: 'LAYOUT',
          properties: {
            email: {
              component: 'LAYOUT_EMAIL',
              properties: {
                body: { component: 'EMAIL_BODY', placeholder: '' },
                editorType: { component: 'EMAIL_EDITOR_SELECT', placeholder: 'block' },
              },
            },
          },
        },
        values: { email: { editorType: 'block', body: expect.any(String) } },
      },
      version: 1,
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const document = JSON.parse(body.controls.values.email.body)
    const kinds = document.content.map((node: { content?: Array<{ attrs: object }> }) => node.content?.[0]?.attrs)
    expect(kinds).toEqual([undefined, expect.objectContaining({ id: 'content' }), undefined])
    expect((await api.get('/v2/layouts/letter.1')).body).toEqual(body)
  })

  test('an identifier is unique', async () => {
    const api = await server.freshApi()
    await api.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
    expect(await api.post('/v2/layouts', { layoutId: 'letter', name: 'Another' })).toMatchObject({
      status: 409,
      body: { message: 'Layout with identifier "letter" already exists', code: 'layout_exists' },
    })
    const other = await server.freshApi()
    expect((await other.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })).status).toBe(201)
  })

  test.each([
    [{ name: 'A' }, 'layoutId should not be empty'],
    [{ layoutId: 'a' }, 'name should not be empty'],
    [{ layoutId: 'a', name: '' }, 'name should not be empty'],
    [{ layoutId: 'a', name: 'x'.repeat(256) }, 'name must be shorter than or equal to 255 characters'],
    [
      { layoutId: 'a--b', name: 'A' },
      'layoutId must consist of letters and digits, with single hyphens, underscores or periods between them only',
    ],
    [{ layoutId: 'a', name: 'A', isTranslationEnabled: 'yes' }, 'isTranslationEnabled must be a boolean value'],
  ])('%j is refused', async (body, message) => {
    const api = await server.freshApi()
    const answer = await api.post('/v2/layouts', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
    expect((await api.get('/v2/layouts')).body.totalCount).toBe(1)
  })

  test('without a default, exactly one of several layouts created at once becomes it', async () => {
    const api = await server.freshApi()
    await server.database.db.deleteFrom('layouts').where('environment_id', '=', api.environmentId).execute()
    const made = await Promise.all(
      ['a', 'b', 'c', 'd'].map((layoutId) => api.post('/v2/layouts', { layoutId, name: layoutId })),
    )
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(made.filter(({ body }) => body.isDefault)).toHaveLength(1)
  })

  test('an environment never exceeds its limit of layouts, however many are created at once', async () => {
    const api = await server.freshApi()
    const now = server.clock.now()
    await server.database.db
      .insertInto('layouts')
      .values(
        Array.from({ length: 97 }, (_, i) => ({
          environment_id: api.environmentId,
          id: newId(now),
          identifier: `filler-${i}`,
          name: 'Filler',
          created_at: now,
          updated_at: now,
        })),
      )
      .execute()
    const made = await Promise.all(
      ['a', 'b', 'c', 'd'].map((layoutId) => api.post('/v2/layouts', { layoutId, name: layoutId })),
    )
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400])
    expect(made.find(({ status }) => status === 400)?.body).toMatchObject({
      message: 'An environment cannot have more than 100 layouts',
      ctx: { currentCount: 100, limit: 100 },
    })
    expect((await api.post('/v2/layouts/a/duplicate', { name: 'One more' })).status).toBe(400)
    expect((await api.get('/v2/layouts?limit=1')).body).toMatchObject({ totalCount: 100 })
  })
})

describe('reading', () => {
  test('a layout is found by identifier, slug or id, in this order', async () => {
    const api = await server.freshApi()
    const { body: letter } = await api.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
    for (const name of [
      letter.layoutId,
      letter.slug,
      letter._id,
      `old-name_${letter.slug.split('_').slice(1).join('_')}`,
    ])
      expect((await api.get(`/v2/layouts/${name}`)).body).toEqual(letter)
    await api.post('/v2/layouts', { layoutId: letter._id, name: 'Impostor' })
    expect((await api.get(`/v2/layouts/${letter._id}`)).body.name).toBe('Impostor')
    expect((await api.get(`/v2/layouts/${letter.slug}`)).body.name).toBe('Letter')
  })

  test('unknown layouts, and those of other environments, are not found', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    const { body: theirs } = await other.post('/v2/layouts', { layoutId: 'theirs', name: 'Theirs' })
    for (const name of ['nope', 'theirs', theirs.slug, theirs._id]) {
      const path = `/v2/layouts/${name}`
      const missing = { status: 404, body: { message: 'Layout cannot be found', ctx: { layoutId: name } } }
      expect(await api.get(path)).toMatchObject(missing)
      expect(await api.put(path, { name: 'Mine', controlValues: email(plain) })).toMatchObject(missing)
      expect(await api.delete(path)).toMatchObject(missing)
      expect(await api.post(`${path}/duplicate`, { name: 'Copy' })).toMatchObject(missing)
      expect(await api.post(`${path}/preview`, {})).toMatchObject(missing)
      expect(await api.get(`${path}/usage`)).toMatchObject(missing)
    }
    expect((await other.get('/v2/layouts/theirs')).body).toEqual(theirs)
  })

  test('the list is sorted, filtered and paged, and has no content', async () => {
    const api = await server.freshApi()
    for (const [layoutId, name] of [
      ['one', 'alef'],
      ['two', 'Alpha'],
      ['three', 'alpha_2'],
    ]) {
      server.clock.advance({ minutes: 1 })
      await api.post('/v2/layouts', { layoutId, name })
    }
    server.clock.advance({ minutes: 1 })
    await api.put('/v2/layouts/one', { name: 'beta' })
    const list = async (query: string) => (await api.get(`/v2/layouts?${query}`)).body
    const ids = async (query: string) =>
      (await list(query)).layouts.map((layout: { layoutId: string }) => layout.layoutId)
    expect(await ids('')).toEqual(['three', 'two', 'one', 'default-layout'])
    expect(await ids('orderDirection=ASC')).toEqual(['default-layout', 'one', 'two', 'three'])
    expect(await ids('orderBy=updatedAt')).toEqual(['one', 'three', 'two', 'default-layout'])
    expect(await ids('orderBy=name&orderDirection=ASC')).toEqual(['two', 'default-layout', 'three', 'one'])
    expect(await list('limit=1&offset=1')).toMatchObject({ layouts: [{ layoutId: 'two' }], totalCount: 4 })
    expect(await ids('query=ALPHA')).toEqual(['three', 'two'])
    expect(await ids('query=TWO')).toEqual(['two'])
    expect(await ids('query=a_2')).toEqual(['three'])
    expect((await list('')).layouts[0]).toMatchObject({ variables: {}, controls: { values: {} } })
  })

  test.each(['limit=0', 'offset=-1', 'orderBy=size', 'orderDirection=UP', 'limit=ten'])(
    '?%s is refused',
    async (query) => {
      expect((await server.api.get(`/v2/layouts?${query}`)).status).toBe(422)
    },
  )
})

describe('changing', () => {
  test('content is replaced, left alone, or removed', async () => {
    const api = await server.freshApi()
    const { body: letter } = await api.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
    server.clock.advance({ minutes: 1 })
    const changed = await api.put('/v2/layouts/letter', { name: 'New name', controlValues: email(plain) })
    expect(changed).toMatchObject({
      status: 200,
      body: {
        _id: letter._id,
        layoutId: 'letter',
        name: 'New name',
        slug: expect.stringMatching(/^new-name_lt_/),
        createdAt: letter.createdAt,
        updatedAt: server.clock.now().toISOString(),
        controls: { values: email(plain) },
      },
    })
    const values = async (body: object) => {
      expect((await api.put('/v2/layouts/letter', { name: 'Letter', ...body })).status).toBe(200)
      return (await api.get('/v2/layouts/letter')).body.controls.values
    }
    expect(await values({})).toEqual(email(plain))
    expect(await values({ layoutId: 'other', isDefault: true })).toEqual(email(plain))
    expect(await values({ controlValues: null })).toEqual({})
    expect(await values({ controlValues: email(plain) })).toEqual(email(plain))
    expect(await values({ controlValues: {} })).toEqual({})
    const block = { email: { body: letter.controls.values.email.body } }
    expect(await values({ controlValues: block })).toEqual({ email: { ...block.email, editorType: 'block' } })
    expect((await api.get('/v2/layouts/letter')).body).toMatchObject({ layoutId: 'letter', isDefault: false })
  })

  test.each([
    [{ controlValues: email(plain) }, 'name should not be empty'],
    [{ name: 'A', controlValues: 'text' }, 'controlValues must be an object'],
    [
      { name: 'A', controlValues: { email: { body: {}, editorType: 'html' } } },
      'controlValues.email.body must be a string',
    ],
    [
      { name: 'A', controlValues: email(plain, 'markdown') },
      'controlValues.email.editorType must be one of the following values: block, html',
    ],
  ])('%j is refused', async (body, message) => {
    const answer = await server.api.put('/v2/layouts/default-layout', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
    expect((await server.api.get('/v2/layouts/default-layout')).body.name).toBe('Default Layout')
  })

  test('turning translation on creates a group of texts, turning it off deletes it', async () => {
    const api = await server.freshApi()
    const change = (body: object) => api.put('/v2/layouts/default-layout', { name: 'Default', ...body })
    const group = () => api.get('/v2/translations/group/layout/default-layout')
    expect((await group()).status).toBe(404)
    expect((await change({ isTranslationEnabled: true })).body.isTranslationEnabled).toBe(true)
    expect((await group()).body.locales).toEqual(['en_US'])
    const texts = { resourceId: 'default-layout', resourceType: 'layout', locale: 'en_US', content: { hello: 'Hello' } }
    await api.post('/v2/translations', texts)
    await change({})
    await change({ isTranslationEnabled: true })
    expect((await api.get('/v2/translations/layout/default-layout/en_US')).body.content).toEqual({ hello: 'Hello' })
    await change({ isTranslationEnabled: false })
    expect((await group()).status).toBe(404)
    await change({ isTranslationEnabled: true })
    expect((await api.get('/v2/translations/layout/default-layout/en_US')).body.content).toEqual({})
  })
})

describe('content that is refused', () => {
  const block = (...content: object[]) => JSON.stringify({ type: 'doc', content })
  const content = { type: 'variable', attrs: { id: 'content' } }
  const shown = (...inline: object[]) => block({ type: 'paragraph', content: [content, ...inline] })
  const variable = (id: string) => ({ type: 'variable', attrs: { id } })
  const missing = (message: string | RegExp) => ({
    issueType: 'MISSING_VALUE',
    message: expect.stringMatching(message),
  })
  const illegal = (variableName: string, message: string) => ({
    issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE',
    variableName,
    message,
  })

  test.each<[string, string, object[]]>([
    ['html', '', [missing('Body is required')]],
    ['block', ' ', [missing('Body is required')]],
    ['html', '<p>{{content}}</p>', [missing('it lacks <html, </html>, <body, </body>$')]],
    ['html', '<HTML><BODY>{{content}}</BODY>', [missing('it lacks </html>$')]],
    ['html', shown(), [missing('this is a block document$')]],
    ['block', plain, [missing('needs a block document')]],
    ['block', '{"type":"paragraph"}', [missing('needs a block document')]],
    ['block', block({ type: 'paragraph' }), [missing('add the variable {{content}}')]],
    ['html', html('{{ content | upcase }}'), [missing('add the variable {{content}}')]],
    ['html', html('content'), [missing('add the variable {{content}}')]],
    [
      'html',
      html('{{content}} {{actor.firstName}} {{tenant.name}} {{step.total_count}}'),
      [
        illegal('actor.firstName', 'Variable "actor.firstName" is not supported'),
        illegal('tenant.name', 'Variable "tenant.name" is not supported'),
        illegal('step.total_count', 'Variable "step.total_count" is not supported'),
      ],
    ],
    [
      'html',
      html('{{content}} {{payload.x}} {{name}} {{steps.a.b}} {{workflow.name}} {{subscriber.nope}} {{env.NOPE}}'),
      [
        illegal('payload.x', 'Variable "payload.x" is not supported'),
        illegal('name', 'Variable "name" invalid or missing namespace'),
        illegal('steps.a.b', 'Variable "steps.a.b" is not supported'),
        illegal('workflow.name', 'Variable "workflow.name" is not supported'),
        illegal('subscriber.nope', 'Variable "subscriber.nope" is not supported'),
        illegal('env.NOPE', 'Variable "env.NOPE" is not supported'),
      ],
    ],
    ['block', shown(variable('payload.x')), [illegal('payload.x', 'Variable "payload.x" is not supported')]],
    [
      'html',
      html('{{content}} {{ subscriber.email | nope }}'),
      [illegal('subscriber.email', 'Filter "nope" is not supported')],
    ],
    ['html', html('{{content}} {% if %}'), [expect.objectContaining({ variableName: '{{}}' })]],
    ['block', shown({ type: 'nope' }), [expect.objectContaining({ message: 'Unknown block type "nope"' })]],
  ])('%s %s', async (editorType, body, issues) => {
    const api = await server.freshApi()
    await api.put('/v2/layouts/default-layout', { name: 'Before', controlValues: email(plain) })
    const answer = await api.put('/v2/layouts/default-layout', {
      name: 'After',
      isTranslationEnabled: true,
      controlValues: email(body, editorType),
    })
    expect(answer).toMatchObject({ status: 400, body: { code: 'layout_invalid', controls: { 'email.body': issues } } })
    expect(answer.body.ctx.controls['email.body']).toHaveLength(issues.length)
    expect((await api.get('/v2/layouts/default-layout')).body).toMatchObject({
      name: 'Before',
      isTranslationEnabled: false,
      controls: { values: email(plain) },
    })
    expect((await api.get('/v2/translations/group/layout/default-layout')).status).toBe(404)
  })

  test.each(['html', 'block'])('a body too large to be rendered (%s)', async (editorType) => {
    const filling = 'x'.repeat(SOURCE_LIMIT)
    const body = editorType === 'html' ? html(`{{content}}${filling}`) : shown({ type: 'text', text: filling })
    const answer = await server.api.put('/v2/layouts/default-layout', {
      name: 'Large',
      controlValues: email(body, editorType),
    })
    const message = expect.stringMatching(`at most ${SOURCE_LIMIT}`)
    expect(answer).toMatchObject({ status: 400, body: { controls: { 'email.body': [{ message }] } } })
  })

  test.each([
    ['html', html('{{ content }} {{subscriber.data.plan}} {{context.tenant.data.logo}} {{t.footer}} {{env.name}}')],
    [
      'html',
      html('{% for n in subscriber.data.list %}{{ n.title }}{% endfor %}{{content}}{% assign a = env.SITE %}{{ a }}'),
    ],
    ['block', shown(variable('subscriber.firstName'), variable('t.footer'), variable('env.SITE'))],
  ])('%s %s is accepted', async (editorType, body) => {
    const { development: api } = await server.freshOrganization()
    const values = [{ _environmentId: api.environmentId, value: 'https://example.com' }]
    await (await server.organizationOf(api)).post('/v1/environment-variables', { key: 'SITE', values })
    const answer = await api.put('/v2/layouts/default-layout', { name: 'New', controlValues: email(body, editorType) })
    expect(answer.status).toBe(200)
    expect(answer.body.variables.properties.env.properties).toHaveProperty('SITE')
  })
})

describe('preview', () => {
  const preview = (api: Api, body?: object) => api.post('/v2/layouts/default-layout/preview', body)
  const nothing = (title: string) => {
    const error = { title, message: expect.any(String), hint: expect.any(String) }
    return { result: { type: 'email', error }, previewPayloadExample: {}, schema: null }
  }

  test('shows the stored layout, with an example subscriber and a placeholder for the content', async () => {
    const { status, body } = await preview(await server.freshApi())
    expect(status).toBe(201)
    expect(body).toEqual({
      result: {
        type: 'email',
        preview: { body: expect.stringMatching(/^<!DOCTYPE html><html.*The content of the email/s) },
      },
      previewPayloadExample: {
        subscriber: expect.objectContaining({ subscriberId: '123456', firstName: 'John', email: 'user@example.com' }),
        context: {},
      },
      schema: expect.objectContaining({ type: 'object' }),
    })
  })

  test("shows the caller's content, subscriber and contexts", async () => {
    const api = await server.freshApi()
    const { body } = await preview(api, {
      controlValues: email(
        html('<p>{{subscriber.firstName}} {{subscriber.lastName}} {{context.tenant.id}} {{env.type}}</p>{{content}}'),
      ),
      previewPayload: { subscriber: { firstName: 'Ada' }, context: { tenant: 'acme' } },
    })
    expect(body.result.preview.body).toContain('<p>Ada Doe acme prod</p><div')
    expect(body.previewPayloadExample).toMatchObject({
      subscriber: { firstName: 'Ada', lastName: 'Doe' },
      context: { tenant: { id: 'acme', data: {} } },
    })
    expect(body.schema.properties.context.properties).toHaveProperty('tenant')
    expect((await api.get('/v2/layouts/default-layout')).body.controls.values.email.editorType).toBe('block')
  })

  test('secrets of the environment are not shown', async () => {
    const { development: api } = await server.freshOrganization()
    const values = [{ _environmentId: api.environmentId, value: 'hidden' }]
    await (await server.organizationOf(api)).post('/v1/environment-variables', { key: 'TOKEN', isSecret: true, values })
    const { body } = await preview(api, { controlValues: email(html('{{env.TOKEN}}{{content}}')) })
    expect(body.result.preview.body).toContain('••••••••')
  })

  test("the layout's own translations are used, in the subscriber's language", async () => {
    const api = await server.freshApi()
    const controlValues = email(html('<p>{{t.footer}}</p>{{content}}'))
    await api.put('/v2/layouts/default-layout', { name: 'Default', isTranslationEnabled: true, controlValues })
    const write = (locale: string, footer: string) =>
      api.post('/v2/translations', {
        resourceId: 'default-layout',
        resourceType: 'layout',
        locale,
        content: { footer },
      })
    expect((await preview(api)).body).toEqual(nothing('translation_missing'))
    await write('en_US', 'Bye, {{subscriber.firstName}}')
    await write('fr_FR', 'Salut')
    const shown = async (locale: string) =>
      (await preview(api, { previewPayload: { subscriber: { locale } } })).body.result.preview.body
    expect(await shown('en_US')).toContain('<p>Bye, John</p>')
    expect(await shown('fr-FR')).toContain('<p>Salut</p>')
    expect(await shown('de_DE')).toContain('<p>Bye, John</p>')
    await api.put('/v2/layouts/default-layout', { name: 'Default', isTranslationEnabled: false })
    expect((await preview(api)).body).toEqual(nothing('translation_missing'))
  })

  test.each([
    [{}, 'empty_content'],
    [{ email: null }, 'empty_content'],
    [{ email: { body: 5 } }, 'empty_content'],
    [{ email: { body: '{% if %}' } }, 'template_syntax'],
    [email(html('{% for i in (1..100000000) %}{{content}}{% endfor %}')), 'work_limit'],
    [email(JSON.stringify({ type: 'doc', content: [{ type: 'nope' }] }), 'block'), 'unknown_block'],
  ])('a layout that cannot be rendered (%j) shows the error instead', async (controlValues, title) => {
    const { status, body } = await preview(server.api, { controlValues })
    expect([status, body]).toEqual([201, nothing(title)])
  })

  test('a request of the wrong shape is refused', async () => {
    expect((await preview(server.api, { previewPayload: { subscriber: 'ada' } })).status).toBe(422)
    expect((await preview(server.api, { controlValues: [] })).status).toBe(422)
  })
})

test('no content whatsoever makes saving or previewing answer 500', async () => {
  const api = await server.freshApi()
  const word = fc.constantFrom(
    ...[
      '{{',
      '}}',
      '{%',
      '%}',
      ' ',
      '|',
      '.',
      ':',
      ',',
      '"',
      'for',
      'in',
      'endfor',
      'if',
      'endif',
      'assign',
      '=',
      '(1..9)',
    ],
    ...[
      'content',
      'subscriber',
      'subscriber.data.x',
      't.x',
      'upcase',
      'toSentence',
      '<html>',
      '<body',
      '</',
      '>',
      '\u202e',
      '😀',
    ],
  )
  const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(''))
  const node = fc.letrec((tie) => ({
    node: fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('doc', 'paragraph', 'text', 'variable', 'repeat', 'button', 'image', 'columns'),
          text,
        ),
        attrs: fc.oneof(
          fc.dictionary(
            fc.constantFrom('id', 'each', 'text', 'url', 'showIfKey', 'level'),
            fc.oneof(text, fc.jsonValue()),
          ),
          fc.jsonValue(),
        ),
        content: fc.oneof({ depthSize: 'small' }, fc.array(tie('node'), { maxLength: 3 }), fc.jsonValue()),
        marks: fc.jsonValue(),
        text,
      },
      { requiredKeys: ['type'] },
    ),
  })).node
  const documents = fc.array(node).map((content) => JSON.stringify({ type: 'doc', content }))
  const bodies = fc.oneof(text, text.map(html), documents)
  await fc.assert(
    fc.asyncProperty(bodies, fc.constantFrom('html', 'block'), async (body, editorType) => {
      const controlValues = email(body, editorType)
      const saved = await api.put('/v2/layouts/default-layout', { name: 'Default', controlValues })
      expect([200, 400]).toContain(saved.status)
      expect((await api.post('/v2/layouts/default-layout/preview', { controlValues })).status).toBe(201)
      expect((await api.get('/v2/layouts/default-layout')).status).toBe(200)
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 8) * 10 },
  )
})

describe('deleting', () => {
  test('the emails that named the layout get the default one, in a new version of their workflow', async () => {
    const api = await server.freshApi()
    const { body: letter } = await api.post('/v2/layouts', {
      layoutId: 'letter',
      name: 'Letter',
      isTranslationEnabled: true,
    })
    const user = await addWorkflow(api, 'user', ['letter', null, 'default-layout', letter._id])
    const bystander = await addWorkflow(api, 'bystander', ['default-layout', undefined])
    expect(await api.delete(`/v2/layouts/${letter.slug}`)).toMatchObject({ status: 204, text: '' })
    expect(await stepsOf(user)).toEqual({ version: 2, layoutIds: [undefined, null, 'default-layout', undefined] })
    expect(await stepsOf(bystander)).toEqual({ version: 1, layoutIds: ['default-layout', undefined] })
    const versions = await server.database.db
      .selectFrom('workflow_versions')
      .select('version')
      .where('workflow_id', '=', user)
      .orderBy('version')
      .execute()
    expect(versions).toEqual([{ version: 1 }, { version: 2 }])
    expect((await api.get('/v2/layouts/letter')).status).toBe(404)
    const texts = await server.database.db
      .selectFrom('translations')
      .select('locale')
      .where('environment_id', '=', api.environmentId)
      .execute()
    expect(texts).toEqual([])
  })

  test('the default layout stays', async () => {
    const api = await server.freshApi()
    expect(await api.delete('/v2/layouts/default-layout')).toMatchObject({
      status: 409,
      body: { message: 'Layout "default-layout" is the default layout of the environment and cannot be deleted' },
    })
    expect((await api.get('/v2/layouts/default-layout')).status).toBe(200)
  })

  test('a workflow that starts to use the layout during its deletion does not keep it', async () => {
    const api = await server.freshApi()
    await api.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
    const { db } = server.database
    let deleting: Promise<Answer> | undefined
    const id = await db.transaction().execute(async (tx) => {
      await findLayout(tx, api.environmentId, { identifier: 'letter' }, 'FOR KEY SHARE')
      deleting = api.delete('/v2/layouts/letter')
      await vi.waitFor(
        async () => {
          const { rows } = await sql`
            SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`.execute(db)
          expect(rows).toHaveLength(1)
        },
        { timeout: 20_000, interval: 10 },
      )
      return addWorkflow(api, 'late', ['letter'], tx)
    })
    expect((await deleting)?.status).toBe(204)
    expect(await stepsOf(id)).toEqual({ version: 2, layoutIds: [undefined] })
  })

  test('of two concurrent deletions one gets a 404', async () => {
    const api = await server.freshApi()
    await api.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
    const deleted = await Promise.all([api.delete('/v2/layouts/letter'), api.delete('/v2/layouts/letter')])
    expect(deleted.map(({ status }) => status).sort()).toEqual([204, 404])
  })
})

describe('the default', () => {
  const defaults = async (api: Api) =>
    (await api.get('/v2/layouts?limit=100')).body.layouts
      .filter(({ isDefault }: { isDefault: boolean }) => isDefault)
      .map(({ layoutId }: { layoutId: string }) => layoutId)

  test('can be another layout, by identifier, slug or id; the previous one can then be deleted', async () => {
    const api = await server.freshApi()
    const { body: letter } = await api.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
    expect((await api.post('/v1/layouts/letter/default')).status).toBe(204)
    expect(await defaults(api)).toEqual(['letter'])
    expect((await api.delete('/v2/layouts/letter')).status).toBe(409)
    // Repeating it changes nothing.
    const { updatedAt } = (await api.get('/v2/layouts/letter')).body
    server.clock.advance({ minutes: 1 })
    expect((await api.post(`/v1/layouts/${letter._id}/default`)).status).toBe(204)
    expect((await api.get('/v2/layouts/letter')).body.updatedAt).toBe(updatedAt)
    expect((await api.delete('/v2/layouts/default-layout')).status).toBe(204)
    expect(await defaults(api)).toEqual(['letter'])
  })

  test('an unknown layout, or one of another environment, is not found, and the default stays', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    const { body: letter } = await other.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
    for (const layoutId of ['nowhere', 'letter', letter._id])
      expect(await api.post(`/v1/layouts/${layoutId}/default`)).toMatchObject({
        status: 404,
        body: { code: 'layout_not_found' },
      })
    expect(await defaults(api)).toEqual(['default-layout'])
    expect(await defaults(other)).toEqual(['default-layout'])
  })

  test('is exactly one of several chosen at once', async () => {
    const api = await server.freshApi()
    const names = ['a1', 'b1', 'c1', 'd1']
    for (const layoutId of names) await api.post('/v2/layouts', { layoutId, name: layoutId })
    const answers = await Promise.all(names.map((layoutId) => api.post(`/v1/layouts/${layoutId}/default`)))
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204])
    const [chosen, ...others] = await defaults(api)
    expect(names).toContain(chosen)
    expect(others).toEqual([])
  })
})

describe('duplicating', () => {
  test('the copy has the same content, its own name and an identifier made from it', async () => {
    const api = await server.freshApi()
    await api.put('/v2/layouts/default-layout', { name: 'Default', controlValues: email(plain) })
    const { status, body } = await api.post('/v2/layouts/default-layout/duplicate', { name: 'Summer Sale' })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      layoutId: 'summer-sale',
      name: 'Summer Sale',
      isDefault: false,
      isTranslationEnabled: false,
      controls: { values: email(plain) },
    })
    const duplicate = (copy: object) => api.post('/v2/layouts/default-layout/duplicate', copy)
    expect((await duplicate({ name: 'Summer Sale' })).status).toBe(409)
    expect((await duplicate({ name: 'Summer Sale', layoutId: 'winter' })).body.layoutId).toBe('winter')
    expect((await duplicate({ name: '…' })).body.layoutId).toMatch(/^layout-[0-9a-z]{8}$/)
    expect((await duplicate({})).status).toBe(422)
    expect((await duplicate({ name: 'A', layoutId: '-' })).status).toBe(422)
    await api.put('/v2/layouts/winter', { name: 'Winter', controlValues: null })
    expect((await api.post('/v2/layouts/winter/duplicate', { name: 'Empty' })).body.controls.values).toEqual({})
  })

  test('a copy becomes the default only if there is none', async () => {
    const api = await server.freshApi()
    const copy = async (name: string) => (await api.post('/v2/layouts/default-layout/duplicate', { name })).body
    expect((await copy('One')).isDefault).toBe(false)
    await server.database.db
      .updateTable('layouts')
      .set({ is_default: false })
      .where('environment_id', '=', api.environmentId)
      .execute()
    expect((await copy('Two')).isDefault).toBe(true)
    expect((await copy('Three')).isDefault).toBe(false)
  })

  test('translations are copied too, unless the copy has translation off', async () => {
    const api = await server.freshApi()
    await api.post('/v2/layouts', { layoutId: 'letter', name: 'Letter', isTranslationEnabled: true })
    await api.post('/v2/translations', {
      resourceId: 'letter',
      resourceType: 'layout',
      locale: 'fr_FR',
      content: { hello: 'Bonjour' },
    })
    const duplicate = (layoutId: string, isTranslationEnabled?: boolean) =>
      api.post('/v2/layouts/letter/duplicate', { name: 'Copy', layoutId, isTranslationEnabled })
    expect((await duplicate('same')).body.isTranslationEnabled).toBe(true)
    expect((await api.get('/v2/translations/layout/same/fr_FR')).body.content).toEqual({ hello: 'Bonjour' })
    expect((await api.get('/v2/translations/layout/same/en_US')).body.content).toEqual({})
    await duplicate('without', false)
    expect((await api.get('/v2/translations/group/layout/without')).status).toBe(404)
    await api.post('/v2/layouts/without/duplicate', { name: 'Again', layoutId: 'again', isTranslationEnabled: true })
    expect((await api.get('/v2/translations/group/layout/again')).body.locales).toEqual(['en_US'])
  })
})

describe('usage', () => {
  test('lists the workflows with an email that uses the layout', async () => {
    const api = await server.freshApi()
    await api.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
    await addWorkflow(api, 'second', [null, 'letter'])
    await addWorkflow(api, 'first', ['letter', 'letter'])
    await addWorkflow(api, 'other', ['default-layout', undefined, null])
    expect(await api.get('/v2/layouts/letter/usage')).toMatchObject({
      status: 200,
      body: {
        workflows: [
          { name: 'Workflow first', workflowId: 'first' },
          { name: 'Workflow second', workflowId: 'second' },
        ],
      },
    })
    expect((await api.get('/v2/layouts/default-layout/usage')).body.workflows).toEqual([
      { name: 'Workflow other', workflowId: 'other' },
    ])
  })
})

describe('for an email', () => {
  test('the layout is the named one, the default if none is named, and none for null', async () => {
    const api = await server.freshApi()
    const { body: letter } = await api.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
    const resolve = (layoutId: string | null | undefined) =>
      layoutOfStep(server.database.db, api.environmentId, layoutId)
    expect(await resolve('letter')).toMatchObject({ identifier: 'letter' })
    expect(await resolve(letter._id)).toMatchObject({ identifier: 'letter' })
    expect(await resolve(undefined)).toMatchObject({ identifier: 'default-layout' })
    expect(await resolve(null)).toBe('none')
    expect(await resolve('nope')).toBe('missing')
    await server.database.db.deleteFrom('layouts').where('environment_id', '=', api.environmentId).execute()
    expect(await resolve(undefined)).toBe('none')
  })
})
