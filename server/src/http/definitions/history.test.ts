// History over the API: files.md §5.
import { beforeEach, describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
let other: Api
beforeEach(async () => {
  ;({ development: api, production: other } = await server.freshOrganization())
})

const path = '/v2/workflows/comments'
const mail = (subject: string) => ({
  ...{ stepId: 'mail', name: 'Mail', type: 'email' },
  controlValues: { subject, body: '<p>Hi</p>', editorType: 'html' },
})
const comments = (more: object = {}) => ({ workflowId: 'comments', name: 'Comments', steps: [mail('Hi')], ...more })
const list = async (query = '', of = path) => (await api.get(`${of}/versions${query}`)).body

describe('the list', () => {
  test('has each version, newest first, with author, source, message and changed places', async () => {
    const ada = await signInAs(server, api, 'editor')
    await api.post('/v2/workflows', comments())
    server.clock.advance({ minutes: 1 })
    await ada.patch(path, { description: 'By Ada' }, { 'belfry-message': encodeURIComponent('Größer') })
    const push = { kind: 'workflow', id: 'comments', base: 'any', definition: comments({ active: true }) }
    await api.post('/v2/definitions/push', {
      ...{ source: { repository: 'acme/app', commit: '8f3c' }, message: 'Shorter', resources: [push] },
    })
    const { data, next } = await list()
    expect(next).toBeNull()
    expect(data).toEqual([
      {
        ...{ version: 3, isCurrent: true, saves: 1, message: 'Shorter' },
        revision: (await api.get(path)).body.revision,
        createdAt: server.clock.now().toISOString(),
        author: { type: 'api_key', id: expect.any(String), name: expect.any(String) },
        source: { kind: 'files', repository: 'acme/app', commit: '8f3c', url: null, dirty: false },
        paths: ['active', 'description'],
      },
      expect.objectContaining({
        ...{ version: 2, isCurrent: false, message: 'Größer', paths: ['description'] },
        author: { type: 'person', id: ada.id, name: 'An editor' },
        source: { kind: 'dashboard' },
      }),
      expect.objectContaining({ version: 1, message: null, source: { kind: 'api' }, paths: [] }),
    ])
    await server.database.db.deleteFrom('users').where('id', '=', ada.id).execute()
    expect((await list()).data[1].author).toEqual({ type: 'person', id: ada.id, name: 'a former member' })
  })

  test('is paged, and shows saves of one person in one sitting as one entry', async () => {
    const ada = await signInAs(server, api, 'editor')
    await api.post('/v2/workflows', comments())
    for (let i = 0; i < 5; i += 1) await ada.patch(path, { description: `${i}` })
    server.clock.advance({ minutes: 11 })
    await ada.patch(path, { description: 'Later' })
    const brief = ({ data }: any) => data.map(({ version, saves, paths }: any) => [version, saves, paths])
    expect(brief(await list())).toEqual([
      [7, 1, ['description']],
      [6, 5, ['description']],
      [1, 1, []],
    ])
    expect((await list('?all=true')).data).toHaveLength(7)
    const first = await list('?limit=2')
    expect(brief(first)).toEqual([
      [7, 1, ['description']],
      [6, 5, ['description']],
    ])
    expect(brief(await list(`?limit=2&after=${first.next}`))).toEqual([[1, 1, []]])
    await api.patch(`${path}/versions/4`, { message: 'Launch' })
    expect((await list()).data.map(({ version }: any) => version)).toEqual([7, 6, 4, 3, 1])
  })

  test('names twenty changed places of a version, and the comparison all of them', async () => {
    const steps = Array.from({ length: 25 }, (_, place) => ({
      ...{ stepId: `s${place}`, name: `S${place}`, type: 'sms', controlValues: { body: 'Hi' } },
    }))
    await api.post('/v2/workflows', comments({ steps }))
    const changed = steps.map((step) => ({ ...step, controlValues: { body: 'Hello' } }))
    await api.post('/v2/workflows?onConflict=update', comments({ steps: changed }))
    const [newest] = (await list()).data
    expect(newest.paths).toEqual(steps.slice(0, 20).map(({ stepId }) => `steps.${stepId}.controlValues.body`))
    expect((await api.get(`${path}/versions/compare?from=1&to=2`)).body.paths).toHaveLength(25)
  })

  test('knows what was published, and from where it came', async () => {
    const wide = await server.organizationOf(api)
    await api.post('/v2/workflows', comments())
    await wide.put(`${path}/sync`, { targetEnvironmentId: other.environmentId })
    const { data } = (await other.get(`${path}/versions`)).body
    expect(data).toMatchObject([{ version: 1, source: { kind: 'publish', environment: 'Development' } }])
  })

  test('has the message of a publish, with its layouts', async () => {
    const wide = await server.organizationOf(api)
    await api.post('/v2/workflows', comments())
    await api.put('/v2/layouts/brand?upsert=true', { name: 'Brand' })
    const named = (text: string) => ({ 'belfry-message': encodeURIComponent(text) })
    const published = await wide.post(
      `/v2/environments/${other.environmentId}/publish`,
      { sourceEnvironmentId: api.environmentId },
      named('Größer, für alle'),
    )
    expect(published, published.text).toMatchObject({ status: 200 })
    await api.patch(path, { name: 'Changed' })
    await wide.put(`${path}/sync`, { targetEnvironmentId: other.environmentId }, named('Alone'))
    const messages = async (of: string) =>
      (await other.get(`${of}/versions`)).body.data.map(({ message }: any) => message)
    expect(await messages(path)).toEqual(['Alone', 'Größer, für alle'])
    expect(await messages('/v2/layouts/brand')).toEqual(['Größer, für alle'])
    const long = await wide.put(`${path}/sync`, { targetEnvironmentId: other.environmentId }, named('x'.repeat(501)))
    expect(long.status).toBe(422)
  })

  test('shows saves before and after a publish as two entries', async () => {
    const wide = await server.organizationOf(api)
    const ada = await signInAs(server, api, 'editor')
    const layout = '/v2/layouts/brand'
    await api.post('/v2/workflows', comments())
    await api.put(`${layout}?upsert=true`, { name: 'Brand' })
    const save = async (n: number) => {
      await ada.patch(path, { description: `${n}` })
      await ada.put(layout, { name: `Brand ${n}` })
    }
    for (const n of [1, 2]) await save(n)
    const body = { sourceEnvironmentId: api.environmentId }
    expect((await wide.post(`/v2/environments/${other.environmentId}/publish`, body)).status).toBe(200)
    for (const n of [3, 4]) await save(n)
    for (const each of [path, layout]) {
      const { data } = await list('', each)
      expect(data.map(({ version, saves, source }: any) => [version, saves, source])).toEqual([
        [5, 2, { kind: 'dashboard' }],
        [3, 2, { kind: 'dashboard' }],
        [1, 1, { kind: 'api' }],
      ])
    }
  })

  test('of a layout has all of this too', async () => {
    const layout = '/v2/layouts/brand'
    await api.put(`${layout}?upsert=true`, { name: 'Brand' })
    await api.put(layout, { name: 'Renamed' }, { 'belfry-message': 'Named' })
    expect((await list('', layout)).data).toMatchObject([
      { version: 2, message: 'Named', source: { kind: 'api' }, paths: ['name'], isCurrent: true },
      { version: 1, message: null },
    ])
    const restored = await api.post(`${layout}/versions/1/restore`)
    expect(restored).toMatchObject({ status: 200, body: { name: 'Brand', version: 3, layoutId: 'brand' } })
    expect(restored.headers.get('etag')).toBe(`"${restored.body.revision}"`)
    expect((await api.put(layout, { name: 'Mine' }, { 'if-match': `${restored.headers.get('etag')}` })).status).toBe(
      200,
    )
    const audit = await server.database.pool.query(
      "SELECT details FROM audit_log WHERE acted_in = $1 AND action = 'layout.restored'",
      [api.environmentId],
    )
    expect(audit.rows).toEqual([{ details: { version: 1 } }])
    expect((await api.get(`${layout}/versions/2`)).body.definition).toEqual({ layoutId: 'brand', name: 'Renamed' })
    expect(await api.get(`${layout}/versions/9`)).toMatchObject({
      status: 404,
      body: {
        code: 'layout_version_not_found',
        message: 'Layout "brand" has no version 9, or it is no longer kept',
      },
    })
  })
})

describe('one version', () => {
  test('has its definition, in the order in which its schema was written, and can be compared and named', async () => {
    const payloadSchema = { type: 'object', properties: { b: { type: 'string' }, a: { type: 'string' } } }
    await api.post('/v2/workflows', comments({ payloadSchema }))
    await api.put(`${path}?upsert=true`, comments({ steps: [mail('Hello')] }))
    const { body } = await api.get(`${path}/versions/1`)
    expect(body).toMatchObject({ version: 1, isCurrent: false, definition: { steps: [mail('Hi')] } })
    expect(Object.keys(body.definition.payloadSchema.properties)).toEqual(['b', 'a'])
    const compared = await api.get(`${path}/versions/compare?from=1&to=2`)
    expect(compared.body).toEqual({
      ...{ from: 1, to: 2 },
      paths: [{ path: 'steps.mail.controlValues.subject', before: 'Hi', after: 'Hello' }],
      text: expect.stringMatching(
        /^--- version 1\n\+\+\+ version 2\n@@[\s\S]*\n- {6}subject: Hi\n\+ {6}subject: Hello\n/,
      ),
    })
    expect((await api.get(`${path}/versions/compare`)).body).toEqual(compared.body)
    expect((await api.get(`${path}/versions/compare?to=1`)).body).toEqual({
      ...{ from: 1, to: 1, paths: [], text: '' },
    })
    expect((await api.patch(`${path}/versions/1`, { message: 'First' })).body).toEqual({ version: 1, message: 'First' })
    expect((await list()).data[1].message).toBe('First')
  })

  test.each([
    ['GET', `${path}/versions/9`, undefined],
    ['GET', `${path}/versions/compare?from=1&to=9`, undefined],
    ['PATCH', `${path}/versions/9`, { message: 'x' }],
    ['POST', `${path}/versions/9/restore`, {}],
  ])('that does not exist: %s %s', async (method, url, body) => {
    await api.post('/v2/workflows', comments())
    expect(await api.send(method, url, body)).toMatchObject({
      status: 404,
      body: { code: 'workflow_version_not_found' },
    })
  })

  test('messages have a limit, and must be valid', async () => {
    await api.post('/v2/workflows', comments())
    expect((await api.patch(`${path}/versions/1`, { message: 'x'.repeat(501) })).status).toBe(422)
    expect((await api.patch(path, { name: 'A' }, { 'belfry-message': 'x'.repeat(501) })).status).toBe(422)
    expect((await api.patch(path, { name: 'A' }, { 'belfry-message': '%E0%A4%A' })).status).toBe(400)
    expect((await api.get(path)).body.version).toBe(1)
  })
})

describe('restoring', () => {
  test('makes a new version with that content; steps are matched by stepId', async () => {
    const { steps } = (await api.post('/v2/workflows', comments({ tags: ['a'] }))).body
    const text = { stepId: 'text', name: 'Text', type: 'sms', controlValues: { body: 'Hi' } }
    await api.put(`${path}?upsert=true`, comments({ steps: [text], tags: [] }))
    await api.put(`${path}?upsert=true`, comments({ steps: [text, mail('New')], tags: [] }))
    const before = (await api.get(path)).body
    const answer = await api.post(`${path}/versions/1/restore`, { message: 'Back' })
    expect(answer).toMatchObject({ status: 200, body: { version: 4, tags: ['a'], workflowId: 'comments' } })
    expect(answer.headers.get('etag')).toBe(`"${answer.body.revision}"`)
    expect(answer.body.steps.map((step: any) => step._id)).toEqual([before.steps[1]._id])
    expect(answer.body.steps[0]._id).not.toBe(steps[0]._id)
    const { data } = await list()
    expect(data[0]).toMatchObject({ version: 4, message: 'Back', source: { kind: 'restore', version: 1 } })
    expect(data[0].revision).toBe(data[3].revision)
    expect(await api.post(`${path}/versions/4/restore`)).toMatchObject({ status: 200, body: { version: 4 } })
    const { rows } = await server.database.pool.query(
      "SELECT details FROM audit_log WHERE acted_in = $1 AND action = 'workflow.restored'",
      [api.environmentId],
    )
    expect(rows).toEqual([{ details: { version: 1 } }])
  })

  test('is refused if a layout that it needs is gone', async () => {
    await api.put('/v2/layouts/brand?upsert=true', { name: 'Brand' })
    const step = mail('Hi')
    await api.post(
      '/v2/workflows',
      comments({ steps: [{ ...step, controlValues: { ...step.controlValues, layoutId: 'brand' } }] }),
    )
    await api.put(`${path}?upsert=true`, comments())
    await api.delete('/v2/layouts/brand')
    expect((await api.post(`${path}/versions/1/restore`)).body.code).toBe('step_layout_not_found')
  })

  test('viewers read the history; editors restore and name', async () => {
    await api.post('/v2/workflows', comments())
    const viewer = await signInAs(server, api, 'viewer')
    expect((await viewer.get(`${path}/versions`)).status).toBe(200)
    expect((await viewer.get(`${path}/versions/compare?from=1&to=1`)).body.paths).toEqual([])
    expect((await viewer.post(`${path}/versions/1/restore`)).status).toBe(403)
    expect((await viewer.patch(`${path}/versions/1`, { message: 'x' })).status).toBe(403)
  })
})
