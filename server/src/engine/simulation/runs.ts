// The runs of a simulation: begun, woken, continued after their calls, and kept in memory. The engine's own run machine and steps
// decide what happens; what is stored elsewhere is here in maps and one list of due times.
import { mergedFields } from '../../db/core/subscriber-fields.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
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
import type { EnvironmentFacts, StepRun } from '../../steps/contract/step-run.ts'
import { placesOf } from '../../steps/contract/tree.ts'
import { asOfNow, type WorkflowVersion } from '../core/memory.ts'
import { onDuty } from '../core/rota.ts'
import type { Attachment } from '../runs/attachments.ts'
import { afterCall, type CallResult, failureOf, makeCall } from '../runs/call.ts'
import { endOrphan } from '../runs/canceling.ts'
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
import { judgeStart } from '../runs/judge.ts'
import { directOf, isWide, type Reached, reach } from '../runs/members.ts'
import { PassedOver } from '../runs/passed-over.ts'
import { closedCopy, type Decision, isOpenCopy } from '../runs/question-copies.ts'
import { recipientIn } from '../runs/question-jobs.ts'
import { advance, endByFault, hearAll, wakeUp } from '../runs/run.ts'
import { isEnded, type JobState, newJob, noEffects, type RunState, StepFault } from '../runs/run-state.ts'
import { stepRunOf } from '../runs/step-view.ts'
import { refuseWithoutAnswers } from './answers.ts'
import { Hang, noteNext } from './calls.ts'
import { DueList } from './due-list.ts'
import { People } from './people.ts'
import { type Kept, type MessageRecord, PlayRecord } from './record.ts'
import { type Scenario, SimulationRefused, type Snapshot } from './scenario.ts'
import { Faults, standIns } from './stand-ins.ts'
import { type Brand, type CommonTools, commonTools, nobodyListens, toolsWith } from './tools.ts'
import { type OpenWindows, Windows } from './windows.ts'

/** Told of an event, or begun for members of a topic, before anything else happens, as in the engine. */
export const runsAtOnce = 500

/** How an accepted trigger is started. */
interface Starting {
  workflow: WorkflowVersion
  files: Attachment[]
  passedOver: PassedOver
  /** Told how many runs have begun. */
  counted?: ((runs: number) => void) | undefined
}

/** Whatever ends by itself: a step's wait, or a call that hangs. */
type Due = { run: RunState; position: number; dueAt: number } | { resume(): Promise<void> }

/** A run that waits in a digest, as it is stored. */
export interface CollectingRun {
  id: string
  event: EventRow
  definition: WorkflowVersion
  jobs: Array<Partial<JobState> & Pick<JobState, 'position'>>
}

export class Runs {
  readonly #scenario: Scenario
  readonly #snapshot: Snapshot
  readonly record = new PlayRecord()
  readonly people: People
  readonly environment: PreparedEvent['environment']
  readonly tools: CommonTools
  readonly faults = new Faults()
  readonly #due = new DueList<Due>()
  readonly windows: Windows
  readonly events = new Map<string, { row: EventRow; files: Attachment[] }>()
  /** What triggers find, by identifier. */
  readonly workflows = new Map<string, WorkflowVersion>()
  readonly #transactions = new Set<string>()
  /** The versions of runs that have gone on. */
  readonly #begunWith = new Map<RunState, WorkflowVersion>()
  /** Versions, each with what counts as the workflow is now: hundreds of runs share one. */
  readonly #asOfNow = new Map<WorkflowVersion, { current: WorkflowVersion; definition: WorkflowVersion }>()
  /** What runs wait for beside their time. */
  readonly #listening = new Map<RunState, Map<number, Awaited[]>>()
  /** Calls to be made before anything else happens, in their order. */
  readonly #calls: Array<{ run: RunState; position: number }> = []
  /** What steps have begun elsewhere. */
  readonly #later: Array<() => Promise<void>> = []
  /** What providers got, by message. */
  readonly #kept = new Map<string, Kept>()
  /** What each integration got for a step, by message: the targets of a chat group share a stored one. */
  readonly #keptFor = new Map<string, Map<string, Kept>>()
  suppressions: SuppressionRow[]
  /** Told of each step whose turn has come, before any of its calls is made. */
  watch: ((run: RunState, job: JobState, now: Date) => Promise<void>) | undefined
  readonly #watched = new Set<JobState>()
  /** The simulated moment. */
  now: Date
  #ids = 0

