// Events that programs post: accepted in one commit with others in flight, then told to the runs that wait for them, in chunks.
import { isOutage, retryConflicts } from '../../db/core/database.ts'
import { realOf } from '../../db/core/held-clock.ts'
import { newId } from '../../db/core/ids.ts'
import { storableJson } from '../../db/core/storable.ts'
import { autoCommit, inTransaction, rowsGiven, statement, type Transaction } from '../../db/core/transaction.ts'
import type { HeardEvent } from '../../steps/contract/need.ts'
import { heardUnder } from '../core/event-statements.ts'
import { priorities } from '../core/fair-share.ts'
import { GroupCommit } from '../core/group-commit.ts'
import { heldTime } from '../core/held-clocks.ts'
import { addHeldWork } from '../core/held-statements.ts'
import { endWalk, saveWalks } from '../core/walk-statements.ts'
import { lockRuns, type RunKey } from './load.ts'
import { settle } from './needs.ts'
import { hearAll } from './run.ts'
import type { EngineParts, Storing } from './start-runs.ts'
import { storeRuns, tellHeldWork } from './store.ts'

export interface NewEvent {
  /** The caller's own name for it. */
  givenId: string | undefined
  name: string
  key: string | undefined
  subscriberId: string | undefined
  payload: Record<string, unknown>
}

export interface PostedEvent {
  id: string
  createdAt: Date
  isDuplicate: boolean
}

/** What one request posts. */
interface Posting {
  environmentId: string
  events: Array<NewEvent & { id: string }>
  /** Of its payloads. */
  size: number
}

/** Events that one queue job tells of. */
const eventsPerJob = 50
/** Runs per transaction, as of a topic. */
const chunk = 500
/** Parallel lanes of an event for which more runs wait, as of a topic (fan-out.ts). */
const lanes = 2
const dayMs = 86_400_000

/**
 * Accepts events with the jobs that tell of them. An id that was used adds nothing; the unique key decides, also between events
 * that arrive at the same moment. Where the clock is held, no job is queued.
 */
const acceptEvents = statement(
  'accept_events',
  `WITH given AS MATERIALIZED (
     SELECT * FROM json_to_recordset($1::json)
       AS r (environment_id text, id text, given_id text, name text, key text, subscriber_id text, payload json)
   ), named AS (
     INSERT INTO posted_event_ids AS i (environment_id, given_id, event_id, created_at, expires_at)
     SELECT environment_id, given_id, id, $2, $4 FROM given WHERE given_id IS NOT NULL ORDER BY environment_id, given_id
     ON CONFLICT (environment_id, given_id)
     DO UPDATE SET event_id = excluded.event_id, created_at = excluded.created_at, expires_at = excluded.expires_at
       WHERE i.expires_at <= $3
     RETURNING event_id
   ), accepted AS (
     INSERT INTO posted_events (environment_id, id, given_id, name, key, subscriber_id, payload, reached, created_at)
     SELECT environment_id, id, given_id, name, key, subscriber_id, payload, '', $2 FROM given
     WHERE given_id IS NULL OR id IN (SELECT event_id FROM named)
     RETURNING environment_id, id
   ), queued AS (
     SELECT queue_job('match_events', json_build_object('events', json_agg(json_build_array(environment_id, id))),
       ${priorities.many}::smallint)
     FROM (SELECT *, (row_number() OVER (ORDER BY id) - 1) / ${eventsPerJob} AS part FROM accepted) a
     WHERE NOT $5::boolean GROUP BY part
   )
   SELECT ARRAY(SELECT id FROM accepted) AS accepted, (SELECT count(*) FROM queued)::int AS queued`,
)

const findGiven = statement(
  'find_given_events',
  `SELECT environment_id, given_id, created_at FROM posted_event_ids
   WHERE (environment_id, given_id) IN (SELECT * FROM ${rowsGiven('text', 'text')})`,
)

type Parts = Pick<EngineParts, 'pool' | 'clock' | 'bell' | 'memory' | 'dedupDays'>

export class PostedEvents {
  readonly #parts: Parts
  readonly #commits: GroupCommit<Posting, PostedEvent[]>

  constructor(parts: Parts) {
    this.#parts = parts
    const run = autoCommit(parts.pool)
    this.#commits = new GroupCommit(
      (postings) => retryConflicts(() => this.#store(run, postings, parts.clock.now())),
      isOutage,
      {
        ...{ mostItems: 500, mostSize: 8 * 1024 * 1024, sizeOf: ({ size }: Posting) => size },
        ownerOf: ({ environmentId }: Posting) => environmentId,
      },
    )
  }

