import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { operatorNames } from './check.ts'
import { evaluateCondition, templatesIn } from './conditions.ts'

const now = new Date('2026-05-31T10:00:00.000Z')

function outcome(rule: unknown, data: unknown = {}, rendered?: Map<string, string>): unknown {
  const result = evaluateCondition(rule, { data, now, ...(rendered ? { rendered } : {}) })
  return 'error' in result ? result.error.code : result.value
}
const holds = (rule: unknown, data: unknown = {}) => {
  const result = evaluateCondition(rule, { data, now })
  return 'error' in result ? result.error.code : result.holds
}
/** The operator with these two values, the first as a field. */
const applied = (operator: string, field: unknown, value: unknown) =>
  outcome({ [operator]: [{ var: 'f' }, value] }, { f: field })

describe('equality', () => {
  test.each([
    [1, 1, true],
    [1, '1', true],
    ['1.0', '1', true],
    [1, 2, false],
    ['a', 'a', true],
    ['a', 'A', false],
    ['a', 1, false],
    [true, 'true', true],
    ['false', false, true],
    [true, false, false],
    [true, 1, true],
    ['true', 1, false],
    ['2026-05-01', '2026-05-01T00:00:00.000Z', true],
    ['2026-05-01T12:00:00+02:00', '2026-05-01T10:00:00Z', true],
    ['2026-05-01 10:00', '2026-05-01T10:00:00Z', true],
    ['2026-02-30', '2026-03-02', false],
    ['May 1, 2026', '2026-05-01', false],
    ['item 5', '2001-05-01', false],
    [null, null, true],
    [undefined, null, true],
    [0, null, false],
    ['', null, false],
    [false, null, false],
    [[], null, false],
    ['', 0, false],
    [' ', 0, false],
    [[], 0, false],
    [[5], 5, false],
    [{}, '[object Object]', false],
    [Number.NaN, Number.NaN, false],
  ])('%j == %j is %j', (field, value, expected) => {
    expect(applied('==', field, value)).toBe(expected)
    expect(applied('=', field, value)).toBe(expected)
    expect(applied('!=', field, value)).toBe(!expected)
    expect(outcome({ '==': [{ var: 'a' }, { var: 'b' }] }, { a: value, b: field })).toBe(expected)
  })

  test('with === types must match too', () => {
    expect([applied('===', 1, 1), applied('===', 1, '1'), applied('!==', 1, '1')]).toEqual([true, false, true])
  })
})

describe('order', () => {
  test.each([
    [1, 2, { '<': true, '<=': true, '>': false, '>=': false }],
    [2, 2, { '<': false, '<=': true, '>': false, '>=': true }],
    ['10', '9', { '<': false, '<=': false, '>': true, '>=': true }],
    [false, 'true', { '<': true, '<=': true, '>': false, '>=': false }],
    ['2026-05-01', '2026-04-30T23:59:59Z', { '<': false, '<=': false, '>': true, '>=': true }],
    ['a', 'b', { '<': false, '<=': false, '>': false, '>=': false }],
    [null, 5, { '<': false, '<=': false, '>': false, '>=': false }],
    [0, null, { '<': false, '<=': false, '>': false, '>=': false }],
    ['', 5, { '<': false, '<=': false, '>': false, '>=': false }],
    [[1], [2], { '<': false, '<=': false, '>': false, '>=': false }],
  ])('%j and %j', (field, value, expected) => {
    for (const [operator, result] of Object.entries(expected)) expect(applied(operator, field, value)).toBe(result)
  })

  test('three operands are a range with its bounds', () => {
    const within = (low: unknown, field: unknown, high: unknown) =>
      outcome({ '<=': [low, { var: 'f' }, high] }, { f: field })
    expect([within(1, 1, 5), within(1, 5, 5), within(1, 0, 5), within(1, 6, 5)]).toEqual([true, true, false, false])
    expect(within('2026-01-01', '2026-06-01', '2026-12-31')).toBe(true)
    expect(within(1, null, 5)).toBe(false)
    expect(outcome({ '<': [1, 1, 5] })).toBe(false)
    expect(outcome({ '<': [1] })).toBe(false)
  })
})

