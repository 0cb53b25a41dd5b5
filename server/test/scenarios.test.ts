// Plays every scenario of the documentation: simulated, and lived through in an environment whose clock is held.
import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { NotLivable } from '../../scripts/livable.mjs'
import { live } from '../../scripts/live.mjs'
import { expectations } from '../src/engine/simulation/expectations.ts'
import { momentMs } from '../src/engine/simulation/moments.ts'
import { useServer } from './server.ts'

const server = useServer()
const folder = new URL('../../docs/scenarios/', import.meta.url)

interface Scenario {
  startAt: string
  expect: Array<Record<string, unknown>>
}

const scenarios = readdirSync(folder)
  .filter((file) => file.endsWith('.scenario.yaml'))
  .flatMap((file) =>
    [...parseAllDocuments(readFileSync(new URL(file, folder), 'utf8'))].map((document) => {
      const { name, ...body } = document.toJS() as { name: string } & Scenario
      return { file, name, body: body as Scenario }
    }),
  )

/** They need other providers than the sandbox. */
const onlySimulated = ['failover.scenario.yaml']

test('there is a scenario for everything that takes days', () => {
  expect([...new Set(scenarios.map(({ file }) => file.split('.')[0]))]).toEqual([
    ...[
      'buttons',
      'cancel',
      'digest-windows',
      'digest',
      'dst',
      'failover',
      'gates',
      'quiet-hours',
      'reminder',
      'retries',
      'throttle',
    ],
  ])
})

test.each(scenarios)('$file › $name', async ({ body }) => {
  const answer = await server.api.post('/v1/simulations', body)
  expect(answer.status, answer.text.slice(0, 1_000)).toBe(200)
  expect(answer.body.expectations.filter(({ holds }: { holds: boolean }) => !holds)).toEqual([])
  expect(answer.body.passed).toBe(true)
})

test('a stored workflow is lived through as it is, with its layout', async () => {
  const { api } = server
  const layout = { name: 'Frame', layoutId: 'frame' }
  expect((await api.post('/v2/layouts', layout)).status).toBe(201)
  const body = '<html><body>In a frame: {{content}}</body></html>'
  const framed = await api.put('/v2/layouts/frame', {
    name: 'Frame',
    controlValues: { email: { body, editorType: 'html' } },
  })
  expect(framed, framed.text).toMatchObject({ status: 200 })
  const mail = { subject: 'Hello', body: 'Hello', layoutId: 'frame' }
  const steps = [{ name: 'Mail', stepId: 'mail', type: 'email', controlValues: mail }]
  const made = await api.post('/v2/workflows', { name: 'Framed', workflowId: 'framed', active: true, steps })
  expect(made, made.text).toMatchObject({ status: 201 })
  const framedLife = await live(
    { url: server.url, key: server.wideApi.key },
    {
      ...{ workflow: { workflowId: 'framed' }, startAt: '2026-05-01T10:00:00Z' },
      subscribers: [{ subscriberId: 'ada', email: 'ada@example.com' }],
      inputs: [{ at: '+0s', type: 'trigger', to: 'ada' }],
    },
    { momentMs },
  )
  expect(framedLife.messages).toMatchObject([{ status: 'sent', html: expect.stringContaining('In a frame') }])
  expect(framedLife.triggers).toMatchObject([{ at: '2026-05-01T10:00:00.000Z', status: 'processed', runs: 1 }])
})

test.each(scenarios)('$file › $name, lived through', async ({ file, body }) => {
  const living = live({ url: server.url, key: server.wideApi.key }, { ...body }, { momentMs })
  if (onlySimulated.includes(file)) return expect(living).rejects.toThrow(NotLivable)
  const told = expectations(body.expect, await living, momentMs(body.startAt))
  expect(told.expectations.filter(({ holds }) => !holds)).toEqual([])
})

test('the file in docs/testing.md holds, simulated and lived through', async () => {
  const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8')
  const [shown = ''] = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].flatMap(([, text = '']) =>
    text.includes('inputs:') ? [text] : [],
  )
  const { name, ...body } = parse(shown) as { name: string } & Scenario
  expect(name).toContain('the clocks change')
  const steps = [
    { name: 'Collect', stepId: 'collect', type: 'digest', controlValues: { amount: 10, unit: 'minutes' } },
    {
      ...{ name: 'Mail', stepId: 'mail', type: 'email' },
      controlValues: { subject: '{{steps.collect.eventCount}} comments', body: 'Hello' },
    },
  ]
  const made = await server.api.post('/v2/workflows', { name: 'C', workflowId: 'comments', active: true, steps })
  expect(made, made.text).toMatchObject({ status: 201 })
  const answer = await server.api.post('/v1/simulations', body)
  expect(answer.body, answer.text.slice(0, 1_000)).toMatchObject({ passed: true })
  const lives = expectations(body.expect, await lived(body), momentMs(body.startAt))
  expect(lives.expectations).toMatchObject([{ holds: true }])
})

