// Takes messages to their destinations: calls providers, asks the policy what follows when one fails, and keeps for the next
// attempt what has been achieved. What has been sent is never sent again.
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { DeliveryError, type Exchange } from '../../providers/delivery-error.ts'
import { deliveryProvider } from '../../providers/index.ts'
import type { Message } from '../../providers/provider.ts'
import type { CallTools, CircuitKey, Refusal } from '../contract/call-tools.ts'
import type { NewMessage } from '../contract/message.ts'
import { type Detail, detail, type Reason, type StepOutcome } from '../contract/outcome.ts'
import type { StepRun } from '../contract/step-run.ts'
import { breaksCircuit } from './circuit-breaker.ts'
import { openIntegration, selected } from './integration-choice.ts'
import { type Decision, decide, jittered, policy } from './policy.ts'
import { sandboxFor } from './sandbox.ts'

export interface Destination {
  /** The same in every attempt. */
  key: string
  /** The stored message it belongs to. */
  messageId: string
  /** Those who could take it, the best first. */
  integrations: readonly IntegrationRow[]
  /** Whose server it is, where that is not the provider's. */
  host?: string
  /** What the log says of it beside the provider's answer. */
  told?: Record<string, unknown>
  message(integration: IntegrationRow, attempt: number): Message | Promise<Message>
  /** What is done where the recipient cannot be reached there, now or ever. */
  forget?(error: DeliveryError): Promise<Detail[]>
}

/** How far one destination has come; plain data, kept with the job. */
export interface Progress {
  status: 'waiting' | 'sent' | 'failed'
  startedAt: string
  calls: number
  callsHere: number
  uncertainCalls: number
  /** In a row, for which nothing was asked. */
  waits: number
  /** The integration it is at. */
  integrationId?: string | undefined
  providerId?: string | undefined
  tried: string[]
  /** Those of which nothing is to be expected. */
  refusedBy: string[]
  dueAt?: string | undefined
  /** What the provider calls it. */
  identifier?: string | undefined
  error?: string | undefined
  reason?: Reason | undefined
}

export interface Report {
  /** Of all destinations, those of earlier attempts included. */
  progress: Record<string, Progress>
  /** Those of which there is something new; the others are as an earlier attempt left them. */
  changed: ReadonlySet<string>
  /** Whether there was an earlier attempt, whose record is to be replaced. */
  isContinued: boolean
  details: Detail[]
  /** When something is left to try. */
  retryAt: Date | undefined
}

/** Of one step, side by side; the limit of each integration holds beside this one. */
const callsAtOnce = 8
const longestBusyWaitMs = 30_000

export const progressOf = ({ job }: StepRun): Record<string, Progress> =>
  (job.delivery as { destinations?: Record<string, Progress> } | null)?.destinations ?? {}

/** What the first attempt has to say before anything else. */
export function firstWords({ run, job }: StepRun): Detail[] {
  const [from, to] = [run.workflow.severity, run.severity]
  return job.delivery !== null || from === to ? [] : [detail('severity_overridden', { from, to })]
}

/** Whether an earlier attempt has told of it. */
export const isKnown = (of: StepRun, key: string): boolean => Object.hasOwn(progressOf(of), key)

const begun = (now: Date): Progress => ({
  status: 'waiting',
  startedAt: now.toISOString(),
  calls: 0,
  callsHere: 0,
  uncertainCalls: 0,
  waits: 0,
  tried: [],
  refusedBy: [],
})

/**
 * For another attempt: when the one after it would be, nobody knows yet. Member by member, because a literal that begins with a
 * spread, and is given more members, takes 3 µs instead of 0.05.
 */
const copied = (before: Progress): Progress => ({
  status: before.status,
  startedAt: before.startedAt,
  calls: before.calls,
  callsHere: before.callsHere,
  uncertainCalls: before.uncertainCalls,
  waits: before.waits,
  integrationId: before.integrationId,
  providerId: before.providerId,
  tried: [...before.tried],
  refusedBy: [...before.refusedBy],
  dueAt: undefined,
  identifier: before.identifier,
  error: before.error,
  reason: before.reason,
})

