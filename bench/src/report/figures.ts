// What a benchmark reports: a figure, the reference measured in the same run, and the target.

/** A bound on ours ÷ reference, or on ours alone. */
export type Target = { atMost: number } | { atLeast: number } | { oursAtMost: number } | { oursAtLeast: number }

export interface Figure {
  /** Stays the same when sizes and wording change: tables and charts look figures up by it. */
  id: string
  name: string
  /** The unit of ours and the reference, such as `ms`. */
  unit: string
  ours: number
  /** Measured in the same run. If missing, only a bound on ours alone can be checked. */
  reference?: number
  /** What the reference is. */
  against?: string
  /** Figures without a target explain the others. */
  target?: Target
}

/** One measurement at several points, for a chart; all points have the same members. */
export type Series = Array<Record<string, number>>

export interface Outcome {
  figures: Figure[]
  /** How it was measured: sizes, rounds, which value is taken. */
  notes: Record<string, unknown>
  series?: Record<string, Series>
}

export interface Options {
  /** Smaller sizes, to check that everything works and roughly how fast. */
  quick: boolean
  /** Duration of a soak. */
  minutes: number
  /** Trigger rate of a soak. */
  perSecond: number
}

export type Suite = (options: Options) => Promise<Outcome>

export function ratioOf({ ours, reference }: Figure): number | undefined {
  return reference === undefined || !(reference > 0) ? undefined : ours / reference
}

/** Undefined without a target, or if it could not be compared. */
export function isMet(figure: Figure): boolean | undefined {
  const { target, ours } = figure
  if (!target) return undefined
  if ('oursAtMost' in target) return ours <= target.oursAtMost
  if ('oursAtLeast' in target) return ours >= target.oursAtLeast
  const ratio = ratioOf(figure)
  if (ratio === undefined) return undefined
  return 'atMost' in target ? ratio <= target.atMost : ratio >= target.atLeast
}

/** How many times better than the target: 1 just meets it, 2 is twice as good. Undefined for a target of zero. */
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

/** One table row, for the terminal and the documentation. */
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

/** Rates and percentages have no space before the unit. */
export function withUnit(value: number, unit: string): string {
  return `${short(value)}${unit === '' || unit.startsWith('/') ? unit : ` ${unit}`}`
}

/** Three significant digits. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)))
  const step = 10 ** Math.max(digits - 2, -3)
  return (Math.round(value / step) * step).toLocaleString('en', { maximumFractionDigits: Math.max(0, 2 - digits) })
}

/** Whether the figure could be measured on this machine. */
export const isMeasured = ({ ours, reference }: Figure): boolean =>
  Number.isFinite(ours) && (reference === undefined || Number.isFinite(reference))

/** Pads columns to their widest cell. */
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
