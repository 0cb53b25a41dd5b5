import { expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { columnsIn, inColumns, inOneRow, rowIn, rowsIn } from './columns.ts'

const server = useServer()
const columns = columnsIn(`id text, words text, number smallint, is_on boolean, at timestamptz, data jsonb, shape json,
  tags text[], times timestamptz[]`)

type Row = Record<string, unknown>

/** The rows as the database reads them. */
async function asRead(rows: Row[]): Promise<Row[]> {
  const values = inColumns([{ columns, rows }])
  const text = `SELECT r.* FROM ${rowsIn(columns, { first: 1, after: 2 })} AS r WHERE r.id IS NOT NULL`
  return (await server.database.pool.query<Row>(text, values)).rows
}

/** One row as the database reads it by itself. */
async function asReadAlone(row: Row): Promise<Row | undefined> {
  const values = inOneRow([{ columns, rows: [row] }])
  return (await server.database.pool.query<Row>(`SELECT r.* FROM ${rowIn(columns, 0)} AS r`, values)).rows[0]
}

const nothing = { words: null, number: null, is_on: null, at: null, data: null, shape: null, tags: null, times: null }

test('rows arrive unchanged', async () => {
  const at = new Date('2026-11-15T12:00:00.123Z')
  const full = {
    ...{ id: 'a', words: 'Hello, "world" \\ {}', number: -3, is_on: false, at, data: { a: [1, null, ''] } },
    ...{ shape: { text: 'it\x1fself\n' }, tags: ['a,b', 'c"d', 'e\\f', '', 'NULL', '{}'], times: [at] },
  }
  const short = { id: 'c', words: '', tags: [] }
  expect(await asRead([full, { id: 'b' }, short])).toEqual([full, { id: 'b', ...nothing }, { ...nothing, ...short }])
  expect(await asReadAlone(full)).toEqual(full)
  expect(await asReadAlone(short)).toEqual({ ...nothing, ...short })
})

test('a single empty text stays a text, and no rows stay none', async () => {
  expect(await asRead([{ id: 'a', words: '' }])).toEqual([{ id: 'a', ...nothing, words: '' }])
  expect(await asRead([])).toEqual([])
})

test.each([
  ['between values', 'before\x1fafter'],
  ['for no value', '\x1e'],
  ['for both', '\x1e\x1f\x1e'],
])('a text that contains the usual mark %s is not split', async (_, words) => {
  const rows = [{ id: 'a', words, tags: [words] }, { id: 'b' }, { id: words, words: 'next' }]
  expect(await asRead(rows)).toEqual([
    { id: 'a', ...nothing, words, tags: [words] },
    { id: 'b', ...nothing },
    { id: words, ...nothing, words: 'next' },
  ])
})

test('text the database cannot store is removed or replaced', async () => {
  const row = { id: 'a', words: 'a\0b\ud800', data: { text: 'a\0b\ud800' }, tags: ['\0x'] }
  const stored = { ...nothing, id: 'a', words: 'ab\ufffd', data: { text: 'ab\ufffd' }, tags: ['x'] }
  expect(await asRead([row])).toEqual([stored])
  expect(await asReadAlone(row)).toEqual(stored)
})
