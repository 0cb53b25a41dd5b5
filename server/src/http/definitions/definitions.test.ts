// Definitions over the API: files.md §3.
import { request } from 'node:http'
import { beforeEach, describe, expect, test } from 'vitest'
import { brand, comments, definitionsOf, german, layout, mail, workflow } from '../../../test/definitions.ts'
import { signInAs } from '../../../test/people.ts'
import { type Api, lowLimits, useServer } from '../../../test/server.ts'
import { addWorkflow } from '../../../test/workflows.ts'

const server = useServer({ limits: lowLimits })
let api: Api
let other: Api
beforeEach(async () => {
  ;({ development: api, production: other } = await server.freshOrganization())
})

const { push, pushed, read, one } = definitionsOf(() => api)

describe('the journey of a workflow', () => {
  test('is the default where the definition has none, also over onConflict=update', async () => {
    const journey = { cancellationKey: 'order-{{payload.id}}' }
    await pushed([workflow(comments({ journey }))])
    expect((await one('workflow', 'comments')).definition).toMatchObject({ journey })
    await pushed([workflow(comments(), { base: 'any' })])
    expect((await one('workflow', 'comments')).definition).not.toHaveProperty('journey')
    expect((await api.patch('/v2/workflows/comments', { journey })).body).toMatchObject({ journey })
    const answer = await api.post('/v2/workflows?onConflict=update', comments())
    expect(answer).toMatchObject({ status: 200, body: { workflowId: 'comments' } })
    expect((await one('workflow', 'comments')).definition).not.toHaveProperty('journey')
  })

  test('is refused where it could never do anything', async () => {
    const goal = { name: 'paid', condition: { '==': [{ var: 'payload.paid' }, true] } }
    const answer = await push([
      workflow(comments({ journey: { cancellationKey: '{{ order', goals: [{ name: 'done' }, goal, goal] } })),
    ])
    expect(answer).toMatchObject({ status: 422, body: { code: 'definitions_invalid' } })
    const problems = answer.body.ctx.problems.map(
      ({ path, message }: { path: string; message: string }) => `${path}: ${message}`,
    )
    expect(problems).toEqual([
      expect.stringMatching(/^journey: journey.cancellationKey /),
      'journey: journey.goals.0 must have what it waits for, or a condition',
      'journey: journey.goals must have different names',
    ])
  })
})

describe('reading', () => {
  test('gives every definition with its revision, by kind and id, and names what code declares', async () => {
    await addWorkflow(server, api.environmentId, 'coded', { origin: 'external' })
    await pushed([workflow(comments({ isTranslationEnabled: true })), layout(), german({ comments: { hi: 'Hallo' } })])
    const all = await read()
    expect(all).toMatchObject({ format: 1, environment: { name: 'Development', identifier: expect.any(String) } })
    expect(all.resources.map(({ kind, id, version }: any) => [kind, id, version])).toEqual([
      ['layout', 'brand', 1],
      ['layout', 'default-layout', 1],
      ['translation', 'de_DE', null],
      ['workflow', 'comments', 1],
    ])
    expect(all.passedOver).toEqual([{ kind: 'workflow', id: 'coded', why: 'code_first' }])
    const { revision, definition } = all.resources[3]
    expect(definition).toEqual(comments({ isTranslationEnabled: true }))
    expect((await api.get('/v2/workflows/comments')).body.revision).toBe(revision)
    expect(all.resources[1].definition).toEqual({ layoutId: 'default-layout', name: 'Default Layout', isDefault: true })
    expect(all.resources[2].definition).toEqual({ workflows: { comments: { hi: 'Hallo' } }, layouts: {} })
  })

  test('refuses unknown kinds and too many ids', async () => {
    expect((await api.get('/v2/definitions?kinds=workflow,secret')).status).toBe(422)
    expect((await api.get(`/v2/definitions?ids=${Array(201).fill('a').join()}`)).status).toBe(422)
  })

  test('what is read can be pushed into another environment, with the same revisions', async () => {
    await pushed([
      workflow(comments({ isTranslationEnabled: true, steps: [mail({ layoutId: 'brand' })] })),
      ...[layout(), german({ comments: { hi: 'Hallo' } })],
    ])
    const { resources } = await read()
    const answer = await pushed(
      resources.map((each: object) => ({ ...each, base: 'any' })),
      {},
      other,
    )
    expect(answer.summary).toEqual({ created: 3, updated: 0, deleted: 0, unchanged: 1 })
    const there = (await read('', other)).resources
    expect(there.map((each: any) => each.revision)).toEqual(resources.map((each: any) => each.revision))
    expect(there.map((each: any) => each.definition)).toEqual(resources.map((each: any) => each.definition))
    expect((await pushed(resources, {}, other)).summary).toMatchObject({ updated: 0, unchanged: 4 })
  })
})

