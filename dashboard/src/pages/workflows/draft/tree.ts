// The tree of steps: a branch keeps the steps of its arms in its control values. A list is a tree without branches.
import { freeIdentifier } from '../../../ui/base/identifier.ts'
import type { ControlValues, DraftStep } from './draft.ts'

export interface Arm<Step = DraftStep> {
  name: string
  condition?: unknown
  steps: Step[]
  end?: boolean
}

/** Which arm of a branch. */
export type ArmKey = number | 'default'

/** A place for a step: among the workflow's own, or in an arm. */
export interface Spot {
  within?: { stepId: string; arm: ArmKey } | undefined
  at: number
}

interface TreeStep {
  type: string
  controlValues?: ControlValues | null | undefined
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const armOf = <Step>(value: unknown): Arm<Step> => {
  const arm = value as Partial<Arm<Step>>
  return { ...arm, name: arm.name ?? 'default', steps: listOf(arm.steps) as Step[] }
}

/** The arms of a branch, the default last. */
export function armsOf<Step extends TreeStep>({ type, controlValues }: Step): Array<{ key: ArmKey; arm: Arm<Step> }> {
  if (type !== 'branch') return []
  const arms = listOf(controlValues?.arms).map((arm, key) => ({ key, arm: armOf<Step>(arm) }))
  const otherwise = controlValues?.default
  return otherwise ? [...arms, { key: 'default' as const, arm: armOf<Step>(otherwise) }] : arms
}

/** Every step in the order of the flow. */
export const allSteps = <Step extends TreeStep>(steps: readonly Step[]): Step[] =>
  steps.flatMap((step) => [step, ...armsOf(step).flatMap(({ arm }) => allSteps(arm.steps))])

/** What a step may read: the steps on the way to it, and all arms of the branches that are over by then. */
export function stepsBefore<Step extends TreeStep & { stepId: string }>(
  steps: readonly Step[],
  stepId: string,
): Step[] {
  const found: Step[] = []
  for (const step of steps) {
    if (step.stepId === stepId) return found
    const arm = armsOf(step).find(({ arm: { steps: inner } }) => allSteps(inner).some((each) => each.stepId === stepId))
    if (arm) return [...found, step, ...stepsBefore(arm.arm.steps, stepId)]
    found.push(...allSteps([step]))
  }
  return found
}

/** The branch with other steps in its arms; any other step as it is. */
export function withLists<Step extends TreeStep, Other>(
  step: Step,
  change: (steps: Step[], arm: ArmKey) => Other[],
): ControlValues {
  const values = step.controlValues ?? {}
  if (step.type !== 'branch') return values
  const changed = armsOf(step).map(({ key, arm }) => ({ key, arm: { ...arm, steps: change(arm.steps, key) } }))
  const otherwise = changed.find(({ key }) => key === 'default')
  return {
    ...values,
    arms: changed.filter(({ key }) => key !== 'default').map(({ arm }) => arm),
    ...(otherwise ? { default: otherwise.arm } : {}),
  }
}

/** Every step changed, those inside first. */
export const mapSteps = (steps: readonly DraftStep[], change: (step: DraftStep) => DraftStep): DraftStep[] =>
  steps.map((step) => change({ ...step, controlValues: withLists(step, (list) => mapSteps(list, change)) }))

/** @param change of the step with this id; undefined removes it */
export const changeStep = (
  steps: readonly DraftStep[],
  stepId: string,
  change: (step: DraftStep) => DraftStep | undefined,
): DraftStep[] =>
  steps.flatMap((step) => {
    if (step.stepId === stepId) return change(step) ?? []
    if (!allSteps([step]).some((inner) => inner.stepId === stepId)) return step
    return { ...step, controlValues: withLists(step, (list) => changeStep(list, stepId, change)) }
  })

export function insertStep(steps: readonly DraftStep[], { within, at }: Spot, step: DraftStep): DraftStep[] {
  if (!within) return steps.toSpliced(at, 0, step)
  return changeStep(steps, within.stepId, (branch) => ({
    ...branch,
    controlValues: withLists(branch, (list, arm) => (arm === within.arm ? list.toSpliced(at, 0, step) : list)),
  }))
}

/** Where a step is. */
export function spotOf(steps: readonly DraftStep[], stepId: string, within?: Spot['within']): Spot | undefined {
  const at = steps.findIndex((step) => step.stepId === stepId)
  if (at !== -1) return { within, at }
  for (const step of steps)
    for (const { key, arm } of armsOf(step)) {
      const found = spotOf(arm.steps, stepId, { stepId: step.stepId, arm: key })
      if (found) return found
    }
  return undefined
}

/** The steps beside it, in the same list. */
export function listAt(steps: readonly DraftStep[], within: Spot['within']): readonly DraftStep[] {
  if (!within) return steps
  const branch = allSteps(steps).find(({ stepId }) => stepId === within.stepId)
  return branch ? (armsOf(branch).find(({ key }) => key === within.arm)?.arm.steps ?? []) : []
}

export function moveStep(steps: readonly DraftStep[], stepId: string, to: Spot): DraftStep[] {
  const step = allSteps(steps).find((each) => each.stepId === stepId)
  if (!step) return [...steps]
  return insertStep(
    changeStep(steps, stepId, () => undefined),
    to,
    step,
  )
}

/** The same steps as new ones, with ids of their own. */
export function renamedCopy(step: DraftStep, taken: Set<string>): DraftStep {
  const { _id, ...rest } = step
  const stepId = freeIdentifier(`${step.stepId}-copy`, taken)
  taken.add(stepId)
  const controlValues = withLists(step, (list) => list.map((inner) => renamedCopy(inner, taken)))
  return { ...rest, stepId, controlValues: structuredClone(controlValues) }
}

/** As deep as the server allows branches to be nested. */
export const deepestBranch = 3

/** How deep branches are nested: 0 without one. */
export const nestingOf = (steps: readonly DraftStep[]): number =>
  Math.max(
    0,
    ...steps.map((step) =>
      step.type === 'branch' ? 1 + Math.max(0, ...armsOf(step).map(({ arm }) => nestingOf(arm.steps))) : 0,
    ),
  )

/** The step becomes the first of a branch that stands in its place. */
export const wrapStep = (steps: readonly DraftStep[], stepId: string, branch: DraftStep): DraftStep[] =>
  changeStep(steps, stepId, (step) => ({
    ...branch,
    controlValues: withLists(branch, (list, arm) => (arm === 0 ? [step] : list)),
  }))

export type Direction = 'up' | 'down' | 'left' | 'right'

/**
 * Where a step goes if it is moved one place: along its list, out of its arm at the ends of it, or into the arm beside. From
 * outside, into the first arm of the branch below or above.
 */
export function spotToward(steps: readonly DraftStep[], stepId: string, to: Direction): Spot | undefined {
  const spot = spotOf(steps, stepId)
  if (!spot) return undefined
  const { within, at } = spot
  const list = listAt(steps, within)
  if (to === 'up' || to === 'down') {
    const next = to === 'up' ? at - 1 : at + 1
    if (list[next]) return { within, at: next }
    const around = within && spotOf(steps, within.stepId)
    return around && { within: around.within, at: to === 'up' ? around.at : around.at + 1 }
  }
  if (within) {
    const beside = armBeside(steps, within, to === 'left' ? -1 : 1)
    return beside && { within: beside, at: Math.min(at, listAt(steps, beside).length) }
  }
  const [below, above] = [list[at + 1], list[at - 1]]
  if (to === 'left') return undefined
  if (below?.type === 'branch') return { within: { stepId: below.stepId, arm: 0 }, at: 0 }
  if (above?.type !== 'branch') return undefined
  const arm = { stepId: above.stepId, arm: 0 }
  return { within: arm, at: listAt(steps, arm).length }
}

type Within = NonNullable<Spot['within']>

function armBeside(steps: readonly DraftStep[], { stepId, arm }: Within, by: 1 | -1): Within | undefined {
  const branch = allSteps(steps).find((step) => step.stepId === stepId)
  const arms = branch ? armsOf(branch) : []
  const beside = arms[arms.findIndex(({ key }) => key === arm) + by]
  return beside && { stepId, arm: beside.key }
}
