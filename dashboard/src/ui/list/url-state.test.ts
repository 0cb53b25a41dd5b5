import { describe, expect, test } from 'vitest'
import { flag, manyOf, oneOf, parseSearch, stringifySearch, text, wholeNumber } from './url-state.ts'

describe('what stands in the URL', () => {
  test('is read and written as people write it', () => {
    const search = '?query=a+b%26c&status=active&status=error&env=production'
    const state = { query: 'a b&c', status: ['active', 'error'], env: 'production' }
    expect(parseSearch(search)).toEqual(state)
    expect(stringifySearch(state)).toBe(search)
  })

  test('is left out where it says nothing', () => {
    expect(stringifySearch({ query: '', status: [], after: undefined, before: null })).toBe('')
    expect(parseSearch('')).toEqual({})
  })

  test('a number or yes is written as text, which reads the same', () => {
    expect(parseSearch(stringifySearch({ page: 3, open: true }))).toEqual({ page: '3', open: 'true' })
  })
})

describe('what a page does not know', () => {
  test.each([
    ['one of several', oneOf(['name', 'date'], 'name'), 'date', 'price', 'name'],
    ['a number', wholeNumber(1, { min: 1, max: 9 }), '4', '40', 1],
    ['a number in words', wholeNumber(1), '4', 'four', 1],
    ['yes or no', flag(), 'true', '1', false],
  ])('falls back: %s', (_, parser, known, unknown, fallback) => {
    expect(parser.parse(known)).not.toBe(fallback)
    expect(parser.parse(unknown)).toBe(fallback)
    expect(parser.parse(undefined)).toBe(fallback)
  })

  test('is dropped from a list', () => {
    expect(manyOf(['a', 'b']).parse(['a', 'x', 'b'])).toEqual(['a', 'b'])
    expect(manyOf(['a', 'b']).parse('b')).toEqual(['b'])
    expect(manyOf().parse(['anything'])).toEqual(['anything'])
    expect(manyOf().parse(undefined)).toEqual([])
  })

  test('of two where one is meant, the first counts', () => {
    expect(text().parse(['first', 'second'])).toBe('first')
    expect(text('usual').parse(undefined)).toBe('usual')
  })
})
