// Compares what two services made of the same trigger: per recipient and step the status, the addresses, the content without ids
// and tokens, and the time. Nothing here does I/O.
import type { Difference } from '../../db/queries/shadow.ts'
import { firstDifference, isSameText } from './content.ts'
import type { SeenMessage, SeenRun, SeenStep, Side } from './side.ts'

export interface Compared {
  transactionId: string
  workflowId: string
}

type Found = Pick<Difference, 'stepId' | 'kind' | 'path' | 'upstream' | 'here'>

/** Sent earlier or later than this counts as a difference. */
const toleranceMs = 2 * 60_000
/** Of one trigger. Whoever sees these knows enough. */
export const mostDifferences = 500

/** Whether both have ended, and with the same recipients and steps: nothing will change any more. */
export function isSettled(upstream: Side, here: Side): boolean {
  if (!upstream.hasEnded || !here.hasEnded || upstream.runs.size === 0) return false
  if (upstream.runs.size !== here.runs.size) return false
  return [...upstream.runs].every(([subscriberId, run]) => {
    const other = here.runs.get(subscriberId)
    return other !== undefined && run.steps.length === other.steps.length
  })
}

export function compare({ transactionId, workflowId }: Compared, upstream: Side, here: Side): Difference[] {
  const people = [...new Set([...upstream.runs.keys(), ...here.runs.keys()])].sort()
  const isWhole = upstream.isWhole && here.isWhole
  const differences: Difference[] = []
  for (const subscriberId of people) {
    const [there, own] = [upstream.runs.get(subscriberId), here.runs.get(subscriberId)]
    // Of a part of the recipients, those of one side alone say nothing.
    const found = there && own ? stepsOf(there, own) : isWhole ? [lonely(there, own)] : []
    for (const each of found) differences.push({ transactionId, workflowId, subscriberId, ...each })
    if (differences.length >= mostDifferences) return differences.slice(0, mostDifferences)
  }
  return differences
}

const lonely = (there: SeenRun | undefined, own: SeenRun | undefined): Found => ({
  ...{ stepId: null, kind: there ? 'missing' : 'extra', path: 'run' },
  ...{ upstream: there ? stepsSaid(there) : null, here: own ? stepsSaid(own) : null },
})

const stepsSaid = ({ steps }: SeenRun) =>
  Object.fromEntries(steps.map(({ stepId, type, status }) => [stepId || type, status]))

function stepsOf(there: SeenRun, own: SeenRun): Found[] {
  const named = withStepIds(there, own)
  const theirs = new Map(named.map((step) => [step.stepId, step]))
  const ours = new Map(own.steps.map((step) => [step.stepId, step]))
  return [...new Set([...theirs.keys(), ...ours.keys()])].flatMap((stepId): Found[] => {
    const [a, b] = [theirs.get(stepId), ours.get(stepId)]
    if (a && b) return ofStep(a, b, { there: there.startedAt, own: own.startedAt })
    const sides = { upstream: a?.status ?? null, here: b?.status ?? null }
    return [{ stepId, kind: a ? 'missing' : 'extra', path: 'step', ...sides }]
  })
}

/** Steps of older services have no ids that anybody chose: there, the second email is our second email. */
function withStepIds({ steps }: SeenRun, own: SeenRun): SeenStep[] {
  if (steps.every(({ stepId }) => stepId !== '')) return steps
  const counts = new Map<string, number>()
  return steps.map((step, place) => {
    const nth = counts.get(step.type) ?? 0
    counts.set(step.type, nth + 1)
    if (step.stepId !== '') return step
    const { stepId = `${step.type} ${place + 1}` } = own.steps.filter(({ type }) => type === step.type)[nth] ?? {}
    return { ...step, stepId }
  })
}

function ofStep(a: SeenStep, b: SeenStep, started: { there: Date; own: Date }): Found[] {
  const { stepId } = b
  if (a.status !== b.status) return [{ stepId, kind: 'status', path: 'status', upstream: a.status, here: b.status }]
  if (a.messages.length === 0 && b.messages.length === 0) return []
  const found: Found[] = []
  const [theirs, ours] = [addressesOf(a), addressesOf(b)]
  if (JSON.stringify(theirs) !== JSON.stringify(ours))
    found.push({ stepId, kind: 'recipient', path: 'recipient', upstream: theirs, here: ours })
  const [first, own] = [a.messages[0], b.messages[0]]
  if (!first || !own) {
    const sides = { upstream: a.messages.length, here: b.messages.length }
    return found.length > 0 ? found : [{ stepId, kind: first ? 'missing' : 'extra', path: 'messages', ...sides }]
  }
  return [...found, ...ofContent(stepId, first, own), ...ofTime(stepId, first, own, started)]
}

const addressesOf = ({ messages }: SeenStep): string[] =>
  [...new Set(messages.flatMap((each) => each.addresses))].sort()

function ofContent(stepId: string, first: SeenMessage, own: SeenMessage): Found[] {
  // A side that keeps no content has nothing to compare.
  if (first.content.content === undefined || own.content.content === undefined) return []
  return Object.keys(own.content).flatMap((path): Found[] => {
    const [there = '', here = ''] = [first.content[path], own.content[path]]
    return isSameText(there, here) ? [] : [{ stepId, kind: 'content', path, ...firstDifference(there, here) }]
  })
}

/** Each as long after its run began: their clocks need not agree. */
function ofTime(stepId: string, first: SeenMessage, own: SeenMessage, started: { there: Date; own: Date }): Found[] {
  const there = first.at.getTime() - started.there.getTime()
  const here = own.at.getTime() - started.own.getTime()
  if (Math.abs(there - here) <= toleranceMs) return []
  const sides = { upstream: first.at.toISOString(), here: own.at.toISOString() }
  return [{ stepId, kind: 'time', path: 'createdAt', ...sides }]
}