/** What was given up on starts anew; what was sent stays sent. */
export function resetDelivery(delivery: Record<string, unknown> | null, now: Date): Record<string, unknown> | null {
  const known = delivery?.destinations as Record<string, Progress> | undefined
  if (!known) return delivery
  const reset = Object.entries(known).map(([key, each]) => [key, each.status === 'sent' ? each : begun(now)])
  return { ...delivery, destinations: Object.fromEntries(reset) }
}

export async function dispatch(of: StepRun, tools: CallTools, destinations: Destination[]): Promise<Report> {
  const now = tools.clock.now()
  const progress: Record<string, Progress> = Object.assign({}, progressOf(of))
  const details: Detail[] = []
  const open = destinations.filter(({ key }) => {
    const known = progress[key]
    return known === undefined || (known.status === 'waiting' && !(Date.parse(known.dueAt ?? '') > now.getTime()))
  })
  for (let at = 0; at < open.length; at += callsAtOnce) {
    const results = await Promise.all(
      open.slice(at, at + callsAtOnce).map(async (destination) => {
        const one = new Attempt(of, tools, destination, progress[destination.key] ?? begun(now))
        await one.make()
        return [destination.key, one] as const
      }),
    )
    for (const [key, one] of results) {
      progress[key] = one.progress
      details.push(...one.details)
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
    retryAt: waiting.length === 0 ? undefined : new Date(Math.min(...waiting)),
  }
}

/** Whether it has been refused again and waits where it was: nothing that anybody was told of it is different now. */
const isSameWait = (before: Progress | undefined, after: Progress | undefined): boolean =>
  after?.status === 'waiting' && after.waits > 1 && after.integrationId === before?.integrationId

/** One destination in one attempt: as many calls as there are integrations that refuse at once. */
class Attempt {
  readonly #of: StepRun
  readonly #tools: CallTools
  readonly #destination: Destination
  readonly progress: Progress
  readonly details: Detail[] = []

  constructor(of: StepRun, tools: CallTools, destination: Destination, before: Progress) {
    this.#of = of
    this.#tools = tools
    this.#destination = destination
    this.progress = copied(before)
  }

  async make(): Promise<void> {
    const first = this.#current()
    if (this.#of.isRepeated && first && !deliveryProvider(first.provider_id)?.idempotent) {
      // It may have been sent by the attempt that was cut off. Told by the engine already.
      this.#use(first)
      this.#giveUp('outcome_unknown', 'The service stopped during the call; whether the message was taken is unknown')
      return
    }
    for (let integration = first; integration; integration = this.#current()) {
      if (integration.id !== this.progress.integrationId) this.#use(integration)
      if (!(await this.#try(integration))) return
    }
    this.#giveUp('provider_refused', this.progress.error ?? 'No integration takes the message')
  }

  /** The one it is at; else the best that has not refused. */
  #current(): IntegrationRow | undefined {
    const able = this.#able()
    return able.find(({ id }) => id === this.progress.integrationId) ?? able[0]
  }

  #able(): IntegrationRow[] {
    return this.#destination.integrations.filter(({ id }) => !this.progress.refusedBy.includes(id))
  }

  /** Behind the one it is at, from the front again after the last. */
  #others(): IntegrationRow[] {
    const all = this.#destination.integrations
    const at = all.findIndex(({ id }) => id === this.progress.integrationId)
    return [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))].filter(
      ({ id }) => !this.progress.refusedBy.includes(id),
    )
  }

  #use({ id, provider_id }: IntegrationRow): void {
    this.progress.integrationId = id
    this.progress.providerId = provider_id
    this.progress.callsHere = 0
  }

  #moveTo(next: IntegrationRow, error: string): void {
    const from = this.#destination.integrations.find(({ id }) => id === this.progress.integrationId)
    this.#note(detail('failed_over', { from: from?.identifier, to: next.identifier, error }))
    this.#use(next)
    this.details.push(selected(next, this.#of, this.#tools.brand))
  }

  /** @returns whether there is more to try at once */
  async #try(integration: IntegrationRow): Promise<boolean> {
    const { circuits } = this.#tools
    const pass = await circuits.enter(this.#keyOf(integration))
    if (!pass.admitted) return this.#refused(pass)
    const { progress } = this
    progress.calls += 1
    progress.callsHere += 1
    progress.waits = 0
    if (!progress.tried.includes(integration.id)) progress.tried.push(integration.id)
    const began = performance.now()
    const count = (outcome: string) =>
      this.#tools.meter?.called(integration.provider_id, outcome, (performance.now() - began) / 1000)
    try {
      const result = await this.#send(integration)
      pass.succeed()
      count('sent')
      progress.status = 'sent'
      progress.identifier = result.id
      progress.error = undefined
      this.#note(detail('message_sent', { ...result, ...this.#destination.told }))
      return false
    } catch (error) {
      if (!(error instanceof DeliveryError)) {
        pass.release()
        count('internal')
        this.#giveUpFor(error)
        return false
      }
      count(error.code)
      if (breaksCircuit(error.code)) pass.fail(error.message)
      else pass.release()
      return this.#failed(integration, error)
    }
  }

  async #send(integration: IntegrationRow): Promise<{ id: string; date?: string | undefined; exchange?: Exchange }> {
    const { delivery, secrets } = this.#tools
    const provider = deliveryProvider(integration.provider_id)
    if (!provider) throw new DeliveryError('rejected', { says: 'Handler for provider was not found' })
    const message = await this.#destination.message(integration, this.progress.calls)
    const opened = {
      sandbox: sandboxFor(this.#of, this.#tools),
      isDevelopment: this.#of.run.environment.type === 'dev',
      storesContent: this.#tools.storesContent,
      ...openIntegration(integration, secrets),
    }
    const { providerMessageId: id, ...more } = await delivery.send(provider, opened, message)
    return { id, ...more }
  }

  async #failed(integration: IntegrationRow, error: DeliveryError): Promise<boolean> {
    const { progress } = this
    const { clock, random } = this.#tools
    const isIdempotent = deliveryProvider(integration.provider_id)?.idempotent ?? false
    progress.error = error.message
    if (error.mayHaveArrived && !isIdempotent) progress.uncertainCalls += 1
    const others = this.#others()
    const untried = others.find(({ id }) => !progress.tried.includes(id))
    const decision = decide(
      error,
      { ...progress, startedAt: new Date(progress.startedAt) },
      { now: clock.now(), isIdempotent, others: untried ? 'untried' : others.length > 0 ? 'tried' : 'none', random },
    )
    if (error.kind === 'failover' || error.kind === 'credentials') progress.refusedBy.push(integration.id)
    switch (decision.action) {
      case 'fail over':
        if (untried) this.#moveTo(untried, error.message)
        return untried !== undefined
      case 'retry':
        this.#retry(decision, error, others[0])
        return false
      case 'give up':
        this.#giveUp(decision.reason, error.message, error)
        if (error.kind === 'address') this.details.push(...((await this.#destination.forget?.(error)) ?? []))
        return false
    }
  }

  #retry(
    decision: Extract<Decision, { action: 'retry' }>,
    error: DeliveryError,
    next: IntegrationRow | undefined,
  ): void {
    const at = this.#waitFor(decision.afterMs)
    const raw = { ...rawOf(error), attempt: this.progress.calls, nextAttemptAt: at.toISOString() }
    this.#note(detail('retry_planned', raw, { isRetry: true }))
    if (decision.where === 'next' && next) this.#moveTo(next, error.message)
  }

  /** Nothing was asked. Another integration is, where one is to be had; else this waits, which counts as no attempt. */
  #refused({ why, retryAt }: Refusal): boolean {
    const { circuits, clock, random } = this.#tools
    const { progress } = this
    const other = why === 'open' ? this.#others().find((each) => circuits.admits(this.#keyOf(each))) : undefined
    const sentence = why === 'open' ? 'The integration is out of order' : 'The integration has too many calls under way'
    if (other) {
      this.#moveTo(other, sentence)
      return true
    }
    progress.waits += 1
    const untilMs = retryAt.getTime() - clock.now().getTime()
    // Whoever found it hanging twice will find it so again: each look costs as much as a delivery.
    const patienceMs = Math.min(longestBusyWaitMs, untilMs * 4 ** Math.min(progress.waits - 1, 10))
    // Those who wait for the same do not all come back in the same moment.
    const at = this.#waitFor(untilMs + jittered(patienceMs, random))
    if (at.getTime() > Date.parse(progress.startedAt) + policy.budgetMs) {
      this.#giveUp('provider_failed', progress.error ?? sentence)
      return false
    }
    // Said once, not each time.
    if (progress.waits === 1 && why === 'open')
      this.#note(detail('retry_planned', { message: sentence, nextAttemptAt: at.toISOString() }, { isRetry: true }))
    return false
  }

  #waitFor(ms: number): Date {
    const at = new Date(this.#tools.clock.now().getTime() + ms)
    this.progress.dueAt = at.toISOString()
    return at
  }

  #giveUp(reason: Reason, message: string, error?: DeliveryError): void {
    Object.assign(this.progress, { status: 'failed', reason, error: message })
    this.#note(detail('provider_error', error ? rawOf(error) : { message }))
  }

  /** A fault of ours, or of a provider's file: one destination fails, and those beside it are none the wiser. */
  #giveUpFor(error: unknown): void {
    const { run, step } = this.#of
    this.#tools.log.error({ err: error, notificationId: run.id, stepId: step.stepId }, 'a delivery failed unexpectedly')
    this.#giveUp('internal', 'The delivery failed unexpectedly; the log of the service says more')
  }

  #note(line: Detail): void {
    const { providerId, calls } = this.progress
    this.details.push({
      messageId: this.#destination.messageId,
      ...(providerId === undefined ? {} : { providerId }),
      ...(calls > 1 ? { isRetry: true } : {}),
      ...line,
    })
  }

  #keyOf({ id }: IntegrationRow): CircuitKey {
    return {
      environmentId: this.#of.run.environment.id,
      integrationId: id,
      host: this.#destination.host ?? '',
    }
  }
}

