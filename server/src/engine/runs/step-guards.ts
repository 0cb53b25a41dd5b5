// What holds a step back: the subscriber's schedule, preferences and pause, and the caps of the environment.
import { placeFor } from '../../steps/contract/caps.ts'
import type { ControlValues, StepKind } from '../../steps/contract/kind.ts'
import type { FoundSchedule, PlaceAnswer, Progress, TakePlace } from '../../steps/contract/need.ts'
import { detail, type Skip, type StepOutcome, type Wait } from '../../steps/contract/outcome.ts'
import type { StepRun } from '../../steps/contract/step-run.ts'
import { isCommercial, isStillCritical } from '../../steps/delivery/consent-links.ts'
import { gateOf, withGate } from '../../steps/delivery/filter-gate.ts'
import { progressOf } from '../../steps/delivery/progress.ts'
import { type PreferenceResolution, resolvePreference } from '../core/preferences.ts'
import { isOpen, nextOpening, type Schedule } from '../core/schedule.ts'
import { viewOf } from './question-jobs.ts'
import { type JobState, kindOf, note, type RunState } from './run-state.ts'

/** After this many, the step runs whatever the schedule says. */
const mostScheduleExtensions = 3

/** Goes on with the step if there is a place in every cap that concerns it. The last of what is asked. */
export function* withinCaps(
  run: RunState,
  job: JobState,
  goOn: () => StepOutcome | Progress<StepOutcome>,
): Progress<StepOutcome> {
  const need = placeNeededBy(viewOf(run, job), job)
  if (need) {
    const place = (yield need) as PlaceAnswer
    if (!place.isTaken) return capped(place)
    job.delivery = withGate(job.delivery, { ...gateOf(job), hasPlace: true })
  }
  const outcome = goOn()
  return 'kind' in outcome ? outcome : yield* outcome
}

/** Undefined where no cap concerns the step, and once it has its places. */
export function placeNeededBy(run: RunState, job: Pick<JobState, 'type' | 'delivery'>): TakePlace | undefined {
  const { channel } = kindOf(job)
  const { environment, subscriber, workflow } = run
  if (!channel || environment.guards.caps.length === 0 || gateOf(job)?.hasPlace) return undefined
  return placeFor(environment, subscriber.id, { channel, tags: workflow.tags, isExempt: isExempt(run) })
}

/** Neither counted in caps nor held back by them. */
export const isExempt = ({ critical, definition }: Pick<RunState, 'critical' | 'definition'>): boolean =>
  isStillCritical({ critical, workflow: definition }) || definition.journey?.exemptFromCaps === true

const capped = ({ cap, freeAt }: Extract<PlaceAnswer, { isTaken: false }>): Skip => ({
  kind: 'skip',
  reason: 'capped',
  details: [detail('capped', { cap: cap.id, limit: cap.limit, window: cap.window, nextPlaceAt: freeAt.toISOString() })],
})

/** Held back by the subscriber's schedule. */
export function outsideSchedule(run: RunState, kind: StepKind, now: Date): Skip | undefined {
  if (!kind.obeysSchedule || isStillCritical(run)) return undefined
  const { schedule, timezone } = scheduleOf(run)
  if (isOpen(schedule, now, timezone)) return undefined
  return { kind: 'skip', reason: 'outside_schedule', details: [detail('outside_schedule', { schedule, timezone })] }
}

/** Where steps are held, it waits for the next opening. Undefined if the schedule was opened a moment ago. */
export function* untilOpening(run: RunState, closed: Skip, now: Date): Progress<Skip | Wait | undefined> {
  if (!holdsSteps(run)) return closed
  const { environment, subscriber } = run
  const found = (yield {
    ...{ need: 'find schedule', environmentId: environment.id, subscriberRowId: subscriber.id },
  }) as FoundSchedule
  const { timezone } = found
  const schedule = found.schedule as Schedule | null
  if (isOpen(schedule, now, timezone)) return undefined
  const until = nextOpening(schedule, now, timezone)
  if (until === undefined) return closed
  const line = detail('held', { heldUntil: until.toISOString(), timezone, schedule })
  return { kind: 'wait', until, details: [line], listens: [{ kind: 'schedule', name: '', value: subscriber.id }] }
}

