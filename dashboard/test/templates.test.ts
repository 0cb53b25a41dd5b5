// Every template is a workflow without issues that runs to its end.
import { expect, test } from 'vitest'
import { useServer } from '../../server/test/server.ts'
import { templates } from '../src/pages/workflows/draft/templates.ts'

const server = useServer()

test('there are at least fifteen, each with a name and a suggestion of its own', () => {
  const named = templates.filter(({ id }) => id !== 'blank')
  expect(named.length).toBeGreaterThanOrEqual(15)
  for (const member of ['id', 'name', 'suggestion', 'description'] as const)
    expect(new Set(templates.map((one) => one[member])).size).toBe(templates.length)
})

test('each can be created without an issue, and a trigger with its example fails nowhere', async () => {
  const { development } = await server.freshOrganization()
  const subscriber = { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com', phone: '+12025550143' }
  const named = templates.filter(({ id }) => id !== 'blank')
  for (const { id, suggestion, workflow } of named) {
    const made = await development.post('/v2/workflows', {
      ...workflow,
      workflowId: id,
      name: suggestion,
      active: true,
    })
    expect(made, made.text).toMatchObject({ status: 201, body: { status: 'ACTIVE' } })
    const { body } = await development.get(`/v2/workflows/${id}`)
    expect([id, body.steps.map(({ issues }: any) => issues ?? {})]).toEqual([id, body.steps.map(() => ({}))])
    const { properties } = workflow.payloadSchema as { properties: Record<string, { default: string }> }
    const payload = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, one.default]))
    const sent = await development.post('/v1/events/trigger', { name: id, to: subscriber, payload })
    expect([id, sent.body.status]).toEqual([id, 'processed'])
  }
  await server.drain()
  server.clock.advance({ days: 8 })
  await server.drain()
  const { data } = (await development.get('/v1/notifications?limit=50')).body
  expect(data).toHaveLength(named.length)
  const failures = data.flatMap((run: any) =>
    run.jobs
      .filter(({ status }: any) => status === 'failed')
      .map((job: any) => [run.template.name, job.type, job.error]),
  )
  expect(failures).toEqual([])
})
