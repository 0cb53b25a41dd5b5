import { expect, test } from 'vitest'
import { makeWorkflow } from '../../../test/runs.ts'
import { useServer } from '../../../test/server.ts'

const server = useServer()
const primary = {
  ...{ rotaId: 'primary', name: 'Primary', timezone: 'Europe/Berlin' },
  shifts: [
    { start: '2026-12-24T09:00', end: '2026-12-27T09:00', who: ['cy'] },
    {
      ...{ start: '2026-11-02T09:00', rrule: 'FREQ=WEEKLY', duration: { amount: 1, unit: 'weeks' } },
      turns: [['ada'], ['bob'], ['cy', 'di']],
    },
  ],
}

test('rotas are made, read, changed and deleted, unless a workflow uses them', async () => {
  const api = await server.freshApi()
  const made = await api.post('/v2/rotas', primary)
  expect(made, made.text).toMatchObject({ status: 201, body: primary })
  expect(await api.post('/v2/rotas', primary)).toMatchObject({
    ...{ status: 409, body: { code: 'rota_exists', message: 'Rota "primary" exists already' } },
  })
  expect((await api.get('/v2/rotas')).body.data).toMatchObject([primary])
  expect((await api.get('/v2/rotas/primary/on-duty?at=2026-11-03T00:00:00Z')).body).toEqual({
    ...{ at: '2026-11-03T00:00:00.000Z', subscriberIds: ['ada'] },
    ...{ from: '2026-11-02T08:00:00.000Z', to: '2026-11-09T08:00:00.000Z' },
  })
  expect((await api.get('/v2/rotas/primary/on-duty?at=2020-11-03T00:00:00Z')).body).toMatchObject({
    ...{ subscriberIds: [], from: null, to: null },
  })
  const duties = await api.get('/v2/rotas/primary/duties?from=2026-11-03T00:00:00Z&days=8')
  expect(duties.body.data).toMatchObject([
    { subscriberIds: ['ada'], from: '2026-11-02T08:00:00.000Z', to: '2026-11-09T08:00:00.000Z' },
    { from: '2026-11-09T08:00:00.000Z', to: '2026-11-16T08:00:00.000Z' },
  ])
  expect((await api.get('/v2/rotas/primary/duties')).status).toBe(200)
  expect((await api.get('/v2/rotas/none/duties')).body.code).toBe('rota_not_found')
  for (const query of ['days=32', 'days=0', 'from=soon'])
    expect((await api.get(`/v2/rotas/primary/duties?${query}`)).status).toBe(422)
  for (const path of ['on-duty?at=9999-12-31T00:00:00Z', 'duties?from=9999-12-31T00:00:00Z'])
    expect(await api.get(`/v2/rotas/primary/${path}`)).toMatchObject({
      status: 422,
      text: expect.stringContaining('is more than 10 years ahead'),
    })
  const { rotaId: _, ...rest } = primary
  expect((await api.put('/v2/rotas/primary', { ...rest, name: 'First' })).body.name).toBe('First')
  await makeWorkflow(api, 'page', [
    {
      type: 'ask',
      controlValues: {
        ...{ question: 'x', answers: [{ id: 'ack', label: 'I take it' }], amount: 1, unit: 'hours' },
        chain: [{ rota: 'primary' }],
      },
    },
  ])
  expect((await api.delete('/v2/rotas/primary')).body).toMatchObject({
    ...{ code: 'rota_in_use', message: 'Rota "primary" is used by page' },
  })
  await api.delete('/v2/workflows/page')
  expect((await api.delete('/v2/rotas/primary')).status).toBe(204)
  expect((await api.get('/v2/rotas/primary')).body).toMatchObject({
    ...{ code: 'rota_not_found', message: 'Rota "primary" not found' },
  })
  expect((await api.put('/v2/rotas/primary', rest)).status).toBe(404)
})

test.each([
  [{ timezone: 'Nowhere/Land' }, 'timezone'],
  [
    { shifts: [{ start: '2026-11-02T09:00', rrule: 'FREQ=X', duration: { amount: 1, unit: 'days' }, turns: [['a']] }] },
    'rrule',
  ],
  [
    {
      shifts: [
        {
          ...{ start: '2026-01-01T09:00', rrule: 'FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31' },
          ...{ duration: { amount: 1, unit: 'days' }, turns: [['ada']] },
        },
      ],
    },
    'shifts.0.start: it is the first occurrence of the rule, but the rule has none at 2026-01-01T09:00',
  ],
  [{ shifts: [{ start: '2026-11-02T09:00', who: ['a'] }] }, 'end'],
  [{ shifts: [{ start: '2026-11-02T09:00', rrule: 'FREQ=DAILY' }] }, 'duration'],
])('what cannot be read is refused: %j', async (change, word) => {
  const api = await server.freshApi()
  const refused = await api.post('/v2/rotas', { ...primary, ...change })
  expect(refused.status, refused.text).toBe(422)
  expect(refused.text).toContain(word)
})