describe('text and lists', () => {
  test.each([
    ['startsWith', 'hello', 'he', true],
    ['startsWith', 'hello', 'He', false],
    ['startsWith', null, 'he', false],
    ['startsWith', 55, '5', false],
    ['endsWith', 'hello', 'lo', true],
    ['endsWith', 'hello', 'he', false],
    ['contains', 'hello', 'ell', true],
    ['contains', ['ell'], 'ell', false],
    ['doesNotContain', 'hello', 'xyz', true],
    ['doesNotContain', 'hello', 'ell', false],
    ['doesNotContain', null, 'ell', false],
    ['doesNotBeginWith', 'hello', 'lo', true],
    ['doesNotBeginWith', 5, 'lo', false],
    ['doesNotEndWith', 'hello', 'he', true],
    ['doesNotEndWith', 'hello', 'lo', false],
    ['containsAny', ['a', 'b'], ['b', 'c'], true],
    ['containsAny', ['a', 'b'], ['c'], false],
    ['containsAny', ['1'], [1], false],
    ['containsAny', 'ab', ['a'], false],
    ['doesNotContainAny', ['a'], ['b'], true],
    ['doesNotContainAny', ['a'], ['a'], false],
    ['doesNotContainAny', null, ['a'], false],
    ['in', 'a', ['a', 'b'], true],
    ['in', 'c', ['a', 'b'], false],
    ['in', 'ell', 'hello', true],
    ['in', 5, 'a5', true],
    ['in', null, 'null', false],
    ['in', 'a', null, false],
    ['in', 'a', { a: 1, b: 2 }, false],
    ['notIn', 'c', ['a', 'b'], true],
    ['notIn', 'a', ['a', 'b'], false],
    ['notIn', 'a', 'bcd', false],
    ['between', 5, [5, 10], true],
    ['between', 10, [5, 10], true],
    ['between', 11, [5, 10], false],
    ['between', '7', [5, 10], false],
    ['between', 7, ['5', '10'], true],
    ['between', 7, [5], false],
    ['between', 7, 5, false],
    ['notBetween', 4, [5, 10], true],
    ['notBetween', 5, [5, 10], false],
    ['notBetween', '4', [5, 10], false],
    ['null', null, undefined, true],
    ['null', undefined, undefined, true],
    ['null', 0, undefined, false],
    ['null', '', undefined, false],
    ['notNull', false, undefined, true],
    ['notNull', null, undefined, false],
  ])('%s: %j, %j is %j', (operator, field, value, expected) => expect(applied(operator, field, value)).toBe(expected))
})

describe('dates relative to now, which is 31 May 2026, 10:00', () => {
  test.each([
    ['moreThanXAgo', '2026-05-28T09:59:59Z', 3, 'days', true],
    ['moreThanXAgo', '2026-05-28T10:00:00Z', 3, 'days', false],
    ['lessThanXAgo', '2026-05-28T10:00:00Z', 3, 'days', true],
    ['lessThanXAgo', '2027-01-01', 3, 'days', true],
    ['lessThanXAgo', '2026-05-28T09:59:59Z', 3, 'days', false],
    ['withinLast', '2026-05-31T09:30:00Z', 30, 'minutes', true],
    ['withinLast', '2026-05-31T10:00:01Z', 30, 'minutes', false],
    ['withinLast', '2026-05-31T09:29:59Z', 30, 'minutes', false],
    ['withinLast', '2026-05-31T08:30:00Z', 1.5, 'hours', true],
    ['withinLast', '2026-05-17T10:00:00Z', 2, 'weeks', true],
    ['notWithinLast', '2026-05-17T09:59:59Z', 2, 'weeks', true],
    ['notWithinLast', '2027-01-01', 2, 'weeks', false],
    // The last day of a shorter month.
    ['withinLast', '2026-04-30T10:00:00Z', 1, 'months', true],
    ['withinLast', '2026-04-30T09:59:59Z', 1, 'months', false],
    ['withinLast', '2026-02-28T10:00:00Z', 3, 'months', true],
    ['withinLast', '2026-02-28T09:59:59Z', 3, 'months', false],
    ['withinLast', '2025-05-31T10:00:00Z', 1, 'years', true],
    ['exactlyXAgo', '2026-05-31T09:49:00Z', 10, 'minutes', true],
    ['exactlyXAgo', '2026-05-31T09:48:59Z', 10, 'minutes', false],
    ['exactlyXAgo', '2026-05-31T06:00:00Z', 3, 'hours', true],
    ['exactlyXAgo', '2026-05-31T05:59:59Z', 3, 'hours', false],
    ['exactlyXAgo', '2026-05-29T10:00:00Z', 3, 'days', true],
    ['exactlyXAgo', '2026-05-29T10:00:01Z', 3, 'days', false],
    ['exactlyXAgo', '2026-05-23T10:00:00Z', 1, 'weeks', true],
    ['exactlyXAgo', '2026-05-01T10:00:00Z', 1, 'months', true],
    ['exactlyXAgo', '2025-05-24T10:00:00Z', 1, 'years', true],
    ['exactlyXAgo', '2025-05-24T09:59:59Z', 1, 'years', false],
    ['withinLast', '2026-05-31', '3', 'days', true],
    ['withinLast', '2026-05-31', 0, 'days', false],
    ['withinLast', '2026-05-31', -1, 'days', false],
    ['withinLast', '2026-05-31', 'three', 'days', false],
    ['withinLast', '2026-05-31', 1.5, 'months', false],
    ['withinLast', '2026-05-31', 1e300, 'years', false],
    ['withinLast', '2026-05-31', 3, 'day', false],
    ['withinLast', '2026-05-31', 3, 'constructor', false],
    ['withinLast', 'yesterday', 3, 'days', false],
    ['moreThanXAgo', null, 3, 'days', false],
    ['notWithinLast', null, 3, 'days', false],
  ])('%s: %j, %j %s is %j', (operator, date, amount, unit, expected) =>
    expect(applied(operator, date, { amount, unit })).toBe(expected),
  )

  test('no distance at all is false', () => {
    for (const value of [null, 5, 'days', [3, 'days'], {}])
      expect(applied('withinLast', '2026-05-31', value)).toBe(false)
  })
})

