// What history keeps: texts in versions, inner saves, old entries, and what was deleted: files.md §5.
import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { contentsOf, makeWorkflow, pass, runOf, trigger } from '../../../test/runs.ts'
import { type Api, secretKey, useServer } from '../../../test/server.ts'
import { Secrets } from '../../db/core/secrets.ts'
import { chores } from '../../engine/queue/chores.ts'

const server = useServer()
let api: Api
let other: Api
beforeEach(async () => {
  ;({ development: api, production: other } = await server.freshOrganization())
})

type Found = any

const path = '/v2/workflows/comments'
const say = (body: string) => ({ stepId: 'inbox', name: 'Inbox', type: 'in_app', controlValues: { body } })
const comments = (more: object = {}) => ({
  ...{ workflowId: 'comments', name: 'Comments', active: true, steps: [say('Hi')] },
  ...more,
})
const list = async (query = '', of = path): Promise<Found[]> => {
  const answer = await api.get(`${of}/versions${query}`)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body.data
}
const numbers = async (query = '', of = path) => (await list(query, of)).map(({ version }) => version)
const write = (content: object, locale = 'de_DE', resourceType = 'workflow', resourceId = 'comments') =>
  api.post('/v2/translations', { resourceType, resourceId, locale, content })
const translationsOf = async (version: number, of = path) =>
  (await api.get(`${of}/versions/${version}`)).body.translations
const texts = async (locale = 'de_DE') => (await api.get(`/v2/translations/workflow/comments/${locale}`)).body?.content

const push = (definition: object) =>
  api.post('/v2/definitions/push', {
    resources: [{ kind: 'workflow', id: 'comments', base: 'any', definition }],
  })

async function prune(keepVersions = 200): Promise<void> {
  const { clock, database } = server
  const tasks = chores({
    ...{ ...database, clock, log: pino({ level: 'silent' }), secrets: new Secrets(secretKey), keepVersions },
    retention: { activityDays: 0, messageDays: 0 },
  })
  const job = { abortSignal: new AbortController().signal } as never
  await tasks.purge_expired?.({}, job)
  await tasks.prune_versions?.({}, job)
}

