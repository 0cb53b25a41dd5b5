// One destination in one attempt: calls providers, and asks the policy what to do after a failure.
import { isSandbox } from '../../db/core/integration-facts.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { DeliveryError, type DeliveryErrorCode, type Exchange } from '../../providers/delivery-error.ts'
import { deliveryProvider } from '../../providers/index.ts'
import type { Message, SendResult, Turn } from '../../providers/provider.ts'
import type { CallTools, ChanceOf, CircuitKey, Refusal } from '../contract/call-tools.ts'
import { type DeadAddress, type Detail, detail, type Reason } from '../contract/outcome.ts'
import type { StepRun } from '../contract/step-run.ts'
import type { HeldBack, Recipients, Sender } from '../contract/suppression.ts'
import { breaksCircuit } from './circuit-breaker.ts'
import { isCommercial, isStillCritical } from './consent-links.ts'
import { openIntegration, selected } from './integration-choice.ts'
import { isMirrored } from './mirrored.ts'
import { type Decision, decide, jittered, policy } from './policy.ts'
import { copied, type Progress } from './progress.ts'
import { recipientsOf, withoutRecipients } from './recipients.ts'
import { sandboxFor } from './sandbox.ts'

const longestBusyWaitMs = 30_000

export interface Destination {
  /** The same in every attempt. */
  key: string
  /** The stored message it belongs to. */
  messageId: string
  /** Those that could deliver it, best first. */
  integrations: readonly IntegrationRow[]
  /** The host of the address, if that is not the provider's. */
  host?: string
  /** Added to the provider's answer in the log. */
  told?: Record<string, unknown>
  message(integration: IntegrationRow, attempt: number): Message | Promise<Message>
  /** What the log says about an integration that the message goes on to. */
  warnings?(integration: IntegrationRow): Detail[]
  /** Called if the recipient cannot be reached there, now or ever. */
  forget?(error: DeliveryError): Promise<Detail[]>
}

/** The call was not made, as its beginning could not be written down. */
class NotStarted extends Error {
  constructor(options: { cause: unknown }) {
    super('The call was not started.', options)
  }
}

/** Nothing was sent, because of these entries of the suppression list. */
interface Withheld {
  heldBack: HeldBack[]
  /** Whether other recipients are left. */
  isLeft: boolean
}

type Taken = Omit<SendResult, 'providerMessageId'> & { id: string; exchange?: Exchange }

/** An answer that says something about the integration, not about this one message or the network. */
const isRefusal = ({ kind }: DeliveryError): boolean => kind === 'credentials' || kind === 'failover'

/** Nothing arrives there until somebody corrects the host, the port or the certificate. Other failures may pass by themselves. */
const unreachable: ReadonlySet<DeliveryErrorCode> = new Set<DeliveryErrorCode>([
  'host_unknown',
  'connection_failed',
  'certificate_refused',
])
const isUnreachable = ({ code }: DeliveryError): boolean => unreachable.has(code)

/** Whether the provider drops repetitions. */
const isIdempotent = ({ provider_id }: IntegrationRow): boolean => deliveryProvider(provider_id)?.idempotent ?? false

/** One destination in one attempt: a call to each integration until one does not refuse at once. */
export class Attempt {
  readonly #of: StepRun
  readonly #tools: CallTools
  readonly #destination: Destination
  readonly #among: Destination[]
  readonly progress: Progress
  readonly details: Detail[] = []
  readonly dead: DeadAddress[] = []
  /** Whom the last call was to reach. */
  #reaching: Recipients | undefined
  /** Addresses on the suppression list. */
  readonly #heldBack = new Set<string>()

  constructor(
    of: StepRun,
    tools: CallTools,
    { destination, among }: { destination: Destination; among: Destination[] },
    before: Progress,
  ) {
    this.#of = of
    this.#tools = tools
    this.#destination = destination
    this.#among = among
    this.progress = copied(before)
  }

