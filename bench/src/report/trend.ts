// Does it grow? A line through samples that ignores outliers, and whether there is a trend at all.
import { median } from './figures.ts'

export interface Trend {
  /** The line's value at the first and at the last sample. */
  begin: number
  end: number
  /** Rise of the line per unit of x. */
  slope: number
  /** Significance: without a trend, one series in a hundred is beyond ±2.58. */
  z: number
}

/** The Theil–Sen line, the median of the slopes between all pairs; the Mann–Kendall test. */
export function trendOf(points: Array<{ x: number; y: number }>): Trend {
  const slopes: number[] = []
  let rising = 0
  points.forEach((from, place) => {
    for (const to of points.slice(place + 1)) {
      slopes.push((to.y - from.y) / (to.x - from.x))
      rising += Math.sign(to.y - from.y)
    }
  })
  const slope = slopes.length === 0 ? 0 : middle(slopes)
  const base = middle(points.map(({ x, y }) => y - slope * x))
  const n = points.length
  const deviation = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18)
  return {
    begin: base + slope * (points[0]?.x ?? Number.NaN),
    end: base + slope * (points.at(-1)?.x ?? Number.NaN),
    slope,
    z: deviation === 0 ? 0 : (rising - Math.sign(rising)) / deviation,
  }
}

/** The mean of the two middle values for an even count, so that both halves weigh the same. */
function middle(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return Number.isInteger(half) ? ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2 : median(values)
}
