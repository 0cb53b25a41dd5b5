// Where a person's data is: in rows of their own, and in triggers that were for others too. Erasure and export use the same
// list, so that neither misses anything.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { comparedAddress, hashOfAddress } from '../core/addresses.ts'
import type { AnsweredBy, AskedEntry, EventTable, Recipient } from '../core/tables.ts'
import { eventTypes } from './webhook-events.ts'

/** Everything that identifies a person. */
export interface Person {
  environmentId: string
  subscriberId: string
  /** Internal ids: several if the subscriber was deleted and created again. */
  rowIds: string[]
  email: string | null
  phone: string | null
}

type Rows = (person: Person) => RawBuilder<unknown>

const ofTheirRuns: Rows = ({ environmentId, rowIds }) =>
  sql`SELECT n.id FROM notifications n WHERE n.environment_id = ${environmentId} AND n.subscriber_row_id = ANY (${rowIds}::text[])`
const byRow: Rows = ({ rowIds }) => sql`t.subscriber_row_id = ANY (${rowIds}::text[])`
const byId: Rows = ({ subscriberId }) => sql`t.subscriber_id = ${subscriberId}`

/** Posted events that name the person: in the key or the payload, too. */
const namedIn = (person: Person, event: RawBuilder<unknown>) => sql`(
  ${event}.subscriber_id = ${person.subscriberId} OR ${event}.key = ANY (${tellingTexts(person)}::text[])
  OR EXISTS (SELECT FROM unnest(${tellingTexts(person).map((text) => JSON.stringify(text))}::text[]) AS needle
             WHERE strpos(${event}.payload::text, needle) > 0))`

/**
 * A person's own rows by table, in an order in which they can be deleted without dangling references. The engine deletes runs
 * and triggers.
 */
export const ownRows = {
  subscription_preferences: ({ environmentId, rowIds }) => sql`
    t.subscription_id IN (SELECT s.id FROM topic_subscriptions s
      WHERE s.environment_id = ${environmentId} AND s.subscriber_row_id = ANY (${rowIds}::text[]))`,
  topic_subscriptions: byRow,
  subscriber_preferences: byRow,
  push_subscriptions: byRow,
  channel_endpoints: byId,
  bot_links: byId,
  channel_connections: byId,
  subscribers: byId,
  // Of snoozed messages, and of links that were just followed.
  timers: ({ environmentId, rowIds }) => sql`
    t.kind IN ('unsnooze', 'clicks') AND t.subject_id IN (SELECT m.id FROM messages m
      WHERE m.environment_id = ${environmentId} AND m.subscriber_row_id = ANY (${rowIds}::text[]))`,
  tracked_clicks: ({ environmentId, rowIds }) => sql`
    t.message_id IN (SELECT m.id FROM messages m
      WHERE m.environment_id = ${environmentId} AND m.subscriber_row_id = ANY (${rowIds}::text[]))`,
  messages: byRow,
  digests: byRow,
  throttles: byRow,
  cap_counts: byRow,
  sandbox_messages: byId,
  shadow_differences: byId,
  webhook_deliveries: ({ environmentId, subscriberId }) => sql`
    t.event_id IN (SELECT e.id FROM webhook_events e
      WHERE e.environment_id = ${environmentId} AND e.subscriber_id = ${subscriberId})`,
  webhook_events: byId,
  posted_event_ids: (person) => sql`
    t.event_id IN (SELECT e.id FROM posted_events e
      WHERE e.environment_id = ${person.environmentId} AND ${namedIn(person, sql`e`)})`,
  posted_events: (person) => namedIn(person, sql`t`),
} as const satisfies Record<string, Rows>

/** Rows of their runs. */
export const runRows = {
  run_timers: (person) => sql`t.subject_id IN (${ofTheirRuns(person)})`,
  inbound_mails: (person) => sql`t.notification_id IN (${ofTheirRuns(person)})`,
  event_waits: (person) => sql`t.notification_id IN (${ofTheirRuns(person)})`,
  // Those of their runs, and those that they were asked or have answered.
  questions: (person) => sql`(t.notification_id IN (${ofTheirRuns(person)}) OR t.id IN (
    SELECT p.question_id FROM question_people p
    WHERE p.environment_id = ${person.environmentId} AND p.subscriber_id = ${person.subscriberId}))`,
  jobs: (person) => sql`t.notification_id IN (${ofTheirRuns(person)})`,
  notifications: byRow,
} as const satisfies Record<string, Rows>

