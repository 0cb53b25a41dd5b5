// Helpers for tests of workflows with branches.
import type { Step } from './runs.ts'

export const say = (stepId: string, body = stepId, more: object = {}): Step => ({
  ...{ name: stepId, stepId, type: 'in_app', controlValues: { body } },
  ...more,
})

export const waitAnHour = (stepId = 'wait'): Step => ({
  ...{ name: stepId, stepId, type: 'delay' },
  controlValues: { type: 'regular', amount: 1, unit: 'hours' },
})

/** A condition. */
export const is = (path: string, value: unknown) => ({ '==': [{ var: path }, value] })

export const branch = (stepId: string, arms: object[], more: object = {}): Step => ({
  ...{ name: stepId, stepId, type: 'branch' },
  controlValues: { arms, ...more },
})

export const exit = (skip?: object): Step => ({
  ...{ name: 'Exit', stepId: 'exit', type: 'exit' },
  controlValues: skip ? { skip } : {},
})

interface Job {
  step: { stepId: string }
  status: string
  reason?: string
}

/** `paid skipped exited` for each step of a run. */
export const statesOf = (run: { jobs: Job[] }): string[] =>
  run.jobs.map(({ step, status, reason }) => `${step.stepId} ${status}${reason ? ` ${reason}` : ''}`)
