// Advances many runs together: each until it needs the database, then one statement per kind of need answers all of them, until
// every run has stopped.
import type { Logger } from 'pino'
import { firstIdAt } from '../../db/core/ids.ts'
import type { Cap } from '../../db/core/tables.ts'
import { rowsGiven, statement, type Transaction } from '../../db/core/transaction.ts'
import { askPlace, windowMs, withPlace } from '../../steps/contract/caps.ts'
import type {
  Answer,
  CloseDigest,
  DigestEvent,
  DigestPlace,
  FindEvents,
  FindOnDuty,
  FindSchedule,
  FindTopicMembers,
  FoundMembers,
  HandDigestOn,
  HeardEvent,
  JoinDigest,
  Need,
  PassThrottle,
  Progress,
  TakePlace,
  ThrottlePass,
} from '../../steps/contract/need.ts'
import { findMessageFacts, findPostedEvents, holdBeginnings } from '../core/event-statements.ts'
import type { Memory } from '../core/memory.ts'
import { onDuty, type RotaRules } from '../core/rota.ts'
import {
  findMerged,
  findSchedules,
  lockCaps,
  lockDigests,
  lockThrottles,
  saveCaps,
  saveDigests,
  saveThrottles,
} from '../core/window-statements.ts'
import { preferencesFor, type StoredPreference } from './compose.ts'
import { byGroup, type DigestRow, type GroupRow, groupRowOf, rowKey } from './groups.ts'
import { handOver } from './hand-over.ts'
import { addCopies, findPeople } from './load.ts'
import { type FactRow, factsOf, newMessagesOf } from './message-facts.ts'
import { endByFault } from './run.ts'
import { type RunState, StepFault } from './run-state.ts'
import { type HeldStart, queueHeldStarts, type StartingParts, startWorkflows } from './start-workflows.ts'
import { updateSubscribers } from './update-subscribers.ts'
import {
  closeDigest,
  collect,
  joinDigest,
  mostEventBytes,
  mostEvents,
  openUntil,
  passThrottle,
  type ThrottleState,
} from './windows.ts'

export interface Thread {
  run: RunState
  progress: Progress<void>
}

interface Waiting extends Thread {
  need: Need
}

/** Runs per turn of the event loop. */
const stretch = 50

export interface SettlingParts extends StartingParts {
  log: Logger
}

export async function settle(
  transaction: Transaction,
  threads: Thread[],
  parts: SettlingParts,
  now: Date,
): Promise<void> {
  let waiting: Waiting[] = []
  const starts: Starts = new Map()
  const lines = new Map<RunState, Thread[]>()
  const step = (thread: Thread, answer?: Answer): void => {
    const need = proceed(thread, answer, { now, log: parts.log })
    if (need) {
      waiting.push({ ...thread, need })
      return
    }
    const next = lines.get(thread.run)?.shift()
    if (next) step(next)
    else lines.delete(thread.run)
  }
  for (const [index, thread] of threads.entries()) {
    if (index % stretch === stretch - 1) await new Promise(setImmediate)
    // Of one run one after the other: each sees what the last one did.
    const line = lines.get(thread.run)
    if (line) line.push(thread)
    else {
      lines.set(thread.run, [])
      step(thread)
    }
  }
  while (waiting.length > 0) {
    const asked = waiting
    waiting = []
    const answers = await answerAll(transaction, asked, { ...parts, starts }, now)
    for (const [index, thread] of asked.entries()) {
      const answer = answers[index]
      if (answer && 'traces' in answer && answer.traces) thread.run.digestedTraces = answer.traces
      step(thread, answer)
    }
  }
  if (starts.size === 0) return
  // Run by run, as if each had gone on alone: together they have asked step by step.
  const inOrder = threads.flatMap(({ progress }) => starts.get(progress) ?? [])
  await queueHeldStarts(transaction, inOrder, parts)
}

/** Where the clock is held: what each has started. */
type Starts = Map<Thread['progress'], HeldStart[]>

/** A bug of ours in one run fails its step, and leaves the other runs alone. */
function proceed({ run, progress }: Thread, answer: Answer | undefined, { now, log }: { now: Date; log: Logger }) {
  try {
    const { value, done } = progress.next(answer as Answer)
    return done ? undefined : value
  } catch (error) {
    if (!(error instanceof StepFault)) throw error
    const { job, cause } = error
    log.error({ err: cause, notificationId: run.id, stepId: job.step.stepId }, 'a step failed unexpectedly')
    endByFault(run, error, now)
    return undefined
  }
}

