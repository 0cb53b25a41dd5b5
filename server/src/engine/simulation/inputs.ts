// What a scenario tells to happen: triggers, cancels, events, answers, what people do with their messages, and changes of
// preferences, people, workflows and providers.
import { comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import { afterWish } from '../../db/core/refusals.ts'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
import { RequestError } from '../../errors.ts'
import { RenderError } from '../../render/limits.ts'
import type { Awaited, HeardEvent } from '../../steps/contract/need.ts'
import { nameOf } from '../../steps/contract/question.ts'
import { keptIn } from '../../steps/kinds/ask.ts'
import { hasButtons, questionTexts } from '../../steps/kinds/ask-copies.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import { splitAttachments } from '../runs/attachments.ts'
import { cancelWaits, isCanceledDigest } from '../runs/canceling.ts'
import type { EventRow } from '../runs/compose.ts'
import { idleStatus, judgePayload, keyFrom } from '../runs/judge.ts'
import { buttonIn } from '../runs/message-facts.ts'
import { PassedOver } from '../runs/passed-over.ts'
import { isOpenCopy } from '../runs/question-copies.ts'
import { recipientIn } from '../runs/question-jobs.ts'
import { answerQuestion } from '../runs/run.ts'
import type { JobState, RunState } from '../runs/run-state.ts'
import { stepRunOf } from '../runs/step-view.ts'
import type { TriggerRequest } from '../runs/trigger-request.ts'
import { type Runs, runsAtOnce } from './runs.ts'
import { type Input, type Marking, type Members, SimulationRefused, type Snapshot } from './scenario.ts'

export class Inputs {
  readonly #runs: Runs
  readonly #snapshot: Snapshot

  constructor(runs: Runs, snapshot: Snapshot) {
    this.#runs = runs
    this.#snapshot = snapshot
  }

  async take(input: Input, index: number): Promise<void> {
    switch (input.type) {
      case 'trigger':
        return this.#trigger(input.request, input.isBroadcast, index)
      case 'refused':
        this.#runs.record.triggers.push({
          ...{ input: index, at: this.#runs.now, transactionId: input.transactionId, status: 'error', runs: 0 },
          ...{ passedOver: [], error: input.error },
        })
        return
      case 'cancel':
        this.#cancel(input)
        return
      case 'event':
        return this.#post(input)
      case 'answer':
        return this.#answerAll(input)
      case 'seen':
      case 'read':
      case 'unread':
      case 'acted':
        return this.#mark(input)
      case 'preferences':
        this.#choose(input)
        return this.#runs.lookAtHeld(input.subscriberId)
      case 'subscriber':
        if (input.isDeleted) this.#runs.people.delete(input.subscriberId)
        else this.#runs.people.say(input.subscriberId, input.set ?? {}, this.#runs.now)
        return this.#runs.lookAtHeld(input.subscriberId)
      case 'workflow':
        this.#change(input)
        return
      case 'fault':
        this.#runs.faults.set(input)
    }
  }

  #choose({ subscriberId, workflowId, ...choice }: Extract<Input, { type: 'preferences' }>): void {
    const { channels } = choice
    const workflow = workflowId === undefined ? undefined : this.#runs.workflows.get(workflowId)
    this.#runs.people.choose(subscriberId, { ...choice, workflowId: workflow?.id ?? workflowId })
    if (!workflow || !channels) return
    const person = this.#runs.people.find(subscriberId)
    const hashes = [comparedAddress('email', person?.email ?? ''), comparedAddress('sms', person?.phone ?? '')].map(
      hashOfAddress,
    )
    const isWanted = ({ subscriber_id, address_hash, channel }: SuppressionRow) =>
      (subscriber_id === subscriberId || hashes.some((hash) => hash.equals(address_hash))) &&
      channels[channel as keyof typeof channels] === true
    this.#runs.suppressions = this.#runs.suppressions.flatMap((entry) =>
      isWanted(entry) ? leftOf(entry, workflow) : [entry],
    )
  }

  #change({ draft, version, active }: Extract<Input, { type: 'workflow' }>): void {
    const { workflow, versions } = this.#snapshot
    const current = this.#runs.workflows.get(workflow.identifier) ?? workflow
    const chosen = draft ?? versions.find((each) => each.version === version) ?? current
    this.#runs.workflows.set(workflow.identifier, {
      ...chosen,
      ...{ id: workflow.id, identifier: workflow.identifier },
      active: active ?? (chosen === current ? current.active : chosen.active),
    })
  }

  async #trigger(request: TriggerRequest, isBroadcast: boolean, index: number): Promise<void> {
    const now = this.#runs.now
    const transactionId = request.transactionId ?? ''
    const told = {
      ...{ input: index, at: now, transactionId, status: 'processed', runs: 0 },
      passedOver: [] as PassedOver['groups'][number][],
    }
    this.#runs.record.triggers.push(told)
    const workflow = this.#runs.workflows.get(request.name)
    if (!workflow) throw new SimulationRefused({ code: 'workflow_not_found', params: { workflowId: request.name } })
    let payload: Members
    try {
      payload = judgePayload(workflow, request)
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      Object.assign(told, { status: 'error', error: { code: error.code, message: error.message } })
      return
    }
    const tenant = request.tenant && this.#runs.people.tenantChoice(request.tenant.identifier, workflow.id)
    const idle = idleStatus(workflow, isBroadcast ? { ...request, recipients: null } : request, tenant)
    if (idle) {
      told.status = idle
      return
    }
    const { attachments, rest } = splitAttachments(payload)
    const row: EventRow = {
      ...{ environment_id: this.#runs.environment.facts.id, id: this.#runs.newId(now), transaction_id: transactionId },
      ...{ workflow_id: workflow.id, workflow_version: workflow.version },
      recipients: isBroadcast ? null : request.recipients,
      ...{ payload: rest, overrides: request.overrides, actor: request.actor ?? null, tenant: request.tenant ?? null },
      ...{ context: request.context ?? null, started_at: now, created_at: now, trace: null, started_by: null },
      cancellation_key: keyOf(request, workflow, rest, now),
    }
    const passedOver = new PassedOver()
    for (const each of request.invalidRecipients ?? []) passedOver.addNamed('invalid_recipient', each)
    told.passedOver = [...passedOver.groups]
    const counted = (runs: number) => {
      told.runs += runs
      told.passedOver = [...passedOver.groups]
    }
    await this.#runs.start(row, { workflow, files: attachments, passedOver, counted })
  }

  #cancel({ transactionId, key, subscriberId }: Extract<Input, { type: 'cancel' }>): void {
    const all = [...this.#runs.record.runs.values()].map(({ run }) => run)
    if (key === undefined) {
      this.#cancelRuns(all.filter((run) => run.transactionId === transactionId))
      return
    }
    const isMeant = ({ event, subscriber }: RunState) =>
      this.#runs.events.get(event.id)?.row.cancellation_key === key &&
      (subscriberId === undefined || subscriber.subscriber_id === subscriberId)
    // Each trigger by itself: one with nothing that waits is left alone.
    const found = all.filter(isMeant)
    for (const id of new Set(found.map(({ event }) => event.id)))
      this.#cancelRuns(found.filter(({ event }) => event.id === id))
  }

  #cancelRuns(runs: RunState[]): void {
    const now = this.#runs.now
    const isCollecting = (id: string | null) =>
      this.#runs.record.runs
        .get(id ?? '')
        ?.run.jobs.some(({ type, status }) => type === 'digest' && status === 'delayed') ?? false
    const canceled = cancelWaits<JobState, RunState>(runs, ({ mergedInto }) => isCollecting(mergedInto), now)
    for (const { run, was } of canceled) if (was === 'merged') this.#runs.windows.leave(run)
    for (const digest of canceled.filter(isCanceledDigest)) {
      const heir = this.#runs.windows.handOver(digest, now)
      if (heir) this.#runs.store(heir)
    }
    for (const run of new Set(canceled.map((each) => each.run))) {
      this.#runs.closeLeft(run)
      this.#runs.record.observe(run, now)
    }
  }

  /** Tells the runs that wait, as many at a time as the engine does. */
  async #post({ name, key, subscriberId, id, payload }: Extract<Input, { type: 'event' }>): Promise<void> {
    const now = this.#runs.now
    if (id !== undefined && this.#runs.windows.posted.some(({ event }) => event.id === id)) return
    const rowId = this.#runs.newId(now)
    const about = { name, key: key ?? null, subscriberId: subscriberId ?? null, payload, createdAt: now.toISOString() }
    const heard: HeardEvent = { rowId, event: { id: id ?? rowId, ...about } }
    this.#runs.windows.posted.push(heard)
    const isAwaited = ({ kind, name: of, value }: Awaited) =>
      of === name && ((kind === 'key' && value === key) || (kind === 'subscriber' && value === subscriberId))
    for (const [index, run] of this.#runs.listeningFor(isAwaited).entries()) {
      await this.#runs.tell(run, heard)
      if (index % runsAtOnce === runsAtOnce - 1) await this.#runs.makeCalls()
    }
  }

  /** As the inbox marks messages. */
  async #mark({ type, subscriberId, transactionId, stepId, action }: Extract<Input, { type: Marking }>): Promise<void> {
    const now = this.#runs.now
    // Who was deleted and came back has a new inbox.
    const person = this.#runs.people.find(subscriberId)
    const found = this.#runs.inbox(
      ({ run, job, row }) =>
        recipientIn(run, job).id === person?.id &&
        (type !== 'acted' || job.asked !== null || buttonIn(row.cta, action ?? 'primary') !== undefined) &&
        (transactionId === undefined || run.transactionId === transactionId) &&
        (stepId === undefined || job.step.stepId === stepId),
    )
    for (const { run, job, marks, row } of found) {
      marks.changedAt = now
      if (type === 'acted' && job.asked && isOpenCopy(row)) await this.#press(run, job, action ?? 'primary')
      if (type === 'acted' && job.asked && marks.read) continue
      if (type === 'acted' && !job.asked) {
        const cta = (row.cta ?? {}) as { action?: Members }
        row.cta = { ...cta, action: { ...cta.action, status: 'done', result: { type: action ?? 'primary' } } }
        // Who presses a button has read the message.
        if (marks.read) continue
      }
      Object.assign(marks, { seen: true, lastSeenAt: now, firstSeenAt: marks.firstSeenAt ?? now })
      if (type === 'read' || type === 'acted') Object.assign(marks, { read: true, lastReadAt: now })
      if (type === 'unread') Object.assign(marks, { read: false, archived: false, lastReadAt: null })
    }
    const changed = new Set(found.map(({ run }) => run))
    for (const run of this.#runs.listeningFor(({ kind }) => kind === 'message')) {
      if (!changed.has(run)) continue
      await this.#runs.tell(run, undefined)
      await this.#runs.makeCalls()
    }
  }

  /** Of the questions that this person was asked, those that take the answer; one that it leads to is not among them. */
  async #answerAll(input: Extract<Input, { type: 'answer' }>): Promise<void> {
    const { subscriberId, transactionId, stepId } = input
    const open = [...this.#runs.record.runs.values()].flatMap(({ run }) =>
      run.jobs
        .filter(
          (job) =>
            (transactionId === undefined || run.transactionId === transactionId) &&
            (stepId === undefined || job.step.stepId === stepId) &&
            isAsked(job, subscriberId),
        )
        .map((job) => ({ run, job })),
    )
    for (const { run, job } of open) await this.#give(run, job, input, 'api')
  }

  async #press(run: RunState, { asked }: JobState, action: 'primary' | 'secondary'): Promise<void> {
    const job = run.jobs.find(({ position }) => position === asked?.of)
    if (!job || !asked) return
    const { answers, freeText } = questionTexts(stepRunOf(run, job, this.#runs.now), run.translator)
    const answer = answers[action === 'primary' ? 0 : 1]?.id
    if (answer === undefined || !hasButtons({ answers, freeText })) return
    await this.#give(run, job, { subscriberId: asked.subscriberId, answer, text: undefined }, 'in_app')
  }

  /** An answer that would be refused changes nothing. */
  async #give(
    run: RunState,
    job: JobState,
    { subscriberId, answer, text }: { subscriberId: string; answer: string; text: string | undefined },
    channel: string,
  ): Promise<void> {
    const now = this.#runs.now
    if (job.status !== 'delayed' || now.toISOString() >= keptIn({ job }).deadline || !(await this.#runs.refresh(run)))
      return
    const { answers, freeText } = questionTexts(stepRunOf(run, job, now), run.translator)
    const label = answers.find(({ id }) => id === answer)?.label
    const said = text?.trim() || null
    if (label === undefined || (freeText?.required === true && said === null)) return
    const person = this.#runs.people.find(subscriberId)
    const by = { subscriberId, name: person ? nameOf(person) : null, channel, createdAt: now.toISOString() }
    await this.#runs.go(run, answerQuestion(run, job, { answer, label, text: said, by }, now))
  }
}

function keyOf(
  { cancellationKey, context }: TriggerRequest,
  { journey }: WorkflowVersion,
  payload: Members,
  now: Date,
): string | null {
  if (cancellationKey !== undefined) return cancellationKey
  try {
    return (
      (journey?.cancellationKey && keyFrom(journey.cancellationKey, { payload, context: context ?? {} }, now)) || null
    )
  } catch (error) {
    if (error instanceof RenderError) return null
    throw error
  }
}

/** A refusal, once its person wants the workflow again. */
function leftOf(entry: SuppressionRow, { identifier, consent_category: category = null }: WorkflowVersion) {
  switch (afterWish(entry, { workflowId: identifier, category })) {
    case 'ends':
      return []
    case 'makes an exception':
      return [{ ...entry, exceptions: [...entry.exceptions, identifier] }]
    case 'stays':
      return [entry]
  }
}

/** Whether it asks this person. */
const isAsked = (job: JobState, subscriberId: string): boolean =>
  job.type === 'ask' &&
  job.status === 'delayed' &&
  keptIn({ job }).asked.some((entry) => entry.subscriberId === subscriberId)