describe('texts', () => {
  test('are part of versions: each change of them is one, by whom it was made', async () => {
    await api.post('/v2/workflows', comments({ isTranslationEnabled: true }))
    expect(await translationsOf(1)).toEqual({})
    const ada = await signInAs(server, api, 'editor')
    const body = {
      resourceType: 'workflow',
      resourceId: 'comments',
      locale: 'de_DE',
      content: { b: 'Zwei', a: 'Eins' },
    }
    expect((await ada.post('/v2/translations', body)).status).toBe(200)
    const [newest] = await list()
    expect(newest).toMatchObject({
      ...{ version: 2, isCurrent: true, source: { kind: 'dashboard' }, author: { type: 'person', id: ada.id } },
      paths: ['translations'],
    })
    expect(Object.keys((await translationsOf(2)).de_DE)).toEqual(['b', 'a'])
    const [, first] = await list()
    expect(newest.revision).toBe(first.revision)
    // The same texts again are no version.
    await ada.post('/v2/translations', body)
    expect(await numbers()).toEqual([2, 1])
    await api.delete('/v2/translations/workflow/comments/de_DE')
    expect(await translationsOf(3)).toEqual({})
    expect((await api.get(path)).body.version).toBe(3)
  })

  test('a push of a workflow with its texts is one version; of texts alone, one too', async () => {
    const german = (hi: string) => ({
      ...{ kind: 'translation', id: 'de_DE', base: 'any', definition: { workflows: { comments: { hi } } } },
    })
    const workflow = {
      kind: 'workflow',
      id: 'comments',
      base: 'any',
      definition: comments({ isTranslationEnabled: true }),
    }
    await api.post('/v2/definitions/push', { resources: [workflow, german('Hallo')] })
    expect(await numbers()).toEqual([1])
    expect(await translationsOf(1)).toEqual({ de_DE: { hi: 'Hallo' } })
    await api.post('/v2/definitions/push', { source: { commit: '8f3c' }, resources: [workflow, german('Servus')] })
    expect(await list()).toMatchObject([
      { version: 2, source: { kind: 'files', commit: '8f3c' }, paths: ['translations.de_DE.hi'] },
      { version: 1 },
    ])
  })

  test('come back with a restore; turning translation off and on again brings nothing back', async () => {
    await api.post('/v2/workflows', comments({ isTranslationEnabled: true }))
    await write({ hi: 'Hallo' })
    await write({ hi: 'Bonjour' }, 'fr_FR')
    await write({ hi: 'Servus' })
    expect(await numbers()).toEqual([4, 3, 2, 1])
    const answer = await api.post(`${path}/versions/2/restore`)
    expect(answer).toMatchObject({ status: 200, body: { version: 5 } })
    expect([await texts(), await texts('fr_FR')]).toEqual([{ hi: 'Hallo' }, undefined])
    expect((await list())[0]).toMatchObject({ source: { kind: 'restore', version: 2 } })
    await api.patch(path, { isTranslationEnabled: false })
    expect(await translationsOf(6)).toEqual({})
    expect((await api.post(`${path}/versions/4/restore`)).body).toMatchObject({
      isTranslationEnabled: true,
      version: 7,
    })
    expect([await texts(), await texts('fr_FR')]).toEqual([{ hi: 'Servus' }, { hi: 'Bonjour' }])
    expect(await api.post(`${path}/versions/7/restore`)).toMatchObject({ status: 200, body: { version: 7 } })
  })

  test('of a layout are versions too', async () => {
    await api.put('/v2/layouts/brand?upsert=true', { name: 'Brand', isTranslationEnabled: true })
    await write({ bye: 'Tschüs' }, 'de_DE', 'layout', 'brand')
    expect(await translationsOf(2, '/v2/layouts/brand')).toEqual({ de_DE: { bye: 'Tschüs' } })
    await api.delete('/v2/translations/layout/brand')
    expect((await api.get('/v2/layouts/brand')).body).toMatchObject({ version: 3, isTranslationEnabled: false })
    await api.post('/v2/layouts/brand/versions/2/restore')
    expect((await api.get('/v2/translations/layout/brand/de_DE')).body.content).toEqual({ bye: 'Tschüs' })
  })

  test('published texts are versions of the target, which name the version they come from', async () => {
    const wide = await server.organizationOf(api)
    await api.post('/v2/workflows', comments({ isTranslationEnabled: true }))
    await write({ hi: 'Hallo' })
    await wide.put(`${path}/sync`, { targetEnvironmentId: other.environmentId })
    await write({ hi: 'Servus' })
    await wide.put(`${path}/sync`, { targetEnvironmentId: other.environmentId })
    const { data } = (await other.get(`${path}/versions`)).body
    expect(data).toMatchObject([
      { version: 2, source: { kind: 'publish', environment: 'Development' }, paths: ['translations.de_DE.hi'] },
      { version: 1, source: { kind: 'publish', environment: 'Development', version: 2 } },
    ])
  })

  test('of two writers at once, both are kept', async () => {
    await api.post('/v2/workflows', comments({ isTranslationEnabled: true }))
    const locales = ['de_DE', 'fr_FR', 'es_ES', 'it_IT']
    const answers = await Promise.all(locales.map((locale) => write({ hi: locale }, locale)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(Object.keys(await translationsOf(5)).sort()).toEqual([...locales].sort())
  })
})

describe.each([
  ['a push', (body: object) => push(body)],
  ['PUT', (body: object) => api.put(`${path}?upsert=true`, body)],
])('%s that replaces a workflow', (_, replace) => {
  const steps = (more: object[] = []) => [
    {
      stepId: 'calm',
      name: 'Calm',
      type: 'throttle',
      controlValues: { type: 'fixed', amount: 1, unit: 'days', threshold: 3 },
    },
    { stepId: 'wait', name: 'Wait', type: 'delay', controlValues: { amount: 10, unit: 'minutes' } },
    {
      stepId: 'collect',
      name: 'Collect',
      type: 'digest',
      controlValues: { type: 'regular', amount: 1, unit: 'hours' },
    },
    say('{{steps.collect.eventCount}} new'),
    ...more,
  ]

  test('keeps throttle counts, waits and open digests', async () => {
    expect((await replace(comments({ steps: steps() }))).status).toBeLessThan(300)
    const ids: string[] = []
    const send = async () => {
      ids.push(await trigger(api, 'comments', 'ada'))
      await server.drain()
    }
    await send()
    await pass(server, { minutes: 10 })
    // The first is collected; the second waits.
    await send()
    const after = comments({ name: 'Deployed again', steps: steps([{ ...say('more'), stepId: 'more' }]) })
    expect((await replace(after)).status).toBe(200)
    await send()
    // The fourth within a day.
    await send()
    await pass(server, { minutes: 10 })
    await pass(server, { hours: 1 })
    const statuses = await Promise.all(
      ids.map(async (id) => (await runOf(api, id)).jobs.map(({ type, status }: Found) => `${type} ${status}`)),
    )
    expect(statuses[3]?.[0]).toBe('throttle skipped')
    expect(statuses[1]?.slice(0, 3)).toEqual(['throttle completed', 'delay completed', 'digest merged'])
    expect(statuses[2]?.slice(0, 3)).toEqual(['throttle completed', 'delay completed', 'digest merged'])
    // One message for the three, as the first run began: without the step that came later.
    expect(await contentsOf(api, 'ada')).toEqual(['3 new'])
  })
})

describe('after a day', () => {
  test('inner saves are gone, but those that runs refer to, and the entry still counts them', async () => {
    const ada = await signInAs(server, api, 'editor')
    await api.post('/v2/workflows', comments())
    for (let i = 0; i < 5; i += 1) await ada.patch(path, { description: `${i}` })
    await trigger(api, 'comments', 'ada')
    await server.drain()
    for (let i = 5; i < 9; i += 1) await ada.patch(path, { description: `${i}` })
    await prune()
    expect(await numbers('?all=true')).toHaveLength(10)
    server.clock.advance({ days: 1, minutes: 1 })
    await prune()
    // The run began with version 6.
    expect(await numbers('?all=true')).toEqual([10, 6, 1])
    expect(await list()).toMatchObject([{ version: 10, saves: 9 }, { version: 1 }])
    // Numbers are never used twice.
    await api.patch(path, { description: 'Next' })
    expect(await numbers()).toEqual([11, 10, 1])
  })

  test('what was published stays, of layouts too', async () => {
    const wide = await server.organizationOf(api)
    const ada = await signInAs(server, api, 'editor')
    const brand = '/v2/layouts/brand'
    await api.put(`${brand}?upsert=true`, { name: 'Brand' })
    await api.post('/v2/workflows', comments())
    for (let i = 1; i < 5; i += 1) {
      await ada.put(brand, { name: `${i}` })
      await ada.patch(path, { description: `${i}` })
      const body = { sourceEnvironmentId: api.environmentId }
      if (i === 2) await wide.post(`/v2/environments/${other.environmentId}/publish`, body)
    }
    server.clock.advance({ days: 1, minutes: 1 })
    await prune()
    for (const each of [path, brand]) expect(await numbers('?all=true', each)).toEqual([5, 3, 1])
  })

  test('entries beyond those that are kept are gone, but named ones and those of runs', async () => {
    await api.post('/v2/workflows', comments())
    for (let i = 0; i < 6; i += 1) {
      server.clock.advance({ minutes: 20 })
      if (i === 2) {
        await trigger(api, 'comments', 'ada')
        await server.drain()
      }
      await api.patch(path, { description: `${i}` })
    }
    await api.patch(`${path}/versions/2`, { message: 'Launch' })
    server.clock.advance({ days: 2 })
    await prune(2)
    expect(await numbers()).toEqual([7, 6, 3, 2])
    expect(await api.get(`${path}/versions/4`)).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('has no version 4, or it is no longer kept') },
    })
  })

  test('a run that waits for long goes on with its version', async () => {
    const wait = { stepId: 'wait', name: 'Wait', type: 'delay', controlValues: { amount: 40, unit: 'days' } }
    const ada = await signInAs(server, api, 'editor')
    await makeWorkflow(api, 'comments', [wait, say('First')])
    const transactionId = await trigger(api, 'comments', 'ada')
    await server.drain()
    for (let i = 0; i < 3; i += 1) await ada.patch(path, { description: `${i}` })
    server.clock.advance({ days: 35 })
    await prune(1)
    expect(await numbers('?all=true')).toEqual([4, 1])
    await pass(server, { days: 6 })
    expect((await runOf(api, transactionId)).jobs.map(({ status }: Found) => status)).toEqual([
      'completed',
      'completed',
    ])
  })
})

