// What happened in a simulation, and the answer made of it.
import { isoOf } from '../../db/core/step-log.ts'
import type { StoredDetail } from '../../db/core/tables.ts'
import type { NewMessage } from '../../steps/contract/message.ts'
import { detail } from '../../steps/contract/outcome.ts'
import { wireKind, wireType } from '../../steps/contract/wire.ts'
import { branded } from '../../steps/delivery/integration-choice.ts'
import type { keptOf } from '../../steps/delivery/sandbox.ts'
import { armsTo, copyOf, outcomeOf } from '../runs/extension-outcome.ts'
import { lifecycleOf } from '../runs/lifecycle.ts'
import type { PassedOverGroup } from '../runs/passed-over.ts'
import { recipientIn } from '../runs/question-jobs.ts'
import { isEnded, isHeld, type JobState, type RunState } from '../runs/run-state.ts'
import { limits, SimulationRefused } from './scenario.ts'

type Members = Record<string, unknown>

export interface Attempt {
  at: Date
  call: number
  integrationIdentifier: string
  providerId: string
  outcome: string
  next: 'retry' | 'fail_over' | 'give_up' | null
  nextAt: Date | null
  /** Which of the step's messages. */
  messageId: string
}

interface Wait {
  from: Date
  until: Date
  why: 'delay' | 'digest' | 'event' | 'question' | 'schedule' | 'retry'
}

interface StepRecord {
  beganAt: Date | null
  endedAt: Date | null
  /** The status it ended with: an event that a digest has taken can be canceled later. */
  endedAs: JobState['status'] | null
  windowId: string | null
  waits: Wait[]
  isWaiting: boolean
  extensions: number
  attempts: Attempt[]
  messageIds: string[]
}

export interface RunRecord {
  run: RunState
  /** By position. */
  steps: Map<number, StepRecord>
  hasMessages: boolean
  endedAt: Date | null
}

export interface Window {
  id: string
  kind: 'digest' | 'throttle'
  workflowId: string
  stepId: string
  subscriberId: string
  key: string | null
  openedAt: Date
  endsAt: Date | null
  closedAt: Date | null
  closedBy: 'time' | 'cancel' | null
  runIds: string[]
  heldBack: string[]
  eventCount: number
}

export type Kept = ReturnType<typeof keptOf>

const waitsOf: Record<string, Wait['why']> = { digest: 'digest', wait_for_event: 'event', ask: 'question' }

/** An in-app message's marks. */
export interface Marks {
  seen: boolean
  read: boolean
  archived: boolean
  firstSeenAt: Date | null
  lastSeenAt: Date | null
  lastReadAt: Date | null
  changedAt: Date | null
}

export interface MessageRecord {
  run: RunState
  job: JobState
  row: NewMessage
  /** As the provider got it at the last attempt. */
  kept: Kept | undefined
  at: Date
  isTold: boolean
  marks: Marks
  contextKeys: string[]
}

interface TriggerRecord {
  input: number
  at: Date
  transactionId: string
  status: string
  runs: number
  passedOver: PassedOverGroup[]
  error?: { code: string; message: string }
}

interface Entry {
  at: string
  kind: string
  input?: number
  runId?: string
  stepId?: string
  windowId?: string
  messageId?: string
}

const queued = detail('queued').detail

export class PlayRecord {
  readonly runs = new Map<string, RunRecord>()
  readonly windows: Window[] = []
  readonly messages = new Map<string, MessageRecord>()
  readonly triggers: TriggerRecord[] = []
  readonly assumed = new Set<string>()
  /** See `isoTexts`. */
  readonly iso = isoTexts()
  readonly #timeline: Entry[] = []
  #steps = 0
  #bytes = 0
  #attempts = 0

  note(entry: Entry): void {
    this.#timeline.push(entry)
  }