describe('variables', () => {
  const data = { payload: { list: [{ n: 1 }, { n: 2 }], text: 'abc', none: null, zero: 0 }, 1: 'one' }
  test.each([
    ['payload.list.1.n', 2],
    ['payload.list[1].n', 2],
    ['payload.list.length', 2],
    ['payload.text.length', 3],
    ['payload.zero', 0],
    ['payload.text.0', null],
    ['payload.list.7.n', null],
    ['payload.none.deeper', null],
    ['nothing.at.all', null],
    [1, 'one'],
    ['', data],
    [null, data],
    [['payload.none', 'default'], 'default'],
    [['payload.zero', 'default'], 0],
    [[{ cat: ['payload.', 'text'] }], 'abc'],
    [['missing', { var: 'payload.text' }], 'abc'],
    [[{ var: 'payload.list' }, 'default'], 'default'],
    [1.5, null],
  ])('{"var": %j} is %j', (name, expected) => expect(outcome({ var: name }, data)).toEqual(expected))

  test.each([
    'constructor',
    '__proto__',
    'toString',
    'payload.constructor',
    'payload.list.map',
    'payload.text.trim',
    '__proto__.toString',
    'payload.list.constructor.constructor',
  ])('nothing inherited is reached by %s', (name) => {
    expect(outcome({ var: name }, data)).toBeNull()
    expect(outcome({ var: [{ cat: [name] }] }, data)).toBeNull()
    expect(outcome({ missing: [name] }, data)).toEqual([name])
  })

  test('a function in the data does not exist', () => expect(outcome({ var: 'f' }, { f: () => 1 })).toBeNull())

  test('missing and missing_some name the missing fields', () => {
    expect(outcome({ missing: ['payload.text', 'payload.x', 'payload.none'] }, data)).toEqual([
      'payload.x',
      'payload.none',
    ])
    expect(outcome({ missing: { merge: ['payload.x'] } }, data)).toEqual(['payload.x'])
    expect(outcome({ missing_some: [1, ['payload.text', 'payload.x']] }, data)).toEqual([])
    expect(outcome({ missing_some: [2, ['payload.text', 'payload.x']] }, data)).toEqual(['payload.x'])
  })
})

