import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StepFilter as StoredFilter } from '../../http/workflows/step-filter.ts'
import { passesFilters, type StepFilter, templatesInFilters } from './step-filter.ts'

const filter = (children: StepFilter['children'], more: Partial<StepFilter> = {}): StepFilter => ({
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children,
  ...more,
})
const child = (operator: string, value: unknown) => ({ on: 'payload', field: 'f', operator, value })
const applied = (operator: string, actual: unknown, value: unknown) =>
  passesFilters([filter([child(operator, value)])], { payload: { f: actual } })

describe('each operator does what it says, and its negation the opposite', () => {
  test.each([
    ['EQUAL', 'a', 'a', true],
    ['EQUAL', 'a', 'A', false],
    ['EQUAL', '5', 5, true],
    ['EQUAL', 5, '5', true],
    ['EQUAL', 0, '', false],
    ['EQUAL', 5, 'five', false],
    ['EQUAL', 5, { toString: 1 }, false],
    ['EQUAL', true, 'true', true],
    ['EQUAL', true, true, true],
    ['EQUAL', false, 'no', true],
    ['EQUAL', null, 'null', false],
    ['EQUAL', undefined, 'undefined', false],
    ['EQUAL', ['a'], 'a', false],
    ['LARGER', 5, '4', true],
    ['LARGER', 5, '5', false],
    ['LARGER', '10', '9', true],
    ['LARGER', 'b', 'a', true],
    ['LARGER', '2026-05-02', '2026-05-01', true],
    ['LARGER', 5, 'many', false],
    ['LARGER', 5, '', false],
    ['LARGER', undefined, '1', false],
    ['LARGER', [2], '1', false],
    ['SMALLER', 4, '5', true],
    ['SMALLER', 5, '5', false],
    ['SMALLER', null, '5', false],
    ['LARGER_EQUAL', 5, '5', true],
    ['LARGER_EQUAL', 4, '5', false],
    ['SMALLER_EQUAL', 5, '5', true],
    ['SMALLER_EQUAL', 6, '5', false],
    ['IN', 'hello', 'ell', true],
    ['IN', 'hello', 'xyz', false],
    ['IN', ['a', 'b'], 'b', true],
    ['IN', ['a', 'b'], 'c', false],
    ['IN', [1, 2], '2', true],
    ['IN', 5, '5', true],
    ['IN', undefined, 'a', false],
    ['ANY_IN', ['a', 'b'], 'b,c', true],
    ['ANY_IN', ['a', 'b'], 'c, d', false],
    ['ANY_IN', 'DE', 'DE, FR', true],
    ['ANY_IN', 'DEN', 'DE, FR', false],
    ['ANY_IN', [1, 2], '[2, 3]', true],
    ['ANY_IN', ['a'], ['a', 'b'], true],
    ['ANY_IN', ['[x'], '[x', true],
    ['ANY_IN', undefined, 'a', false],
    ['ALL_IN', ['a', 'b', 'c'], 'a,b', true],
    ['ALL_IN', ['a'], 'a,b', false],
    ['ALL_IN', 'a', 'a', true],
    ['ALL_IN', undefined, 'a', false],
    ['BETWEEN', 5, '5,10', true],
    ['BETWEEN', 10, '5, 10', true],
    ['BETWEEN', 11, '5,10', false],
    ['BETWEEN', 7, '[5, 10]', true],
    ['BETWEEN', 7, [5, 10], true],
    ['BETWEEN', '2026-05-15', '2026-05-01,2026-06-01', true],
    ['BETWEEN', '2026-06-02', '2026-05-01,2026-06-01', false],
    ['BETWEEN', 7, '5', false],
    ['BETWEEN', 7, '5,6,7', false],
    ['BETWEEN', undefined, '5,10', false],
    ['LIKE', 'Hello World', 'lo wo', true],
    ['LIKE', 'Hello World', 'hello%', true],
    ['LIKE', 'Hello World', 'world%', false],
    ['LIKE', 'Hello World', '%world', true],
    ['LIKE', 'Hello World', 'h%o%d', true],
    ['LIKE', 'Hello World', 'h_llo%', true],
    ['LIKE', 'my order_id', 'order_id', true],
    ['LIKE', 'Hello World', 'h%x%d', false],
    ['LIKE', 'abab', 'ab%ab', true],
    ['LIKE', 'aba', 'ab%ba', false],
    ['LIKE', 'a', '_', true],
    ['LIKE', '', '_', false],
    ['LIKE', 'a.c', 'a.c', true],
    ['LIKE', 'abc', 'a.c', false],
    ['LIKE', 5_000, '50', true],
    ['LIKE', undefined, '%', false],
    ['LIKE', 'a', 'a'.repeat(300), false],
    ['IS_DEFINED', 0, undefined, true],
    ['IS_DEFINED', undefined, undefined, false],
    ['IS_DEFINED', null, undefined, false],
  ])('%s: %j, %j is %j', (operator, actual, value, expected) => {
    expect(applied(operator, actual, value)).toBe(expected)
    if (['EQUAL', 'IN', 'BETWEEN', 'LIKE'].includes(operator))
      expect(applied(`NOT_${operator}`, actual, value)).toBe(!expected)
  })

  test('every operator that can be stored is known', () => {
    const { operator } = StoredFilter.properties.children.items.properties
    const names: string[] = (operator as unknown as { enum: string[] }).enum
    for (const name of names) {
      const values = ['x', 'y', 5, 'a,b', '1,9', '[1]'].flatMap((value) => [
        applied(name, 'x', value),
        applied(name, 5, value),
      ])
      expect([name, values.includes(true)]).toEqual([name, true])
    }
  })
})

