import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { step, workflow, writeWorkflow } from '../../../test/environment-content.ts'
import { type Api, lowLimits, useServer } from '../../../test/server.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import { deleteWorkflow, findWorkflow, type WorkflowFields } from '../../db/queries/workflows.ts'

const server = useServer({ limits: lowLimits })

const save = (api: Api, identifier: string, changes?: Partial<WorkflowFields>) =>
  writeWorkflow(server, api, identifier, changes)
const find = (api: Api, identifier: string) => findWorkflow(server.database.db, api.environmentId, identifier)
const sync = (api: Api, workflowId: string, target: Api | string) =>
  api.put(`/v2/workflows/${workflowId}/sync`, {
    targetEnvironmentId: typeof target === 'string' ? target : target.environmentId,
  })
const mail = (layoutId: string) => step('mail', { type: 'email', controlValues: { subject: 'Hi', body: '', layoutId } })

test('a workflow is created in the target with its layouts, and returned as it is there', async () => {
  const { development, production } = await server.freshOrganizationWide()
  await development.post('/v2/layouts', { layoutId: 'brand', name: 'Brand' })
  await development.post('/v2/layouts', { layoutId: 'other', name: 'Other' })
  await save(development, 'other')
  const source = await save(development, 'welcome', { tags: ['people'], steps: [step('bell'), mail('brand')] })
  const answer = await sync(development, 'welcome', production)
  expect(answer).toMatchObject({
    status: 200,
    body: {
      workflowId: 'welcome',
      name: 'Workflow welcome',
      tags: ['people'],
      active: true,
      origin: 'svc-cloud',
      lastPublishedAt: null,
      steps: [{ stepId: 'bell' }, { stepId: 'mail', controls: { values: { layoutId: 'brand' } } }],
    },
  })
  expect(answer.body._id).not.toBe(source.id)
  expect(await find(production, 'welcome')).toMatchObject({ id: answer.body._id })
  expect(await find(production, 'other')).toBeUndefined()
  const { layouts } = (await production.get('/v2/layouts')).body
  expect(layouts.map(({ layoutId }: { layoutId: string }) => layoutId).sort()).toEqual(['brand', 'default-layout'])
})

test('an existing workflow in the target becomes like the source, steps keep their ids, and nothing else changes', async () => {
  const { development, production } = await server.freshOrganizationWide()
  await save(development, 'w', { steps: [step('a'), step('b')] })
  const first = (await sync(development, 'w', production)).body
  await save(development, 'w', { name: 'Renamed', steps: [step('b'), step('c')] })
  await save(production, 'kept')
  const second = (await sync(development, 'w', production)).body
  expect(second).toMatchObject({
    _id: first._id,
    name: 'Renamed',
    steps: [{ stepId: 'b', _id: first.steps[1]._id }, { stepId: 'c' }],
  })
  expect(await find(production, 'w')).toMatchObject({ version: 2 })
  expect(await find(production, 'kept')).toMatchObject({ version: 1 })
})

test('the source shows when and by whom it was published, even if nothing changed', async () => {
  const { development, production } = await server.freshOrganizationWide()
  await save(development, 'w')
  await sync(development, 'w', production)
  server.clock.advance({ hours: 1 })
  expect((await sync(development, 'w', production)).status).toBe(200)
  const { _userId } = (await development.get('/v1/environments/api-keys')).body[0]
  expect(await find(development, 'w')).toMatchObject({
    last_published_at: server.clock.now(),
    last_published_by: _userId,
    version: 1,
  })
  expect(await find(production, 'w')).toMatchObject({ version: 1 })
})

test('a workflow is named by identifier, slug or id', async () => {
  const { development, production } = await server.freshOrganizationWide()
  const { id } = await save(development, 'w')
  const { slug } = (await sync(development, 'w', production)).body
  const own = (await sync(production, 'w', development)).body
  expect(own).toMatchObject({ _id: id, workflowId: 'w' })
  for (const name of [id, own.slug]) expect((await sync(development, name, production)).body.slug).toBe(slug)
})

