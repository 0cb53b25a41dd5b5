// Judges every gate that a step has to pass, also those behind a closed one: with the functions that the engine asks, and for
// what only the step's call knows by making it, each time with what was missing put in place.

import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { endlessTurn } from '../../providers/provider.ts'
import { neededIn, pathsIn, stepTemplates } from '../../steps/check/templates.ts'
import { read } from '../../steps/conditions/operators.ts'
import type { StepKind } from '../../steps/contract/kind.ts'
import type { Reason, StepOutcome } from '../../steps/contract/outcome.ts'
import { conditionOf, type StepRun, situationOf } from '../../steps/contract/step-run.ts'
import type { HeldBack } from '../../steps/contract/suppression.ts'
import { isCommercial } from '../../steps/delivery/consent-links.ts'
import { judgeStep } from '../../steps/delivery/filter-gate.ts'
import { askedIdentifier, branded } from '../../steps/delivery/integration-choice.ts'
import { circuitState } from '../core/circuit-records.ts'
import { nextOpening } from '../core/schedule.ts'
import { failureOf } from '../runs/call.ts'
import { earlierOf } from '../runs/run.ts'
import { type JobState, kindOf, type RunState } from '../runs/run-state.ts'
import {
  holdsSteps,
  outsideSchedule,
  placeNeededBy,
  preferenceOf,
  scheduleOf,
  snoozedUntil,
} from '../runs/step-guards.ts'
import { stepRunOf } from '../runs/step-view.ts'
import type { Runs } from './runs.ts'
import type { GivenAnswer, Members } from './scenario.ts'
import { Faults, standIns } from './stand-ins.ts'
import { nobodyListens } from './tools.ts'

export const gateNames = [
  'workflow',
  'branch',
  'schedule',
  'preference',
  'condition',
  'filters',
  'throttle',
  'cap',
  'integration',
  'address',
  'content',
  'brake',
  'suppression',
] as const
export type GateName = (typeof gateNames)[number]

export interface Gate extends Members {
  gate: GateName
  /** Null where only a call could tell. */
  passed: boolean | null
}

/** Which gate each reason closes. Other reasons are of no gate. */
export const gateOfReason: Partial<Record<Reason, GateName>> = {
  outside_schedule: 'schedule',
  preference: 'preference',
  snoozed: 'preference',
  step_condition: 'condition',
  throttled: 'throttle',
  capped: 'cap',
  no_integration: 'integration',
  provider_refused: 'integration',
  provider_failed: 'integration',
  missing_email: 'address',
  missing_phone: 'address',
  missing_push_token: 'address',
  missing_webhook_url: 'address',
  some_channels_missing_credentials: 'address',
  content_failed: 'content',
  layout_not_found: 'content',
  braked: 'brake',
  suppressed: 'suppression',
}

/** What is known beside the play. */
export interface GateFacts {
  answers: Record<string, GivenAnswer>
  /** Circuits that are recorded. */
  circuits: Array<{ integration_id: string; retry_at: Date }>
  /** When a layer of preferences was last changed. */
  changedAt(layer: string, run: RunState): Date | null
}

export async function judgeGates(
  runs: Pick<Runs, 'tools' | 'windows'>,
  { run, job, now }: { run: RunState; job: JobState; now: Date },
  facts: GateFacts,
): Promise<Gate[]> {
  const kind = kindOf(job)
  const of = stepRunOf(run, job, now)
  return [
    { gate: 'workflow', passed: true },
    ...scheduleGate(run, kind, now, job.asked === null && holdsSteps(run)),
    ...preferenceGate(run, kind, facts, now),
    ...conditionGates(of, run),
    ...throttleGate(runs, run, job),
    ...capGate(runs, run, job),
    ...(kind.channel ? await new CallGates(runs, { run, job, now }, facts).all() : []),
  ]
}

