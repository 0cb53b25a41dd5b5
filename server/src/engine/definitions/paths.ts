// What differs between two definitions, by path.
import { isDeepStrictEqual } from 'node:util'
import { armsOf, defaultOf, type TreeStep } from '../../steps/contract/tree.ts'
import type { Definition } from './workflow-definition.ts'

export interface ChangedPath {
  path: string
  before: unknown
  after: unknown
}

/**
 * In the order of the new definition. Objects are compared member by member, lists as a whole; but steps go by their `stepId`,
 * also those in the arms of a branch, and where they stand elsewhere, that is one change named `steps`. What one side lacks is
 * null there.
 */
export function changedPaths(before: Definition, after: Definition): ChangedPath[] {
  return compare('', before, after)
}

function compare(path: string, before: unknown, after: unknown): ChangedPath[] {
  if (isDeepStrictEqual(before, after)) return []
  if (path === 'steps') return compareSteps(stepsIn(before), stepsIn(after))
  if (!isObject(before) || !isObject(after)) return [{ path, before: before ?? null, after: after ?? null }]
  return membersOf(before, after).flatMap((name) =>
    compare(path === '' ? name : `${path}.${name}`, before[name], after[name]),
  )
}

type Step = Definition & TreeStep

interface Place {
  step: Step
  /** The branch it is in. */
  within: string | undefined
  /** The arm of that branch; undefined for the default. */
  arm: { name: string; index: number } | undefined
}

type Places = Map<string, Place>

function compareSteps(before: Step[], after: Step[]): ChangedPath[] {
  const [old, now] = [placesIn(before), placesIn(after)]
  const ids = [...new Set([...now.keys(), ...old.keys()])]
  const isMoved = !isDeepStrictEqual(listsOf(old, now), listsOf(now, old))
  return [
    ...(isMoved ? [{ path: 'steps', before: outline(before), after: outline(after) }] : []),
    ...ids.flatMap((stepId) => {
      const [then, since] = [old.get(stepId), now.get(stepId)]
      if (then && since) return compare(`steps.${stepId}`, withoutSteps(then.step), withoutSteps(since.step))
      // A branch that is new or gone is one change, with what is in it.
      if (isWithChange(since, old) || isWithChange(then, now)) return []
      return compare(`steps.${stepId}`, then?.step, since?.step)
    }),
  ]
}

/** Whether the branch around it is missing on the other side, too. */
const isWithChange = (place: Place | undefined, other: Places): boolean =>
  place?.within !== undefined && !other.has(place.within)

function placesIn(steps: Step[], within?: string, arm?: Place['arm'], found: Places = new Map()): Places {
  for (const step of steps) {
    const stepId = String(step.stepId)
    found.set(stepId, { step, within, arm })
    for (const [index, { name, steps: inner }] of armsOf(step).entries())
      placesIn(inner, stepId, { name, index }, found)
    placesIn(defaultOf(step)?.steps ?? [], stepId, undefined, found)
  }
  return found
}

/** The steps that both sides have, list by list. An arm that has another name is the same if it is in the same place. */
function listsOf(places: Places, other: Places): Record<string, string[]> {
  const namesIn = (stepId: string) => armsOf(other.get(stepId)?.step ?? { type: '' }).map(({ name }) => name)
  const lists: Record<string, string[]> = {}
  for (const [stepId, { within, arm }] of places) {
    if (!other.has(stepId)) continue
    const armKey = arm && (namesIn(within ?? '').includes(arm.name) ? `named ${arm.name}` : `at ${arm.index}`)
    const key = JSON.stringify([within ?? null, armKey ?? null])
    lists[key] = [...(lists[key] ?? []), stepId]
  }
  return lists
}

type Outline = Array<string | Record<string, Record<string, Outline>>>

/** The ids alone; those in a branch by the names of its arms. */
const outline = (steps: Step[]): Outline =>
  steps.map((step) => {
    const arms = [...armsOf(step), ...[defaultOf(step) ?? []].flat()]
    const stepId = String(step.stepId)
    return arms.length === 0
      ? stepId
      : { [stepId]: Object.fromEntries(arms.map(({ name, steps: inner }) => [name, outline(inner)])) }
  })

/** Steps in its arms are compared on their own. */
function withoutSteps(step: Step): Definition {
  if (step.type !== 'branch') return step
  const { arms, default: otherwise, ...values } = step.controlValues ?? {}
  const bare = (arm: unknown) => {
    if (!isObject(arm)) return arm
    const { steps: _, ...others } = arm
    return others
  }
  return {
    ...step,
    controlValues: {
      ...values,
      ...(Array.isArray(arms) ? { arms: arms.map(bare) } : {}),
      ...(otherwise === undefined ? {} : { default: bare(otherwise) }),
    },
  }
}

const stepsIn = (steps: unknown): Step[] => (Array.isArray(steps) ? (steps as Step[]) : [])

const membersOf = (before: Definition, after: Definition) => [
  ...new Set([...Object.keys(after), ...Object.keys(before)]),
]

const isObject = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
