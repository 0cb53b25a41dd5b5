// The suppression list as CSV (RFC 4180): read row by row with what is wrong with each, and written so that a spreadsheet runs
// nothing of it.
import { type AddressChannel, addressChannels, comparedAddress, isAddress } from '../../db/core/addresses.ts'
import {
  type NewSuppression,
  ofAddress,
  type ScopeType,
  type SuppressionReason,
  type SuppressionRow,
  suppressionReasons,
} from '../../db/queries/suppressions.ts'
import { fail } from '../../errors.ts'

const columns = ['channel', 'address', 'reason', 'scope', 'expiresAt', 'createdAt', 'source', 'note'] as const
type Column = (typeof columns)[number]

export const csvHeader = `${columns.join()}\r\n`
const longestNote = 500
const categoryName = /^[a-z0-9][a-z0-9_-]{0,63}$/
const longestIdentifier = 255

export interface CsvRow {
  /** Where it begins in the file, from 1. */
  line: number
  cells: string[]
}

/** @throws `csv_invalid` if a quoted value never ends, or something follows its end */
export function* csvRows(text: string): Generator<CsvRow> {
  let [at, line] = [text.startsWith('\ufeff') ? 1 : 0, 1]
  while (at < text.length) {
    const row: CsvRow = { line, cells: [] }
    for (;;) {
      const cell = text[at] === '"' ? quotedCell(text, at, line) : plainCell(text, at)
      row.cells.push(cell.value)
      line += cell.breaks
      at = cell.end
      if (text[at] !== ',') break
      at += 1
    }
    if (text[at] === '\r') at += 1
    if (text[at] === '\n') at += 1
    line += 1
    // An empty line is no row.
    if (row.cells.length > 1 || row.cells[0] !== '') yield row
  }
}

interface Cell {
  value: string
  end: number
  breaks: number
}

/** Spaces around what is not quoted do not count: people align columns. */
function plainCell(text: string, at: number): Cell {
  let end = at
  while (end < text.length && text[end] !== ',' && text[end] !== '\n' && text[end] !== '\r') end += 1
  return { value: text.slice(at, end).trim(), end, breaks: 0 }
}

function quotedCell(text: string, at: number, line: number): Cell {
  let [value, from] = ['', at + 1]
  for (;;) {
    const quote = text.indexOf('"', from)
    if (quote === -1) throw fail('csv_invalid', { reason: `the quoted value in line ${line} does not end` })
    value += text.slice(from, quote)
    if (text[quote + 1] === '"') {
      value += '"'
      from = quote + 2
      continue
    }
    const next = text[quote + 1]
    if (next !== undefined && next !== ',' && next !== '\n' && next !== '\r')
      throw fail('csv_invalid', { reason: `something follows the quoted value in line ${line}` })
    return { value, end: quote + 1, breaks: value.split('\n').length - 1 }
  }
}

type Read = { entry: NewSuppression } | { problem: string }