/** Events of webhooks about others' questions that name the person. */
export const toldRows: Rows = ({ subscriberId }) => sql`
  t.type = ANY (${eventTypes.filter((type) => type.startsWith('question.'))}::text[]) AND strpos(t.object::text, ${JSON.stringify(subscriberId)}) > 0`

/** What such an event says of people. */
interface ToldQuestion {
  asked?: AskedEntry[]
  answered_by?: AnsweredBy | null
}

/** The event without the person; the same object if it does not name them. */
export function toldWithout<Told extends ToldQuestion>(told: Told, { subscriberId }: Person): Told {
  const { asked = [], answered_by: by = null } = told
  const others = asked.filter((entry) => entry.subscriberId !== subscriberId)
  const isAnswerer = by?.subscriberId === subscriberId
  if (others.length === asked.length && !isAnswerer) return told
  const { as: _, ...rest } = by ?? {}
  return {
    ...told,
    asked: others,
    ...(isAnswerer ? { answered_by: { ...rest, subscriberId: erased, name: erased } } : {}),
  }
}

/** What is the person's own of such an event. */
export function ownTold<Told extends ToldQuestion>(told: Told, { subscriberId }: Person): Told | undefined {
  const asked = (told.asked ?? []).filter((entry) => entry.subscriberId === subscriberId)
  const isAnswerer = told.answered_by?.subscriberId === subscriberId
  if (asked.length === 0 && !isAnswerer) return undefined
  return { ...told, asked, ...(isAnswerer ? {} : { answered_by: null }) }
}

/** Entries of the suppression list about their addresses. An erasure keeps them without the person: a "no" is not forgotten. */
export const suppressionRows: Rows = ({ subscriberId, email, phone }) => {
  const compared = [
    ...(email === null ? [] : [comparedAddress('email', email)]),
    ...(phone === null ? [] : [comparedAddress('sms', phone)]),
  ]
  return sql`(t.subscriber_id = ${subscriberId} OR t.address_hash = ANY (${compared.map(hashOfAddress)}::bytea[]))`
}

/** Audit log entries about the person. */
export const auditRows: Rows = ({ environmentId, subscriberId }) =>
  sql`t.acted_in = ${environmentId} AND t.target_type = 'subscriber' AND t.target_id = ${subscriberId}`

/** Entries in a trigger's list of skipped subscribers. */
export const passedOverRows: Rows = ({ subscriberId }) =>
  sql`(t.subscriber_ids @> ARRAY[${subscriberId}::text] OR t.named = ${subscriberId})`

// ---- Triggers

export type EventRow = Selectable<EventTable>

/** The columns of a trigger that may mention people, searched as text. */
const said = ['recipients', 'actor', 'payload', 'overrides', 'tenant', 'context'] as const

/** A shorter text would match unrelated values. */
const shortestTelling = 6

function tellingTexts({ subscriberId, email, phone }: Person): string[] {
  return [subscriberId, email ?? '', phone ?? ''].filter((text) => text.length >= shortestTelling)
}

/** Triggers whose text may name the person. `withoutPerson` then checks for whole values. */
export function mayName(person: Person): RawBuilder<unknown> {
  const needles = [...new Set([person.subscriberId, ...tellingTexts(person)])].map((text) => JSON.stringify(text))
  const text = sql`concat(${sql.join(said.map((column) => sql`t.${sql.ref(column)}`))})`
  return sql`(t.cancellation_key = ANY (${tellingTexts(person)}::text[]) OR ${sql.join(
    needles.map((needle) => sql`strpos(${text}, ${needle}) > 0`),
    sql` OR `,
  )})`
}

/** Where a trigger mentions the person. */
interface Mention {
  path: string
  value: unknown
}

interface Stripped {
  /** The columns to update. */
  changes: Partial<Record<(typeof said)[number] | 'cancellation_key', unknown>>
  mentions: Mention[]
  /** Whether the person was the only recipient. */
  isTheirs: boolean
}

export const erased = '[erased]'

