// A goal of the run is met: what waits and what is left is canceled.
import type { Goal } from '../../db/core/tables.ts'
import { groupOf, type HeardEvent, type Progress } from '../../steps/contract/need.ts'
import { detail } from '../../steps/contract/outcome.ts'
import { askGoals, beginGoals, hearGoals, listensOf, type Met } from './goals.ts'
import { end, isEnded, type JobState, note, noteOnce, type RunState, resultOf } from './run-state.ts'
import { stepRunOf } from './step-view.ts'

export const goalsOf = ({ definition }: RunState): Goal[] => definition.journey?.goals ?? []

/** Whether a goal is met: by an event, or by what has happened since the trigger. Then the run is over. */
export function* meetGoal(run: RunState, event: HeardEvent | undefined, now: Date): Progress<boolean> {
  const goals = goalsOf(run)
  const job = run.jobs.find((each) => !isEnded(each))
  if (goals.length === 0 || !job || run.status !== 'processing') return false
  if (run.goals?.met) return true
  const of = stepRunOf(run, job, now)
  if (!run.goals) {
    const begun = beginGoals(of, goals)
    run.goals = begun.goals
    noteOnce(job, begun.warnings, now)
    run.effects.listens.push(...listensOf(of, goals, run.goals))
  }
  const { met, warnings } = yield* hearGoals(of, goals, run.goals, event)
  noteOnce(job, warnings, now)
  if (met) yield* endByGoal(run, met, now)
  return met !== undefined
}

export function* meetCondition(run: RunState, job: JobState, goals: Goal[], now: Date): Progress<boolean> {
  const { met, warnings } = askGoals({ run, now }, goals)
  noteOnce(job, warnings, now)
  if (met) yield* endByGoal(run, met, now)
  return met !== undefined
}

/** What waits and what is left is not done. A call under way is finished and recorded first. */
function* endByGoal(run: RunState, { goal, match }: Met, now: Date): Progress<void> {
  const { name } = goal
  const met = { name, event: match?.event ?? null, createdAt: now.toISOString() }
  run.goals = { keys: run.goals?.keys ?? [], met }
  run.effects.isGoalMet = true
  if (match?.heard !== undefined) run.effects.heard.push(match.heard)
  for (const job of run.jobs) {
    const isDigest = job.type === 'digest' && job.status === 'delayed'
    const { dueAt } = job
    if (!leaveByGoal(run, job, now) || !isDigest) continue
    yield {
      ...{ need: 'hand digest on', notificationId: run.id, position: job.position, dueAt: dueAt ?? now },
      group: groupOf(stepRunOf(run, job, now), String(job.digest?.digestValue ?? '')),
    }
  }
  end(run)
}

/** @returns false for a call under way, and for what has ended */
export function leaveByGoal(run: RunState, job: JobState, now: Date): boolean {
  // A copy of a question that is not on its way is not sent any more.
  const isCalling = job.status === 'running' || (job.status === 'queued' && job.dueAt === null && !job.asked)
  if (isEnded(job) || isCalling) return false
  if (job.status !== 'pending') run.effects.unlistens.push(job.position)
  if (job.asked) run.effects.calls = run.effects.calls.filter((position) => position !== job.position)
  cancelByGoal(run, job, now)
  return true
}

export function cancelByGoal(run: RunState, job: JobState, now: Date): void {
  note(job, detail('goal_met', { goal: run.goals?.met?.name }), now)
  Object.assign(job, { status: 'canceled', reason: 'goal_met', dueAt: null })
  if (!job.asked) run.results[job.step.stepId] = resultOf(job)
}

/** A run that goes on with a digest listens again. */
export function listenAgain(run: RunState, now: Date): void {
  const [job] = run.jobs
  if (job && run.goals && !run.goals.met)
    run.effects.listens.push(...listensOf(stepRunOf(run, job, now), goalsOf(run), run.goals))
}