describe('a push', () => {
  test('creates, updates and leaves alone, and says so', async () => {
    const first = await pushed([workflow(), layout()])
    expect(first).toMatchObject({
      ...{ applied: true, summary: { created: 2, updated: 0, deleted: 0, unchanged: 0 } },
      changes: [
        { kind: 'layout', id: 'brand', action: 'created', version: 1 },
        { kind: 'workflow', id: 'comments', action: 'created', version: 1 },
      ],
    })
    const { steps } = (await api.get('/v2/workflows/comments')).body
    const second = await pushed([workflow(comments({ name: 'Renamed' })), layout()])
    expect(second.changes).toEqual([
      {
        ...{ kind: 'workflow', id: 'comments', action: 'updated', version: 2 },
        revision: (await one('workflow', 'comments')).revision,
      },
    ])
    expect(second.summary.unchanged).toBe(1)
    const now = (await api.get('/v2/workflows/comments')).body
    expect(now).toMatchObject({ name: 'Renamed', version: 2 })
    expect(now.steps[0]._id).toBe(steps[0]._id)
  })

  test('makes absent members the default', async () => {
    await pushed([workflow(comments({ description: 'Long', tags: ['a'], severity: 'high' }))])
    await pushed([workflow()])
    expect((await api.get('/v2/workflows/comments')).body).toMatchObject({
      description: '',
      tags: [],
      severity: 'none',
    })
  })

  test('is all or nothing: every problem is named, and nothing is changed', async () => {
    const answer = await push([
      workflow(comments({ steps: [mail({ layoutId: 'gone' }), mail()], payloadSchema: { type: 'nothing' } })),
      workflow(comments({ workflowId: 'fine' })),
      workflow(comments({ workflowId: 'fine' })),
      { ...workflow(comments({ workflowId: 'else' })), id: 'named' },
      workflow(comments({ workflowId: 'odd', colour: 'red' })),
      workflow(
        comments({
          workflowId: 'offers',
          messageClass: 'commercial',
          preferences: { workflow: { all: { readOnly: true } } },
        }),
      ),
      layout(brand('x', { controlValues: { email: { body: 'nothing', editorType: 'html' } } })),
      german({ nobody: { hi: 'Hallo' }, fine: { hi: 'Hallo' } }),
      { kind: 'translation', id: 'Klingon', definition: {} },
    ])
    expect(answer).toMatchObject({ status: 422, body: { code: 'definitions_invalid' } })
    const { problems } = answer.body.ctx
    expect(problems.map(({ kind, id, path }: any) => [kind, id, path])).toEqual(
      expect.arrayContaining([
        ['workflow', 'comments', 'payloadSchema'],
        ['workflow', 'comments', 'steps.mail'],
        ['workflow', 'comments', 'steps.mail.controlValues.layoutId'],
        ['workflow', 'fine', ''],
        ['workflow', 'named', 'workflowId'],
        ['workflow', 'odd', expect.any(String)],
        ['workflow', 'offers', 'messageClass'],
        ['layout', 'brand', 'controlValues.email.body'],
        ['translation', 'de_DE', 'workflows.nobody'],
        ['translation', 'de_DE', 'workflows.fine'],
        ['translation', 'Klingon', ''],
      ]),
    )
    expect(answer.body.message).toBe(`${problems.length} problems in the definitions; nothing was changed`)
    expect((await read()).resources).toHaveLength(1)
    const one = await push([workflow(comments({ colour: 'red' }))])
    expect(one.body.message).toBe('1 problem in the definitions; nothing was changed')
  })

  test('is refused for every problem there is, and never only when it is carried out', async () => {
    const twice = Array.from({ length: 251 }, () => workflow())
    const { status, body } = await push(twice)
    expect([status, body.ctx.problems.length, body.message.split(' ')[0]]).toEqual([422, 250, '250'])
    const preferences = { workflow: { all: { enabled: true, readOnly: true } } }
    const critical = workflow(comments({ messageClass: 'commercial', preferences }))
    const problem = {
      ...{ kind: 'workflow', id: 'comments', path: 'messageClass' },
      message: 'a critical workflow cannot be commercial: people could not refuse it',
    }
    for (const more of [{}, { dryRun: true }])
      expect((await push([critical], more)).body).toMatchObject({
        ...{ code: 'definitions_invalid', message: '1 problem in the definitions; nothing was changed' },
        ctx: { problems: [problem] },
      })
    expect((await api.post('/v2/definitions/plan', { resources: [critical] })).body.ctx.problems).toEqual([problem])
  })

  test('has a message of at most 500 characters', async () => {
    expect((await push([workflow()], { message: 'x'.repeat(501) })).status).toBe(422)
    await pushed([workflow()], { message: 'x'.repeat(500) })
    const { data } = (await api.get('/v2/workflows/comments/versions')).body
    expect(data[0].message).toBe('x'.repeat(500))
  })

  test('makes no more than an environment holds', async () => {
    const many = (count: number, of: (n: number) => object) => Array.from({ length: count }, (_, n) => of(n))
    const workflows = many(101, (n) => workflow(comments({ workflowId: `w${n}` })))
    const layouts = many(100, (n) => layout(brand('A', { layoutId: `l${n}` })))
    const variables = many(11, (n) => ({ kind: 'variable', id: `V${n}`, definition: { key: `V${n}`, value: 'x' } }))
    const wide = await server.organizationOf(api)
    expect(await push(workflows)).toMatchObject({
      ...{ status: 400, body: { code: 'too_many_workflows', ctx: { currentCount: 101, limit: 100 } } },
    })
    // One is there already.
    expect(await push(layouts)).toMatchObject({
      ...{ status: 400, body: { code: 'too_many_layouts', ctx: { currentCount: 101, limit: 100 } } },
    })
    expect(await push(variables, {}, wide)).toMatchObject({
      ...{ status: 400, body: { code: 'too_many_variables', ctx: { currentCount: 11, limit: 10 } } },
    })
    expect((await read()).resources).toHaveLength(1)
    await pushed(workflows.slice(1))
    expect((await push([workflow(comments({ workflowId: 'w1', name: 'Changed' }))])).status).toBe(200)
    // What is pruned makes room.
    expect((await pushed(workflows.slice(0, 100), { prune: true, dryRun: true })).summary).toMatchObject({
      ...{ created: 1, deleted: 1 },
    })
  })

  test('is seen as a whole, or not at all, by everybody who reads meanwhile', async () => {
    const names = ['First', 'Second']
    const all = (name: string) => [
      ...['a', 'b', 'c'].map((workflowId) => workflow(comments({ workflowId, name }), { base: 'any' })),
      layout(brand(name, { name }), { base: 'any' }),
    ]
    await pushed(all('First'))
    let isOver = false
    const seen = new Set<string>()
    const reading = Array.from({ length: 2 }, async () => {
      while (!isOver) {
        const { resources } = await read()
        const own = resources.filter(({ id }: any) => id !== 'default-layout')
        seen.add([...new Set(own.map(({ definition }: any) => definition.name))].join(' and '))
      }
    })
    for (let n = 1; n <= 9; n += 1) await pushed(all(names[n % 2] ?? ''))
    isOver = true
    await Promise.all(reading)
    expect([...seen].sort()).toEqual(names)
  })

  test('names the issues of controls, which are no failure', async () => {
    const { issues, applied } = await pushed([workflow(comments({ steps: [mail({ subject: '{{payload.nope' })] }))])
    expect(applied).toBe(true)
    expect(issues).toEqual([
      expect.objectContaining({ kind: 'workflow', id: 'comments', stepId: 'mail', path: 'subject' }),
    ])
  })

  test('as a dry run answers the same and writes nothing', async () => {
    const dry = await pushed([workflow()], { dryRun: true })
    expect(dry).toMatchObject({ applied: false, summary: { created: 1 } })
    expect((await api.get('/v2/workflows/comments')).status).toBe(404)
    expect({ ...(await pushed([workflow()])), applied: false }).toEqual(dry)
  })

  test('turns translation on and off, and replaces the texts of a locale as a whole', async () => {
    const translated = workflow(comments({ isTranslationEnabled: true }))
    const second = workflow(comments({ workflowId: 'second', isTranslationEnabled: true }))
    await pushed([translated, second, german({ comments: { b: '1', a: '2' }, second: { a: '3' } })])
    const text = (id: string) => api.get(`/v2/translations/workflow/${id}/de_DE`)
    expect(Object.keys((await text('comments')).body.content)).toEqual(['b', 'a'])
    await pushed([german({ comments: { b: '1' } })])
    expect((await text('comments')).body.content).toEqual({ b: '1' })
    expect((await text('second')).status).toBe(404)
    await pushed([workflow(), german({})])
    expect(await one('translation', 'de_DE')).toBeUndefined()
    expect((await pushed([german({})])).summary).toMatchObject({ unchanged: 1, created: 0 })
  })

  test('a block document is stored without spaces, and its spacing is no change', async () => {
    const doc = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Hi' }] }] }
    const steps = (spaces: number) => [mail({ editorType: 'block', body: JSON.stringify(doc, null, spaces) })]
    await pushed([workflow(comments({ steps: steps(2) }))])
    expect((await api.get('/v2/workflows/comments')).body.steps[0].controlValues.body).toBe(JSON.stringify(doc))
    expect((await pushed([workflow(comments({ steps: steps(4) }))])).summary.unchanged).toBe(1)
  })

  test('makes another layout the default, and never leaves none', async () => {
    const { changes } = await pushed([layout(brand('A', { isDefault: true }))])
    expect(changes.map(({ id, action }: any) => [id, action])).toEqual([
      ['brand', 'created'],
      ['default-layout', 'updated'],
    ])
    expect((await api.get('/v2/layouts/default-layout')).body.isDefault).toBe(false)
    expect(await push([layout()])).toMatchObject({ status: 422, body: { ctx: { problems: [{ path: 'isDefault' }] } } })
    const two = [layout(brand('A', { isDefault: true })), layout(brand('B', { layoutId: 'b', isDefault: true }))]
    expect((await push(two)).body.ctx.problems).toHaveLength(2)
  })

  test('of two at once, with the same base, one wins', async () => {
    await pushed([workflow()])
    const { revision: base } = await one('workflow', 'comments')
    const names = ['a', 'b', 'c', 'd']
    const answers = await Promise.all(names.map((name) => push([workflow(comments({ name }), { base })])))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  })

  test('that is sent again with its idempotency key is answered as before, and not done again', async () => {
    const keyed = { 'idempotency-key': 'once' }
    const body = { resources: [workflow(comments(), { base: 'any' })] }
    const first = await api.post('/v2/definitions/push', body, keyed)
    expect(first).toMatchObject({ status: 200, body: { summary: { created: 1 } } })
    await api.patch('/v2/workflows/comments', { name: 'By hand' })
    expect((await api.post('/v2/definitions/push', body, keyed)).body).toEqual(first.body)
    expect((await api.get('/v2/workflows/comments')).body).toMatchObject({ name: 'By hand', version: 2 })
    expect((await api.get('/v2/definitions/pushes')).body.data).toHaveLength(1)
  })

  test('has at most 5,000 resources', async () => {
    const many = Array.from({ length: 5_001 }, (_, i) => ({ kind: 'layout', id: `l${i}`, definition: {} }))
    expect((await push(many)).status).toBe(413)
  })

  test('has at most 64 MB', async () => {
    const headers = { authorization: `ApiKey ${api.key}`, 'content-type': 'application/json' }
    const statusFor = (bytes: number) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asking = request(`${server.url}/v2/definitions/push`, {
          ...{ method: 'POST', headers: { ...headers, 'content-length': bytes } },
        })
        asking.on('response', ({ statusCode }) => {
          resolve(statusCode)
          asking.destroy()
        })
        asking.on('error', reject)
        asking.flushHeaders()
      })
    expect(await statusFor(64 * 1024 * 1024 + 1)).toBe(413)
  })
})

