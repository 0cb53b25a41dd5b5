// What differs between two definitions, by path.
import { isDeepStrictEqual } from 'node:util'
import type { Definition } from './workflow-definition.ts'

export interface ChangedPath {
  path: string
  before: unknown
  after: unknown
}

/**
 * In the order of the new definition. Objects are compared member by member, lists as a whole; but steps go by their `stepId`,
 * and where their order differs, that is one change named `steps`. What one side lacks is null there.
 */
export function changedPaths(before: Definition, after: Definition): ChangedPath[] {
  return compare('', before, after)
}

function compare(path: string, before: unknown, after: unknown): ChangedPath[] {
  if (isDeepStrictEqual(before, after)) return []
  if (path === 'steps') return compareSteps(before, after)
  if (!isObject(before) || !isObject(after)) return [{ path, before: before ?? null, after: after ?? null }]
  return membersOf(before, after).flatMap((name) =>
    compare(path === '' ? name : `${path}.${name}`, before[name], after[name]),
  )
}

function compareSteps(before: unknown, after: unknown): ChangedPath[] {
  const [old, now] = [stepsIn(before), stepsIn(after)]
  const order = (of: Map<string, Definition>, other: Map<string, Definition>) =>
    [...of.keys()].filter((stepId) => other.has(stepId))
  const isMoved = !isDeepStrictEqual(order(old, now), order(now, old))
  const ids = [...new Set([...now.keys(), ...old.keys()])]
  return [
    ...(isMoved ? [{ path: 'steps', before: [...old.keys()], after: [...now.keys()] }] : []),
    ...ids.flatMap((stepId) => compare(`steps.${stepId}`, old.get(stepId), now.get(stepId))),
  ]
}

const stepsIn = (steps: unknown): Map<string, Definition> =>
  new Map((Array.isArray(steps) ? (steps as Definition[]) : []).map((step) => [String(step.stepId), step]))

const membersOf = (before: Definition, after: Definition) => [
  ...new Set([...Object.keys(after), ...Object.keys(before)]),
]

const isObject = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
