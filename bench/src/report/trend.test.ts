import { describe, expect, test } from 'vitest'
import { trendOf } from './trend.ts'

const series = (values: number[]) => values.map((y, x) => ({ x, y }))

describe('the trend line', () => {
  test('goes through samples that are on one line', () => {
    expect(trendOf(series([10, 12, 14, 16]))).toMatchObject({ begin: 10, end: 16, slope: 2 })
  })

  test('is not bent by outliers', () => {
    const values = Array.from({ length: 50 }, (_, n) => (n % 10 === 9 ? 5_000 : 100))
    expect(trendOf(series(values))).toMatchObject({ begin: 100, end: 100, slope: 0 })
  })

  test('tells growth from fluctuation', () => {
    const wave = (n: number) => ((n * 7_919) % 13) - 6
    const grows = trendOf(series(Array.from({ length: 50 }, (_, n) => 100 + n + wave(n))))
    const stays = trendOf(series(Array.from({ length: 50 }, (_, n) => 100 + wave(n))))
    expect(grows.z).toBeGreaterThan(2.58)
    expect(grows.end / grows.begin).toBeGreaterThan(1.3)
    expect(Math.abs(stays.z)).toBeLessThan(2.58)
    expect(stays.end / stays.begin).toBeCloseTo(1, 1)
  })

  test('is flat for a single sample', () => {
    expect(trendOf(series([7]))).toEqual({ begin: 7, end: 7, slope: 0, z: 0 })
  })
})
