// The public client library, unmodified, with its response validation on, reads and changes a subscriber's preferences.
import { Novu } from '@novu/api'
import { ErrorDto, ValidationErrorDto } from '@novu/api/models/errors/index.js'
import { beforeEach, expect, test } from 'vitest'
import { type Api, useServer } from './server.ts'

const server = useServer({ brand: 'novu' })
let api: Api
let novu: Novu

beforeEach(async () => {
  api = await server.freshApi()
  novu = new Novu({ serverURL: api.url, secretKey: api.key, retryConfig: { strategy: 'none' } })
  await novu.subscribers.create({ subscriberId: 'ada', timezone: 'Europe/London' })
  await create('news')
  await create('alarm', { user: { all: { enabled: true, readOnly: true }, channels: {} } })
})

async function create(workflowId: string, preferences?: object) {
  const steps = [
    { name: 'In-app', type: 'in_app', controlValues: { body: 'Hello' } },
    { name: 'Mail', type: 'email', controlValues: { subject: 'Hello', body: 'Hello' } },
  ]
  const answer = await api.post('/v2/workflows', { name: workflowId, workflowId, active: true, steps, preferences })
  expect(answer).toMatchObject({ status: 201 })
}

test('preferences are listed, by criticality and context', async () => {
  const { result } = await novu.subscribers.preferences.list({ subscriberId: 'ada' })
  expect(result).toMatchObject({
    global: { enabled: true, channels: { email: true, inApp: true } },
    workflows: [
      {
        enabled: true,
        channels: { email: true, inApp: true },
        overrides: [
          { channel: 'email', source: 'template' },
          { channel: 'in_app', source: 'template' },
        ],
        workflow: { identifier: 'news', name: 'news', slug: expect.stringMatching(/^news_wf_/) },
      },
    ],
  })
  const listed = async (request: Omit<Parameters<typeof novu.subscribers.preferences.list>[0], 'subscriberId'>) =>
    (await novu.subscribers.preferences.list({ subscriberId: 'ada', ...request })).result.workflows.map(
      ({ workflow, channels }) => [workflow.identifier, channels.email],
    )
  expect(await listed({ criticality: 'critical' })).toEqual([['alarm', true]])
  await novu.subscribers.preferences.update(
    { workflowId: 'news', channels: { email: false }, context: { tenant: 'acme', app: { id: 'jira' } } },
    'ada',
  )
  expect(await listed({ contextKeys: ['tenant:acme', 'app:jira'] })).toEqual([['news', false]])
  expect(await listed({ criticality: 'all' })).toEqual([
    ['news', true],
    ['alarm', true],
  ])
})

test('preferences are changed in general, with a schedule, and for a workflow', async () => {
  const hours = [{ start: '09:00 AM', end: '05:00 PM' }]
  const general = await novu.subscribers.preferences.update(
    {
      channels: { email: false },
      schedule: {
        isEnabled: true,
        weeklySchedule: { monday: { isEnabled: true, hours }, sunday: { isEnabled: false } },
      },
    },
    'ada',
  )
  expect(general.result.global).toEqual({
    enabled: true,
    channels: { email: false, inApp: true },
    schedule: { isEnabled: true, weeklySchedule: { monday: { isEnabled: true, hours }, sunday: { isEnabled: false } } },
  })
  const { result } = await novu.subscribers.preferences.update(
    { workflowId: 'news', channels: { email: true, inApp: false } },
    'ada',
  )
  expect(result.workflows[0]).toMatchObject({
    channels: { email: true, inApp: false },
    overrides: [
      { channel: 'email', source: 'subscriber' },
      { channel: 'in_app', source: 'subscriber' },
    ],
    updatedAt: server.clock.now().toISOString(),
  })
})

test('preferences are changed in bulk', async () => {
  const { result } = await novu.subscribers.preferences.bulkUpdate(
    { preferences: [{ workflowId: 'news', channels: { email: false } }] },
    'ada',
  )
  expect(result).toMatchObject([
    {
      level: 'template',
      workflow: { identifier: 'news', name: 'news', critical: false, tags: [], severity: 'none' },
      enabled: true,
      channels: { email: false, inApp: true },
    },
  ])
})

test('refusals are errors the client understands', async () => {
  const error = async (request: Promise<unknown>) => request.catch((thrown: unknown) => thrown)
  const { preferences } = novu.subscribers
  for (const [workflowId, statusCode] of [
    ['alarm', 400],
    ['nothing', 404],
  ] as const) {
    const refused = await error(preferences.update({ workflowId, channels: { email: false } }, 'ada'))
    expect(refused).toBeInstanceOf(ErrorDto)
    expect(refused).toMatchObject({ statusCode })
  }
  const item = { workflowId: 'news', channels: {} }
  expect(await error(preferences.bulkUpdate({ preferences: Array(101).fill(item) }, 'ada'))).toBeInstanceOf(
    ValidationErrorDto,
  )
  expect(await error(preferences.list({ subscriberId: 'nobody' }))).toMatchObject({ statusCode: 404 })
})
