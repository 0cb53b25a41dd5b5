// The copies of a question among the steps of a run: made, looked at and closed, and the run as whoever is asked sees it.
import { detail } from '../../steps/contract/outcome.ts'
import { type Asking, type CopyState, mostCopies } from '../../steps/contract/question.ts'
import { questionIdIn } from '../../steps/kinds/ask.ts'
import { copyStep } from '../../steps/kinds/ask-copies.ts'
import { type JobState, type JobStatus, newJob, note, type RunState } from './run-state.ts'

/** The copies of a question, in their order. */
export const copyJobs = (run: RunState, { position }: JobState): JobState[] =>
  run.jobs.filter(({ asked }) => asked?.of === position)

/** Their positions are beyond those of all steps. */
export const firstCopy = 1_000

export const isCopy = ({ position }: Pick<JobState, 'position'>): boolean => position >= firstCopy

/** The last of the copies that there are. */
const lastCopy = ({ jobs }: RunState): number =>
  jobs.reduce((last, { position }) => Math.max(last, position), firstCopy - 1)

/** How many more copies there can be. */
export const roomIn = (run: RunState): number => firstCopy + mostCopies - 1 - lastCopy(run)

/** Notes what is asked, and makes the copies. */
export function ask(run: RunState, job: JobState, asking: Asking, now: Date): void {
  run.effects.asking.push({ ...asking, job })
  let position = lastCopy(run)
  const jobs = asking.copies.map(({ person, channel, level, round, reminder }) => {
    const { subscriber_id: subscriberId } = person.subscriber
    run.people.set(subscriberId, person)
    position += 1
    const made = newJob(copyStep(job.step, channel), position, { now, newId: run.newId })
    return { ...made, asked: { of: job.position, subscriberId, level, round, reminder } }
  })
  run.jobs.splice(run.jobs.indexOf(job) + copyJobs(run, job).length + 1, 0, ...jobs)
}

/** Copies of a closed question that are not on their way are not sent any more. */
export function closeCopies(run: RunState, job: JobState, now: Date): void {
  for (const copy of copyJobs(run, job)) {
    if (copy.status !== 'queued') continue
    note(copy, detail('question_over'), now)
    Object.assign(copy, { status: 'canceled', reason: 'question_closed', dueAt: null })
    run.effects.unlistens.push(copy.position)
    run.effects.calls = run.effects.calls.filter((position) => position !== copy.position)
  }
}

const copyStates: Partial<Record<JobStatus, CopyState['state']>> = {
  completed: 'sent',
  failed: 'failed',
  canceled: 'held',
  skipped: 'held',
}

export function copiesOf({ jobs }: RunState, { position }: JobState): CopyState[] {
  const copies: CopyState[] = []
  for (const { asked, type: channel, status } of jobs) {
    if (asked?.of !== position) continue
    const { of, subscriberId, level, round, reminder } = asked
    copies.push({ of, subscriberId, level, round, reminder, channel, state: copyStates[status] ?? 'underway' })
  }
  return copies
}

/** Whether whoever this copy is for no longer exists. */
export const isAskedGone = (run: RunState, { asked }: JobState): boolean =>
  asked !== null && !run.people.has(asked.subscriberId)

/** The run as a copy sees it: for the person who is asked. */
export function viewOf(run: RunState, { asked }: JobState): RunState {
  const person = asked && run.people.get(asked.subscriberId)
  if (!person) return run
  // What a trigger says about addresses and files is about its own recipient.
  const { phone: _phone, attachments: _attachments, ...payload } = run.event.payload
  return { ...run, ...person, topics: null, event: { ...run.event, payload, overrides: {} } }
}

/** What clients read of the question in an in-app copy. */
export function questionIn(run: RunState, { asked, type }: JobState): { data?: Record<string, unknown> } {
  const of = asked && run.jobs.find(({ position }) => position === asked.of)
  if (!of || type !== 'in_app') return {}
  return { data: { question: { id: questionIdIn(of), state: 'open', answer: null, answeredBy: null } } }
}

/** Whose message it is. */
export const recipientIn = (run: RunState, { asked }: JobState): RunState['subscriber'] =>
  (asked && run.people.get(asked.subscriberId)?.subscriber) ?? run.subscriber
