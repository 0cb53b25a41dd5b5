// Accepts triggers: checks each against its workflow, then stores all that arrive together in one commit. After `processed`,
// the trigger is in the database.
import type pg from 'pg'
import { inColumns, inOneRow, type Table } from '../../db/core/columns.ts'
import { isOutage, retryConflicts } from '../../db/core/database.ts'
import { realOf } from '../../db/core/held-clock.ts'
import { newId } from '../../db/core/ids.ts'
import { sha256 } from '../../db/core/secrets.ts'
import type { Recipient } from '../../db/core/tables.ts'
import { autoCommit, inTransaction, type Transaction, whileReading } from '../../db/core/transaction.ts'
import { fail, RequestError } from '../../errors.ts'
import { RenderError } from '../../render/limits.ts'
import { capsFor } from '../../steps/contract/caps.ts'
import type { StepType } from '../../steps/contract/kind.ts'
import { someStep } from '../../steps/contract/tree.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import {
  acceptTriggers,
  acceptTriggersWithFiles,
  acceptWithRun,
  acceptWithRuns,
  columnsOfTriggers,
  findRecipients,
  keepBridged,
} from '../core/accept-statements.ts'
import { FairShare } from '../core/fair-share.ts'
import { GroupCommit } from '../core/group-commit.ts'
import { heldTime } from '../core/held-clocks.ts'
import { addHeldWork } from '../core/held-statements.ts'
import type { RememberedEnvironment, WorkflowVersion } from '../core/memory.ts'
import { notePassedOver } from '../core/walk-statements.ts'
import {
  type AcceptedTrigger,
  eventOf,
  firstOfEach,
  type GivenTrigger,
  type Group,
  groupOf,
  jobsOf,
  keyOfTrigger,
  passedOverOf,
  type Taken,
  type TakenRow,
  takenOf,
} from './accepted-triggers.ts'
import { splitAttachments } from './attachments.ts'
import type { PreparedEvent } from './compose.ts'
import { goesLive, idleStatus, judgePayload, keyFrom, markedWay, type TenantChoice } from './judge.ts'
import { isCriticalWorkflow } from './run-state.ts'
import { advanceEvents, type EngineParts, noteStarted, noteTriggered, startEvents } from './start-runs.ts'
import { isExempt } from './step-guards.ts'
import { isWhole, tablesOfNew, tellHeldWork } from './store.ts'
import type { BridgedWorkflow, TriggerRequest, TriggerResult, TriggerStatus } from './trigger-request.ts'

type Members = Record<string, unknown>

interface Surroundings extends EngineParts {
  /** Whether this process also runs triggers: then small ones need no queue. */
  startsAtOnce: boolean
}

/** With more recipients, the queue starts the runs. */
const mostImmediate = 10
/** A trigger that waits longer for a lock, such as on a subscriber being imported, is left to the queue. */
const lockTimeoutMs = 250

/** Each retry follows a change to the environment in between. */
const mostTries = 10

