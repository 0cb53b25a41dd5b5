// The words for what became of a run, a step or a message: one word for one outcome, on every screen. The API has three that mean
// the same to people (`skipped`, `canceled`, and a step that was held back): nothing was sent, on purpose. All are "Skipped", and
// the reason beside it says why.
import type { Run, RunSummary } from '../../api/runs.ts'
import { Status, type Tone } from '../base/status.tsx'
import { channels } from './step-kind.tsx'

export interface Outcome {
  word: string
  tone: Tone
  /** Still going on. */
  live?: boolean
}

const outcomes = {
  pending: { word: 'Pending', tone: 'neutral' },
  processing: { word: 'In progress', tone: 'info', live: true },
  sending: { word: 'Sending', tone: 'info', live: true },
  waiting: { word: 'Waiting', tone: 'info', live: true },
  done: { word: 'Done', tone: 'good' },
  sent: { word: 'Sent', tone: 'good' },
  delivered: { word: 'Delivered', tone: 'good' },
  seen: { word: 'Seen', tone: 'good' },
  partly: { word: 'Partly sent', tone: 'warn' },
  merged: { word: 'Merged', tone: 'neutral' },
  skipped: { word: 'Skipped', tone: 'neutral' },
  failed: { word: 'Failed', tone: 'bad' },
} satisfies Record<string, Outcome>

/** The states of runs that a list can be filtered by. */
export const runStates: Record<RunSummary['status'], Outcome> = {
  processing: outcomes.processing,
  completed: outcomes.done,
  error: outcomes.failed,
}

/** Of a run that is completed, more precise than "done". One that had nothing to send, or met its goal, did not fail. */
const lifecycles: Record<RunSummary['deliveryLifecycle']['status'], Outcome> = {
  pending: outcomes.done,
  sent: outcomes.sent,
  delivered: outcomes.delivered,
  interacted: outcomes.seen,
  skipped: outcomes.skipped,
  canceled: outcomes.skipped,
  merged: outcomes.merged,
  errored: outcomes.done,
}

const steps: Record<string, Outcome> = {
  pending: outcomes.pending,
  queued: outcomes.pending,
  running: outcomes.sending,
  delayed: outcomes.waiting,
  completed: outcomes.done,
  failed: outcomes.failed,
  canceled: outcomes.skipped,
  skipped: outcomes.skipped,
  merged: outcomes.merged,
}

type Job = Pick<Run['jobs'][number], 'status' | 'type' | 'reason'> & {
  messages?: ReadonlyArray<{ status: string }>
}

const isChannel = ({ type }: Pick<Job, 'type'>) => (channels as readonly string[]).includes(type)

/** Taken by the provider, which then reported that it did not arrive. */
export const hasBounced = ({ status, messages = [] }: Job) =>
  status === 'completed' && messages.length > 0 && messages.every((message) => message.status === 'error')
/** Sent, and not bounced. */
export const wasSent = (job: Job) => job.status === 'completed' && !hasBounced(job)
export const hasFailed = (job: Job) => job.status === 'failed' || hasBounced(job)

/** A message that reached some of its devices or chats has a reason although it is completed. */
export function stepOutcome(job: Job): Outcome {
  if (hasBounced(job)) return outcomes.failed
  if (job.status === 'completed' && isChannel(job)) return job.reason === undefined ? outcomes.sent : outcomes.partly
  return steps[job.status] ?? { word: job.status, tone: 'neutral' }
}

export function runOutcome({ status, deliveryLifecycle, jobs }: RunLike): Outcome {
  if (status === 'processing') return outcomes.processing
  const messages = jobs.filter(isChannel)
  const isPartly = messages.some(wasSent) && jobs.some((job) => hasFailed(job) || stepOutcome(job) === outcomes.partly)
  if (isPartly) return outcomes.partly
  return status === 'error' ? outcomes.failed : lifecycles[deliveryLifecycle.status]
}

interface RunLike extends Pick<RunSummary, 'status' | 'deliveryLifecycle'> {
  jobs: readonly Job[]
}

export function RunStatus({ run }: { run: RunLike }) {
  const { word, tone, live = false } = runOutcome(run)
  return (
    <Status tone={tone} live={live}>
      {word}
    </Status>
  )
}