test('the audit log says who made, changed and deleted one', async () => {
  const api = await server.freshApi()
  const { rotaId: _, ...rest } = primary
  await api.post('/v2/rotas', primary)
  await api.put('/v2/rotas/primary', rest)
  await api.delete('/v2/rotas/primary')
  await api.delete('/v2/rotas/primary')
  const wide = await server.organizationOf(api)
  const { body, text } = await wide.get('/v1/audit?limit=50')
  const acts = body.data
    .filter(({ environmentId }: { environmentId: string }) => environmentId === api.environmentId)
    .map(({ action }: { action: string }) => action)
  expect(acts.reverse(), text).toEqual(['rota.created', 'rota.changed', 'rota.deleted'])
})

test('who is erased leaves rotas, and the others keep their turns', async () => {
  const api = await server.freshApi()
  for (const subscriberId of ['bob', 'cy']) await api.post('/v2/subscribers', { subscriberId })
  await api.post('/v2/rotas', primary)
  for (const subscriberId of ['bob', 'cy'])
    expect((await api.post(`/v2/subscribers/${subscriberId}/erase`, {})).status).toBe(202)
  await server.drain()
  const { shifts } = (await api.get('/v2/rotas/primary')).body
  expect(shifts).toMatchObject([{ who: [] }, { turns: [['ada'], [], ['di']] }])
  const third = await api.get('/v2/rotas/primary/on-duty?at=2026-11-17T00:00:00Z')
  expect(third.body.subscriberIds).toEqual(['di'])
})

test('there are 100 at most', async () => {
  const api = await server.freshApi()
  await server.database.pool.query(
    `INSERT INTO rotas (environment_id, id, rota_id, name, timezone, shifts, created_at, updated_at)
     SELECT $1, lpad(n::text, 24, '0'), 'r' || n, 'R', 'UTC', '[]', now(), now() FROM generate_series(1, 99) n`,
    [api.environmentId],
  )
  expect((await api.post('/v2/rotas', primary)).status).toBe(201)
  expect(await api.post('/v2/rotas', { ...primary, rotaId: 'one-more' })).toMatchObject({
    ...{ status: 400, body: { code: 'too_many_rotas' } },
  })
  expect((await api.delete('/v2/rotas/r1')).status).toBe(204)
  expect((await api.post('/v2/rotas', { ...primary, rotaId: 'one-more' })).status).toBe(201)
})

test('a publish says which rota the target lacks', async () => {
  const { development, production } = await server.freshOrganizationWide()
  const question = { question: 'x', answers: [{ id: 'ack', label: 'I take it' }], amount: 1, unit: 'hours' }
  await makeWorkflow(development, 'page', [
    {
      type: 'ask',
      controlValues: { ...question, patience: { amount: 1, unit: 'minutes' }, chain: [{ rota: 'primary' }] },
    },
  ])
  const rotas = async () => {
    const { body } = await development.post(`/v2/environments/${production.environmentId}/diff`, {})
    const lacks = body.lacks.filter(({ kind }: { kind: string }) => kind === 'rota')
    return { lacks, dependencies: body.resources[0].dependencies }
  }
  expect(await rotas()).toEqual({
    lacks: [{ kind: 'rota', name: 'primary', workflowIds: ['page'] }],
    dependencies: [
      {
        ...{ resourceType: 'rota', resourceId: 'primary', resourceName: 'primary', isBlocking: false },
        reason: 'ROTA_MISSING_IN_TARGET',
      },
    ],
  })
  await production.post('/v2/rotas', primary)
  expect(await rotas()).toEqual({ lacks: [], dependencies: undefined })
})

test('a rota that the environment lacks is an issue of the step that asks it, until it is made', async () => {
  const api = await server.freshApi()
  const question = { question: 'x', answers: [{ id: 'ack', label: 'I take it' }], amount: 1, unit: 'hours' }
  const chain = [{ subscriberId: 'ada' }, { rota: '{{payload.team}}' }, { rota: 'primary' }]
  await makeWorkflow(api, 'page', [
    { type: 'ask', controlValues: { ...question, patience: { amount: 1, unit: 'minutes' }, chain } },
  ])
  const shown = async () => {
    const { status, steps } = (await api.get('/v2/workflows/page')).body
    const [listed] = (await api.get('/v2/workflows')).body.workflows
    return { status, listed: listed.status, issues: steps[0].issues?.controls }
  }
  expect(await shown()).toEqual({
    ...{ status: 'ERROR', listed: 'ERROR' },
    issues: {
      'chain.2.rota': [
        expect.objectContaining({
          issueType: 'MISSING_VALUE',
          message: 'There is no rota "primary" in this environment',
        }),
      ],
    },
  })
  await api.post('/v2/rotas', primary)
  expect(await shown()).toEqual({ status: 'ACTIVE', listed: 'ACTIVE', issues: undefined })
})

test('a wait may be about the copies of a question', async () => {
  const api = await server.freshApi()
  const question = { question: 'x', answers: [{ id: 'ack', label: 'I take it' }], amount: 1, unit: 'hours' }
  await makeWorkflow(api, 'page', [
    { type: 'ask', stepId: 'question', controlValues: question },
    {
      ...{ type: 'wait_for_event', stepId: 'wait' },
      controlValues: { for: [{ message: 'question', happens: ['read'] }], amount: 1, unit: 'hours' },
    },
  ])
  const { body } = await api.get('/v2/workflows/page')
  expect(body.steps.map(({ issues }: { issues?: object }) => issues)).toEqual([undefined, undefined])
})
