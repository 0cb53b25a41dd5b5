// The steps of a request in the form in which they are stored: kinds under their own names, and the arms of branches checked.
// Other values are stored as they come and have issues; arms hold steps, which have to be steps.
import { type Static, Type } from 'typebox'
import { fail, RequestError } from '../../errors.ts'
import { isExtension, type StepType } from '../../steps/contract/kind.ts'
import { allSteps, armsOf, defaultOf, unnamedDefault, withLists } from '../../steps/contract/tree.ts'
import { kindsInWords, unwrapped } from '../../steps/contract/wire.ts'
import { Body, FreeObject } from '../edge/schema.ts'
import { compileValidator, generalError } from '../edge/validation.ts'
import { Maybe, type StepInput, stepFields } from './shape.ts'

/** How deep branches can stand in branches. */
const deepest = 3
const mostArms = 10

const ArmName = Type.String({ minLength: 1, maxLength: 64 })
const Steps = Maybe(Type.Array(FreeObject))
const end = Maybe(Type.Boolean())
const check = {
  branch: checkOf(
    Body({
      skip: Maybe(FreeObject),
      arms: Type.Array(Body({ name: ArmName, condition: Maybe(FreeObject), steps: Steps, end }), {
        minItems: 1,
        maxItems: mostArms,
      }),
      default: Maybe(Body({ name: Maybe(ArmName), steps: Steps, end })),
    }),
  ),
  step: checkOf(Body(stepFields({ name: Type.String({ minLength: 1, maxLength: 128 }), anyStepId: true }))),
}

/** Refuses what does not fit, and drops members that only answers have. */
function checkOf(schema: ReturnType<typeof Body>): (value: unknown, at: string) => Record<string, unknown> {
  const validate = compileValidator({ schema, httpPart: 'body', method: 'POST', url: '' }) as (value: unknown) => {
    value?: unknown
    error?: Error
  }
  return (value, at) => {
    const { error } = validate(value)
    if (error) throw generalError(messagesOf(error).map((message) => `${at}.${message}`))
    return value as Record<string, unknown>
  }
}

/** The single messages of a refusal. */
export function messagesOf(error: Error): string[] {
  const { errors } = ((error instanceof RequestError ? error.ctx : undefined) ?? {}) as {
    errors?: Record<string, { messages?: string[] }>
  }
  const messages = Object.values(errors ?? {}).flatMap((each) => each.messages ?? [])
  return messages.length > 0 ? messages : [error.message]
}

export function readSteps(given: readonly StepInput[], limits: { steps: number }): StepInput[] {
  const steps = given.map((step, index) => readStep(step, `steps.${index}`, 1))
  const { length: currentCount } = allSteps(steps)
  if (currentCount > limits.steps)
    throw fail('too_many_steps', { limit: limits.steps }, { ctx: { currentCount, limit: limits.steps } })
  return steps
}

function readStep(given: StepInput, at: string, depth: number): StepInput {
  const step = named(given, at)
  if (!isExtension(step.type)) return step
  if (step.variants && step.variants.length > 0)
    throw generalError([`${at}.variants cannot be given: a step of the kind ${step.type} has none`])
  if (step.type !== 'branch') return step
  if (depth > deepest)
    throw fail('branch_too_deep', { limit: deepest, stepId: step.stepId ?? step.name }, { ctx: { limit: deepest } })
  const inside = `${at}.controlValues`
  const controlValues = withoutNulls(check.branch(step.controlValues ?? {}, inside))
  const branch: StepInput = { ...step, controlValues }
  refuseSameNames(branch, inside)
  let list = -1
  return withLists(branch, (steps) => {
    list += 1
    const arm = list < armsOf(branch).length ? `arms.${list}` : 'default'
    return steps.map((each, index) => {
      const place = `${inside}.${arm}.steps.${index}`
      return readStep(check.step(each, place) as unknown as StepInput, place, depth + 1)
    })
  })
}

/** A client that knows ten types only writes the others as custom steps. */
function named(step: StepInput, at: string): StepInput {
  const wrapped = step.type === 'custom' ? unwrapped(step.controlValues) : undefined
  if (!wrapped) return step
  if (!isExtension(wrapped.kind))
    throw generalError([`${at}.controlValues.custom.$kind must be one of the following values: ${kindsInWords}`])
  return { ...step, type: wrapped.kind satisfies StepType, controlValues: wrapped.values }
}

/** Of the branch and its arms, but not of what stands in them. */
function withoutNulls(values: Record<string, unknown>): Record<string, unknown> {
  const filled = (members: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))
  const { arms, default: otherwise, ...rest } = filled(values)
  return {
    ...rest,
    arms: (arms as Array<Record<string, unknown>>).map(filled),
    ...(otherwise === undefined ? {} : { default: filled(otherwise as Record<string, unknown>) }),
  }
}

function refuseSameNames(branch: StepInput, at: string): void {
  const names = [...armsOf(branch).map(({ name }) => name), defaultOf(branch)?.name ?? unnamedDefault]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw generalError([`${at}.arms must have names of their own: "${twice}" is the name of two arms`])
}

/** Code decides for itself what its steps do. */
export function refuseInCode(workflowId: string, steps: readonly StepInput[]): void {
  const found = steps.find(({ type }) => isExtension(type))
  if (found)
    throw fail('bridge_workflow_invalid', {
      workflow: workflowId,
      reason: `a workflow that is defined in code cannot have a step of the kind ${found.type}`,
    })
}

export const StepPath = Type.Array(Type.Object({ stepId: Type.String(), arm: Type.String() }), {
  description: 'The arms that lead to it, outermost first; absent at the top level',
})
export type StepPath = Static<typeof StepPath>
