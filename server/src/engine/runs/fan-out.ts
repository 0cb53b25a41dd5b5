// Runs for all members of a trigger's topics, or for all subscribers: in chunks, each a queue job behind all single triggers
// and each continuing where the last ended. The walk goes by subscriber id, so nobody comes twice, however many topics they are
// in, and even if members join or leave during it.
import { realOf } from '../../db/core/held-clock.ts'
import { newId } from '../../db/core/ids.ts'
import { inTransaction, type Transaction } from '../../db/core/transaction.ts'
import { priorities } from '../core/fair-share.ts'
import {
  endWalk,
  findEveryone,
  findMembers,
  findMissingTopics,
  lockWalk,
  queueWalks,
  saveWalks,
} from '../core/walk-statements.ts'
import { newRun, type PreparedEvent, type RecipientRow } from './compose.ts'
import { reach, type Subscription, topicKeysOf } from './members.ts'
import { settle } from './needs.ts'
import { PassedOver } from './passed-over.ts'
import { advance } from './run.ts'
import type { RunState } from './run-state.ts'
import { type EngineParts, type LockedEvent, prepare, type Storing } from './start-runs.ts'
import { storePassedOver, storeRuns } from './store.ts'
import { traceStarts } from './traces.ts'

/** Recipients per transaction: more share statements better, fewer let single triggers pass sooner. */
const chunk = 500

/**
 * Parallel lanes once a walk turns out to be long; a power of two. While the database writes one lane's chunk, the other's
 * messages are rendered.
 */
const lanes = 2

/** A subscriber deleted this very moment still has a place in the walk, but no row. */
type Member = {
  member_id: string
  via: Subscription[] | null
  missing_topics?: string[] | null
  /** The same in all rows. */
  canceled: string[] | null
} & (RecipientRow | { id: null })

export interface WalkKey {
  environmentId: string
  eventId: string
  lane: number
}

type Walk = LockedEvent & { lanes: number; reached: string }

/** Does one chunk. A walk that has ended or was stopped has no row left. */
export async function fanOut(parts: EngineParts, key: WalkKey): Promise<void> {
  const now = parts.clock.now()
  const { environmentId, eventId, lane } = key
  await inTransaction(parts.pool, async (transaction) => {
    const next = await walkOn(transaction, parts, key, now)
    if (!next) return
    const going = next.lanes === lanes ? [lane] : Array.from({ length: lanes }, (_, number) => number)
    await transaction.run(saveWalks, [environmentId, eventId, going, lanes, next.reached])
    await transaction.run(queueWalks, [environmentId, eventId, going, priorities.many])
    transaction.afterCommit(() => parts.bell.ring('fan_out', going.length))
  })
}

/** One chunk where the clock is held, in one lane, so that everybody has their turn. @returns whether there are more */
export async function fanOutHeld(
  transaction: Transaction,
  parts: EngineParts,
  key: WalkKey,
  storing: Storing & { now: Date },
): Promise<boolean> {
  const { environmentId, eventId, lane } = key
  const next = await walkOn(transaction, parts, key, storing.now, storing)
  if (next) await transaction.run(saveWalks, [environmentId, eventId, [lane], 1, next.reached])
  return next !== undefined
}

/** @returns how far it came; undefined if the walk has ended */
async function walkOn(
  transaction: Transaction,
  parts: EngineParts,
  { environmentId, eventId, lane }: WalkKey,
  now: Date,
  { goesOn = false, watch }: Storing = {},
): Promise<{ lanes: number; reached: string } | undefined> {
  const [walk] = await transaction.run<Walk>(lockWalk, [environmentId, eventId, lane])
  if (!walk) return undefined
  const [event] = await prepare(transaction, parts, [walk])
  const members = event ? await nextMembers(transaction, event, { ...walk, lane }) : []
  const passedOver = new PassedOver()
  const runs = event ? await runsFor(event, members, passedOver, now) : []
  if (event && walk.reached === '')
    for (const key of await missingTopics(transaction, event, members)) passedOver.addNamed('topic_not_found', key)
  await storePassedOver(transaction, passedOver, { environmentId, eventId, now })
  await settle(
    transaction,
    runs.map((run) => ({ run, progress: advance(run, now) })),
    parts,
    now,
  )
  const { tracing, meter, statistics, bell } = parts
  if (watch) transaction.afterCommit(() => watch(runs, now))
  await storeRuns(transaction, runs, { now, priority: priorities.many, tracing, meter, bell, goesOn })
  transaction.afterCommit(() => void statistics.note(runs.length, realOf(now)))
  if (tracing && event) transaction.afterCommit(() => traceStarts(tracing, [event], runs, realOf(now)))
  const last = members.at(-1)
  if (last !== undefined && members.length === chunk) return { lanes: walk.lanes, reached: last.member_id }
  await transaction.run(endWalk, [environmentId, eventId, lane])
  return undefined
}

async function nextMembers(
  transaction: Transaction,
  { row, contextKeys }: PreparedEvent,
  { lane, lanes: of, reached }: { lane: number; lanes: number; reached: string },
): Promise<Member[]> {
  const { environment_id, id, recipients, started_at, workflow_id } = row
  if (recipients === null)
    return transaction.run<Member>(findEveryone, [environment_id, reached, started_at, chunk, lane, of, id])
  const values = [environment_id, topicKeysOf(recipients), reached, contextKeys, workflow_id, chunk, lane, of, id]
  return transaction.run<Member>(findMembers, values)
}

/** The trigger's topics that do not exist. Member rows carry them; without any row they take a query. */
async function missingTopics(
  transaction: Transaction,
  { row }: PreparedEvent,
  [first]: Member[],
): Promise<readonly string[]> {
  if (row.recipients === null) return []
  if (first) return first.missing_topics ?? []
  const values = [row.environment_id, topicKeysOf(row.recipients)]
  return (await transaction.run<{ key: string }>(findMissingTopics, values)).map(({ key }) => key)
}

async function runsFor(
  event: PreparedEvent,
  members: Member[],
  passedOver: PassedOver,
  now: Date,
): Promise<RunState[]> {
  const canceled = new Set(members[0]?.canceled)
  const known = members.flatMap(({ via, member_id: _, missing_topics: __, canceled: ___, ...recipient }) =>
    recipient.id === null || canceled.has(recipient.subscriber_id) ? [] : [{ recipient, via }],
  )
  const runs: RunState[] = []
  for (const { recipient, topics } of reach(event, known, passedOver, now))
    runs.push(await newRun(event, recipient, { now, newId, topics }))
  return runs
}
