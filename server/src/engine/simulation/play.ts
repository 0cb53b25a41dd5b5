// Plays a scenario: the engine's own run machine and steps, with a clock that jumps from one thing to the next, and everything
// stored kept in memory.
import { comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import { afterWish } from '../../db/core/refusals.ts'
import { mergedFields } from '../../db/core/subscriber-fields.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
import { RequestError } from '../../errors.ts'
import { RenderError } from '../../render/limits.ts'
import { noTranslations, translatorFor } from '../../render/translations.ts'
import type {
  Answer,
  Awaited,
  HeardEvent,
  Need,
  Progress,
  StartWorkflow,
  UpdateSubscriber,
} from '../../steps/contract/need.ts'
import { nameOf } from '../../steps/contract/question.ts'
import type { EnvironmentFacts, StepRun } from '../../steps/contract/step-run.ts'
import { placesOf } from '../../steps/contract/tree.ts'
import { keptIn } from '../../steps/kinds/ask.ts'
import { hasButtons, questionTexts } from '../../steps/kinds/ask-copies.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import { onDuty } from '../core/rota.ts'
import { type Attachment, splitAttachments } from '../runs/attachments.ts'
import { afterCall, type CallResult, failureOf, makeCall } from '../runs/call.ts'
import { cancelWaits, endOrphan, isCanceledDigest } from '../runs/canceling.ts'
import {
  contextKeysOf,
  type EventRow,
  isoDates,
  newRun,
  type PreparedEvent,
  personOf,
  preferencesFor,
  resultsOf,
} from '../runs/compose.ts'
import { idleStatus, judgePayload, judgeStart, keyFrom } from '../runs/judge.ts'
import { directOf, isWide, type Reached, reach } from '../runs/members.ts'
import { buttonIn } from '../runs/message-facts.ts'
import { PassedOver } from '../runs/passed-over.ts'
import { closedCopy, isOpenCopy } from '../runs/question-copies.ts'
import { recipientIn } from '../runs/question-jobs.ts'
import { advance, answerQuestion, endByFault, hearAll, wakeUp } from '../runs/run.ts'
import { isEnded, type JobState, newJob, noEffects, type RunState, StepFault } from '../runs/run-state.ts'
import { stepRunOf } from '../runs/step-view.ts'
import type { TriggerRequest } from '../runs/trigger-request.ts'
import { Hang, noteNext } from './calls.ts'
import { DueList } from './due-list.ts'
import { People } from './people.ts'
import { type Kept, type MessageRecord, PlayRecord } from './record.ts'
import { type Input, type Marking, type Members, type Scenario, SimulationRefused, type Snapshot } from './scenario.ts'
import { Faults, standIns } from './stand-ins.ts'
import { type Brand, type CommonTools, commonTools, nobodyListens } from './tools.ts'
import { noWindows, type OpenWindows, Windows } from './windows.ts'

/** Told of an event, or begun for members of a topic, before anything else happens, as in the engine. */
const runsAtOnce = 500

/** Whatever ends by itself: a step's wait, or a call that hangs. */
type Due = { run: RunState; position: number; dueAt: number } | { resume(): Promise<void> }

/** How an accepted trigger is started. */
interface Starting {
  workflow: WorkflowVersion
  files: Attachment[]
  passedOver: PassedOver
  /** Told how many runs have begun. */
  counted?: ((runs: number) => void) | undefined
}

/** The answer, but for what the caller's request adds. */
export async function play(scenario: Scenario, snapshot: Snapshot, brand: Brand): Promise<Members> {
  return new Play(scenario, snapshot, brand).all()
}

/** A run that waits in a digest, as it is stored. */
export interface CollectingRun {
  id: string
  event: EventRow
  definition: WorkflowVersion
  jobs: Array<Partial<JobState> & Pick<JobState, 'position'>>
}

/** What there is before the first input, beside what is stored about people and workflows. */
export interface Beginning {
  open: OpenWindows
  collecting: CollectingRun[]
}

export class Play {
  readonly #scenario: Scenario
  readonly #snapshot: Snapshot
  readonly record = new PlayRecord()
  readonly #people: People
  readonly #environment: PreparedEvent['environment']
  readonly tools: CommonTools
  readonly #faults = new Faults()
  readonly #due = new DueList<Due>()
  readonly windows: Windows
  readonly #events = new Map<string, { row: EventRow; files: Attachment[] }>()
  /** What triggers find, by identifier. */
  readonly #workflows = new Map<string, WorkflowVersion>()
  readonly #transactions = new Set<string>()
  /** What runs wait for beside their time. */
  readonly #listening = new Map<RunState, Map<number, Awaited[]>>()
  /** Calls to be made before anything else happens, in their order. */
  readonly #calls: Array<{ run: RunState; position: number }> = []
  /** What steps have begun elsewhere. */
  readonly #later: Array<() => Promise<void>> = []
  /** What providers got, by message. */
  readonly #kept = new Map<string, Kept>()
  #suppressions: SuppressionRow[]
  readonly #collecting: CollectingRun[]
  /** Told of each step whose turn has come, before any of its calls is made. */
  watch: ((run: RunState, job: JobState, now: Date) => Promise<void>) | undefined
  readonly #watched = new Set<JobState>()
  #now: Date
  #ids = 0

  constructor(scenario: Scenario, snapshot: Snapshot, brand: Brand, beginning?: Beginning) {
    this.#scenario = scenario
    this.#suppressions = snapshot.suppressions
    this.#collecting = beginning?.collecting ?? []
    this.windows = new Windows(this.record, () => this.#now, beginning?.open ?? noWindows())
    this.#snapshot = snapshot
    this.#now = new Date(scenario.startAt)
    for (const workflow of [...snapshot.others, snapshot.workflow]) this.#workflows.set(workflow.identifier, workflow)
    const integrations = scenario.integrations
      ? this.#invented(scenario.integrations)
      : snapshot.environment.integrations
    const facts: EnvironmentFacts = {
      ...snapshot.environment,
      integrations,
      signing: { keysFor: () => [''] },
      webhooks: new Set(),
      // A link in a simulated message opens nothing.
      answerLink: () => `${brand.publicUrl.replace(/\/+$/, '')}/a/preview`,
    }
    this.#environment = {
      facts,
      translator: async (type, { id, is_translation_enabled }, locale) => {
        const group = snapshot.translations[`${type} ${id}`]
        return is_translation_enabled && group ? translatorFor(group, locale) : noTranslations
      },
    }
    this.#people = new People({
      ...{ scenario, snapshot, integrations, newId: this.#newId, startAt: this.#now },
      workflowId: (identifier) => this.#workflows.get(identifier)?.id,
    })
    this.tools = commonTools({
      ...{ scenario, snapshot, brand, people: this.#people, now: () => this.#now },
      suppressions: () => this.#suppressions,
      inbox: (matches) => this.#inbox(matches),
      filesOf: (eventId) => this.#events.get(eventId)?.files ?? [],
      translator: this.#environment.translator,
    })
  }

  async all(): Promise<Members> {
    const { startAt, horizonMs, hasDetails } = this.#scenario
    for (const each of this.#collecting) await this.#resume(each)
    const horizonAt = startAt + horizonMs
    const inputs = [...this.#scenario.inputs.entries()].sort(([, a], [, b]) => a.at - b.at)
    let last = startAt
    for (let place = 0; ; ) {
      const input = inputs[place]
      const due = this.#nextDue()
      // At one moment, waits end before inputs happen.
      if (due !== undefined && due <= (input?.[1].at ?? Number.POSITIVE_INFINITY)) {
        if (due > horizonAt) break
        this.#now = new Date(due)
        last = due
        await this.#end(this.#due.take() as Due)
        await this.#makeCalls()
      } else if (input) {
        last = input[1].at
        this.#now = new Date(last)
        this.record.note({ at: this.record.iso(this.#now), kind: 'input', input: input[0] })
        await this.#take(input[1], input[0])
        await this.#makeCalls()
        place += 1
      } else break
    }
    const isCutOff = this.#nextDue() !== undefined
    const ending = { startAt: new Date(startAt), endAt: new Date(isCutOff ? horizonAt : last), isCutOff, hasDetails }
    return {
      ...this.record.answer({ ...ending, horizonAt: new Date(horizonAt), brand: this.tools.brand }),
      seed: this.#scenario.seed,
    }
  }

  /** Takes up a run that collects for a digest. */
  async #resume({ id, event: row, definition, jobs }: CollectingRun): Promise<void> {
    this.#events.set(row.id, { row, files: [] })
    const recipient = directOf(row)
      .flatMap(({ subscriberId }) => this.#people.find(subscriberId) ?? [])
      .at(0)
    if (!recipient) return
    const prepared = { facts: this.#people.factsOf(row), contextKeys: contextKeysOf(row.context) }
    const event = { ...prepared, row, environment: this.#environment, definition }
    const run = await newRun(event, recipient, { now: this.#now, newId: this.#newId })
    run.id = id
    // Those of arms that it has entered, too.
    const places = placesOf(definition.steps)
    run.jobs = jobs.flatMap((stored) => {
      const place = places.find(({ position }) => position === stored.position)
      return place
        ? [{ ...newJob(place.step, stored.position, { now: this.#now, newId: this.#newId }), ...stored }]
        : []
    })
    run.results = resultsOf(run.jobs)
    const job = run.jobs.find(({ type, status }) => type === 'digest' && status === 'delayed')
    if (!job?.dueAt) return
    this.record.begin(run, this.#now)
    this.windows.resume(run, job)
    this.#due.add(job.dueAt.getTime(), { run, position: job.position, dueAt: job.dueAt.getTime() })
  }

  /** Passes over waits that were canceled. */
  #nextDue(): number | undefined {
    for (;;) {
      const { next } = this.#due
      if (next === undefined || this.#isValid(this.#due.first)) return next
      this.#due.take()
    }
  }

  #isValid(due: Due | undefined): boolean {
    return due !== undefined && ('resume' in due || isStillDue(due))
  }

  readonly #newId = (now: Date): string => {
    this.#ids += 1
    const seconds = Math.floor(now.getTime() / 1000)
    return seconds.toString(16).padStart(8, '0') + this.#ids.toString(16).padStart(16, '0')
  }

  #invented(given: NonNullable<Scenario['integrations']>): IntegrationRow[] {
    const { id: environment_id, integrations } = this.#snapshot.environment
    const inApp = integrations.filter(({ channel }) => channel === 'in_app')
    const row = (each: (typeof given)[number]): IntegrationRow => ({
      ...each,
      ...{ environment_id, id: this.#newId(this.#now), name: each.identifier, kind: 'delivery' },
      // Nobody is called, so any sender does.
      ...{ credentials: { from: 'no-reply@simulation.invalid' }, configurations: {}, active: true, connected: false },
      ...{ deleted_at: null, deleted_by: null, created_at: this.#now, updated_at: this.#now },
    })
    const always = {
      identifier: 'in-app',
      channel: 'in_app',
      provider_id: 'svc',
      is_primary: false,
      priority: 0,
      conditions: [],
    }
    return [...(inApp.length > 0 ? inApp : [row(always)]), ...given.map(row)]
  }

  // ---- Inputs

  async #take(input: Input, index: number): Promise<void> {
    switch (input.type) {
      case 'trigger':
        return this.#trigger(input.request, input.isBroadcast, index)
      case 'refused':
        this.record.triggers.push({
          ...{ input: index, at: this.#now, transactionId: input.transactionId, status: 'error', runs: 0 },
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
        return this.#lookAtHeld(input.subscriberId)
      case 'subscriber':
        if (input.isDeleted) this.#people.delete(input.subscriberId)
        else this.#people.say(input.subscriberId, input.set ?? {}, this.#now)
        return this.#lookAtHeld(input.subscriberId)
      case 'workflow':
        this.#change(input)
        return
      case 'fault':
        this.#faults.set(input)
    }
  }

  #choose({ subscriberId, workflowId, ...choice }: Extract<Input, { type: 'preferences' }>): void {
    const { channels } = choice
    const workflow = workflowId === undefined ? undefined : this.#workflows.get(workflowId)
    this.#people.choose(subscriberId, { ...choice, workflowId: workflow?.id ?? workflowId })
    if (!workflow || !channels) return
    const person = this.#people.find(subscriberId)
    const hashes = [comparedAddress('email', person?.email ?? ''), comparedAddress('sms', person?.phone ?? '')].map(
      hashOfAddress,
    )
    const isWanted = ({ subscriber_id, address_hash, channel }: SuppressionRow) =>
      (subscriber_id === subscriberId || hashes.some((hash) => hash.equals(address_hash))) &&
      channels[channel as keyof typeof channels] === true
    this.#suppressions = this.#suppressions.flatMap((entry) => (isWanted(entry) ? leftOf(entry, workflow) : [entry]))
  }

  #change({ draft, version, active }: Extract<Input, { type: 'workflow' }>): void {
    const { workflow, versions } = this.#snapshot
    const current = this.#workflows.get(workflow.identifier) ?? workflow
    const chosen = draft ?? versions.find((each) => each.version === version) ?? current
    this.#workflows.set(workflow.identifier, {
      ...chosen,
      ...{ id: workflow.id, identifier: workflow.identifier },
      active: active ?? (chosen === current ? current.active : chosen.active),
    })
  }

  async #trigger(request: TriggerRequest, isBroadcast: boolean, index: number): Promise<void> {
    const now = this.#now
    const transactionId = request.transactionId ?? ''
    const told = {
      ...{ input: index, at: now, transactionId, status: 'processed', runs: 0 },
      passedOver: [] as PassedOver['groups'][number][],
    }
    this.record.triggers.push(told)
    const workflow = this.#workflows.get(request.name)
    if (!workflow) throw new SimulationRefused({ code: 'workflow_not_found', params: { workflowId: request.name } })
    let payload: Members
    try {
      payload = judgePayload(workflow, request)
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      Object.assign(told, { status: 'error', error: { code: error.code, message: error.message } })
      return
    }
    const tenant = request.tenant && this.#people.tenantChoice(request.tenant.identifier, workflow.id)
    const idle = idleStatus(workflow, isBroadcast ? { ...request, recipients: null } : request, tenant)
    if (idle) {
      told.status = idle
      return
    }
    const { attachments, rest } = splitAttachments(payload)
    const row: EventRow = {
      ...{ environment_id: this.#environment.facts.id, id: this.#newId(now), transaction_id: transactionId },
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
    await this.#start(row, { workflow, files: attachments, passedOver, counted })
  }

  /** A transaction id counts once. Those named themselves come first; those reached through topics have their turn later. */
  async #start(row: EventRow, { workflow, files, passedOver, counted }: Starting): Promise<void> {
    const now = this.#now
    if (this.#transactions.has(row.transaction_id)) return
    this.#transactions.add(row.transaction_id)
    this.#events.set(row.id, { row, files })
    this.#people.take(row, now)
    const event: PreparedEvent = {
      ...{ row, facts: this.#people.factsOf(row), contextKeys: contextKeysOf(row.context) },
      ...{ environment: this.#environment, definition: workflow },
    }
    const direct = directOf(row).flatMap(({ subscriberId }) => {
      const recipient = this.#people.find(subscriberId)
      return recipient ? [{ recipient, topics: null }] : []
    })
    await this.#beginAll(event, direct)
    counted?.(direct.length)
    if (isWide(row)) this.#later.push(() => this.#walk(event, { passedOver, counted }))
  }

  /** As the engine walks topics: a chunk at a time, in the order of their ids, and what that causes before the next. */
  async #walk(event: PreparedEvent, told: Pick<Starting, 'passedOver' | 'counted'>, after = ''): Promise<void> {
    const { row, contextKeys } = event
    const members = this.#people.members(row, contextKeys).filter(({ recipient }) => recipient.id > after)
    const some = members.slice(0, runsAtOnce)
    const reached = reach(event, some, told.passedOver, this.#now)
    if (after === '')
      for (const key of this.#people.missingTopics(row)) told.passedOver.addNamed('topic_not_found', key)
    await this.#beginAll(event, reached)
    told.counted?.(reached.length)
    const last = some.at(-1)
    if (last && some.length === runsAtOnce) this.#later.push(() => this.#walk(event, told, last.recipient.id))
  }

  async #beginAll(event: PreparedEvent, all: Reached[]): Promise<void> {
    const now = this.#now
    for (const { recipient, topics } of all) {
      const run = await newRun(event, recipient, { now, newId: this.#newId, topics })
      this.record.begin(run, now)
      await this.#go(run, advance(run, now))
    }
  }

  /** What a step starts has its turn behind the calls of now. */
  #startLater(need: StartWorkflow): Answer {
    const workflow = this.#workflows.get(need.workflowId)
    if (!workflow) return { status: 'workflow_not_found' }
    const tenant = need.tenant === undefined ? undefined : this.#people.tenantChoice(need.tenant, workflow.id)
    const judged = judgeStart({ need, workflow, trace: null }, tenant, { now: this.#now, newId: this.#newId })
    if (typeof judged === 'string') return { status: judged }
    const row: EventRow = { ...judged, started_at: this.#now }
    this.#later.push(() => this.#start(row, { workflow, files: [], passedOver: new PassedOver() }))
    return { status: 'processed' }
  }

  async #update(run: RunState, { subscriberRowId, set }: UpdateSubscriber): Promise<Answer> {
    const row = this.#people.byRow(subscriberRowId)
    if (!row) return { changed: [] }
    const { fields, changed } = mergedFields(row, set)
    if (changed.length === 0) return { changed }
    run.subscriber = this.#people.say(row.subscriber_id, fields, this.#now)
    run.translator = await this.#environment.translator('workflow', run.definition, run.subscriber.locale)
    // Behind the waits that end now.
    if (changed.includes('timezone'))
      this.#due.add(this.#now.getTime(), { resume: () => this.#lookAtHeld(row.subscriber_id) })
    return { changed }
  }

  #cancel({ transactionId, key, subscriberId }: Extract<Input, { type: 'cancel' }>): void {
    const all = [...this.record.runs.values()].map(({ run }) => run)
    if (key === undefined) {
      this.#cancelRuns(all.filter((run) => run.transactionId === transactionId))
      return
    }
    const isMeant = ({ event, subscriber }: RunState) =>
      this.#events.get(event.id)?.row.cancellation_key === key &&
      (subscriberId === undefined || subscriber.subscriber_id === subscriberId)
    // Each trigger by itself: one with nothing that waits is left alone.
    const found = all.filter(isMeant)
    for (const id of new Set(found.map(({ event }) => event.id)))
      this.#cancelRuns(found.filter(({ event }) => event.id === id))
  }

  #cancelRuns(runs: RunState[]): void {
    const now = this.#now
    const isCollecting = (id: string | null) =>
      this.record.runs.get(id ?? '')?.run.jobs.some(({ type, status }) => type === 'digest' && status === 'delayed') ??
      false
    const canceled = cancelWaits<JobState, RunState>(runs, ({ mergedInto }) => isCollecting(mergedInto), now)
    for (const { run, was } of canceled) if (was === 'merged') this.windows.leave(run)
    for (const digest of canceled.filter(isCanceledDigest)) {
      const heir = this.windows.handOver(digest, now)
      if (heir) this.#store(heir)
    }
    for (const run of new Set(canceled.map((each) => each.run))) this.record.observe(run, now)
  }

  /** Tells the runs that wait, as many at a time as the engine does. */
  async #post({ name, key, subscriberId, id, payload }: Extract<Input, { type: 'event' }>): Promise<void> {
    const now = this.#now
    if (id !== undefined && this.windows.posted.some(({ event }) => event.id === id)) return
    const rowId = this.#newId(now)
    const about = { name, key: key ?? null, subscriberId: subscriberId ?? null, payload, createdAt: now.toISOString() }
    const heard: HeardEvent = { rowId, event: { id: id ?? rowId, ...about } }
    this.windows.posted.push(heard)
    const isAwaited = ({ kind, name: of, value }: Awaited) =>
      of === name && ((kind === 'key' && value === key) || (kind === 'subscriber' && value === subscriberId))
    for (const [index, run] of this.#listeningFor(isAwaited).entries()) {
      await this.#tell(run, heard)
      if (index % runsAtOnce === runsAtOnce - 1) await this.#makeCalls()
    }
  }

  /** What is held for them may have another schedule now. */
  async #lookAtHeld(subscriberId: string): Promise<void> {
    const id = this.#people.find(subscriberId)?.id
    for (const run of this.#listeningFor(({ kind, value }) => kind === 'schedule' && value === id)) {
      await this.#tell(run, undefined)
      await this.#makeCalls()
    }
  }

  /** In the order in which the runs began. */
  #listeningFor(isMeant: (entry: Awaited) => boolean): RunState[] {
    const found = [...this.#listening]
      .filter(([, positions]) => [...positions.values()].some((entries) => entries.some(isMeant)))
      .map(([run]) => run)
    return found.sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  async #tell(run: RunState, heard: HeardEvent | undefined): Promise<void> {
    if (await this.#refresh(run)) await this.#go(run, hearAll(run, heard, this.#now))
  }

  #inbox(matches: (message: MessageRecord) => boolean): MessageRecord[] {
    return [...this.record.messages.values()].filter(
      (message) => message.row.channel === 'in_app' && message.row.status === 'sent' && matches(message),
    )
  }

  /** As the inbox marks messages. */
  async #mark({ type, subscriberId, transactionId, stepId, action }: Extract<Input, { type: Marking }>): Promise<void> {
    const now = this.#now
    // Who was deleted and came back has a new inbox.
    const person = this.#people.find(subscriberId)
    const found = this.#inbox(
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
    for (const run of this.#listeningFor(({ kind }) => kind === 'message')) {
      if (!changed.has(run)) continue
      await this.#tell(run, undefined)
      await this.#makeCalls()
    }
  }

  // ---- Runs

  async #end(due: Due): Promise<void> {
    if ('resume' in due) return due.resume()
    const { run, position } = due
    const job = run.jobs.find((each) => each.position === position)
    if (!job) return
    this.record.endWait(run, job, this.#now)
    if (!(await this.#refresh(run))) return
    await this.#go(run, wakeUp(run, job, this.#now))
  }

  /** What production reads anew whenever a run goes on. @returns whether it can */
  async #refresh(run: RunState): Promise<boolean> {
    const subscriber = this.#people.byRow(run.subscriber.id)
    const event = this.#events.get(run.event.id)
    if (!subscriber || !event) {
      endOrphan(run, this.#now)
      this.windows.abandon(run)
      this.record.observe(run, this.#now)
      return false
    }
    const current = this.#workflows.get(run.workflow.identifier) ?? run.definition
    const { preferences, user_preferences, critical } = current
    const known = run.definition
    if (preferences !== known.preferences || user_preferences !== known.user_preferences || critical !== known.critical)
      run.definition = { ...known, preferences, user_preferences, critical }
    run.subscriber = subscriber
    run.preferences = preferencesFor(subscriber.preferences, run.workflow.id, run.contextKeys)
    run.translator = await this.#environment.translator('workflow', run.definition, subscriber.locale)
    run.event = this.#people.factsOf(event.row)
    for (const message of this.record.messagesOf(run)) {
      if (message.row.channel !== 'in_app') continue
      const { seen, read, lastSeenAt, lastReadAt } = message.marks
      const dates = { lastSeenDate: lastSeenAt?.toISOString() ?? null, lastReadDate: lastReadAt?.toISOString() ?? null }
      message.job.output = isoDates({ seen, read, ...dates }) ?? null
    }
    run.results = resultsOf(run.jobs)
    for (const { asked } of run.jobs.filter((job) => job.asked && !isEnded(job))) {
      const id = asked?.subscriberId ?? ''
      const person = this.#people.find(id)
      if (person) run.people.set(id, await personOf(run, person))
      else run.people.delete(id)
    }
    return true
  }

  // ---- Questions

  /** Of the questions that this person was asked, those that take the answer. */
  async #answerAll(input: Extract<Input, { type: 'answer' }>): Promise<void> {
    const { subscriberId, transactionId, stepId } = input
    for (const { run } of [...this.record.runs.values()]) {
      if (transactionId !== undefined && run.transactionId !== transactionId) continue
      for (const job of run.jobs.filter((each) => stepId === undefined || each.step.stepId === stepId))
        if (isAsked(job, subscriberId)) await this.#give(run, job, input, 'api')
    }
  }

  async #press(run: RunState, { asked }: JobState, action: 'primary' | 'secondary'): Promise<void> {
    const job = run.jobs.find(({ position }) => position === asked?.of)
    if (!job || !asked) return
    const { answers, freeText } = questionTexts(stepRunOf(run, job, this.#now), run.translator)
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
    const now = this.#now
    if (job.status !== 'delayed' || now.toISOString() >= keptIn({ job }).deadline || !(await this.#refresh(run))) return
    const { answers, freeText } = questionTexts(stepRunOf(run, job, now), run.translator)
    const label = answers.find(({ id }) => id === answer)?.label
    const said = text?.trim() || null
    if (label === undefined || (freeText?.required === true && said === null)) return
    const person = this.#people.find(subscriberId)
    const by = { subscriberId, name: person ? nameOf(person) : null, channel, createdAt: now.toISOString() }
    await this.#go(run, answerQuestion(run, job, { answer, label, text: said, by }, now))
  }

  /** In-app copies say that the question is closed, or come back as new ones. */
  #tellCopies(run: RunState, { question, reminds }: RunState['effects']['asking'][number]): void {
    for (const message of this.record.messagesOf(run)) {
      const { row, marks, job } = message
      if (row.channel !== 'in_app' || !job.asked || !isOpenCopy(row)) continue
      const { subscriber_id: subscriberId, locale } = recipientIn(run, job)
      if (question.state !== 'open') Object.assign(row, closedCopy(row, question, { subscriberId, locale }))
      else if (reminds.includes(job.asked.subscriberId))
        Object.assign(marks, {
          seen: false,
          read: false,
          archived: false,
          firstSeenAt: null,
          lastSeenAt: null,
          lastReadAt: null,
        })
    }
  }

  /** Advances the run, and stores it. Its calls are made in their turn. */
  async #go(run: RunState, progress: Progress<void>): Promise<void> {
    try {
      let answer: Answer | undefined
      for (;;) {
        const { value, done } = progress.next(answer as Answer)
        if (done) break
        this.record.observe(run, this.#now)
        answer = await this.#answer(run, value)
      }
    } catch (error) {
      if (!(error instanceof StepFault)) throw error
      endByFault(run, error, this.#now)
    }
    const calls = this.#store(run)
    for (const job of this.watch ? run.jobs : []) {
      if (this.#watched.has(job) || this.record.stepOf(run, job.position).beganAt === null) continue
      this.#watched.add(job)
      await this.watch?.(run, job, this.#now)
    }
    for (const position of calls) this.#calls.push({ run, position })
  }

  async #answer(run: RunState, need: Need): Promise<Answer> {
    switch (need.need) {
      case 'start workflow':
        return this.#startLater(need)
      case 'update subscriber':
        return this.#update(run, need)
      case 'hand digest on': {
        const job = run.jobs.find(({ position }) => position === need.position)
        const heir = job && this.windows.handOver({ run, job, dueAt: need.dueAt }, this.#now)
        if (heir) this.#store(heir)
        return { isHandedOn: true }
      }
      case 'find people': {
        const rows = need.subscriberIds.flatMap((id) => this.#people.find(id) ?? [])
        return { people: await Promise.all(rows.map((row) => personOf(run, row))) }
      }
      case 'find topic members':
        return { subscriberIds: this.#people.topicMembers(need.topicKey, need.contextKeys)?.slice(0, need.most) }
      case 'find on duty': {
        const rota = this.#snapshot.rotas.find(({ rota_id }) => rota_id === need.rotaId)
        return { subscriberIds: rota && onDuty(rota, need.at).subscriberIds }
      }
      default:
        return this.windows.answer(run, need)
    }
  }

  /** What the last input or wait has caused: calls first, then what steps have begun elsewhere. */
  async #makeCalls(): Promise<void> {
    for (;;) {
      for (let next = this.#calls.shift(); next; next = this.#calls.shift()) await this.#call(next.run, next.position)
      const later = this.#later.shift()
      if (!later) return
      await later()
    }
  }

  /** @returns the positions of steps that call */
  #store(run: RunState): number[] {
    const { messages, timers, wakes, calls, listens, unlistens, asking } = run.effects
    const heard = this.#listening.get(run) ?? new Map<number, Awaited[]>()
    for (const position of unlistens) heard.delete(position)
    for (const { position, entries } of listens) heard.set(position, entries)
    if (heard.size > 0) this.#listening.set(run, heard)
    else this.#listening.delete(run)
    for (const { job, ...row } of messages) {
      // The targets of a chat group share a message.
      const kept = this.#kept.get(row.id) ?? (row.channel === 'chat' ? this.#kept.get(job.id) : undefined)
      this.record.store(run, job, row, this.#now, kept)
    }
    for (const each of asking) this.#tellCopies(run, each)
    this.record.observe(run, this.#now)
    for (const { position, dueAt } of timers) this.#due.add(dueAt.getTime(), { run, position, dueAt: dueAt.getTime() })
    for (const { runId, position } of wakes) {
      const other = this.record.runs.get(runId)?.run
      const waiting = other?.jobs.find((job) => job.position === position && job.status === 'delayed')
      if (!other || !waiting) continue
      waiting.dueAt = this.#now
      this.#due.add(this.#now.getTime(), { run: other, position, dueAt: this.#now.getTime() })
    }
    run.effects = noEffects()
    return calls
  }

  async #call(run: RunState, position: number): Promise<void> {
    const job = run.jobs.find((each) => each.position === position)
    if (!job) return
    Object.assign(job, { status: 'running', attempts: job.attempts + 1 })
    const hang = new Hang()
    const { bridge, taken, ...reached } = standIns(run, job, {
      ...{ now: () => this.#now, faults: this.#faults, record: this.record, answers: this.#scenario.answers },
      sleep: (ms) => hang.sleep(this.#now.getTime() + ms),
    })
    const of: StepRun = { isRepeated: false, ...stepRunOf(run, job, this.#now) }
    const made = this.record.stepOf(run, position).attempts.length
    const calling = makeCall(of, run, job, { tools: { ...this.tools, ...reached }, bridge }).catch(
      (error: unknown): CallResult => {
        if (error instanceof SimulationRefused) throw error
        return { outcome: failureOf(error, of, nobodyListens) }
      },
    )
    await this.#until(calling, hang, async (result) => {
      if (job.status !== 'running') return
      for (const [id, kept] of taken) this.#kept.set(id, kept).set(job.id, kept)
      noteNext(job, this.record.stepOf(run, position).attempts.slice(made), result)
      if (await this.#refresh(run)) await this.#go(run, afterCall(run, job, result, this.#now))
    })
  }

  /** Goes on with the call's result: now or, if the call hangs, when that ends. */
  async #until(calling: Promise<CallResult>, hang: Hang, then: (result: CallResult) => Promise<void>): Promise<void> {
    const first = await Promise.race([calling, hang.begun()])
    if (first !== 'asleep') return then(first)
    // The step's other calls, which do not hang, end now.
    await new Promise(setImmediate)
    this.#due.add(hang.until, {
      resume: () => {
        hang.end()
        return this.#until(calling, hang, then)
      },
    })
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

const isStillDue = ({ run, position, dueAt }: Extract<Due, { run: RunState }>): boolean => {
  const job = run.jobs.find((each) => each.position === position)
  return (job?.status === 'delayed' || job?.status === 'queued') && job.dueAt?.getTime() === dueAt
}
