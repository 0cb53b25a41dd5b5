import { describe, expect, test } from 'vitest'
import { branch, exit, is, say, statesOf, waitAnHour } from '../../../test/journeys.ts'
import { statementsOf } from '../../../test/plan.ts'
import {
  contentsOf,
  drainBySeveral,
  makeWorkflow,
  pass,
  runOf,
  runsOf,
  type Step,
  storyOf,
  trigger,
} from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

const bySize = branch(
  'size',
  [
    { name: 'Large', condition: { '>': [{ var: 'payload.total' }, 100] }, steps: [say('large')] },
    { name: 'Small', condition: { '<': [{ var: 'payload.total' }, 10] }, steps: [say('small')] },
  ],
  { default: { name: 'Usual', steps: [say('usual')] } },
)

async function apiWith(...steps: Step[]): Promise<Api> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'order', steps)
  return api
}

async function run(api: Api, payload: object = {}) {
  const transactionId = await trigger(api, 'order', 'ada', { payload })
  await server.drain()
  return runOf(api, transactionId)
}

describe('taking an arm', () => {
  test.each([
    [120, ['size completed', 'large completed', 'after completed'], { arm: 'Large', index: 0, ended: false }],
    [5, ['size completed', 'small completed', 'after completed'], { arm: 'Small', index: 1, ended: false }],
    [50, ['size completed', 'usual completed', 'after completed'], { arm: 'Usual', index: null, ended: false }],
  ])('the first whose condition holds is taken, else the default: %i', async (total, jobs, outcome) => {
    const api = await apiWith(bySize, say('after', '{{steps.size.arm}} {{steps.size.index}} {{steps.size.ended}}'))
    const found = await run(api, { total })
    expect(found.status).toBe('completed')
    expect(statesOf(found)).toEqual(jobs)
    expect(found.jobs[0]).toMatchObject({ type: 'branch', kind: 'branch', outcome, providerId: 'svc' })
    expect((await contentsOf(api, 'ada')).at(-1)).toBe(`${outcome.arm} ${outcome.index ?? ''} false`)
  })

  test('its record says which arms were asked, and what their conditions read', async () => {
    const api = await apiWith(bySize)
    const [size, large] = (await run(api, { total: 120 })).jobs
    expect(size.outcome.arms).toEqual([
      { name: 'Large', held: true, read: { 'payload.total': 120 } },
      { name: 'Small', held: null, read: {} },
    ])
    expect(size.path).toBeUndefined()
    expect(large).toMatchObject({ path: [{ stepId: 'size', arm: 'Large' }], step: { _parentId: size.step._id } })
    expect(large).not.toHaveProperty('kind')
    expect(large).not.toHaveProperty('outcome')
    const [other] = (await run(api, { total: 50 })).jobs
    expect(other.outcome.arms.map(({ held }: { held: boolean }) => held)).toEqual([false, false])
  })

  test('long values are cut, missing ones are null, and secrets are not shown', async () => {
    const api = await server.freshApi()
    const made = await (await server.organizationOf(api)).post('/v1/environment-variables', {
      ...{ key: 'TOKEN', isSecret: true },
      values: [{ _environmentId: api.environmentId, value: 'hush-hush' }],
    })
    expect(made.status, made.text).toBeLessThan(300)
    const condition = {
      or: [
        is('payload.text', 'x'),
        is('payload.none', 'x'),
        is('env.TOKEN', 'x'),
        is('payload.list', '{{payload.at}}'),
      ],
    }
    await makeWorkflow(api, 'order', [branch('b', [{ name: 'A', condition, steps: [] }])])
    const [job] = (await run(api, { text: 'y'.repeat(500), list: [1, 2], at: 'noon' })).jobs
    expect(job.outcome.arms[0].read).toEqual({
      'payload.text': `${'y'.repeat(200)}…`,
      'payload.none': null,
      'env.TOKEN': '***',
      'payload.list': [1, 2],
      'payload.at': 'noon',
    })
  })

  test('an absent default is an empty arm named default, and an arm without a condition always holds', async () => {
    const none = await apiWith(branch('b', [{ name: 'A', condition: is('payload.a', 1), steps: [say('a')] }]), say('z'))
    const found = await run(none)
    expect(statesOf(found)).toEqual(['b completed', 'z completed'])
    expect(found.jobs[0].outcome).toMatchObject({ arm: 'default', index: null })
    const always = await apiWith(branch('b', [{ name: 'A', steps: [say('a')] }]))
    expect(statesOf(await run(always))).toEqual(['b completed', 'a completed'])
  })

  test('it is asked once, when the run arrives: with what the steps before it have done', async () => {
    const api = await apiWith(
      say('first'),
      waitAnHour(),
      branch('seen', [{ name: 'Seen', condition: is('steps.first.seen', true), steps: [say('thanks')] }]),
    )
    const transactionId = await trigger(api, 'order', 'ada')
    await server.drain()
    expect(statesOf(await runOf(api, transactionId))).toEqual(['first completed', 'wait delayed', 'seen pending'])
    await api.post('/v1/subscribers/ada/messages/mark-all', { markAs: 'seen' })
    await pass(server, { hours: 1 })
    const found = await runOf(api, transactionId)
    expect(statesOf(found)).toEqual(['first completed', 'wait completed', 'seen completed', 'thanks completed'])
    expect(found.channels).toEqual(['in_app', 'delay', 'branch'])
  })

  test('a step in an arm waits, and the run goes on behind the branch afterwards', async () => {
    const arms = [
      { name: 'A', condition: is('payload.a', 1), steps: [waitAnHour(), say('late', '{{steps.wait.duration}}')] },
    ]
    const api = await apiWith(branch('b', arms), say('after', '{{steps.late.seen}}'))
    const transactionId = await trigger(api, 'order', 'ada', { payload: { a: 1 } })
    await server.drain()
    expect(statesOf(await runOf(api, transactionId))).toEqual([
      'b completed',
      'wait delayed',
      'late pending',
      'after pending',
    ])
    await pass(server, { hours: 1 })
    expect(statesOf(await runOf(api, transactionId))).toEqual([
      'b completed',
      'wait completed',
      'late completed',
      'after completed',
    ])
    expect(await contentsOf(api, 'ada')).toEqual(['3600000', 'false'])
  })

  test('branches stand in branches, and the path names them all', async () => {
    const inner = branch('inner', [{ name: 'B', condition: is('payload.b', 1), steps: [say('b')] }])
    const api = await apiWith(branch('outer', [{ name: 'A', condition: is('payload.a', 1), steps: [inner, say('a')] }]))
    const found = await run(api, { a: 1, b: 1 })
    expect(statesOf(found)).toEqual(['outer completed', 'inner completed', 'b completed', 'a completed'])
    expect(found.jobs[2].path).toEqual([
      { stepId: 'outer', arm: 'A' },
      { stepId: 'inner', arm: 'B' },
    ])
  })

  test('an inactive step of an arm is left out, and an inactive branch with all that is in it', async () => {
    const steps = [say('off', 'off', { active: false }), say('on')]
    const api = await apiWith({ ...bySize, active: false }, branch('b', [{ name: 'A', steps }]))
    expect(statesOf(await run(api))).toEqual(['b completed', 'on completed'])
  })

  test('what an arm that was not taken would have said reads as missing', async () => {
    const api = await apiWith(bySize, say('after', 'large: {{steps.large.seen}}, usual: {{steps.usual.seen}}'))
    await run(api, { total: 50 })
    expect((await contentsOf(api, 'ada')).at(-1)).toBe('large: , usual: false')
  })
})