/** @param isHeld whether the step waits for the opening; copies of a question never do */
function scheduleGate(run: RunState, kind: StepKind, now: Date, isHeld: boolean): Gate[] {
  if (!kind.obeysSchedule) return []
  const isOpen = outsideSchedule(run, kind, now) === undefined
  const { schedule, timezone } = scheduleOf(run)
  const opensAt = isOpen ? null : (nextOpening(schedule, now, timezone) ?? null)
  // A step that is held passes in the end.
  const passed = isOpen || (opensAt !== null && isHeld)
  return [{ gate: 'schedule', passed, timezone: timezone ?? 'UTC', opensAt }]
}

function preferenceGate(run: RunState, { channel }: StepKind, { changedAt }: GateFacts, now: Date): Gate[] {
  if (!channel) return []
  const { enabled: passed, reason } = preferenceOf(run, channel)
  const until = passed ? snoozedUntil(run, channel, now) : undefined
  if (until) return [{ gate: 'preference', passed: false, decidedBy: 'snooze', until, since: null }]
  return [{ gate: 'preference', passed, ...reason, since: changedAt(reason.decidedBy, run) }]
}

function conditionGates(of: StepRun, run: RunState): Gate[] {
  const { skip } = of.values
  // The user's code decides whether its step runs.
  if (run.workflow.origin === 'external') return [{ gate: 'condition', passed: null, values: {} }]
  const gates: Gate[] = []
  if (typeof skip === 'object' && skip !== null && Object.keys(skip).length > 0) {
    const condition = conditionOf(of)
    const { data } = situationOf(of)
    const paths = pathsIn([], skip).map((path) => path.map(String))
    const values = Object.fromEntries(paths.map((path) => [path.join('.'), read(data, path) ?? null]))
    gates.push({ gate: 'condition', passed: !('error' in condition) && condition.holds, values })
  }
  if ((of.step.filters ?? []).length > 0) {
    const { kind } = judgeStep(of, earlierOf(run))
    gates.push({ gate: 'filters', passed: kind === 'ask' ? null : kind === 'open' })
  }
  return gates
}

function throttleGate({ windows }: Pick<Runs, 'windows'>, run: RunState, { type, step }: JobState): Gate[] {
  if (type !== 'throttle') return []
  const pass = windows.passes.get(`${run.id} ${step._id}`)
  if (!pass) return [{ gate: 'throttle', passed: true, count: 0, threshold: null, until: null }]
  const { isThrottled, count, threshold, endsAt } = pass
  return [{ gate: 'throttle', passed: !isThrottled, count, threshold, until: endsAt }]
}

/** Only where a cap concerns the step. */
function capGate({ windows }: Pick<Runs, 'windows'>, run: RunState, job: JobState): Gate[] {
  const asked = windows.capped.get(`${run.id} ${job.step._id}`)
  const need = placeNeededBy(run, { ...job, delivery: null })
  const answer = asked ?? (need && windows.askPlace(need))
  if (!answer) return []
  if (answer.isTaken) return [{ gate: 'cap', passed: true }]
  const { cap, freeAt } = answer
  return [{ gate: 'cap', passed: false, cap: cap.id, limit: cap.limit, window: cap.window, until: freeAt }]
}

/** In the order in which they are usually asked. */
const callGates = ['integration', 'address', 'content', 'brake', 'suppression'] as const
type CallGate = (typeof callGates)[number]

interface Tried {
  outcome: StepOutcome
  used?: IntegrationRow | undefined
  recipients?: string[]
  heldBack: HeldBack[]
}

/** Stands in for what is missing. */
const standIn = { email: 'somebody@example.invalid', phone: '+10000000000', text: '-' }

/** The gates that the step's call asks. */
class CallGates {
  readonly #runs: Pick<Runs, 'tools'>
  readonly #at: { run: RunState; job: JobState; now: Date }
  readonly #facts: GateFacts
  readonly #channel: NonNullable<StepKind['channel']>

  constructor(runs: Pick<Runs, 'tools'>, at: { run: RunState; job: JobState; now: Date }, facts: GateFacts) {
    this.#runs = runs
    this.#at = at
    this.#facts = facts
    this.#channel = kindOf(at.job).channel ?? 'email'
  }

