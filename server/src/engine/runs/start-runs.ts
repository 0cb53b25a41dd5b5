// From accepted triggers to runs: every direct recipient gets one, advanced as far as it goes at once.
import type pg from 'pg'
import type { Logger } from 'pino'
import { isOutage } from '../../db/core/database.ts'
import { realOf } from '../../db/core/held-clock.ts'
import { newId } from '../../db/core/ids.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { EarlyStatistics } from '../../db/core/statistics.ts'
import type { Recipient } from '../../db/core/tables.ts'
import { inTransaction, type Transaction } from '../../db/core/transaction.ts'
import { addContexts, readContexts } from '../../db/queries/contexts.ts'
import { applyChannels, type ChannelInput, type ChannelRequest } from '../../db/queries/subscriber-channels.ts'
import { isAsSaid, type SubscriberInput, upsertSubscribers } from '../../db/queries/subscribers.ts'
import { type EventType, tellAll } from '../../db/queries/webhook-events.ts'
import type { Tracing } from '../../tracing.ts'
import { addRecipients, findRecipients, saveTenants, takeEvents, touchWorkflows } from '../core/accept-statements.ts'
import type { Bell } from '../core/bell.ts'
import { type FairShare, priorities } from '../core/fair-share.ts'
import { beforeWaits, heldTime } from '../core/held-clocks.ts'
import { beginHeldWalks } from '../core/held-statements.ts'
import type { Memory } from '../core/memory.ts'
import type { Meter } from '../core/meter.ts'
import { beginWalks } from '../core/walk-statements.ts'
import { contextKeysOf, type EventRow, newRun, type PreparedEvent, type RecipientRow } from './compose.ts'
import type { Hands } from './hands.ts'
import { type RunKey, readReferences, type WatchedRun } from './load.ts'
import { directOf, isWide } from './members.ts'
import { settle } from './needs.ts'
import { advance } from './run.ts'
import type { RunState } from './run-state.ts'
import { noteStored, type QueuedWakes, storeRuns, tellHeldWork } from './store.ts'
import { traceStarts } from './traces.ts'

export interface EngineParts {
  pool: pg.Pool
  memory: Memory
  /** Opens and seals chat addresses. */
  secrets: Secrets
  clock: { now(): Date }
  log: Logger
  /** Undefined without a trace collector. */
  tracing?: Tracing | undefined
  meter?: Meter | undefined
  /** Counts the calls of each environment. */
  shares: FairShare
  /** If this process makes calls. */
  hands?: Hands | undefined
  wakes: QueuedWakes
  statistics: EarlyStatistics
  bell: Bell
  /** Judges the links of messages that were followed, once there was a pause. Absent where nobody can follow any. */
  settleClicks?: ((transaction: Transaction, messages: RunKey[], now: Date) => Promise<void>) | undefined
  /** How long a transaction id is remembered. */
  dedupDays: number
}

export type LockedEvent = EventRow & { revision: string }
type Direct = Extract<Recipient, { subscriberId: string }>

/** An event that cannot be started does not hold up the others of its batch; the queue retries it. */
export async function startRuns(parts: EngineParts, keys: RunKey[]): Promise<void> {
  try {
    await startTogether(parts, keys)
  } catch (error) {
    if (keys.length === 1 || isOutage(error)) throw error
    const results = await Promise.allSettled(keys.map((key) => startTogether(parts, [key])))
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    if (failures.length > 0) throw new AggregateError(failures, 'Some triggers could not be started.')
  }
}

async function startTogether(parts: EngineParts, keys: RunKey[]): Promise<void> {
  const now = parts.clock.now()
  const started = await inTransaction(parts.pool, async (transaction) => {
    const events = await transaction.run<LockedEvent>(takeEvents, [...columns(keys), now])
    return startEvents(transaction, parts, events, now)
  })
  await noteTriggered(parts, started)
}