  constructor(scenario: Scenario, snapshot: Snapshot, brand: Brand, open: OpenWindows) {
    this.#scenario = scenario
    this.suppressions = snapshot.suppressions
    this.windows = new Windows(this.record, () => this.now, open)
    this.#snapshot = snapshot
    this.now = new Date(scenario.startAt)
    for (const workflow of [...snapshot.others, snapshot.workflow]) this.workflows.set(workflow.identifier, workflow)
    const integrations = scenario.integrations
      ? this.#invented(scenario.integrations)
      : snapshot.environment.integrations
    const { id, organizationId, type, bridgeUrl, env, secretValues, dns, consent, guards, activityDays } =
      snapshot.environment
    // All members by name: with a spread, V8 would make a hidden class for each simulation, and compile for it again.
    const facts: EnvironmentFacts = {
      ...{ id, organizationId, type, bridgeUrl, env, secretValues, dns, consent, guards, activityDays, integrations },
      signing: { keysFor: () => [''] },
      webhooks: new Set(),
      // A link in a simulated message opens nothing.
      answerLink: () => `${brand.publicUrl.replace(/\/+$/, '')}/a/preview`,
    }
    this.environment = {
      facts,
      translator: async (type, { id, is_translation_enabled }, locale) => {
        const group = snapshot.translations[`${type} ${id}`]
        return is_translation_enabled && group ? translatorFor(group, locale) : noTranslations
      },
    }
    this.people = new People({
      ...{ scenario, snapshot, integrations, newId: this.newId, startAt: this.now },
      workflowId: (identifier) => this.workflows.get(identifier)?.id,
    })
    this.tools = commonTools({
      ...{ scenario, snapshot, brand, people: this.people, now: () => this.now },
      suppressions: () => this.suppressions,
      inbox: (matches) => this.inbox(matches),
      filesOf: (eventId) => this.events.get(eventId)?.files ?? [],
      translator: this.environment.translator,
    })
  }

  /** Takes up a run that collects for a digest. */
  async resume({ id, event: row, definition, jobs }: CollectingRun): Promise<void> {
    this.events.set(row.id, { row, files: [] })
    const recipient = directOf(row)
      .flatMap(({ subscriberId }) => this.people.find(subscriberId) ?? [])
      .at(0)
    if (!recipient) return
    const prepared = { facts: this.people.factsOf(row), contextKeys: contextKeysOf(row.context) }
    const event = { ...prepared, row, environment: this.environment, definition }
    const run = await newRun(event, recipient, { now: this.now, newId: this.newId })
    run.id = id
    // Those of arms that it has entered, too.
    const places = placesOf(definition.steps)
    run.jobs = jobs.flatMap((stored) => {
      const place = places.find(({ position }) => position === stored.position)
      return place ? [{ ...newJob(place.step, stored.position, { now: this.now, newId: this.newId }), ...stored }] : []
    })
    run.results = resultsOf(run.jobs)
    const job = run.jobs.find(({ type, status }) => type === 'digest' && status === 'delayed')
    if (!job?.dueAt) return
    this.record.begin(run, this.now)
    this.windows.resume(run, job)
    this.#due.add(job.dueAt.getTime(), { run, position: job.position, dueAt: job.dueAt.getTime() })
  }

