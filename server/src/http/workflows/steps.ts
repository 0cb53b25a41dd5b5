// The steps of a workflow in a request: matched with the stored ones, named, and prepared for storing.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Tx } from '../../db/core/database.ts'
import { newId, randomLower } from '../../db/core/ids.ts'
import { type StepVariant, switchesOf, type WorkflowStep } from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import { type ControlValues, isExtension } from '../../steps/contract/kind.ts'
import { allSteps, mapSteps, withLists } from '../../steps/contract/tree.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import { idIn, slugify } from '../edge/slug.ts'
import { generalError } from '../edge/validation.ts'
import { identifierProblem, type StepInput } from './shape.ts'
import { readStepFilters } from './step-filter.ts'

const mostTries = 5

/**
 * In the given order. A step is matched by `_id`, or else by `stepId` and `type` among those that no `_id` has matched. It keeps
 * its id, its `stepId` and the schema that code declared for it; a step without a match is new; steps not given are deleted.
 * Absent control values become null. Not every client knows the other settings: absent ones stay, null removes them. In a whole
 * definition, absent ones are removed too.
 */
export function planSteps(
  given: readonly StepInput[],
  stored: readonly WorkflowStep[],
  now: Date,
  { isWhole = false }: { isWhole?: boolean } = {},
): WorkflowStep[] {
  const all = allSteps(given)
  const matches = matchSteps(isWhole ? all.map(named) : all, allSteps(stored))
  const taken = new Set(matches.flatMap((match) => match?.stepId ?? []))
  const isTree = all.some(({ type }) => isExtension(type))
  let place = -1
  const plan = (step: StepInput): WorkflowStep => {
    place += 1
    const match = matches[place]
    // The ids of a tree are what its conditions and paths name.
    if (!match && isTree && step.stepId && taken.has(step.stepId)) throw fail('step_id_taken', { stepId: step.stepId })
    const controlSchema = match?.controlSchema
    const before = isWhole ? undefined : match
    return {
      _id: match?._id ?? newId(now),
      stepId: match?.stepId ?? freeStepId(newStepId(step, place), taken),
      name: step.name,
      type: step.type,
      controlValues: storedAs(planned(step), match?.controlValues),
      ...(controlSchema ? { controlSchema } : {}),
      ...switchesOf({
        active: kept(step.active, before?.active),
        shouldStopOnFail: kept(step.shouldStopOnFail, before?.shouldStopOnFail),
        onUnknown: kept(step.onUnknown, before?.onUnknown),
        replyCallback: kept(step.replyCallback, before?.replyCallback),
        filters: kept(step.filters && readStepFilters(step.filters), before?.filters),
        variants: kept(step.variants && planVariants(step, match?.variants ?? [], now), before?.variants),
      }),
    }
  }
  /** What is in its arms follows it, as in `allSteps`. */
  const planned = (step: StepInput) => withLists(step, (steps) => steps.map(plan)).controlValues
  return given.map(plan)
}

function matchSteps(given: readonly StepInput[], stored: readonly WorkflowStep[]): Array<WorkflowStep | undefined> {
  const left = new Map(stored.map((step) => [step._id, step]))
  const take = (match: WorkflowStep | undefined) => {
    if (match) left.delete(match._id)
    return match
  }
  const byId = given.map(({ _id }) => take(left.get(_id ?? '')))
  const isSame = (a: StepInput) => (b: WorkflowStep) => b.stepId === a.stepId && b.type === a.type
  return given.map((step, i) => byId[i] ?? take([...left.values()].find(isSame(step))))
}

function newStepId({ stepId, name, type }: StepInput, index: number): string {
  const problem = stepId ? identifierProblem(stepId) : undefined
  if (problem) throw generalError([`steps.${index}.stepId ${problem}`])
  return stepId ?? derivedId({ name, type })
}

const derivedId = ({ name, type }: Pick<StepInput, 'name' | 'type'>) => slugify(name) || type

/** In a whole definition, a step without a `stepId` is always the one made from its name. */
const named = (step: StepInput): StepInput => ({ ...step, stepId: step.stepId ?? derivedId(step) })

/** Answers show no values as an empty object; sent back, that changes nothing. */
function storedAs<T extends object | null>(given: T | undefined, stored: T | undefined): T | null {
  const isEmpty = (values: object | null | undefined) => !values || Object.keys(values).length === 0
  return stored !== undefined && isEmpty(given) && isEmpty(stored) ? stored : (given ?? null)
}

