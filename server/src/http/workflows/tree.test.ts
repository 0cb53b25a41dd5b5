import { beforeEach, describe, expect, test } from 'vitest'
import { writeWorkflow } from '../../../test/environment-content.ts'
import { branch, is, say } from '../../../test/journeys.ts'
import { type Api, lowLimits, useServer } from '../../../test/server.ts'

const server = useServer({ limits: lowLimits })
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
})

const arm = (name: string, steps: object[] = [], more: object = {}) => ({
  ...{ name, condition: is('payload.a', 1), steps },
  ...more,
})
const make = (steps: object[], more: object = {}) =>
  api.post('/v2/workflows', { name: 'Order', workflowId: 'order', active: true, steps, ...more })
const read = async () => (await api.get('/v2/workflows/order')).body

describe('in requests and answers', () => {
  const tree = branch('paid', [arm('Paid', [say('thanks')], { end: true })], {
    default: { name: 'Otherwise', steps: [say('remind')] },
  })

  test('a branch is answered with the steps in its arms, and says its kind beside its type', async () => {
    const { status, body } = await make([tree, say('after')])
    expect(status, JSON.stringify(body)).toBe(201)
    const [paid, after] = body.steps
    expect(paid).toMatchObject({ type: 'branch', kind: 'branch', stepId: 'paid' })
    expect(paid.controls).not.toHaveProperty('uiSchema')
    expect(paid.controls.values).toEqual(paid.controlValues)
    expect(paid.controlValues.arms[0]).toEqual({
      ...{ name: 'Paid', condition: is('payload.a', 1), end: true },
      steps: [
        {
          ...{ _id: expect.any(String), stepId: 'thanks', slug: expect.stringMatching(/^thanks_st_/), name: 'thanks' },
          ...{ type: 'in_app', controlValues: { body: 'thanks' }, issues: expect.any(Object) },
        },
      ],
    })
    expect(after).not.toHaveProperty('kind')
  })

  test('it can be written as a custom step, under every brand; an unknown kind is refused', async () => {
    const { controlValues, ...rest } = tree
    const wrapped = (values: object) => ({ ...rest, type: 'custom', controlValues: { custom: values } })
    const { status, body } = await make([wrapped({ $kind: 'branch', ...controlValues })])
    expect(status, JSON.stringify(body)).toBe(201)
    expect(body.steps[0]).toMatchObject({ type: 'branch', controlValues: { arms: [{ name: 'Paid' }] } })
    const refused = await make([wrapped({ $kind: 'fork', ...controlValues })])
    expect(refused.status).toBe(422)
    expect(refused.text).toContain(
      'steps.0.controlValues.custom.$kind must be one of the following values: branch, exit',
    )
    // A custom step of anybody's own stays what it is.
    const { body: own } = await make([{ ...rest, type: 'custom', controlValues: { custom: { kind: 'branch' } } }])
    expect(own.steps[0]).toMatchObject({ type: 'custom', controlValues: { custom: { kind: 'branch' } } })
  })

  test('what was read can be sent back: nothing changes, and no version is made', async () => {
    await make([tree, say('after')])
    const before = await read()
    const { status, body } = await api.put('/v2/workflows/order', before)
    expect(status).toBe(200)
    expect(body).toEqual(before)
    expect(body.version).toBe(1)
  })

  test('a step moves between arms and out of them, and keeps its ids', async () => {
    await make([tree, say('after')])
    const before = await read()
    const [paid, after] = before.steps
    const [thanks] = paid.controlValues.arms[0].steps
    const { _id, ...withoutId } = thanks
    paid.controlValues.default.steps.push({ ...withoutId, _id, stepId: 'another', name: 'Thank you' })
    paid.controlValues.arms[0].steps = [{ ...after, controlValues: after.controlValues }]
    const { status, body } = await api.put('/v2/workflows/order', { ...before, steps: [paid] })
    expect(status, JSON.stringify(body)).toBe(200)
    const { arms, default: otherwise } = body.steps[0].controlValues
    expect(otherwise.steps[1]).toMatchObject({ _id, stepId: 'thanks', name: 'Thank you' })
    expect(arms[0].steps).toMatchObject([{ _id: after._id, stepId: 'after' }])
  })

  test('nested steps are found by stepId, id and slug: read, previewed and translated', async () => {
    await make([tree], { isTranslationEnabled: true })
    const { steps } = await read()
    const [thanks] = steps[0].controlValues.arms[0].steps
    for (const name of ['thanks', thanks._id, thanks.slug]) {
      const { status, body } = await api.get(`/v2/workflows/order/steps/${name}`)
      expect([status, body.stepId, body.type]).toEqual([200, 'thanks', 'in_app'])
      expect(body.variables.properties.steps.properties).toHaveProperty('paid')
    }
    const preview = await api.post('/v2/workflows/order/step/thanks/preview', {
      controlValues: { body: 'Dear {{subscriber.firstName}}, {{steps.paid.arm}}' },
      previewPayload: { subscriber: { firstName: 'Ada' }, steps: { paid: { arm: 'Paid' } } },
    })
    expect(preview.body.result).toMatchObject({ type: 'in_app', preview: { body: 'Dear Ada, Paid' } })
    const own = await api.post('/v2/workflows/order/step/paid/preview', { controlValues: {} })
    expect(own.body.result).toMatchObject({ type: 'branch', preview: { arms: [{ name: 'Paid' }] } })
    expect(
      (await api.post('/v2/workflows/order/check', {})).body.steps.map((step: { stepId: string }) => step.stepId),
    ).toEqual(['paid', 'thanks', 'remind'])
  })

  test('the list names all types, and the kind of each step', async () => {
    await make([tree, { name: 'Exit', stepId: 'exit', type: 'exit' }])
    const [listed] = (await api.get('/v2/workflows')).body.workflows
    expect(listed.stepTypeOverviews).toEqual(['branch', 'in_app', 'in_app', 'exit'])
    expect(listed.steps.map(({ type, kind }: { type: string; kind: string }) => [type, kind])).toEqual([
      ['branch', 'branch'],
      ['exit', 'exit'],
    ])
  })

  test('the preferences of a subscriber offer the channels of arms too', async () => {
    await make([branch('b', [arm('A', [{ name: 'Text', stepId: 'text', type: 'sms', controlValues: { body: 'x' } }])])])
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const { body } = await api.get('/v2/subscribers/ada/preferences')
    expect(body.workflows[0].channels).toEqual({ sms: true })
  })
})

