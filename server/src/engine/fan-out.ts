// Runs for everybody in the topics of a trigger, or for everybody there is: in chunks, each a job of the queue behind all
// single triggers, and each continuing where the last one ended. Subscribers are walked in the order of their ids, so that
// nobody comes twice, however many topics they are in and whoever joins or leaves meanwhile.
import type { RunTopic } from '../db/tables.ts'
import { inTransaction, type Transaction } from '../db/transaction.ts'
import { type EventRow, newRun, type PreparedEvent, type RecipientRow } from './load.ts'
import { settle } from './needs.ts'
import { resolveSubscription } from './preferences.ts'
import { findEveryone, findMembers, lockWideEvent, queueFanOut, saveReached } from './queries.ts'
import { advance, type RunState } from './run.ts'
import { directOf, type EngineParts, type LockedEvent, prepare } from './start-runs.ts'
import { priorities, storeRuns } from './store.ts'

/** Recipients per transaction: more share statements better, fewer let single triggers pass sooner. */
const chunk = 500

/** Cannot be the id of a subscriber: the walk is over. */
export const finished = '~'

/** Whether a trigger names more than single subscribers. */
export const isWide = ({ recipients }: Pick<EventRow, 'recipients'>) =>
  recipients === null || recipients.some((each) => 'topicKey' in each)

/** Whoever was deleted this very moment has a place in the walk, but no row. */
type Member = { member_id: string; via: Subscription[] | null } & (RecipientRow | { id: null })

interface Subscription {
  topic_id: string
  topic_key: string
  identifier: string
  /** What the subscriber wants of this workflow through this subscription. */
  choice: { enabled: boolean; condition: Record<string, unknown> | null } | null
}

export async function fanOut(parts: EngineParts, key: { environmentId: string; eventId: string }): Promise<void> {
  const now = parts.clock.now()
  await inTransaction(parts.pool, async (transaction) => {
    const [locked] = await transaction.run<LockedEvent>(lockWideEvent, [key.environmentId, key.eventId])
    if (!locked || locked.reached === finished) return
    const [event] = await prepare(transaction, parts, [locked])
    const members = event ? await nextMembers(transaction, event) : []
    const runs = event ? await runsFor(event, members, now) : []
    await settle(
      transaction,
      runs.map((run) => ({ run, progress: advance(run, now) })),
      { now, log: parts.log },
    )
    await storeRuns(transaction, runs, { now, priority: priorities.many })
    const last = members.at(-1)
    const isLast = last === undefined || members.length < chunk
    await transaction.run(saveReached, [key.environmentId, key.eventId, isLast ? finished : last.member_id])
    if (!isLast) await transaction.run(queueFanOut, [[key.environmentId], [key.eventId], priorities.many])
  })
}

async function nextMembers(transaction: Transaction, event: PreparedEvent): Promise<Member[]> {
  const { row, contextKeys } = event
  const from = row.reached ?? ''
  if (row.recipients === null)
    return transaction.run<Member>(findEveryone, [row.environment_id, from, row.started_at, chunk])
  const keys = row.recipients.flatMap((each) => ('topicKey' in each ? [String(each.topicKey)] : []))
  return transaction.run<Member>(findMembers, [row.environment_id, keys, from, contextKeys, row.workflow_id, chunk])
}

/** Not those who are named directly, nor those whom any of the topics excludes, nor whoever caused the event. */
async function runsFor(event: PreparedEvent, members: Member[], now: Date): Promise<RunState[]> {
  const { recipients } = event.row
  const passedOver = new Set(directOf(event.row).map(({ subscriberId }) => subscriberId))
  for (const each of recipients ?? [])
    if ('exclude' in each) for (const subscriberId of (each.exclude ?? []) as string[]) passedOver.add(subscriberId)
  if (recipients !== null && event.facts.actor) passedOver.add(event.facts.actor.subscriber_id)
  const runs: RunState[] = []
  for (const { via, member_id: _, ...recipient } of members) {
    if (recipient.id === null || passedOver.has(recipient.subscriber_id)) continue
    const topics = via && topicsThatPass(via, event, now)
    if (topics === null || topics.length > 0) runs.push(await newRun(event, recipient, { now, topics }))
  }
  return runs
}

function topicsThatPass(via: Subscription[], event: PreparedEvent, now: Date): RunTopic[] {
  const { payload } = event.facts
  return via.flatMap(({ topic_id, topic_key, identifier, choice }) => {
    const { passes, reason } = resolveSubscription(choice ?? undefined, { payload, now })
    if (!passes) return []
    const topic = { _topicId: topic_id, topicKey: topic_key, subscriptionIdentifier: identifier, preference: reason }
    return [choice?.condition ? { ...topic, condition: choice.condition } : topic]
  })
}
