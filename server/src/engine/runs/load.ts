// Builds existing runs from their rows, and ends those whose subscriber is gone.
import type { Selectable } from 'kysely'
import { newId } from '../../db/core/ids.ts'
import { wholeLog } from '../../db/core/step-log.ts'
import type { ChannelChoices, JobTable, NotificationTable } from '../../db/core/tables.ts'
import type { Transaction } from '../../db/core/transaction.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import type { AskedPerson } from '../../steps/contract/question.ts'
import type { EventFacts } from '../../steps/contract/step-run.ts'
import { allSteps } from '../../steps/contract/tree.ts'
import { gateOf } from '../../steps/delivery/filter-gate.ts'
import { copyStep } from '../../steps/kinds/ask-copies.ts'
import { findContexts, findRecipients, findTenants } from '../core/accept-statements.ts'
import type { Memory, RememberedEnvironment, WorkflowVersion } from '../core/memory.ts'
import { endOrphans, findCopies, holdRuns, loadRuns, loadRunsOf, lockEnded } from '../core/run-statements.ts'
import { endOrphan, type Outline } from './canceling.ts'
import {
  contextIdOf,
  type EventRow,
  environmentOf,
  factsFrom,
  isoDates,
  type PreparedEvent,
  personOf,
  preferencesFor,
  type RecipientRow,
  resultsOf,
  type StoredPreference,
} from './compose.ts'
import { firstCopy } from './question-jobs.ts'
import { cancelQuestions } from './question-rows.ts'
import { type JobState, noEffects, type RunState } from './run-state.ts'

/** The key of a run or an event. */
export interface RunKey {
  environmentId: string
  id: string
}

type Dated<T> = { [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K] }

type LoadedJob = Dated<Selectable<JobTable>>

type Unread =
  | ('error' | 'provider_id' | 'details' | 'output' | 'digest' | 'merged_into' | 'delivery')
  | ('schedule_extensions' | 'attempts' | 'due_at')
/** Of a copy that has ended for good not everything is read. */
type ReadJob = Omit<LoadedJob, Unread> & Partial<Pick<LoadedJob, Unread>>

export interface LoadedRow extends Selectable<NotificationTable> {
  revision: string
  jobs: ReadJob[] | null
  /** Whether copies of questions are missing that nothing happens to. */
  is_partial: boolean
  /** Null also where a row before it has the same. */
  event: Dated<EventRow> | null
  subscriber: Dated<SubscriberRow> | null
  preferences: StoredPreference[] | null
  seen: Record<string, Record<string, unknown>> | null
}

/** As much of a run that has changed as whoever watches is told. */
export interface WatchedRun extends Pick<RunState, 'id' | 'status' | 'transactionId'> {
  subscriber: Pick<SubscriberRow, 'subscriber_id'>
  workflow: { identifier: string }
  jobs: Array<Pick<JobState, 'status' | 'reason' | 'isChanged'> & { step: { stepId: string } }>
  effects: { messages: Array<{ status: string; channel: string }> }
}

/**
 * Locks and reads runs. A run whose subscriber was deleted is ended and left out.
 * @param keys with the steps that go on, where those may be copies of a question
 * @param watch told of those once they are stored
 */
export async function lockRuns(
  transaction: Transaction,
  memory: Memory,
  keys: Array<RunKey & { position?: number }>,
  now: Date,
  watch?: (runs: WatchedRun[], now: Date) => void,
): Promise<RunState[]> {
  const columns = columnsOf(keys)
  await transaction.run(holdRuns, columns)
  return readLocked(transaction, memory, { keys, columns }, now, watch)
}

/** The same for runs whose calls have ended, with the steps of these calls. */
export async function lockCalls(
  transaction: Transaction,
  memory: Memory,
  calls: Array<RunKey & { position: number }>,
  now: Date,
  watch?: (runs: WatchedRun[], now: Date) => void,
): Promise<RunState[]> {
  const columns = columnsOf(calls)
  await transaction.run(lockEnded, [...columns, calls.map(({ position }) => position)])
  return readLocked(transaction, memory, { keys: calls, columns }, now, watch)
}

const columnsOf = (keys: RunKey[]) => [keys.map(({ environmentId }) => environmentId), keys.map(({ id }) => id)]

