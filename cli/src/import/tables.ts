// Rows of a CSV file by the names in its first line, one after the other however large it is.
import Papa from 'papaparse'
import { Failure } from '../failure.ts'
import type { Report } from './report.ts'
import { textOf } from './source-file.ts'

/** A row of more is what a quote that nobody closed begins. */
const longestRow = 4 * 1024 * 1024

export interface Row {
  /** By column; what the row does not have is empty. */
  cells: Record<string, string>
  /** The first line, with the names, is row 1. */
  place: number
}

/** @param needed columns that the file must have */
export async function* rowsOf(
  file: string,
  { report, needed = [] }: { report: Report; needed?: Iterable<string> },
): AsyncGenerator<Row> {
  let names: string[] | undefined
  for await (const { cells, place } of cellsOf(file)) {
    if (names === undefined) {
      names = distinct(cells)
      const missing = [...needed].filter((column) => !names?.includes(column))
      if (missing.length > 0)
        throw new Failure(
          'usage',
          'no_column',
          `${file} has no column ${missing.map((column) => `"${column}"`).join(', ')}`,
        )
      continue
    }
    if (cells.slice(names.length).some((cell) => cell !== ''))
      report.unmapped({
        ...{ kind: 'subscribers', id: `row ${place}`, path: '', code: 'extra_cells' },
        why: `the row has more cells than the first line, which has ${names.length}; those beyond are not taken`,
      })
    yield { cells: Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ''])), place }
  }
  if (names === undefined) throw new Failure('usage', 'no_column', `${file} is empty; its first line names the columns`)
}

/** Of two columns with one name the second is `name_1`, so that none replaces another. */
function distinct(given: string[]): string[] {
  const names = new Set<string>()
  for (const name of given) {
    let own = name
    for (let count = 1; names.has(own); count += 1) own = `${name}_${count}`
    names.add(own)
  }
  return [...names]
}

/** Rows that are not empty. */
async function* cellsOf(file: string): AsyncGenerator<{ cells: string[]; place: number }> {
  let parser: Papa.Parser | undefined
  let rest = ''
  let place = 0
  const parsed = (isLast: boolean) => {
    // The delimiter and the end of lines are guessed from the first piece.
    parser ??= new Papa.Parser(guessed(rest))
    const { data, errors, meta } = parser.parse(rest, 0, !isLast) as Papa.ParseResult<string[]>
    // A row that is not whole yet is read again with the next piece.
    const error = errors.find(({ row = 0 }) => isLast || row < data.length)
    if (error) throw badQuotes(file, place + (error.row ?? 0) + 1, error.code === 'MissingQuotes')
    rest = rest.slice(meta.cursor)
    if (rest.length > longestRow) throw badQuotes(file, place + data.length + 1, true)
    return data
  }
  function* whole(rows: string[][]) {
    for (const cells of rows) {
      place += 1
      if (cells.some((cell) => cell !== '') || cells.length > 1) yield { cells, place }
    }
  }
  for await (const text of textOf(file)) {
    rest += text
    yield* whole(parsed(false))
  }
  if (rest !== '') yield* whole(parsed(true))
}

function guessed(start: string): Papa.ParseConfig {
  const { delimiter, linebreak } = Papa.parse(start, { preview: 10 }).meta
  return { delimiter, newline: linebreak as '\n' }
}

const badQuotes = (file: string, row: number, isOpen: boolean) =>
  new Failure(
    'usage',
    'bad_quotes',
    `${file}, row ${row}: ${isOpen ? 'a quote is opened and not closed' : 'a cell goes on behind its closing quote'}. Quotes inside a quoted cell are doubled`,
  )
