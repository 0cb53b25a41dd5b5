// Passes rows to a statement column by column, each column as one text that the database splits. PostgreSQL reads this in
// three fifths of the time of JSON (31 instead of 50 µs for a run with a step and a message), and an unused column is free.
import { newId } from './ids.ts'
import { storableJson } from './storable.ts'

export interface Column {
  name: string
  type: string
}

/** From a list such as `id text, tags text[]`. */
export const columnsIn = (list: string): Column[] =>
  list.split(',').map((each) => {
    const [name = '', type = ''] = each.trim().split(/\s+/)
    return { name, type }
  })

/** The separator of values, and the marker for null. */
interface Marks {
  separator: string
  nothing: string
}

const usual: Marks = { separator: '\x1f', nothing: '\x1e' }

/** SQL for rows whose marks are the parameters `first` and the next, and whose columns follow the parameter `after`. */
export function rowsIn(columns: Column[], { first, after }: { first: number; after: number }): string {
  const texts = columns.map((_, index) => `string_to_array($${after + index + 1}, $${first}, $${first + 1})`)
  const arrays = columns.map(({ type }, index) => (isText(type) ? texts[index] : `${texts[index]}::${type}[]`))
  // A list stays text until the rows are built: PostgreSQL's arrays of arrays must be rectangular.
  const names = columns.map(({ name, type }) => (isList(type) ? `${name}::${type} AS ${name}` : name))
  return `(SELECT ${names.join(', ')} FROM unnest(${arrays.join(', ')}) AS u (${columns.map(({ name }) => name).join(', ')}))`
}

/** SQL for one row, whose values follow the parameter `after`. */
export const rowIn = (columns: Column[], after: number): string =>
  `(SELECT ${columns.map(({ name, type }, index) => `$${after + index + 1}::${type} AS ${name}`).join(', ')})`

const isList = (type: string) => type.endsWith('[]')
const isText = (type: string) => type === 'text' || isList(type)

type Row = Record<string, unknown>

/** The parameters for `rowsIn`: the marks, then every column of every table. A missing member is null. */
export function inColumns(tables: Table[]): Array<string | null> {
  for (let marks = usual; ; marks = randomMarks()) {
    const values = joined(tables, marks)
    if (values) return values
  }
}

/** The parameters for `rowIn`: every column of tables that have one row each. */
export const inOneRow = (tables: Table[]): Array<string | null> =>
  tables.flatMap(({ columns, rows: [row = {}] }) =>
    columns.map(({ name, type }) => {
      const value = row[name] ?? null
      return value === null ? null : storable(textOf(value, type), type)
    }),
  )

export interface Table {
  columns: Column[]
  rows: Row[]
}

/** Random marks, which no text contains. */
function randomMarks(): Marks {
  const word = newId(new Date())
  return { separator: `\x1f${word}\x1f`, nothing: `\x1e${word}\x1e` }
}

/** Undefined if a text contains one of the marks. */
function joined(tables: Table[], marks: Marks): Array<string | null> | undefined {
  const { separator, nothing } = marks
  const values: Array<string | null> = [separator, nothing]
  for (const { columns, rows } of tables)
    for (const { name, type } of columns) {
      const isOurs = !isText(type)
      const texts: string[] = []
      let isAny = false
      for (const row of rows) {
        const value = row[name]
        if (value === undefined || value === null) {
          texts.push(nothing)
          continue
        }
        isAny = true
        const one = textOf(value, type)
        if (!isOurs && (one.includes(separator) || one.includes(nothing))) return undefined
        texts.push(one)
      }
      // A single empty text would split into no values. The extra row added for it holds only nulls.
      values.push(isAny ? storable(texts.join(separator), type) || separator + nothing : null)
    }
  return values
}

/** Only text can hold what PostgreSQL refuses: JSON was made storable as a value, and the rest is ours. */
const storable = (text: string, type: string): string =>
  isText(type) && (text.includes('\0') || !text.isWellFormed()) ? text.replaceAll('\0', '').toWellFormed() : text

function textOf(value: unknown, type: string): string {
  if (type === 'json' || type === 'jsonb') return storableJson(value)
  if (Array.isArray(value)) return `{${value.map((each) => quoted(textOf(each, 'text'))).join(',')}}`
  return value instanceof Date ? value.toISOString() : String(value)
}

const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`
