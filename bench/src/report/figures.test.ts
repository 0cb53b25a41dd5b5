import { describe, expect, test } from 'vitest'
import { cellsOf, type Figure, headroomOf, isMeasured, isMet, percentile, short, tableOf, withUnit } from './figures.ts'

const figure = (given: Partial<Figure>): Figure => ({
  ...{ id: 'x', name: 'x', unit: '/s', ours: 300, reference: 100, against: 'something' },
  ...given,
})

describe('a target holds', () => {
  test.each([
    [{ atLeast: 3 }, true, 1],
    [{ atLeast: 6 }, false, 0.5],
    [{ atMost: 3 }, true, 1],
    [{ atMost: 1.5 }, false, 0.5],
    [{ oursAtLeast: 100 }, true, 3],
    [{ oursAtLeast: 301 }, false, 300 / 301],
    [{ oursAtMost: 600 }, true, 2],
    [{ oursAtMost: 299 }, false, 299 / 300],
  ])('%j: %s, with the headroom %d', (target, holds, headroom) => {
    expect(isMet(figure({ target }))).toBe(holds)
    expect(headroomOf(figure({ target }))).toBeCloseTo(headroom)
  })

  test('or not, but only if there is a target and its values were measured', () => {
    expect(isMet(figure({}))).toBeUndefined()
    const { reference: _, ...alone } = figure({ target: { atLeast: 5 } })
    expect(isMet(alone)).toBeUndefined()
    expect(headroomOf(alone)).toBeUndefined()
    expect(isMet({ ...alone, target: { oursAtLeast: 5 } })).toBe(true)
  })
})

test('a table row has ours, the reference, the ratio, the target and whether it holds', () => {
  const met = figure({
    name: 'mails',
    ours: 1234.5,
    reference: 500,
    against: 'directly',
    target: { oursAtLeast: 1_500 },
  })
  expect(cellsOf(met)).toEqual(['mails', '1,230/s', '500/s: directly', '2.47×', '≥ 1,500/s', '✗'])
  expect(cellsOf({ ...met, target: { atLeast: 2 } }).slice(-2)).toEqual(['≥ 2×', '✓'])
  const { reference: _, target: __, ...alone } = met
  expect(cellsOf({ ...alone, against: 'no Redis here' }).slice(2)).toEqual(['no Redis here', '–', '–', '–'])
})

test('numbers have three significant digits', () => {
  expect([0, 0.00123, 0.0766, 0.5, 9.876, 98.76, 987.6, 9876, 1_234_567].map(short)).toEqual([
    ...['0', '0.001', '0.077', '0.5', '9.88', '98.8', '988', '9,880', '1,230,000'],
  ])
  expect(withUnit(12.345, 'ms')).toBe('12.3 ms')
  expect(withUnit(12.345, '')).toBe('12.3')
})

test('a value that could not be measured is no figure', () => {
  expect(isMeasured(figure({}))).toBe(true)
  expect(isMeasured(figure({ ours: Number.NaN }))).toBe(false)
  expect(isMeasured(figure({ reference: Number.NaN }))).toBe(false)
})

test('columns are as wide as their widest cell', () => {
  expect(
    tableOf([
      ['a', 'bb'],
      ['ccc', 'd'],
    ]),
  ).toBe('a    bb\nccc  d')
})

test('a percentile is one of the values', () => {
  const values = Array.from({ length: 100 }, (_, n) => 100 - n)
  expect([percentile(values, 0.5), percentile(values, 0.99), percentile([], 0.5)]).toEqual([51, 100, Number.NaN])
})
