import { describe, expect, test } from 'vitest'
import { inWords, readRoot, readValue, textOfValue, valueFor, writeRoot } from './condition-model.ts'

const plan = { '==': [{ var: 'payload.plan' }, 'pro'] }

describe('a condition', () => {
  test.each([
    ['a group', { and: [plan, { in: [{ var: 'subscriber.locale' }, ['de_CH', 'de_DE']] }] }],
    ['nested groups', { or: [plan, { and: [{ '!!': [{ var: 'payload.paid' }] }] }] }],
    ['an unknown operator', { and: [{ regex: [{ var: 'payload.plan' }, '^p'] }] }],
    ['a known operator in an unusual form', { and: [{ '==': ['pro', { var: 'payload.plan' }] }] }],
    ['a list of variables', { and: [{ '!': { var: 'payload.paid' } }] }],
  ])('of %s is written back unchanged', (_, json) => {
    expect(writeRoot(readRoot(json))).toEqual(json)
  })

  test('of one row is kept in a group, so that a second can be added', () => {
    expect(readRoot(plan)).toEqual({
      kind: 'group',
      join: 'and',
      members: [{ kind: 'rule', field: 'payload.plan', operator: '==', value: 'pro' }],
    })
  })

  test('without rows is no condition', () => {
    expect(writeRoot(readRoot({}))).toBeUndefined()
    expect(writeRoot(readRoot(undefined))).toBeUndefined()
  })

  test.each([
    ['always', {}],
    ['if payload.plan is pro', plan],
    ['if payload.plan is pro or 2 more', { or: [plan, plan, plan] }],
    ['if payload.paid exists', { notNull: [{ var: 'payload.paid' }] }],
    ['if a condition', { regex: ['x', 'y'] }],
  ])('in words: %s', (words, json) => {
    expect(inWords(readRoot(json))).toBe(words)
  })
})

test.each([
  ['3', 3],
  ['-1.5', -1.5],
  ['007', '007'],
  ['true', true],
  ['null', null],
  ['"3"', '3'],
  ['pro', 'pro'],
])('the typed value %s is %j, and shown as typed', (text, value) => {
  expect(readValue(text)).toBe(value)
  expect(textOfValue(value)).toBe(text)
})

test('another operator keeps the value if it can', () => {
  expect(valueFor('in', 'pro')).toEqual(['pro'])
  expect(valueFor('in', '')).toEqual([])
  expect(valueFor('between', 'pro')).toEqual(['', ''])
  expect(valueFor('withinLast', 'pro')).toEqual({ amount: 1, unit: 'days' })
  expect(valueFor('==', ['a'])).toBe('')
  expect(valueFor('!!', 'pro')).toBeUndefined()
})
