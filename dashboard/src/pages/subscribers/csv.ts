// Tables for spreadsheets. A spreadsheet takes a cell that begins like a formula for one and computes it, on the machine of
// whoever opens the file, with what a stranger may have entered as their name. An apostrophe in front keeps it text.

/** Phone numbers and negative numbers begin alike and compute nothing. */
const formula = /^[=@\t\r]|^[+-](?![\d\s().-]*$)/

export async function asCsv(rows: unknown[][]): Promise<string> {
  const { default: papa } = await import('papaparse')
  const cell = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? ''))
  return papa.unparse(
    rows.map((row) => row.map(cell)),
    { escapeFormulae: formula },
  )
}

/** What `asCsv` was given for this cell, so that a file that was exported can be imported. */
export const unguarded = (cell: string): string =>
  cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell
