// The engine's public face: it accepts triggers, and the queue's tasks do the rest.
import type { TaskList } from 'graphile-worker'
import type { Changes } from '../db/core/changes.ts'
import type { Database, Db } from '../db/core/database.ts'
import type { Secrets } from '../db/core/secrets.ts'
import { EarlyStatistics } from '../db/core/statistics.ts'
import type { WorkflowStep } from '../db/queries/workflows.ts'
import { Delivery } from '../providers/delivery.ts'
import type { DeliveryEvent, InboundText } from '../providers/events.ts'
import type { HttpClient } from '../providers/http-client.ts'
import { CircuitBreaker } from '../steps/delivery/circuit-breaker.ts'
import type { Tracing } from '../tracing.ts'
import { Gate } from './consent/gate.ts'
import { Bell } from './core/bell.ts'
import { Bridge } from './core/bridge.ts'
import { recordCircuits } from './core/circuit-records.ts'
import { FairShare } from './core/fair-share.ts'
import { HealthRecords } from './core/integration-health.ts'
import { Memory } from './core/memory.ts'
import type { Meter } from './core/meter.ts'
import { patientDb } from './core/patience.ts'
import { portsOver } from './core/step-ports.ts'
import { type MailReport, MailReports } from './feedback/mail-reports.ts'
import { type ReceivedMail, Replies, type ReplyOutcome } from './feedback/replies.ts'
import { type Reporter, takeReports } from './feedback/reports.ts'
import { type TextAnswer, type TextReceiver, takeTexts } from './feedback/texts.ts'
import { Tracking, type Visit } from './feedback/tracking.ts'
import { Webhooks } from './feedback/webhooks.ts'
import { type CallReader, OutboxDrain } from './outbox/drain.ts'
import type { Round } from './queue/worker.ts'
import { beginErasure, type ErasureKey, eraseSubscriber } from './retention/erasure.ts'
import { BegunCalls } from './runs/begun-calls.ts'
import { cancelTransaction } from './runs/cancel.ts'
import { type CanceledByKey, cancelByKey, type KeyPlace } from './runs/cancel-by-key.ts'
import { type ChatChanges, changeChats } from './runs/chat-changes.ts'
import { Clocks } from './runs/clock.ts'
import { type CallKey, Deliveries } from './runs/deliver.ts'
import { fanOut, type WalkKey } from './runs/fan-out.ts'
import { Hands } from './runs/hands.ts'
import { HeldWork } from './runs/held-work.ts'
import { lookAtMessages, matchEvents, type NewEvent, type PostedEvent, PostedEvents } from './runs/posted-events.ts'
import { closeErased } from './runs/question-rows.ts'
import {
  type Answered,
  type AnswerRequest,
  answer,
  answerWithin,
  cancelQuestion,
  type QuestionKey,
  takeAnswer,
} from './runs/questions.ts'
import { type FailedJob, redriveJobs } from './runs/redrive.ts'
import { type EngineParts, startRuns } from './runs/start-runs.ts'
import { QueuedWakes } from './runs/store.ts'
import { endWait, queueSoon, wakeDue } from './runs/timers.ts'
import { traceTrigger } from './runs/traces.ts'
import { Triggers } from './runs/trigger.ts'
import type { TriggerRequest, TriggerResult } from './runs/trigger-request.ts'
import { compareDue, type ShadowParts } from './shadow/watch.ts'

interface Surroundings extends Pick<Database, 'pool' | 'db'> {
  /** A pool of its own for cache lookups: they also happen inside transactions, which may hold every other connection. */
  lookups: Db
  /** For locks that last longer than a transaction: connections that no pooler shares. */
  sessions: Database['pool']
  clock: { now(): Date }
  log: EngineParts['log']
  secrets: Secrets
  changes: Changes
  http: HttpClient
  brand: { word: string; toWire(identifier: string): string }
  dedupDays: number
  /** Whether the process that accepts a trigger also runs it. */
  startsAtOnce: boolean
  storeContent: boolean
  /** How long activity is kept where the environment does not say; 0 is forever. */
  activityDays: number
  /** For links in messages. */
  publicUrl: string
  receivesMail: boolean
  mailName?: string | undefined
  tracing?: Tracing | undefined
  meter?: Meter | undefined
}

export class Engine {
  /** For the worker that makes the calls, if this process has one. */
  readonly hands: Hands
  /** Tells workers of new jobs. */
  readonly bell: Bell
  /** Of environments for tests. */
  readonly clocks: Clocks
  readonly #parts: EngineParts
  readonly #triggers: Triggers
  readonly #posted: PostedEvents
  readonly #deliveries: Deliveries
  readonly #heldWork: HeldWork
  readonly #delivery: Delivery
  readonly #webhooks: Webhooks
  readonly #replies: Replies
  readonly #mailReports: MailReports
  readonly #tracking: Tracking
  readonly #erasing: Parameters<typeof eraseSubscriber>[0]
  readonly #circuits: CircuitBreaker
  readonly #shadow: ShadowParts

