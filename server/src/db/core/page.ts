// Keyset pagination: a page costs the same anywhere in a list.
import { type RawBuilder, sql } from 'kysely'
import { fail } from '../../errors.ts'
import type { Db } from './database.ts'

export interface PageRequest {
  after?: string
  before?: string
  limit?: number
  orderDirection?: string
  orderBy?: string
  includeCursor?: boolean
}

export interface Page<Item> {
  data: Item[]
  next: string | null
  previous: string | null
  totalCount: number
  totalCountCapped: boolean
}

interface List {
  /** The table or join; the listed table has the alias `t`. */
  from: RawBuilder<unknown>
  columns: RawBuilder<unknown>
  /** The conditions on an item, including its environment. */
  where: RawBuilder<unknown>
  /** The table of `t`, where cursors are looked up. */
  table: string
  /** The owner of the items: an environment, or an organization for tables that have one. */
  environmentId: string
  ownedBy?: 'environment_id' | 'organization_id'
  /** Column to order by ahead of the id, or undefined for the id alone. */
  order?: 'created_at' | 'updated_at' | undefined
  /** For counting, if that needs fewer tables than `from`. */
  countFrom?: RawBuilder<unknown>
}

interface Keyed {
  id: string
  page_order?: Date
}

export const countedUpTo = 50_000
const defaultLimit = 10

export async function cursorPage<Row extends { id: string }>(
  db: Db,
  list: List,
  request: PageRequest,
): Promise<Page<Row>> {
  const { after, before, includeCursor = false } = request
  if (after !== undefined && before !== undefined) throw fail('both_cursors')
  const cursorId = after ?? before
  const forward = before === undefined
  const descending = request.orderDirection?.toUpperCase() !== 'ASC'
  const cursor = cursorId === undefined ? undefined : await findCursor(db, list, cursorId, descending !== forward)
  if (cursorId !== undefined && !cursor)
    return { data: [], next: null, previous: null, totalCount: 0, totalCountCapped: false }

  const limit = request.limit ?? defaultLimit
  const [rows, total] = await Promise.all([
    readFrom<Row & Keyed>(db, list, {
      cursor,
      forward,
      descending,
      inclusive: includeCursor,
      limit: limit + 1,
      columns: list.columns,
    }),
    countUpToCap(db, list),
  ])
  const data = rows.slice(0, limit)
  if (!forward) data.reverse()
  // One extra row was read on the far side; the near side has items only if the page started from a cursor.
  const hasFar = rows.length > limit
  const edge = forward ? data[0] : data.at(-1)
  const hasNear =
    cursor !== undefined &&
    edge !== undefined &&
    (await existsBeyond(db, list, edge, { forward: !forward, descending }))
  return {
    data,
    next: (forward ? hasFar : hasNear) ? (data.at(-1)?.id ?? null) : null,
    previous: (forward ? hasNear : hasFar) ? (data[0]?.id ?? null) : null,
    ...total,
  }
}

/** The position of the cursor. For an item deleted since, its id still tells the position. */
async function findCursor(db: Db, list: List, id: string, isUpward: boolean): Promise<Keyed | undefined> {
  const { rows } = await sql<Keyed>`
    SELECT t.id ${orderColumn(list)} FROM ${sql.table(list.table)} t
    WHERE t.${sql.ref(list.ownedBy ?? 'environment_id')} = ${list.environmentId} AND t.id = ${id}`.execute(db)
  return rows[0] ?? placeOfMissing(list, id, isUpward)
}

const madeByUs = /^(?!0{8})[0-9a-f]{24}$/

/**
 * The position of an item that is not in the list, from its id: exact in a list by id, to the second in a list by age, where
 * items of that second may repeat rather than get lost. Unknown in a list by last change. The same for a deleted item, one of
 * another owner and one that never was, so that the answer does not tell which.
 */
function placeOfMissing(list: List, id: string, isUpward: boolean): Keyed | undefined {
  if (!madeByUs.test(id) || list.order === 'updated_at') return undefined
  if (!list.order) return { id }
  const second = Number.parseInt(id.slice(0, 8), 16)
  return { id, page_order: new Date((isUpward ? second : second + 1) * 1000) }
}

interface Reading {
  cursor: Keyed | undefined
  forward: boolean
  descending: boolean
  inclusive: boolean
  limit: number
  columns: RawBuilder<unknown>
}

async function readFrom<Row>(db: Db, list: List, reading: Reading): Promise<Row[]> {
  const { cursor, forward, inclusive, limit } = reading
  const downward = reading.descending === forward
  const direction = sql.raw(downward ? 'DESC' : 'ASC')
  const comparison = sql.raw((downward ? '<' : '>') + (inclusive ? '=' : ''))
  const start = cursor ? sql`AND ${keyOf(list)} ${comparison} ${cursorValue(list, cursor)}` : sql``
  const order = list.order ? sql`t.${sql.ref(list.order)} ${direction}, t.id ${direction}` : sql`t.id ${direction}`
  const { rows } = await sql<Row>`
    SELECT ${reading.columns} ${orderColumn(list)} FROM ${list.from}
    WHERE ${list.where} ${start}
    ORDER BY ${order} LIMIT ${limit}`.execute(db)
  return rows
}

async function existsBeyond(
  db: Db,
  list: List,
  edge: Keyed,
  side: { forward: boolean; descending: boolean },
): Promise<boolean> {
  const rows = await readFrom(db, list, { ...side, cursor: edge, inclusive: false, limit: 1, columns: sql`t.id` })
  return rows.length > 0
}

const orderColumn = (list: List) => (list.order ? sql`, t.${sql.ref(list.order)} AS page_order` : sql``)
const keyOf = (list: List) => (list.order ? sql`(t.${sql.ref(list.order)}, t.id)` : sql`t.id`)
const cursorValue = (list: List, { id, page_order }: Keyed) =>
  list.order ? sql`(${page_order}::timestamptz, ${id})` : sql`${id}`

/** Lists known to exceed the cap, and until when not to count them again. */
const longLists = new Map<string, number>()
const longListMs = 10_000
const mostLongLists = 1_000

/**
 * Counting stops at the cap, which limits its cost; the order keeps PostgreSQL on the index of this environment's rows
 * instead of scanning all environments. A list beyond the cap is not counted again for ten seconds, so that paging through it
 * costs no more than paging through a short one.
 */
async function countUpToCap(db: Db, list: List): Promise<{ totalCount: number; totalCountCapped: boolean }> {
  const query = sql<{ count: number }>`
    SELECT count(*)::int AS count FROM (
      SELECT 1 FROM ${list.countFrom ?? list.from} WHERE ${list.where} ORDER BY t.id LIMIT ${countedUpTo + 1}) counted`
  const compiled = query.compile(db)
  const name = JSON.stringify([compiled.sql, compiled.parameters])
  const now = performance.now()
  if ((longLists.get(name) ?? 0) > now) return { totalCount: countedUpTo, totalCountCapped: true }
  const count = (await query.execute(db)).rows[0]?.count ?? 0
  longLists.delete(name)
  if (count <= countedUpTo) return { totalCount: count, totalCountCapped: false }
  if (longLists.size >= mostLongLists) longLists.delete(longLists.keys().next().value ?? '')
  longLists.set(name, now + longListMs)
  return { totalCount: countedUpTo, totalCountCapped: true }
}

/** Contains `text`, ignoring case and without wildcards. */
export const contains = (expression: RawBuilder<unknown>, text: string) =>
  sql`${expression} ILIKE ${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`}`

export const allOf = (conditions: RawBuilder<unknown>[]) => sql.join(conditions, sql` AND `)
