import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { newId } from './ids.ts'
import { allOf, contains, countedUpTo, cursorPage, type PageRequest } from './page.ts'

const server = useServer()

const start = Date.parse('2026-05-01T10:00:00.000Z')

/** A row of the list: its last change, and whether the filter matches. Few distinct times, so that many tie. */
const item = fc.record({ moment: fc.integer({ min: 0, max: 3 }), matches: fc.boolean() })
const listing = fc.record({
  items: fc.array(item, { maxLength: 20 }),
  order: fc.constantFrom('updated_at', 'created_at', undefined),
  orderDirection: fc.constantFrom('ASC', 'DESC'),
  filtered: fc.boolean(),
  limit: fc.integer({ min: 1, max: 6 }),
})
type Listing = typeof listing extends fc.Arbitrary<infer T> ? T : never

/** Stores the items in their own environment. @returns a function for pages, and the ids in the expected order */
async function prepare({ items, order, orderDirection, filtered, limit }: Listing) {
  const environmentId = newId(new Date())
  const rows = items.map(({ moment, matches }) => ({
    id: newId(new Date(start)),
    email: matches ? '100%@x.example' : null,
    at: order ? moment : 0,
    isListed: matches || !filtered,
  }))
  await sql`
    INSERT INTO subscribers (environment_id, id, subscriber_id, email, created_at, updated_at)
    SELECT ${environmentId}, id, id, email, at, at
    FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ email }) => email)}::text[],
                ${rows.map(({ at }) => new Date(start + at))}::timestamptz[]) AS given (id, email, at)`.execute(
    server.database.db,
  )
  const list = {
    from: sql`subscribers t`,
    table: 'subscribers',
    columns: sql`t.id`,
    where: allOf([sql`t.environment_id = ${environmentId}`, ...(filtered ? [contains(sql`t.email`, '0%@X')] : [])]),
    environmentId,
    order,
  }
  rows.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
  if (orderDirection === 'DESC') rows.reverse()
  const page = async (request: PageRequest) => {
    const { data, ...rest } = await cursorPage<{ id: string }>(server.database.db, list, {
      limit,
      orderDirection,
      ...request,
    })
    return { ids: data.map(({ id }) => id), ...rest }
  }
  return { page, rows, listed: rows.filter(({ isListed }) => isListed).map(({ id }) => id) }
}

test('walking forward and back visits every item once, in order, and ends exactly at the ends', async () => {
  await fc.assert(
    fc.asyncProperty(listing, async (one) => {
      const { page, listed } = await prepare(one)
      const forward = [await page({})]
      for (let last = forward[0]; last?.next; last = forward.at(-1)) forward.push(await page({ after: last.next }))
      expect(forward.flatMap(({ ids }) => ids)).toEqual(listed)
      expect(forward.map(({ previous }) => previous === null)).toEqual(forward.map((_, n) => n === 0))
      expect(forward.every(({ totalCount }) => totalCount === listed.length)).toBe(true)

      const back = forward.slice(-1)
      for (let first = back[0]; first?.previous; first = back[0]) back.unshift(await page({ before: first.previous }))
      expect(back.flatMap(({ ids }) => ids)).toEqual(listed)
      expect(back.map(({ next }) => next === null)).toEqual(back.map((_, n) => n === back.length - 1))
    }),
    { numRuns: 60 },
  )
})

