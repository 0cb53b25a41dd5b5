// States of runs and steps: the word and the tone for each.
import type { RunSummary } from '../../api/runs.ts'
import { Status, type Tone } from '../../ui/base/status.tsx'

interface State {
  word: string
  tone: Tone
}

export const runStates: Record<RunSummary['status'], State> = {
  processing: { word: 'Processing', tone: 'info' },
  completed: { word: 'Completed', tone: 'good' },
  error: { word: 'Failed', tone: 'bad' },
}

/** The outcome of a run, in a more precise word than "completed". */
const lifecycles: Partial<Record<RunSummary['deliveryLifecycle']['status'], State>> = {
  sent: { word: 'Sent', tone: 'good' },
  delivered: { word: 'Delivered', tone: 'good' },
  interacted: { word: 'Seen', tone: 'good' },
  skipped: { word: 'Skipped', tone: 'neutral' },
  canceled: { word: 'Cancelled', tone: 'neutral' },
  merged: { word: 'Merged', tone: 'neutral' },
}

export function RunStatus({ run }: { run: Pick<RunSummary, 'status' | 'deliveryLifecycle'> }) {
  const { word, tone } =
    run.status === 'completed'
      ? (lifecycles[run.deliveryLifecycle.status] ?? runStates.completed)
      : runStates[run.status]
  return (
    <Status tone={tone} live={run.status === 'processing'}>
      {word}
    </Status>
  )
}

const stepStates: Record<string, State> = {
  pending: { word: 'Pending', tone: 'neutral' },
  queued: { word: 'Queued', tone: 'info' },
  running: { word: 'Sending', tone: 'info' },
  delayed: { word: 'Waiting', tone: 'info' },
  completed: { word: 'Done', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
  canceled: { word: 'Skipped', tone: 'neutral' },
  skipped: { word: 'Skipped', tone: 'neutral' },
  merged: { word: 'Merged', tone: 'neutral' },
}

export const stepState = (status: string): State => stepStates[status] ?? { word: status, tone: 'neutral' }