  #noteStep(kind: string, run: RunState, job: JobState, at: Date): void {
    this.#timeline.push({ at: this.iso(at), kind, runId: run.id, stepId: job.step.stepId })
  }

  begin(run: RunState, now: Date): RunRecord {
    if (this.runs.size >= limits.runs) throw tooLarge('runs')
    const record: RunRecord = { run, steps: new Map(), hasMessages: false, endedAt: null }
    this.runs.set(run.id, record)
    this.note({ at: this.iso(now), kind: 'run_began', runId: run.id })
    return record
  }

  stepOf(run: RunState, position: number): StepRecord {
    const steps = this.runs.get(run.id)?.steps
    const known = steps?.get(position)
    if (known) return known
    // The steps of an arm are there once it is taken.
    if (!steps || !run.jobs.some((job) => job.position === position))
      throw new Error('The simulated run has no such step.')
    const made: StepRecord = {
      ...{ beganAt: null, endedAt: null, endedAs: null, windowId: null, waits: [], isWaiting: false, extensions: 0 },
      ...{ attempts: [], messageIds: [] },
    }
    steps.set(position, made)
    return made
  }

  countStep(): void {
    this.#steps += 1
    if (this.#steps > limits.steps) throw tooLarge('steps')
  }

  countBytes(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > limits.bytes) throw tooLarge('bytes')
  }

  attempt(run: RunState, job: JobState, attempt: Attempt): void {
    this.countStep()
    this.#attempts += 1
    this.stepOf(run, job.position).attempts.push(attempt)
    this.#noteStep('attempt', run, job, attempt.at)
  }

  /** Notes what has changed about a run since the last time. */
  observe(run: RunState, now: Date): void {
    const record = this.runs.get(run.id)
    if (!record) return
    for (const job of run.jobs) {
      const step = record.steps.get(job.position) ?? this.stepOf(run, job.position)
      if (isSettled(job, step)) continue
      if (step.beganAt === null && job.details[0]?.detail === queued) {
        this.countStep()
        step.beganAt = now
        this.#noteStep('step_began', run, job, now)
      }
      this.#tellMessages(step, now)
      const timer = run.effects.timers.find(({ position }) => position === job.position)
      if (step.isWaiting && (timer || isEnded(job) || job.status === 'running')) this.endWait(run, job, now)
      if (timer) this.#beginWait(run, job, step, timer.dueAt, now)
      if (isEnded(job) && step.endedAs !== job.status) {
        this.countStep()
        step.endedAt = now
        step.endedAs = job.status
        this.#noteStep('step_ended', run, job, now)
      }
      if (step.endedAs !== null && !isEnded(job)) {
        step.endedAt = null
        step.endedAs = null
      }
    }
    if (run.status === 'processing') record.endedAt = null
    else if (record.endedAt === null) {
      record.endedAt = now
      this.note({ at: this.iso(now), kind: 'run_ended', runId: run.id })
    }
  }

  #beginWait(run: RunState, job: JobState, step: StepRecord, until: Date, now: Date): void {
    const isExtended = job.scheduleExtensions > step.extensions
    step.extensions = job.scheduleExtensions
    const isClosed = isExtended || isHeld(job)
    const why = job.status === 'queued' ? 'retry' : isClosed ? 'schedule' : (waitsOf[job.type] ?? 'delay')
    step.waits.push({ from: now, until, why })
    step.isWaiting = true
    const window = this.windowOf(step.windowId)
    if (window && why !== 'retry') window.endsAt = until
    this.#noteStep('wait_began', run, job, now)
  }

  endWait(run: RunState, job: JobState, now: Date): void {
    const step = this.stepOf(run, job.position)
    if (!step.isWaiting) return
    step.isWaiting = false
    this.#noteStep('wait_ended', run, job, now)
  }

  openWindow(window: Omit<Window, 'id'>): Window {
    const made = { id: `w${this.windows.length + 1}`, ...window }
    this.windows.push(made)
    return made
  }

  windowOf(id: string | null): Window | undefined {
    return id === null ? undefined : this.windows[Number(id.slice(1)) - 1]
  }

  messagesOf(run: RunState): MessageRecord[] {
    const record = this.runs.get(run.id)
    return record ? this.#messagesIn(record) : []
  }

  #messagesIn({ steps, hasMessages }: RunRecord): MessageRecord[] {
    const found: MessageRecord[] = []
    if (!hasMessages) return found
    for (const { messageIds } of steps.values())
      for (const id of messageIds) {
        const message = this.messages.get(id)
        if (message) found.push(message)
      }
    return found
  }

  store(run: RunState, job: JobState, row: NewMessage, now: Date, kept: Kept | undefined): void {
    const known = this.messages.get(row.id)
    this.countBytes(sizeOf(row, kept) - (known ? sizeOf(known.row, known.kept) : 0))
    if (known) {
      Object.assign(known, { row: { ...known.row, ...row }, kept: kept ?? known.kept, at: now })
      return
    }
    const marks = {
      ...{ seen: false, read: false, archived: false },
      ...{ firstSeenAt: null, lastSeenAt: null, lastReadAt: null, changedAt: null },
    }
    this.messages.set(row.id, { run, job, row, kept, at: now, isTold: false, marks, contextKeys: run.contextKeys })
    this.stepOf(run, job.position).messageIds.push(row.id)
    const record = this.runs.get(run.id)
    if (record) record.hasMessages = true
  }

  /** A message that will be tried again is not told of yet. */
  #tellMessages({ messageIds }: StepRecord, now: Date): void {
    for (const id of messageIds) {
      const message = this.messages.get(id)
      if (!message || message.isTold || message.job.status === 'queued') continue
      message.isTold = true
      const { run, job } = message
      this.note({ at: this.iso(now), kind: 'message', runId: run.id, stepId: job.step.stepId, messageId: id })
    }
  }

  answer({ startAt, endAt, horizonAt, isCutOff, hasDetails, brand }: Ending): Members {
    const showing: Showing = { names: new Map(), shown: (providerId) => branded(providerId, brand), iso: this.iso }
    const { names, iso } = showing
    const about = { ...showing, hasDetails, brand }
    const messages = [...this.messages.values()].sort((a, b) => a.at.getTime() - b.at.getTime())
    for (const { row } of messages) names.set(row.id, `m${names.size + 1}`)
    for (const entry of this.#timeline)
      if (entry.messageId !== undefined) entry.messageId = names.get(entry.messageId) ?? ''
    const runs = [...this.runs.values()]
    const reasons: Record<string, number> = {}
    const sent: Record<string, number> = {}
    for (const { run } of runs)
      for (const { reason } of run.jobs) if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + 1
    for (const { row } of messages) if (row.status === 'sent') sent[row.channel] = (sent[row.channel] ?? 0) + 1
    for (const window of this.windows)
      if (window.kind === 'throttle' && window.endsAt !== null && window.endsAt <= horizonAt)
        Object.assign(window, { closedAt: window.endsAt, closedBy: 'time' })
    return {
      startAt,
      endAt,
      stoppedBy: isCutOff ? 'horizon' : 'nothing_left',
      triggers: this.triggers.map((trigger) => ({ ...trigger, at: iso(trigger.at) })),
      runs: runs.map((record) => shownRun(record, this.#messagesIn(record), about)),
      windows: this.windows,
      messages: messages.map((message) => shownMessage(message, showing)),
      timeline: this.#timeline,
      totals: {
        triggers: this.triggers.length,
        runs: runs.length,
        messages: sent,
        reasons,
        attempts: this.#attempts,
      },
      waiting: isCutOff
        ? runs.flatMap(({ run }) =>
            run.jobs.flatMap((job) =>
              job.dueAt === null || isEnded(job) ? [] : [{ runId: run.id, stepId: job.step.stepId, until: job.dueAt }],
            ),
          )
        : [],
      assumed: [...this.assumed].map((stepId) => ({ stepId })),
    }
  }
}

/** Nothing has happened to it, or nothing will: of a run with many steps, that is true of nearly all at any time. */
const isSettled = (job: JobState, { beganAt, endedAs, isWaiting, messageIds }: StepRecord): boolean =>
  messageIds.length === 0 &&
  !isWaiting &&
  (job.status === 'pending' ? beganAt === null && endedAs === null && job.details.length === 0 : endedAs === job.status)

interface Ending {
  startAt: Date
  endAt: Date
  horizonAt: Date
  isCutOff: boolean
  hasDetails: boolean
  brand: string
}

export const tooLarge = (what: 'runs' | 'steps' | 'bytes') =>
  new SimulationRefused({ code: 'simulation_too_large', params: { what, most: limits[what] } })

const sizeOf = (row: NewMessage, kept: Kept | undefined) =>
  300 +
  (kept?.html ?? row.content ?? '').length +
  (kept?.text ?? '').length +
  (kept ? JSON.stringify(kept.message).length : 0)

interface Showing {
  /** The ids of messages. */
  names: Map<string, string>
  /** A provider as callers know it. */
  shown: (providerId: string) => string
  iso: ReturnType<typeof isoTexts>
}

/** Times as text. Each is made once: an answer has a dozen times for a step, most of them the same, and they cost the most. */
function isoTexts() {
  const texts = new Map<number, string>()
  const latest = { at: new Date(0), text: '' }
  const textOf = (at: Date): string => {
    const ms = at.getTime()
    const known = texts.get(ms)
    if (known !== undefined) return known
    const text = isoOf(at)
    texts.set(ms, text)
    return text
  }
  return (at: Date): string => {
    // Whatever happens at a moment shares it.
    if (at !== latest.at) {
      latest.text = textOf(at)
      latest.at = at
    }
    return latest.text
  }
}

function shownRun(
  { run, steps, endedAt }: RunRecord,
  messages: MessageRecord[],
  { names, shown, iso, brand, hasDetails }: Showing & { brand: string; hasDetails: boolean },
) {
  const jobs = run.jobs.map(({ type, status, reason, mergedInto }) => ({
    type,
    status,
    reason,
    merged_into: mergedInto,
  }))
  const lifecycle = messages.map(({ marks, row }) => ({
    ...{ seen: marks.seen, read: marks.read, archived: marks.archived, snoozed_until: null },
    delivered_at: row.delivered_at ?? null,
  }))
  return {
    id: run.id,
    transactionId: run.transactionId,
    subscriberId: run.subscriber.subscriber_id,
    workflowId: run.workflow.identifier,
    status: run.status,
    deliveryLifecycle: lifecycleOf(jobs, lifecycle),
    mergedInto: run.digestedInto,
    ...(run.event.startedBy ? { startedBy: run.event.startedBy } : {}),
    ...(run.goals?.met ? { goal: run.goals.met } : {}),
    createdAt: iso(run.createdAt),
    endedAt: endedAt && iso(endedAt),
    steps: run.jobs.map((job) => {
      const {
        beganAt,
        endedAt: stepEndedAt,
        windowId,
        waits = [],
        attempts = [],
        messageIds = [],
      } = steps.get(job.position) ?? {}
      return {
        stepId: job.step.stepId,
        type: wireType(job.type, brand),
        ...wireKind(job.type),
        ...armsTo(run.definition.steps, job.step._id),
        ...copyOf(job),
        ...outcomeOf(job),
        status: job.status,
        reason: job.reason,
        error: job.error,
        ...(isHeld(job) && job.dueAt ? { heldUntil: iso(job.dueAt) } : {}),
        beganAt: beganAt && iso(beganAt),
        endedAt: stepEndedAt && iso(stepEndedAt),
        windowId,
        waits: waits.map(({ from, until, why }) => ({ from: iso(from), until: iso(until), why })),
        messageIds: messageIds.map((id) => names.get(id)),
        attempts: attempts.map(({ messageId: _, providerId, ...attempt }) => ({
          ...attempt,
          ...{ at: iso(attempt.at), nextAt: attempt.nextAt && iso(attempt.nextAt), providerId: shown(providerId) },
        })),
        ...(hasDetails ? { details: job.details.map((line) => shownDetail(line, shown)) } : {}),
      }
    }),
  }
}

const shownDetail = (
  { at, detail: text, status, source, providerId, isRetry, raw }: StoredDetail,
  shown: Showing['shown'],
) => ({
  createdAt: at,
  detail: text,
  source: source ?? 'Internal',
  status,
  isTest: false,
  isRetry: isRetry ?? false,
  ...(providerId === undefined ? {} : { providerId: shown(providerId) }),
  ...(raw === undefined ? {} : { raw }),
})

function shownMessage({ run, job, row, kept, at, marks }: MessageRecord, { names, shown, iso }: Showing) {
  const { channel } = row
  const isInApp = channel === 'in_app'
  const address = row.email ?? row.phone ?? undefined
  const integration = run.environment.integrations.find(({ id }) => id === row.integration_id)
  return {
    id: names.get(row.id),
    runId: run.id,
    transactionId: run.transactionId,
    subscriberId: recipientIn(run, job).subscriber_id,
    stepId: job.step.stepId,
    channel,
    at: iso(at),
    status: row.status,
    integrationIdentifier: integration?.identifier ?? null,
    providerId: row.provider_id ? shown(row.provider_id) : null,
    to: kept?.recipients ?? (isInApp ? [recipientIn(run, job).subscriber_id] : address === undefined ? [] : [address]),
    subject: kept ? kept.subject : (row.subject ?? null),
    text: kept ? kept.text : channel === 'email' ? null : (row.content ?? null),
    html: kept ? kept.html : channel === 'email' ? (row.content ?? null) : null,
    ...(isInApp
      ? {
          inApp: {
            ...{ avatar: row.avatar ?? null, cta: row.cta ?? null, data: row.data ?? null },
            ...{ seen: marks.seen, read: marks.read, severity: run.severity, tags: run.workflow.tags },
          },
        }
      : { message: kept?.message ?? {} }),
    ...(row.error_text ? { error: row.error_text } : {}),
  }
}