test('concurrent syncs create one workflow', async () => {
  const { development, production } = await server.freshOrganizationWide()
  await save(development, 'w', { steps: [step('a')] })
  const answers = await Promise.all(Array.from({ length: 4 }, () => sync(development, 'w', production)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(new Set(answers.map(({ body }) => body._id)).size).toBe(1)
  expect(await find(production, 'w')).toMatchObject({ version: 1 })
})

test('deleting a workflow during its sync deletes nothing in the target', async () => {
  const { development, production } = await server.freshOrganizationWide()
  const { id } = await save(development, 'w')
  await sync(development, 'w', production)
  const { syncing } = await server.database.db.transaction().execute(async (tx) => {
    await lockEnvironment(tx, production.environmentId)
    const underWay = sync(development, 'w', production)
    await vi.waitFor(async () => {
      const { rows } = await sql`
        SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
          AND query LIKE '%from "environments"%for no key update'`.execute(server.database.db)
      expect(rows).toHaveLength(1)
    })
    await deleteWorkflow(tx, development.environmentId, id, server.clock.now())
    return { syncing: underWay }
  })
  expect(await syncing).toMatchObject({ status: 404, body: { message: 'Workflow cannot be found' } })
  expect(await find(production, 'w')).toBeDefined()
})

describe('refusals', () => {
  test('the target must be another environment of the organization', async () => {
    const [{ development, production }, other] = [
      await server.freshOrganizationWide(),
      await server.freshOrganizationWide(),
    ]
    await save(development, 'w')
    expect(await sync(development, 'w', development)).toMatchObject({
      status: 400,
      body: { message: 'Source and target environment are the same; name two different ones' },
    })
    for (const id of ['nonsense', '0'.repeat(24), other.production.environmentId])
      expect(await sync(development, 'w', id)).toMatchObject({
        status: 404,
        body: { message: `Environment ${id} not found` },
      })
    expect(await find(other.production, 'w')).toBeUndefined()
    expect(await find(development, 'w')).toMatchObject({ last_published_at: null })
    expect(await find(production, 'w')).toBeUndefined()
  })

  test("the workflow must be in the key's environment", async () => {
    const { development, production } = await server.freshOrganizationWide()
    const { id } = await save(production, 'theirs')
    for (const name of ['theirs', id, 'nope'])
      expect(await sync(development, name, production)).toMatchObject({
        status: 404,
        body: { message: 'Workflow cannot be found', workflowId: name },
      })
    expect(await find(production, 'theirs')).toBeDefined()
  })

  test.each(['external', 'svc-cloud-v1'])('a workflow of origin %s cannot be synced', async (origin) => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'w', { origin })
    expect(await sync(development, 'w', production)).toMatchObject({
      status: 400,
      body: {
        message:
          'Workflow "w" cannot be copied to another environment: only workflows made in the dashboard or with the API can',
        ctx: { workflowId: 'w', allowedOrigins: ['svc-cloud'] },
      },
    })
    expect(await find(production, 'w')).toBeUndefined()
  })

  test('a workflow of another origin in the target is not overwritten', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'w', { name: 'Mine' })
    await save(production, 'w', { name: 'Code', origin: 'external' })
    expect((await sync(development, 'w', production)).status).toBe(400)
    expect(await find(production, 'w')).toMatchObject({ name: 'Code' })
    expect(await find(development, 'w')).toMatchObject({ last_published_at: null })
  })

  test('a full target accepts changes, but no new workflow', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'w0', { name: 'Changed' })
    await save(development, 'one-more')
    const { database, clock } = server
    await database.db
      .insertInto('workflows')
      .values(
        Array.from({ length: lowLimits.workflows }, (_, index) => ({
          environment_id: production.environmentId,
          id: index.toString(16).padStart(24, '0'),
          identifier: `w${index}`,
          name: workflow('w').name,
          created_at: clock.now(),
          updated_at: clock.now(),
        })),
      )
      .execute()
    expect(await sync(development, 'one-more', production)).toMatchObject({
      status: 400,
      body: {
        message: 'An environment cannot have more than 100 workflows',
        ctx: { currentCount: 101, limit: 100 },
      },
    })
    expect((await sync(development, 'w0', production)).body.name).toBe('Changed')
    const dryRun = await development.post(`/v2/environments/${production.environmentId}/publish`, { dryRun: true })
    expect(dryRun).toMatchObject({ status: 400, body: { code: 'too_many_workflows' } })
  })

  test.each([
    [{}, 'targetEnvironmentId should not be empty'],
    [{ targetEnvironmentId: '' }, 'targetEnvironmentId should not be empty'],
    [{ targetEnvironmentId: 5 }, 'targetEnvironmentId must be a string'],
  ])('%j is refused', async (body, message) => {
    const answer = await server.wideApi.put('/v2/workflows/w/sync', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })

  test('a key is needed', async () => {
    const answer = await server.wideApi.put('/v2/workflows/w/sync', {}, { authorization: 'ApiKey unknown' })
    expect(answer).toMatchObject({ status: 401, body: { message: 'API Key not found' } })
  })
})
