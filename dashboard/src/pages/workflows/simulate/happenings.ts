// What happened in a simulation, one sentence each, in order: the list beside the axis, which screen readers read instead of it.
import type { SimulatedAttempt, SimulatedRun, Simulation } from '../../../api/simulations.ts'
import { counted } from '../../../ui/base/counted.ts'
import type { Tone } from '../../../ui/base/status.tsx'
import { reasonLabel } from '../../../ui/domain/reasons.ts'
import { lookOf } from '../../../ui/domain/step-kind.tsx'
import { faults, ordered, type Pin, type Scenario } from './scenario.ts'
import { clockAt, dayAt, offsetMs } from './zones.ts'

export interface Happening {
  at: number
  text: string
  /** The kind of the step, or of the input. */
  icon: string
  tone: Tone
  subscriberId: string | undefined
  messageId?: string
}

const minuteMs = 60_000

/** "10:04", with the day where it is another. */
export function momentText(zone: string, at: number, startAt: number): string {
  const dayOf = (time: number) => Math.floor((time + offsetMs(zone, time)) / (24 * 60 * minuteMs))
  return dayOf(at) === dayOf(startAt) ? clockAt(zone, at) : `${dayAt(zone, at)}, ${clockAt(zone, at)}`
}

export function pinText(pin: Pin, nameOf: (subscriberId: string) => string): string {
  switch (pin.type) {
    case 'trigger':
      return `Trigger for ${listed(pin.to.map(nameOf))}`
    case 'read':
      return `${nameOf(pin.subscriberId)} reads the inbox`
    case 'seen':
      return `${nameOf(pin.subscriberId)} sees the inbox`
    case 'cancel':
      return `${pin.transactionId} is canceled`
    case 'fault': {
      const where = pin.channel === undefined ? 'all providers' : `providers of ${lookOf(pin.channel).label}`
      return `${faults[pin.fault]}: ${where}`
    }
  }
}

const listed = (words: string[]): string =>
  words.length < 3 ? words.join(' and ') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

interface Surroundings {
  scenario: Scenario
  zone: string
  nameOf: (subscriberId: string) => string
  stepName: (stepId: string) => string
}