test('a page at any cursor, in the filter or not, is the right part of the list', async () => {
  const asked = fc.record({
    list: listing,
    at: fc.nat(),
    side: fc.constantFrom('after' as const, 'before' as const),
    includeCursor: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(asked, async ({ list, at, side, includeCursor }) => {
      const { page, rows, listed } = await prepare(list)
      fc.pre(rows.length > 0)
      const place = at % rows.length
      const cursor = rows[place]?.id ?? ''
      const stretch = side === 'after' ? rows.slice(place) : rows.slice(0, place + 1)
      const candidates = stretch.filter(({ id, isListed }) => isListed && (includeCursor || id !== cursor))
      const wanted = side === 'after' ? candidates.slice(0, list.limit) : candidates.slice(-list.limit)
      const ids = wanted.map(({ id }) => id)
      const [first, last] = [ids[0], ids.at(-1)]
      expect(await page({ [side]: cursor, includeCursor })).toEqual({
        ids,
        next: last === undefined || last === listed.at(-1) ? null : last,
        previous: first === undefined || first === listed[0] ? null : first,
        totalCount: listed.length,
        totalCountCapped: false,
      })
    }),
    { numRuns: 100 },
  )
})

test('a list by id or age continues where a deleted item was, and loses none', async () => {
  const asked = fc.record({ list: listing, at: fc.nat(), side: fc.constantFrom('after' as const, 'before' as const) })
  await fc.assert(
    fc.asyncProperty(asked, async ({ list, at, side }) => {
      fc.pre(list.items.length > 0 && list.order !== 'updated_at')
      const { page, rows } = await prepare({ ...list, filtered: false })
      const place = at % rows.length
      const gone = rows[place]?.id ?? ''
      await sql`DELETE FROM subscribers WHERE id = ${gone}`.execute(server.database.db)
      const left = rows.filter(({ id }) => id !== gone).map(({ id }) => id)
      const beyond = side === 'after' ? left.slice(place) : left.slice(0, place)
      const first = await page({ [side]: gone })
      expect(first.totalCount).toBe(left.length)
      if (!list.order)
        expect(first.ids).toEqual(side === 'after' ? beyond.slice(0, list.limit) : beyond.slice(-list.limit))
      const walked = [...first.ids]
      for (let last = first; side === 'after' ? last.next : last.previous; ) {
        last = await page({ [side]: side === 'after' ? last.next : last.previous })
        walked.push(...last.ids)
      }
      expect(walked).toEqual(expect.arrayContaining(beyond))
      expect(new Set(walked).size).toBe(walked.length)
    }),
    { numRuns: 60 },
  )
})

test('hole 11: a cursor of another environment is answered like one that never was', async () => {
  const items = [0, 1, 2].map((moment) => ({ moment, matches: true }))
  const asked = { items, orderDirection: 'ASC', filtered: false, limit: 2 } as const
  for (const order of [undefined, 'created_at', 'updated_at'] as const) {
    const { page } = await prepare({ ...asked, order })
    const theirs = await prepare({ ...asked, order })
    const known = theirs.rows.at(-1)?.id ?? ''
    // The next one, which nobody has.
    const madeUp = (BigInt(`0x${known}`) + 1n).toString(16)
    expect(await page({ after: known })).toEqual(await page({ after: madeUp }))
  }
})

test('a list by last change cannot continue at a deleted item and is empty', async () => {
  const items = [0, 1, 2].map((moment) => ({ moment, matches: true }))
  const { page, rows } = await prepare({ items, order: 'updated_at', orderDirection: 'ASC', filtered: false, limit: 2 })
  const gone = rows[0]?.id ?? ''
  await sql`DELETE FROM subscribers WHERE id = ${gone}`.execute(server.database.db)
  expect(await page({ after: gone })).toMatchObject({ ids: [], next: null, previous: null, totalCount: 0 })
})

test(`counting stops at ${countedUpTo}, and says so`, async () => {
  expect(countedUpTo).toBe(50_000)
  const environmentId = newId(new Date())
  const add = (from: number, to: number) =>
    sql`
    INSERT INTO subscribers (environment_id, id, subscriber_id, created_at, updated_at)
    SELECT ${environmentId}, lpad(to_hex(n), 24, '0'), n::text, now(), now() FROM generate_series(${from}::int, ${to}::int) n`.execute(
      server.database.db,
    )
  const total = async () => {
    const where = sql`t.environment_id = ${environmentId}`
    const list = { from: sql`subscribers t`, table: 'subscribers', columns: sql`t.id`, where, environmentId }
    const { totalCount, totalCountCapped } = await cursorPage(server.database.db, list, { limit: 1 })
    return { totalCount, totalCountCapped }
  }
  await add(1, countedUpTo)
  expect(await total()).toEqual({ totalCount: countedUpTo, totalCountCapped: false })
  await add(countedUpTo + 1, countedUpTo + 1)
  expect(await total()).toEqual({ totalCount: countedUpTo, totalCountCapped: true })
  expect(await total()).toEqual({ totalCount: countedUpTo, totalCountCapped: true })
})