describe('limits', () => {
  const nested = (depth: number, last: object[] = []): object =>
    branch(`b${depth}`, [arm('A', depth === 1 ? last : [nested(depth - 1, last)])])

  test('branches nest three deep', async () => {
    expect((await make([nested(3, [say('deep')])])).status).toBe(201)
    const refused = await make([nested(4)])
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'branch_too_deep', ctx: { limit: 3 } },
    })
    expect(refused.body.message).toContain('move what is inside "b1" into a workflow of its own')
  })

  test('all steps of the tree count, arms do not', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, number) => say(`s${number}`))
    expect(
      (await make([branch('b', [arm('A', many(10)), arm('B', [])]), ...[...Array(9)].map((_, n) => say(`t${n}`))]))
        .status,
    ).toBe(201)
    const refused = await make([branch('b', [arm('A', many(20))])])
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'too_many_steps', ctx: { currentCount: 21, limit: 20 } },
    })
  })

  test('a tree gives no stepId twice; lists keep the random tail', async () => {
    const twice = await make([say('same'), branch('b', [arm('A', [say('same')])])])
    expect(twice).toMatchObject({ status: 400, body: { code: 'step_id_taken' } })
    await make([say('same'), branch('b', [arm('A', [])])])
    const stored = await read()
    stored.steps[1].controlValues.arms[0].steps = [say('same')]
    expect(await api.put('/v2/workflows/order', stored)).toMatchObject({ status: 400, body: { code: 'step_id_taken' } })
    const list = await make([say('same'), say('same')], { workflowId: 'list' })
    expect(list.body.steps[1].stepId).toMatch(/^same-\w{8}$/)
    // Names alone are nobody's promise.
    const { stepId: _, ...unnamed } = say('mail')
    const made = await make([unnamed, branch('b', [arm('A', [unnamed])])], { workflowId: 'names' })
    expect(made.body.steps[1].controlValues.arms[0].steps[0].stepId).toMatch(/^mail-\w{8}$/)
  })

  test.each([
    ['no arms', { arms: [] }, 'steps.0.controlValues.arms should not be empty'],
    ['eleven arms', { arms: [...Array(11)].map((_, n) => arm(`A${n}`)) }, 'must contain no more than 10 elements'],
    ['an arm without a name', { arms: [{ steps: [] }] }, 'steps.0.controlValues.arms.0.name should not be empty'],
    ['a long name', { arms: [arm('x'.repeat(65))] }, 'must be shorter than or equal to 64 characters'],
    ['the same name twice', { arms: [arm('A'), arm('A')] }, '"A" is the name of two arms'],
    ['the name of the default', { arms: [arm('A')], default: { name: 'A', steps: [] } }, '"A" is the name of two arms'],
    ['the name of no default', { arms: [arm('default')] }, '"default" is the name of two arms'],
    ['steps that are none', { arms: [arm('A', [{ type: 'in_app' }])] }, 'arms.0.steps.0.name should not be empty'],
    ['an unknown type', { arms: [arm('A', [{ name: 'x', type: 'fax' }])] }, 'arms.0.steps.0.type must be one of'],
    ['a condition that is no object', { arms: [{ name: 'A', condition: 1, steps: [] }] }, 'must be an object'],
    ['nothing', {}, 'steps.0.controlValues.arms should not be null'],
  ])('a branch with %s is refused', async (_, controlValues, message) => {
    const refused = await make([{ name: 'b', stepId: 'b', type: 'branch', controlValues }])
    expect(refused).toMatchObject({ status: 422, body: { code: 'validation' } })
    expect(refused.text).toContain(JSON.stringify(message).slice(1, -1))
  })

  test('a workflow that is defined in code has none of these kinds', async () => {
    await writeWorkflow(server, api, 'coded', { origin: 'external' })
    const { body: stored } = await api.get('/v2/workflows/coded')
    const refused = await api.put('/v2/workflows/coded', { ...stored, steps: [branch('b', [arm('A')])] })
    expect(refused).toMatchObject({ status: 400, body: { code: 'bridge_workflow_invalid' } })
    expect(refused.body.message).toContain('cannot have a step of the kind branch')
  })

  test('a branch has no variants', async () => {
    const variants = [{ filters: [], controlValues: {} }]
    const refused = await make([{ ...branch('b', [arm('A')]), variants }])
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('steps.0.variants cannot be given')
  })
})