/** Which column is where. @throws `csv_invalid` without a column `address`, or with one that is unknown or there twice */
export function readHeader({ cells }: CsvRow): (row: CsvRow, now: Date) => Read {
  const names = cells.map((name) => name.trim())
  const unknown = names.find((name) => !(columns as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw fail('csv_invalid', { reason: `there is no column ${JSON.stringify(unknown.slice(0, 50))}` })
  if (!names.includes('address')) throw fail('csv_invalid', { reason: 'the first line has no column "address"' })
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw fail('csv_invalid', { reason: `the column "${twice}" is there twice` })
  const place = new Map(names.map((name, index) => [name, index]))
  return (row, now) => {
    if (row.cells.length > names.length)
      return { problem: `It has ${row.cells.length} values, the header ${names.length}` }
    return readRow((column) => row.cells[place.get(column) ?? -1] ?? '', now)
  }
}

function readRow(cell: (column: Column) => string, now: Date): Read {
  const channel = (cell('channel').trim() || 'email') as AddressChannel
  if (!addressChannels.includes(channel)) return { problem: `There is no channel ${quoted(channel)}` }
  const reason = (cell('reason').trim() || 'manual') as SuppressionReason
  if (!suppressionReasons.includes(reason)) return { problem: `There is no reason ${quoted(reason)}` }
  const address = readAddress(channel, cell('address').trim())
  if (!address) return { problem: `${quoted(cell('address'))} is no address for ${channel}` }
  const scope = readScope(cell('scope') || 'all')
  if (!scope) return { problem: `${quoted(cell('scope'))} is no scope` }
  const expiry = cell('expiresAt').trim()
  const expiresAt = expiry === '' ? null : new Date(expiry)
  if (expiresAt !== null && !isTime(expiry, expiresAt)) return { problem: `${quoted(expiry)} is no time` }
  if (expiresAt !== null && expiresAt <= now) return { problem: 'expiresAt lies in the past' }
  const note = plainNote(cell('note'))
  if (note.length > longestNote) return { problem: `The note has more than ${longestNote} characters` }
  return {
    entry: { channel, ...address, reason, ...scope, source: 'import', note: note === '' ? null : note, expiresAt },
  }
}

const quoted = (text: string) => JSON.stringify(text.slice(0, 100))

const isTime = (text: string, time: Date) => /^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(time.getTime())

function readAddress(
  channel: AddressChannel,
  text: string,
): Pick<NewSuppression, 'address' | 'addressHash'> | undefined {
  const hash = /^sha256:([0-9a-f]{64})$/i.exec(text)?.[1]
  if (hash !== undefined) return { address: null, addressHash: Buffer.from(hash, 'hex') }
  const compared = comparedAddress(channel, text)
  return isAddress(channel, compared) ? ofAddress(compared) : undefined
}

function readScope(text: string): Pick<NewSuppression, 'scope' | 'scopeId' | 'exceptions'> | undefined {
  const simple = text.trim()
  if (simple === 'all' || simple === 'commercial') return { scope: simple }
  const [type, rest = ''] = splitOnce(text, ':')
  const [name = '', ...exceptions] = type === 'category' ? rest.split('|').map(unescaped) : [rest]
  const isIdentifier = (id: string) => id !== '' && id.length <= longestIdentifier
  if (type === 'workflow' && isIdentifier(name)) return { scope: type, scopeId: name }
  if (type !== 'category' || !categoryName.test(name) || !exceptions.every(isIdentifier)) return undefined
  return { scope: type, scopeId: name, exceptions: [...new Set(exceptions)].sort() }
}

function splitOnce(text: string, by: string): [string, string?] {
  const at = text.indexOf(by)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/** An identifier among exceptions: that of a code-first workflow may contain the sign that parts them. */
const escaped = (identifier: string) => identifier.replaceAll('%', '%25').replaceAll('|', '%7C')
const unescaped = (text: string) => text.replaceAll('%7C', '|').replaceAll('%25', '%')

/** What a spreadsheet would take for a formula gets an apostrophe, which is taken off again; so does one that has some already. */
const formula = /^'*[=+\-@]/
const plainNote = (note: string) => (/^'+[=+\-@]/.test(note) ? note.slice(1) : note)

export function csvLine(row: SuppressionRow): string {
  const { note } = row
  const cells: Record<Column, string> = {
    channel: row.channel,
    address: row.address ?? `sha256:${row.address_hash.toString('hex')}`,
    reason: row.reason,
    scope: writtenScope(row),
    expiresAt: row.expires_at?.toISOString() ?? '',
    createdAt: row.created_at.toISOString(),
    source: row.source,
    note: note !== null && formula.test(note) ? `'${note}` : (note ?? ''),
  }
  return `${columns.map((column) => written(cells[column])).join()}\r\n`
}

function writtenScope({ scope, scope_id: of, exceptions }: SuppressionRow): string {
  const type = scope as ScopeType
  if (type === 'workflow') return `workflow:${of}`
  return type === 'category' ? `category:${[of, ...exceptions.map(escaped)].join('|')}` : type
}

const written = (cell: string) => (/[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