async function readLocked(
  transaction: Transaction,
  memory: Memory,
  { keys, columns }: { keys: Array<RunKey & { position?: number }>; columns: string[][] },
  now: Date,
  watch: ((runs: WatchedRun[], now: Date) => void) | undefined,
): Promise<RunState[]> {
  const positions = keys.map(({ position }) => position ?? null)
  const rows = positions.some((position) => position !== null && position >= firstCopy)
    ? await transaction.run<LoadedRow>(loadRunsOf, [...columns, positions])
    : await transaction.run<LoadedRow>(loadRuns, columns)
  const going = new Set(keys.flatMap(({ id, position }) => (position === undefined ? [] : [`${id} ${position}`])))
  const tell = watch && ((ended: WatchedRun[]) => transaction.afterCommit(() => watch(ended, now)))
  return runsOf(transaction, memory, rows, now, { going, tell })
}

/**
 * The runs in these rows; see `lockRuns` for those left out.
 * @param going the steps that go on, as run and position
 */
export async function runsOf(
  transaction: Pick<Transaction, 'run'>,
  memory: Memory,
  rows: LoadedRow[],
  now: Date,
  { going, tell }: { going: ReadonlySet<string>; tell?: ((ended: WatchedRun[]) => void) | undefined },
): Promise<RunState[]> {
  const events = rows.flatMap(({ event }) => (event ? [datedEvent(event)] : []))
  const references = await readReferences(transaction, events)
  const facts = new Map(events.map((event) => [event.id, references.factsOf(event)]))
  const runs: RunState[] = []
  const orphans: Orphan[] = []
  for (const row of rows) {
    const environment = await memory.recallAt(row.environment_id, row.revision)
    const definition = await environment?.version(row.workflow_id, row.workflow_version)
    const event = facts.get(row.event_id)
    if (!environment || !definition || !event || !row.subscriber) {
      orphans.push({ row, identifier: definition?.identifier ?? row.workflow_id })
      continue
    }
    runs.push(await existingRun(row, { environment, definition, event }))
  }
  if (orphans.length > 0) {
    const ended = await endAll(transaction, await wholeOrphans(transaction, orphans), now)
    tell?.(ended)
  }
  await meetPeople(transaction, runs, going)
  return runs
}

/** Those who are asked in copies that go on. */
async function meetPeople(
  transaction: Pick<Transaction, 'run'>,
  runs: RunState[],
  going: ReadonlySet<string>,
): Promise<void> {
  const asked = runs.flatMap((run) =>
    run.jobs.flatMap(({ asked: copy, position }) =>
      copy && going.has(`${run.id} ${position}`) ? [{ run, subscriberId: copy.subscriberId }] : [],
    ),
  )
  if (asked.length === 0) return
  for (const { run, person } of await findPeople(transaction, asked))
    run.people.set(person.subscriber.subscriber_id, person)
}

/** Subscribers as they are asked by runs, each for the run that asks. */
export async function findPeople(
  transaction: Pick<Transaction, 'run'>,
  asked: Array<{ run: RunState; subscriberId: string }>,
): Promise<Array<{ run: RunState; person: AskedPerson }>> {
  const rows = await transaction.run<RecipientRow>(findRecipients, [
    asked.map(({ run }) => run.environment.id),
    asked.map(({ subscriberId }) => subscriberId),
  ])
  const byKey = new Map(rows.map((row) => [`${row.environment_id} ${row.subscriber_id}`, row]))
  return Promise.all(
    asked.flatMap(({ run, subscriberId }) => {
      const row = byKey.get(`${run.environment.id} ${subscriberId}`)
      return row ? [personOf(run, row).then((person) => ({ run, person }))] : []
    }),
  )
}

interface Orphan {
  row: LoadedRow
  /** Of its workflow, if that is still there. */
  identifier: string
}

/** All their steps end. */
async function wholeOrphans(transaction: Pick<Transaction, 'run'>, orphans: Orphan[]): Promise<Orphan[]> {
  const partial = orphans.filter(({ row }) => row.is_partial).map(({ row }) => row)
  if (partial.length === 0) return orphans
  const keys = partial.map(({ environment_id: environmentId, id }) => ({ environmentId, id }))
  const whole = new Map((await transaction.run<LoadedRow>(loadRuns, columnsOf(keys))).map((row) => [row.id, row]))
  return orphans.map(({ row, identifier }) => ({ row: whole.get(row.id) ?? row, identifier }))
}