/** Where the clock is held, each trigger is started by itself. @returns what was started, if nobody else had done it */
export async function startHeld(
  transaction: Transaction,
  parts: EngineParts,
  key: RunKey,
  storing: Storing,
): Promise<PreparedEvent[]> {
  const now = await heldTime(transaction, parts.clock, key.environmentId)
  const events = await transaction.run<LockedEvent>(takeEvents, [...columns([key]), now])
  return startEvents(transaction, parts, events, now, storing)
}

/** What becomes of new runs beside the rows of their own. */
export interface Storing {
  goesOn?: boolean
  /** Told of the runs once they are stored. */
  watch?: ((runs: WatchedRun[], now: Date) => void) | undefined
}

const columns = (rows: RunKey[]) => [rows.map(({ environmentId }) => environmentId), rows.map(({ id }) => id)]

/** Events that this same transaction has marked as started. */
export async function startEvents(
  transaction: Transaction,
  parts: EngineParts,
  events: LockedEvent[],
  now: Date,
  { goesOn = false, watch }: Storing = {},
): Promise<PreparedEvent[]> {
  const { shares, hands, wakes, bell } = parts
  if (events.length === 0) return []
  const { prepared, runs } = await advanceEvents(transaction, parts, events, now)
  if (watch) transaction.afterCommit(() => watch(runs, now))
  await storeRuns(transaction, runs, { now, priority: priorities.single, shares, hands, wakes, bell, goesOn })
  transaction.afterCommit(() => noteStarted(parts, prepared, runs, realOf(now)))
  const wide = prepared.filter(({ row }) => isWide(row))
  const [held] = wide.filter(({ environment }) => environment.facts.clock !== undefined)
  if (held) {
    const { environment_id } = held.row
    await transaction.run(beginHeldWalks, [environment_id, wide.map(({ row }) => row.id), beforeWaits])
    if (!goesOn) await tellHeldWork(transaction, environment_id, { bell })
  } else if (wide.length > 0) {
    await transaction.run(beginWalks, [
      ...columns(wide.map(({ row }) => ({ environmentId: row.environment_id, id: row.id }))),
      priorities.many,
    ])
    transaction.afterCommit(() => bell.ring('fan_out', wide.length))
  }
  return prepared
}

export interface Advanced {
  prepared: PreparedEvent[]
  /** Of their direct recipients, as far as they go at once. Not stored yet. */
  runs: RunState[]
}

/** Stores what the events say about subscribers, and makes their runs. */
export async function advanceEvents(
  transaction: Transaction,
  parts: EngineParts,
  events: LockedEvent[],
  now: Date,
): Promise<Advanced> {
  events.sort((a, b) => (a.id < b.id ? -1 : 1))
  const people = await findPeople(transaction, events)
  const changed = await storeSaid(transaction, parts, { events, people, now })
  const prepared = await prepare(transaction, parts, events)
  await addMissing(transaction, parts, { events, people, now }, changed)
  const runs: RunState[] = []
  for (const event of prepared) {
    for (const { subscriberId } of directOf(event.row)) {
      const recipient = people.get(`${event.row.environment_id} ${subscriberId}`)
      if (recipient) runs.push(await newRun(event, recipient, { now, newId }))
    }
  }
  await settle(
    transaction,
    runs.map((run) => ({ run, progress: advance(run, now) })),
    parts,
    now,
  )
  return { prepared, runs }
}

/** Once the runs are committed. */
export function noteStarted(parts: EngineParts, prepared: PreparedEvent[], runs: RunState[], now: Date): void {
  noteStored(parts, runs, now)
  if (parts.tracing) traceStarts(parts.tracing, prepared, runs, now)
  void parts.statistics.note(runs.length, now)
}

/** Skips events whose environment or workflow was deleted. */
export async function prepare(
  transaction: Transaction,
  { memory }: Pick<EngineParts, 'memory'>,
  events: LockedEvent[],
): Promise<PreparedEvent[]> {
  const references = await readReferences(transaction, events)
  const prepared: PreparedEvent[] = []
  for (const row of events) {
    const environment = await memory.recallAt(row.environment_id, row.revision)
    const definition = await environment?.version(row.workflow_id, row.workflow_version)
    if (!environment || !definition) continue
    const contextKeys = contextKeysOf(row.context)
    prepared.push({ row, facts: references.factsOf(row), contextKeys, environment, definition })
  }
  return prepared
}

