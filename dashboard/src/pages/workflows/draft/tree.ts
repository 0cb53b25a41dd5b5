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