async function endAll(transaction: Pick<Transaction, 'run'>, orphans: Orphan[], now: Date): Promise<WatchedRun[]> {
  const told: WatchedRun[] = []
  const rows = orphans.map(({ row }) => row)
  const ended = orphans.flatMap(({ row, identifier }) => {
    const { environment_id, id, status, jobs } = row
    const outline: Outline = {
      id,
      status: status as RunState['status'],
      jobs: (jobs ?? []).map((job) => ({
        position: job.position,
        type: job.type,
        status: job.status as JobState['status'],
        reason: job.reason as JobState['reason'],
        error: job.error ?? null,
        dueAt: null,
        details: [],
        isChanged: false,
      })),
    }
    endOrphan(outline, now)
    const stepIds = new Map((jobs ?? []).map(({ position, step_id }) => [position, step_id]))
    told.push({
      ...{ id, status: outline.status, transactionId: row.transaction_id, effects: { messages: [] } },
      ...{ subscriber: { subscriber_id: row.subscriber_id }, workflow: { identifier } },
      jobs: outline.jobs.map((job) => ({
        ...job,
        step: { stepId: stepIds.get(job.position) ?? '' },
      })),
    })
    return outline.jobs
      .filter(({ isChanged }) => isChanged)
      .map(({ position, ...job }) => ({ environment_id, notification_id: id, position, ...job, run: outline.status }))
  })
  await transaction.run(endOrphans, [JSON.stringify(ended), now])
  const asking = rows.filter(({ jobs }) => jobs?.some(({ type, status }) => type === 'ask' && status === 'delayed'))
  if (asking.length > 0)
    await cancelQuestions(
      transaction,
      asking.map(({ environment_id, id }) => ({ environmentId: environment_id, id })),
      now,
    )
  return told
}

async function existingRun(
  row: LoadedRow,
  {
    environment,
    definition,
    event,
  }: Pick<PreparedEvent, 'definition'> & { environment: RememberedEnvironment; event: EventFacts },
): Promise<RunState> {
  const subscriber = datedSubscriber(row.subscriber as Dated<SubscriberRow>)
  const jobs = await jobsFrom(row.jobs ?? [], { environment, definition, seen: row.seen })
  const contentOf = (await mendedOf(environment, definition, row.jobs ?? [])) ?? definition
  return {
    id: row.id,
    transactionId: row.transaction_id,
    contextKeys: row.context_keys,
    severity: row.severity,
    critical: row.critical,
    event,
    subscriber,
    workflow: definition,
    contentOf,
    environment: environmentOf(environment, event),
    translator: await environment.translator('workflow', contentOf, subscriber.locale),
    results: resultsOf(jobs),
    newId,
    definition,
    preferences: preferencesFor(row.preferences, row.workflow_id, row.context_keys),
    topics: row.topics,
    people: new Map(),
    translatorFor: (locale) => environment.translator('workflow', contentOf, locale),
    status: row.status as RunState['status'],
    digestedInto: row.digested_into,
    goals: row.goals,
    jobs,
    isPartial: row.is_partial,
    createdAt: row.created_at,
    isNew: false,
    effects: noEffects(),
  }
}

/** The version that a step was last redriven with, if it is another one. */
async function mendedOf(
  environment: RememberedEnvironment,
  { id }: WorkflowVersion,
  rows: ReadJob[],
): Promise<WorkflowVersion | undefined> {
  const versions = rows.flatMap(({ delivery }) => (delivery && gateOf({ delivery })?.version) ?? [])
  return versions.length > 0 ? environment.version(id, Math.max(...versions)) : undefined
}

async function jobsFrom(
  rows: ReadJob[],
  {
    environment,
    definition,
    seen,
  }: Pick<PreparedEvent, 'definition'> & {
    environment: RememberedEnvironment
    seen: LoadedRow['seen']
  },
): Promise<JobState[]> {
  const steps = new Map(allSteps(definition.steps).map((step) => [step._id, step]))
  for (const { delivery, step_row_id } of rows) {
    // Redriven: use the step of the version it was redriven with.
    const { version } = (delivery && gateOf({ delivery })) ?? {}
    const later = version === undefined ? undefined : await environment.version(definition.id, version)
    for (const step of allSteps(later?.steps ?? [])) if (step._id === step_row_id) steps.set(step._id, step)
  }
  return rows.map((job): JobState => {
    const { step_row_id: _id, step_id: stepId, type, details = [], provider_id: providerId = null, due_at } = job
    const step = steps.get(_id) ?? { _id, stepId, name: stepId, type, controlValues: null }
    const createdAt = new Date(job.created_at)
    return {
      ...{ id: job.id, position: job.position, step: job.asked ? copyStep(step, type) : step, type, providerId },
      ...{
        status: job.status as JobState['status'],
        reason: job.reason as JobState['reason'],
        error: job.error ?? null,
      },
      ...{
        details: wholeLog(details, { createdAt, providerId, output: job.output ?? null }),
        storedDetails: details.length,
      },
      output: isoDates(seen?.[job.id]) ?? job.output ?? null,
      ...{ digest: job.digest ?? null, mergedInto: job.merged_into ?? null, asked: job.asked },
      ...{
        scheduleExtensions: job.schedule_extensions ?? 0,
        attempts: job.attempts ?? 0,
        delivery: job.delivery ?? null,
      },
      ...{ dueAt: due_at ? new Date(due_at) : null, createdAt, isChanged: false, isNew: false },
    }
  })
}