async function answerAll(
  transaction: Transaction,
  asked: Waiting[],
  parts: SettlingParts & { starts: Starts },
  now: Date,
): Promise<Answer[]> {
  const needs = asked.map(({ need }) => need)
  const answers = new Map<Need, Answer>()
  const of = <T extends Need>(name: T['need']) => needs.filter((need): need is T => need.need === name)
  await joinDigests(transaction, of<JoinDigest>('join digest'), now, answers)
  await closeDigests(transaction, of<CloseDigest>('close digest'), now, answers)
  await handDigestsOn(transaction, of<HandDigestOn>('hand digest on'), parts, now, answers)
  await passThrottles(transaction, of<PassThrottle>('pass throttle'), now, answers)
  await takePlaces(transaction, of<TakePlace>('take place'), now, answers)
  await findOwnSchedules(transaction, asked, answers)
  await findEvents(transaction, of<FindEvents>('find events'), answers)
  await findMessages(transaction, asked, now, answers)
  await meetAsked(transaction, asked, answers)
  await meetCopies(transaction, asked, parts.memory, answers)
  await findAskedMembers(transaction, of<FindTopicMembers>('find topic members'), answers)
  await findDuties(transaction, of<FindOnDuty>('find on duty'), answers)
  await actOutside(transaction, asked, parts, now, answers)
  return needs.map((need) => answers.get(need) as Answer)
}

interface PostedRow {
  place: number
  id: string
  given_id: string | null
  name: string
  key: string | null
  subscriber_id: string | null
  payload: Record<string, unknown>
  created_at: Date
}

/** For each entry of a need. */
const mostFound = 100
/** The id of an event is made a moment before its time is. */
const idMarginMs = 60_000

/**
 * What was posted so far. The locks first: an event that is accepted from now on waits for this transaction before it looks for
 * waits (`matchEvents`), so that it is either found here or finds the wait.
 */
async function findEvents(transaction: Transaction, needs: FindEvents[], answers: Map<Need, Answer>): Promise<void> {
  if (needs.length === 0) return
  const asked = needs.flatMap(({ environmentId, isHeld, subscriberId, entries, since, until, after }, place) =>
    entries.map(({ kind, name, value }) => ({
      ...{ place, environment_id: environmentId, subscriber_id: subscriberId, kind, name, value, since, until },
      from_id: isHeld ? '' : firstIdAt(new Date(since.getTime() - idMarginMs)),
      ...{ after_at: after?.event.createdAt, after_id: after?.rowId },
    })),
  )
  const columns = [
    asked.map(({ environment_id }) => environment_id),
    asked.map(({ name }) => name),
    asked.map(({ value }) => value),
  ]
  await transaction.run(holdBeginnings, columns)
  const found = new Map<number, PostedRow[]>()
  for (const row of await transaction.run<PostedRow>(findPostedEvents, [JSON.stringify(asked), mostFound])) {
    const own = found.get(row.place) ?? []
    found.set(row.place, own)
    // Two entries may have found it.
    if (own.at(-1)?.id !== row.id) own.push(row)
  }
  for (const [place, need] of needs.entries()) {
    const rows = (found.get(place) ?? []).slice(0, mostFound)
    answers.set(need, { heard: rows.map(heardFrom), isMore: rows.length === mostFound })
  }
}

const heardFrom = (row: PostedRow): HeardEvent => ({
  rowId: row.id,
  event: {
    ...{ id: row.given_id ?? row.id, name: row.name, key: row.key, subscriberId: row.subscriber_id },
    ...{ payload: row.payload, createdAt: row.created_at.toISOString() },
  },
})

/** What has become of messages: of those that are stored, locked against changes, and of those that are about to be. */
async function findMessages(
  transaction: Transaction,
  asked: Waiting[],
  now: Date,
  answers: Map<Need, Answer>,
): Promise<void> {
  const all = asked.flatMap(({ need, run }) => (need.need === 'find messages' ? [{ need, run }] : []))
  if (all.length === 0) return
  const stored = all.filter(({ run }) => !run.isNew)
  const rows =
    stored.length === 0
      ? []
      : await transaction.run<FactRow & { notification_id: string }>(findMessageFacts, [
          JSON.stringify(
            stored.map(({ need: { environmentId, transactionId, notificationId, stepIds } }) => ({
              ...{ environment_id: environmentId, transaction_id: transactionId, notification_id: notificationId },
              step_ids: stepIds,
            })),
          ),
        ])
  for (const { need, run } of all) {
    const known = rows.filter((row) => row.notification_id === run.id).map(factsOf)
    answers.set(need, { messages: [...known, ...newMessagesOf(run, need.stepIds, known, now)] })
  }
}

