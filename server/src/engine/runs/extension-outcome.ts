// What records tell of a step of an extension kind, and of a step in an arm.
import type { CopyOf } from '../../db/core/tables.ts'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import { isExtension } from '../../steps/contract/kind.ts'
import { placeOf, type StepPath } from '../../steps/contract/tree.ts'
import { stepKinds } from '../../steps/kinds/index.ts'

interface Job {
  type: string
  status: string
  output?: Record<string, unknown> | null | undefined
  delivery?: Record<string, unknown> | null | undefined
}

/**
 * What later steps read; of a branch also what became of its arms, of a wait under way the keys that it waits for, and of an open
 * question its id. Nothing before its turn.
 */
export function outcomeOf({ type, status, output, delivery }: Job): { outcome?: Record<string, unknown> } {
  if (!isExtension(type) || status === 'pending') return {}
  const { arms, keys, questionId } = delivery ?? {}
  return {
    outcome: {
      ...(output ?? stepKinds[type].emptyResult),
      ...(Array.isArray(arms) ? { arms } : {}),
      ...(Array.isArray(keys) && status === 'delayed' ? { keys } : {}),
      ...(type === 'ask' && typeof questionId === 'string' ? { questionId } : {}),
    },
  }
}

/** Which arms led to the step, if any. */
export function armsTo(steps: readonly WorkflowStep[], stepRowId: string): { path?: StepPath } {
  const { path = [] } = placeOf(steps, stepRowId) ?? {}
  return path.length > 0 ? { path } : {}
}

/** Of a copy of a question: which step asks, and whom. */
export const copyOf = (job: { asked?: CopyOf | null; step_id?: string; step?: { stepId: string } }) =>
  job.asked ? { of: job.step_id ?? job.step?.stepId ?? '', asked: job.asked.subscriberId, level: job.asked.level } : {}