describe('logic', () => {
  test.each([
    [{ and: [1, 'a'] }, 'a'],
    [{ and: [1, 0, 'a'] }, 0],
    [{ and: [] }, null],
    [{ and: true }, true],
    [{ or: [0, '', 'a'] }, 'a'],
    [{ or: [0, []] }, []],
    [{ '!': [[]] }, true],
    [{ '!': true }, false],
    [{ '!!': ['0'] }, true],
    [{ if: [true, 'a', 'b'] }, 'a'],
    [{ if: [false, 'a', 'b'] }, 'b'],
    [{ if: [false, 'a', true, 'b', 'c'] }, 'b'],
    [{ if: [false, 'a'] }, null],
    [{ if: ['x'] }, 'x'],
    [{ if: [] }, null],
    [{ '?:': [0, 'a', 'b'] }, 'b'],
  ])('%j is %j', (rule, expected) => expect(outcome(rule)).toEqual(expected))

  test('operands that do not decide are not evaluated', () => {
    const endless = { map: [{ var: 'list' }, { map: [{ var: 'list' }, 1] }] }
    const data = { list: Array.from({ length: 1_000 }, () => ({ list: Array.from({ length: 1_000 }) })) }
    expect(outcome(endless, data)).toBe('too_much_work')
    expect(outcome({ or: [true, endless] }, data)).toBe(true)
    expect(outcome({ and: [false, endless] }, data)).toBe(false)
    expect(outcome({ if: [true, 1, endless] }, data)).toBe(1)
  })

  test('a rule holds if its value is truthy; an empty list is not', () => {
    expect(['a', 1, [0], true].map((value) => holds({ var: 'v' }, { v: value }))).toEqual([true, true, true, true])
    expect(['', 0, [], null, false].map((value) => holds({ var: 'v' }, { v: value }))).toEqual(Array(5).fill(false))
  })

  test('an empty rule holds', () =>
    expect([{}, null, undefined].map((rule) => holds(rule))).toEqual([true, true, true]))
})

describe('lists, numbers and text', () => {
  const data = { list: [1, 2, 3, 4], empty: [], items: [{ n: 5 }, { n: 7 }] }
  test.each([
    [{ map: [{ var: 'items' }, { '+': [{ var: 'n' }, 1] }] }, [6, 8]],
    [{ filter: [{ var: 'list' }, { '>': [{ var: '' }, 2] }] }, [3, 4]],
    [{ reduce: [{ var: 'list' }, { '+': [{ var: 'accumulator' }, { var: 'current' }] }, 0] }, 10],
    [{ reduce: [{ var: 'nothing' }, 1, 'initial'] }, 'initial'],
    [{ all: [{ var: 'list' }, { '>': [{ var: '' }, 0] }] }, true],
    [{ all: [{ var: 'list' }, { '>': [{ var: '' }, 1] }] }, false],
    [{ all: [{ var: 'empty' }, true] }, false],
    [{ some: [{ var: 'items' }, { '==': [{ var: 'n' }, 7] }] }, true],
    [{ some: [{ var: 'empty' }, true] }, false],
    [{ none: [{ var: 'items' }, { '==': [{ var: 'n' }, 8] }] }, true],
    [{ none: [{ var: 'items' }, { '==': [{ var: 'n' }, 7] }] }, false],
    [{ none: [{ var: 'empty' }, true] }, true],
    [{ map: [{ var: 'nothing' }, 1] }, []],
    [{ filter: ['text', 1] }, []],
    [{ some: [[1, { var: 'list.0' }], { some: [[5], true] }] }, true],
    [{ '+': [1, '2', 3] }, 6],
    [{ '+': ['x', 1] }, Number.NaN],
    [{ '-': [5, 3] }, 2],
    [{ '-': [5] }, -5],
    [{ '*': [2, 3, 4] }, 24],
    [{ '/': [9, 3] }, 3],
    [{ '%': [9, 4] }, 1],
    [{ max: [1, 9, 4] }, 9],
    [{ min: [3, 1, 2] }, 1],
    [{ max: [] }, null],
    [{ merge: [[1], 2, [3, [4]]] }, [1, 2, 3, [4]]],
    [{ cat: ['a', 1, null, true, [1, [2, 3]], { a: 1, b: 2 }] }, 'a1true1,2,3[object Object]'],
    [{ substr: ['notification', 3] }, 'ification'],
    [{ substr: ['notification', -4] }, 'tion'],
    [{ substr: ['notification', 0, 3] }, 'not'],
    [{ substr: ['notification', 3, -4] }, 'ifica'],
  ])('%j is %j', (rule, expected) => expect(outcome(rule, data)).toEqual(expected))
})

