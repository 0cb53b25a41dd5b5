// Workflows in code: their code is not called in a simulation, so each of their steps needs an answer.
import type { WorkflowVersion } from '../core/memory.ts'
import { isActive } from '../runs/compose.ts'
import { type Scenario, SimulationRefused } from './scenario.ts'

export function refuseWithoutAnswers(
  { origin, identifier: workflowId, steps: all }: WorkflowVersion,
  answers: Scenario['answers'],
): void {
  if (origin !== 'external') return
  const isAnswered = (stepId: string) => {
    const given = answers[stepId]
    return given !== undefined && !('status' in given)
  }
  const steps = all.filter((step) => isActive(step) && !isAnswered(step.stepId)).map(({ stepId }) => stepId)
  if (steps.length > 0) throw new SimulationRefused({ code: 'simulation_needs_answers', params: { workflowId, steps } })
}