  async make(): Promise<void> {
    const first = this.#current()
    if (this.#of.isRepeated && first && !isIdempotent(first) && !this.#mayRepeat(first)) return
    for (let integration = first; integration; integration = this.#current()) {
      if (integration.id !== this.progress.integrationId) this.#use(integration)
      if (!(await this.#try(integration))) return
    }
    this.#giveUp('provider_refused', this.progress.error ?? 'No integration accepted the message')
  }

  /** After an attempt that was cut off, and may have sent it. The engine has logged that. */
  #mayRepeat(integration: IntegrationRow): boolean {
    const { progress } = this
    if (integration.id !== progress.integrationId) this.#use(integration)
    progress.calls += 1
    progress.callsHere += 1
    progress.uncertainCalls += 1
    if (!this.#holds(integration) && progress.uncertainCalls < policy.mostUncertainCalls) return true
    this.#giveUp('outcome_unknown', detail('outcome_unknown').detail)
    return false
  }

  /** Whether a message that may have arrived is not sent again. The step's choice goes before the integration's. */
  #holds({ configurations }: IntegrationRow): boolean {
    return (this.#of.step.onUnknown ?? configurations.onUnknown) === 'hold'
  }

  /** The integration it is at; else the best that has not refused. */
  #current(): IntegrationRow | undefined {
    const able = this.#able()
    return able.find(({ id }) => id === this.progress.integrationId) ?? able[0]
  }

  #able(): IntegrationRow[] {
    return this.#destination.integrations.filter(({ id }) => !this.progress.refusedBy.includes(id))
  }

  /** After the one it is at, wrapping around to the first. */
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

  #moveTo(next: IntegrationRow, error: DeliveryError | string): void {
    const from = this.#destination.integrations.find(({ id }) => id === this.progress.integrationId)
    const why = typeof error === 'string' ? { error } : { error: error.message, ...rawOf(error) }
    this.#note(detail('failed_over', { from: from?.identifier, to: next.identifier, ...why }))
    if (from) this.#tools.meter?.failedOver(from.provider_id, typeof error === 'string' ? 'paused' : error.code)
    this.#use(next)
    this.details.push(selected(next, this.#of, this.#tools.brand), ...(this.#destination.warnings?.(next) ?? []))
  }

  /** @returns whether there is more to try at once */
  async #try(integration: IntegrationRow): Promise<boolean> {
    const { circuits } = this.#tools
    const pass = await circuits.enter(this.#keyOf(integration), this.#of.beginning?.isWritten ?? false)
    if (!pass.admitted) return this.#refused(pass)
    const { progress } = this
    const before = { calls: progress.calls, callsHere: progress.callsHere, tried: [...progress.tried] }
    progress.calls += 1
    progress.callsHere += 1
    progress.waits = 0
    if (!progress.tried.includes(integration.id)) progress.tried.push(integration.id)
    const began = performance.now()
    const count = (outcome: string) =>
      this.#tools.meter?.called(integration.provider_id, outcome, (performance.now() - began) / 1000)
    try {
      const result = await this.#send(integration)
      if ('heldBack' in result) {
        pass.release()
        Object.assign(progress, before)
        return this.#holdBack(result)
      }
      pass.succeed()
      this.#tools.health.sent(this.#keyOf(integration))
      count('sent')
      progress.status = 'sent'
      progress.identifier = result.id
      progress.place = result.place
      progress.error = undefined
      const { refusedRecipients, place: _, ...told } = result
      this.#note({ ...detail('message_sent', { ...told, ...this.#destination.told }), ...this.#toSeveral() })
      if (refusedRecipients) {
        const recipients = refusedRecipients.map(({ address, says }) => ({ address, says }))
        this.#note(detail('recipients_refused', { recipients }))
        this.#bury(refusedRecipients.filter(({ isDead }) => isDead).map(({ address }) => address))
      }
      if (progress.uncertainCalls > 0) this.#note(detail('maybe_twice'))
      return false
    } catch (error) {
      if (error instanceof NotStarted) {
        pass.release()
        throw error.cause
      }
      if (!(error instanceof DeliveryError)) {
        pass.release()
        count('internal')
        this.#giveUpFor(error)
        return false
      }
      count(error.code)
      if (isRefusal(error) || (isUnreachable(error) && this.#destination.host === undefined))
        this.#tools.health.refused(this.#keyOf(integration), error)
      if (breaksCircuit(error.code)) pass.fail(error.message)
      else pass.release()
      return this.#failed(integration, error)
    }
  }

  /** One call, unless somebody it would reach is on the suppression list. */
  async #send(integration: IntegrationRow): Promise<Taken | Withheld> {
    const { delivery, secrets } = this.#tools
    const provider = deliveryProvider(integration.provider_id)
    if (!provider) throw new DeliveryError('rejected', { says: 'Handler for provider was not found' })
    if (isMirrored(this.#of) && !isSandbox(integration))
      throw new Error('A run whose trigger was passed on must not reach a provider.')
    const whole = await this.#destination.message(integration, this.progress.calls)
    const message = withoutRecipients(whole, this.#heldBack)
    if (!message) return { heldBack: [], isLeft: false }
    this.#reaching = recipientsOf(message)
    let heldBack: HeldBack[] | undefined
    let notStarted: NotStarted | undefined
    const opened = {
      sandbox: sandboxFor(this.#of, this.#tools),
      isDevelopment: this.#of.run.environment.type === 'dev',
      storesContent: this.#tools.storesContent,
      start: async <T>(request: (turn: Turn) => Promise<T>): Promise<T> => {
        const { beginning } = this.#of
        const sender = senderOf(this.#of)
        const passed = await this.#tools.gate
          .pass(sender, this.#reaching ?? recipientsOf(message), request, beginning)
          .catch((cause: unknown) => {
            if (beginning && !beginning.isWritten) notStarted = new NotStarted({ cause })
            throw cause
          })
        if ('started' in passed) return passed.started
        heldBack = passed.heldBack
        throw new DeliveryError('held_back')
      },
      ...openIntegration(integration, secrets),
    }
    try {
      const { providerMessageId: id, ...more } = await delivery.send(provider, opened, message)
      return { id, ...more }
    } catch (error) {
      // A provider may have made it a failure of its own.
      if (notStarted) throw notStarted
      if (heldBack === undefined) throw error
      for (const { address } of heldBack) this.#heldBack.add(address)
      return { heldBack, isLeft: withoutRecipients(message, this.#heldBack) !== undefined }
    }
  }

  /** @returns whether others are left to send it to */
  #holdBack({ heldBack, isLeft }: Withheld): boolean {
    const channel = this.#of.step.type
    for (const { suppressionId, reason, scope, since } of heldBack)
      this.#note(detail('suppressed', { channel, reason, scope, suppressionId, since: since.toISOString() }))
    if (!isLeft) Object.assign(this.progress, { status: 'failed', reason: 'suppressed', error: 'suppressed' })
    return isLeft
  }

  async #failed(integration: IntegrationRow, error: DeliveryError): Promise<boolean> {
    const { progress } = this
    const { clock } = this.#tools
    const dropsRepeats = isIdempotent(integration)
    progress.error = error.message
    // Of several recipients, the provider has not said which one.
    if (error.isDead && this.#reaching?.addresses.length === 1) this.#bury(this.#reaching.addresses)
    if (error.mayHaveArrived && !dropsRepeats) progress.uncertainCalls += 1
    const others = this.#others()
    const untried = others.find(({ id }) => !progress.tried.includes(id))
    const decision = decide(
      error,
      { ...progress, startedAt: new Date(progress.startedAt) },
      {
        ...{
          now: clock.now(),
          random: this.#chance(progress.calls),
          isIdempotent: dropsRepeats,
          holdsUnknown: this.#holds(integration),
        },
        others: untried ? 'untried' : others.length > 0 ? 'tried' : 'none',
      },
    )
    if (error.kind === 'failover' || error.kind === 'credentials') progress.refusedBy.push(integration.id)
    switch (decision.action) {
      case 'fail over':
        if (untried) this.#moveTo(untried, error)
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

  /** Nothing will be sent to these any more. */
  #bury(addresses: readonly string[]): void {
    const { channel, addresses: all } = this.#reaching ?? { channel: undefined, addresses: [] }
    if (channel !== 'email' && channel !== 'sms') return
    const about = { channel, messageId: this.#destination.messageId, integrationId: this.progress.integrationId }
    for (const address of addresses) this.dead.push({ ...about, address, isOnly: all.length === 1 })
  }

  #retry(
    decision: Extract<Decision, { action: 'retry' }>,
    error: DeliveryError,
    next: IntegrationRow | undefined,
  ): void {
    const at = this.#waitFor(decision.afterMs)
    const raw = { ...rawOf(error), attempt: this.progress.calls, nextAttemptAt: at.toISOString() }
    this.#note(detail('retry_planned', raw, { isRetry: true }))
    if (decision.where === 'next' && next) this.#moveTo(next, error)
  }

  /** No call was made. Uses another integration if one is available; else waits, which does not count as an attempt. */
  #refused({ why, retryAt }: Refusal): boolean {
    const { circuits, clock } = this.#tools
    const { progress } = this
    const other = why === 'open' ? this.#others().find((each) => circuits.admits(this.#keyOf(each))) : undefined
    const sentence =
      why === 'open' ? 'The integration keeps failing and is paused' : 'The integration has too many calls in flight'
    if (other) {
      this.#moveTo(other, sentence)
      return true
    }
    progress.waits += 1
    const untilMs = retryAt.getTime() - clock.now().getTime()
    // If it hung twice, it will probably hang again: each retry costs as much as a delivery.
    const patienceMs = Math.min(longestBusyWaitMs, untilMs * 4 ** Math.min(progress.waits - 1, 10))
    // Jitter, so that all who wait for the same do not come back in the same moment.
    const at = this.#waitFor(untilMs + jittered(patienceMs, this.#chance(`w${progress.waits}`)))
    if (at.getTime() > Date.parse(progress.startedAt) + policy.budgetMs) {
      this.#giveUp('provider_failed', progress.error ?? sentence)
      return false
    }
    // Logged once, not each time.
    if (progress.waits === 1 && why === 'open')
      this.#note(detail('retry_planned', { message: sentence, nextAttemptAt: at.toISOString() }, { isRetry: true }))
    return false
  }

  /** Whom the call was for, unless that was the message's only address: a report will name one of them. */
  #toSeveral(): Pick<Detail, 'recipients'> {
    const { channel, addresses } = this.#reaching ?? { channel: undefined, addresses: [] }
    const isOne = addresses.length === 1 && this.#heldBack.size === 0
    return isOne || (channel !== 'email' && channel !== 'sms') ? {} : { recipients: [...addresses] }
  }

  #chance(call: ChanceOf['call']): () => number {
    const { run, step } = this.#of
    const destination = () => this.#among.indexOf(this.#destination)
    return () => this.#tools.chance({ run, stepId: step.stepId, destination: destination(), call })
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

  /** A bug of ours, or in a provider's file: one destination fails, and the others are not affected. */
  #giveUpFor(error: unknown): void {
    const { run, step } = this.#of
    this.#tools.log.error({ err: error, notificationId: run.id, stepId: step.stepId }, 'a delivery failed unexpectedly')
    this.#giveUp('internal', 'The delivery failed unexpectedly; see the log of the service')
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

const senderOf = ({ run }: StepRun): Sender => ({
  environmentId: run.environment.id,
  workflowId: run.workflow.identifier,
  category: run.workflow.consent_category ?? null,
  messageClass: isCommercial(run) ? 'commercial' : 'transactional',
  isCritical: isStillCritical(run),
})
