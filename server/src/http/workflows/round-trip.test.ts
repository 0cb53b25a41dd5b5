// What is read can be written back: files.md §1.
import { beforeEach, describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'
import { stepTypes } from '../../steps/contract/kind.ts'

const server = useServer()
let api: Api
let other: Api
beforeEach(async () => {
  ;({ development: api, production: other } = await server.freshOrganization())
})

const path = '/v2/workflows/comments'
const mail = {
  name: 'Mail',
  stepId: 'mail',
  type: 'email',
  controlValues: { subject: 'Hi', body: '<p>Hi</p>', editorType: 'html' },
}
const filters = [
  {
    isNegated: false,
    type: 'GROUP',
    value: 'AND',
    children: [{ field: 'a', value: '1', operator: 'EQUAL', on: 'payload' }],
  },
]
/** Everything that a workflow can say. */
const full = {
  ...{
    name: 'Comments',
    workflowId: 'comments',
    description: 'Tells',
    tags: ['social'],
    active: true,
    severity: 'high',
  },
  ...{ validatePayload: true, isTranslationEnabled: true },
  ...{ consentCategory: 'news', tracking: { opens: true, clicks: false } },
  journey: {
    ...{ cancellationKey: '{{payload.b}}', quietHours: 'hold', exemptFromCaps: true },
    goals: [
      {
        name: 'Bought',
        for: [{ event: 'order.paid', key: '{{payload.b}}' }],
        condition: { '==': [{ var: 'payload.b' }, 'x'] },
      },
    ],
  },
  payloadSchema: { type: 'object', properties: { b: { type: 'string' }, a: { type: 'number' } } },
  preferences: {
    user: { all: { enabled: true, readOnly: true } },
    workflow: { all: { enabled: true, readOnly: true }, channels: { sms: { enabled: false } } },
  },
  steps: [
    ...stepTypes.map((type) => ({ name: type, stepId: type.replaceAll('_', '-'), type })),
    {
      ...mail,
      ...{ active: false, shouldStopOnFail: true, onUnknown: 'hold', filters },
      replyCallback: { active: true, url: 'https://example.com/replies' },
      variants: [{ name: 'VIP', filters, controlValues: { subject: 'Dear', body: 'x' } }, { filters: [] }],
    },
  ],
}

async function create(body: object = {}, at: Api = api) {
  const answer = await at.post('/v2/workflows', { ...full, ...body })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}

const versionsOf = async (id: string) =>
  (
    await server.database.db
      .selectFrom('workflow_versions')
      .select('version')
      .where('environment_id', '=', api.environmentId)
      .where('workflow_id', '=', id)
      .execute()
  ).length

describe('a workflow that was read', () => {
  test('changes nothing when it is put back: no version, no time, still critical, SMS still off', async () => {
    const { _id } = await create()
    const before = (await api.get(path)).body
    expect(before.preferences.default).toMatchObject({ all: { readOnly: true }, channels: { sms: { enabled: false } } })
    server.clock.advance({ minutes: 5 })
    const answer = await api.put(path, before)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual(before)
    expect(await versionsOf(_id)).toBe(1)
    const patched = await api.patch(path, { name: before.name, tags: before.tags, active: true })
    expect(patched.body).toEqual(before)
  })

  test('also one that code declared, with names that we would not give', async () => {
    const { _id } = await create()
    const steps = [{ _id: 'e'.repeat(24), stepId: 'my step!', name: 'my step!', type: 'email', controlValues: null }]
    await server.database.db
      .updateTable('workflows')
      .set({
        origin: 'external',
        steps: JSON.stringify(steps),
        preferences: '{}',
        user_preferences: null,
        critical: true,
      })
      .where('id', '=', _id)
      .execute()
    const before = (await api.get(path)).body
    expect((await api.put(path, before)).body).toEqual(before)
    const unknown = { ...before, steps: [{ ...before.steps[0], _id: 'f'.repeat(24), stepId: 'other step!' }] }
    expect(await api.put(path, unknown)).toMatchObject({
      status: 422,
      body: { errors: { general: { messages: [expect.stringMatching(/^steps\.0\.stepId must consist of/)] } } },
    })
  })

  test('makes the same workflow in another environment, with ids of its own', async () => {
    const here = await create()
    const there = (await other.post('/v2/workflows', (await api.get(path)).body)).body
    expect(there).toMatchObject({ revision: here.revision, workflowId: 'comments', version: 1 })
    // The same is not merely the same as nothing.
    const { journey, consentCategory, tracking } = full
    expect(there).toMatchObject({ journey, consentCategory, tracking })
    const { onUnknown, replyCallback, filters: own, variants } = there.steps.at(-1)
    expect({ onUnknown, replyCallback, filters: own }).toEqual({
      ...{ onUnknown: 'hold', replyCallback: { active: true, url: 'https://example.com/replies' }, filters },
    })
    expect(variants).toMatchObject([{ name: 'VIP', filters, controlValues: { subject: 'Dear' } }, { filters: [] }])
    const inner = (workflow: any) => workflow.steps.map((step: any) => step._id)
    expect(new Set([...inner(here), ...inner(there)]).size).toBe(2 * full.steps.length)
    expect(there.preferences).toEqual(here.preferences)
  })
})

test('a workflow that people may refuse goes the same ways; a critical one is none', async () => {
  const { _id } = await create({ messageClass: 'commercial', preferences: { workflow: { all: { enabled: false } } } })
  const before = (await api.get(path)).body
  expect(before.messageClass).toBe('commercial')
  expect((await api.put(path, before)).body).toEqual(before)
  expect(await versionsOf(_id)).toBe(1)
  const there = (await other.post('/v2/workflows', before)).body
  expect(there).toMatchObject({ revision: before.revision, messageClass: 'commercial' })
  expect((await api.put(path, { ...before, preferences: full.preferences })).status).toBe(400)
})

describe('preferences.default', () => {
  const sms = async (preferences: object) => {
    const { body } = await api.put(path, { ...(await api.get(path)).body, preferences })
    return body.preferences.default.channels.sms.enabled
  }
  const [on, off] = [{ channels: { sms: { enabled: true } } }, { channels: { sms: { enabled: false } } }]

  test('counts as preferences.workflow, unless that is there, also as null', async () => {
    await create({ preferences: { default: off } })
    expect((await api.get(path)).body.preferences.default.channels.sms).toEqual({ enabled: false })
    expect(await sms({ default: on })).toBe(true)
    expect(await sms({ default: on, workflow: off })).toBe(false)
    expect(await sms({ default: off, workflow: null })).toBe(true)
  })
})

describe('steps without an id', () => {
  test('are matched by stepId and type, and keep their ids', async () => {
    const { steps } = await create({ steps: [mail, { ...mail, stepId: 'second' }] })
    const body = { ...full, origin: 'svc-cloud', preferences: {} }
    const put = await api.put(path, {
      ...body,
      steps: [
        { ...mail, _id: 'of another environment', stepId: 'second', name: 'Renamed' },
        { ...mail, name: 'First' },
      ],
    })
    expect(put.body.steps.map((step: any) => [step._id, step.stepId, step.name])).toEqual([
      [steps[1]._id, 'second', 'Renamed'],
      [steps[0]._id, 'mail', 'First'],
    ])
  })

  test('of another type are new and take over the stepId; a step matched by its id is not matched again', async () => {
    const { steps } = await create({ steps: [mail] })
    const body = { ...full, origin: 'svc-cloud', preferences: {} }
    const text = { name: 'Text', stepId: 'mail', type: 'sms', controlValues: { body: 'Hi' } }
    const put = await api.put(path, { ...body, steps: [text] })
    expect(put.body.steps[0]).toMatchObject({ stepId: 'mail', type: 'sms' })
    expect(put.body.steps[0]._id).not.toBe(steps[0]._id)
    const [now] = put.body.steps
    const twice = await api.put(path, { ...body, steps: [text, { ...text, _id: now._id }] })
    expect(twice.body.steps[1]._id).toBe(now._id)
    expect(twice.body.steps[0].stepId).toMatch(/^mail-.{8}$/)
  })

  test('keep the digest window that is open', async () => {
    const digest = {
      name: 'Collect',
      stepId: 'collect',
      type: 'digest',
      controlValues: { type: 'regular', amount: 1, unit: 'hours' },
    }
    const inbox = {
      name: 'Inbox',
      stepId: 'inbox',
      type: 'in_app',
      controlValues: { body: '{{steps.collect.eventCount}} new' },
    }
    const body = {
      ...full,
      payloadSchema: null,
      validatePayload: false,
      isTranslationEnabled: false,
      preferences: {},
      steps: [digest, inbox],
    }
    await create(body)
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const trigger = () => api.post('/v1/events/trigger', { name: 'comments', to: 'ada', payload: {} })
    await trigger()
    await server.drain()
    await api.put(path, { ...body, origin: 'svc-cloud', name: 'Deployed again' })
    await trigger()
    await server.drain()
    server.clock.advance({ hours: 1 })
    await server.drain()
    const { rows } = await server.database.pool.query('SELECT content FROM messages WHERE environment_id = $1', [
      api.environmentId,
    ])
    expect(rows.map(({ content }) => JSON.stringify(content))).toEqual([expect.stringContaining('2 new')])
  })
})

describe('POST with a taken identifier', () => {
  test('is refused with onConflict=error, and nothing is changed', async () => {
    const before = await create()
    expect(await api.post('/v2/workflows?onConflict=error', { ...full, name: 'Other' })).toMatchObject({
      status: 409,
      body: { code: 'workflow_exists', message: 'Workflow "comments" exists already; use PUT, or onConflict=update' },
    })
    expect((await api.get(path)).body).toMatchObject({ name: before.name, version: 1 })
    expect((await other.post('/v2/workflows?onConflict=error', full)).status).toBe(201)
  })

  test('replaces it with onConflict=update: what is absent becomes the default', async () => {
    const before = await create()
    const update = (body: object) => api.post('/v2/workflows?onConflict=update', body)
    expect(await update(full)).toMatchObject({ status: 200, body: { version: 1, revision: before.revision } })
    const {
      variants,
      filters: _,
      active,
      onUnknown,
      shouldStopOnFail,
      replyCallback,
      ...plainMail
    } = full.steps.at(-1) as any
    const { status, body } = await update({ name: 'Comments', workflowId: 'comments', steps: [plainMail] })
    expect(status).toBe(200)
    const fresh = await create({ name: 'Comments' }, other).then(() =>
      other.post('/v2/workflows', { name: 'Comments', workflowId: 'plain', steps: [plainMail] }),
    )
    const { description, tags, severity, validatePayload, payloadSchema, preferences, isTranslationEnabled } =
      fresh.body
    expect(body).toMatchObject({
      ...{ description, tags, severity, validatePayload, payloadSchema, preferences, isTranslationEnabled },
      ...{ _id: before._id, active: false, version: 2 },
      ...{ messageClass: 'transactional', consentCategory: null, tracking: { opens: false, clicks: false } },
    })
    expect(body.steps).toHaveLength(1)
    expect(body.steps[0]._id).toBe(before.steps.at(-1)._id)
    expect(body).not.toHaveProperty('journey')
    for (const member of ['variants', 'filters', 'onUnknown', 'shouldStopOnFail', 'replyCallback'])
      expect(body.steps[0]).not.toHaveProperty(member)
    expect(body.steps[0]).not.toHaveProperty('active')
    expect((await update({ ...full, workflowId: 'new-one' })).status).toBe(201)
    const unnamed = { name: 'First', workflowId: 'first', steps: [{ name: 'In-app', type: 'in_app' }] }
    expect(await update(unnamed)).toMatchObject({ status: 201, body: { version: 1 } })
    expect(await update(unnamed)).toMatchObject({ status: 200, body: { version: 1 } })
    expect((await api.post('/v2/workflows?onConflict=other', full)).status).toBe(422)
  })
})

describe('PUT with upsert', () => {
  const upsert = `${path}?upsert=true`

  test('makes the workflow with exactly this identifier, then replaces it', async () => {
    const { workflowId: _, ...body } = full
    expect(await api.put(path, { ...body, origin: 'svc-cloud' })).toMatchObject({ status: 404 })
    const made = await api.put(upsert, body)
    expect(made).toMatchObject({ status: 201, body: { workflowId: 'comments', version: 1 } })
    expect(await api.put(upsert, { ...body, name: 'Again' })).toMatchObject({
      status: 200,
      body: { _id: made.body._id, version: 2 },
    })
    expect(await api.put(upsert, { name: 'Short', steps: [] })).toMatchObject({
      status: 200,
      body: { description: 'Tells', preferences: made.body.preferences },
    })
  })

  test('refuses another identifier in the body, and one that cannot be an identifier', async () => {
    const message = 'workflowId must be "comments", as in the path'
    const refused = { status: 422, body: { errors: { general: { messages: [message] } } } }
    expect(await api.put(upsert, { ...full, workflowId: 'other' })).toMatchObject(refused)
    await create()
    expect(await api.put(upsert, { ...full, workflowId: 'other' })).toMatchObject(refused)
    const { workflowId: _, ...body } = full
    expect(await api.put('/v2/workflows/a%20b?upsert=true', body)).toMatchObject({ status: 422 })
    expect((await api.get('/v2/workflows/a%20b')).status).toBe(404)
  })

  test('of two at the same moment one makes it and the other replaces it', async () => {
    const names = ['a', 'b', 'c', 'd']
    const answers = await Promise.all(names.map((name) => api.put(upsert, { ...full, name })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201])
    expect(new Set(answers.map(({ body }) => body._id)).size).toBe(1)
  })

  test('with If-None-Match: * only makes', async () => {
    const only = { headers: { 'if-none-match': '*' } }
    const made = await api.send('PUT', upsert, full, only.headers)
    expect(made.status).toBe(201)
    expect(await api.send('PUT', upsert, { ...full, name: 'Other' }, only.headers)).toMatchObject({
      status: 412,
      body: { code: 'revision_changed' },
    })
    expect((await api.get(path)).body.name).toBe('Comments')
  })
})

describe('If-Match', () => {
  test('lets a change through if nobody changed it since, and refuses it with 412 otherwise', async () => {
    await create()
    const read = await api.get(path)
    expect(read.headers.get('etag')).toBe(`"${read.body.revision}"`)
    const ifMatch = { 'if-match': `"${read.body.revision}"` }
    const put = await api.send('PUT', path, { ...read.body, name: 'Mine' }, ifMatch)
    expect(put.status).toBe(200)
    expect(put.headers.get('etag')).toBe(`"${put.body.revision}"`)
    expect(put.body.revision).not.toBe(read.body.revision)
    for (const [method, body] of [
      ['PUT', { ...read.body, name: 'Stale' }],
      ['PATCH', { name: 'Stale' }],
      ['PATCH', {}],
      ['DELETE', undefined],
    ] as const)
      expect(await api.send(method, path, body, ifMatch)).toMatchObject({
        status: 412,
        body: {
          code: 'revision_changed',
          message: `It has been changed since you read it (it is ${put.body.revision} now); read it again`,
          ctx: { revision: put.body.revision, version: 2, workflow: { name: 'Mine' } },
        },
      })
    expect((await api.get(path)).body).toMatchObject({ name: 'Mine', version: 2 })
    const both = { 'if-match': `"other", "${put.body.revision}"` }
    expect((await api.send('PATCH', path, { name: 'Listed' }, both)).status).toBe(200)
    expect((await api.send('PATCH', path, { name: 'Weak' }, { 'if-match': `W/"${put.body.revision}"` })).status).toBe(
      412,
    )
    expect((await api.send('DELETE', path, undefined, { 'if-match': '*' })).status).toBe(204)
    expect(await api.send('PUT', `${path}?upsert=true`, full, { 'if-match': '*' })).toMatchObject({
      status: 412,
      body: { message: 'It has been changed since you read it (it is gone now); read it again' },
    })
  })
})

test('a revision does not depend on the environment, and changes with the definition', async () => {
  const [here, there] = [await create(), await create({}, other)]
  expect(here.revision).toMatch(/^[0-9a-f]{64}$/)
  expect(there.revision).toBe(here.revision)
  const changed = await other.patch(path, { description: 'Else' })
  expect(changed.body.revision).not.toBe(here.revision)
  expect((await other.patch(path, { description: 'Tells' })).body.revision).toBe(here.revision)
})
