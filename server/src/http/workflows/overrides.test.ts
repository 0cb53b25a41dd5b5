import { beforeEach, describe, expect, test } from 'vitest'
import { contentsOf, inApp, makeWorkflow, prefer, runOf, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
  for (const identifier of ['acme', 'zenith']) await api.post('/v1/tenants', { identifier, name: identifier })
})

const pair = { workflowId: 'hello', tenantId: 'acme' }
async function override(settings: object) {
  const answer = await api.post('/v1/workflow-overrides', { ...pair, ...settings })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body
}

describe('an override', () => {
  test('is created once per tenant and workflow, read, changed and deleted', async () => {
    const workflowId = await makeWorkflow(api, 'hello', [inApp()])
    const made = await override({ active: false, preferenceSettings: { email: false } })
    expect(made).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      _environmentId: api.environmentId,
      _organizationId: api.organizationId,
      _workflowId: workflowId,
      _tenantId: (await api.get('/v1/tenants/acme')).body._id,
      ...pair,
      active: false,
      preferenceSettings: { email: false },
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
    })
    expect(await api.post('/v1/workflow-overrides', pair)).toMatchObject({ status: 409 })
    const byId = { workflowId, tenantId: made._tenantId }
    expect(await api.post('/v1/workflow-overrides', byId)).toMatchObject({ status: 409 })
    expect((await api.get(`/v1/workflow-overrides/${made._id}`)).body).toEqual(made)
    const ofPair = '/v1/workflow-overrides/workflows/hello/tenants/acme'
    expect((await api.get(ofPair)).body).toEqual(made)
    expect((await api.put(ofPair, { active: true })).body).toMatchObject({
      active: true,
      preferenceSettings: { email: false },
    })
    const changed = (await api.put(`/v1/workflow-overrides/${made._id}`, { active: null, preferenceSettings: null }))
      .body
    expect(changed).not.toHaveProperty('active')
    expect(changed.preferenceSettings).toEqual({})
    expect((await api.delete(`/v1/workflow-overrides/${made._id}`)).status).toBe(204)
    expect((await api.get(ofPair)).status).toBe(404)
  })

  test('is created once by concurrent requests', async () => {
    await makeWorkflow(api, 'hello', [inApp()])
    const answers = await Promise.all([1, 2, 3].map(() => api.post('/v1/workflow-overrides', pair)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })

  test('is listed, newest first', async () => {
    for (const workflowId of ['hello', 'other']) {
      await makeWorkflow(api, workflowId, [inApp()])
      await api.post('/v1/workflow-overrides', { workflowId, tenantId: 'acme' })
      server.clock.advance({ seconds: 1 })
    }
    const ids = ({ body }: { body: { data: Array<{ workflowId: string }> } }) =>
      body.data.map((each) => each.workflowId)
    const first = await api.get('/v1/workflow-overrides?limit=1')
    expect([ids(first), first.body.hasMore]).toEqual([['other'], true])
    const second = await api.get('/v1/workflow-overrides?limit=1&page=1')
    expect([ids(second), second.body.hasMore]).toEqual([['hello'], false])
  })

  test('is deleted with its workflow, and with its tenant', async () => {
    await makeWorkflow(api, 'hello', [inApp()])
    await makeWorkflow(api, 'other', [inApp()])
    await override({ active: false })
    await api.post('/v1/workflow-overrides', { workflowId: 'other', tenantId: 'zenith' })
    await api.delete('/v2/workflows/other')
    expect((await api.get('/v1/workflow-overrides')).body.data).toMatchObject([pair])
    await api.delete('/v1/tenants/acme')
    expect((await api.get('/v1/workflow-overrides')).body.data).toEqual([])
  })

  test('is not found if it does not exist, or from another environment', async () => {
    await makeWorkflow(api, 'hello', [inApp()])
    const { _id } = await override({ active: false })
    const other = await server.freshApi()
    for (const id of [_id, 'nothing']) {
      expect((await other.get(`/v1/workflow-overrides/${id}`)).status).toBe(404)
      expect((await other.put(`/v1/workflow-overrides/${id}`, { active: true })).status).toBe(404)
      expect((await other.delete(`/v1/workflow-overrides/${id}`)).status).toBe(404)
    }
    expect((await api.get(`/v1/workflow-overrides/${_id}`)).body.active).toBe(false)
    const ofPair = (workflowId: string, tenantId: string) =>
      `/v1/workflow-overrides/workflows/${workflowId}/tenants/${tenantId}`
    expect(await api.get(ofPair('hello', 'zenith'))).toMatchObject({
      status: 404,
      body: { code: 'workflow_override_not_found' },
    })
    expect(await api.put(ofPair('nothing', 'acme'), {})).toMatchObject({ body: { code: 'workflow_not_found' } })
    expect(await api.get(ofPair('hello', 'nobody'))).toMatchObject({ body: { code: 'tenant_not_found' } })
    expect(await api.post('/v1/workflow-overrides', { workflowId: 'nothing', tenantId: 'acme' })).toMatchObject({
      status: 404,
    })
    expect(await api.post('/v1/workflow-overrides', { workflowId: 'hello', tenantId: 'nobody' })).toMatchObject({
      status: 404,
    })
  })

  test.each([
    [{ workflowId: 'hello' }],
    [{ tenantId: 'acme' }],
    [{ ...pair, active: 'no' }],
    [{ ...pair, preferenceSettings: { email: 'no' } }],
  ])('%j is refused', async (body) => {
    await makeWorkflow(api, 'hello', [inApp()])
    expect((await api.post('/v1/workflow-overrides', body)).status).toBe(422)
    expect((await api.get('/v1/workflow-overrides')).body.data).toEqual([])
  })
})