describe('what was deleted', () => {
  test('keeps its history for 30 days; one with the same identifier goes on with it', async () => {
    await api.post('/v2/workflows', comments({ description: 'Old' }))
    await api.patch(path, { description: 'Older' })
    await api.delete(path)
    expect((await api.get(path)).status).toBe(404)
    expect(await list()).toMatchObject([
      { version: 2, isCurrent: false },
      { version: 1, isCurrent: false },
    ])
    const made = await api.post('/v2/workflows', comments({ description: 'New' }))
    expect(made).toMatchObject({ status: 201, body: { workflowId: 'comments', version: 3 } })
    expect(await list()).toMatchObject([{ version: 3, isCurrent: true, paths: ['description'] }, { version: 2 }, {}])
    expect((await api.post(`${path}/versions/1/restore`)).body).toMatchObject({ description: 'Old', version: 4 })
  })

  test('comes back with a restore, with its texts', async () => {
    await api.post('/v2/workflows', comments({ isTranslationEnabled: true }))
    await write({ hi: 'Hallo' })
    await trigger(api, 'comments', 'ada')
    await server.drain()
    await api.delete(path)
    const answer = await api.post(`${path}/versions/2/restore`, { message: 'Back again' })
    expect(answer).toMatchObject({ status: 200, body: { workflowId: 'comments', version: 3, status: 'ACTIVE' } })
    expect(await texts()).toEqual({ hi: 'Hallo' })
    expect((await list())[0]).toMatchObject({ message: 'Back again', source: { kind: 'restore', version: 2 } })
    await trigger(api, 'comments', 'ada')
    const audit = await server.database.pool.query(
      "SELECT details FROM audit_log WHERE acted_in = $1 AND action = 'workflow.restored'",
      [api.environmentId],
    )
    expect(audit.rows).toEqual([{ details: { version: 2 } }])
  })

  test('a layout too, which is not the default then', async () => {
    await api.put('/v2/layouts/brand?upsert=true', { name: 'Brand' })
    await api.put('/v2/layouts/brand', { name: 'Renamed' })
    await api.delete('/v2/layouts/brand')
    expect(await numbers('', '/v2/layouts/brand')).toEqual([2, 1])
    const answer = await api.post('/v2/layouts/brand/versions/1/restore')
    expect(answer).toMatchObject({ status: 200, body: { name: 'Brand', version: 3, isDefault: false } })
    await api.delete('/v2/layouts/brand')
    const pushed = await api.post('/v2/definitions/push', {
      resources: [{ kind: 'layout', id: 'brand', definition: { layoutId: 'brand', name: 'Pushed' } }],
    })
    expect(pushed.body.changes).toMatchObject([{ action: 'created', version: 4 }])
    expect(await numbers('', '/v2/layouts/brand')).toEqual([4, 3, 2, 1])
  })

  test('is forgotten after 30 days, and its number starts again', async () => {
    await api.post('/v2/workflows', comments())
    await api.patch(path, { description: 'Changed' })
    await api.delete(path)
    server.clock.advance({ days: 30, minutes: 1 })
    expect((await api.get(`${path}/versions`)).status).toBe(404)
    expect((await api.post(`${path}/versions/1/restore`)).status).toBe(404)
    await prune()
    const { rows } = await server.database.pool.query(
      'SELECT version FROM workflow_versions WHERE environment_id = $1',
      [api.environmentId],
    )
    expect(rows).toEqual([{ version: 2 }])
    expect((await api.post('/v2/workflows', comments())).body.version).toBe(1)
  })
})

test('the last pushes are listed with their counts, and those that were refused', async () => {
  const workflow = (more: object = {}) => ({ kind: 'workflow', id: 'comments', definition: comments(more) })
  const source = { repository: 'acme/app', commit: '8f3c', url: 'https://example.com/8f3c' }
  await api.post('/v2/definitions/push', { source, message: 'First', resources: [workflow()] })
  await api.patch(path, { name: 'Changed here' })
  expect((await api.post('/v2/definitions/push', { resources: [workflow({ name: 'B' })] })).status).toBe(409)
  await api.post('/v2/definitions/push', { dryRun: true, resources: [workflow({ name: 'C' })] })
  const viewer = await signInAs(server, api, 'viewer')
  const { data } = (await viewer.get('/v2/definitions/pushes')).body
  expect(data).toMatchObject([
    { conflicts: [{ kind: 'workflow', id: 'comments', why: 'changed' }], summary: { updated: 1 }, commit: null },
    { ...source, message: 'First', conflicts: [], summary: { created: 1, unchanged: 0 }, author: { type: 'api_key' } },
  ])
})
