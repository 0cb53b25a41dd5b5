import { describe, expect, test } from 'vitest'
import { flag, manyOf, oneOf, parseSearch, searchAfter, stringifySearch, text, wholeNumber } from './url-state.ts'

describe('search parameters', () => {
  test('read and write the usual form', () => {
    const search = '?query=a+b%26c&status=active&status=error&env=production'
    const state = { query: 'a b&c', status: ['active', 'error'], env: 'production' }
    expect(parseSearch(search)).toEqual(state)
    expect(stringifySearch(state)).toBe(search)
  })

  test('leave out empty values', () => {
    expect(stringifySearch({ query: '', status: [], after: undefined, before: null })).toBe('')
    expect(parseSearch('')).toEqual({})
  })

  test('write numbers and flags as text', () => {
    expect(parseSearch(stringifySearch({ page: 3, open: true }))).toEqual({ page: '3', open: 'true' })
  })
})

describe('unknown values', () => {
  test.each([
    ['one of several', oneOf(['name', 'date'], 'name'), 'date', 'price', 'name'],
    ['a number', wholeNumber(1, { min: 1, max: 9 }), '4', '40', 1],
    ['not a number', wholeNumber(1), '4', 'four', 1],
    ['yes or no', flag(), 'true', '1', false],
  ])('fall back to the default: %s', (_, parser, known, unknown, fallback) => {
    expect(parser.parse(known)).not.toBe(fallback)
    expect(parser.parse(unknown)).toBe(fallback)
    expect(parser.parse(undefined)).toBe(fallback)
  })

  test('are dropped from a list', () => {
    expect(manyOf(['a', 'b']).parse(['a', 'x', 'b'])).toEqual(['a', 'b'])
    expect(manyOf(['a', 'b']).parse('b')).toEqual(['b'])
    expect(manyOf().parse(['anything'])).toEqual(['anything'])
    expect(manyOf().parse(undefined)).toEqual([])
  })

  test('the first of several wins where one is expected', () => {
    expect(text().parse(['first', 'second'])).toBe('first')
    expect(text('usual').parse(undefined)).toBe('usual')
  })
})

describe('changing a filter', () => {
  const schema = { status: manyOf(['active', 'inactive']), query: text(), page: wholeNumber(0) }
  const cursors = { query: text(), after: text(), before: text() }

  test('goes back to the first page, by number or by cursor', () => {
    expect(searchAfter(schema, { page: '7', env: 'production' }, { status: ['active'] })).toEqual({
      status: ['active'],
      env: 'production',
    })
    expect(searchAfter(cursors, { query: 'a', after: 'c7' }, { query: 'ada' })).toEqual({ query: 'ada' })
    expect(searchAfter(cursors, { before: 'c7' }, { query: 'ada' })).toEqual({ query: 'ada' })
  })

  test('the next page keeps the filters', () => {
    expect(searchAfter(schema, { query: 'ada', page: '7' }, { page: 8 })).toEqual({ query: 'ada', page: 8 })
    expect(searchAfter(cursors, { query: 'ada', before: 'c7' }, { after: 'c8' })).toEqual({ query: 'ada', after: 'c8' })
  })

  test('leaves defaults out of the URL, and parameters of other pages alone', () => {
    expect(searchAfter(schema, { query: 'ada', after: 'x' }, { query: '', status: [] })).toEqual({ after: 'x' })
  })
})