  /** Resolves once they are committed, in their order. */
  async post(environmentId: string, events: NewEvent[]): Promise<PostedEvent[]> {
    const { pool, clock, bell, memory } = this.#parts
    const now = clock.now()
    const posting = {
      environmentId,
      events: events.map((event) => ({ ...event, id: newId(now) })),
      size: events.reduce((sum, { payload }) => sum + JSON.stringify(payload).length, 0),
    }
    if ((await memory.recall(environmentId))?.facts.clock === undefined) return this.#commits.add(posting)
    return retryConflicts(() =>
      inTransaction(pool, async (transaction) => {
        const shown = await heldTime(transaction, clock, environmentId)
        const [posted = []] = await this.#store(transaction, [posting], shown, { isHeld: true })
        const work = posting.events
          .filter((_, index) => posted[index]?.isDuplicate === false)
          .map(({ id }) => ({ environment_id: environmentId, subject_id: id, position: 0, due_at: shown }))
        if (work.length === 0) return posted
        await transaction.run(addHeldWork, [
          JSON.stringify(work.map((each) => ({ ...each, kind: 'event', held: true }))),
        ])
        await tellHeldWork(transaction, environmentId, { bell })
        return posted
      }),
    )
  }

  async #store(
    by: Pick<Transaction, 'run'>,
    postings: Posting[],
    now: Date,
    { isHeld = false } = {},
  ): Promise<PostedEvent[][]> {
    const all = postings.flatMap(({ environmentId, events }) => events.map((event) => ({ environmentId, ...event })))
    // Of several with one id the first counts.
    const firsts = new Map<string, string>()
    for (const { environmentId, givenId, id } of all) {
      const key = `${environmentId} ${givenId}`
      if (givenId !== undefined && !firsts.has(key)) firsts.set(key, id)
    }
    const given = all.filter(
      ({ environmentId, givenId, id }) => givenId === undefined || firsts.get(`${environmentId} ${givenId}`) === id,
    )
    const rows = given.map(({ environmentId, id, givenId, name, key, subscriberId, payload }) => ({
      ...{ environment_id: environmentId, id, given_id: givenId, name, key, subscriber_id: subscriberId, payload },
    }))
    const real = realOf(now)
    const expiresAt = new Date(real.getTime() + this.#parts.dedupDays * dayMs)
    const values = [storableJson(rows), now, real, expiresAt, isHeld]
    const [row] = await by.run<{ accepted: string[]; queued: number }>(acceptEvents, values)
    const accepted = new Set(row?.accepted)
    if (row && row.queued > 0) this.#parts.bell.ring('match_events', row.queued)
    const used = all.filter(({ id }) => !accepted.has(id))
    const known = new Map(
      used.length === 0
        ? []
        : (
            await by.run<{ environment_id: string; given_id: string; created_at: Date }>(findGiven, [
              used.map(({ environmentId }) => environmentId),
              used.map(({ givenId }) => givenId),
            ])
          ).map((each) => [`${each.environment_id} ${each.given_id}`, each.created_at]),
    )
    return postings.map(({ environmentId, events }) =>
      events.map(({ id, givenId }) => ({
        id: givenId ?? id,
        createdAt: accepted.has(id) ? now : (known.get(`${environmentId} ${givenId}`) ?? now),
        isDuplicate: !accepted.has(id),
      })),
    )
  }
}

// ---- Telling the runs that wait

interface PostedRow {
  environment_id: string
  id: string
  given_id: string | null
  name: string
  key: string | null
  subscriber_id: string | null
  payload: Record<string, unknown>
  reached: string
  created_at: Date
}

const findPosted = statement(
  'find_untold_events',
  `SELECT * FROM posted_events
   WHERE (environment_id, id) IN (SELECT * FROM ${rowsGiven('text', 'text')}) AND reached IS NOT NULL ORDER BY id`,
)

/** Waits for those who have asked for such events and not stored that they wait (`findEvents` in engine/runs/needs.ts). */
const waitForBeginnings = statement(
  'wait_for_beginnings',
  `SELECT pg_advisory_xact_lock(lock) FROM (
     SELECT DISTINCT ${heardUnder('environment_id', 'name', 'value')} AS lock
     FROM unnest($1::text[], $2::text[], $3::text[]) AS t (environment_id, name, value) ORDER BY 1) locks`,
)

/** The next runs that wait for an event, in the order of their ids. @param also a condition that they must meet */
const waitsFor = (event: (column: string) => string, most: string, also = 'true') => `
  (SELECT w.notification_id FROM event_waits w
   WHERE w.environment_id = ${event('environment_id')} AND w.name = ${event('name')} AND w.kind = 'key'
     AND w.value = ${event('key')} AND w.notification_id > ${event('reached')}
     AND (${event('subscriber_id')} IS NULL OR w.subscriber_id = ${event('subscriber_id')}) AND ${also}
   ORDER BY w.notification_id LIMIT ${most})
  UNION
  (SELECT w.notification_id FROM event_waits w
   WHERE w.environment_id = ${event('environment_id')} AND w.name = ${event('name')} AND w.kind = 'subscriber'
     AND w.value = ${event('subscriber_id')} AND w.notification_id > ${event('reached')} AND ${also}
   ORDER BY w.notification_id LIMIT ${most})
  ORDER BY 1 LIMIT ${most}`

