import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkCondition } from './check.ts'

const known = new Set(['subscriber.email', 'workflow.name', 'steps.inbox.read', 'steps.digest.events.0.payload'])
const check = (rule: unknown) => checkCondition(rule, (path) => known.has(path))
const field = { var: 'payload.total' }
const missing = (path = '') => [{ path, kind: 'MISSING_VALUE', message: expect.any(String) }]
const illegal = (path = '') => [{ path, kind: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE', message: expect.any(String) }]

describe('a condition that the query editor writes has no issue', () => {
  test.each([
    {},
    { '==': [field, 5] },
    { '=': [field, '5'] },
    { '!=': [field, null] },
    { '==': [field, null] },
    { '==': [field, false] },
    { '==': [field, 0] },
    { '==': [field, '{{payload.other}}'] },
    { '>': [field, { var: 'subscriber.data.limit' }] },
    { in: ['x', field] },
    { '!': { in: ['x', field] } },
    { '!': [{ in: [field, ['a', 'b']] }] },
    { startsWith: [field, 'a'] },
    { '!': { endsWith: [field, 'a'] } },
    { '<=': [1, field, 5] },
    { '!': { '<=': ['2026-01-01', field, '2026-02-01'] } },
    { containsAny: [field, ['a']] },
    { doesNotContainAny: [field, { var: 'payload.other' }] },
    { withinLast: [field, { amount: 3, unit: 'days' }] },
    { exactlyXAgo: [field, { amount: '{{payload.n}}', unit: 'years' }] },
    { between: [field, [1, 5]] },
    { null: [field] },
    { notNull: field },
    { and: [{ '==': [field, 1] }, { or: [{ '!': { '==': [field, 2] } }, { '<': [field, 3] }] }] },
  ])('%j', (rule) => expect(check(rule)).toEqual([]))
})

describe('fields', () => {
  test.each([
    'subscriber.data',
    'subscriber.data.plan',
    'payload.anything.at[0].all',
    'context.tenant.data.plan',
    'subscriber.email',
    'steps.inbox.read',
    'steps.digest.events[0].payload',
  ])('%s may be used', (name) => expect(check({ '==': [{ var: name }, 1] })).toEqual([]))

  test.each([
    'payload',
    'payload.',
    'context',
    'subscriber',
    'subscriber.age',
    'steps.later.read',
    'total',
    'payloads.a',
  ])('%s may not', (name) => expect(check({ '==': [{ var: name }, 1] })).toEqual(illegal()))

  test('a variable to compare with is checked too', () => {
    expect(check({ '==': [field, { var: 'nowhere' }] })).toEqual(illegal())
    expect(check({ in: [field, { var: 'nowhere' }] })).toEqual(illegal())
    expect(check({ '==': [field, { '+': [1, { var: 'nowhere' }] }] })).toEqual(illegal())
  })

  test('inside a loop they are those of the items', () => {
    expect(check({ some: [{ var: 'payload.items' }, { '>': [{ var: 'price' }, 10] }] })).toEqual([])
    expect(check({ some: [{ var: 'items' }, { '>': [{ var: 'price' }, 10] }] })).toEqual(illegal())
  })

  test('an empty one is missing', () => expect(check({ '==': [{ var: '' }, 1] })).toEqual(missing()))
})

describe('values that are missing', () => {
  test.each([
    { '==': [field] },
    { '==': [field, ''] },
    { '<': [field, null] },
    { startsWith: [field, null] },
    { in: ['', field] },
    { in: [field, []] },
    { containsAny: [field, []] },
    { '<=': [1, field, ''] },
    { between: [field, [1]] },
    { between: [field, [1, null]] },
    { between: [field, 5] },
    { withinLast: [field, { unit: 'days' }] },
    { withinLast: [field, { amount: 5 }] },
    { withinLast: [field, 5] },
    { and: [] },
  ])('%j', (rule) => expect(check(rule)).toEqual(missing()))
})

describe('not a condition', () => {
  const rules: unknown[] = [
    [],
    'text',
    null,
    5,
    { and: { '==': [field, 1] } },
    { or: 'text' },
    { '==': [5, field] },
    { '==': [field, 1, 2] },
    { '==': field },
    { '==': [] },
    { in: [field] },
    { in: [1, 2] },
    { '==': [field, 1], '!=': [field, 2] },
    { and: { '==': [field, 1], '!=': [field, 2] } },
    { log: 'text' },
    { constructor: [field, 1] },
    { toString: [field, 1] },
    { withinLast: [field, { amount: 0, unit: 'days' }] },
    { withinLast: [field, { amount: 'many', unit: 'days' }] },
    { withinLast: [field, { amount: 5, unit: 'fortnights' }] },
    { '!': 'text' },
  ]
  test.each(rules.map((rule) => [JSON.stringify(rule), rule]))('%s', (_, rule) =>
    expect(check(rule)).toEqual(illegal()),
  )
})

test('an issue names its group', () => {
  const rule = { and: [{ '==': [field, 1] }, { or: [{ '==': [field, 2] }, { '!': { '==': [field, ''] } }, 'text'] }] }
  expect(check(rule)).toEqual([...missing('1.1'), ...illegal('1.2')])
})

test('a rule too large to evaluate is an issue, whatever makes it large', () => {
  let deep: unknown = { '==': [field, 1] }
  for (let i = 0; i < 100_000; i += 1) deep = { '!': deep }
  expect(check(deep)).toEqual(illegal())
  expect(check({ or: Array.from({ length: 1_000_000 }, () => 1) })).toEqual(illegal())
  expect(check({ '==': [field, 'x'.repeat(40_000)] })).toEqual(illegal())
  expect(check({ or: Array.from({ length: 1_500 }, () => 1) })).toHaveLength(100)
})

test('whatever is sent, the answer is a list of issues', () => {
  const operators = fc.constantFrom(
    'and',
    'or',
    '!',
    '==',
    '<=',
    'in',
    'var',
    'between',
    'withinLast',
    'some',
    '__proto__',
  )
  const { rule } = fc.letrec((tie) => ({
    rule: fc.oneof({ maxDepth: 6 }, fc.jsonValue(), tie('operation'), fc.array(tie('rule'), { maxLength: 3 })),
    operation: fc.tuple(operators, tie('rule')).map(([operator, operand]) => Object.fromEntries([[operator, operand]])),
  }))
  fc.assert(
    fc.property(rule, (sent) => {
      for (const issue of check(sent)) expect(issue.message).not.toBe('')
    }),
  )
})