/** Like steps: an existing variant keeps its id. One without an id is matched by its name and content. */
function planVariants({ variants }: StepInput, stored: readonly StepVariant[], now: Date): StepVariant[] {
  const left = new Map(stored.map((variant) => [variant._id, variant]))
  const planned = (variants ?? []).map(({ _id, name, active, filters, controlValues }) => {
    const match = left.get(_id ?? '')
    if (match) left.delete(match._id)
    return {
      _id: match?._id,
      ...(typeof name === 'string' ? { name } : {}),
      ...(typeof active === 'boolean' ? { active } : {}),
      filters: readStepFilters(filters),
      controlValues: storedAs(controlValues, match?.controlValues),
    }
  })
  return planned.map(({ _id, ...variant }) => {
    if (_id !== undefined) return { _id, ...variant }
    const match = [...left.values()].find(({ _id: _, ...other }) => isDeepStrictEqual(other, variant))
    if (match) left.delete(match._id)
    return { _id: match?._id ?? newId(now), ...variant }
  })
}

const kept = <T>(given: T | null | undefined, stored: T | undefined): T | undefined =>
  given === undefined ? stored : (given ?? undefined)

/** The wanted id, or with a random suffix if another step has it. */
function freeStepId(wanted: string, taken: Set<string>): string {
  let stepId = wanted
  for (let i = 0; taken.has(stepId); i += 1) {
    if (i === mostTries) throw fail('step_id_taken', { stepId: wanted })
    stepId = `${wanted}-${randomLower(8)}`
  }
  taken.add(stepId)
  return stepId
}

/** For workflows made here: each step kind converts its values for storing. Code-first values stay unchanged. */
export const storedValues = (steps: readonly StepInput[]): StepInput[] =>
  mapSteps(steps, (step) => {
    const { toStored = (values: ControlValues) => values } = stepKinds[step.type]
    const stored = <T extends { controlValues?: ControlValues | null }>(each: T): T =>
      each.controlValues ? { ...each, controlValues: toStored(each.controlValues) } : each
    return { ...stored(step), ...(step.variants ? { variants: step.variants.map(stored) } : {}) }
  })

const layoutOf = ({ type, controlValues }: StepInput): string | undefined => {
  const layoutId = stepKinds[type].usesLayout ? controlValues?.layoutId : undefined
  return typeof layoutId === 'string' ? layoutId : undefined
}

/**
 * Layouts are named by identifier, slug or id, and stored by identifier. They stay locked until the transaction ends, so that
 * none is deleted while a step starts to use it; not where nothing is written.
 */
export async function withLayouts(
  tx: Tx,
  environmentId: string,
  steps: StepInput[],
  { isRead = false }: { isRead?: boolean } = {},
): Promise<StepInput[]> {
  const names = [...new Set(allSteps(steps).flatMap((step) => layoutOf(step) ?? []))]
  if (names.length === 0) return steps
  const ids = names.flatMap((name) => idIn(name, 'lt') ?? [])
  const { rows } = await sql<{ id: string; identifier: string }>`
    SELECT id, identifier FROM layouts
    WHERE environment_id = ${environmentId} AND (identifier = ANY (${names}::text[]) OR id = ANY (${ids}::text[]))
    ORDER BY id ${isRead ? sql`` : sql`FOR KEY SHARE`}`.execute(tx)
  const identifierOf = (name: string) =>
    (rows.find((row) => row.identifier === name) ?? rows.find((row) => row.id === idIn(name, 'lt')))?.identifier
  return mapSteps(steps, (step) => {
    const name = layoutOf(step)
    if (name === undefined) return step
    const layoutId = identifierOf(name)
    if (layoutId === undefined) throw fail('step_layout_not_found', { layoutId: name }, { ctx: { layoutId: name } })
    return { ...step, controlValues: { ...step.controlValues, layoutId } }
  })
}

/** By `stepId`, by internal id, or by slug; also in arms. */
export function findStep(steps: readonly WorkflowStep[], parameter: string): WorkflowStep | undefined {
  const id = idIn(parameter, 'st')
  const all = allSteps(steps)
  return all.find((step) => step.stepId === parameter) ?? all.find((step) => step._id === id)
}