describe('issues', () => {
  const issuesOf = async (steps: object[]) => {
    const { status, body } = await make(steps)
    expect(status, JSON.stringify(body)).toBe(201)
    return body
  }

  test('a step reads what comes before it on its path, and of a branch that is over every arm', async () => {
    const reads = (stepId: string, ...from: string[]) =>
      say(stepId, from.map((name) => `{{steps.${name}.seen}}`).join(' '))
    const { steps } = await issuesOf([
      reads('first'),
      branch(
        'b',
        [
          arm('A', [reads('a1', 'first'), reads('a2', 'a1', 'b')]),
          arm('B', [reads('b1', 'a1'), reads('b2', 'b1', 'last')]),
        ],
        { default: { name: 'C', steps: [reads('c1', 'b1')] } },
      ),
      reads('last', 'a2', 'b2', 'c1', 'first'),
    ])
    const { arms, default: otherwise } = steps[1].controlValues
    const illegal = (step: { issues?: { controls?: { body?: Array<{ issueType: string; variableName: string }> } } }) =>
      (step.issues?.controls?.body ?? []).map(({ issueType, variableName }) => `${issueType} ${variableName}`)
    const wrong = (name: string) => `ILLEGAL_VARIABLE_IN_CONTROL_VALUE steps.${name}.seen`
    expect(arms[0].steps.map(illegal)).toEqual([[], [wrong('b')]])
    expect(arms[1].steps.map(illegal)).toEqual([[wrong('a1')], [wrong('last')]])
    expect(otherwise.steps.map(illegal)).toEqual([[wrong('b1')]])
    expect(illegal(steps[2])).toEqual([])
  })

  test('conditions of arms are checked where they stand; none is an issue', async () => {
    const body = await issuesOf([
      branch('b', [
        { name: 'None', steps: [] },
        { name: 'Empty', condition: {}, steps: [] },
        { name: 'Wrong', condition: is('steps.later.seen', true), steps: [] },
        { name: 'Half', condition: is('payload.a', ''), steps: [] },
        { name: 'Text', condition: is('payload.a', '{{steps.later.seen}}'), steps: [] },
      ]),
      say('later'),
    ])
    const { controls } = body.steps[0].issues
    expect(
      Object.entries(controls)
        .map(([path, [issue]]: [string, any]) => `${path} ${issue.issueType}`)
        .sort(),
    ).toEqual([
      'arms.0.condition MISSING_VALUE',
      'arms.1.condition MISSING_VALUE',
      'arms.2.condition ILLEGAL_VARIABLE_IN_CONTROL_VALUE',
      'arms.3.condition MISSING_VALUE',
      'arms.4.condition ILLEGAL_VARIABLE_IN_CONTROL_VALUE',
    ])
    expect(body.status).toBe('ERROR')
  })

  test('issues of nested steps count for the status of the workflow, also in the list', async () => {
    const body = await issuesOf([branch('b', [arm('A', [say('empty', '')])])])
    expect(body.steps[0]).not.toHaveProperty('issues')
    expect(body.steps[0].controlValues.arms[0].steps[0].issues.controls).toHaveProperty('body')
    expect(body.status).toBe('ERROR')
    expect((await api.get('/v2/workflows')).body.workflows[0]).toMatchObject({ status: 'ERROR' })
    expect((await api.get('/v2/workflows?status=ACTIVE')).body.totalCount).toBe(0)
  })
})

