// What a link in a message does: its address says no to a workflow, or to all workflows of a category; and takes that back.
import { sql } from 'kysely'
import { comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import { type Db, retryConflicts, type Tx } from '../../db/core/database.ts'
import { type Link, noAddress } from '../../db/core/link-tokens.ts'
import { timeIn } from '../../db/queries/environments.ts'
import { holdSubscriber, readPreferences, saveWorkflowPreferences } from '../../db/queries/preferences.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import { addSuppressions, removeSuppressions, type SuppressionSource } from '../../db/queries/suppressions.ts'

interface Known {
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
      const known = await lookUp(tx, link)
      const scope = scopeOf(link, known)
      if (!scope) return
      const now = await ownMoment(tx, link, known, await timeIn(tx, link.environmentId, real))
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
      await choose(tx, link, known, { isOn: false, now, isMeant: ({ offSince }) => offSince === undefined })
    }),
  )
}

/** Takes back this entry only, and the choices that came with it: what the person has refused otherwise stays refused. */
export function resubscribe(db: Db, link: Link, real: Date): Promise<void> {
  return retryConflicts(() =>
    db.transaction().execute(async (tx) => {
      const known = await lookUp(tx, link)
      const scope = scopeOf(link, known)
      if (!scope) return
      const now = await timeIn(tx, link.environmentId, real)
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
      const moments = entry ? [entry.created_at, entry.updated_at] : [await lastRefusal(tx, link, known)]
      const times = new Set(moments.map((moment) => moment?.getTime()))
      await choose(tx, link, known, {
        ...{ isOn: true, now },
        isMeant: ({ identifier, offSince }) =>
          offSince !== undefined && times.has(offSince.getTime()) && !others.includes(identifier),
      })
    }),
  )
}

/** The text of a chat or push message is one for all: its link speaks for the subscriber alone. */
const hasAddress = ({ addressHash }: Link) => !addressHash.equals(noAddress)

function scopeOf({ category }: Link, { workflow }: Known): { type: 'category' | 'workflow'; id: string } | undefined {
  if (category !== null) return { type: 'category', id: category }
  return workflow === undefined ? undefined : { type: 'workflow', id: workflow }
}

async function lookUp(tx: Tx, link: Link): Promise<Known> {
  const { environmentId, addressHash } = link
  const subscriber = await tx
    .selectFrom('subscribers')
    .select(['id', 'subscriber_id', 'email', 'phone'])
    .where('environment_id', '=', environmentId)
    .where('id', '=', link.subscriberRowId)
    .executeTakeFirst()
  const message = await tx
    .selectFrom('messages')
    .select(['email', 'phone', 'context_keys', 'workflow'])
    .where('environment_id', '=', environmentId)
    .where('id', '=', link.messageId)
    .executeTakeFirst()
  const addressOf = (row: { email: string | null; phone: string | null } | undefined) => {
    const given = link.channel === 'email' ? row?.email : row?.phone
    const compared = given ? comparedAddress(link.channel, given) : undefined
    return compared !== undefined && hashOfAddress(compared).equals(addressHash) ? compared : undefined
  }
  const own = addressOf(subscriber)
  return {
    subscriber: own === undefined && hasAddress(link) ? undefined : subscriber,
    address: own ?? addressOf(message) ?? null,
    workflow: (await identifierOf(tx, link)) ?? message?.workflow,
    contextKeys: link.hasContexts ? message?.context_keys : [],
  }
}

async function identifierOf(tx: Tx, { environmentId, workflowId }: Link): Promise<string | undefined> {
  const { rows } = await sql<{ identifier: string }>`
    SELECT identifier FROM workflows WHERE environment_id = ${environmentId} AND id = ${workflowId}
    UNION ALL
    (SELECT definition ->> 'identifier' FROM workflow_versions
     WHERE environment_id = ${environmentId} AND workflow_id = ${workflowId} ORDER BY version DESC LIMIT 1)
    LIMIT 1`.execute(tx)
  return rows[0]?.identifier
}

/** A workflow that a link speaks for. */
interface Meant {
  id: string
  identifier: string
  /** Undefined unless the subscriber has switched the channel off for it. */
  offSince: Date | undefined
}

/** The workflow, or all of the category, with what the subscriber has chosen so far. */
async function meantBy(
  tx: Tx,
  link: Link,
  { subscriber, contextKeys }: Known,
  { holds }: { holds: boolean },
): Promise<Meant[]> {
  if (!subscriber || !contextKeys) return []
  const { environmentId, category, channel } = link
  const workflows = await tx
    .selectFrom('workflows')
    .select(['id', 'identifier'])
    .where('environment_id', '=', environmentId)
    .where((where) =>
      category === null ? where('id', '=', link.workflowId) : where('consent_category', '=', category),
    )
    .orderBy('id')
    .$if(holds, (query) => query.forKeyShare())
    .execute()
  const { byWorkflow } = await readPreferences(tx, { environmentId, subscriberRowId: subscriber.id, contextKeys })
  return workflows.map(({ id, identifier }) => {
    const row = byWorkflow.get(id)
    return { id, identifier, offSince: row?.channels[channel] === false ? row.updated_at : undefined }
  })
}

async function lastRefusal(tx: Tx, link: Link, known: Known): Promise<Date | undefined> {
  const moments = (await meantBy(tx, link, known, { holds: false })).flatMap(({ offSince }) => offSince ?? [])
  return moments.sort((one, other) => other.getTime() - one.getTime())[0]
}

/** Later than what the subscriber has refused otherwise: by the moment, to take it back finds what came with it. */
async function ownMoment(tx: Tx, link: Link, known: Known, now: Date): Promise<Date> {
  const last = await lastRefusal(tx, link, known)
  return last !== undefined && last >= now ? new Date(last.getTime() + 1) : now
}

/** The subscriber's own choice for those workflows of the link that are meant. */
async function choose(
  tx: Tx,
  link: Link,
  known: Known,
  { isOn, now, isMeant }: { isOn: boolean; now: Date; isMeant: (workflow: Meant) => boolean },
): Promise<void> {
  const { subscriber, contextKeys } = known
  if (!subscriber || !contextKeys) return
  const { environmentId } = link
  if ((await holdSubscriber(tx, environmentId, subscriber.subscriber_id)) === undefined) return
  const meant = (await meantBy(tx, link, known, { holds: true })).filter(isMeant)
  const choices = new Map(meant.map(({ id }) => [id, { [link.channel]: isOn }]))
  await saveWorkflowPreferences(tx, { environmentId, subscriberRowId: subscriber.id, contextKeys }, choices, now)
}