/** Removes the person from a trigger: as recipient, as actor, and their addresses in its data. */
export function withoutPerson(
  event: Pick<EventRow, (typeof said)[number] | 'cancellation_key'>,
  person: Person,
): Stripped {
  const mentions: Mention[] = []
  const changes: Stripped['changes'] = {}
  const { recipients, actor } = event
  if (recipients) {
    const others = recipients.filter((each) => !isPerson(each, person)).map((each) => includingOthers(each, person))
    for (const each of recipients) if (isPerson(each, person)) mentions.push({ path: 'recipients', value: each })
    if (JSON.stringify(others) !== JSON.stringify(recipients)) changes.recipients = others
  }
  const isTheirs = recipients !== null && changes.recipients !== undefined && isEmpty(changes.recipients)
  if (actor && isPerson(actor, person)) {
    changes.actor = null
    mentions.push({ path: 'actor', value: actor })
  }
  const texts = new Set(tellingTexts(person))
  if (event.cancellation_key !== null && texts.has(event.cancellation_key)) {
    changes.cancellation_key = null
    mentions.push({ path: 'cancellationKey', value: event.cancellation_key })
  }
  for (const column of ['payload', 'overrides', 'tenant', 'context'] as const) {
    const before = mentions.length
    const cleared = replaceTexts(event[column], texts, column, mentions)
    if (mentions.length > before) changes[column] = cleared
  }
  return { changes, mentions, isTheirs }
}

// ---- Calls of the SQL functions

type Call = Record<string, unknown>

/** Calls whose text may name the person. */
export function callsNaming(person: Person): RawBuilder<unknown> {
  const needles = [...new Set([person.subscriberId, ...tellingTexts(person)])].map((text) => JSON.stringify(text))
  return sql`(t.transaction_id = ANY (${tellingTexts(person)}::text[]) OR ${sql.join(
    needles.map((needle) => sql`strpos(t.body::text, ${needle}) > 0`),
    sql` OR `,
  )})`
}

/** Removes the person from a call. @returns undefined if it was about nobody else; the call itself if it does not name them */
export function callWithout(kind: string, body: Call, person: Person): Call | undefined {
  if (kind !== 'trigger') return isPerson(body, person) ? undefined : body
  const { changes, mentions, isTheirs } = withoutPerson(eventOfCall(body), person)
  if (isTheirs) return undefined
  if (mentions.length === 0 && changes.recipients === undefined) return body
  const { recipients, cancellation_key: _, ...others } = changes
  const cleared: Call = { ...body, ...others, ...(recipients === undefined ? {} : { to: recipients }) }
  if (changes.cancellation_key === null) delete cleared.cancellationKey
  if (changes.actor === null) delete cleared.actor
  return cleared
}

/** The person's own part of a call; undefined if it only mentions them, or not even that. */
export function ownCall(kind: string, body: Call, person: Person): Call | undefined {
  if (kind !== 'trigger') return isPerson(body, person) ? body : undefined
  const own = (eventOfCall(body).recipients ?? []).filter((each) => isPerson(each, person))
  return own.length === 0 ? undefined : { ...body, to: own }
}

/** As a trigger will be stored. */
function eventOfCall(body: Call): Parameters<typeof withoutPerson>[0] {
  const people = (Array.isArray(body.to) ? (body.to as unknown[]) : [body.to]).filter((each) => each != null)
  const named = (each: unknown) => (typeof each === 'string' ? { subscriberId: each.trim() } : each)
  const { actor, payload = {}, overrides = {}, tenant = null, context = null, cancellationKey = null } = body
  return {
    recipients: people.map(named),
    actor: actor == null ? null : named(actor),
    ...{ payload, overrides, tenant, context, cancellation_key: cancellationKey },
  } as Parameters<typeof withoutPerson>[0]
}

const isEmpty = (list: unknown) => Array.isArray(list) && list.length === 0

const isPerson = (each: object, { subscriberId }: Person) =>
  'subscriberId' in each && each.subscriberId === subscriberId

/** A topic recipient can exclude people, who are named in it. */
function includingOthers(each: Recipient, { subscriberId }: Person): Recipient {
  if (!('exclude' in each) || !Array.isArray(each.exclude) || !each.exclude.includes(subscriberId)) return each
  return { ...each, exclude: each.exclude.filter((id) => id !== subscriberId) }
}

function replaceTexts(value: unknown, texts: ReadonlySet<string>, path: string, found: Mention[]): unknown {
  if (typeof value === 'string') {
    if (!texts.has(value)) return value
    found.push({ path, value })
    return erased
  }
  if (Array.isArray(value)) return value.map((each, index) => replaceTexts(each, texts, `${path}.${index}`, found))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, replaceTexts(each, texts, `${path}.${key}`, found)]),
  )
}