describe('copies', () => {
  const tree = branch('b', [arm('A', [branch('c', [arm('D', [say('deep')])])])], {
    default: { steps: [say('other')] },
  })
  const idsOf = (steps: any[]): string[] =>
    steps.flatMap((step) => [
      step._id,
      ...[
        ...(step.controlValues?.arms ?? []),
        ...(step.controlValues?.default ? [step.controlValues.default] : []),
      ].flatMap((each) => idsOf(each.steps)),
    ])

  test('a duplicate has the tree, with ids of its own', async () => {
    const { body: original } = await make([tree])
    const { status, body: copy } = await api.post('/v2/workflows/order/duplicate', {})
    expect(status).toBe(201)
    expect(copy.steps[0].controlValues.arms[0].steps[0].controlValues.arms[0].steps[0].stepId).toBe('deep')
    const [before, after] = [idsOf(original.steps), idsOf(copy.steps)]
    expect(new Set([...before, ...after]).size).toBe(before.length + after.length)
  })

  test('publishing carries the tree along: ids stay in the target, and equal trees do not differ', async () => {
    const { development, production } = await server.freshOrganizationWide()
    api = development
    await make([tree])
    const publish = () => development.post(`/v2/environments/${production.environmentId}/publish`, {})
    const diff = async () => (await development.post(`/v2/environments/${production.environmentId}/diff`, {})).body
    expect((await diff()).resources[0].summary).toMatchObject({ added: 5 })
    expect((await publish()).status).toBe(200)
    expect((await diff()).resources).toEqual([])
    const there = async () => (await production.get('/v2/workflows/order')).body
    const first = await there()
    expect(first.revision).toBe((await read()).revision)
    const stored = await read()
    stored.steps[0].controlValues.default.steps[0].controlValues.body = 'Changed'
    await development.put('/v2/workflows/order', stored)
    const { resources } = await diff()
    expect(resources[0].changes).toMatchObject([{ resourceType: 'step', action: 'modified', stepType: 'in_app' }])
    await publish()
    const second = await there()
    expect(idsOf(second.steps)).toEqual(idsOf(first.steps))
    expect(second.steps[0].controlValues.default.steps[0].controlValues.body).toBe('Changed')
  })

  test('a layout that a nested step uses is stored by its identifier, and unset with the layout', async () => {
    await api.post('/v2/layouts', { layoutId: 'plain', name: 'Plain' })
    const { body: layout } = await api.post('/v2/layouts', { layoutId: 'fine', name: 'Fine' })
    const mail = (layoutId: string) => ({
      ...{ name: 'Mail', stepId: 'mail', type: 'email', controlValues: { subject: 'Hi', body: '', layoutId } },
    })
    expect(await make([branch('b', [arm('A', [mail('none')])])])).toMatchObject({
      status: 404,
      body: { code: 'step_layout_not_found' },
    })
    const nested = async () => (await read()).steps[0].controlValues.arms[0].steps[0].controlValues
    await make([branch('b', [arm('A', [mail(layout._id)])])])
    expect((await nested()).layoutId).toBe('fine')
    expect((await api.get('/v2/layouts/fine/usage')).body.workflows).toMatchObject([{ workflowId: 'order' }])
    expect((await api.delete('/v2/layouts/fine')).status).toBe(204)
    expect(await nested()).not.toHaveProperty('layoutId')
  })

  test('an earlier version comes back with the ids it had', async () => {
    const { body: before } = await make([tree])
    await api.put('/v2/workflows/order', { ...before, steps: [say('only')] })
    const restored = await api.post('/v2/workflows/order/versions/1/restore', {})
    expect(restored.status, restored.text).toBeLessThan(300)
    expect(idsOf((await read()).steps)).toEqual(idsOf(before.steps))
  })
})

describe('definitions in files', () => {
  const tree = branch('b', [arm('A', [say('deep')])])
  const pushed = (definition: object) =>
    api.post('/v2/definitions/push', { resources: [{ kind: 'workflow', id: 'order', definition }] })

  test('nested steps have no ids there', async () => {
    await make([tree])
    const { body } = await api.get('/v2/definitions')
    const { definition } = body.resources.find(({ id }: { id: string }) => id === 'order')
    expect(definition.steps[0].controlValues.arms[0].steps).toEqual([
      { stepId: 'deep', name: 'deep', type: 'in_app', controlValues: { body: 'deep' } },
    ])
  })

  test('a wrong tree is a problem of the push', async () => {
    const { body } = await pushed({
      ...{ workflowId: 'order', name: 'Order', steps: [branch('b', [arm('A'), arm('A')])] },
    })
    expect(JSON.stringify(body)).toContain('is the name of two arms')
  })
})
