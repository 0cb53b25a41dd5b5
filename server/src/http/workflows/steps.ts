// The steps of a workflow in a request: matched with the stored ones, named, and prepared for storing.
import { sql } from 'kysely'
import type { Tx } from '../../db/core/database.ts'
import { newId, randomLower } from '../../db/core/ids.ts'
import { type StepVariant, switchesOf, type WorkflowStep } from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import type { ControlValues } from '../../steps/contract/kind.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import { idIn, slugify } from '../edge/slug.ts'
import type { StepInput } from './shape.ts'
import { readStepFilters } from './step-filter.ts'

const mostTries = 5

export function refuseTooManySteps(steps: readonly unknown[], limit: number): void {
  if (steps.length <= limit) return
  throw fail('too_many_steps', { limit }, { ctx: { currentCount: steps.length, limit } })
}

/**
 * In the given order. An existing step keeps its id, its `stepId` and the schema that code declared for it; a step without a
 * match is new; steps not given are deleted. Absent control values become null. Not every client knows the other settings:
 * absent ones stay, null removes them.
 */
export function planSteps(given: readonly StepInput[], stored: readonly WorkflowStep[], now: Date): WorkflowStep[] {
  const left = new Map(stored.map((step) => [step._id, step]))
  const matches = given.map(({ _id }) => {
    const match = left.get(_id ?? '')
    if (match) left.delete(match._id)
    return match
  })
  const taken = new Set(matches.flatMap((match) => match?.stepId ?? []))
  return given.map((step, i): WorkflowStep => {
    const match = matches[i]
    const controlSchema = match?.controlSchema
    return {
      _id: match?._id ?? newId(now),
      stepId: match?.stepId ?? freeStepId(step.stepId ?? (slugify(step.name) || step.type), taken),
      name: step.name,
      type: step.type,
      controlValues: step.controlValues ?? null,
      ...(controlSchema ? { controlSchema } : {}),
      ...switchesOf({
        active: kept(step.active, match?.active),
        shouldStopOnFail: kept(step.shouldStopOnFail, match?.shouldStopOnFail),
        onUnknown: kept(step.onUnknown, match?.onUnknown),
        replyCallback: kept(step.replyCallback, match?.replyCallback),
        filters: kept(step.filters && readStepFilters(step.filters), match?.filters),
        variants: kept(step.variants && planVariants(step, match?.variants ?? [], now), match?.variants),
      }),
    }
  })
}

/** Like steps: an existing variant keeps its id. */
function planVariants({ variants }: StepInput, stored: readonly StepVariant[], now: Date): StepVariant[] {
  const left = new Set(stored.map(({ _id }) => _id))
  return (variants ?? []).map(({ _id, name, active, filters, controlValues }) => ({
    _id: typeof _id === 'string' && left.delete(_id) ? _id : newId(now),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof active === 'boolean' ? { active } : {}),
    filters: readStepFilters(filters),
    controlValues: controlValues ?? null,
  }))
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
  steps.map((step) => {
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
 * none is deleted while a step starts to use it.
 */
export async function withLayouts(tx: Tx, environmentId: string, steps: StepInput[]): Promise<StepInput[]> {
  const names = [...new Set(steps.flatMap((step) => layoutOf(step) ?? []))]
  if (names.length === 0) return steps
  const ids = names.flatMap((name) => idIn(name, 'lt') ?? [])
  const { rows } = await sql<{ id: string; identifier: string }>`
    SELECT id, identifier FROM layouts
    WHERE environment_id = ${environmentId} AND (identifier = ANY (${names}::text[]) OR id = ANY (${ids}::text[]))
    ORDER BY id FOR KEY SHARE`.execute(tx)
  const identifierOf = (name: string) =>
    (rows.find((row) => row.identifier === name) ?? rows.find((row) => row.id === idIn(name, 'lt')))?.identifier
  return steps.map((step) => {
    const name = layoutOf(step)
    if (name === undefined) return step
    const layoutId = identifierOf(name)
    if (layoutId === undefined) throw fail('step_layout_not_found', { layoutId: name }, { ctx: { layoutId: name } })
    return { ...step, controlValues: { ...step.controlValues, layoutId } }
  })
}

/** By `stepId`, by internal id, or by slug. */
export function findStep(steps: readonly WorkflowStep[], parameter: string): WorkflowStep | undefined {
  const id = idIn(parameter, 'st')
  return steps.find((step) => step.stepId === parameter) ?? steps.find((step) => step._id === id)
}
