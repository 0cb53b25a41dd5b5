// Where a person's data is: in rows that are theirs alone, and within triggers that were for others too. What is erased and
// what is exported go by the same list, so that nothing is in only one of them.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { EventTable, Recipient } from '../core/tables.ts'

/** All that tells a person apart. */
export interface Person {
  environmentId: string
  subscriberId: string
  /** Internal ids: more than one where they were deleted and came back. */
  rowIds: string[]
  email: string | null
  phone: string | null
}

type Rows = (person: Person) => RawBuilder<unknown>

const ofTheirRuns: Rows = ({ environmentId, rowIds }) =>
  sql`SELECT n.id FROM notifications n WHERE n.environment_id = ${environmentId} AND n.subscriber_row_id = ANY (${rowIds}::text[])`
const byRow: Rows = ({ rowIds }) => sql`t.subscriber_row_id = ANY (${rowIds}::text[])`
const byId: Rows = ({ subscriberId }) => sql`t.subscriber_id = ${subscriberId}`

/**
 * Rows that are theirs alone, by table, in the order in which they can go: nothing is left that points to what is gone.
 * Runs with all that belongs to them, and triggers, are the engine's business.
 */
export const ownRows = {
  subscription_preferences: ({ environmentId, rowIds }) => sql`
    t.subscription_id IN (SELECT s.id FROM topic_subscriptions s
      WHERE s.environment_id = ${environmentId} AND s.subscriber_row_id = ANY (${rowIds}::text[]))`,
  topic_subscriptions: byRow,
  subscriber_preferences: byRow,
  channel_endpoints: byId,
  bot_links: byId,
  channel_connections: byId,
  subscribers: byId,
  // Of messages that are snoozed.
  timers: ({ environmentId, rowIds }) => sql`
    t.kind = 'unsnooze' AND t.subject_id IN (SELECT m.id FROM messages m
      WHERE m.environment_id = ${environmentId} AND m.subscriber_row_id = ANY (${rowIds}::text[]))`,
  messages: byRow,
  digests: byRow,
  throttles: byRow,
  sandbox_messages: byId,
  webhook_deliveries: ({ environmentId, subscriberId }) => sql`
    t.event_id IN (SELECT e.id FROM webhook_events e
      WHERE e.environment_id = ${environmentId} AND e.subscriber_id = ${subscriberId})`,
  webhook_events: byId,
} as const satisfies Record<string, Rows>

/** What belongs to their runs. */
export const runRows = {
  run_timers: (person) => sql`t.subject_id IN (${ofTheirRuns(person)})`,
  inbound_mails: (person) => sql`t.notification_id IN (${ofTheirRuns(person)})`,
  jobs: (person) => sql`t.notification_id IN (${ofTheirRuns(person)})`,
  notifications: byRow,
} as const satisfies Record<string, Rows>

/** What an administrator's act was done to. */
export const auditRows: Rows = ({ environmentId, subscriberId }) =>
  sql`t.acted_in = ${environmentId} AND t.target_type = 'subscriber' AND t.target_id = ${subscriberId}`

/** Those in a list of people that a trigger passed over. */
export const passedOverRows: Rows = ({ subscriberId }) =>
  sql`(t.subscriber_ids @> ARRAY[${subscriberId}::text] OR t.named = ${subscriberId})`

// ---- Triggers

export type EventRow = Selectable<EventTable>

/** What a trigger may say of people: as it is stored, and thus as its text can be searched. */
const said = ['recipients', 'actor', 'payload', 'overrides', 'tenant', 'context'] as const

/** A text this short also stands for other things. */
const shortestTelling = 6

function tellingTexts({ subscriberId, email, phone }: Person): string[] {
  return [subscriberId, email ?? '', phone ?? ''].filter((text) => text.length >= shortestTelling)
}

/** Triggers in whose text the person may be named. The text says it surely where it is a whole value: see `withoutPerson`. */
export function mayName(person: Person): RawBuilder<unknown> {
  const needles = [...new Set([person.subscriberId, ...tellingTexts(person)])].map((text) => JSON.stringify(text))
  const text = sql`concat(${sql.join(said.map((column) => sql`t.${sql.ref(column)}`))})`
  return sql`(${sql.join(
    needles.map((needle) => sql`strpos(${text}, ${needle}) > 0`),
    sql` OR `,
  )})`
}

/** Where a trigger speaks of the person, and what it says. */
interface Mention {
  path: string
  value: unknown
}

interface Stripped {
  /** The columns that have to change. */
  changes: Partial<Record<(typeof said)[number], unknown>>
  mentions: Mention[]
  /** Whether it was for this person and nobody else. */
  isTheirs: boolean
}

export const erased = '[erased]'

/** A trigger without the person: not as a recipient, not as the actor, and not by their addresses in what it says. */
export function withoutPerson(event: Pick<EventRow, (typeof said)[number]>, person: Person): Stripped {
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
  for (const column of ['payload', 'overrides', 'tenant', 'context'] as const) {
    const before = mentions.length
    const cleared = replaceTexts(event[column], texts, column, mentions)
    if (mentions.length > before) changes[column] = cleared
  }
  return { changes, mentions, isTheirs }
}

const isEmpty = (list: unknown) => Array.isArray(list) && list.length === 0

const isPerson = (each: object, { subscriberId }: Person) =>
  'subscriberId' in each && each.subscriberId === subscriberId

/** A topic can be meant without some people, who are named for that. */
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