describe('templates', () => {
  const rule = {
    and: [
      { '==': [{ var: 'payload.a' }, '{{payload.b}}'] },
      { in: [{ var: 'payload.a' }, ['x', '{{payload.c}}']] },
      { withinLast: [{ var: 'payload.at' }, { amount: '{{payload.days}}', unit: 'days' }] },
      { '!=': ['{{payload.b}}', '{% if payload.b %}y{% endif %}'] },
      { '==': [{ var: '{{payload.name}}' }, 5] },
    ],
  }

  test('the strings to render are listed, each once', () =>
    expect(templatesIn(rule)).toEqual([
      '{{payload.b}}',
      '{{payload.c}}',
      '{{payload.days}}',
      '{% if payload.b %}y{% endif %}',
      '{{payload.name}}',
    ]))

  test('rendered values are compared, numbers too', () => {
    const rendered = new Map([
      ['{{payload.b}}', '5'],
      ['{{payload.c}}', '5'],
      ['{{payload.days}}', '3'],
      ['{% if payload.b %}y{% endif %}', 'y'],
      ['{{payload.name}}', 'payload.n'],
    ])
    expect(outcome(rule, { payload: { a: '5', n: 5, at: '2026-05-30' } }, rendered)).toBe(true)
    expect(outcome(rule, { payload: { a: '5', n: 5, at: '2026-05-01' } }, rendered)).toBe(false)
  })

  test('unrendered strings stay as written, and rendered text is never a rule', () => {
    expect(outcome({ '==': [{ var: 'a' }, '{{b}}'] }, { a: '{{b}}' })).toBe(true)
    const rendered = new Map([['{{b}}', '{"var":"a"}']])
    expect(outcome({ '==': [{ var: 'a' }, '{{b}}'] }, { a: '{"var":"a"}' }, rendered)).toBe(true)
  })

  test('a rule that cannot be compiled has none', () => expect(templatesIn({ log: '{{a}}' })).toEqual([]))
})

test('every operator that an editor may save exists', () => {
  for (const operator of operatorNames)
    expect([operator, outcome({ [operator]: [{ var: 'f' }, 1, 2] }, {})]).not.toEqual([operator, 'unknown_operator'])
})

describe('refused rules', () => {
  const deep = (levels: number) => {
    let rule: unknown = true
    for (let i = 0; i < levels; i += 1) rule = { '!': [rule] }
    return rule
  }
  test.each([
    ['an unknown operator', { log: 'x' }, 'unknown_operator'],
    ['one that objects inherit', { constructor: ['return 1'] }, 'unknown_operator'],
    ['an internal one', { constant: [0] }, 'unknown_operator'],
    ['a loop without a body', { map: [{ var: 'list' }] }, 'invalid_rule'],
    ['a rule nested too deeply', deep(60), 'rule_too_deep'],
    ['one nested far too deeply', deep(100_000), 'failed'],
    ['one with too many parts', { or: Array.from({ length: 2_001 }, () => 0) }, 'rule_too_large'],
    ['one with too much text', { '==': [1, 'x'.repeat(40_000)] }, 'rule_too_large'],
  ])('%s', (_, rule, code) => {
    expect(outcome(rule)).toBe(code)
    expect(outcome(rule)).toBe(code)
  })

  test('the largest accepted rule can be evaluated', () => {
    expect(outcome({ or: Array.from({ length: 1_990 }, () => 0) })).toBe(0)
    expect(outcome({ if: Array.from({ length: 1_991 }, () => 0) })).toBe(0)
  })
})