describe('conflicts', () => {
  const edit = () => api.patch('/v2/workflows/comments', { description: 'By hand' })
  const changed = comments({ name: 'Changed' })

  test.each<[string, unknown, () => Promise<unknown>, string | undefined]>([
    ['absent, new', undefined, async () => undefined, undefined],
    ['absent, made elsewhere', undefined, () => api.post('/v2/workflows', comments()), 'exists'],
    ['absent, pushed and untouched', undefined, () => push([workflow()]), undefined],
    ['absent, changed since', undefined, () => push([workflow()]).then(edit), 'changed'],
    [
      'files, deleted since',
      'files',
      () => push([workflow()]).then(() => api.delete('/v2/workflows/comments')),
      'deleted',
    ],
    ['null, new', null, async () => undefined, undefined],
    ['null, there', null, () => push([workflow()]), 'exists'],
    ['another revision', 'f'.repeat(64), () => push([workflow()]), 'changed'],
    ['a revision of something gone', 'f'.repeat(64), async () => undefined, 'deleted'],
    ['any, changed since', 'any', () => push([workflow()]).then(edit), undefined],
  ])('base %s', async (_, base, before, why) => {
    await before()
    const answer = await push([workflow(changed, base === undefined ? {} : { base }), layout()])
    if (why === undefined) {
      expect(answer).toMatchObject({ status: 200 })
      return
    }
    expect(answer).toMatchObject({
      status: 409,
      body: {
        code: 'definitions_conflict',
        message: '1 of them was changed since; pull first, or say which ones to overwrite',
        ctx: { conflicts: [{ kind: 'workflow', id: 'comments', why }] },
      },
    })
    const { current } = answer.body.ctx.conflicts[0]
    expect(current?.revision).toBe((await one('workflow', 'comments'))?.revision)
    if (why === 'changed' && base === undefined)
      expect(current).toMatchObject({ version: 2, author: { type: 'api_key' }, source: { kind: 'api' } })
    expect((await api.get('/v2/layouts/brand')).status).toBe(404)
  })

  test('what is pushed and there already is none; a code-first workflow always is one', async () => {
    await api.post('/v2/workflows', comments())
    expect((await pushed([workflow(comments(), { base: null })])).summary.unchanged).toBe(1)
    await addWorkflow(server, api.environmentId, 'coded', { origin: 'external' })
    expect(
      (await push([workflow(comments({ workflowId: 'coded' }), { base: 'any' })])).body.ctx.conflicts,
    ).toMatchObject([
      {
        ...{ id: 'coded', why: 'code_first', base: 'any' },
        current: { revision: expect.stringMatching(/^[0-9a-f]{64}$/), version: 1, updatedAt: expect.any(String) },
      },
    ])
  })

  test('are told all at once, each with why, and nothing is written', async () => {
    await pushed([workflow(), workflow(comments({ workflowId: 'gone' })), layout()])
    await edit()
    await api.delete('/v2/workflows/gone')
    await api.put('/v2/layouts/brand', { name: 'By hand' })
    await api.post('/v2/workflows', comments({ workflowId: 'made' }))
    await addWorkflow(server, api.environmentId, 'coded', { origin: 'external' })
    const resources = ['comments', 'gone', 'made', 'coded', 'fine'].map((workflowId) =>
      workflow(comments({ workflowId, name: 'Changed' })),
    )
    const answer = await push([...resources, layout(brand('B'))])
    expect(answer).toMatchObject({
      status: 409,
      body: { message: '5 of them were changed since; pull first, or say which ones to overwrite' },
    })
    const { conflicts } = answer.body.ctx
    expect(conflicts.map(({ kind, id, why }: any) => [kind, id, why]).sort()).toEqual([
      ['layout', 'brand', 'changed'],
      ['workflow', 'coded', 'code_first'],
      ['workflow', 'comments', 'changed'],
      ['workflow', 'gone', 'deleted'],
      ['workflow', 'made', 'exists'],
    ])
    expect(conflicts.filter(({ current }: any) => current === null).map(({ id }: any) => id)).toEqual(['gone'])
    expect((await api.get('/v2/workflows/fine')).status).toBe(404)
  })
})

