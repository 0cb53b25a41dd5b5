// The public client library, unmodified, compares and publishes environments and syncs a workflow.
import { Novu } from '@novu/api'
import { ResourceTypeEnum } from '@novu/api/models/components/index.js'
import { ErrorDto, ResponseValidationError } from '@novu/api/models/errors/index.js'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Api, useServer } from './server.ts'

const server = useServer({ brand: 'novu' })
let target: Api
let development: Novu
let production: Novu

beforeEach(async () => {
  const apis = await server.freshOrganization()
  const clientOf = ({ url, key }: Api) =>
    new Novu({ serverURL: url, secretKey: key, retryConfig: { strategy: 'none' } })
  target = apis.production
  development = clientOf(apis.development)
  production = clientOf(apis.production)
  await development.layouts.create({ layoutId: 'brand', name: 'Brand' })
  await development.workflows.create({
    name: 'Welcome',
    workflowId: 'welcome',
    active: true,
    tags: ['people'],
    steps: [
      { name: 'Bell', type: 'in_app', controlValues: { body: 'Welcome, {{subscriber.firstName}}' } },
      { name: 'Mail', type: 'email', controlValues: { subject: 'Welcome', body: '', layoutId: 'brand' } },
    ],
  })
})

/**
 * The client's types for diff and publish expect other values under `resourceType`, so it cannot parse these answers and
 * throws them. Those values must be the only mismatch.
 */
async function answerOf(request: Promise<unknown>) {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ResponseValidationError)
  const { cause, rawValue } = error as ResponseValidationError
  const { issues } = cause as { issues: Array<{ code: string; path: unknown[]; options: string[] }> }
  for (const { code, path, options } of issues)
    expect({ code, member: path.at(-1), options }).toEqual({
      code: 'invalid_enum_value',
      member: 'resourceType',
      options: ['REGULAR', 'ECHO', 'BRIDGE'],
    })
  return (rawValue as { Result: Record<string, unknown> }).Result
}

describe('diff', () => {
  test('shows the differences between environments', async () => {
    expect(await answerOf(development.environments.diff({}, target.environmentId))).toMatchObject({
      targetEnvironmentId: target.environmentId,
      resources: [
        { resourceType: 'workflow', sourceResource: { id: 'welcome' }, dependencies: [{ resourceId: 'brand' }] },
        { resourceType: 'layout', sourceResource: { id: 'brand' } },
      ],
    })
  })

  test('an answer without differences can be parsed', async () => {
    await answerOf(development.environments.publish({}, target.environmentId))
    const { result } = await development.environments.diff({}, target.environmentId)
    expect(result).toMatchObject({ resources: [], summary: { totalChanges: 0, hasChanges: false } })
  })

  test('a refusal is an ErrorDto', async () => {
    const error = await development.environments.diff({}, '0'.repeat(24)).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ErrorDto)
    expect(error).toMatchObject({ statusCode: 400 })
  })
})

describe('publish', () => {
  test('a dry run changes nothing, and publishing does what it announced', async () => {
    expect(await answerOf(development.environments.publish({ dryRun: true }, target.environmentId))).toMatchObject({
      results: [
        { resourceType: 'workflow', skipped: [{ resourceId: 'welcome', reason: 'Dry run mode: would be created' }] },
        { resourceType: 'layout', skipped: [{ reason: 'Dry run mode: would be created' }, {}] },
      ],
    })
    expect((await production.workflows.list({})).result.totalCount).toBe(0)
    expect(await answerOf(development.environments.publish({}, target.environmentId))).toMatchObject({
      summary: { resources: 3, successful: 2, failed: 0, skipped: 1 },
    })
    const { result } = await production.workflows.get('welcome')
    expect(result).toMatchObject({ name: 'Welcome', tags: ['people'], steps: [{ stepId: 'bell' }, { stepId: 'mail' }] })
    const source = (await development.workflows.get('welcome')).result
    expect(source.lastPublishedAt).toBe(server.clock.now().toISOString())
    expect(source.lastPublishedBy?.id).toEqual(expect.any(String))
  })

  test('a resource can be named with a type the client knows', async () => {
    await development.workflows.create({ name: 'Other', workflowId: 'other', steps: [] })
    const resources = [{ resourceType: ResourceTypeEnum.Bridge, resourceId: 'welcome' }]
    await answerOf(development.environments.publish({ resources }, target.environmentId))
    const { result } = await production.workflows.list({})
    expect(result.workflows.map(({ workflowId }) => workflowId)).toEqual(['welcome'])
  })
})

test('sync answers with the workflow of the target', async () => {
  const { result } = await development.workflows.sync({ targetEnvironmentId: target.environmentId }, 'welcome')
  expect(result).toMatchObject({ workflowId: 'welcome', origin: 'novu-cloud', lastPublishedAt: null })
  expect((await production.workflows.get('welcome')).result.id).toBe(result.id)
  expect((await production.layouts.retrieve('brand')).result.layoutId).toBe('brand')
  const error = await development.workflows
    .sync({ targetEnvironmentId: target.environmentId }, 'nope')
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ErrorDto)
  expect(error).toMatchObject({ statusCode: 404 })
})
