// Results with their machine, date and version: bench/results/<suite>.json.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os'
import path from 'node:path'
import { type Figure, isMet, type Outcome, ratioOf, type Series } from './figures.ts'

export interface Machine {
  cpu?: string
  cores: number
  memoryGiB: number
  system: string
  node: string
  postgres?: string
  /** The load average of the minute before the run. */
  loadBefore?: number
}

export interface Result {
  suite: string
  date: string
  /** Of this project; a plus sign marks uncommitted changes. */
  commit?: string
  machine: Machine
  notes: Record<string, unknown>
  figures: Figure[]
  series?: Record<string, Series>
}

/** Called before the run: afterwards the load is our own. */
export function describeMachine(): Machine {
  const model = cpus()[0]?.model
  return {
    ...(model ? { cpu: model } : {}),
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  }
}

/** Undefined outside of a git checkout. */
export function currentCommit(root: string): string | undefined {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  const { status, stdout } = git('rev-parse', '--short', 'HEAD')
  if (status !== 0) return undefined
  const changed = git('status', '--porcelain', '--untracked-files=no', '--', 'server/src', 'bench/src').stdout
  return stdout.trim() + (changed === '' ? '' : '+')
}

export function writeResult(folder: string, { figures, ...rest }: Omit<Result, keyof Outcome> & Outcome): string {
  mkdirSync(folder, { recursive: true })
  const measured = figures.map((figure) => ({ ...figure, ratio: ratioOf(figure), holds: isMet(figure) }))
  const file = path.join(folder, `${rest.suite}.json`)
  const { series, ...head } = rest
  const text = JSON.stringify({ ...head, figures: measured, series: rounded(series) }, undefined, 2)
  writeFileSync(file, `${pointsOnOneLine(text)}\n`)
  return file
}

/** Keeps each sample of a series on one line, so that the file stays readable. */
const pointsOnOneLine = (text: string): string =>
  text.replace(/\{\n {8}[^{}[\]]*?\n {6}\}/g, (point) => point.replace(/\n\s*/g, ' '))

const rounded = (series: Outcome['series']): Outcome['series'] =>
  series &&
  Object.fromEntries(
    Object.entries(series).map(([name, points]) => [
      name,
      points.map((point) =>
        Object.fromEntries(Object.entries(point).map(([key, y]) => [key, Number(y.toPrecision(5))])),
      ),
    ]),
  )

/** By suite name. */
export function readResults(folder: string): Map<string, Result> {
  if (!existsSync(folder)) return new Map()
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const results = files.map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Result)
  return new Map(results.map((result) => [result.suite, result]))
}
