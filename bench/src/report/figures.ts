// What a benchmark reports: a figure, the reference it is measured against in the same run, and what is promised of it.

/** A bound of ours ÷ reference, or of ours by itself. */
export type Target = { atMost: number } | { atLeast: number } | { oursAtMost: number } | { oursAtLeast: number }

export interface Figure {
  /** Stays when sizes and wording change: tables and charts find the figure by it. */
  id: string
  name: string
  /** What ours and the reference are measured in, for example `ms`. */
  unit: string
  ours: number
  /** Measured in the same run. Missing where it could not be: then only a bound of ours by itself can hold or not. */
  reference?: number
  /** What the reference is. */
  against?: string
  /** Figures without one are there to understand the others. */
  target?: Target
}

/** One measurement at several points, for a chart: each point has the same members. */
export type Series = Array<Record<string, number>>

export interface Outcome {
  figures: Figure[]
  /** How it was measured: sizes, rounds, what is taken of them. */
  notes: Record<string, unknown>
  series?: Record<string, Series>
}

export interface Options {
  /** Smaller sizes: shows that everything works, and roughly how fast. */
  quick: boolean
  /** How long a soak lasts. */
  minutes: number
  /** How many triggers a soak sends. */
  perSecond: number
}

export type Suite = (options: Options) => Promise<Outcome>

export function ratioOf({ ours, reference }: Figure): number | undefined {
  return reference === undefined || !(reference > 0) ? undefined : ours / reference
}

/** Undefined where nothing is promised, or nothing could be compared. */
export function isMet(figure: Figure): boolean | undefined {
  const { target, ours } = figure
  if (!target) return undefined
  if ('oursAtMost' in target) return ours <= target.oursAtMost
  if ('oursAtLeast' in target) return ours >= target.oursAtLeast
  const ratio = ratioOf(figure)
  if (ratio === undefined) return undefined
  return 'atMost' in target ? ratio <= target.atMost : ratio >= target.atLeast
}

/** How often the promise would fit into what is measured: 1 is just met, 2 is twice as good. None has a promise of nothing. */
export function headroomOf(figure: Figure): number | undefined {
  const { target, ours } = figure
  const ratio = ratioOf(figure)
  if (!target) return undefined
  if ('oursAtMost' in target) return target.oursAtMost > 0 ? target.oursAtMost / ours : undefined
  if ('oursAtLeast' in target) return ours / target.oursAtLeast
  if (ratio === undefined) return undefined
  return 'atMost' in target ? target.atMost / ratio : ratio / target.atLeast
}

export const columns = ['figure', 'ours', 'reference', 'ratio', 'target', 'holds'] as const

/** The cells of the one table there is, on the terminal as in the documentation. */
export function cellsOf(figure: Figure): string[] {
  const { name, ours, reference, against, unit, target } = figure
  const ratio = ratioOf(figure)
  const met = isMet(figure)
  return [
    name,
    withUnit(ours, unit),
    reference === undefined ? (against ?? '–') : `${withUnit(reference, unit)}: ${against}`,
    ratio === undefined ? '–' : `${short(ratio)}×`,
    target ? promised(target, unit) : '–',
    met === undefined ? '–' : met ? '✓' : '✗',
  ]
}

function promised(target: Target, unit: string): string {
  if ('atMost' in target) return `≤ ${target.atMost}×`
  if ('atLeast' in target) return `≥ ${target.atLeast}×`
  return 'oursAtMost' in target ? `≤ ${withUnit(target.oursAtMost, unit)}` : `≥ ${withUnit(target.oursAtLeast, unit)}`
}

/** Rates and shares are written as one word, everything else with a space. */
export function withUnit(value: number, unit: string): string {
  return `${short(value)}${unit === '' || unit.startsWith('/') ? unit : ` ${unit}`}`
}

/** Three digits that count. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)))
  const step = 10 ** Math.max(digits - 2, -3)
  return (Math.round(value / step) * step).toLocaleString('en', { maximumFractionDigits: Math.max(0, 2 - digits) })
}

/** A figure that could not be measured on this machine is no figure. */
export const isMeasured = ({ ours, reference }: Figure): boolean =>
  Number.isFinite(ours) && (reference === undefined || Number.isFinite(reference))

/** Columns as wide as their widest cell. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n')
}

export function median(values: number[]): number {
  return percentile(values, 0.5)
}

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
