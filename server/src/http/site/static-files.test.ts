import fc from 'fast-check'
// @ts-expect-error: it has no types
import Negotiator from 'negotiator'
import { expect, test } from 'vitest'
import { takes } from './static-files.ts'

const accepts = (header: string, encoding: string): boolean =>
  new Negotiator({ headers: { 'accept-encoding': header } }).encodings([encoding]).length > 0

test.each([
  ['gzip, deflate, br', true],
  ['br;q=0.5', true],
  ['gzip', false],
  ['br;q=0', false],
  ['br ; q=0.000', false],
  ['x-br', false],
  ['', false],
])('with %j a browser takes br: %s', (header, expected) => {
  expect(takes({ headers: { 'accept-encoding': header } }, 'br')).toBe(expected)
  expect(accepts(header, 'br')).toBe(expected)
})

test('what a browser names, it is sent as the usual library understands it', () => {
  const name = fc.constantFrom('br', 'gzip', 'x-gzip', 'deflate', 'identity', 'BR')
  const quality = fc.constantFrom('', ';q=1', ';q=0', '; q=0.0', ' ;q=0.000', ';q=0.001', ';q=1.0')
  fc.assert(
    fc.property(fc.uniqueArray(name, { selector: (each) => each.toLowerCase() }), fc.array(quality), (names, given) => {
      const header = names.map((each, index) => each + (given[index] ?? '')).join(', ')
      for (const encoding of ['br', 'gzip'] as const)
        expect(takes({ headers: { 'accept-encoding': header } }, encoding), header).toBe(accepts(header, encoding))
    }),
  )
})
