// Retries steps that failed for good, or that the suppression list held back. Only the step itself is repeated, and only what it has not sent.
import { inTransaction, type Transaction } from '../../db/core/transaction.ts'
import { detail, undelivered } from '../../steps/contract/outcome.ts'
import { someStep } from '../../steps/contract/tree.ts'
import { gateOf, withGate } from '../../steps/delivery/filter-gate.ts'
import { resetDelivery } from '../../steps/delivery/progress.ts'
import { priorities } from '../core/fair-share.ts'
import { timeIn } from '../core/held-clocks.ts'
import type { Memory } from '../core/memory.ts'
import { lockRuns } from './load.ts'
import { type JobState, kindOf, note, type RunState } from './run-state.ts'
import type { EngineParts } from './start-runs.ts'
import { storeRuns } from './store.ts'

export interface FailedJob {
  id: string
  notification_id: string
}

/** Runs locked in one transaction. */
const runsAtOnce = 100

export async function redriveJobs(parts: EngineParts, environmentId: string, jobs: FailedJob[]): Promise<string[]> {
  const redriven: string[] = []
  for (let at = 0; at < jobs.length; at += runsAtOnce) {
    const some = jobs.slice(at, at + runsAtOnce)
    redriven.push(
      ...(await inTransaction(parts.pool, (transaction) => redrive(transaction, parts, environmentId, some))),
    )
  }
  return redriven
}

/** The lock decides between two requests: the second finds nothing left to redrive. */
async function redrive(
  transaction: Transaction,
  { memory, clock }: EngineParts,
  environmentId: string,
  jobs: FailedJob[],
): Promise<string[]> {
  const now = await timeIn(transaction, { memory, clock }, environmentId)
  const wanted = new Set(jobs.map(({ id }) => id))
  const ids = [...new Set(jobs.map(({ notification_id }) => notification_id))]
  const runs = await lockRuns(
    transaction,
    memory,
    ids.map((id) => ({ environmentId, id })),
    now,
  )
  const redriven: string[] = []
  for (const run of runs)
    for (const job of run.jobs) {
      if (!wanted.has(job.id) || !isUndelivered(job) || !kindOf(job).channel) continue
      if (job.asked && !isOpen(run, job)) continue
      job.status = 'queued'
      job.reason = null
      job.error = null
      job.delivery = resetDelivery(job.delivery, now)
      const { tries: _, ...gate } = gateOf(job) ?? {}
      const version = await mendedVersion(memory, run, job)
      job.delivery = withGate(job.delivery, version === undefined ? gate : { ...gate, version })
      note(job, detail('redriven'), now)
      run.status = 'processing'
      run.effects.calls.push(job.position)
      redriven.push(job.id)
    }
  await storeRuns(transaction, runs, { now, priority: priorities.many })
  return redriven
}

const isUndelivered = ({ status, reason }: JobState): boolean =>
  status === 'canceled'
    ? reason === 'suppressed'
    : undelivered.has(reason) && (status === 'failed' || status === 'completed')

/** Whether the question that a copy asks is still open. */
const isOpen = ({ jobs }: RunState, { asked }: JobState): boolean =>
  jobs.some(({ position, status }) => position === asked?.of && status === 'delayed')

/** The step itself may have been the fault: it runs as it now stands in the workflow, if it still exists. */
async function mendedVersion(memory: Memory, run: RunState, { step }: JobState): Promise<number | undefined> {
  const environment = await memory.recall(run.environment.id)
  const current = await environment?.workflowById(run.workflow.id)
  const isThere = someStep(current?.steps ?? [], ({ _id, type }) => _id === step._id && type === step.type)
  return isThere && current?.version !== run.definition.version ? current?.version : undefined
}
