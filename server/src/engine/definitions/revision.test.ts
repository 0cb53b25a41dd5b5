import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, revisionOf } from './revision.ts'

test('JSON is written as RFC 8785 says, for any value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }), (value) => {
      expect(canonicalJson(value)).toBe((canonicalize as unknown as (value: unknown) => string)(value))
    }),
    { numRuns: 200 },
  )
})

test('the example of RFC 8785 is written as there', () => {
  const numbers = [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001]
  const literals = [null, true, false]
  expect(canonicalJson({ numbers, string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/', literals })).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
})

test('members whose names are whole numbers stand where their characters say', () => {
  expect(canonicalJson({ '9a': 1, 9: { b: 1, 2: 2, 10: 3 }, 10: 4, '-1': 5, 1: 6 })).toBe(
    '{"-1":5,"1":6,"10":4,"9":{"10":3,"2":2,"b":1},"9a":1}',
  )
})

describe('a revision', () => {
  test('does not depend on the order of members, nor on absent ones', () => {
    expect(revisionOf({ b: 1, a: { d: [1, 2], c: undefined } })).toBe(revisionOf({ a: { d: [1, 2] }, b: 1 }))
    expect(revisionOf({ a: [1, 2] })).not.toBe(revisionOf({ a: [2, 1] }))
  })

  test('is SHA-256 in hex', () => {
    expect(revisionOf({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
  })
})