const findWaits = statement(
  'find_event_waits',
  waitsFor(
    (column) => `$${['environment_id', 'name', 'key', 'subscriber_id', 'reached'].indexOf(column) + 1}::text`,
    '$6',
    '(hashtext(w.notification_id) & ($8::int - 1)) = $7::int',
  ),
)

/** Ends those of these events that nobody waits for. @returns the others */
const endUnawaited = statement(
  'end_unawaited_events',
  `WITH asked AS MATERIALIZED (
     SELECT e.environment_id, e.id, EXISTS (${waitsFor((column) => `e.${column}`, '1')}) AS is_awaited
     FROM posted_events e
     WHERE (e.environment_id, e.id) IN (SELECT * FROM ${rowsGiven('text', 'text')}) AND e.reached IS NOT NULL
   ), ended AS (
     UPDATE posted_events e SET reached = NULL FROM asked a
     WHERE e.environment_id = a.environment_id AND e.id = a.id AND NOT a.is_awaited
   )
   SELECT environment_id, id FROM asked WHERE is_awaited ORDER BY id`,
)

/** After the runs, which come first wherever both are locked. */
const saveReached = statement(
  'save_reached_waits',
  `UPDATE posted_events SET reached = CASE WHEN $3::text IS NOT NULL THEN greatest(reached, $3) END
   WHERE environment_id = $1 AND id = $2 AND reached IS NOT NULL`,
)

/** Of two jobs for the same lane, the second continues where the first ended. */
const lockLane = statement(
  'lock_event_lane',
  'SELECT lane, lanes, reached FROM walks WHERE environment_id = $1 AND event_id = $2 AND lane = $3 FOR UPDATE',
)

/** Of two lanes that end at once, the second sees that the first has ended. */
const lockPosted = statement(
  'lock_posted_event',
  'SELECT FROM posted_events WHERE environment_id = $1 AND id = $2 FOR UPDATE',
)

const endTold = statement(
  'end_told_event',
  `UPDATE posted_events SET reached = NULL WHERE environment_id = $1 AND id = $2
     AND NOT EXISTS (SELECT FROM walks WHERE environment_id = $1 AND event_id = $2)`,
)

const queueLanes = statement(
  'queue_event_lanes',
  `SELECT queue_job('match_events', json_build_object('events', json_build_array(json_build_array($1::text, $2::text, lane))),
     ${priorities.many}::smallint)
   FROM unnest($3::smallint[]) lane`,
)

/** An event to tell of, or one lane of it. */
export interface EventKey extends RunKey {
  lane?: number | undefined
}

/** Where the telling goes on. */
interface Place {
  lane: number
  lanes: number
  reached: string
}

const columns = (keys: RunKey[]) => [keys.map(({ environmentId }) => environmentId), keys.map(({ id }) => id)]

/** Tells the runs that wait for these events, a chunk of each; if there are more, jobs for two lanes go on from there. */
export async function matchEvents(parts: EngineParts, keys: EventKey[]): Promise<void> {
  const { pool } = parts
  const whole = keys.filter(({ lane }) => lane === undefined)
  const fresh =
    whole.length === 0
      ? []
      : (await autoCommit(pool).run<PostedRow>(findPosted, columns(whole))).filter(({ reached }) => reached === '')
  if (fresh.length > 0) await inTransaction(pool, (transaction) => awaitBeginnings(transaction, fresh))
  const awaited =
    whole.length === 0
      ? []
      : await autoCommit(pool).run<{ environment_id: string; id: string }>(endUnawaited, columns(whole))
  // One that cannot be told of does not hold up the others; the queue tries it again.
  const failures: unknown[] = []
  const ready: EventKey[] = [
    ...keys.filter(({ lane }) => lane !== undefined),
    ...awaited.map(({ environment_id: environmentId, id }) => ({ environmentId, id })),
  ]
  for (const key of ready)
    await retryConflicts(() => inTransaction(pool, (transaction) => tellChunk(transaction, parts, key))).catch(
      (error: unknown) => {
        if (isOutage(error)) throw error
        failures.push(error)
      },
    )
  if (failures.length > 0) throw new AggregateError(failures, 'Some events could not be told.')
}

