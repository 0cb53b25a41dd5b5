// Topic queries that several rooms share.
import { type Selectable, sql } from 'kysely'
import { fail } from '../../errors.ts'
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'
import type { TopicTable } from '../core/tables.ts'
import { deleteSubscriptions } from './topic-subscriptions.ts'

export type TopicRow = Selectable<TopicTable>

export interface TopicInput {
  key: string
  /** Undefined or empty leaves the name of an existing topic. */
  name?: string | undefined
  /** Undefined leaves an existing topic as it is, and closes a new one. */
  isJoinable?: boolean | undefined
}

const plainKey = /^[a-zA-Z0-9_:.-]+$/
const emailKey = /^(?=\S+$)\S[^@\s]*@\S+\.\S+$/

export const isTopicKey = (key: string): boolean => plainKey.test(key) || emailKey.test(key)

function refuseBadKey(key: string): void {
  if (!isTopicKey(key)) throw fail('invalid_topic_key', { key })
}

export async function findTopic(db: Db | Tx, environmentId: string, key: string): Promise<TopicRow | undefined> {
  return topicQuery(db, environmentId, key).executeTakeFirst()
}

const topicQuery = (db: Db | Tx, environmentId: string, key: string) =>
  db.selectFrom('topics').selectAll().where('environment_id', '=', environmentId).where('key', '=', key)

/** Creates the topic; leaves an existing one alone and returns nothing. */
export async function insertTopic(
  db: Db | Tx,
  environmentId: string,
  topic: TopicInput,
  now: Date,
): Promise<TopicRow | undefined> {
  refuseBadKey(topic.key)
  return insertQuery(db, environmentId, topic, now)
    .onConflict((conflict) => conflict.columns(['environment_id', 'key']).doNothing())
    .returningAll()
    .executeTakeFirst()
}

/** Creates the topic or renames the existing one, in one statement. */
export async function upsertTopic(
  db: Db | Tx,
  environmentId: string,
  topic: TopicInput,
  now: Date,
): Promise<{ row: TopicRow; created: boolean }> {
  refuseBadKey(topic.key)
  const id = newId(now)
  const isJoinable = topic.isJoinable ?? sql<boolean>`topics.joinable_from_browser`
  const row = await insertQuery(db, environmentId, topic, now, id)
    .onConflict((conflict) =>
      conflict.columns(['environment_id', 'key']).doUpdateSet({
        name: sql`coalesce(excluded.name, topics.name)`,
        joinable_from_browser: isJoinable,
        // Only a new value is a change: a name repeated with every subscription must not reorder the list.
        updated_at: sql`CASE WHEN coalesce(excluded.name, topics.name) IS NOT DISTINCT FROM topics.name
                          AND topics.joinable_from_browser = ${isJoinable}
                        THEN topics.updated_at ELSE excluded.updated_at END`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  return { row, created: row.id === id }
}

function insertQuery(
  db: Db | Tx,
  environmentId: string,
  { key, name, isJoinable = false }: TopicInput,
  now: Date,
  id = newId(now),
) {
  return db.insertInto('topics').values({
    ...{ environment_id: environmentId, id, key, name: name || null },
    ...{ joinable_from_browser: isJoinable, created_at: now, updated_at: now },
  })
}

/**
 * The topic, created or renamed if needed, protected from deletion until the transaction ends. A topic that needs no change is
 * locked FOR KEY SHARE, so that others can subscribe at the same time. One to be renamed is not locked before its update: two
 * transactions that upgrade their lock while a third waits to delete would deadlock.
 */
export async function takeTopic(tx: Tx, environmentId: string, topic: TopicInput, now: Date): Promise<TopicRow> {
  const asItIs = topicQuery(tx, environmentId, topic.key)
  const existing = await (topic.name ? asItIs.where('name', '=', topic.name) : asItIs).forKeyShare().executeTakeFirst()
  return existing ?? (await upsertTopic(tx, environmentId, topic, now)).row
}

/** A topic that browsers may join, protected from deletion until the transaction ends. */
export async function takeJoinableTopic(tx: Tx, environmentId: string, key: string): Promise<TopicRow | undefined> {
  return topicQuery(tx, environmentId, key).where('joinable_from_browser', '=', true).forKeyShare().executeTakeFirst()
}

export async function changeTopic(
  db: Db,
  environmentId: string,
  { key, name, isJoinable }: TopicInput,
  now: Date,
): Promise<TopicRow> {
  const row = await db
    .updateTable('topics')
    .set({
      ...(name === undefined ? {} : { name }),
      ...(isJoinable === undefined ? {} : { joinable_from_browser: isJoinable }),
      updated_at: now,
    })
    .where('environment_id', '=', environmentId)
    .where('key', '=', key)
    .returningAll()
    .executeTakeFirst()
  if (!row) throw fail('topic_not_found', { key })
  return row
}

/** Deletes the topic with its subscriptions. The topic first: a concurrent subscribe has then committed, or must wait. */
export async function deleteTopic(tx: Tx, environmentId: string, key: string): Promise<void> {
  const deleted = await tx
    .deleteFrom('topics')
    .where('environment_id', '=', environmentId)
    .where('key', '=', key)
    .returning('id')
    .executeTakeFirst()
  if (!deleted) throw fail('topic_not_found', { key })
  await deleteSubscriptions(tx, environmentId, sql`t.topic_id = ${deleted.id}`)
}