  async all(): Promise<Gate[]> {
    const isCode = this.#at.run.workflow.origin === 'external'
    const opened = new Set<CallGate>()
    let tried = await this.#try(opened)
    const first = tried
    let isReached = false
    for (;;) {
      isReached = tried.outcome.kind === 'done' || tried.outcome.kind === 'retry'
      const gate = isReached ? undefined : await this.#closedBy(tried, opened)
      if (gate === undefined || opened.has(gate)) break
      opened.add(gate)
      if (gate === 'suppression') first.heldBack = tried.heldBack
      tried = await this.#try(opened)
    }
    const names = callGates.filter((name) => this.#has(name))
    const gates = names.map((name): Gate => {
      const isClosed = opened.has(name)
      const passed = isClosed ? false : isReached && !(isCode && name === 'content') ? true : null
      return { gate: name, passed, ...this.#about(name, isClosed, tried, first.heldBack) }
    })
    return inOrderOf(gates, [...opened])
  }

  #has(name: CallGate): boolean {
    if (name === 'brake') return this.#channel === 'email' && isCommercial(this.#at.run)
    return this.#channel !== 'in_app' || name === 'integration' || name === 'content'
  }

  /** An address that cannot be written to is found when the content is composed. */
  async #closedBy({ outcome }: Tried, opened: ReadonlySet<CallGate>): Promise<CallGate | undefined> {
    const gate = 'reason' in outcome && outcome.reason ? gateOfReason[outcome.reason] : undefined
    const found = callGates.find((name) => name === gate)
    if (found !== 'content' || opened.has('address') || this.#channel !== 'email') return found
    const { outcome: other } = await this.#try(new Set([...opened, 'address']))
    return 'reason' in other && other.reason && gateOfReason[other.reason] === 'content' ? found : 'address'
  }

  #about(name: CallGate, isClosed: boolean, { used, recipients }: Tried, heldBack: HeldBack[]): Members {
    switch (name) {
      case 'integration': {
        if (isClosed || !used) return { integrationIdentifier: null, providerId: null, health: null }
        const circuit = this.#facts.circuits.find(({ integration_id }) => integration_id === used.id)
        return {
          integrationIdentifier: used.identifier,
          providerId: branded(used.provider_id, this.#runs.tools.brand),
          health: circuit ? circuitState(circuit, this.#at.now) : 'closed',
        }
      }
      case 'address':
        return { value: isClosed ? null : (recipients?.join(', ') ?? null) }
      case 'content':
        return { empty: this.#empty() }
      case 'brake': {
        const { brake } = this.#at.run.workflow
        if (!isClosed || !brake) return {}
        const { since, cause, percent } = brake
        return { since, cause, percent }
      }
      case 'suppression': {
        const [entry] = heldBack
        if (!isClosed || !entry) return {}
        const { suppressionId, reason, scope, since } = entry
        return { suppressionId, reason, scope, since }
      }
    }
  }

  /** What the templates read, nobody has filled and no default stands in for. */
  #empty(): string[] {
    const { run, job, now } = this.#at
    const of = stepRunOf(run, job, now)
    const { data } = situationOf(of)
    const { skip: _, ...texts } = of.values
    const paths = neededIn(stepTemplates(texts, kindOf(job)))
    const isEmpty = (value: unknown) => value === undefined || value === null || value === ''
    const names = paths
      .filter((path) => path.length > 1 && path.every((part) => typeof part === 'string'))
      .map((path) => path.map(String))
      .filter((path) => rootsShown.has(path[0] ?? '') && isEmpty(read(data, path)))
    return [...new Set(names.map((path) => path.join('.')))]
  }

  /** Makes the call, with these gates opened. */
  async #try(opened: ReadonlySet<CallGate>): Promise<Tried> {
    const { job, now } = this.#at
    const run = this.#with(opened)
    const kind = kindOf(job)
    const plain = stepRunOf(run, job, now)
    const given = this.#facts.answers[job.step.stepId]
    const fromCode = given && 'outputs' in given ? { values: given.outputs, isRendered: true } : {}
    const texts = { subject: standIn.text, body: standIn.text, layoutId: null }
    const of: StepRun = {
      ...{ isRepeated: false, ...plain, ...fromCode },
      ...(opened.has('content') ? { values: { ...plain.values, ...texts } } : {}),
    }
    const heldBack: HeldBack[] = []
    const found: Tried = { outcome: { kind: 'call', details: [] }, heldBack }
    const {
      bridge: _,
      taken,
      ...reached
    } = standIns(run, job, {
      ...{ now: () => now, faults: new Faults(), answers: this.#facts.answers, sleep: async () => undefined },
      record: {
        assumed: new Set(),
        attempt: (_run, _job, { integrationIdentifier }) => {
          found.used ??= run.environment.integrations.find(({ identifier }) => identifier === integrationIdentifier)
        },
      },
    })
    const { tools } = this.#runs
    const gate: typeof tools.gate = {
      async pass(sender, recipients, start) {
        if (opened.has('suppression')) return { started: start(endlessTurn) }
        const passed = await tools.gate.pass(sender, recipients, start)
        if ('heldBack' in passed) heldBack.push(...passed.heldBack)
        return passed
      },
    }
    const isAway = opened.has('address') || opened.has('integration')
    const findChats: typeof tools.findChats = isAway
      ? async () => ({ endpoints: [], connections: [] })
      : tools.findChats
    try {
      if (kind.call) found.outcome = await kind.call(of, { ...tools, ...reached, gate, findChats })
      else {
        found.used = run.environment.integrations.find(({ channel }) => channel === this.#channel)
        const begun = kind.begin?.(of)
        if (begun && 'kind' in begun) found.outcome = begun
      }
    } catch (error) {
      found.outcome = failureOf(error, of, nobodyListens)
    }
    const recipients = [...taken.values()].flatMap(({ kept }) => kept.recipients)
    if (recipients.length > 0) found.recipients = [...new Set(recipients)]
    return found
  }

  /** The run with something in the place of what is missing. */
  #with(opened: ReadonlySet<CallGate>): RunState {
    const { run } = this.#at
    const channel = this.#channel
    const isDirect = channel === 'chat' || channel === 'push'
    const isReplaced = opened.has('integration') || (isDirect && opened.has('address'))
    const integrations = isReplaced
      ? [
          ...run.environment.integrations.filter((row) => row.channel !== channel),
          standInIntegration(channel, run.environment.id, askedIdentifier(run.event.overrides, channel)),
        ]
      : run.environment.integrations
    const { subscriber } = run
    const address = opened.has('address') ? { email: standIn.email, phone: standIn.phone } : {}
    const channels = isReplaced && isDirect ? { channels: [] } : {}
    return {
      ...run,
      ...(opened.has('brake') ? { workflow: { ...run.workflow, brake: null } } : {}),
      environment: { ...run.environment, integrations },
      subscriber: { ...subscriber, ...address, ...channels },
    }
  }
}

/** Links are made for each message. */
const rootsShown: ReadonlySet<string> = new Set(['payload', 'subscriber', 'context', 'tenant', 'actor', 'env'])

const sandboxes = { email: 'svc-email', sms: 'svc-sms', push: 'svc-push', chat: 'svc-slack', in_app: 'svc' } as const

/** The sandbox takes every message. */
export function standInIntegration(
  channel: keyof typeof sandboxes,
  environmentId: string,
  identifier = `stand-in-${channel}`,
): IntegrationRow {
  const at = new Date(0)
  return {
    ...{ environment_id: environmentId, id: identifier, identifier, name: identifier, kind: 'delivery', channel },
    ...{ provider_id: sandboxes[channel], credentials: {}, configurations: {}, conditions: [], active: true },
    ...{ is_primary: true, priority: 1_000, connected: false, deleted_at: null, deleted_by: null },
    ...{ created_at: at, updated_at: at },
  }
}

/** The closed ones, in their places, in the order in which they were found. */
function inOrderOf(gates: Gate[], found: readonly GateName[]): Gate[] {
  const names = gates.map(({ gate }) => gate)
  let next = 0
  const order = names.map((name) => (found.includes(name) ? (found[next++] as GateName) : name))
  return order.flatMap((name) => gates.find(({ gate }) => gate === name) ?? [])
}