const mailTo = (name: string, more: object = {}) => ({
  ...{ workflowId: name, name, active: true, ...more },
  steps: [
    { name: 'Wait', stepId: 'wait', type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
    { name: 'Mail', stepId: 'mail', type: 'email', controlValues: { subject: 'Hello', body: 'Hello' } },
  ],
})
const lived = (body: object) => live({ url: server.url, key: server.wideApi.key }, body, { momentMs })

test('a cancel by key is lived through for the person it names', async () => {
  const body = {
    ...{ workflow: { draft: mailTo('keyed') }, startAt: '2026-05-01T10:00:00Z' },
    subscribers: ['ann', 'ben'].map((subscriberId) => ({ subscriberId, email: `${subscriberId}@example.com` })),
    inputs: [
      { at: '+0s', type: 'trigger', to: ['ann', 'ben'], cancellationKey: 'order-1' },
      { at: '+1m', type: 'cancel', key: 'order-1', subscriberId: 'ann' },
    ],
  }
  const simulated = await server.api.post('/v1/simulations', body)
  expect(simulated.status, simulated.text).toBe(200)
  for (const { messages } of [simulated.body, await lived(body)])
    expect(messages).toMatchObject([{ subscriberId: 'ben', status: 'sent', at: '2026-05-01T11:00:00.000Z' }])
})

test.each([
  ...['waits', 'attempts', 'windowId'].map((member) => ({ step: { stepId: 'mail', [member]: null } })),
  ...['endsAt', 'id'].map((member) => ({ window: { stepId: 'mail', [member]: null } })),
])('what only a simulation tells cannot be lived through: %j', (expected) =>
  expect(
    lived({
      ...{ workflow: { draft: mailTo('told') }, startAt: '2026-05-01T10:00:00Z', expect: [expected] },
      inputs: [{ at: '+0s', type: 'trigger', to: 'ann' }],
    }),
  ).rejects.toThrow(NotLivable),
)

describe('what is stored elsewhere can only be simulated', () => {
  const inputs = (more: object) => [{ at: '+0s', type: 'trigger', to: 'ann', ...more }]
  beforeAll(async () => {
    const { api } = server
    await api.post('/v2/subscribers', { subscriberId: 'kept', email: 'kept@example.com' })
    await api.post('/v2/topics', { key: 'kept-topic', name: 'Kept' })
    await api.post('/v1/tenants', { identifier: 'kept-tenant', name: 'Kept' })
    await api.post('/v2/contexts', { type: 'shop', id: 'kept-shop', data: { name: 'Kept' } })
  })

  test.each<[string, object]>([
    ['kept', { inputs: inputs({ to: 'kept' }) }],
    ['kept', { inputs: inputs({ to: [{ subscriberId: 'kept', firstName: 'K' }] }) }],
    ['kept', { inputs: inputs({ actor: { subscriberId: 'kept' } }) }],
    ['kept', { inputs: inputs({}), topics: [{ topicKey: 'own', subscriberIds: ['kept'] }] }],
    ['topic kept-topic', { inputs: inputs({ to: [{ type: 'Topic', topicKey: 'kept-topic' }] }) }],
    ['tenant kept-tenant', { inputs: inputs({ tenant: { identifier: 'kept-tenant' } }) }],
    ['context shop:kept-shop', { inputs: inputs({ context: { shop: 'kept-shop' } }) }],
  ])('%s', async (name, more) => {
    const living = lived({ workflow: { draft: mailTo('stored') }, startAt: '2026-05-01T10:00:00Z', ...more })
    await expect(living).rejects.toThrow(`${name} is stored, and only what the scenario invents`)
    await expect(living).rejects.toBeInstanceOf(NotLivable)
  })
})

test('triggers without a transaction id are numbered by their place in the list, simulated and lived through', async () => {
  const body = {
    ...{ workflow: { draft: mailTo('numbered') }, startAt: '2026-05-01T10:00:00Z' },
    subscribers: [{ subscriberId: 'ann', email: 'ann@example.com' }],
    inputs: [
      { at: '+2m', type: 'trigger', to: 'ann' },
      { at: '+1m', type: 'trigger', to: 'ann' },
    ],
  }
  const simulated = await server.api.post('/v1/simulations', body)
  for (const { triggers } of [simulated.body, await lived(body)])
    expect(triggers).toMatchObject([
      { transactionId: 'sim-2', at: '2026-05-01T10:01:00.000Z' },
      { transactionId: 'sim-1', at: '2026-05-01T10:02:00.000Z' },
    ])
})
