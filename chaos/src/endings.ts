// What ended the runs that wait for longer than the plan: the event, the answer or the cancel of each trigger took effect once.
import type { Finding, Run } from './books.ts'
import type { Ledger } from './client.ts'
import { cancellationKeyOf, eventIdOf, type FollowUp, type Plan } from './plan.ts'

interface EndingFinding extends Finding {
  /** The kind of step it is about. */
  step: string
}

export const endingFindings = (plan: Plan, ledger: Ledger, runs: ReadonlyMap<string, Run[]>): EndingFinding[] =>
  plan.followUps.flatMap((followUp) => {
    const ended = followUp.people.flatMap((who) => runs.get(`${followUp.transactionId} ${who}`) ?? [])
    return findingsOf[followUp.kind](followUp, ended, ledger)
  })

const findingsOf: Record<FollowUp['kind'], (followUp: FollowUp, runs: Run[], ledger: Ledger) => EndingFinding[]> = {
  event: eventFindings,
  answer: answerFindings,
  'cancel by key': cancelFindings,
}

function eventFindings({ n }: FollowUp, runs: Run[], { posted }: Ledger): EndingFinding[] {
  const id = eventIdOf(n)
  const step = 'wait_for_event'
  if (!posted.has(id)) return [{ kind: 'wrong', what: `the event ${id} was never accepted`, step }]
  return runs
    .filter((run) => eventIn(run) !== id)
    .map((run) => ({ kind: 'lost', what: `the event ${id} did not end the wait of ${run.id}`, step }))
}

/** The answer that was confirmed is the one that counts. */
function answerFindings(_: FollowUp, runs: Run[], { answers }: Ledger): EndingFinding[] {
  const step = 'ask'
  return runs.flatMap((run): EndingFinding[] => {
    const { questionId, answer } = outputIn(run, 'ask')
    const taken = [...(answers.get(String(questionId)) ?? [])]
    if (taken.length > 1)
      return [{ kind: 'duplicated', what: `two answers to the question of ${run.id} were confirmed`, step }]
    if (taken[0] === answer && answer !== undefined) return []
    return [{ kind: 'lost', what: `${run.id} was answered ${taken.join()}, and its step says ${String(answer)}`, step }]
  })
}

/** Nothing else can have ended these runs. */
function cancelFindings({ n }: FollowUp, runs: Run[], { byKey }: Ledger): EndingFinding[] {
  const step = 'cancel'
  const key = cancellationKeyOf(n)
  const left = runs.filter(({ jobs }) => !jobs.some(({ reason }) => reason === 'canceled_by_user'))
  const counts = byKey.get(key) ?? []
  const sure = counts.every((count) => count !== undefined)
  const sum = counts.reduce<number>((total, count) => total + (count ?? 0), 0)
  return [
    ...left.map((run): EndingFinding => ({ kind: 'lost', what: `the cancel of ${key} did not end ${run.id}`, step })),
    ...(sum > runs.length || (sure && sum < runs.length)
      ? [{ kind: 'wrong' as const, what: `${sum} of ${runs.length} runs of ${key} were confirmed as cancelled`, step }]
      : []),
  ]
}

const outputIn = ({ jobs }: Run, type: string): Record<string, unknown> =>
  jobs.find((job) => job.type === type)?.output ?? {}

const eventIn = (run: Run): unknown => (outputIn(run, 'wait_for_event').event as { id?: unknown } | null)?.id

/** How many waits each event has ended, according to the steps that waited. */
export function endedBy(runs: ReadonlyMap<string, Run[]>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const run of [...runs.values()].flat()) {
    const id = eventIn(run)
    if (typeof id === 'string') counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}
