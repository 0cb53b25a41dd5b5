// What a link in a message does: its address says no to a workflow, or to all workflows of a category; and takes that back.
import { sql } from 'kysely'
import { comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import { type Db, retryConflicts, type Tx } from '../../db/core/database.ts'
import { type Link, noAddress } from '../../db/core/link-tokens.ts'
import type { ChannelChoices } from '../../db/core/tables.ts'
import { heldClock, timeOf } from '../../db/queries/environments.ts'
import { saveWorkflowPreferences } from '../../db/queries/preferences.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import { addSuppressions, removeSuppressions, type SuppressionSource } from '../../db/queries/suppressions.ts'

interface Known {
  /** In the environment. */
  now: Date
  /** If they still have the address: a stranger who got the mail by mistake does not speak for them. */
  subscriber: Pick<SubscriberRow, 'id' | 'subscriber_id'> | undefined
  /** Undefined once no row has it any more. */
  address: string | null
  /** The identifier of the workflow, which may be gone. */
  workflow: string | undefined
  /** Of the message; undefined if it had some and is no longer kept. */
  contextKeys: string[] | undefined
}

/** One transaction: the entry, the preferences, and the events of both. Again, it changes nothing. */
export function unsubscribe(db: Db, link: Link, source: SuppressionSource, real: Date): Promise<void> {
  return retryConflicts(() =>
    db.transaction().execute(async (tx) => {
      const known = await lookUp(tx, link, real)
      const scope = scopeOf(link, known)
      if (!scope) return
      const meant = await meantBy(tx, link, known)
      const now = ownMoment(meant, known)
      const { subscriber, address } = known
      if (hasAddress(link))
        await addSuppressions(
          tx,
          link.environmentId,
          [
            {
              ...{ channel: link.channel, address, addressHash: link.addressHash, reason: 'unsubscribe', source },
              ...{ scope: scope.type, scopeId: scope.id, messageId: link.messageId },
              subscriberId: subscriber?.subscriber_id ?? null,
            },
          ],
          now,
        )
      const left = meant.filter(({ offSince }) => offSince === undefined)
      await choose(tx, link, known, left, { isOn: false, now })
    }),
  )
}

/** Takes back this entry only, and the choices that came with it: what the person has refused otherwise stays refused. */
export function resubscribe(db: Db, link: Link, real: Date): Promise<void> {
  return retryConflicts(() =>
    db.transaction().execute(async (tx) => {
      const known = await lookUp(tx, link, real)
      const scope = scopeOf(link, known)
      if (!scope) return
      const { now } = known
      const rows = await tx
        .selectFrom('suppressions')
        .select(['id', 'scope', 'scope_id', 'created_at', 'updated_at'])
        .where('environment_id', '=', link.environmentId)
        .where('address_hash', '=', link.addressHash)
        .where('channel', '=', link.channel)
        .where('reason', '=', 'unsubscribe')
        .where('scope', 'in', ['workflow', 'category'])
        .execute()
      const isOwn = (row: { scope: string; scope_id: string }) => row.scope === scope.type && row.scope_id === scope.id
      const entry = rows.find(isOwn)
      if (!entry && hasAddress(link)) return
      if (entry) await removeSuppressions(tx, link.environmentId, [entry.id], now)
      const others = rows.filter((row) => row !== entry && row.scope === 'workflow').map((row) => row.scope_id)
      const meant = await meantBy(tx, link, known)
      const moments = entry ? [entry.created_at, entry.updated_at] : [lastRefusal(meant)]
      const times = new Set(moments.map((moment) => moment?.getTime()))
      const own = meant.filter(
        ({ identifier, offSince }) =>
          offSince !== undefined && times.has(offSince.getTime()) && !others.includes(identifier),
      )
      await choose(tx, link, known, own, { isOn: true, now })
    }),
  )
}

/** The text of a chat or push message is one for all: its link speaks for the subscriber alone. */
const hasAddress = ({ addressHash }: Link) => !addressHash.equals(noAddress)

function scopeOf({ category }: Link, { workflow }: Known): { type: 'category' | 'workflow'; id: string } | undefined {
  if (category !== null) return { type: 'category', id: category }
  return workflow === undefined ? undefined : { type: 'workflow', id: workflow }
}

/** A held clock, a subscriber, a message and a workflow: each null where there is none. */
interface Found {
  clock_now: Date | null
  id: string | null
  subscriber_id: string
  email: string | null
  phone: string | null
  sent_email: string | null
  sent_phone: string | null
  context_keys: string[] | null
  identifier: string | null
}

/** The subscriber is locked, like by `holdSubscriber`, before any address. */
async function lookUp(tx: Tx, link: Link, real: Date): Promise<Known> {
  const { environmentId, addressHash, workflowId } = link
  const { rows } = await sql<Found>`
    WITH clock AS (${heldClock(environmentId)}), s AS (
      SELECT id, subscriber_id, email, phone FROM subscribers
      WHERE environment_id = ${environmentId} AND id = ${link.subscriberRowId} FOR NO KEY UPDATE
    )
    SELECT clock.clock_now, s.id, s.subscriber_id, s.email, s.phone, m.email AS sent_email, m.phone AS sent_phone, m.context_keys,
      coalesce(w.identifier, (
        SELECT v.definition ->> 'identifier' FROM workflow_versions v
        WHERE v.environment_id = ${environmentId} AND v.workflow_id = ${workflowId} ORDER BY v.version DESC LIMIT 1
      ), m.workflow) AS identifier
    FROM (SELECT) AS link
    LEFT JOIN clock ON true
    LEFT JOIN s ON true
    LEFT JOIN messages m ON m.environment_id = ${environmentId} AND m.id = ${link.messageId}
    LEFT JOIN workflows w ON w.environment_id = ${environmentId} AND w.id = ${workflowId}`.execute(tx)
  const found = rows[0]
  const addressOf = (email: string | null | undefined, phone: string | null | undefined) => {
    const given = link.channel === 'email' ? email : phone
    const compared = given ? comparedAddress(link.channel, given) : undefined
    return compared !== undefined && hashOfAddress(compared).equals(addressHash) ? compared : undefined
  }
  const own = addressOf(found?.email, found?.phone)
  const isSpokenFor = own !== undefined || !hasAddress(link)
  return {
    now: timeOf(found, real),
    subscriber: found?.id && isSpokenFor ? { id: found.id, subscriber_id: found.subscriber_id } : undefined,
    address: own ?? addressOf(found?.sent_email, found?.sent_phone) ?? null,
    workflow: found?.identifier ?? undefined,
    contextKeys: link.hasContexts ? (found?.context_keys ?? undefined) : [],
  }
}

/** A workflow that a link speaks for. */
interface Meant {
  id: string
  identifier: string
  /** Undefined unless the subscriber has switched the channel off for it. */
  offSince: Date | undefined
}

/** The workflow, or all of the category, with what the subscriber has chosen so far. They are locked against deletion. */
async function meantBy(tx: Tx, link: Link, { subscriber, contextKeys }: Known): Promise<Meant[]> {
  if (!subscriber || !contextKeys) return []
  const { environmentId, category, workflowId, channel } = link
  const { rows } = await sql<{ id: string; identifier: string; channels: ChannelChoices | null; updated_at: Date }>`
    SELECT w.id, w.identifier, p.channels, p.updated_at
    FROM workflows w
    LEFT JOIN subscriber_preferences p ON p.environment_id = w.environment_id AND p.subscriber_row_id = ${subscriber.id}
      AND p.workflow_id = w.id AND p.context_keys = ${contextKeys}::text[]
    WHERE w.environment_id = ${environmentId}
      AND ${category === null ? sql`w.id = ${workflowId}` : sql`w.consent_category = ${category}`}
    ORDER BY w.id FOR KEY SHARE OF w`.execute(tx)
  return rows.map(({ id, identifier, channels, updated_at }) => ({
    ...{ id, identifier },
    offSince: channels?.[channel] === false ? updated_at : undefined,
  }))
}

function lastRefusal(meant: Meant[]): Date | undefined {
  const moments = meant.flatMap(({ offSince }) => offSince ?? [])
  return moments.sort((one, other) => other.getTime() - one.getTime())[0]
}

/** Later than what the subscriber has refused otherwise: by the moment, to take it back finds what came with it. */
function ownMoment(meant: Meant[], { now }: Known): Date {
  const last = lastRefusal(meant)
  return last !== undefined && last >= now ? new Date(last.getTime() + 1) : now
}

/** The subscriber's own choice for these workflows. */
async function choose(
  tx: Tx,
  { environmentId, channel }: Link,
  { subscriber, contextKeys }: Known,
  meant: Meant[],
  { isOn, now }: { isOn: boolean; now: Date },
): Promise<void> {
  if (!subscriber || !contextKeys) return
  const choices = new Map(meant.map(({ id }) => [id, { [channel]: isOn }]))
  await saveWorkflowPreferences(tx, { environmentId, subscriberRowId: subscriber.id, contextKeys }, choices, now)
}