export class Triggers {
  readonly #surroundings: Surroundings
  readonly #shares = new FairShare()
  readonly #queued: GroupCommit<AcceptedTrigger, 'stored' | 'stale'>
  readonly #immediate: GroupCommit<AcceptedTrigger, 'stored' | 'stale'>
  /** The latest trigger of each environment whose clock is held: the next waits for it, so that they keep their order. */
  readonly #latestHeld = new Map<string, Promise<unknown>>()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    const mostSize = 8 * 1024 * 1024
    const sizeOf = ({ payload, recipients, attachments }: AcceptedTrigger) =>
      payload.length + (recipients?.length ?? 0) + attachments.reduce((sum, { content }) => sum + content.length, 0)
    const ownerOf = ({ request }: AcceptedTrigger) => request.environmentId
    const size = { mostSize, sizeOf, ownerOf }
    this.#queued = new GroupCommit((group) => this.#store(group), isOutage, { mostItems: 500, ...size })
    // Two lanes: while the database writes one group, the other's messages are rendered. With nothing to render it does not
    // help: groups only get smaller (0.72 of the route without work instead of 0.74). While many wait, a third lane and larger
    // groups do a fifth more; with fewer waiting, a large group leaves nothing for the other lane. Where each trigger leads to
    // a call, the calls are the bottleneck, and those that this process cannot hold cost a third more. Then one lane: of 10,000
    // mails at once, two thirds went through the queue with two lanes, and 990 instead of 1,270 a second were sent. Of 128
    // callers with a trigger each, groups of 1, 27 and 100 formed: half of the others at least is 3 to 10 % more a second.
    const isSlow = () => surroundings.hands?.areBusy ?? false
    const lanes = { lanes: 2, lanesWhenFull: 3, leastShare: 0.5, isSlow }
    const limits = { ...lanes, mostItems: 100, mostItemsWhenFull: 200, ...size }
    this.#immediate = new GroupCommit((group) => this.#storeAndStart(group), isOutage, limits)
  }

  /** Rejects if the caller did something wrong; else resolves once the trigger is committed. */
  async accept(request: TriggerRequest): Promise<TriggerResult> {
    const createdAt = this.#surroundings.clock.now()
    // Before the first await, so that triggers that arrive together keep their order.
    const id = newId(createdAt)
    const transactionId = request.transactionId ?? `txn_${id}`
    const bridged = request.bridged && (await versionOf(this.#surroundings.pool, request, request.bridged, createdAt))
    for (let tries = 0; tries < mostTries; tries += 1) {
      const environment = await this.#surroundings.memory.recall(request.environmentId)
      if (!environment) throw fail('unknown_trigger')
      const judged = await this.#judge(environment, request, { id, transactionId, createdAt }, bridged).catch(refusalIn)
      if (typeof judged === 'object' && 'request' in judged) {
        if ((await this.#commit(judged, environment, bridged)) === 'stored') {
          if (request.invalidRecipients) await this.#notePassedOver(judged, request.invalidRecipients)
          return { status: 'processed', transactionId }
        }
      } else if (await this.#isCurrent(environment)) {
        if (typeof judged === 'string') return { status: judged, transactionId }
        throw judged
      }
      await this.#surroundings.memory.forgetStale(environment)
    }
    throw new Error(`The environment changed ${mostTries} times while accepting a trigger.`)
  }

  #commit(
    judged: AcceptedTrigger,
    environment: RememberedEnvironment,
    bridged: WorkflowVersion | undefined,
  ): Promise<'stored' | 'stale'> {
    if (environment.facts.clock)
      return this.#afterEarlierHeld(judged.request.environmentId, () =>
        retryConflicts(async () =>
          this.#storeHeld(judged, bridged ?? (await environment.workflow(judged.request.name))),
        ),
      )
    return (judged.isImmediate ? this.#immediate : this.#queued).add(judged)
  }

  /**
   * Accepts triggers inside the caller's transaction, in their order. Each is accepted or refused by itself; what fails otherwise
   * fails the transaction. @param startsNow whether small ones also start in it
   */
  async acceptIn(
    transaction: Transaction,
    requests: TriggerRequest[],
    { startsNow }: { startsNow: boolean },
  ): Promise<Array<TriggerResult | RequestError>> {
    const { memory, clock } = this.#surroundings
    const createdAt = clock.now()
    const given = requests.map((request) => {
      const id = newId(createdAt)
      return { id, createdAt, request, transactionId: request.transactionId ?? `txn_${id}` }
    })
    const results = new Map<string, TriggerResult | RequestError>()
    for (let tries = 0; results.size < given.length; ) {
      const before = results.size
      // Of those with the same transaction id the first; the next only if that one is refused.
      const open = firstOfEach(given.filter(({ id }) => !results.has(id)))
      const judged: AcceptedTrigger[] = []
      const idle = new Map<RememberedEnvironment, Array<[GivenTrigger, TriggerStatus | RequestError]>>()
      for (const each of open) {
        const environment = await memory.recall(each.request.environmentId)
        if (!environment) {
          results.set(each.id, fail('unknown_trigger'))
          continue
        }
        const verdict = await this.#judge(environment, each.request, each, undefined).catch(refusalIn)
        if (typeof verdict === 'object' && 'request' in verdict) judged.push(verdict)
        else idle.set(environment, [...(idle.get(environment) ?? []), [each, verdict]])
      }
      for (const [environment, verdicts] of idle) {
        if (!(await this.#isCurrent(environment))) continue
        for (const [{ id, transactionId }, verdict] of verdicts)
          results.set(id, typeof verdict === 'string' ? { status: verdict, transactionId } : verdict)
      }
      const stored = new Set((await this.#storeIn(transaction, judged, startsNow)).map(keyOfTrigger))
      for (const each of given)
        if (!results.has(each.id) && stored.has(keyOfTrigger(each)))
          results.set(each.id, { status: 'processed', transactionId: each.transactionId })
      for (const { id, request } of open) if (!results.has(id)) memory.forget(request.environmentId)
      if (results.size > before) continue
      tries += 1
      if (tries === mostTries) throw new Error(`The environment changed ${mostTries} times while accepting triggers.`)
    }
    return given.map(({ id }) => results.get(id) as TriggerResult | RequestError)
  }

  /** @returns those that are stored, also if a trigger with their transaction id was before */
  async #storeIn(transaction: Transaction, judged: AcceptedTrigger[], startsNow: boolean): Promise<AcceptedTrigger[]> {
    const { memory, clock, bell, log, meter } = this.#surroundings
    const stored: AcceptedTrigger[] = []
    const [immediate, queued]: AcceptedTrigger[][] = [[], []]
    for (const trigger of judged) {
      const environment = await memory.recall(trigger.request.environmentId)
      if (environment?.facts.clock) {
        const workflow = await environment.workflow(trigger.request.name)
        if ((await this.#storeHeldIn(transaction, trigger, workflow)) === 'stored') stored.push(trigger)
      } else (startsNow && trigger.isImmediate ? immediate : queued)?.push(trigger)
    }
    for (const [triggers = [], startedAt] of [
      [immediate, clock.now()],
      [queued, null],
    ] as const) {
      if (triggers.length === 0) continue
      const group = groupOf(triggers)
      const { statement, values } = this.#accepting(group, startedAt)
      const rows = await transaction.run<TakenRow>(statement, values)
      const taken = takenOf(group, rows)
      const accepted = triggers.filter((each) => taken.isAccepted(each))
      stored.push(...triggers.filter((each) => taken.isFresh(each)))
      transaction.afterCommit(() => meter?.accepted(accepted.length))
      for (const trigger of accepted)
        if (trigger.request.invalidRecipients) {
          const { text, values: noted } = passedOverOf(trigger, trigger.request.invalidRecipients)
          await transaction.run({ name: notePassedOver.name, text }, noted)
        }
      if (startedAt === null) {
        transaction.afterCommit(() => bell.ring('start_runs', Number(rows[0]?.queued ?? 0)))
        continue
      }
      const events = accepted.map((trigger) => eventOf(trigger, startedAt))
      const started = await startEvents(transaction, this.#surroundings, events, startedAt)
      transaction.afterCommit(() => {
        void noteTriggered(this.#surroundings, started).catch((error: unknown) =>
          log.warn({ err: error }, 'could not record when workflows were last triggered'),
        )
      })
    }
    return stored
  }

  #afterEarlierHeld<T>(environmentId: string, store: () => Promise<T>): Promise<T> {
    const storing = (this.#latestHeld.get(environmentId) ?? Promise.resolve()).then(store, store)
    this.#latestHeld.set(environmentId, storing)
    const forget = () => this.#latestHeld.get(environmentId) === storing && this.#latestHeld.delete(environmentId)
    void storing.then(forget, forget)
    return storing
  }

  /** Where the clock is held: taken at the time it shows, and started in its turn. */
  #storeHeld(trigger: AcceptedTrigger, workflow: WorkflowVersion | undefined): Promise<'stored' | 'stale'> {
    return inTransaction(this.#surroundings.pool, (transaction) => this.#storeHeldIn(transaction, trigger, workflow))
  }

  async #storeHeldIn(
    transaction: Transaction,
    trigger: AcceptedTrigger,
    workflow: WorkflowVersion | undefined,
  ): Promise<'stored' | 'stale'> {
    const { clock, bell } = this.#surroundings
    const { environmentId } = trigger.request
    const now = await heldTime(transaction, clock, environmentId)
    trigger.createdAt = now
    if (workflow) trigger.cancellationKey = this.#keyOf(trigger.request, workflow, trigger.values, now)
    const group = groupOf([trigger])
    const { statement, values } = this.#accepting(group, null, { isHeld: true })
    const taken = takenOf(group, await transaction.run<TakenRow>(statement, values))
    const [verdict = 'stale'] = this.#verdicts([trigger], taken)
    if (verdict === 'stored' && taken.isAccepted(trigger)) {
      const work = { environment_id: environmentId, subject_id: trigger.id, position: 0, due_at: now }
      await transaction.run(addHeldWork, [JSON.stringify([{ ...work, kind: 'start', held: true }])])
      await tellHeldWork(transaction, environmentId, { bell })
    }
    return verdict
  }

  /** For a trigger with other, valid recipients. A crash here loses only the explanation. */
  async #notePassedOver(trigger: AcceptedTrigger, invalid: string[]): Promise<void> {
    const { text, values } = passedOverOf(trigger, invalid)
    await this.#surroundings.pool.query(text, values)
  }

  /** A refusal has to be right by the current revision; for accepted triggers, the storing statement checks it. */
  async #isCurrent({ facts, revision }: RememberedEnvironment): Promise<boolean> {
    const { rows } = await this.#surroundings.pool.query<{ revision: string }>(
      'SELECT revision::text AS revision FROM environment_revisions WHERE environment_id = $1',
      [facts.id],
    )
    return (rows[0]?.revision ?? '0') === revision
  }

  async #judge(
    environment: RememberedEnvironment,
    request: TriggerRequest,
    given: Pick<AcceptedTrigger, 'id' | 'transactionId' | 'createdAt'>,
    bridged: WorkflowVersion | undefined,
  ): Promise<AcceptedTrigger | TriggerStatus> {
    const workflow = bridged ?? (await environment.workflow(request.name))
    if (!workflow) throw fail('unknown_trigger')
    const payload = judgePayload(workflow, request)
    const tenant = request.tenant && (await this.#tenant(request.environmentId, request.tenant.identifier, workflow.id))
    const idle = idleStatus(workflow, request, tenant)
    if (idle) return idle
    const { attachments, rest } = splitAttachments(payload)
    const isLive = environment.shadow && goesLive(request.way, workflow.identifier, environment.shadow)
    const isImmediate =
      this.#surroundings.startsAtOnce && isSmall(request.recipients) && !someStep(workflow.steps, isShared)
    // Not `...given`: for a literal that begins with a spread and continues, V8 makes a hidden class per object, which only a
    // full garbage collection removes.
    return {
      id: given.id,
      transactionId: given.transactionId,
      createdAt: given.createdAt,
      request: isLive === undefined ? request : { ...request, overrides: markedWay(request.overrides, isLive) },
      revision: environment.revision,
      workflowId: workflow.id,
      workflowVersion: workflow.version,
      recipients: request.recipients && JSON.stringify(request.recipients),
      payload: JSON.stringify(rest),
      attachments,
      values: rest,
      cancellationKey: this.#keyOf(request, workflow, rest, given.createdAt),
      isImmediate,
      isPlain:
        isImmediate &&
        isPlain(request) &&
        attachments.length === 0 &&
        !someStep(workflow.steps, isOutward) &&
        !isCapped(environment, workflow),
    }
  }

  /** What its runs can be cancelled by: as the trigger says, or as its workflow makes it of the payload. */
  #keyOf(
    { cancellationKey, context }: TriggerRequest,
    { identifier, journey }: WorkflowVersion,
    payload: Members,
    now: Date,
  ): string | null {
    if (cancellationKey !== undefined) return cancellationKey
    const template = journey?.cancellationKey
    if (template === undefined) return null
    const { log } = this.#surroundings
    try {
      const key = keyFrom(template, { payload, context: context ?? {} }, now)
      if (key === undefined) log.warn({ workflowId: identifier }, 'the cancellation key of a trigger is too long')
      return key || null
    } catch (error) {
      if (!(error instanceof RenderError)) throw error
      log.warn({ err: error, workflowId: identifier }, 'the cancellation key of a trigger cannot be rendered')
      return null
    }
  }

  /** Whether the workflow is active for this tenant; null if the tenant does not say. */
  async #tenant(environmentId: string, identifier: string, workflowId: string): Promise<TenantChoice | undefined> {
    const { rows } = await this.#surroundings.pool.query<TenantChoice>(
      `SELECT o.active FROM tenants t
       LEFT JOIN workflow_overrides o
         ON o.environment_id = t.environment_id AND o.tenant_id = t.id AND o.workflow_id = $3
       WHERE t.environment_id = $1 AND t.identifier = $2`,
      [environmentId, identifier, workflowId],
    )
    return rows[0]
  }

  /**
   * Accepts triggers and starts their runs in one commit: a message can be read when its trigger is answered. Anything that
   * fails here is left to the queue.
   */
  async #storeAndStart(triggers: AcceptedTrigger[]): Promise<Array<'stored' | 'stale'>> {
    const { log } = this.#surroundings
    const now = this.#surroundings.clock.now()
    try {
      const plain = triggers.every(({ isPlain }) => isPlain) ? await this.#storeWithRuns(triggers, now) : undefined
      const { taken, started } = plain ?? (await this.#storeThenStart(triggers, now))
      await noteTriggered(this.#surroundings, started).catch((error: unknown) =>
        log.warn({ err: error }, 'could not record when workflows were last triggered'),
      )
      return this.#verdicts(triggers, taken)
    } catch (error) {
      if (isOutage(error)) throw error
      log.warn({ err: error }, 'could not start triggers at once; queuing them')
      return this.#store(triggers)
    }
  }

  #storeThenStart(triggers: AcceptedTrigger[], now: Date): Promise<Stored> {
    return inTransaction(
      this.#surroundings.pool,
      async (transaction) => {
        const group = groupOf(triggers)
        const { statement, values } = this.#accepting(group, now)
        const taken = takenOf(group, await transaction.run<TakenRow>(statement, values))
        const events = triggers.filter((each) => taken.isAccepted(each)).map((trigger) => eventOf(trigger, now))
        return { taken, started: await startEvents(transaction, this.#surroundings, events, now) }
      },
      { lockTimeoutMs },
    )
  }

  /**
   * The same in two statements instead of five: one reads the recipients, the other writes trigger and runs. Undefined, with
   * nothing written, if a run turns out to need more than rows of its own, such as a new subscriber.
   */
  async #storeWithRuns(triggers: AcceptedTrigger[], now: Date): Promise<Stored | undefined> {
    const { pool } = this.#surroundings
    const events = triggers.map((trigger) => eventOf(trigger, now))
    const advanced = await whileReading(pool, [findRecipients], (transaction) =>
      advanceEvents(transaction, this.#surroundings, events, now),
    )
    if (!advanced?.runs.every(isWhole)) return undefined
    const group = groupOf(triggers)
    const tables = [tableOf(group), ...tablesOfNew(advanced.runs)]
    const isAlone = triggers.length === 1 && tables.every(({ rows }) => rows.length === 1)
    const statement = isAlone ? acceptWithRun : acceptWithRuns
    const rows = isAlone ? inOneRow(tables) : inColumns(tables)
    const values = [...this.#acceptedBy(group, now), ...rows]
    const taken = takenOf(group, await retryConflicts(() => autoCommit(pool).run<TakenRow>(statement, values)))
    const accepted = new Set(triggers.filter(taken.isAccepted).map(({ id }) => id))
    const started = advanced.prepared.filter(({ row }) => accepted.has(row.id))
    noteStarted(
      this.#surroundings,
      started,
      advanced.runs.filter(({ event }) => accepted.has(event.id)),
      now,
    )
    return { taken, started }
  }

  async #store(triggers: AcceptedTrigger[]): Promise<Array<'stored' | 'stale'>> {
    const group = groupOf(triggers)
    const { statement, values } = this.#accepting(group, null)
    const { pool, bell } = this.#surroundings
    const rows = await retryConflicts(() => autoCommit(pool).run<TakenRow>(statement, values))
    bell.ring('start_runs', Number(rows[0]?.queued ?? 0))
    return this.#verdicts(triggers, takenOf(group, rows))
  }

  /** A used transaction id counts as stored: the first trigger with it is. */
  #verdicts(triggers: AcceptedTrigger[], { isFresh, isAccepted }: Taken): Array<'stored' | 'stale'> {
    this.#surroundings.meter?.accepted(triggers.filter(isAccepted).length)
    return triggers.map((each) => (isFresh(each) ? 'stored' : 'stale'))
  }

  #accepting(group: Group, startedAt: Date | null, { isHeld = false } = {}) {
    const now = this.#surroundings.clock.now()
    const { triggers } = group
    const jobs =
      startedAt || isHeld
        ? []
        : jobsOf(triggers, (environmentId, count) => this.#shares.note(environmentId, count, now))
    const files = triggers.flatMap(({ id, createdAt, attachments }) =>
      attachments.map((file) => ({ id, createdAt: realOf(createdAt), ...file })),
    )
    const values = [
      ...this.#acceptedBy(group, startedAt, { isHeld }),
      jobs.map(({ events }) => JSON.stringify({ events })),
      jobs.map(({ priority }) => priority),
    ]
    const rows = inColumns([tableOf(group)])
    if (files.length === 0) return { statement: acceptTriggers, values: [...values, ...rows] }
    values.push(
      files.map(({ id }) => id),
      files.map(({ position }) => position),
      files.map(({ name }) => name),
      files.map(({ mime }) => mime),
      files.map(({ content }) => content),
      files.map(({ createdAt }) => createdAt),
    )
    return { statement: acceptTriggersWithFiles, values: [...values, ...rows] }
  }

  /** What a group shares: the parameters that all statements for triggers begin with. */
  #acceptedBy({ triggers, bases }: Group, startedAt: Date | null, { isHeld = false } = {}): unknown[] {
    const { clock, dedupDays } = this.#surroundings
    const now = clock.now().getTime()
    const dedupMs = dedupDays * 86_400_000
    return [
      bases.map(({ environmentId }) => environmentId),
      bases.map(({ revision }) => revision),
      new Date(now + dedupMs),
      // Where the clock is held, what it shows says nothing about a trigger's age.
      new Date(isHeld ? 0 : now - dedupMs),
      triggers.length,
      startedAt,
    ]
  }
}

