// What a step sees of its run.
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import type { ControlValues, StepType } from '../../steps/contract/kind.ts'
import type { AskChannel } from '../../steps/contract/question.ts'
import type { StepRun } from '../../steps/contract/step-run.ts'
import { gateOf, variantIn, withGate } from '../../steps/delivery/filter-gate.ts'
import { questionIdIn } from '../../steps/kinds/ask.ts'
import { copyContent } from '../../steps/kinds/ask-copies.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import { copiesOf, roomIn, viewOf } from './question-jobs.ts'
import { type JobState, kindOf, type RunState } from './run-state.ts'

function copyRunOf(run: RunState, job: JobState, now: Date): StepRun {
  const { asked } = job
  const of = run.jobs.find(({ position }) => position === asked?.of)
  const person = asked && run.people.get(asked.subscriberId)
  const view = viewOf(run, job)
  if (!of || !person) return { now, run: view, step: job.step, values: {}, job }
  const asking = { now, run, step: of.step, values: normalValues(of.step), job: of }
  const { values, question } = copyContent(asking, person, questionIdIn(of), job.type as AskChannel)
  // The step does not know about places in caps: it sees only its own delivery state.
  const own = gateOf(job) ? { ...job, delivery: withGate(job.delivery, undefined) } : job
  return { now, run: { ...view, question }, step: job.step, values, job: own }
}

export function stepRunOf(run: RunState, job: JobState, now: Date): StepRun {
  const { step } = job
  if (job.asked) return copyRunOf(run, job, now)
  if (kindOf(job).look)
    return { now, run, step, values: normalValues(step), job, copies: copiesOf(run, job), room: roomIn(run) }
  const gate = gateOf(job)
  if (!gate) return { now, run, step, values: normalValues(step), job }
  // The step does not know about filters: it sees only its own delivery state.
  const own = { ...job, delivery: withGate(job.delivery, undefined) }
  return { now, run, step, values: normalValues(step, variantIn(step, gate)), job: own }
}

const normalised = new WeakMap<object, ControlValues>()

/** Once per step or variant, not per run: compiled templates are cached by these values. */
function normalValues(step: WorkflowStep, from: Pick<WorkflowStep, 'controlValues'> = step): ControlValues {
  const known = normalised.get(from)
  if (known) return known
  const values = stepKinds[step.type as StepType].normalise(from.controlValues ?? {})
  normalised.set(from, values)
  return values
}