/** Queues what goes on. The first chunk shows whether more lanes are worth it. */
async function tellChunk(transaction: Transaction, parts: EngineParts, { lane, ...key }: EventKey): Promise<void> {
  const { environmentId, id } = key
  const event = [environmentId, id]
  const [place] = lane === undefined ? [] : await transaction.run<Place>(lockLane, [...event, lane])
  if (lane !== undefined && !place) return
  const reached = await tellSome(transaction, parts, key, { now: parts.clock.now() }, place)
  if (reached !== undefined) {
    const going = lane === undefined ? Array.from({ length: lanes }, (_, number) => number) : [lane]
    await transaction.run(saveWalks, [...event, going, lanes, reached])
    await transaction.run(queueLanes, [...event, going])
    transaction.afterCommit(() => parts.bell.ring('match_events', going.length))
    return
  }
  if (lane !== undefined) await transaction.run(endWalk, [...event, lane])
  await transaction.run(lockPosted, event)
  await transaction.run(endTold, event)
}

/** Whoever began to wait before an event was there has stored that afterwards; whoever begins later finds the event. */
async function awaitBeginnings(transaction: Transaction, events: PostedRow[]): Promise<void> {
  const awaited = events.flatMap(({ environment_id, name, key, subscriber_id }) =>
    [key, subscriber_id].flatMap((value) => (value === null ? [] : [{ environment_id, name, value }])),
  )
  await transaction.run(waitForBeginnings, [
    awaited.map(({ environment_id }) => environment_id),
    awaited.map(({ name }) => name),
    awaited.map(({ value }) => value),
  ])
}

/** One chunk where the clock is held. @returns whether there are more */
export async function tellHeld(
  transaction: Transaction,
  parts: EngineParts,
  key: RunKey,
  storing: Storing & { now: Date },
): Promise<boolean> {
  const [event] = await transaction.run<PostedRow>(findPosted, columns([key]))
  if (event?.reached === '') await awaitBeginnings(transaction, [event])
  const reached = await tellSome(transaction, parts, key, storing)
  await transaction.run(saveReached, [key.environmentId, key.id, reached ?? null])
  return reached !== undefined
}

/** @returns the last run that it told of the event, if there may be more */
async function tellSome(
  transaction: Transaction,
  parts: EngineParts,
  key: RunKey,
  storing: Storing & { now: Date },
  place?: Place,
): Promise<string | undefined> {
  const [event] = await transaction.run<PostedRow>(findPosted, columns([key]))
  if (!event) return undefined
  const { environment_id: environmentId, id, given_id, name, subscriber_id: subscriberId, payload } = event
  const { lane, lanes: of, reached } = place ?? { lane: 0, lanes: 1, reached: event.reached }
  const values = [environmentId, name, event.key, subscriberId, reached, chunk, lane, of]
  const waits = await transaction.run<{ notification_id: string }>(findWaits, values)
  const ids = waits.map(({ notification_id }) => notification_id)
  const createdAt = event.created_at.toISOString()
  const heard = { rowId: id, event: { id: given_id ?? id, name, key: event.key, subscriberId, payload, createdAt } }
  await tellRuns(transaction, parts, { environmentId, ids }, storing, heard)
  return ids.length === chunk ? ids.at(-1) : undefined
}

/** The messages that these runs may wait for have changed. */
export async function lookAtMessages(
  parts: EngineParts,
  { environmentId, runs }: { environmentId: string; runs: string[] },
): Promise<void> {
  for (let at = 0; at < runs.length; at += chunk)
    await retryConflicts(() =>
      inTransaction(parts.pool, (transaction) =>
        lookAgain(transaction, parts, { environmentId, ids: runs.slice(at, at + chunk) }, { now: parts.clock.now() }),
      ),
    )
}

export const lookAgain = (
  transaction: Transaction,
  parts: EngineParts,
  of: { environmentId: string; ids: string[] },
  storing: Storing & { now: Date },
): Promise<void> => tellRuns(transaction, parts, of, storing, undefined)

async function tellRuns(
  transaction: Transaction,
  parts: EngineParts,
  { environmentId, ids }: { environmentId: string; ids: string[] },
  { now, goesOn = false, watch }: Storing & { now: Date },
  heard: HeardEvent | undefined,
): Promise<void> {
  const { memory, shares, hands, wakes, bell, tracing, meter } = parts
  if (ids.length === 0) return
  const keys = ids.map((id) => ({ environmentId, id }))
  const runs = await lockRuns(transaction, memory, keys, now, watch)
  const threads = runs.map((run) => ({ run, progress: hearAll(run, heard, now) }))
  await settle(transaction, threads, parts, now)
  // A goal counts also where nothing is left but a call under way, which is finished first.
  const told = runs.filter(({ jobs, effects }) => effects.isGoalMet || jobs.some(({ isChanged }) => isChanged))
  if (told.length === 0) return
  if (watch) transaction.afterCommit(() => watch(told, now))
  const writing = { now, priority: priorities.many, shares, hands, wakes, bell, tracing, meter, goesOn }
  await storeRuns(transaction, told, writing)
}