describe('ending', () => {
  const ending = branch('paid', [
    { name: 'Paid', condition: is('payload.paid', true), steps: [say('thanks'), waitAnHour()], end: true },
  ])

  test('behind the last step of an arm that ends the run, the rest is skipped', async () => {
    const api = await apiWith(ending, say('remind'), say('again'))
    const transactionId = await trigger(api, 'order', 'ada', { payload: { paid: true } })
    await server.drain()
    expect(statesOf(await runOf(api, transactionId))).toEqual([
      ...['paid completed', 'thanks completed', 'wait delayed', 'remind pending', 'again pending'],
    ])
    await pass(server, { hours: 1 })
    const found = await runOf(api, transactionId)
    expect(found.status).toBe('completed')
    expect(found.jobs[0].outcome).toMatchObject({ arm: 'Paid', ended: true })
    expect(statesOf(found)).toEqual([
      ...['paid completed', 'thanks completed', 'wait completed', 'remind skipped exited', 'again skipped exited'],
    ])
    expect(storyOf(found).at(-1)).toBe('in_app skipped: Step was left out because the run was ended before it')
    expect(statesOf(await run(api, { paid: false }))).toEqual([
      ...['paid completed', 'remind completed', 'again completed'],
    ])
  })

  test('an empty arm ends it at once; one inside another ends the whole run', async () => {
    const inner = branch('inner', [{ name: 'Stop', condition: is('payload.stop', 1), steps: [], end: true }])
    const api = await apiWith(branch('outer', [{ name: 'A', steps: [inner, say('a')] }]), say('after'))
    const found = await run(api, { stop: 1 })
    expect(found).toMatchObject({ status: 'completed', deliveryLifecycle: { status: 'skipped', detail: 'exited' } })
    expect(statesOf(found)).toEqual(['outer completed', 'inner completed', 'a skipped exited', 'after skipped exited'])
    expect(statesOf(await run(api))).toEqual(['outer completed', 'inner completed', 'a completed', 'after completed'])
  })

  test('an exit ends the run, also in an arm, and with a condition only where that holds', async () => {
    const api = await apiWith(
      branch('b', [{ name: 'A', steps: [exit(is('payload.stop', 1)), say('a')] }]),
      say('after'),
    )
    const stopped = await run(api, { stop: 1 })
    expect(stopped.status).toBe('completed')
    expect(statesOf(stopped)).toEqual(['b completed', 'exit completed', 'a skipped exited', 'after skipped exited'])
    expect(stopped.jobs[1]).toMatchObject({ type: 'exit', kind: 'exit', outcome: {} })
    expect(statesOf(await run(api))).toEqual([
      ...['b completed', 'exit skipped step_condition', 'a completed', 'after completed'],
    ])
  })
})