/** Those who are to be asked. */
async function meetAsked(transaction: Transaction, waiting: Waiting[], answers: Map<Need, Answer>): Promise<void> {
  const asked = waiting.flatMap(({ need, run }) =>
    need.need === 'find people' ? need.subscriberIds.map((subscriberId) => ({ run, subscriberId })) : [],
  )
  if (asked.length === 0) return
  const found = await findPeople(transaction, asked)
  for (const { need, run } of waiting)
    if (need.need === 'find people')
      answers.set(need, { people: found.filter((each) => each.run === run).map(({ person }) => person) })
}

/** The rest of the copies of their questions. */
async function meetCopies(
  transaction: Transaction,
  asked: Waiting[],
  memory: Memory,
  answers: Map<Need, Answer>,
): Promise<void> {
  const all = asked.filter(({ need }) => need.need === 'find copies')
  if (all.length === 0) return
  await addCopies(transaction, memory, [...new Set(all.map(({ run }) => run))])
  for (const { need } of all) answers.set(need, { areThere: true })
}

/** Members of topics, in the order in which they subscribed. */
const findTopicMembers = statement(
  'find_topic_members',
  `SELECT r.place, m.members, CASE WHEN m.count = r.most THEN m.last END AS after
   FROM json_to_recordset($1::json)
     AS r (place int, environment_id text, topic_key text, context_keys json, after text, most int)
   JOIN topics o ON o.environment_id = r.environment_id AND o.key = r.topic_key
   CROSS JOIN LATERAL (
     SELECT count(*)::int AS count, max(t.id) AS last,
       coalesce(array_agg(s.subscriber_id ORDER BY t.id) FILTER (WHERE s.id IS NOT NULL), '{}') AS members
     FROM (SELECT t.id, t.subscriber_row_id FROM topic_subscriptions t
           WHERE t.environment_id = o.environment_id AND t.topic_id = o.id AND t.id > r.after
             AND t.context_keys = ARRAY(SELECT json_array_elements_text(r.context_keys))
           ORDER BY t.id LIMIT r.most) t
     LEFT JOIN subscribers s ON s.environment_id = o.environment_id AND s.id = t.subscriber_row_id) m`,
)

async function findAskedMembers(
  transaction: Transaction,
  needs: FindTopicMembers[],
  answers: Map<Need, Answer>,
): Promise<void> {
  if (needs.length === 0) return
  const rows = await transaction.run<FoundMembers & { place: number }>(findTopicMembers, [
    JSON.stringify(
      needs.map(({ environmentId, topicKey, contextKeys, after, most }, place) => ({
        ...{ place, environment_id: environmentId, topic_key: topicKey, context_keys: contextKeys, after, most },
      })),
    ),
  ])
  for (const need of needs) answers.set(need, { members: [], after: null })
  for (const { place, members, after } of rows) {
    const need = needs[place]
    if (need) answers.set(need, { members, after })
  }
}

const findRotas = statement(
  'find_rotas',
  `SELECT environment_id, rota_id, timezone, shifts FROM rotas
   WHERE (environment_id, rota_id) IN (SELECT * FROM ${rowsGiven('text', 'text')})`,
)

/** Who is on duty now. */
async function findDuties(transaction: Transaction, needs: FindOnDuty[], answers: Map<Need, Answer>): Promise<void> {
  if (needs.length === 0) return
  const rows = await transaction.run<RotaRules & { environment_id: string; rota_id: string }>(findRotas, [
    needs.map(({ environmentId }) => environmentId),
    needs.map(({ rotaId }) => rotaId),
  ])
  for (const need of needs) {
    const rota = rows.find((row) => row.environment_id === need.environmentId && row.rota_id === need.rotaId)
    answers.set(need, { subscriberIds: rota && onDuty(rota, need.at).subscriberIds })
  }
}

async function joinDigests(
  transaction: Transaction,
  needs: JoinDigest[],
  now: Date,
  answers: Map<Need, Answer>,
): Promise<void> {
  if (needs.length === 0) return
  const { groups, columns } = byGroup(needs)
  const changed: object[] = []
  for (const row of await transaction.run<DigestRow>(lockDigests, columns)) {
    const own = groups.get(rowKey(row)) ?? []
    const { places, after } = joinDigest(row, own, now)
    for (const [index, need] of own.entries()) answers.set(need, places[index] as DigestPlace)
    if (after) changed.push({ ...groupRowOf(row), ...after })
  }
  if (changed.length > 0) await transaction.run(saveDigests, [JSON.stringify(changed)])
}

