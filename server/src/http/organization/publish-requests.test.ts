import { beforeEach, describe, expect, test } from 'vitest'
import { step, writeWorkflow } from '../../../test/environment-content.ts'
import { type PersonApi, signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let development: Api
let production: Api
let owner: PersonApi
let ada: PersonApi
let grace: PersonApi
/** Editor in Development, viewer in Production. */
let editor: PersonApi
let at: string

beforeEach(async () => {
  ;({ development, production } = await server.freshOrganization())
  at = `/v2/environments/${production.environmentId}`
  owner = await signInAs(server, development, 'owner')
  ada = await signInAs(server, development, 'admin')
  grace = await signInAs(server, development, 'admin')
  editor = await signInAs(server, development, 'editor')
  await ada.patch(`/v1/auth/members/${editor.id}`, {
    environmentRoles: [{ _environmentId: production.environmentId, role: 'viewer' }],
  })
  await ada.patch(`${at}/protection`, { isProtected: true })
  await write('welcome')
})

const write = (identifier: string, name = 'One', api = development) =>
  writeWorkflow(server, api, identifier, { steps: [step('a', { name })] })
const ask = async (by: Api = editor, body: object = {}) => (await by.post(`${at}/publish-requests`, body)).body
const decide = (by: PersonApi, id: string, word: 'approve' | 'decline', body: object = {}, headers: object = {}) =>
  by.post(`${at}/publish-requests/${id}/${word}`, body, { ...headers })
const workflowsIn = async (api: Api) =>
  (await owner.at(api).get('/v2/workflows')).body.workflows.map((one: { workflowId: string }) => one.workflowId).sort()
const refusal = (status: number, code: string) => ({ status, body: { code } })

describe('a publish into a protected environment', () => {
  test('is refused, and asked for instead; a second person approves it', async () => {
    expect(await ada.post(`${at}/publish`, {})).toMatchObject(refusal(403, 'approval_needed'))
    expect(await ada.post(`${at}/publish`, { dryRun: true })).toMatchObject({ status: 200 })
    const sync = await ada.put('/v2/workflows/welcome/sync', { targetEnvironmentId: production.environmentId })
    expect(sync).toMatchObject(refusal(403, 'approval_needed'))
    const request = await ask(editor, { comment: ' The new welcome ' })
    expect(request).toMatchObject({
      status: 'pending',
      comment: 'The new welcome',
      requestedBy: { type: 'person', id: editor.id, name: 'An editor' },
      resources: [{ resourceType: 'workflow', resourceId: 'welcome', action: 'created' }],
      isYours: true,
      mayDecide: false,
    })
    expect(await workflowsIn(production)).toEqual([])
    const { body: seen } = await grace.get(`${at}/publish-requests/${request._id}`)
    expect(seen).toMatchObject({
      mayDecide: true,
      changedSince: [],
      diff: [{ sourceResource: { id: 'welcome' }, targetResource: null, summary: { added: 2 } }],
    })
    const named = { 'belfry-message': encodeURIComponent('Welcome, größer') }
    expect(await decide(grace, request._id, 'approve', { comment: 'Fine' }, named)).toMatchObject({
      status: 200,
      body: {
        request: { status: 'approved', decidedBy: { id: grace.id }, decisionComment: 'Fine' },
        report: { summary: { successful: 1 } },
      },
    })
    expect(await workflowsIn(production)).toEqual(['welcome'])
    const { body: history } = await owner.at(production).get('/v2/workflows/welcome/versions')
    expect(history.data).toMatchObject([{ message: 'Welcome, größer', source: { kind: 'publish' } }])
    const { body: acts } = await owner.get('/v1/audit?action=publish')
    expect(acts.data).toMatchObject([
      { action: 'publish.approved', actor: { id: grace.id }, target: { name: 'Production' } },
      { action: 'publish.requested', actor: { id: editor.id }, details: { from: 'Development', created: 1 } },
    ])
  })

  test('cannot be approved by the person who asked, nor by somebody who may not publish there', async () => {
    const own = await ask(ada)
    expect(await decide(ada, own._id, 'approve')).toMatchObject(refusal(403, 'own_publish_request'))
    expect(await decide(editor, own._id, 'approve')).toMatchObject(refusal(403, 'insufficient_role'))
    await ada.patch(`/v1/auth/members/${editor.id}`, {
      environmentRoles: [{ _environmentId: production.environmentId, role: 'admin' }],
    })
    expect(await decide(editor, own._id, 'approve')).toMatchObject({ status: 200 })
  })

  test('by two approvers at once happens once', async () => {
    const { _id } = await ask()
    const answers = await Promise.all([ada, grace, owner].map((by) => decide(by, _id, 'approve')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect(answers.filter(({ body }) => body.code === 'publish_request_closed')).toHaveLength(2)
    const { body: acts } = await owner.get('/v1/audit?action=publish.approved')
    expect(acts.data).toHaveLength(1)
  })

  test('publishes what was reviewed and nothing else', async () => {
    const { _id } = await ask()
    await write('later')
    expect(await decide(grace, _id, 'approve')).toMatchObject({ status: 200 })
    expect(await workflowsIn(production)).toEqual(['welcome'])
  })

  test.each([
    ['the source has changed', () => write('welcome', 'Two')],
    ['the source is gone', () => owner.delete('/v2/workflows/welcome')],
    ['the target has changed', () => write('welcome', 'Three', production)],
  ])('is refused if %s since, and says what', async (_, change) => {
    const { _id } = await ask()
    await change()
    const before = await workflowsIn(production)
    expect((await grace.get(`${at}/publish-requests/${_id}`)).body.changedSince).toEqual(['Workflow welcome'])
    expect(await decide(grace, _id, 'approve')).toMatchObject({
      status: 409,
      body: { code: 'publish_request_outdated', ctx: { changed: ['Workflow welcome'] } },
    })
    expect(await workflowsIn(production)).toEqual(before)
  })

  test('that was changed and changed back can be approved', async () => {
    const { _id } = await ask()
    await write('welcome', 'Two')
    await write('welcome', 'One')
    expect(await decide(grace, _id, 'approve')).toMatchObject({ status: 200 })
  })

  test('deletes only if asked to, and only what was reviewed', async () => {
    await write('old', 'One', production)
    expect((await ask()).resources).toMatchObject([{ resourceId: 'welcome', action: 'created' }])
    const { _id, resources } = await ask(editor, { deleteMissing: true })
    expect(resources).toMatchObject([
      { resourceId: 'old', action: 'deleted' },
      { resourceId: 'welcome', action: 'created' },
    ])
    await write('older', 'One', production)
    expect(await decide(grace, _id, 'approve')).toMatchObject({ status: 200 })
    expect(await workflowsIn(production)).toEqual(['older', 'welcome'])
  })

  test('of chosen resources takes only these', async () => {
    await write('other')
    const resources = [{ resourceType: 'workflow', resourceId: 'other' }]
    expect((await ask(editor, { resources })).resources).toMatchObject([{ resourceId: 'other' }])
  })
})

describe('a request', () => {
  test('is declined with a reason', async () => {
    const { _id } = await ask()
    expect(await decide(grace, _id, 'decline')).toMatchObject({ status: 422 })
    expect(await decide(grace, _id, 'decline', { comment: 'A typo' })).toMatchObject({
      status: 200,
      body: { status: 'declined', decisionComment: 'A typo', decidedBy: { name: 'An admin' } },
    })
    expect(await decide(ada, _id, 'approve')).toMatchObject({
      status: 409,
      body: { code: 'publish_request_closed', ctx: { status: 'declined' } },
    })
  })

  test('is withdrawn by those who made it only', async () => {
    const { _id } = await ask()
    const withdraw = (by: PersonApi) => by.post(`${at}/publish-requests/${_id}/withdraw`)
    expect(await withdraw(grace)).toMatchObject(refusal(403, 'not_your_publish_request'))
    expect(await withdraw(editor)).toMatchObject({ status: 200, body: { status: 'withdrawn' } })
    expect(await withdraw(editor)).toMatchObject(refusal(409, 'publish_request_closed'))
  })

  test('expires after seven days', async () => {
    const { _id } = await ask()
    server.clock.advance({ hours: 7 * 24 })
    expect(await decide(grace, _id, 'approve')).toMatchObject({
      status: 409,
      body: { code: 'publish_request_closed', ctx: { status: 'expired' } },
    })
    const { body } = await grace.get(`${at}/publish-requests?status=expired`)
    expect(body).toMatchObject([{ _id, status: 'expired', mayDecide: false }])
    expect((await grace.get(`${at}/publish-requests?status=pending`)).body).toEqual([])
  })

  test('needs something to publish, a protected target, and an editor of the source', async () => {
    const viewer = await signInAs(server, development, 'viewer')
    expect(await viewer.post(`${at}/publish-requests`, {})).toMatchObject(refusal(403, 'insufficient_role'))
    const resources = [{ resourceType: 'layout', resourceId: 'default-layout' }]
    expect(await editor.post(`${at}/publish-requests`, { resources })).toMatchObject(
      refusal(409, 'publish_request_empty'),
    )
    await owner.patch(`${at}/protection`, { isProtected: false })
    expect(await editor.post(`${at}/publish-requests`, {})).toMatchObject(refusal(409, 'publish_request_unneeded'))
    expect(await editor.get(`${at}/publish-requests/nothing`)).toMatchObject(refusal(404, 'publish_request_not_found'))
  })

  test('is one of a hundred at most', async () => {
    for (let made = 0; made < 100; made++) await ask()
    expect(await editor.post(`${at}/publish-requests`, {})).toMatchObject(refusal(409, 'too_many_publish_requests'))
  })

  test('is listed for those who see both environments', async () => {
    const { _id } = await ask()
    const listed = async (by: PersonApi) =>
      (await by.get('/v1/auth/publish-requests?status=pending')).body.map((one: { _id: string }) => one._id)
    const viewer = await signInAs(server, development, 'viewer')
    expect(await listed(viewer)).toEqual([_id])
    for (const closed of [development, production]) {
      await ada.patch(`/v1/auth/members/${viewer.id}`, {
        environmentRoles: [{ _environmentId: closed.environmentId, role: 'none' }],
      })
      expect(await listed(viewer)).toEqual([])
      expect((await viewer.get(`${at}/publish-requests/${_id}`)).status).toBeGreaterThanOrEqual(403)
    }
  })

  test('tells webhooks of the target, with names', async () => {
    await owner.at(production).post('/v2/webhooks/endpoints', { url: 'https://example.com/hook' })
    const { _id } = await ask()
    await decide(grace, _id, 'approve')
    const { body } = await production.get('/v2/webhooks/events?type=publish.requested')
    expect(body.data).toMatchObject([
      {
        type: 'publish.requested',
        object: 'publish',
        data: { object: { _id, requestedBy: { name: 'An editor' }, resources: [{ resourceId: 'welcome' }] } },
      },
    ])
    expect((await production.get('/v2/webhooks/events?type=publish.approved')).body.totalCount).toBe(1)
  })
})

describe('API keys', () => {
  test('ask like people, and the person who made the key cannot approve', async () => {
    const { body: made } = await ada.post('/v2/api-keys', {
      name: 'CI',
      scopes: [`publish:${production.environmentId}`],
    })
    const { environmentId, organizationId } = development
    const key = new (development.constructor as typeof Api)(server.url, made.key, environmentId, organizationId)
    expect(await key.post(`${at}/publish`, {})).toMatchObject(refusal(403, 'approval_needed'))
    const request = await ask(key)
    expect(request).toMatchObject({ requestedBy: { type: 'api-key', name: 'CI' } })
    expect(await key.get(`${at}/publish-requests/${request._id}`)).toMatchObject({ body: { status: 'pending' } })
    expect(await key.post(`${at}/publish-requests/${request._id}/approve`, {})).toMatchObject(
      refusal(403, 'people_only'),
    )
    expect(await decide(ada, request._id, 'approve')).toMatchObject(refusal(403, 'own_publish_request'))
    expect(await decide(grace, request._id, 'approve')).toMatchObject({ status: 200 })
  })

  test('publish and change content only if an owner opened the protection to automation', async () => {
    const wide = await server.organizationOf(production)
    const layout = { name: 'Frame', layoutId: 'frame' }
    expect(await wide.post(`${at}/publish`, {})).toMatchObject(refusal(403, 'approval_needed'))
    expect(await production.post('/v2/layouts', layout)).toMatchObject(refusal(403, 'content_protected'))
    const open = { isOpenToAutomation: true }
    expect(await ada.patch(`${at}/protection`, open)).toMatchObject(refusal(403, 'protection_owner_needed'))
    expect(await owner.patch(`${at}/protection`, open)).toMatchObject({
      status: 200,
      body: { isProtected: true, isOpenToAutomation: true },
    })
    expect(await wide.post(`${at}/publish`, {})).toMatchObject({ status: 200 })
    expect(await production.post('/v2/layouts', layout)).toMatchObject({ status: 201 })
    expect(await owner.post(`${at}/publish`, {})).toMatchObject(refusal(403, 'approval_needed'))
  })
})

describe('protection', () => {
  test('refuses every other way to change the content, and nothing else', async () => {
    const there = owner.at(production)
    const bridge = { bridge: { url: 'https://example.com/bridge' } }
    const refused = refusal(403, 'content_protected')
    await write('live', 'One', production)
    expect(await there.post('/v2/workflows', { name: 'X', workflowId: 'x', steps: [] })).toMatchObject(refused)
    expect(await there.patch('/v2/workflows/live', { name: 'Y' })).toMatchObject(refused)
    expect(await there.patch('/v2/workflows/live', { active: true })).toMatchObject(refused)
    expect(await there.delete('/v2/workflows/live')).toMatchObject(refused)
    expect(await there.post('/v2/layouts', { name: 'X', layoutId: 'x' })).toMatchObject(refused)
    expect(await there.post('/v2/translations', {})).toMatchObject(refused)
    expect(await there.post('/v2/translations/master-json', {})).toMatchObject(refused)
    expect(await there.post('/v1/bridge/sync', {})).toMatchObject(refused)
    expect(await owner.put(`/v1/environments/${production.environmentId}`, bridge)).toMatchObject(refused)
    // Pausing, operating and settings are no content.
    expect(await there.patch('/v2/workflows/live', { active: false })).toMatchObject({ status: 200 })
    expect(await there.post('/v2/topics', { key: 'a' })).toMatchObject({ status: 201 })
    const color = { color: '#123456' }
    expect(await owner.put(`/v1/environments/${production.environmentId}`, color)).toMatchObject({ status: 200 })
    const trigger = { name: 'live', to: 'ada' }
    expect((await production.post('/v1/events/trigger', trigger)).status).toBe(201)
    expect(await owner.post('/v2/layouts', { name: 'X', layoutId: 'x' })).toMatchObject({ status: 201 })
  })

  test('is turned on by admins, and off by owners only, which is audited', async () => {
    expect(await ada.patch(`${at}/protection`, { isProtected: false })).toMatchObject(
      refusal(403, 'protection_owner_needed'),
    )
    const key = await server.organizationOf(production)
    expect(await key.patch(`${at}/protection`, { isProtected: false })).toMatchObject(refusal(403, 'people_only'))
    expect(await editor.patch(`${at}/protection`, { isProtected: true })).toMatchObject(
      refusal(403, 'insufficient_role'),
    )
    expect(await owner.patch(`${at}/protection`, { isProtected: false })).toMatchObject({
      body: { isProtected: false, isOpenToAutomation: false },
    })
    expect(await ada.post(`${at}/publish`, {})).toMatchObject({ status: 200 })
    const { body } = await owner.get('/v1/audit?action=environment')
    expect(body.data).toMatchObject([
      { action: 'environment.published' },
      { action: 'environment.unprotected', actor: { id: owner.id }, target: { name: 'Production' } },
      { action: 'environment.protected', actor: { id: ada.id } },
    ])
    expect((await editor.get(`${at}/protection`)).body).toEqual({ isProtected: false, isOpenToAutomation: false })
  })

  test('keeps the environment from being deleted', async () => {
    const { body: staging } = await owner.post('/v1/environments', { name: 'Staging', color: '#123456' })
    await ada.patch(`/v2/environments/${staging._id}/protection`, { isProtected: true })
    expect(await owner.delete(`/v1/environments/${staging._id}`)).toMatchObject(refusal(409, 'protection_first'))
  })

  test('is off in new organizations and environments', async () => {
    const { body: staging } = await owner.post('/v1/environments', { name: 'Staging', color: '#123456' })
    const { body } = await owner.get(`/v2/environments/${staging._id}/protection`)
    expect(body).toEqual({ isProtected: false, isOpenToAutomation: false })
    const fresh = await server.freshOrganizationWide()
    const answer = await fresh.development.post(`/v2/environments/${fresh.production.environmentId}/publish`, {})
    expect(answer.status).toBe(200)
  })

  test('reaches other processes at once', async () => {
    const other = await server.startAnother()
    const there = owner.at({ url: other.url, environmentId: production.environmentId })
    expect(await there.post('/v2/layouts', { name: 'X', layoutId: 'x' })).toMatchObject({ status: 403 })
    await owner.patch(`${at}/protection`, { isProtected: false })
    await expect.poll(async () => (await there.post('/v2/layouts', { name: 'X', layoutId: 'x' })).status).toBe(201)
  })
})