describe('what holds elsewhere holds here', () => {
  test('a condition that cannot be evaluated fails the branch, and the run ends as after a failed delay', async () => {
    const arms = [
      { name: 'First', condition: is('payload.a', 1), steps: [say('a')] },
      { name: 'Wrong', condition: { '>': [{ '/': [1, { frobnicate: [] }] }, 1] }, steps: [say('c')] },
    ]
    const api = await apiWith(branch('b', arms), say('after'))
    const found = await run(api)
    expect(found.status).toBe('error')
    expect(statesOf(found)).toEqual(['b failed step_condition', 'after canceled previous_step_failed'])
    expect(found.jobs[0].error).toContain('The condition of the arm "Wrong" could not be evaluated')
    expect(found.jobs[0].outcome).toMatchObject({
      arm: null,
      arms: [{ held: false }, { name: 'Wrong', held: null }],
    })
  })

  test('held back by its condition it is skipped, no arm is taken, and the run goes on', async () => {
    const held = { ...bySize, controlValues: { ...bySize.controlValues, skip: is('payload.sort', true) } }
    const api = await apiWith(held, say('after', 'arm: {{steps.size.arm}}'))
    const found = await run(api, { total: 120 })
    expect(statesOf(found)).toEqual(['size skipped step_condition', 'after completed'])
    expect(await contentsOf(api, 'ada')).toEqual(['arm: '])
  })

  test('a failure in an arm ends the run if the step says so', async () => {
    const failing = say('empty', '{{payload.none}}', { shouldStopOnFail: true })
    const api = await apiWith(branch('b', [{ name: 'A', steps: [failing, say('a')] }]), say('after'))
    const found = await run(api)
    expect(found.status).toBe('error')
    expect(statesOf(found)).toEqual([
      ...['b completed', 'empty failed content_failed', 'a canceled previous_step_failed'],
      'after canceled previous_step_failed',
    ])
  })

  test('cancelling ends the wait in an arm and what comes after it, in the arm and behind', async () => {
    const api = await apiWith(branch('b', [{ name: 'A', steps: [waitAnHour(), say('a')] }]), say('after'))
    const transactionId = await trigger(api, 'order', 'ada')
    await server.drain()
    expect((await api.delete(`/v1/events/trigger/${transactionId}`)).body).toBe(true)
    expect(statesOf(await runOf(api, transactionId))).toEqual([
      ...['b completed', 'wait canceled canceled_by_user', 'a canceled canceled_by_user'],
      'after canceled canceled_by_user',
    ])
  })

  test('a run keeps the arms it began with', async () => {
    const api = await apiWith(waitAnHour(), bySize)
    const transactionId = await trigger(api, 'order', 'ada', { payload: { total: 500 } })
    await server.drain()
    const { body: stored } = await api.get('/v2/workflows/order')
    const changed = { ...stored, steps: [stored.steps[0], say('nothing')] }
    expect(await api.put('/v2/workflows/order', changed)).toMatchObject({ status: 200 })
    await pass(server, { hours: 1 })
    const found = await runOf(api, transactionId)
    expect(statesOf(found)).toEqual(['wait completed', 'size completed', 'large completed'])
    expect(found.jobs[2].path).toEqual([{ stepId: 'size', arm: 'Large' }])
  })

  test('of several workers that wake a run at once, one enters the arm', async () => {
    const api = await apiWith(waitAnHour(), bySize, say('after'))
    const ids = Array.from({ length: 20 }, (_, number) => `member-${number}`)
    const transactionId = await trigger(api, 'order', ids, { payload: { total: 500 } })
    await server.drain()
    server.clock.advance({ hours: 1 })
    await drainBySeveral(server)
    const runs = await runsOf(api, transactionId)
    expect(runs).toHaveLength(20)
    for (const found of runs)
      expect(statesOf(found)).toEqual(['wait completed', 'size completed', 'large completed', 'after completed'])
    expect(await contentsOf(api, 'member-0')).toEqual(['large', 'after'])
  })

  test('a digest in an arm collects the events that take it', async () => {
    const digest: Step = {
      ...{ name: 'Collect', stepId: 'collect', type: 'digest' },
      controlValues: { amount: 1, unit: 'hours' },
    }
    const arms = [
      { name: 'A', condition: is('payload.a', 1), steps: [digest, say('all', '{{steps.collect.eventCount}}')] },
    ]
    const api = await apiWith(branch('b', arms, { default: { name: 'B', steps: [say('one')] } }), say('after'))
    for (const a of [1, 2, 1]) await trigger(api, 'order', 'ada', { payload: { a } })
    await server.drain()
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['one', 'after', '2', 'after'])
  })
})