async function closeDigests(
  transaction: Transaction,
  needs: CloseDigest[],
  now: Date,
  answers: Map<Need, Answer>,
): Promise<void> {
  if (needs.length === 0) return
  const { groups, columns } = byGroup(needs)
  const rows = await transaction.run<DigestRow>(lockDigests, columns)
  const closed = rows.flatMap((row) => {
    const own = groups.get(rowKey(row)) ?? []
    for (const need of own) {
      const until = openUntil(row, need, now)
      if (until) answers.set(need, { until })
    }
    const after = closeDigest(
      row,
      own.filter((need) => !answers.has(need)),
    )
    return after ? [{ ...groupRowOf(row), ...after }] : []
  })
  if (closed.length > 0) await transaction.run(saveDigests, [JSON.stringify(closed)])
  const due = needs.filter((need) => !answers.has(need))
  if (due.length === 0) return
  const merged = await transaction.run<{
    merged_into: string
    id: string
    created_at: Date
    payload: Record<string, unknown>
    trace: string | null
    total: number
    bytes: number
  }>(findMerged, [
    due.map(({ group }) => group.environmentId),
    due.map(({ notificationId }) => notificationId),
    mostEvents,
    mostEventBytes,
    due.filter(({ newestFirst }) => newestFirst).map(({ notificationId }) => notificationId),
  ])
  const totals = new Map(merged.map(({ merged_into, total }) => [merged_into, total]))
  const events = new Map<string, Array<DigestEvent & { bytes: number; trace: string | null }>>()
  for (const { merged_into, id, created_at, payload, trace, bytes } of merged) {
    const list = events.get(merged_into) ?? []
    events.set(merged_into, list)
    list.push({ id, time: created_at.toISOString(), payload, bytes, trace })
  }
  for (const need of due) {
    const all = collect(events.get(need.notificationId) ?? [])
    const left = (totals.get(need.notificationId) ?? 0) - all.length
    const traces = all.flatMap(({ trace }) => trace ?? [])
    answers.set(need, {
      events: all.map(({ id, time, payload }) => ({ id, time, payload })),
      left,
      traces: traces.length > 0 ? traces : undefined,
    })
  }
}

async function handDigestsOn(
  transaction: Transaction,
  needs: HandDigestOn[],
  { memory }: SettlingParts,
  now: Date,
  answers: Map<Need, Answer>,
): Promise<void> {
  for (const environmentId of new Set(needs.map(({ group }) => group.environmentId))) {
    const own = needs.filter(({ group }) => group.environmentId === environmentId)
    const digests = own.map(({ notificationId: runId, group, dueAt }) => ({ runId, group, dueAt }))
    await handOver(transaction, memory, environmentId, digests, now)
    for (const need of own) answers.set(need, { isHandedOn: true })
  }
}

type ThrottleRow = GroupRow & ThrottleState

async function passThrottles(
  transaction: Transaction,
  needs: PassThrottle[],
  now: Date,
  answers: Map<Need, Answer>,
): Promise<void> {
  if (needs.length === 0) return
  const { groups, columns } = byGroup(needs)
  const changed: object[] = []
  for (const row of await transaction.run<ThrottleRow>(lockThrottles, [...columns, now])) {
    const own = groups.get(rowKey(row)) ?? []
    const { passes, after } = passThrottle(row, own, now)
    for (const [index, need] of own.entries()) answers.set(need, passes[index] as ThrottlePass)
    if (after) changed.push({ ...groupRowOf(row), ...after })
  }
  if (changed.length > 0) await transaction.run(saveThrottles, [JSON.stringify(changed)])
}

interface CapKey {
  environment_id: string
  subscriber_row_id: string
  cap_id: string
}

const capKey = (row: CapKey) => `${row.environment_id} ${row.subscriber_row_id} ${row.cap_id}`

