// Delivers messages to their destinations, in parallel and as often as it takes. What has been sent is never sent again.

import type { CallTools } from '../contract/call-tools.ts'
import { type DeadAddress, type Detail, detail } from '../contract/outcome.ts'
import type { StepRun } from '../contract/step-run.ts'
import { Attempt, type Destination } from './attempt.ts'
import { isMirrored, sandboxAmong } from './mirrored.ts'
import { begun, type Progress, progressOf } from './progress.ts'
import type { Report } from './report.ts'

/** In parallel for one step; each integration's own limit applies too. */
const callsAtOnce = 8

/** The details that the first attempt begins with. */
export function openingDetails({ run, job }: StepRun): Detail[] {
  const [from, to] = [run.workflow.severity, run.severity]
  return job.delivery !== null || from === to ? [] : [detail('severity_overridden', { from, to })]
}

export async function dispatch(of: StepRun, tools: CallTools, given: Destination[]): Promise<Report> {
  const now = tools.clock.now()
  const destinations = isMirrored(of) ? given.map((each) => intoSandbox(of, each)) : given
  const progress: Record<string, Progress> = Object.assign({}, progressOf(of))
  const details: Detail[] = []
  const dead: DeadAddress[] = []
  const open = dueOnes(destinations, progress, now)
  for (let at = 0; at < open.length; at += callsAtOnce) {
    const results = await Promise.all(
      open.slice(at, at + callsAtOnce).map(async (destination) => {
        const placed = { destination, among: destinations }
        const one = new Attempt(of, tools, placed, progress[destination.key] ?? begun(now))
        await one.make()
        return [destination.key, one] as const
      }),
    )
    for (const [key, one] of results) {
      progress[key] = one.progress
      details.push(...one.details)
      dead.push(...one.dead)
    }
  }
  const waiting = destinations.flatMap(({ key }) => {
    const { status, dueAt } = progress[key] ?? {}
    return status === 'waiting' && dueAt !== undefined ? [Date.parse(dueAt)] : []
  })
  const before = progressOf(of)
  const changed = new Set(open.map(({ key }) => key).filter((key) => !isSameWait(before[key], progress[key])))
  const isContinued = of.job.delivery !== null
  return {
    progress,
    changed,
    isContinued,
    details,
    dead,
    retryAt: waiting.length === 0 ? undefined : new Date(Math.min(...waiting)),
  }
}

/** A device or chat of a real integration: its message is kept as it would have gone there. */
const intoSandbox = ({ run, step }: StepRun, destination: Destination): Destination => ({
  ...destination,
  integrations: sandboxAmong(run.environment.integrations, step.type),
})

/**
 * Those whose time has come. At least the first: its timer has fired, even if the clock was set back since. Otherwise a call that
 * was cut off would be put off, and forgotten when it is made again.
 */
function dueOnes(destinations: Destination[], progress: Record<string, Progress>, now: Date): Destination[] {
  const left = destinations.flatMap((destination) => {
    const { status = 'waiting', dueAt } = progress[destination.key] ?? {}
    return status === 'waiting' ? [{ destination, dueAt: dueAt === undefined ? 0 : Date.parse(dueAt) }] : []
  })
  const until = Math.max(now.getTime(), Math.min(...left.map(({ dueAt }) => dueAt)))
  return left.filter(({ dueAt }) => dueAt <= until).map(({ destination }) => destination)
}

/** Refused again and still waiting at the same integration: nothing that was stored has changed. */
const isSameWait = (before: Progress | undefined, after: Progress | undefined): boolean =>
  after?.status === 'waiting' && after.waits > 1 && after.integrationId === before?.integrationId