describe('groups', () => {
  const data = { payload: { f: 'a' }, subscriber: { data: { plan: 'pro' } }, tenant: { identifier: 'acme' } }
  const yes = child('EQUAL', 'a')
  const no = child('EQUAL', 'b')

  test.each([
    ['no filter', [], true],
    ['a filter without children', [filter([])], true],
    ['one without children, negated', [filter([], { isNegated: true })], true],
    ['one child', [filter([yes])], true],
    ['one child, whatever the word', [filter([yes], { value: 'XOR' })], true],
    ['AND', [filter([yes, yes])], true],
    ['AND, one fails', [filter([yes, no])], false],
    ['OR', [filter([no, yes], { value: 'OR' })], true],
    ['OR, all fail', [filter([no, no], { value: 'OR' })], false],
    ['another word', [filter([yes, yes], { value: 'XOR' })], false],
    ['negated', [filter([yes], { isNegated: true })], false],
    ['negated AND', [filter([yes, no], { isNegated: true })], true],
    ['negated OR', [filter([no, yes], { value: 'OR', isNegated: true })], false],
    ['any filter is enough', [filter([no]), filter([yes])], true],
    ['none of several', [filter([no]), filter([no])], false],
  ])('%s', (_, filters, expected) => expect(passesFilters(filters, data)).toBe(expected))

  test("a field is the subscriber's, the payload's or the tenant's, at any depth", () => {
    const on = (subject: string, field: string, value: string) =>
      passesFilters([filter([{ on: subject, field, operator: 'EQUAL', value }])], data)
    expect(on('subscriber', 'data.plan', 'pro')).toBe(true)
    expect(on('tenant', 'identifier', 'acme')).toBe(true)
    expect(on('payload', 'constructor.name', 'Object')).toBe(false)
    expect(on('webhook', 'f', 'a')).toBe(false)
  })

  test('an incomplete comparison does not hold', () => {
    for (const missing of ['on', 'field', 'operator'])
      expect(passesFilters([filter([{ ...yes, [missing]: undefined }])], data)).toBe(false)
    expect(passesFilters([filter([{ ...yes, operator: 'SOUNDS_LIKE' }])], data)).toBe(false)
  })
})

test('values that are templates are listed, and compared once rendered', () => {
  const filters = [filter([child('EQUAL', '{{payload.other}}'), child('ANY_IN', ['x', '{{payload.more}}'])])]
  expect(templatesInFilters(filters)).toEqual(['{{payload.other}}', '{{payload.more}}'])
  const rendered = new Map([
    ['{{payload.other}}', 'a'],
    ['{{payload.more}}', 'a'],
  ])
  expect(passesFilters(filters, { payload: { f: 'a' } }, rendered)).toBe(true)
  expect(passesFilters(filters, { payload: { f: 'a' } })).toBe(false)
})

test('whatever is stored and sent, the answer is yes or no', () => {
  const children = fc.array(
    fc.record(
      {
        on: fc.constantFrom('subscriber', 'payload', 'tenant'),
        field: fc.constantFrom('f', 'g', '', '__proto__', 'f.0'),
        operator: fc.constantFrom('EQUAL', 'LARGER', 'IN', 'ANY_IN', 'ALL_IN', 'NOT_BETWEEN', 'LIKE', 'NOT_LIKE'),
        value: fc.oneof(fc.jsonValue(), fc.stringMatching(/^[ab%_,[\]]{0,40}$/)),
      },
      { requiredKeys: [] },
    ),
    { maxLength: 3 },
  )
  fc.assert(
    fc.property(children, fc.dictionary(fc.constantFrom('f', 'g'), fc.jsonValue()), (given, payload) => {
      expect(typeof passesFilters([filter(given as StepFilter['children'])], { payload })).toBe('boolean')
    }),
  )
})

describe('who was online in the last minutes', () => {
  const now = new Date('2026-05-01T10:00:00.000Z')
  const inLast = (value: unknown, timeOperator: string, subscriber: object) =>
    passesFilters([filter([{ on: 'isOnlineInLast', value, timeOperator }])], { subscriber, now })
  const seen = (lastOnlineAt: string) => ({ isOnline: false, lastOnlineAt })

  test.each([
    [5, 'minutes', seen('2026-05-01T09:55:00.000Z'), true],
    [5, 'minutes', seen('2026-05-01T09:54:59.999Z'), false],
    ['5', 'hours', seen('2026-05-01T05:00:00.000Z'), true],
    [5, 'minutes', { isOnline: true }, true],
    [5, 'minutes', { isOnline: false }, false],
    [5, 'moons', seen('2026-05-01T10:00:00.000Z'), false],
  ])('%j %s, of %j: %s', (value, unit, subscriber, expected) => {
    expect(inLast(value, unit, subscriber)).toBe(expected)
  })
})