/** Places in caps, one after the other. The rows stay locked until the transaction ends, so no cap gives too many. */
async function takePlaces(
  transaction: Transaction,
  needs: TakePlace[],
  now: Date,
  answers: Map<Need, Answer>,
): Promise<void> {
  if (needs.length === 0) return
  const keyOf = ({ environmentId, subscriberRowId }: TakePlace, { id }: Cap): CapKey => ({
    ...{ environment_id: environmentId, subscriber_row_id: subscriberRowId, cap_id: id },
  })
  const wanted = needs.flatMap((need) => need.caps.map((cap) => keyOf(need, cap)))
  const places = await lockPlaces(transaction, new Map(wanted.map((row) => [capKey(row), row])))
  const taken = new Map<string, { row: CapKey; cap: Cap; added: number }>()
  for (const need of needs) {
    const placesOf = (cap: Cap) => places.get(capKey(keyOf(need, cap))) ?? []
    const answer = askPlace(need.caps, placesOf, now)
    answers.set(need, answer)
    if (!answer.isTaken) continue
    for (const cap of need.caps) {
      const row = keyOf(need, cap)
      places.set(capKey(row), withPlace(cap, placesOf(cap), now))
      taken.set(capKey(row), { row, cap, added: (taken.get(capKey(row))?.added ?? 0) + 1 })
    }
  }
  if (taken.size === 0) return
  const changed = [...taken.values()]
  await transaction.run(saveCaps, [
    ...columnsOf(changed.map(({ row }) => row)),
    changed.map(({ added }) => added),
    changed.map(({ cap }) => new Date(now.getTime() - windowMs(cap))),
    now,
  ])
}

const columnsOf = (rows: CapKey[]) => [
  rows.map(({ environment_id }) => environment_id),
  rows.map(({ subscriber_row_id }) => subscriber_row_id),
  rows.map(({ cap_id }) => cap_id),
]

/** @returns when the places of each row were taken, in milliseconds, oldest first */
async function lockPlaces(transaction: Transaction, rows: Map<string, CapKey>): Promise<Map<string, number[]>> {
  const places = new Map<string, number[]>()
  while (places.size < rows.size) {
    const left = [...rows].flatMap(([key, row]) => (places.has(key) ? [] : [row]))
    for (const row of await transaction.run<CapKey & { places: string }>(lockCaps, columnsOf(left)))
      places.set(capKey(row), row.places === '' ? [] : row.places.split(',').map(Number))
  }
  return places
}

interface ScheduleRow {
  environment_id: string
  id: string
  timezone: string | null
  preferences: StoredPreference[] | null
}

/** The lock first: whoever changes a schedule from now on waits for this transaction, and then finds the held step. */
async function findOwnSchedules(transaction: Transaction, asked: Waiting[], answers: Map<Need, Answer>): Promise<void> {
  const all = asked.flatMap(({ need, run }) => (need.need === 'find schedule' ? [{ need, run }] : []))
  if (all.length === 0) return
  const environments = all.map(({ need }) => need.environmentId)
  const subscribers = all.map(({ need }) => need.subscriberRowId)
  await transaction.run(holdBeginnings, [environments, all.map(() => ''), subscribers])
  const rows = await transaction.run<ScheduleRow>(findSchedules, [environments, subscribers])
  for (const { need, run } of all) answers.set(need, scheduleIn(rows, need, run))
}

/** Who is gone has the schedule of before. */
function scheduleIn(rows: ScheduleRow[], { environmentId, subscriberRowId }: FindSchedule, run: RunState) {
  const row = rows.find(({ environment_id, id }) => environment_id === environmentId && id === subscriberRowId)
  if (!row) return { schedule: run.preferences?.schedule ?? null, timezone: run.subscriber.timezone }
  const preferences = preferencesFor(row.preferences, run.workflow.id, run.contextKeys)
  return { schedule: preferences?.schedule ?? null, timezone: row.timezone }
}

/** What steps do beyond their runs. */
async function actOutside(
  transaction: Transaction,
  asked: Waiting[],
  { starts, ...parts }: SettlingParts & { starts: Starts },
  now: Date,
  answers: Map<Need, Answer>,
): Promise<void> {
  const updates = asked.flatMap(({ need, run }) => (need.need === 'update subscriber' ? [{ need, run }] : []))
  if (updates.length > 0)
    for (const [need, changed] of await updateSubscribers(transaction, updates, parts.memory, now))
      answers.set(need, { changed })
  const wanted = asked.flatMap(({ need, run, progress }) =>
    need.need === 'start workflow' ? [{ need, trace: run.event.trace, progress }] : [],
  )
  if (wanted.length === 0) return
  const { statuses, held } = await startWorkflows(transaction, wanted, parts, now)
  for (const [need, status] of statuses) answers.set(need, { status })
  for (const { need, progress } of wanted) {
    const start = held.get(need)
    if (start) starts.set(progress, [...(starts.get(progress) ?? []), start])
  }
}