describe('a trigger for a tenant', () => {
  const statusFor = async (more: object) =>
    (await api.post('/v1/events/trigger', { name: 'hello', to: 'ada', ...more })).body.status

  test('does nothing if the tenant disabled the workflow', async () => {
    await makeWorkflow(api, 'hello', [inApp()])
    const { _id } = await override({ active: false })
    expect(await statusFor({ tenant: 'acme' })).toBe('trigger_not_active')
    expect(await statusFor({ tenant: { identifier: 'acme' } })).toBe('trigger_not_active')
    expect(await statusFor({ tenant: 'zenith' })).toBe('processed')
    expect(await statusFor({})).toBe('processed')
    await api.put(`/v1/workflow-overrides/${_id}`, { active: true })
    expect(await statusFor({ tenant: 'acme' })).toBe('processed')
  })

  test('runs an inactive workflow if the tenant enabled it', async () => {
    await makeWorkflow(api, 'hello', [inApp()], { active: false })
    await override({ active: true })
    expect(await statusFor({})).toBe('trigger_not_active')
    expect(await statusFor({ tenant: 'zenith' })).toBe('trigger_not_active')
    expect(await statusFor({ tenant: 'acme' })).toBe('processed')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
  })

  const sent = 'in_app completed: Step queued, Tenant context selected, Message created, Message sent'
  const run = async (tenant: string | undefined) => {
    const transactionId = await trigger(api, 'hello', 'ada', tenant ? { tenant } : {})
    await server.drain()
    return runOf(api, transactionId)
  }

  test('uses the channels of the tenant, and says that the tenant decided', async () => {
    await makeWorkflow(api, 'hello', [inApp()])
    await override({ preferenceSettings: { in_app: false } })
    const held = await run('acme')
    expect(storyOf(held)).toEqual([
      'in_app canceled: Step queued, Tenant context selected, Step filtered by tenant workflow override',
    ])
    expect(held.jobs[0].reason).toBe('preference')
    expect(JSON.parse(held.jobs[0].executionDetails[2].raw)).toMatchObject({ decidedBy: 'tenant', enabled: false })
    expect(storyOf(await run('zenith'))).toEqual([sent])
    expect((await run(undefined)).jobs[0].status).toBe('completed')
  })

  test('ranks the tenant above the workflow, and below the subscriber', async () => {
    await makeWorkflow(api, 'hello', [inApp()], { preferences: { user: { channels: { in_app: { enabled: false } } } } })
    await override({ preferenceSettings: { in_app: true, email: false } })
    expect(storyOf(await run('acme'))).toEqual([sent])
    await prefer(api, 'ada', { channels: { in_app: false } })
    expect(storyOf(await run('acme'))[0]).toContain('Step filtered by subscriber global preferences')
  })

  test('ignores the subscriber, but not the tenant, for a critical workflow', async () => {
    await makeWorkflow(api, 'hello', [inApp()], { preferences: { user: { all: { readOnly: true } } } })
    await prefer(api, 'ada', { channels: { in_app: true } })
    await override({ preferenceSettings: { in_app: false } })
    expect(storyOf(await run('acme'))[0]).toContain('Step filtered by tenant workflow override')
  })
})