/** Reads the copies of questions that were not read with these runs. */
export async function addCopies(
  transaction: Pick<Transaction, 'run'>,
  memory: Memory,
  runs: RunState[],
): Promise<void> {
  const keys = runs.map(({ environment, id }) => ({ environmentId: environment.id, id }))
  const rows = await transaction.run<{ notification_id: string; jobs: ReadJob[] }>(findCopies, columnsOf(keys))
  for (const run of runs) {
    const environment = await memory.recall(run.environment.id)
    const known = new Set(run.jobs.map(({ position }) => position))
    const stored = rows.find(({ notification_id }) => notification_id === run.id)?.jobs ?? []
    const rest = stored.filter(({ position }) => !known.has(position))
    if (environment) run.jobs.push(...(await jobsFrom(rest, { environment, definition: run.definition, seen: null })))
    run.jobs.sort((a, b) => a.position - b.position)
    run.isPartial = false
  }
}

const datedEvent = (event: Dated<EventRow>): EventRow =>
  ({ ...event, created_at: new Date(event.created_at) }) as unknown as EventRow

/** The same row: a copy of so many members took as long as reading it. */
const datedSubscriber = (row: Dated<SubscriberRow>): SubscriberRow =>
  Object.assign(row, {
    created_at: new Date(row.created_at),
    updated_at: new Date(row.updated_at),
    last_online_at: dateOf(row.last_online_at),
    snoozed_until: dateOf(row.snoozed_until),
  })

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text))

interface References {
  factsOf(event: EventRow): EventFacts
}

/** The contexts, tenants and actors that these events name, as they are now. */
export async function readReferences(transaction: Pick<Transaction, 'run'>, events: EventRow[]): Promise<References> {
  const contexts = events.flatMap(({ environment_id, context }) =>
    Object.entries(context ?? {}).map(([type, value]) => ({ environment_id, type, id: contextIdOf(value) })),
  )
  const tenants = events.flatMap(({ environment_id, tenant }) =>
    tenant ? [{ environment_id, identifier: String(tenant.identifier) }] : [],
  )
  const actors = events.flatMap(({ environment_id, actor }) =>
    actor ? [{ environment_id, subscriberId: String(actor.subscriberId) }] : [],
  )
  const column = <T, K extends keyof T>(rows: T[], name: K) => rows.map((row) => row[name])
  const foundContexts =
    contexts.length === 0
      ? []
      : await transaction.run<{ environment_id: string; type: string; context_id: string; data: object }>(
          findContexts,
          [column(contexts, 'environment_id'), column(contexts, 'type'), column(contexts, 'id')],
        )
  const foundTenants =
    tenants.length === 0
      ? []
      : await transaction.run<{
          environment_id: string
          identifier: string
          name: string | null
          data: Record<string, unknown> | null
          overrides: Record<string, ChannelChoices> | null
        }>(findTenants, [column(tenants, 'environment_id'), column(tenants, 'identifier')])
  const foundActors =
    actors.length === 0
      ? []
      : await transaction.run<RecipientRow>(findRecipients, [
          column(actors, 'environment_id'),
          column(actors, 'subscriberId'),
        ])
  const tenantIn = (event: EventRow) =>
    foundTenants.find(
      (row) => row.environment_id === event.environment_id && row.identifier === event.tenant?.identifier,
    )
  return {
    factsOf: (event) =>
      factsFrom(event, {
        actor: foundActors.find(
          (row) => row.environment_id === event.environment_id && row.subscriber_id === event.actor?.subscriberId,
        ),
        tenant: tenantIn(event),
        contextData: (type, id) =>
          foundContexts.find(
            (each) => each.environment_id === event.environment_id && each.type === type && each.context_id === id,
          )?.data,
      }),
  }
}