function rawOf({ message, code, status, host, exchange }: DeliveryError) {
  return {
    message,
    name: code,
    ...(status === undefined ? {} : { status }),
    ...(host === undefined ? {} : { host }),
    ...(exchange === undefined ? {} : { exchange }),
  }
}

/** A stored message by what became of its destinations. */
export function deliveredMessage(
  { progress }: Report,
  keys: string[],
  errorId: string,
): Pick<NewMessage, 'status' | 'provider_id' | 'integration_id' | 'identifier' | 'error_id' | 'error_text'> {
  const all = keys.flatMap((key) => progress[key] ?? [])
  const sent = all.find(({ status }) => status === 'sent')
  const told = sent ?? all.find(({ status }) => status === 'waiting') ?? all[0]
  const failed = sent ? undefined : told
  return {
    status: sent ? 'sent' : told?.status === 'failed' ? 'error' : 'warning',
    provider_id: told?.providerId ?? null,
    integration_id: told?.integrationId ?? null,
    identifier: sent?.identifier ?? null,
    error_id: failed ? errorId : null,
    error_text: failed?.error ?? null,
  }
}

interface Said {
  details: Detail[]
  messages: NewMessage[]
  /** Where some destinations could not even be tried, because something of the subscriber's is missing. */
  skipped?: { reason: Reason; line: Detail } | undefined
  /** What is said where all have failed. */
  failedLine?: Detail
}