export function happeningsOf(played: Simulation, { scenario, zone, nameOf, stepName }: Surroundings): Happening[] {
  const runs = new Map(played.runs.map((run) => [run.id, run]))
  const windows = new Map(played.windows.map((window) => [window.id, window]))
  const messages = new Map(played.messages.map((message) => [message.id, message]))
  const pins = ordered(scenario)
  const moment = (iso: string | null) => (iso === null ? '' : momentText(zone, Date.parse(iso), scenario.startAt))
  /** The next of a step's waits or attempts. */
  const places = new Map<string, number>()
  const nextOf = <T>(list: readonly T[], key: string): T | undefined => {
    const place = places.get(key) ?? 0
    places.set(key, place + 1)
    return list[place]
  }
  const joined = new Map<string, number>()
  return played.timeline.flatMap((entry): Happening[] => {
    const run = runs.get(entry.runId ?? '')
    const step = run?.steps.find(({ stepId }) => stepId === entry.stepId)
    const who = run ? nameOf(run.subscriberId) : ''
    const of = {
      at: Date.parse(entry.at),
      icon: step?.type ?? 'trigger',
      tone: 'neutral' as Tone,
      subscriberId: run?.subscriberId,
    }
    switch (entry.kind) {
      case 'input': {
        const pin = pins[entry.input ?? -1]
        if (!pin) return []
        const told = played.triggers.find(({ input }) => input === entry.input)
        const refusal = told?.error?.message ?? refusals[told?.status ?? '']
        const text = pinText(pin, nameOf)
        if (refusal) return [{ ...of, text: `${text}: refused. ${refusal}`, icon: pin.type, tone: 'bad' }]
        return [{ ...of, text, icon: pin.type, tone: pin.type === 'fault' ? 'warn' : 'info' }]
      }
      case 'window_opened':
      case 'window_joined': {
        const window = windows.get(entry.windowId ?? '')
        if (window?.kind !== 'digest') return []
        const count = (joined.get(window.id) ?? 0) + 1
        joined.set(window.id, count)
        const name = stepName(window.stepId)
        const text =
          entry.kind === 'window_opened'
            ? `“${name}” opens for ${who}, until ${moment(window.endsAt)}`
            : `“${name}” has ${count} events for ${who}`
        return [{ ...of, text, icon: 'digest' }]
      }
      case 'window_closed': {
        const window = windows.get(entry.windowId ?? '')
        if (window?.kind !== 'digest') return []
        const events = counted(window.eventCount, 'event')
        const owner = nameOf(window.subscriberId)
        const text = `“${stepName(window.stepId)}” closes with ${events} for ${owner}`
        return [{ ...of, text, icon: 'digest', subscriberId: window.subscriberId }]
      }
      case 'wait_began': {
        const wait = step && nextOf(step.waits, `wait ${run?.id} ${step.stepId}`)
        if (!wait || !step || wait.why === 'digest') return []
        const name = stepName(step.stepId)
        const until = moment(wait.until)
        if (wait.why === 'retry') return [{ ...of, text: `“${name}” tries again for ${who} at ${until}`, tone: 'warn' }]
        if (wait.why === 'schedule')
          return [{ ...of, text: `“${name}” waits for ${who}’s hours, until ${until}`, tone: 'warn' }]
        if (wait.why === 'event') return [{ ...of, text: `“${name}” waits for an event about ${who}, until ${until}` }]
        if (wait.why === 'question') return [{ ...of, text: `“${name}” waits for an answer, until ${until}` }]
        return [{ ...of, text: `“${name}” waits for ${who} until ${until}` }]
      }
      case 'attempt': {
        const attempt = step && nextOf(step.attempts, `attempt ${run?.id} ${step.stepId}`)
        if (!attempt || attempt.outcome === 'sent' || !step) return []
        return [{ ...of, text: `“${stepName(step.stepId)}” for ${who}: ${attemptText(attempt)}`, tone: 'bad' }]
      }
      case 'message': {
        const message = messages.get(entry.messageId ?? '')
        if (!message) return []
        const about = { icon: message.channel, messageId: message.id }
        const noun = lookOf(message.channel).label
        if (message.status !== 'sent')
          return [{ ...of, ...about, text: `${noun} to ${who} could not be sent`, tone: 'bad' }]
        const title = message.subject || (message.text ?? '').slice(0, 80)
        return [{ ...of, ...about, text: `${noun} to ${who}${title ? `: ${title}` : ''}`, tone: 'good' }]
      }
      case 'step_ended': {
        if (!step || !run || step.reason === null || quiet.has(step.reason)) return []
        const text = `“${stepName(step.stepId)}” for ${who}: ${lower(reasonLabel(step.reason))}`
        return [{ ...of, text, tone: step.status === 'failed' ? 'bad' : 'neutral' }]
      }
      default:
        return []
    }
  })
}

/** The bracket of the digest shows them. */
const quiet: ReadonlySet<string> = new Set(['merged_into_digest', 'first_of_digest', 'failure_allowed'])

const refusals: Record<string, string> = {
  trigger_not_active: 'The workflow is inactive.',
  no_workflow_steps_defined: 'The workflow has no steps.',
  no_workflow_active_steps_defined: 'All steps are off.',
  no_tenant_found: 'The tenant does not exist.',
  invalid_recipients: 'Nobody can receive it.',
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

export function attemptText({ outcome, next, providerId }: SimulatedAttempt): string {
  const what = outcome.replaceAll('_', ' ')
  const then = next === 'fail_over' ? ', then the next provider' : next === 'give_up' ? ', given up' : ''
  return `${providerId} ${what}${then}`
}

/** When nothing more happens: the end or, if something still waits at the horizon, the last that is known. */
export function endOf(played: Simulation, scenario: Scenario): number {
  const end = Date.parse(played.endAt)
  const known = [
    ...scenario.pins.map(({ at }) => scenario.startAt + at),
    ...(played.stoppedBy === 'nothing_left' ? [end] : []),
    ...played.timeline.slice(-1).map(({ at }) => Date.parse(at)),
    ...played.waiting.map(({ until }) => Math.min(Date.parse(until), end)),
  ]
  return known.reduce((last, each) => Math.max(last, each), scenario.startAt)
}

/** A run's waits that are drawn as bars. */
export const barsOf = (run: SimulatedRun) =>
  run.steps.flatMap((step) =>
    step.waits.flatMap(({ why, ...wait }) => (why === 'digest' ? [] : [{ ...wait, why, stepId: step.stepId }])),
  )