describe('prune', () => {
  test('deletes what files pushed, nobody changed and the list no longer has; nothing else', async () => {
    await api.post('/v2/workflows', comments({ workflowId: 'by-hand' }))
    await pushed([
      ...[workflow(), workflow(comments({ workflowId: 'edited' })), workflow(comments({ workflowId: 'kept' }))],
      ...[layout(brand('A', { isDefault: true })), layout(brand('B', { layoutId: 'old' }))],
    ])
    await api.patch('/v2/workflows/edited', { description: 'By hand' })
    const kept = workflow(comments({ workflowId: 'kept' }))
    expect((await pushed([kept])).summary).toMatchObject({ deleted: 0 })
    const { changes } = await pushed([kept], { prune: true })
    expect(changes.map(({ kind, id, action }: any) => [kind, id, action])).toEqual([
      ['layout', 'old', 'deleted'],
      ['workflow', 'comments', 'deleted'],
    ])
    const left = (await read()).resources.map(({ kind, id }: any) => `${kind} ${id}`)
    expect(left).toEqual([
      'layout brand',
      'layout default-layout',
      'workflow by-hand',
      'workflow edited',
      'workflow kept',
    ])
    expect((await pushed([kept], { prune: true })).changes).toEqual([])
  })

  test('deletes nothing of kinds that the files no longer manage', async () => {
    const news = { kind: 'topic', id: 'news', definition: { key: 'news', name: 'News' } }
    await pushed([layout(), workflow(), workflow(comments({ workflowId: 'gone' })), news])
    const kinds = ['workflow']
    const plan = await api.post('/v2/definitions/plan', { resources: [workflow()], prune: true, kinds })
    expect(plan.body.summary).toMatchObject({ deleted: 1, unchanged: 1 })
    const { changes } = await pushed([workflow()], { prune: true, kinds })
    expect(changes).toMatchObject([{ kind: 'workflow', id: 'gone', action: 'deleted' }])
    expect((await pushed([workflow()], { prune: true, kinds: [] })).changes).toEqual([])
    // The last one of a kind that is managed goes, too.
    const { changes: others } = await pushed([workflow()], { prune: true, kinds: ['workflow', 'topic'] })
    expect(others).toMatchObject([{ kind: 'topic', id: 'news', action: 'deleted' }])
    expect(await one('layout', 'brand')).toMatchObject({ id: 'brand' })
    expect((await push([], { prune: true, kinds: ['workflows'] })).status).toBe(422)
  })

  test('keeps a workflow that code declares since', async () => {
    await pushed([workflow()])
    await server.database.db
      .updateTable('workflows')
      .set({ origin: 'external' })
      .where('environment_id', '=', api.environmentId)
      .execute()
    expect((await pushed([], { prune: true })).changes).toEqual([])
    expect((await api.get('/v2/workflows/comments')).status).toBe(200)
  })

  test('refuses to delete a layout that a workflow still uses', async () => {
    await pushed([layout(), workflow(comments({ steps: [mail({ layoutId: 'brand' })] }))])
    const answer = await push([workflow(comments({ steps: [mail({ layoutId: 'brand' })] }))], { prune: true })
    expect(answer).toMatchObject({ status: 422, body: { ctx: { problems: expect.any(Array) } } })
    expect((await api.get('/v2/layouts/brand')).status).toBe(200)
  })
})

