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

test('a value that all rows have is sent once, and one that some have not stays with those that have it', async () => {
  const at = new Date('2026-11-15T12:00:00.123Z')
  const alike = () => ({ words: '', number: 0, is_on: false, at, data: {}, shape: [1], tags: ['a', ''], times: [at] })
  const rows = ['a', 'b', 'c'].map((id) => ({ id, ...alike() }))
  expect(inColumns([{ columns, rows }]).filter((text) => text?.includes('\x1f'))).toEqual(['\x1f', 'a\x1fb\x1fc'])
  expect(await asRead(rows)).toEqual(rows)
  const some = rows.map((row, index) => (index === 1 ? { ...nothing, id: row.id } : row))
  expect(await asRead(some)).toEqual(some)
  const twice = [0, 1].map(() => ({ id: 'a', ...alike() }))
  expect(await asRead(twice)).toEqual(twice)
  const marked = ['a', 'b'].map((id) => ({ ...nothing, id, words: 'before\x1fafter\0' }))
  expect(await asRead(marked)).toEqual(marked.map((row) => ({ ...row, words: 'before\x1fafter' })))
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