  constructor(surroundings: Surroundings) {
    const { db, lookups, pool, clock, log, secrets, changes, http, brand, dedupDays, startsAtOnce, storeContent } =
      surroundings
    const { tracing, meter, publicUrl, activityDays } = surroundings
    const memory = new Memory({ db: lookups, secrets, changes, publicUrl, activityDays })
    const signatureHeader = `${brand.word}-signature`
    this.#delivery = new Delivery({ http, clock, brand: brand.word, mailName: surroundings.mailName, tracing })
    this.#erasing = { db, clock, log, secrets, closeQuestions: closeErased }
    this.#shadow = { db, clock, log, secrets, http }
    const begunCalls = new BegunCalls(pool)
    this.bell = new Bell(pool)
    this.hands = new Hands({
      ...{ pool, log, begunCalls },
      call: ({ run, position }, of) => this.#deliveries.deliverHeld(run, position, of),
    })
    const statistics = new EarlyStatistics({ pool, log })
    this.#parts = {
      ...{ pool, memory, secrets, clock, log, hands: this.hands, statistics, tracing, meter },
      ...{ shares: new FairShare(), wakes: new QueuedWakes(), bell: this.bell, dedupDays },
    }
    this.#tracking = new Tracking(this.#parts)
    this.#parts.settleClicks = this.#tracking.settle
    this.#webhooks = new Webhooks({ pool, clock, log, http, secrets, brand, tracing, meter })
    this.#replies = new Replies({ ...this.#parts, http, signatureHeader, toWire: (id) => brand.toWire(id) })
    this.#mailReports = new MailReports({ ...this.#parts, db, secrets })
    this.#posted = new PostedEvents(this.#parts)
    this.#triggers = new Triggers({ ...this.#parts, startsAtOnce })
    this.#circuits = new CircuitBreaker({
      ...{ clock, random: Math.random, elapsed: () => performance.now() },
      onChange: recordCircuits({ db, clock, log }),
    })
    this.#deliveries = new Deliveries({
      ...this.#parts,
      begunCalls,
      bridge: new Bridge({ http, clock, signatureHeader }),
      tools: {
        ...{ secrets, http, clock, log, signatureHeader, meter },
        ...portsOver(patientDb(pool)),
        delivery: this.#delivery,
        circuits: this.#circuits,
        gate: new Gate({ pool, clock, log, begunCalls }),
        health: new HealthRecords({ db, clock, log }),
        chance: Math.random,
        brand: brand.word,
        storesContent: storeContent,
        publicUrl: surroundings.publicUrl,
        receivesMail: surroundings.receivesMail,
      },
    })
    const { sessions } = surroundings
    this.#heldWork = new HeldWork({
      ...{ ...this.#parts, sessions, deliveries: this.#deliveries, delivery: this.#delivery },
      gateAt: (held) => new Gate({ pool, clock: held, log, begunCalls }),
    })
    this.clocks = new Clocks({ pool, sessions, work: this.#heldWork })
  }

  /** Resolves once the trigger is committed. */
  trigger(request: TriggerRequest): Promise<TriggerResult> {
    const { tracing } = this.#parts
    if (!tracing) return this.#triggers.accept(request)
    return traceTrigger(tracing, request, (traced) => this.#triggers.accept(traced))
  }

  /** Resolves once the events are committed; what they end happens behind that. */
  post(environmentId: string, events: NewEvent[]): Promise<PostedEvent[]> {
    return this.#posted.post(environmentId, events)
  }

  /** Carries out calls of the SQL functions in our own database. */
  outbox(read: CallReader): OutboxDrain {
    const cancel = (environmentId: string, transactionId: string) => this.cancel(environmentId, transactionId)
    return new OutboxDrain({ ...this.#parts, triggers: this.#triggers, cancel }, read)
  }

  /** Integrations whose circuit is open in this process. */
  get openCircuits(): number {
    return this.#circuits.openCount
  }

  cancel(environmentId: string, transactionId: string): Promise<boolean> {
    return cancelTransaction(this.#parts, { environmentId, transactionId })
  }

  /** Cancels the runs under way that have this key. */
  cancelByKey(place: KeyPlace): Promise<CanceledByKey> {
    return cancelByKey(this.#parts, place)
  }

  /** Answers a question. Resolves once that is committed. */
  answer(request: AnswerRequest): Promise<Answered> {
    return answer(this.#parts, request)
  }

  /** Resolves within so many milliseconds, once the answer is taken or stored to be taken. */
  answerWithin(request: AnswerRequest, ms: number): Promise<void> {
    return answerWithin(this.#parts, request, ms)
  }

  /** Cancels the run that asks a question. */
  cancelQuestion(key: QuestionKey): Promise<void> {
    return cancelQuestion(this.#parts, key)
  }

  /** Ends the delay or digest in which a run waits. @returns the step that waited, if any did */
  endWait(environmentId: string, notificationId: string): Promise<WorkflowStep | undefined> {
    return endWait(this.#parts, environmentId, notificationId)
  }

  /** Retries jobs that failed for good. @returns the ids of the jobs that will run again */
  redrive(environmentId: string, jobs: FailedJob[]): Promise<string[]> {
    return redriveJobs(this.#parts, environmentId, jobs)
  }

  /** Records delivery reports from a provider. @returns the events whose messages we know */
  report(reporter: Reporter, events: DeliveryEvent[]): Promise<DeliveryEvent[]> {
    return takeReports(this.#parts, reporter, events)
  }

  /** Notes that a link or the image of a message was fetched. Resolves once that is committed. */
  track(visit: Visit): Promise<void> {
    return this.#tracking.take(visit)
  }

  /** Records text messages that people sent. @returns what to answer */
  takeTexts(receiver: TextReceiver, texts: InboundText[]): Promise<TextAnswer[]> {
    return takeTexts(this.#parts, receiver, texts)
  }

  /**
   * Hides a subscriber at once and queues the rest of the erasure. @returns its id; undefined if there is no such subscriber
   */
  erase(environmentId: string, subscriberId: string): Promise<string | undefined> {
    return beginErasure(this.#erasing, environmentId, subscriberId)
  }

  /** Whether a workflow expects replies at this address. */
  awaitsReply(address: string): Promise<boolean> {
    return this.#replies.isKnown(address)
  }

  /** Whether it is an address for mail that comes back: to unsubscribe, bounces, complaints. */
  isReportAddress(address: string): boolean {
    return this.#mailReports.isPlace(address)
  }

  awaitsReport(address: string): Promise<boolean> {
    return this.#mailReports.isKnown(address)
  }

  /** Resolves once what the mail says is committed. */
  takeMailReport(address: string, report: MailReport): Promise<'taken' | 'unknown'> {
    return this.#mailReports.take(address, report)
  }

  /** Accepts mail sent to this address. Resolves once it is committed. */
  takeReply(address: string, mail: ReceivedMail): Promise<ReplyOutcome> {
    return this.#replies.take(address, mail)
  }

  /**
   * Does everything that is due by the engine's clock. The queue calls it on time; a test that moves the clock calls it itself.
   */
  async wake(stopping?: AbortSignal): Promise<number> {
    const done = await wakeDue(this.#parts)
    const told = await Promise.all([this.#webhooks.sendDue(stopping), this.#replies.tellDue(stopping)])
    return told.reduce((sum, count) => sum + count, done)
  }

  /** The tasks that the queue's jobs run. */
  tasks(): TaskList {
    return {
      start_runs: async (payload) => {
        const { events } = payload as { events: Array<[string, string]> }
        await startRuns(
          this.#parts,
          events.map(([environmentId, id]) => ({ environmentId, id })),
        )
      },
      fan_out: (payload) => fanOut(this.#parts, payload as WalkKey),
      match_events: async (payload) => {
        const { events } = payload as { events: Array<[string, string, number?]> }
        await matchEvents(
          this.#parts,
          events.map(([environmentId, id, lane]) => ({ environmentId, id, lane })),
        )
      },
      look_at_messages: (payload) => lookAtMessages(this.#parts, payload as { environmentId: string; runs: string[] }),
      take_answer: (payload) => takeAnswer(this.#parts, payload as AnswerRequest),
      change_chats: (payload) => changeChats({ ...this.#parts, delivery: this.#delivery }, payload as ChatChanges),
      held_work: (payload, { abortSignal }) =>
        this.#heldWork.work((payload as { environmentId: string }).environmentId, abortSignal),
      deliver: async (payload, { job }) => {
        const { calls } = payload as { calls: Array<[string, string, number]> }
        await this.#deliveries.deliver(
          calls.map(([environmentId, id, position]): CallKey => ({ environmentId, id, position })),
          job.locked_by,
        )
      },
      compare_shadow: (_payload, { abortSignal }) => compareDue(this.#shadow, abortSignal),
      erase_subscriber: (payload, { abortSignal }) =>
        eraseSubscriber(this.#erasing, payload as ErasureKey, abortSignal),
      wake: async (_payload, { abortSignal }) => {
        await this.wake(abortSignal)
      },
      send_webhooks: async (_payload, { abortSignal }) => {
        await this.#webhooks.sendDue(abortSignal)
      },
      tell_replies: async (_payload, { abortSignal }) => {
        await this.#replies.tellDue(abortSignal)
      },
      queue_soon: async () => {
        await queueSoon(this.#parts)
        await this.#webhooks.queueSoon()
        await this.#replies.queueSoon()
      },
    }
  }

  /** Stops waiting for providers: whether the messages in flight arrived is unknown. */
  cutOff(): void {
    this.#delivery.cutOff()
  }

  async close(): Promise<void> {
    this.bell.silence()
    await this.#delivery.close()
  }
}

/**
 * Looks every minute for timers that are due soon; by real time, even where a test moves the engine's clock. Whether there are any is
 * asked with minutes to spare, because the clocks of two processes may differ. The first of each is read from an index: a million
 * that are due later cost nothing.
 */
export const engineSchedule: Round[] = [
  {
    ...{ task: 'queue_soon', everyMs: 60_000 },
    when: `least(${['timers WHERE held IS NULL', 'webhook_deliveries', 'inbound_mails']
      .map((waiting) => `(SELECT min(due_at) FROM ${waiting})`)
      .join(', ')}) <= clock.now + interval '5 minutes'`,
  },
]