describe('endless work', () => {
  const list = Array.from({ length: 5_000 }, (_, i) => i)
  const data = { list, text: 'x'.repeat(500_000), texts: Array.from({ length: 200 }, () => 'y'.repeat(2_000)) }
  const over = (body: unknown, initial: unknown = 'ab') => ({ reduce: [{ var: 'list' }, body, initial] })
  const twice = [{ var: 'accumulator' }, { var: 'accumulator' }]
  const once = { '==': [{ var: 'accumulator' }, { var: 'accumulator' }] }
  test.each([
    [
      'a loop in a loop',
      { map: [{ merge: [{ var: 'list' }] }, { map: [list, { map: [list, 1] }] }] },
      'rule_too_large',
    ],
    ['a text that doubles', over({ cat: twice }), 'result_too_large'],
    ['a list that doubles', over({ merge: twice }, [1]), 'result_too_large'],
    [
      'a list within itself, printed',
      { cat: [over(twice, ['a'])] },
      expect.stringMatching(/result_too_large|too_much_work|failed/),
    ],
    [
      'an empty list within itself, printed',
      { cat: [over(twice, [])] },
      expect.stringMatching(/result_too_large|too_much_work|failed/),
    ],
    ['a list within a list, ever deeper', { cat: [over([{ var: 'accumulator' }], [])] }, expect.anything()],
    [
      'long texts compared again and again',
      { map: [{ var: 'texts' }, { some: [[1], { in: ['z', { substr: ['a', 0] }] }] }] },
      expect.anything(),
    ],
    [
      'a long body for each item',
      { map: [{ var: 'list' }, { or: Array.from({ length: 1_000 }, () => 0) }] },
      'too_much_work',
    ],
    [
      'a loop over the same list in each turn',
      over({ reduce: [{ merge: [[1, 2, 3]] }, once, 1] }, 1),
      expect.anything(),
    ],
    [
      'a name built in each turn',
      over({ var: [{ cat: [{ var: 'accumulator' }, '.0.0.0'] }, { var: 'accumulator' }] }),
      expect.anything(),
    ],
  ])('%s ends', (_, rule, expected) => expect(outcome(rule, data)).toEqual(expected))
})

/** Rules of every operator, over data of every kind. */
const { rule: anyRule } = fc.letrec((tie) => ({
  rule: fc.oneof(
    { maxDepth: 5, depthSize: 'small', withCrossShrink: true },
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom('a', 'a.b', 'list', 'text', '', '__proto__', '{{x}}', '2026-01-01', 3, -1, 1e308),
    tie('operation'),
    tie('operation'),
    tie('operation'),
    fc.array(tie('rule'), { maxLength: 3 }),
    fc.record({ amount: tie('rule'), unit: fc.constantFrom('days', 'years', 'x') }),
  ),
  operation: fc
    .tuple(fc.constantFrom(...operatorNames), fc.oneof(tie('rule'), fc.array(tie('rule'), { maxLength: 4 })))
    .map(([operator, operand]) => ({ [operator]: operand })),
}))
const anyData = fc.record(
  {
    a: fc.jsonValue(),
    list: fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 50 }),
    text: fc.string({ maxLength: 200, unit: 'binary' }),
    constructor: fc.jsonValue(),
    toString: fc.constant(1),
  },
  { requiredKeys: [] },
)

test('whatever is sent, the answer is a value or a typed error, and the same one twice', () => {
  fc.assert(
    fc.property(anyRule, anyData, (rule, data) => {
      const result = evaluateCondition(rule, { data, now })
      if ('error' in result) expect(result.error.code).toMatch(/^[a-z_]+$/)
      else expect(typeof result.holds).toBe('boolean')
      const again = evaluateCondition(structuredClone(rule), { data, now })
      expect('error' in again ? again.error.code : again.value).toEqual(
        'error' in result ? result.error.code : result.value,
      )
    }),
    { numRuns: 500 },
  )
})

/** JSON Logic's and, or, if and !, straight from their definition. */
function plainly(rule: any): any {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return rule
  const [operator, operands] = Object.entries(rule)[0] as [string, any[]]
  const isTrue = (value: any) => (Array.isArray(value) ? value.length > 0 : Boolean(value))
  if (operator === '!') return !isTrue(plainly(operands[0]))
  if (operator === 'if') {
    for (let i = 0; i + 1 < operands.length; i += 2) if (isTrue(plainly(operands[i]))) return plainly(operands[i + 1])
    return operands.length % 2 === 1 ? plainly(operands.at(-1)) : null
  }
  let value: any = null
  for (const operand of operands) {
    value = plainly(operand)
    if (isTrue(value) === (operator === 'or')) return value
  }
  return value
}

test('compiled logic agrees with the definition, however it is nested', () => {
  const { rule: logic } = fc.letrec((tie) => ({
    rule: fc.oneof({ maxDepth: 6 }, fc.constantFrom(0, 1, '', 'a', null, true, false), tie('operation')),
    operation: fc
      .tuple(fc.constantFrom('and', 'or', 'if', '!'), fc.array(tie('rule'), { minLength: 1, maxLength: 4 }))
      .map(([operator, operands]) => ({ [operator]: operands })),
  }))
  fc.assert(
    fc.property(
      logic.filter((rule) => typeof rule === 'object' && rule !== null),
      (rule) => {
        expect(outcome(rule)).toEqual(plainly(rule))
      },
    ),
    { numRuns: 300 },
  )
})