  /** Passes over waits that were canceled. */
  nextDue(): number | undefined {
    for (;;) {
      const { next } = this.#due
      if (next === undefined || this.#isValid(this.#due.first)) return next
      this.#due.take()
    }
  }

  #isValid(due: Due | undefined): boolean {
    return due !== undefined && ('resume' in due || isStillDue(due))
  }

  readonly newId = (now: Date): string => {
    this.#ids += 1
    const seconds = Math.floor(now.getTime() / 1000)
    return seconds.toString(16).padStart(8, '0') + this.#ids.toString(16).padStart(16, '0')
  }

  #invented(given: NonNullable<Scenario['integrations']>): IntegrationRow[] {
    const { id: environment_id, integrations } = this.#snapshot.environment
    const inApp = integrations.filter(({ channel }) => channel === 'in_app')
    const row = (each: (typeof given)[number]): IntegrationRow => ({
      ...each,
      ...{ environment_id, id: this.newId(this.now), name: each.identifier, kind: 'delivery' },
      // Nobody is called, so any sender does.
      ...{ credentials: { from: 'no-reply@simulation.invalid' }, configurations: {}, active: true, connected: false },
      ...{ deleted_at: null, deleted_by: null, created_at: this.now, updated_at: this.now },
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

  /** A transaction id counts once. Those named themselves come first; those reached through topics have their turn later. */
  async start(row: EventRow, { workflow, files, passedOver, counted }: Starting): Promise<void> {
    const now = this.now
    if (this.#transactions.has(row.transaction_id)) return
    this.#transactions.add(row.transaction_id)
    this.events.set(row.id, { row, files })
    this.people.take(row, now)
    const event: PreparedEvent = {
      ...{ row, facts: this.people.factsOf(row), contextKeys: contextKeysOf(row.context) },
      ...{ environment: this.environment, definition: workflow },
    }
    const direct = directOf(row).flatMap(({ subscriberId }) => {
      const recipient = this.people.find(subscriberId)
      return recipient ? [{ recipient, topics: null }] : []
    })
    await this.#beginAll(event, direct)
    counted?.(direct.length)
    if (isWide(row)) this.#later.push(() => this.#walk(event, { passedOver, counted }))
  }

  /** As the engine walks topics: a chunk at a time, in the order of their ids, and what that causes before the next. */
  async #walk(event: PreparedEvent, told: Pick<Starting, 'passedOver' | 'counted'>, after = ''): Promise<void> {
    const { row, contextKeys } = event
    const members = this.people.members(row, contextKeys).filter(({ recipient }) => recipient.id > after)
    const some = members.slice(0, runsAtOnce)
    const reached = reach(event, some, told.passedOver, this.now)
    if (after === '') for (const key of this.people.missingTopics(row)) told.passedOver.addNamed('topic_not_found', key)
    await this.#beginAll(event, reached)
    told.counted?.(reached.length)
    const last = some.at(-1)
    if (last && some.length === runsAtOnce) this.#later.push(() => this.#walk(event, told, last.recipient.id))
  }

  async #beginAll(event: PreparedEvent, all: Reached[]): Promise<void> {
    const now = this.now
    for (const { recipient, topics } of all) {
      const run = await newRun(event, recipient, { now, newId: this.newId, topics })
      this.record.begin(run, now)
      await this.go(run, advance(run, now))
    }
  }

  /** What a step starts has its turn behind the calls of now. */
  #startLater(need: StartWorkflow): Answer {
    const workflow = this.workflows.get(need.workflowId)
    if (!workflow) return { status: 'workflow_not_found' }
    const tenant = need.tenant === undefined ? undefined : this.people.tenantChoice(need.tenant, workflow.id)
    const judged = judgeStart({ need, workflow, trace: null }, tenant, { now: this.now, newId: this.newId })
    if (typeof judged === 'string') return { status: judged }
    if (this.#scenario.needsAnswers) refuseWithoutAnswers(workflow, this.#scenario.answers)
    const row: EventRow = { ...judged, started_at: this.now }
    this.#later.push(() => this.start(row, { workflow, files: [], passedOver: new PassedOver() }))
    return { status: 'processed' }
  }

  async #update(run: RunState, { subscriberRowId, set }: UpdateSubscriber): Promise<Answer> {
    const row = this.people.byRow(subscriberRowId)
    if (!row) return { changed: [] }
    const { fields, changed } = mergedFields(row, set)
    if (changed.length === 0) return { changed }
    run.subscriber = this.people.say(row.subscriber_id, fields, this.now)
    run.translator = await this.environment.translator('workflow', run.definition, run.subscriber.locale)
    // Behind the waits that end now.
    if (changed.includes('timezone'))
      this.#due.add(this.now.getTime(), { resume: () => this.lookAtHeld(row.subscriber_id) })
    return { changed }
  }

