// What a condition read when it was evaluated, for the activity feed.
import { mask } from '../../providers/masking.ts'
import { analyseTemplate } from '../../render/analyse.ts'
import { DEPTH_LIMIT } from '../../render/limits.ts'
import type { Situation } from '../../render/liquid.ts'
import { pathOf } from '../conditions/check.ts'
import { templatesIn } from '../conditions/conditions.ts'
import { read } from '../conditions/operators.ts'

const longestValue = 200
/** Of one condition. */
const mostPaths = 50

/** By path. Long values are cut, secrets are masked, and what is not there is null. */
export function readBy(rule: unknown, of: Situation, secrets: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(pathsIn(rule).map(({ path, parts }) => [path, shortened(read(of.data, parts), secrets)]))
}

interface Path {
  path: string
  parts: string[]
}

/** By condition: the same one is asked for every run of its workflow. */
const knownPaths = new WeakMap<object, Path[]>()

function pathsIn(rule: unknown): Path[] {
  if (typeof rule !== 'object' || rule === null) return []
  const known = knownPaths.get(rule)
  if (known) return known
  const paths = new Set<string>()
  fieldsIn(rule, paths, 0)
  for (const template of templatesIn(rule))
    for (const { segments } of analyseTemplate(template).variables)
      if (segments.every((part) => typeof part === 'string' || typeof part === 'number')) paths.add(segments.join('.'))
  const found = [...paths].slice(0, mostPaths).map((path) => ({ path, parts: pathOf(path) }))
  knownPaths.set(rule, found)
  return found
}

/** Inside of them, names are those of a list's items. */
const iterations = new Set(['map', 'filter', 'reduce', 'all', 'some', 'none'])

function fieldsIn(rule: unknown, paths: Set<string>, depth: number): void {
  if (typeof rule !== 'object' || rule === null || depth > DEPTH_LIMIT) return
  for (const [name, value] of Object.entries(rule)) {
    if (name === 'var') {
      const [field] = [value].flat()
      if (typeof field === 'string' && field !== '') paths.add(field)
      else fieldsIn(value, paths, depth + 1)
    } else fieldsIn(iterations.has(name) && Array.isArray(value) ? value[0] : value, paths, depth + 1)
  }
}

function shortened(value: unknown, secrets: readonly string[]): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  const whole = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const text = mask(whole, secrets)
  if (text.length > longestValue) return `${text.slice(0, longestValue).toWellFormed()}…`
  return text === whole ? value : text
}
