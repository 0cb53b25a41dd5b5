// CSV for spreadsheets. A spreadsheet runs a cell that starts like a formula, and a stranger may have entered one as their name.
// An apostrophe in front keeps the cell text.

/** Phone numbers and negative numbers start the same way but are harmless. */
const formula = /^[=@\t\r]|^[+-](?![\d\s().-]*$)/

export async function asCsv(rows: unknown[][]): Promise<string> {
  const { default: papa } = await import('papaparse')
  const cell = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? ''))
  return papa.unparse(
    rows.map((row) => row.map(cell)),
    { escapeFormulae: formula },
  )
}

/** Undoes the guard of `asCsv`, so that an exported file can be imported. */
export const unguarded = (cell: string): string =>
  cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell
