// What canceling does to runs and their steps, who goes on with a canceled digest, and how runs end whose subscriber is gone.
// Nothing here does I/O; cancel.ts and load.ts read and write rows, a simulation has the runs in memory.
import { detail } from '../../steps/contract/outcome.ts'
import { listenAgain } from './goal-ends.ts'
import { isCopy } from './question-jobs.ts'
import { end, isEnded, type JobState, note, type RunState } from './run-state.ts'

/** As much of a step as canceling needs. `details` may hold only new lines. */
export type OutlinedJob = Pick<
  JobState,
  'position' | 'type' | 'status' | 'reason' | 'error' | 'dueAt' | 'details' | 'isChanged'
>

export interface Outline<Job extends OutlinedJob = OutlinedJob> {
  id: string
  status: RunState['status']
  jobs: Job[]
}

interface CanceledJob<Run, Job> {
  run: Run
  job: Job
  was: JobState['status']
  dueAt: Date | null
}

/**
 * Cancels the waiting steps of a trigger's runs, and all steps after them. An event that a digest has taken is taken out again,
 * as long as the digest has not been delivered. A trigger with nothing that waits is left alone.
 * @param isCollected whether the step's event is in a digest that still collects
 */
export function cancelWaits<Job extends OutlinedJob, Run extends Outline<Job>>(
  runs: Run[],
  isCollected: (job: Run['jobs'][number]) => boolean,
  now: Date,
): Array<CanceledJob<Run, Run['jobs'][number]>> {
  const found = runs.flatMap((run) =>
    run.jobs
      .filter((job) => isWaiting(job) || job.status === 'pending' || (job.status === 'merged' && isCollected(job)))
      .map((job) => ({ run, job, was: job.status, dueAt: job.dueAt })),
  )
  if (found.every(({ was }) => was === 'pending')) return []
  for (const { job } of found) {
    note(job, detail('canceled'), now)
    Object.assign(job, { status: 'canceled', reason: 'canceled_by_user', dueAt: null })
  }
  for (const run of new Set(found.map((each) => each.run))) end(run)
  return found
}

/** Also a copy of a question that is not on its way: nobody is asked any more. */
const isWaiting = (job: OutlinedJob) =>
  job.status === 'delayed' || (job.status === 'queued' && (job.dueAt !== null || isCopy(job)))

/** Of canceled steps, the digests that were collecting. */
export const isCanceledDigest = ({ job, was }: { job: Pick<JobState, 'type'>; was: string }): boolean =>
  job.type === 'digest' && was === 'delayed'

/** Lets a merged run go on with the digest it was merged into, which keeps its deadline. */
export function inherit(
  run: RunState,
  { from, position, dueAt }: { from: string; position: number; dueAt: Date },
  now: Date,
): void {
  for (const job of run.jobs) {
    if (job.mergedInto !== from || job.status !== 'merged') continue
    const isDigest = job.position === position
    if (isDigest) note(job, detail('digested'), now)
    Object.assign(job, {
      ...{ status: isDigest ? 'delayed' : 'pending', reason: null, mergedInto: null, isChanged: true },
      dueAt: isDigest ? dueAt : null,
    })
  }
  run.status = 'processing'
  run.digestedInto = null
  run.effects.timers.push({ position, dueAt })
  listenAgain(run, now)
}

/** Ends a run whose subscriber or workflow no longer exists. */
export function endOrphan(run: Outline, now: Date): void {
  for (const job of run.jobs) {
    if (isEnded(job)) continue
    const isPending = job.status === 'pending'
    if (isPending) note(job, detail('previous_failed'), now)
    Object.assign(job, {
      status: isPending ? 'canceled' : 'failed',
      reason: isPending ? 'previous_step_failed' : 'subscriber_gone',
      error: isPending ? job.error : 'The subscriber or the workflow no longer exists',
      dueAt: null,
      isChanged: true,
    })
  }
  if (run.status === 'processing') run.status = 'error'
}
