// Plays a scenario: the engine's own run machine and steps, with a clock that jumps from one thing to the next, and everything
// stored kept in memory.
import type { Logger } from 'pino'
import { type AddressChannel, comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
import { RequestError } from '../../errors.ts'
import { noTranslations, translatorFor } from '../../render/translations.ts'
import type { CallTools } from '../../steps/contract/call-tools.ts'
import { messageIdFor } from '../../steps/contract/message.ts'
import type { Answer, CloseDigest, Group, JoinDigest, Need, PassThrottle, Progress } from '../../steps/contract/need.ts'
import type { EnvironmentFacts, StepRun } from '../../steps/contract/step-run.ts'
import { CircuitBreaker } from '../../steps/delivery/circuit-breaker.ts'
import type { Progress as DestinationProgress } from '../../steps/delivery/dispatch.ts'
import { heldBackBy } from '../consent/rules.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import { type Attachment, splitAttachments } from '../runs/attachments.ts'
import { afterCall, type CallResult, failureOf, makeCall } from '../runs/call.ts'
import { cancelWaits, endOrphan, inherit, isCanceledDigest } from '../runs/canceling.ts'
import {
  contextKeysOf,
  type EventRow,
  isoDates,
  newRun,
  type PreparedEvent,
  preferencesFor,
  resultsOf,
} from '../runs/compose.ts'
import { idleStatus, judgePayload } from '../runs/judge.ts'
import { directOf, isWide, reach } from '../runs/members.ts'
import { PassedOver } from '../runs/passed-over.ts'
import {
  advance,
  endByFault,
  type JobState,
  noEffects,
  type RunState,
  StepFault,
  stepRunOf,
  wakeUp,
} from '../runs/run.ts'
import type { TriggerRequest } from '../runs/trigger-request.ts'
import {
  byAge,
  closeDigest,
  collect,
  type DigestState,
  handOn,
  heirOf,
  joinDigest,
  noDigest,
  noThrottle,
  openUntil,
  passThrottle,
  type ThrottleState,
} from '../runs/windows.ts'
import { DueList } from './due-list.ts'
import { People } from './people.ts'
import { type Attempt, chanceOf, type Kept, type MessageRecord, PlayRecord, type Window } from './record.ts'
import { type Input, type Marking, type Members, type Scenario, SimulationRefused, type Snapshot } from './scenario.ts'
import { Faults, standIns } from './stand-ins.ts'

/** Whatever ends by itself: a step's wait, or a call that hangs. */
type Due = { run: RunState; position: number; dueAt: number } | { resume(): Promise<void> }

export interface Brand {
  word: string
  signatureHeader: string
  /** Where links in messages lead. */
  publicUrl: string
}

/** The answer, but for what the caller's request adds. */
export async function play(scenario: Scenario, snapshot: Snapshot, brand: Brand): Promise<Members> {
  return new Play(scenario, snapshot, brand).all()
}

/** Shown instead of what is encrypted. */
const hidden = '••••••••'

const nobodyListens = { error: () => undefined, warn: () => undefined } as unknown as Logger

class Play {
  readonly #scenario: Scenario
  readonly #snapshot: Snapshot
  readonly #record = new PlayRecord()
  readonly #people: People
  readonly #environment: PreparedEvent['environment']
  readonly #tools: Omit<CallTools, 'delivery' | 'http'>
  readonly #faults = new Faults()
  readonly #due = new DueList<Due>()
  readonly #digests = new Map<string, DigestState>()
  readonly #throttles = new Map<string, ThrottleState>()
  /** The window that is open in a group. */
  readonly #open = new Map<string, Window>()
  readonly #events = new Map<string, { row: EventRow; files: Attachment[] }>()
  /** What triggers find, by identifier. */
  readonly #workflows = new Map<string, WorkflowVersion>()
  readonly #transactions = new Set<string>()
  /** What providers got, by message. */
  readonly #kept = new Map<string, Kept>()
  #now: Date
  #ids = 0

  constructor(scenario: Scenario, snapshot: Snapshot, brand: Brand) {
    this.#scenario = scenario
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
    this.#tools = this.#commonTools(brand)
  }

  async all(): Promise<Members> {
    const { startAt, horizonMs, hasDetails } = this.#scenario
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
      } else if (input) {
        last = input[1].at
        this.#now = new Date(last)
        this.#record.note({ at: this.#now, kind: 'input', input: input[0] })
        await this.#take(input[1], input[0])
        place += 1
      } else break
    }
    const isCutOff = this.#nextDue() !== undefined
    const ending = { startAt: new Date(startAt), endAt: new Date(isCutOff ? horizonAt : last), isCutOff, hasDetails }
    return {
      ...this.#record.answer({ ...ending, horizonAt: new Date(horizonAt), brand: this.#tools.brand }),
      seed: this.#scenario.seed,
    }
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

  /** What the suppression list says about an address at this moment. */
  #entriesAbout(channel: AddressChannel, address: string): SuppressionRow[] {
    const hash = hashOfAddress(comparedAddress(channel, address))
    return this.#snapshot.suppressions.filter(
      (entry) =>
        entry.channel === channel &&
        hash.equals(entry.address_hash) &&
        (entry.expires_at === null || entry.expires_at > this.#now),
    )
  }

  #commonTools(brand: Brand): Omit<CallTools, 'delivery' | 'http'> {
    const { layouts, hasBranding } = this.#snapshot
    const clock = { now: () => this.#now }
    const { seed } = this.#scenario
    return {
      findChats: this.#people.findChats,
      forgetDevice: this.#people.forgetDevice,
      countInbox: async ({ subscriberRowId }, { seen, read, contextKeys = [] }, most) => {
        const own = this.#inbox((message) => message.run.subscriber.id === subscriberRowId).filter(
          ({ marks, contextKeys: keys }) =>
            (seen === undefined || marks.seen === seen) &&
            (read === undefined || marks.read === read) &&
            !marks.archived &&
            String(keys) === String(contextKeys),
        )
        return Math.min(own.length, most)
      },
      readFiles: async ({ id }, most) => this.#events.get(id)?.files.slice(0, most) ?? [],
      sandbox: { takeFault: async () => undefined, add: async () => undefined },
      secrets: {
        decrypt: (stored) => (stored.startsWith('enc:v1:') ? hidden : stored),
        // A link in a simulated message opens nothing.
        signBriefly: () => Buffer.alloc(16),
      },
      circuits: new CircuitBreaker({ clock, random: () => 0, elapsed: () => this.#now.getTime(), patienceMs: 0 }),
      gate: {
        pass: async (sender, { channel, addresses }, start) => {
          const heldBack = addresses.flatMap((address) =>
            heldBackBy(address, this.#entriesAbout(channel, address), sender),
          )
          return heldBack.length > 0 ? { heldBack } : { started: start() }
        },
      },
      health: { sent: () => undefined, refused: () => undefined },
      clock,
      chance: ({ run, stepId, destination, call }) =>
        chanceOf([seed, run.transactionId, run.subscriber.subscriber_id, stepId, destination, call].join('/')),
      log: nobodyListens,
      brand: brand.word,
      publicUrl: brand.publicUrl,
      signatureHeader: brand.signatureHeader,
      storesContent: true,
      layout: async (layoutId) => {
        if (layoutId === null) return 'none'
        if (layoutId === undefined) return layouts.find(({ is_default }) => is_default) ?? 'none'
        return (
          layouts.find(({ identifier }) => identifier === layoutId) ??
          layouts.find(({ id }) => id === layoutId) ??
          'missing'
        )
      },
      layoutTranslator: (layout, locale) => this.#environment.translator('layout', layout, locale),
      hasBranding,
    }
  }

  // ---- Inputs

  async #take(input: Input, index: number): Promise<void> {
    switch (input.type) {
      case 'trigger':
        return this.#trigger(input.request, input.isBroadcast, index)
      case 'refused':
        this.#record.triggers.push({
          ...{ input: index, at: this.#now, transactionId: input.transactionId, status: 'error', runs: 0 },
          ...{ passedOver: [], error: input.error },
        })
        return
      case 'cancel':
        this.#cancel(input.transactionId)
        return
      case 'seen':
      case 'read':
      case 'unread':
      case 'acted':
        this.#mark(input)
        return
      case 'preferences':
        this.#people.choose(input.subscriberId, {
          ...{ channels: input.channels, schedule: input.schedule },
          workflowId: input.workflowId && (this.#workflows.get(input.workflowId)?.id ?? input.workflowId),
        })
        return
      case 'subscriber':
        if (input.isDeleted) this.#people.delete(input.subscriberId)
        else this.#people.say(input.subscriberId, input.set ?? {}, this.#now)
        return
      case 'workflow':
        this.#change(input)
        return
      case 'fault':
        this.#faults.set(input)
    }
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
    this.#record.triggers.push(told)
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
    if (this.#transactions.has(transactionId)) return
    this.#transactions.add(transactionId)
    const { attachments, rest } = splitAttachments(payload)
    const row: EventRow = {
      ...{ environment_id: this.#environment.facts.id, id: this.#newId(now), transaction_id: transactionId },
      ...{ workflow_id: workflow.id, workflow_version: workflow.version },
      recipients: isBroadcast ? null : request.recipients,
      ...{ payload: rest, overrides: request.overrides, actor: request.actor ?? null, tenant: request.tenant ?? null },
      ...{ context: request.context ?? null, started_at: now, created_at: now, trace: null },
    }
    this.#events.set(row.id, { row, files: attachments })
    this.#people.take(row, now)
    const passedOver = new PassedOver()
    for (const each of request.invalidRecipients ?? []) passedOver.addNamed('invalid_recipient', each)
    const event: PreparedEvent = {
      ...{ row, facts: this.#people.factsOf(row), contextKeys: contextKeysOf(row.context) },
      ...{ environment: this.#environment, definition: workflow },
    }
    const direct = directOf(row).flatMap(({ subscriberId }) => {
      const recipient = this.#people.find(subscriberId)
      return recipient ? [{ recipient, topics: null }] : []
    })
    const reached = isWide(row) ? reach(event, this.#people.members(row, event.contextKeys), passedOver, now) : []
    for (const key of this.#people.missingTopics(row)) passedOver.addNamed('topic_not_found', key)
    told.passedOver = [...passedOver.groups]
    for (const { recipient, topics } of [...direct, ...reached]) {
      const run = await newRun(event, recipient, { now, newId: this.#newId, topics })
      told.runs += 1
      this.#record.begin(run, now)
      await this.#go(run, advance(run, now))
    }
  }

  #cancel(transactionId: string): void {
    const now = this.#now
    const all = [...this.#record.runs.values()].map(({ run }) => run)
    const runs = all.filter((run) => run.transactionId === transactionId)
    const isCollecting = (id: string | null) =>
      this.#record.runs.get(id ?? '')?.run.jobs.some(({ type, status }) => type === 'digest' && status === 'delayed') ??
      false
    const canceled = cancelWaits<JobState, RunState>(runs, ({ mergedInto }) => isCollecting(mergedInto), now)
    for (const { run, was } of canceled)
      if (was === 'merged') for (const window of this.#windowsOf(run)) takeOut(window, run.id)
    for (const digest of canceled.filter(isCanceledDigest)) {
      const { run, job, dueAt } = digest
      const [window] = this.#windowsOf(run, job)
      if (window) takeOut(window, run.id)
      const merged = this.#mergedInto(run.id, window)
      const heir = heirOf(merged)
      const [key, state] = [...this.#digests].find(([, { notification_id }]) => notification_id === run.id) ?? []
      const next = heir && { id: heir.run.id, position: heir.step.position }
      if (key !== undefined && state) this.#digests.set(key, handOn(state, next))
      if (!heir) {
        if (window) this.#close(window, 'cancel')
        if (key !== undefined) this.#open.delete(key)
        continue
      }
      inherit(heir.run, { from: run.id, position: heir.step.position, dueAt: dueAt ?? now }, now)
      for (const { run: other } of merged) {
        if (other === heir.run) continue
        for (const each of other.jobs) if (each.mergedInto === run.id) each.mergedInto = heir.run.id
        other.digestedInto = heir.run.id
      }
      this.#store(heir.run)
    }
    for (const run of new Set(canceled.map((each) => each.run))) this.#record.observe(run, now)
  }

  /** The steps whose events this run's digest has taken. */
  #mergedInto(id: string, window: Window | undefined) {
    return (window?.runIds ?? []).flatMap((runId) => {
      const run = this.#record.runs.get(runId)?.run
      const steps = run?.jobs.filter(
        ({ mergedInto, status, digest }) => mergedInto === id && status === 'merged' && digest,
      )
      return run ? (steps ?? []).map((step) => ({ id: step.id, created_at: step.createdAt, run, step })) : []
    })
  }

  #windowsOf(run: RunState, of?: JobState): Window[] {
    const jobs = of ? [of] : run.jobs
    const ids = new Set(jobs.map(({ position }) => this.#record.stepOf(run, position).windowId))
    return [...ids].flatMap((id) => this.#record.windowOf(id) ?? []).filter(({ kind }) => kind === 'digest')
  }

  #inbox(matches: (message: MessageRecord) => boolean): MessageRecord[] {
    return [...this.#record.messages.values()].filter(
      (message) => message.row.channel === 'in_app' && message.row.status === 'sent' && matches(message),
    )
  }

  /** As the inbox marks messages. */
  #mark({ type, subscriberId, transactionId, stepId, action }: Extract<Input, { type: Marking }>): void {
    const now = this.#now
    const found = this.#inbox(
      ({ run, job }) =>
        run.subscriber.subscriber_id === subscriberId &&
        (transactionId === undefined || run.transactionId === transactionId) &&
        (stepId === undefined || job.step.stepId === stepId),
    )
    for (const { marks, row } of found) {
      if (type === 'acted') {
        const cta = (row.cta ?? {}) as { action?: Members }
        row.cta = { ...cta, action: { ...cta.action, status: 'done', result: { type: action ?? 'primary' } } }
        continue
      }
      Object.assign(marks, { seen: true, lastSeenAt: now })
      if (type === 'read') Object.assign(marks, { read: true, lastReadAt: now })
      if (type === 'unread') Object.assign(marks, { read: false, archived: false, lastReadAt: null })
    }
  }

  // ---- Runs

  async #end(due: Due): Promise<void> {
    if ('resume' in due) return due.resume()
    const { run, position } = due
    const job = run.jobs.find((each) => each.position === position)
    if (!job) return
    this.#record.endWait(run, job, this.#now)
    if (!(await this.#refresh(run))) return
    await this.#go(run, wakeUp(run, job, this.#now))
  }

  /** What production reads anew whenever a run goes on. @returns whether it can */
  async #refresh(run: RunState): Promise<boolean> {
    const subscriber = this.#people.byRow(run.subscriber.id)
    const event = this.#events.get(run.event.id)
    if (!subscriber || !event) {
      endOrphan(run, this.#now)
      this.#record.observe(run, this.#now)
      return false
    }
    const current = this.#workflows.get(run.workflow.identifier) ?? run.definition
    const { preferences, user_preferences, critical } = current
    run.definition = { ...run.definition, preferences, user_preferences, critical }
    run.subscriber = subscriber
    run.preferences = preferencesFor(subscriber.preferences, run.workflow.id, run.contextKeys)
    run.translator = await this.#environment.translator('workflow', run.definition, subscriber.locale)
    run.event = this.#people.factsOf(event.row)
    for (const message of this.#record.messagesOf(run)) {
      if (message.row.channel !== 'in_app') continue
      const { seen, read, lastSeenAt, lastReadAt } = message.marks
      const dates = { lastSeenDate: lastSeenAt?.toISOString() ?? null, lastReadDate: lastReadAt?.toISOString() ?? null }
      message.job.output = isoDates({ seen, read, ...dates }) ?? null
    }
    run.results = resultsOf(run.jobs)
    return true
  }

  /** Advances the run, stores it, and makes its calls. */
  async #go(run: RunState, progress: Progress<void>): Promise<void> {
    try {
      let answer: Answer | undefined
      for (;;) {
        const { value, done } = progress.next(answer as Answer)
        if (done) break
        this.#record.observe(run, this.#now)
        answer = this.#answer(run, value)
      }
    } catch (error) {
      if (!(error instanceof StepFault)) throw error
      endByFault(run, error, this.#now)
    }
    const calls = this.#store(run)
    for (const position of calls) await this.#call(run, position)
  }

  /** @returns the positions of steps that call */
  #store(run: RunState): number[] {
    const { messages, timers, wakes, calls } = run.effects
    for (const { job, ...row } of messages) {
      // The targets of a chat group share a message.
      const kept = this.#kept.get(row.id) ?? (row.channel === 'chat' ? this.#kept.get(job.id) : undefined)
      this.#record.store(run, job, row, this.#now, kept)
    }
    this.#record.observe(run, this.#now)
    for (const { position, dueAt } of timers) this.#due.add(dueAt.getTime(), { run, position, dueAt: dueAt.getTime() })
    for (const { runId, position } of wakes) {
      const other = this.#record.runs.get(runId)?.run
      if (other) this.#due.add(this.#now.getTime(), { run: other, position, dueAt: this.#now.getTime() })
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
      ...{ now: () => this.#now, faults: this.#faults, record: this.#record, answers: this.#scenario.answers },
      sleep: (ms) => hang.sleep(this.#now.getTime() + ms),
    })
    const of: StepRun = { isRepeated: false, ...stepRunOf(run, job, this.#now) }
    const made = this.#record.stepOf(run, position).attempts.length
    const calling = makeCall(of, run, job, { tools: { ...this.#tools, ...reached }, bridge }).catch(
      (error: unknown): CallResult => {
        if (error instanceof SimulationRefused) throw error
        return { outcome: failureOf(error, of, nobodyListens) }
      },
    )
    await this.#until(calling, hang, async (result) => {
      if (job.status !== 'running') return
      for (const [id, kept] of taken) this.#kept.set(id, kept).set(job.id, kept)
      noteNext(job, this.#record.stepOf(run, position).attempts.slice(made), result)
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

  // ---- Windows

  #answer(run: RunState, need: Need): Answer {
    switch (need.need) {
      case 'join digest':
        return this.#join(run, need)
      case 'close digest':
        return this.#collect(need)
      case 'pass throttle':
        return this.#pass(run, need)
    }
  }

  #join(run: RunState, need: JoinDigest): Answer {
    const key = keyOf(need.group)
    const { places, after } = joinDigest(this.#digests.get(key) ?? noDigest(), [need], this.#now)
    if (after) this.#digests.set(key, after)
    const [place] = places
    if (!place) throw new Error('A digest gave no place.')
    const about = { at: this.#now, runId: run.id }
    if (place.place === 'main') {
      const window = this.#openWindow(run, need.group, 'digest', null)
      this.#open.set(key, window)
      this.#record.note({ ...about, kind: 'window_opened', windowId: window.id })
    }
    const window = this.#open.get(key)
    if (place.place === 'merged' && window) {
      window.runIds.push(run.id)
      window.eventCount += 1
      this.#record.note({ ...about, kind: 'window_joined', windowId: window.id })
      if (place.endsAt !== undefined) {
        this.#close(window, 'time')
        this.#open.delete(key)
      }
    }
    if (window && place.place !== 'first') this.#stepAt(run, need.group).windowId = window.id
    return place
  }

  #collect(need: CloseDigest): Answer {
    const key = keyOf(need.group)
    const state = this.#digests.get(key) ?? noDigest()
    const until = openUntil(state, need, this.#now)
    if (until) return { until }
    const after = closeDigest(state, [need])
    const main = this.#record.runs.get(need.notificationId)?.run
    const window = main && this.#record.windowOf(this.#stepAt(main, need.group).windowId)
    if (after) {
      this.#digests.set(key, after)
      this.#open.delete(key)
      if (window) this.#close(window, 'time')
    }
    const merged = this.#mergedInto(need.notificationId, window)
      .map(({ id, created_at, run }) => ({ id, created_at, payload: run.event.payload }))
      .sort(byAge)
    if (need.newestFirst) merged.reverse()
    const events = collect(
      merged.map(({ id, created_at, payload }) => ({
        ...{ id, time: created_at.toISOString(), payload },
        bytes: Buffer.byteLength(JSON.stringify(payload)),
      })),
    )
    return {
      events: events.map(({ id, time, payload }) => ({ id, time, payload })),
      left: merged.length - events.length,
    }
  }

  #pass(run: RunState, need: PassThrottle): Answer {
    const key = keyOf(need.group)
    const { passes, after } = passThrottle(this.#throttles.get(key) ?? noThrottle(this.#now), [need], this.#now)
    if (after) this.#throttles.set(key, after)
    const [pass] = passes
    if (!pass) throw new Error('A throttle gave no answer.')
    const known = this.#open.get(key)
    const isNew =
      known?.openedAt.getTime() !== pass.startedAt.getTime() || known.endsAt?.getTime() !== pass.endsAt.getTime()
    const window = isNew || !known ? this.#openWindow(run, need.group, 'throttle', pass.endsAt) : known
    this.#open.set(key, window)
    if (window === known) window.eventCount += 1
    else window.runIds = []
    if (pass.isThrottled) window.heldBack.push(run.id)
    else window.runIds.push(run.id)
    this.#stepAt(run, need.group).windowId = window.id
    return pass
  }

  #openWindow(run: RunState, group: Group, kind: Window['kind'], endsAt: Date | null): Window {
    const step = run.jobs.find((job) => job.step._id === group.stepRowId)?.step
    return this.#record.openWindow({
      kind,
      workflowId: run.workflow.identifier,
      stepId: step?.stepId ?? '',
      subscriberId: run.subscriber.subscriber_id,
      key: group.value === '' || group.value === 'No-Value-Provided' ? null : group.value,
      openedAt: this.#now,
      endsAt,
      closedAt: null,
      closedBy: null,
      runIds: [run.id],
      heldBack: [],
      eventCount: 1,
    })
  }

  #close(window: Window, closedBy: 'time' | 'cancel'): void {
    Object.assign(window, { closedAt: this.#now, closedBy })
    this.#record.note({ at: this.#now, kind: 'window_closed', windowId: window.id })
  }

  #stepAt(run: RunState, { stepRowId }: Group) {
    const job = run.jobs.find(({ step }) => step._id === stepRowId)
    return this.#record.stepOf(run, job?.position ?? 0)
  }
}

/** Calls of a step that hang, until a moment of simulated time. */
class Hang {
  until = 0
  #sleepers: Array<() => void> = []
  #tell: () => void = () => undefined

  sleep(until: number): Promise<void> {
    this.until = until
    return new Promise((resolve) => {
      this.#sleepers.push(resolve)
      this.#tell()
    })
  }

  begun(): Promise<'asleep'> {
    return new Promise((resolve) => {
      this.#tell = () => resolve('asleep')
      if (this.#sleepers.length > 0) resolve('asleep')
    })
  }

  end(): void {
    for (const wake of this.#sleepers.splice(0)) wake()
  }
}

const keyOf = (group: Group) => JSON.stringify(Object.values(group))

function takeOut(window: Window, runId: string): void {
  window.runIds = window.runIds.filter((id) => id !== runId)
  window.eventCount = window.runIds.length
}

const isStillDue = ({ run, position, dueAt }: Extract<Due, { run: RunState }>): boolean => {
  const job = run.jobs.find((each) => each.position === position)
  return (job?.status === 'delayed' || job?.status === 'queued') && job.dueAt?.getTime() === dueAt
}

/** What each attempt led to: the next integration at once, another attempt later, or the end. */
function noteNext(job: JobState, attempts: Attempt[], result: CallResult): void {
  const { delivery } = 'outcome' in result && result.outcome && 'delivery' in result.outcome ? result.outcome : {}
  const destinations = Object.entries((delivery?.destinations ?? {}) as Record<string, DestinationProgress>)
  for (const [index, attempt] of attempts.entries()) {
    if (attempt.outcome === 'sent') continue
    const isLast = !attempts.slice(index + 1).some(({ messageId }) => messageId === attempt.messageId)
    const [, left] = destinations.find(([key]) => messageIdFor(job.id, key) === attempt.messageId) ?? []
    if (!isLast) attempt.next = 'fail_over'
    else if (left?.status === 'waiting' && left.dueAt !== undefined)
      Object.assign(attempt, { next: 'retry', nextAt: new Date(left.dueAt) })
    else attempt.next = 'give_up'
  }
}
