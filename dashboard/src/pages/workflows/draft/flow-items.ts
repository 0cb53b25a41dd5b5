// The stops of the keyboard in the flow: every step, and every arm that has none yet. Up and down go along the flow, through the
// arm of each branch that was visited last; left and right go from arm to arm.
import type { DraftStep } from './draft.ts'
import { type ArmKey, allSteps, armsOf, listAt, type Spot, spotOf } from './tree.ts'

/** The arm of each branch, by `stepId`, that was visited last. Where there is room for one arm only, it is the one shown. */
export type Visited = Readonly<Record<string, ArmKey>>

type Within = NonNullable<Spot['within']>

/** The stop in an arm without steps. */
export const emptyArm = ({ stepId, arm }: Within): string => `${stepId}:${arm}`

/** In the order of the flow. */
export const allItems = (steps: readonly DraftStep[]): string[] =>
  steps.flatMap((step) => [
    step.stepId,
    ...armsOf(step).flatMap(({ key, arm }) =>
      arm.steps.length > 0 ? allItems(arm.steps) : [emptyArm({ stepId: step.stepId, arm: key })],
    ),
  ])

function emptyArmOf(steps: readonly DraftStep[], id: string): Within | undefined {
  for (const branch of allSteps(steps))
    for (const { key, arm } of armsOf(branch)) {
      const within = { stepId: branch.stepId, arm: key }
      if (arm.steps.length === 0 && emptyArm(within) === id) return within
    }
  return undefined
}

/** Undefined if it is no longer there. */
export function spotOfItem(steps: readonly DraftStep[], id: string | undefined): Spot | undefined {
  if (id === undefined) return undefined
  const spot = spotOf(steps, id)
  if (spot) return spot
  const within = emptyArmOf(steps, id)
  return within && { within, at: 0 }
}

/** The arms around an item, by branch. */
export function armsAround(steps: readonly DraftStep[], id: string): Visited {
  const arms: Record<string, ArmKey> = {}
  for (let spot = spotOfItem(steps, id); spot?.within; spot = spotOf(steps, spot.within.stepId))
    arms[spot.within.stepId] = spot.within.arm
  return arms
}

/** The item at a place of an arm, or the nearest one. */
function itemIn(steps: readonly DraftStep[], within: Within, at: number): string {
  const list = listAt(steps, within)
  return list[Math.min(at, list.length - 1)]?.stepId ?? emptyArm(within)
}

export function visitedArm(branch: DraftStep, visited: Visited): Within | undefined {
  const arms = armsOf(branch)
  const key = arms.find((each) => each.key === visited[branch.stepId])?.key ?? arms[0]?.key
  return key === undefined ? undefined : { stepId: branch.stepId, arm: key }
}

export const firstIn = (steps: readonly DraftStep[], within: Within): string => itemIn(steps, within, 0)

function lastOf(step: DraftStep, visited: Visited): string {
  const within = visitedArm(step, visited)
  if (!within) return step.stepId
  const last = listAt([step], within).at(-1)
  return last ? lastOf(last, visited) : emptyArm(within)
}

export function itemAfter(steps: readonly DraftStep[], id: string, visited: Visited): string | undefined {
  const own = allSteps(steps).find(({ stepId }) => stepId === id)
  const inside = own && visitedArm(own, visited)
  if (inside) return firstIn(steps, inside)
  for (let spot = spotOfItem(steps, id); spot; spot = spot.within && spotOf(steps, spot.within.stepId)) {
    const next = listAt(steps, spot.within)[spot.at + 1]
    if (next) return next.stepId
  }
  return undefined
}

export function itemBefore(steps: readonly DraftStep[], id: string, visited: Visited): string | undefined {
  const spot = spotOfItem(steps, id)
  const before = spot && listAt(steps, spot.within)[spot.at - 1]
  return before ? lastOf(before, visited) : spot?.within?.stepId
}

export function itemBeside(steps: readonly DraftStep[], id: string, by: 1 | -1): string | undefined {
  const spot = spotOfItem(steps, id)
  const branch = spot?.within && allSteps(steps).find(({ stepId }) => stepId === spot.within?.stepId)
  if (!spot || !branch) return undefined
  const arms = armsOf(branch)
  const beside = arms[arms.findIndex(({ key }) => key === spot.within?.arm) + by]
  return beside && itemIn(steps, { stepId: branch.stepId, arm: beside.key }, spot.at)
}
