// The goals of a run: while it is under way, the first that is met ends it. Nothing here does I/O; what has happened is asked for
// as a need.
import type { Goal, RunGoals } from '../../db/core/tables.ts'
import type { Awaited, HeardEvent, Progress } from '../../steps/contract/need.ts'
import { type Detail, detail } from '../../steps/contract/outcome.ts'
import { type StepRun, variablesOf } from '../../steps/contract/step-run.ts'
import { awaitedBy, entriesIn, holds, keysOf, look, type Match, take, type Watch } from '../../steps/kinds/awaiting.ts'

/** Where the goals of a run stand among what it waits for: behind all steps. */
const firstPosition = 32_000

export const positionOfGoal = (index: number): number => firstPosition + index

/** What goals have found. */
export interface Met {
  goal: Goal
  /** Undefined for a condition. */
  match: Match | undefined
}

export interface Asked {
  met: Met | undefined
  warnings: Detail[]
}

const hasEntries = ({ for: entries }: Goal): boolean => entriesIn(entries).length > 0

/** What each goal listens for, as this run has it. A goal whose key is empty cannot be met. */
export function beginGoals(of: StepRun, goals: Goal[]): { goals: RunGoals; warnings: Detail[] } {
  const warnings: Detail[] = []
  const keys = goals.map((goal) => {
    const found = hasEntries(goal) ? keysOf(of, entriesIn(goal.for)) : []
    if (!('problem' in found)) return found
    warnings.push(detail('goal_invalid', { goal: goal.name, error: found.problem }))
    return null
  })
  return { goals: { keys }, warnings }
}

/** What the goals listen for, with their positions. */
export const listensOf = (
  of: StepRun,
  goals: Goal[],
  kept: RunGoals,
): Array<{ position: number; entries: Awaited[] }> =>
  goals.flatMap((goal, index) => {
    const watch = watchOf(of, goal, kept.keys[index])
    return watch ? [{ position: positionOfGoal(index), entries: awaitedBy(watch) }] : []
  })

/** Whether an event, or anything that has happened since the trigger, meets a goal. Of several the oldest counts. */
export function* hearGoals(of: StepRun, goals: Goal[], kept: RunGoals, heard: HeardEvent | undefined): Progress<Asked> {
  const warnings: Detail[] = []
  let first: (Met & { match: Match }) | undefined
  for (const [index, goal] of goals.entries()) {
    const watch = watchOf(of, goal, kept.keys[index])
    if (!watch) continue
    const found = heard ? take(watch, heard) : yield* look(watch)
    warnings.push(...found.warnings)
    if (found.match && (!first || timeOf(found.match) < timeOf(first.match))) first = { goal, match: found.match }
  }
  return { met: first, warnings }
}

const timeOf = ({ event }: Match) => String(event.createdAt)

/** Goals that are nothing but a condition, asked before a step. */
export function askGoals({ run, now }: Pick<StepRun, 'run' | 'now'>, goals: Goal[]): Asked {
  const warnings: Detail[] = []
  for (const goal of goals) {
    if (hasEntries(goal) || !goal.condition) continue
    const asked = holds(goal.condition, variablesOf(run), now)
    if (asked === true) return { met: { goal, match: undefined }, warnings }
    if (typeof asked === 'object')
      warnings.push(detail('goal_condition_failed', { goal: goal.name, error: asked.error }))
  }
  return { met: undefined, warnings }
}

/** Goals have none. An event's time may be ahead of ours, as another process gave it. */
const noDeadline = '9999-12-31T23:59:59.999Z'

/** Undefined for a goal without entries, and for one that cannot be met. */
function watchOf(of: StepRun, goal: Goal, keys: RunGoals['keys'][number] | undefined): Watch | undefined {
  if (!hasEntries(goal) || !keys) return undefined
  const { run, now } = of
  return {
    ...{ of, entries: entriesIn(goal.for), keys },
    ...{ since: run.event.createdAt.toISOString(), deadline: noDeadline },
    isUsed: () => false,
    also: (event, warnings) => {
      if (!goal.condition) return true
      const asked = holds(goal.condition, { ...variablesOf(run), event }, now)
      if (typeof asked === 'boolean') return asked
      warnings.push(detail('goal_condition_failed', { goal: goal.name, error: asked.error }))
      return false
    },
  }
}