test('the lifecycle is open until the branch is taken; a run whose arm sends nothing is skipped', async () => {
  const api = await apiWith(
    waitAnHour(),
    branch('b', [{ name: 'A', condition: is('payload.a', 1), steps: [say('a')] }]),
  )
  const transactionId = await trigger(api, 'order', 'ada')
  await server.drain()
  expect((await runOf(api, transactionId)).deliveryLifecycle).toEqual({ status: 'pending' })
  await pass(server, { hours: 1 })
  expect((await runOf(api, transactionId)).deliveryLifecycle).toEqual({ status: 'skipped', detail: 'step_condition' })
})

test('the activity is found by a kind and by what an arm sent', async () => {
  const api = await apiWith(waitAnHour(), branch('b', [{ name: 'A', steps: [say('a')] }]))
  await run(api)
  const count = async (channel: string) => (await api.get(`/v1/notifications?channels=${channel}`)).body.data.length
  expect([await count('branch'), await count('in_app')]).toEqual([1, 0])
  await pass(server, { hours: 1 })
  expect([await count('branch'), await count('in_app'), await count('sms')]).toEqual([1, 1, 0])
})

test('a branch adds no statement to a new run, and one where a stored run takes an arm', async () => {
  const api = await apiWith(bySize)
  await makeWorkflow(api, 'plain', [say('usual')])
  await makeWorkflow(api, 'later', [waitAnHour(), bySize])
  await makeWorkflow(api, 'later-plain', [waitAnHour(), say('usual')])
  for (const name of ['order', 'plain', 'later', 'later-plain']) await trigger(api, name, 'ada')
  await pass(server, { hours: 2 })
  const tables = ['events', 'subscribers', 'notifications', 'jobs', 'messages', 'timers']
  const count = async (name: string, hours: number) => {
    await trigger(api, name, 'ada')
    if (hours > 0) await server.drain()
    server.clock.advance({ hours })
    const found = await statementsOf(async () => {
      await server.drain()
      return { status: 200, text: '' }
    }, tables)
    return found.filter(({ text }) => !/graphile_worker"|jobs:insert|ANALYZE/.test(text)).length
  }
  expect(await count('order', 0)).toBe(await count('plain', 0))
  expect(await count('later', 2)).toBe((await count('later-plain', 2)) + 1)
})

type Node =
  | { stepId: string; kind: 'say' }
  | { stepId: string; kind: 'exit' }
  | { stepId: string; kind: 'branch'; arms: NodeArm[] }
interface NodeArm {
  flag: number | null
  end: boolean
  steps: Node[]
}

/** The same numbers in every run of the test. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function treeOf(next: (below: number) => number, nextId: () => string, depth = 0): Node[] {
  return Array.from({ length: next(4) }, (): Node => {
    const stepId = nextId()
    const chance = next(10)
    if (chance === 0) return { stepId, kind: 'exit' }
    if (chance < 6 || depth === 3) return { stepId, kind: 'say' }
    const arms = Array.from({ length: 1 + next(3) }, () => ({
      ...{ flag: [null, 0, 1, 2][next(4)] ?? null, end: next(4) === 0 },
      steps: treeOf(next, nextId, depth + 1),
    }))
    return { stepId, kind: 'branch', arms }
  })
}

const written = (nodes: Node[]): Step[] =>
  nodes.map((node) => {
    if (node.kind === 'say') return say(node.stepId)
    if (node.kind === 'exit') return { ...exit(), name: node.stepId, stepId: node.stepId }
    const arms = node.arms.map(({ flag, end, steps }, index) => ({
      ...{ name: `arm ${index}`, end, steps: written(steps) },
      ...(flag === null ? {} : { condition: is(`payload.f${flag}`, true) }),
    }))
    return branch(node.stepId, arms)
  })

/** What a run says, by a walk through the tree. @returns whether the run has ended */
function walk(nodes: Node[], flags: Record<string, boolean>, said: string[]): boolean {
  for (const node of nodes) {
    if (node.kind === 'exit') return true
    if (node.kind === 'say') said.push(node.stepId)
    else {
      const arm = node.arms.find(({ flag }) => flag === null || flags[`f${flag}`])
      if (arm && (walk(arm.steps, flags, said) || arm.end)) return true
    }
  }
  return false
}

test('random trees do what a walk through them says, in the service and in a simulation', async () => {
  const api = await server.freshApi()
  for (let seed = 1; seed <= 20; seed += 1) {
    const next = numbers(seed)
    let id = 0
    const nodes: Node[] = [
      { stepId: 'start', kind: 'say' },
      ...treeOf(next, () => {
        id += 1
        return `s${id}`
      }),
    ]
    const payload = { f0: next(2) === 1, f1: next(2) === 1, f2: next(2) === 1 }
    const workflowId = `tree-${seed}`
    await makeWorkflow(api, workflowId, written(nodes))
    const transactionId = await trigger(api, workflowId, `to-${seed}`, { payload })
    await server.drain()
    const found = await runOf(api, transactionId)
    const said: string[] = []
    walk(nodes, payload, said)
    const jobs: string[] = statesOf(found)
    const about = JSON.stringify({ seed, nodes, payload })
    expect(found.status, about).toBe('completed')
    // Steps that wait for nothing have ended, and arms that were not taken have left nothing behind.
    expect(
      jobs.filter((job) => !/ completed$| skipped exited$/.test(job)),
      about,
    ).toEqual([])
    const sent = found.jobs
      .filter(({ type, status }: { type: string; status: string }) => type === 'in_app' && status === 'completed')
      .map(({ step }: { step: { stepId: string } }) => step.stepId)
    expect(sent, about).toEqual(said)
    const { body: played } = await api.post('/v1/simulations', {
      ...{ workflow: { workflowId }, subscribers: [{ subscriberId: 'ada' }] },
      inputs: [{ type: 'trigger', at: '+0s', to: 'ada', payload }],
    })
    const steps = played.runs[0].steps.map(
      ({ stepId, status, reason }: { stepId: string; status: string; reason: string | null }) =>
        `${stepId} ${status}${reason ? ` ${reason}` : ''}`,
    )
    expect(steps, about).toEqual(jobs)
  }
})
