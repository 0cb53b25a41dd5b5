// The tree of a workflow's steps: a branch keeps the steps of its arms in its control values. A list is a tree without branches.
import type { WorkflowStep } from '../../db/queries/workflows.ts'

type Values = Record<string, unknown>

/** As much of a step as the tree needs: stored ones, and those of requests. */
export interface TreeStep {
  type: string
  controlValues?: Values | null | undefined
}

export interface Arm<Step> {
  name: string
  condition?: unknown
  steps: Step[]
  /** The run ends behind its last step. */
  end?: boolean
  [member: string]: unknown
}

/** The name of the default where the branch does not say one. */
export const unnamedDefault = 'default'

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const armOf = <Step>(given: unknown): Arm<Step> => {
  const arm = isObject(given) ? given : {}
  return { name: unnamedDefault, ...arm, steps: listOf(arm.steps) as Step[] }
}

/** The arms of a branch in their order; of any other step none. */
export function armsOf<Step extends TreeStep>({ type, controlValues }: Step): Arm<Step>[] {
  return type === 'branch' ? listOf(controlValues?.arms).map((arm) => armOf<Step>(arm)) : []
}

/** What a branch does where no arm's condition holds; undefined if nothing. */
export function defaultOf<Step extends TreeStep>({ type, controlValues }: Step): Arm<Step> | undefined {
  return type === 'branch' && isObject(controlValues?.default) ? armOf<Step>(controlValues.default) : undefined
}

const listsIn = <Step extends TreeStep>(step: Step): Step[][] =>
  [...armsOf(step), ...[defaultOf(step) ?? []].flat()].map(({ steps }) => steps)

/** Every step, in the order of the flow: a branch before its arms, the default last. */
export const allSteps = <Step extends TreeStep>(steps: readonly Step[]): Step[] =>
  steps.flatMap((step) => (step.type === 'branch' ? [step, ...listsIn(step).flatMap((list) => allSteps(list))] : step))

export const someStep = <Step extends TreeStep>(steps: readonly Step[], test: (step: Step) => boolean): boolean =>
  steps.some((step) => test(step) || (step.type === 'branch' && listsIn(step).some((inner) => someStep(inner, test))))

/** The branch with other steps in its arms; any other step as it is. */
export function withLists<Step extends TreeStep>(step: Step, change: (steps: Step[]) => unknown[]): Step {
  if (step.type !== 'branch' || !step.controlValues) return step
  const { arms, default: otherwise, ...values } = step.controlValues
  const changed = (arm: unknown) => (isObject(arm) ? { ...arm, steps: change(listOf(arm.steps) as Step[]) } : arm)
  return {
    ...step,
    controlValues: {
      ...values,
      ...(arms === undefined ? {} : { arms: listOf(arms).map(changed) }),
      ...(otherwise === undefined ? {} : { default: changed(otherwise) }),
    },
  }
}

/** The same tree with every step changed: a branch first, then what is in it, in the order of `allSteps`. */
export const mapSteps = <Step extends TreeStep>(steps: readonly Step[], change: (step: Step) => Step): Step[] =>
  steps.map((step) => withLists(change(step), (list) => mapSteps(list, change)))

/** Which arms lead to a step, outermost first. */
export type StepPath = Array<{ stepId: string; arm: string }>

export interface Placed {
  step: WorkflowStep
  /** Among the steps that a run can have: those that are inactive, or in an inactive branch, have none. */
  position: number | undefined
  path: StepPath
  /** The branch it is in, and which arm: null for the default. */
  within: { step: WorkflowStep; arm: number | null } | undefined
  /** The step that comes before it on its path. */
  before: WorkflowStep | undefined
  /** The steps whose results it can read: before it on its path, or in any arm of a branch that is over by then. */
  earlier: readonly WorkflowStep[]
}

const placed = new WeakMap<readonly WorkflowStep[], Placed[]>()

/** Every step with its place, in the order of the flow. Of a list of steps it is computed once. */
export function placesOf(steps: readonly WorkflowStep[]): Placed[] {
  const known = placed.get(steps)
  if (known) return known
  const found: Placed[] = []
  let next = 0
  const walk = (
    list: readonly WorkflowStep[],
    above: Pick<Placed, 'path' | 'within' | 'before' | 'earlier'>,
    isOff: boolean,
  ) => {
    let { before, earlier } = above
    for (const step of list) {
      const isInactive = isOff || step.active === false
      const position = isInactive ? undefined : next
      if (!isInactive) next += 1
      found.push({ step, position, path: above.path, within: above.within, before, earlier })
      const inside = [...earlier, step]
      const arms: Array<[Arm<WorkflowStep>, number | null]> = armsOf(step).map((arm, index) => [arm, index])
      const otherwise = defaultOf(step)
      for (const [arm, index] of [...arms, ...(otherwise ? [[otherwise, null] as const] : [])])
        walk(
          arm.steps,
          {
            path: [...above.path, { stepId: step.stepId, arm: arm.name }],
            within: { step, arm: index },
            before: step,
            earlier: inside,
          },
          isInactive,
        )
      earlier = [...inside, ...listsIn(step).flatMap((inner) => allSteps(inner))]
      before = step
    }
  }
  walk(steps, { path: [], within: undefined, before: undefined, earlier: [] }, false)
  placed.set(steps, found)
  return found
}

export const placeOf = (steps: readonly WorkflowStep[], id: string): Placed | undefined =>
  placesOf(steps).find(({ step }) => step._id === id)

/** The steps that a run gets together: of the workflow itself, or of an arm of a branch. */
export const stepsIn = (
  steps: readonly WorkflowStep[],
  within?: { id: string; arm: number | null },
): Array<Placed & { position: number }> =>
  placesOf(steps).filter(
    (place): place is Placed & { position: number } =>
      place.position !== undefined && place.within?.step._id === within?.id && place.within?.arm === within?.arm,
  )