/** The rows of `columnsOfTriggers`. */
function tableOf({ triggers, places }: Group): Table {
  const json = (value: Members | undefined) => value && JSON.stringify(value)
  const rows = triggers.map((trigger, index) => {
    const { request } = trigger
    return {
      id: trigger.id,
      place: places[index],
      transaction_id: request.transactionId,
      workflow_id: trigger.workflowId,
      workflow_version: trigger.workflowVersion,
      recipients: trigger.recipients,
      payload: trigger.payload,
      overrides: JSON.stringify(request.overrides),
      actor: json(request.actor),
      tenant: json(request.tenant),
      context: json(request.context),
      created_at: trigger.createdAt,
      trace: request.trace,
      cancellation_key: trigger.cancellationKey,
    }
  })
  return { columns: columnsOfTriggers, rows }
}

/** What a group has left in the database. */
interface Stored {
  taken: Taken
  started: PreparedEvent[]
}

/**
 * Keeps a workflow that is not stored, so that its runs find what they started with, whatever the application says by then. Its
 * version number is a hash of its content, so equal content gets an equal number; on a collision it takes the next.
 */
async function versionOf(
  pool: pg.Pool,
  { environmentId }: TriggerRequest,
  workflow: BridgedWorkflow,
  now: Date,
): Promise<WorkflowVersion> {
  const first = Number.parseInt(sha256(JSON.stringify(workflow)).slice(0, 7), 16) + 1
  for (let tries = 0; ; tries += 1) {
    const kept = { ...workflow, version: first + Math.floor(tries / 2) }
    const values: unknown[] = [environmentId, kept.id, kept.version, JSON.stringify(kept), now]
    const { rows } = await pool.query(keepBridged.text, values)
    if (rows.length > 0) return kept
  }
}

const isSmall = (recipients: Recipient[] | null) =>
  recipients !== null && recipients.length <= mostImmediate && recipients.every((each) => 'subscriberId' in each)

/** Whether the trigger only names its recipients. */
const isPlain = ({ recipients, actor, tenant, context }: TriggerRequest) =>
  !actor && !tenant && !context && recipients?.every((each) => Object.keys(each).length === 1) === true

const isOutward = ({ type }: { type: string }) => {
  const { call, wake, writesMore = false } = stepKinds[type as StepType]
  return call !== undefined || wake !== undefined || writesMore
}

/** Whether its in-app messages count somewhere. */
const isCapped = ({ facts }: RememberedEnvironment, workflow: WorkflowVersion): boolean =>
  facts.guards.caps.length > 0 &&
  capsFor(facts.guards, {
    ...{ channel: 'in_app', tags: workflow.tags },
    isExempt: isExempt({ critical: isCriticalWorkflow(workflow), definition: workflow }),
  }).length > 0

const isShared = ({ type }: { type: string }) => stepKinds[type as StepType].isShared === true

/** Only refusals are values here; anything else is thrown. */
function refusalIn(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  throw error
}