test('a plan shows changed paths, conflicts and issues, and writes nothing', async () => {
  await pushed([workflow(comments({ steps: [mail(), { stepId: 'inbox', name: 'Inbox', type: 'in_app' }] }))])
  await api.patch('/v2/workflows/comments', { description: 'By hand' })
  const steps = [{ stepId: 'inbox', name: 'Inbox', type: 'in_app' }, mail({ subject: 'Hello' })]
  const { status, body } = await api.post('/v2/definitions/plan', {
    resources: [workflow(comments({ steps })), layout()],
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    changes: [
      { kind: 'layout', id: 'brand', action: 'created' },
      {
        ...{ kind: 'workflow', id: 'comments', action: 'updated' },
        paths: [
          { path: 'steps', before: ['mail', 'inbox'], after: ['inbox', 'mail'] },
          { path: 'steps.mail.controlValues.subject', before: 'Hi', after: 'Hello' },
          { path: 'description', before: 'By hand', after: null },
        ],
      },
    ],
    conflicts: [{ kind: 'workflow', id: 'comments', why: 'changed' }],
    issues: [
      { id: 'comments', stepId: 'inbox', path: 'subject' },
      { id: 'comments', stepId: 'inbox', path: 'body' },
    ],
    summary: { created: 1, updated: 1, deleted: 0, unchanged: 0 },
  })
  expect((await api.get('/v2/layouts/brand')).status).toBe(404)
  expect((await api.post('/v2/definitions/plan', { resources: [workflow(comments({ steps: 1 }))] })).status).toBe(422)
})