/** What a step with these deliveries comes to: it goes on, is done, was held back, or has failed. */
export function deliveryOutcome(report: Report, { details, messages, skipped, failedLine }: Said): StepOutcome {
  const all = Object.values(report.progress)
  const last = all.find(({ status }) => status === 'sent') ?? all.at(-1)
  const common = {
    details: [...details, ...report.details],
    messages,
    ...(last?.providerId === undefined ? {} : { providerId: last.providerId }),
  }
  const delivery = { destinations: report.progress }
  if (report.retryAt) return { kind: 'retry', at: report.retryAt, delivery, ...common }
  const failed = all.find(({ status }) => status === 'failed')
  const reason = failed?.reason ?? 'no_integration'
  // Of what simply went well, the messages tell enough.
  const isTelling = report.isContinued || all.some(({ calls, status }) => calls > 1 || status === 'failed')
  const kept = isTelling ? { delivery } : {}
  if (all.some(({ status }) => status === 'sent'))
    return { kind: 'done', ...common, ...kept, ...(failed ? { reason } : {}) }
  if (skipped)
    return { kind: 'skip', ...common, ...kept, details: [...common.details, skipped.line], reason: skipped.reason }
  return {
    kind: 'fail',
    ...common,
    ...kept,
    details: [...common.details, ...(failedLine ? [failedLine] : [])],
    reason,
    error: failed?.error ?? 'There is no active integration for what reaches the subscriber',
    stops: false,
  }
}
