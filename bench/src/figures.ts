// What a benchmark reports: a figure, the reference it is measured against in the same run, and the ratio promised.
import { mkdirSync, writeFileSync } from 'node:fs'
import { arch, cpus, platform, release, totalmem } from 'node:os'
import path from 'node:path'
import { root } from './root.ts'

export interface Figure {
  name: string
  /** What ours and the reference are measured in, for example `ms`. */
  unit: string
  ours: number
  reference: number
  /** What the reference is. */
  against: string
  /** What we promise: a bound of ours ÷ reference, or of ours by itself. */
  target: { atMost: number } | { atLeast: number } | { oursAtMost: number } | { oursAtLeast: number }
}

export const ratioOf = (figure: Figure): number => figure.ours / figure.reference

export function isMet(figure: Figure): boolean {
  const { target, ours } = figure
  if ('atMost' in target) return ratioOf(figure) <= target.atMost
  if ('atLeast' in target) return ratioOf(figure) >= target.atLeast
  return 'oursAtMost' in target ? ours <= target.oursAtMost : ours >= target.oursAtLeast
}

function promised({ target, unit }: Figure): string {
  if ('atMost' in target) return `≤ ${target.atMost}×`
  if ('atLeast' in target) return `≥ ${target.atLeast}×`
  return 'oursAtMost' in target
    ? `≤ ${target.oursAtMost} ${unit}`
    : `≥ ${target.oursAtLeast.toLocaleString('en')} ${unit}`
}

export function printTable(figures: Figure[]): void {
  const rows = figures.map((figure) => [
    figure.name,
    `${rounded(figure.ours)} ${figure.unit}`,
    `${rounded(figure.reference)} ${figure.unit}`,
    figure.against,
    `${ratioOf(figure).toFixed(2)}×`,
    promised(figure),
    isMet(figure) ? 'met' : 'MISSED',
  ])
  const table = [['figure', 'ours', 'reference', 'against', 'ratio', 'target', ''], ...rows]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of table)
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    )
}

const rounded = (value: number) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2))

/** Keeps the figures with the machine they were measured on. */
export function writeResults(suite: string, figures: Figure[], notes: Record<string, unknown>): string {
  const folder = path.join(root, 'bench/results')
  const file = `${folder}/${suite}.json`
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
  }
  mkdirSync(folder, { recursive: true })
  const measured = figures.map((figure) => ({ ...figure, ratio: ratioOf(figure), met: isMet(figure) }))
  writeFileSync(
    file,
    `${JSON.stringify({ suite, date: new Date().toISOString(), machine, notes, figures: measured }, undefined, 2)}\n`,
  )
  return file
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