/**
 * Stores what triggers say about subscribers, actors, tenants and contexts beyond naming them. The last one wins.
 * @returns the keys of subscribers that changed
 */
async function storeSaid(
  transaction: Transaction,
  parts: EngineParts,
  { events, people, now }: Batch,
): Promise<Set<string>> {
  const changed = new Set<string>()
  for (const environmentId of new Set(events.map(({ environment_id }) => environment_id))) {
    const own = events.filter(({ environment_id }) => environment_id === environmentId)
    const said = new Map<string, SubscriberInput>()
    const requests: ChannelRequest[] = []
    for (const event of own) {
      const actor = event.actor as Direct | null
      for (const each of [...directOf(event), ...(actor ? [actor] : [])]) {
        if (Object.keys(each).length === 1 && each !== actor) continue
        const { channels, ...fields } = each
        said.set(each.subscriberId, { ...said.get(each.subscriberId), ...fields })
        for (const channel of (channels ?? []) as ChannelInput[])
          requests.push({ subscriberId: each.subscriberId, channels: opened(parts, channel) })
      }
    }
    // Most triggers repeat what is stored: that costs no write.
    const news = [...said.values()].filter((each) => {
      const known = people.get(keyOf({ environmentId, subscriberId: each.subscriberId }))
      return !known || !isAsSaid(known, each)
    })
    if (news.length > 0) {
      const isTold = (await wantedIn(parts, own)).size > 0
      await upsertSubscribers(transaction.tx, environmentId, news, now, { isTold })
    }
    for (const { subscriberId } of [...news, ...requests]) changed.add(keyOf({ environmentId, subscriberId }))
    // A channel without an integration, or with too many tokens, is left out: the notification itself must go on.
    if (requests.length > 0)
      await applyChannels({ tx: transaction.tx, secrets: parts.secrets }, environmentId, requests, 'append', now)
    const contexts = own.flatMap(({ context }) => (context ? readContexts(context) : []))
    if (contexts.length > 0) await addContexts(transaction.tx, environmentId, contexts, now)
  }
  const tenants = new Map<string, object>()
  for (const { environment_id, tenant } of events) {
    if (!tenant || Object.keys(tenant).length === 1) continue
    const key = `${environment_id} ${String(tenant.identifier)}`
    tenants.set(key, { ...tenants.get(key), environment_id, ...tenant })
  }
  if (tenants.size > 0) await transaction.run(saveTenants, [JSON.stringify([...tenants.values()]), now])
  return changed
}

/** The webhook events subscribed to in the environment of these triggers. */
async function wantedIn({ memory }: EngineParts, [first]: LockedEvent[]): Promise<ReadonlySet<EventType>> {
  const environment = first && (await memory.recallAt(first.environment_id, first.revision))
  return environment?.facts.webhooks ?? new Set()
}

/** Triggers started together, and the subscribers they name that exist. */
interface Batch {
  events: LockedEvent[]
  people: Map<string, RecipientRow>
  now: Date
}

interface Named {
  environmentId: string
  subscriberId: string
}

const keyOf = ({ environmentId, subscriberId }: Named) => `${environmentId} ${subscriberId}`

const recipientsOf = (events: LockedEvent[]): Named[] =>
  events.flatMap((event) =>
    directOf(event).map(({ subscriberId }) => ({ environmentId: event.environment_id, subscriberId })),
  )

/** Existing recipients and actors. */
async function findPeople(transaction: Transaction, events: LockedEvent[]): Promise<Map<string, RecipientRow>> {
  const people = new Map<string, RecipientRow>()
  const actors = events.flatMap(({ environment_id, actor }) =>
    actor ? [{ environmentId: environment_id, subscriberId: String(actor.subscriberId) }] : [],
  )
  await read(transaction, people, [...recipientsOf(events), ...actors])
  return people
}

