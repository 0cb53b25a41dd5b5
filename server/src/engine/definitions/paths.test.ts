import { describe, expect, test } from 'vitest'
import { changedPaths } from './paths.ts'

const step = (stepId: string, more: object = {}) => ({ stepId, type: 'email', ...more })

test('differences are named by path, steps by their stepId', () => {
  const before = { name: 'A', tags: ['x'], steps: [step('mail', { controlValues: { subject: 'Hi', body: 'b' } })] }
  const after = {
    name: 'A',
    severity: 'high',
    steps: [step('mail', { controlValues: { subject: 'Hello', body: 'b' } })],
  }
  expect(changedPaths(before, after)).toEqual([
    { path: 'severity', before: null, after: 'high' },
    { path: 'steps.mail.controlValues.subject', before: 'Hi', after: 'Hello' },
    { path: 'tags', before: ['x'], after: null },
  ])
  expect(changedPaths(before, before)).toEqual([])
})

test('a moved step is one change; an added or removed one moves no other', () => {
  const of = (...steps: object[]) => ({ steps })
  const [a, b, c] = [step('a'), step('b'), step('c')]
  expect(changedPaths(of(a, b), of(b, a))).toEqual([{ path: 'steps', before: ['a', 'b'], after: ['b', 'a'] }])
  expect(changedPaths(of(a, b), of(a, c, b))).toEqual([{ path: 'steps.c', before: null, after: c }])
  expect(changedPaths(of(a, c, b), of(a, b))).toEqual([{ path: 'steps.c', before: c, after: null }])
})

describe('steps in the arms of a branch', () => {
  const arm = (name: string, ...steps: object[]) => ({ name, condition: { '==': [{ var: 'payload.a' }, name] }, steps })
  const branch = (arms: object[], otherwise?: object) => ({
    ...{ stepId: 'fork', type: 'branch' },
    controlValues: { arms, ...(otherwise ? { default: otherwise } : {}) },
  })
  const of = (...steps: object[]) => ({ steps })
  const mail = (subject: string) => step('mail', { controlValues: { subject } })
  const [a, b] = [step('a'), step('b')]

  test('go by their stepId, however deep they are', () => {
    const deep = (subject: string) =>
      of(branch([arm('vip', { ...branch([arm('x', mail(subject))]), stepId: 'inner' })]))
    expect(changedPaths(deep('Hi'), deep('Hello'))).toEqual([
      { path: 'steps.mail.controlValues.subject', before: 'Hi', after: 'Hello' },
    ])
    const otherwise = (subject: string) => of(branch([arm('vip', a)], { steps: [mail(subject)] }))
    expect(changedPaths(otherwise('Hi'), otherwise('Hello'))).toEqual([
      { path: 'steps.mail.controlValues.subject', before: 'Hi', after: 'Hello' },
    ])
  })

  test('an added or removed one is one change, and moves no other', () => {
    expect(changedPaths(of(branch([arm('vip', a)])), of(branch([arm('vip', b, a)])))).toEqual([
      { path: 'steps.b', before: null, after: b },
    ])
    expect(changedPaths(of(branch([arm('vip', b, a)])), of(branch([arm('vip', a)])))).toEqual([
      { path: 'steps.b', before: b, after: null },
    ])
  })

  test('a branch that is new or gone is one change, with the steps in it', () => {
    const whole = branch([arm('vip', b)])
    expect(changedPaths(of(a), of(a, whole))).toEqual([{ path: 'steps.fork', before: null, after: whole }])
    expect(changedPaths(of(a, whole), of(a))).toEqual([{ path: 'steps.fork', before: whole, after: null }])
  })

  test('one that moves within its arm, into another or out of the branch is one change', () => {
    const before = of(branch([arm('vip', a, b), arm('rest')]))
    const outlined = [{ fork: { vip: ['a', 'b'], rest: [] } }]
    expect(changedPaths(before, of(branch([arm('vip', b, a), arm('rest')])))).toEqual([
      { path: 'steps', before: outlined, after: [{ fork: { vip: ['b', 'a'], rest: [] } }] },
    ])
    // In the order of the flow nothing has changed.
    expect(changedPaths(before, of(branch([arm('vip', a), arm('rest', b)])))).toEqual([
      { path: 'steps', before: outlined, after: [{ fork: { vip: ['a'], rest: ['b'] } }] },
    ])
    expect(changedPaths(before, of(branch([arm('vip', a), arm('rest')]), b))).toEqual([
      { path: 'steps', before: outlined, after: [{ fork: { vip: ['a'], rest: [] } }, 'b'] },
    ])
  })

  test('what an arm says is a change of the branch alone, also its name', () => {
    const named = (name: string) => of(branch([{ ...arm(name, a), condition: null }]))
    expect(changedPaths(named('vip'), named('gold'))).toEqual([
      {
        path: 'steps.fork.controlValues.arms',
        before: [{ name: 'vip', condition: null }],
        after: [{ name: 'gold', condition: null }],
      },
    ])
    const swapped = changedPaths(of(branch([arm('x', a), arm('y', b)])), of(branch([arm('y', b), arm('x', a)])))
    expect(swapped.map(({ path }) => path)).toEqual(['steps.fork.controlValues.arms'])
  })
})