/** Whether what falls outside a schedule waits for it. */
export const holdsSteps = ({ definition, environment }: Pick<RunState, 'definition' | 'environment'>): boolean =>
  (definition.journey?.quietHours ?? environment.guards.quietHours) === 'hold'

export const scheduleOf = (run: RunState) => ({
  schedule: (run.preferences?.schedule ?? null) as Schedule | null,
  timezone: run.subscriber.timezone,
})

/** What the layers of preferences say about a channel. */
export function preferenceOf(run: RunState, channel: NonNullable<StepKind['channel']>): PreferenceResolution {
  const { preferences, user_preferences, critical } = run.definition
  return resolvePreference(
    {
      workflow: preferences,
      user: user_preferences,
      isMarkedCritical: critical,
      tenant: run.event.tenantChannels,
      subscriberGlobal: run.preferences?.global,
      subscriberWorkflow: run.preferences?.workflow,
    },
    channel,
  )
}

export function filtered(run: RunState, { channel }: StepKind): Skip | undefined {
  if (!channel) return undefined
  const resolved = preferenceOf(run, channel)
  if (resolved.enabled) return undefined
  const line = detail(`filtered_by_${resolved.mostSpecific}`, { channel, enabled: false, ...resolved.reason })
  return { kind: 'skip', reason: 'preference', details: [line] }
}

/** When the subscriber's pause from commercial messages ends, if it holds back this channel now. The inbox is never paused. */
export function snoozedUntil(run: RunState, channel: StepKind['channel'], now: Date): Date | undefined {
  const until = run.subscriber.snoozed_until
  if (!channel || channel === 'in_app' || !isCommercial(run)) return undefined
  return until !== null && until > now ? until : undefined
}

export function snoozed(run: RunState, { channel }: StepKind, now: Date): Skip | undefined {
  const until = snoozedUntil(run, channel, now)
  return until && { kind: 'skip', reason: 'snoozed', details: [detail('snoozed_commercial', { channel, until })] }
}

/**
 * A commercial message that waits for its next attempt, or is redriven, is not sent once its person has switched it off or
 * paused. What some destinations have got stays done.
 */
export function refusedSince(of: StepRun, run: RunState, job: JobState): StepOutcome | undefined {
  const destinations = Object.entries(progressOf(of))
  if (destinations.length === 0 || !isCommercial(run)) return undefined
  const [kind, view] = [kindOf(job), viewOf(run, job)]
  const refused = filtered(view, kind) ?? snoozed(view, kind, of.now)
  if (!refused) return undefined
  const { reason, details } = refused
  const closed = destinations.map(
    ([key, each]) =>
      [key, each.status === 'waiting' ? { ...each, status: 'failed', reason, error: reason } : each] as const,
  )
  const delivery = { ...of.job.delivery, destinations: Object.fromEntries(closed) }
  const isSent = closed.some(([, { status }]) => status === 'sent')
  return isSent ? { kind: 'done', reason, details, delivery } : { ...refused, delivery }
}

/** A wait that ends outside the subscriber's schedule is extended to the next opening, a few times. */
export function extension(run: RunState, job: JobState, now: Date): StepOutcome | undefined {
  const kind = kindOf(job)
  if (!kind.isExtendable || isStillCritical(run) || settingsOf(job).extendToSchedule !== true) return undefined
  const { schedule, timezone } = scheduleOf(run)
  if (isOpen(schedule, now, timezone)) return undefined
  const until = nextOpening(schedule, now, timezone)
  if (until === undefined) return undefined
  if (job.scheduleExtensions >= mostScheduleExtensions) {
    note(job, detail('schedule_exhausted'), now)
    return undefined
  }
  job.scheduleExtensions += 1
  const raw = {
    delayMs: until.getTime() - now.getTime(),
    nextAvailableTime: until.toISOString(),
    timezone,
    schedule,
    scheduleExtensionsCount: job.scheduleExtensions,
    maxScheduleExtensions: mostScheduleExtensions,
  }
  const again = detail(job.type === 'digest' ? 'digested' : 'delayed', { delay: raw.delayMs })
  return { kind: 'wait', until, details: [detail('schedule_extended', raw), again] }
}

/** The step's settings when its wait began, if its kind keeps them. */
const settingsOf = (job: JobState): ControlValues => job.digest ?? job.delivery ?? {}