  /** What is held for them may have another schedule now. */
  async lookAtHeld(subscriberId: string): Promise<void> {
    const id = this.people.find(subscriberId)?.id
    for (const run of this.listeningFor(({ kind, value }) => kind === 'schedule' && value === id)) {
      await this.tell(run, undefined)
      await this.makeCalls()
    }
  }

  /** In the order in which the runs began. */
  listeningFor(isMeant: (entry: Awaited) => boolean): RunState[] {
    const found = [...this.#listening]
      .filter(([, positions]) => [...positions.values()].some((entries) => entries.some(isMeant)))
      .map(([run]) => run)
    return found.sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  async tell(run: RunState, heard: HeardEvent | undefined): Promise<void> {
    if (await this.refresh(run)) await this.go(run, hearAll(run, heard, this.now))
  }

  inbox(matches: (message: MessageRecord) => boolean): MessageRecord[] {
    return [...this.record.messages.values()].filter(
      (message) => message.row.channel === 'in_app' && message.row.status === 'sent' && matches(message),
    )
  }

  /** Whatever happens at a moment shares it, so that its text is made once. */
  moveTo(moment: number): void {
    if (moment !== this.now.getTime()) this.now = new Date(moment)
  }

  /** Ends the next wait. */
  async endNext(): Promise<void> {
    const due = this.#due.take()
    if (!due) return
    if ('resume' in due) return due.resume()
    const { run, position } = due
    const job = run.jobs.find((each) => each.position === position)
    if (!job) return
    this.record.endWait(run, job, this.now)
    if (!(await this.refresh(run))) return
    await this.go(run, wakeUp(run, job, this.now))
  }

  /** What production reads anew whenever a run goes on. @returns whether it can */
  async refresh(run: RunState): Promise<boolean> {
    const subscriber = this.people.byRow(run.subscriber.id)
    const event = this.events.get(run.event.id)
    if (!subscriber || !event) {
      endOrphan(run, this.now)
      this.closeLeft(run)
      this.windows.abandon(run)
      this.record.observe(run, this.now)
      return false
    }
    const definition = this.#definitionOf(run)
    run.definition = definition
    run.workflow = definition
    run.contentOf = definition
    run.subscriber = subscriber
    run.preferences = preferencesFor(subscriber.preferences, run.workflow.id, run.contextKeys)
    run.translator = await this.environment.translator('workflow', run.definition, subscriber.locale)
    run.event = this.people.factsOf(event.row)
    for (const message of this.record.messagesOf(run)) {
      if (message.row.channel !== 'in_app') continue
      const { seen, read, lastSeenAt, lastReadAt } = message.marks
      const dates = { lastSeenDate: lastSeenAt?.toISOString() ?? null, lastReadDate: lastReadAt?.toISOString() ?? null }
      message.job.output = isoDates({ seen, read, ...dates }) ?? null
    }
    run.results = resultsOf(run.jobs)
    for (const { asked } of run.jobs.filter((job) => job.asked && !isEnded(job))) {
      const id = asked?.subscriberId ?? ''
      const person = this.people.find(id)
      if (person) run.people.set(id, await personOf(run, person))
      else run.people.delete(id)
    }
    return true
  }

  /** The version it began with, with what counts as the workflow is now. */
  #definitionOf(run: RunState): WorkflowVersion {
    const then = this.#begunWith.get(run) ?? run.definition
    if (!this.#begunWith.has(run)) this.#begunWith.set(run, then)
    const current = this.workflows.get(then.identifier) ?? then
    if (current === then) return then
    const known = this.#asOfNow.get(then)
    if (known?.current === current) return known.definition
    const definition = asOfNow(then, current)
    this.#asOfNow.set(then, { current, definition })
    return definition
  }

  /** Questions that a cancel or a goal has ended, or a step that failed: their copies say that they are over. */
  closeLeft(run: RunState): void {
    for (const { type, status, delivery, position } of run.jobs) {
      if (type !== 'ask' || delivery === null || (status !== 'canceled' && status !== 'failed')) continue
      for (const { row, job } of this.#openCopies(run, position)) this.#close(run, job, row, calledOff)
    }
  }

  #openCopies(run: RunState, of: number): MessageRecord[] {
    return this.record
      .messagesOf(run)
      .filter(({ row, job }) => row.channel === 'in_app' && job.asked?.of === of && isOpenCopy(row))
  }

  #close(run: RunState, job: JobState, row: MessageRecord['row'], decision: Decision): void {
    const { subscriber_id: subscriberId, locale } = recipientIn(run, job)
    Object.assign(row, closedCopy(row, decision, { subscriberId, locale }))
  }

  /** In-app copies say that the question is closed, or come back as new ones. */
  #tellCopies(run: RunState, { question, reminds, job: asking }: RunState['effects']['asking'][number]): void {
    for (const message of this.#openCopies(run, asking.position)) {
      const { row, marks, job } = message
      if (question.state !== 'open') this.#close(run, job, row, question)
      else if (reminds.includes(job.asked?.subscriberId ?? ''))
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
  async go(run: RunState, progress: Progress<void>): Promise<void> {
    try {
      let answer: Answer | undefined
      for (;;) {
        const { value, done } = progress.next(answer as Answer)
        if (done) break
        this.record.observe(run, this.now)
        answer = await this.#answer(run, value)
      }
    } catch (error) {
      if (!(error instanceof StepFault)) throw error
      endByFault(run, error, this.now)
    }
    const calls = this.store(run)
    for (const job of this.watch ? run.jobs : []) {
      if (this.#watched.has(job) || this.record.stepOf(run, job.position).beganAt === null) continue
      this.#watched.add(job)
      await this.watch?.(run, job, this.now)
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
        const heir = job && this.windows.handOver({ run, job, dueAt: need.dueAt }, this.now)
        if (heir) this.store(heir)
        return { isHandedOn: true }
      }
      case 'find people': {
        const rows = need.subscriberIds.flatMap((id) => this.people.find(id) ?? [])
        return { people: await Promise.all(rows.map((row) => personOf(run, row))) }
      }
      case 'find copies':
        return { areThere: true }
      case 'find topic members':
        return this.people.topicMembers(need)
      case 'find on duty': {
        const rota = this.#snapshot.rotas.find(({ rota_id }) => rota_id === need.rotaId)
        return { subscriberIds: rota && onDuty(rota, need.at).subscriberIds }
      }
      default:
        return this.windows.answer(run, need)
    }
  }

  /** What the last input or wait has caused: calls first, then what steps have begun elsewhere. */
  async makeCalls(): Promise<void> {
    for (;;) {
      for (let next = this.#calls.shift(); next; next = this.#calls.shift()) await this.#call(next.run, next.position)
      const later = this.#later.shift()
      if (!later) return
      await later()
    }
  }

  /** @returns the positions of steps that call */
  store(run: RunState): number[] {
    const { messages, timers, wakes, calls, listens, unlistens, asking } = run.effects
    if (listens.length > 0 || unlistens.length > 0) this.#listen(run, listens, unlistens)
    const ids = new Set(messages.map(({ id }) => id))
    for (const message of messages)
      this.record.store(
        ...([run, message.job, message, this.now] as const),
        this.#kept.get(message.id) ?? this.#sharedBy(message, ids),
      )
    for (const each of asking) this.#tellCopies(run, each)
    this.closeLeft(run)
    this.record.observe(run, this.now)
    for (const { position, dueAt } of timers) this.#due.add(dueAt.getTime(), { run, position, dueAt: dueAt.getTime() })
    for (const { runId, position } of wakes) {
      const other = this.record.runs.get(runId)?.run
      const waiting = other?.jobs.find((job) => job.position === position && job.status === 'delayed')
      if (!other || !waiting) continue
      waiting.dueAt = this.now
      this.#due.add(this.now.getTime(), { run: other, position, dueAt: this.now.getTime() })
    }
    run.effects = noEffects()
    return calls
  }

  /** All targets of a chat group. @param ids of messages that have one of their own */
  #sharedBy({ job, integration_id }: RunState['effects']['messages'][number], ids: Set<string>): Kept | undefined {
    const targets = [...(this.#keptFor.get(`${job.id} ${integration_id}`) ?? [])]
      .filter(([id]) => !ids.has(id) && !this.record.messages.has(id))
      .map(([, kept]) => kept)
    const [first] = targets
    return first && { ...first, recipients: [...new Set(targets.flatMap(({ recipients }) => recipients))] }
  }

  #listen(run: RunState, listens: RunState['effects']['listens'], unlistens: number[]): void {
    const heard = this.#listening.get(run) ?? new Map<number, Awaited[]>()
    for (const position of unlistens) heard.delete(position)
    for (const { position, entries } of listens) heard.set(position, entries)
    if (heard.size > 0) this.#listening.set(run, heard)
    else this.#listening.delete(run)
  }

  async #call(run: RunState, position: number): Promise<void> {
    const job = run.jobs.find((each) => each.position === position)
    // A copy of a question that is over is not sent any more.
    if (!job || isEnded(job)) return
    Object.assign(job, { status: 'running', attempts: job.attempts + 1 })
    const hang = new Hang()
    const { bridge, taken, ...reached } = standIns(run, job, {
      ...{ now: () => this.now, faults: this.faults, record: this.record, answers: this.#scenario.answers },
      sleep: (ms) => hang.sleep(this.now.getTime() + ms),
    })
    const of: StepRun = { isRepeated: false, ...stepRunOf(run, job, this.now) }
    const made = this.record.stepOf(run, position).attempts.length
    const calling = makeCall(of, run, job, { tools: toolsWith(this.tools, reached), bridge }).catch(
      (error: unknown): CallResult => {
        if (error instanceof SimulationRefused) throw error
        return { outcome: failureOf(error, of, nobodyListens) }
      },
    )
    await this.#until(calling, hang, async (result) => {
      if (job.status !== 'running') return
      for (const [id, { integrationId, kept }] of taken) {
        this.#kept.set(id, kept)
        const key = `${job.id} ${integrationId}`
        this.#keptFor.set(key, (this.#keptFor.get(key) ?? new Map()).set(id, kept))
      }
      noteNext(job, this.record.stepOf(run, position).attempts.slice(made), result)
      if (await this.refresh(run)) await this.go(run, afterCall(run, job, result, this.now))
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

const calledOff: Decision = { state: 'canceled', answer: null, label: null, answeredBy: null }

const isStillDue = ({ run, position, dueAt }: Extract<Due, { run: RunState }>): boolean => {
  const job = run.jobs.find((each) => each.position === position)
  return (job?.status === 'delayed' || job?.status === 'queued') && job.dueAt?.getTime() === dueAt
}