async function read(transaction: Transaction, people: Map<string, RecipientRow>, named: Named[]): Promise<void> {
  const wanted = [...new Map(named.map((each) => [keyOf(each), each])).values()]
  if (wanted.length === 0) return
  const rows = await transaction.run<RecipientRow>(findRecipients, [
    wanted.map(({ environmentId }) => environmentId),
    wanted.map(({ subscriberId }) => subscriberId),
  ])
  for (const row of rows) people.set(`${row.environment_id} ${row.subscriber_id}`, row)
}

/** Creates new subscribers, and reads those that were created or changed. */
async function addMissing(
  transaction: Transaction,
  parts: EngineParts,
  { events, people, now }: Batch,
  changed: ReadonlySet<string>,
): Promise<void> {
  const named = recipientsOf(events)
  const unknown = named.filter((each) => !people.has(keyOf(each)) && !changed.has(keyOf(each)))
  const missing = [...new Map(unknown.map((each) => [keyOf(each), each])).values()]
  const ids = missing.map(() => newId(now))
  if (missing.length > 0)
    await transaction.run(addRecipients, [
      missing.map(({ environmentId }) => environmentId),
      ids,
      missing.map(({ subscriberId }) => subscriberId),
      now,
    ])
  await read(transaction, people, [...missing, ...named.filter((each) => changed.has(keyOf(each)))])
  if (missing.length === 0) return
  const added = new Set(ids)
  await tellOfAdded(
    transaction,
    parts,
    events,
    [...people.values()].filter(({ id }) => added.has(id)),
    now,
  )
}

async function tellOfAdded(
  transaction: Transaction,
  parts: EngineParts,
  events: LockedEvent[],
  added: RecipientRow[],
  now: Date,
): Promise<void> {
  for (const environmentId of new Set(added.map(({ environment_id }) => environment_id))) {
    const own = events.filter(({ environment_id }) => environment_id === environmentId)
    if (!(await wantedIn(parts, own)).has('subscriber.created')) continue
    const told = added
      .filter(({ environment_id }) => environment_id === environmentId)
      .map(({ preferences: _, channels: __, ...object }) => ({
        ...{ environmentId, type: 'subscriber.created' as const, object },
        subscriberId: object.subscriber_id,
      }))
    await tellAll(transaction, told, now)
  }
}

const triggeredEveryMs = 5 * 60_000
const triggered = new Map<string, number>()

/** Keeps the time a workflow was last triggered, to five minutes. */
export async function noteTriggered(
  { pool, clock }: EngineParts,
  events: PreparedEvent[],
  now = clock.now(),
): Promise<void> {
  const stale = new Map<string, PreparedEvent>()
  for (const event of events) {
    const key = `${event.row.environment_id} ${event.row.workflow_id}`
    if (event.facts.payload.__source !== undefined || now.getTime() - (triggered.get(key) ?? 0) < triggeredEveryMs)
      continue
    triggered.set(key, now.getTime())
    stale.set(key, event)
  }
  if (stale.size === 0) return
  const rows = [...stale.values()].map(({ row }) => row)
  await pool.query(touchWorkflows.text, [
    rows.map(({ environment_id }) => environment_id),
    rows.map(({ workflow_id }) => workflow_id),
    now,
    new Date(now.getTime() - triggeredEveryMs),
  ])
}

/** The channel with its address in the clear; nothing if no key of ours opens it, and the notification itself goes on. */
function opened({ secrets, log }: EngineParts, channel: ChannelInput): ChannelInput[] {
  const { webhookUrl } = channel.credentials
  if (webhookUrl === undefined) return [channel]
  try {
    return [{ ...channel, credentials: { ...channel.credentials, webhookUrl: secrets.decrypt(webhookUrl) } }]
  } catch (error) {
    log.warn({ err: error }, 'the chat address of a trigger cannot be decrypted with any of the secret keys')
    return []
  }
}