test('a plan has the limits of a push, and of what it renders', async () => {
  const plan = (body: object) => api.post('/v2/definitions/plan', { resources: [], ...body })
  const many = Array.from({ length: 5_001 }, (_, i) => ({ kind: 'layout', id: `l${i}`, definition: {} }))
  expect((await plan({ resources: many })).status).toBe(413)
  const people = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`)
  await api.post('/v1/subscribers/bulk', { subscribers: people(20).map((subscriberId) => ({ subscriberId })) })
  expect((await plan({ render: { subscriberIds: people(20), triggers: 100 } })).status).toBe(200)
  expect((await plan({ render: { subscriberIds: people(21) } })).status).toBe(422)
  expect((await plan({ render: { triggers: 101 } })).status).toBe(422)
  expect((await plan({ render: { triggers: -1 } })).status).toBe(422)
})

describe('who may', () => {
  test('viewers read; editors push and release; admins change settings; the audit log has it', async () => {
    const viewer = await signInAs(server, api, 'viewer')
    const editor = await signInAs(server, api, 'editor')
    const admin = await signInAs(server, api, 'admin')
    expect((await viewer.get('/v2/definitions')).status).toBe(200)
    expect((await viewer.post('/v2/definitions/plan', { resources: [] })).status).toBe(403)
    const push = { resources: [workflow()], source: { commit: '8f3c' } }
    expect((await viewer.post('/v2/definitions/push', push)).status).toBe(403)
    expect((await editor.post('/v2/definitions/push', push)).status).toBe(200)
    expect((await editor.post('/v2/definitions/push', push)).status).toBe(200)
    expect((await editor.patch('/v2/definitions/settings', { edits: 'allow' })).status).toBe(403)
    expect((await admin.patch('/v2/definitions/settings', { edits: 'allow' })).status).toBe(200)
    const release = { resources: [{ kind: 'workflow', id: 'comments' }] }
    expect((await editor.post('/v2/definitions/release', release)).status).toBe(200)
    const { rows } = await server.database.pool.query(
      "SELECT action, details FROM audit_log WHERE acted_in = $1 AND action LIKE 'definitions.%' ORDER BY id",
      [api.environmentId],
    )
    expect(rows).toMatchObject([
      { action: 'definitions.pushed', details: { commit: '8f3c', created: 1, ids: ['workflow comments'] } },
      { action: 'definitions.settings-changed', details: { edits: 'allow' } },
      { action: 'definitions.released', details: { released: 1 } },
    ])
  })

  test('a key needs the scope of every kind it pushes', async () => {
    const key = await server.keyFor(api, ['read', 'write:workflows'])
    expect((await push([workflow()], {}, key)).status).toBe(200)
    expect(await push([layout()], {}, key)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
  })
})
