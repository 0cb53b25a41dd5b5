import { expect, test } from 'vitest'
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
