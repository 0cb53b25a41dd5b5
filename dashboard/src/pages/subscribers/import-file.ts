// Reads an import file: its columns, what they mean, and which rows can be stored.
import type { NewSubscriber } from '../../api/subscribers.ts'
import { readJsonObject } from '../../ui/code/json-editor.tsx'
import { unguarded } from './csv.ts'

export interface PeopleFile {
  name: string
  columns: string[]
  rows: PeopleRow[]
}

export interface PeopleRow {
  /** The line in the file, counted as editors and spreadsheets do. */
  line: number
  /** In the order of the columns. */
  cells: unknown[]
}

export const fields = [
  { value: 'subscriberId', label: 'Id', names: ['subscriberid', 'id', 'userid', 'externalid', 'customerid', 'uuid'] },
  { value: 'firstName', label: 'First name', names: ['firstname', 'givenname', 'forename'] },
  { value: 'lastName', label: 'Last name', names: ['lastname', 'surname', 'familyname'] },
  { value: 'email', label: 'Email', names: ['email', 'emailaddress', 'mail'] },
  { value: 'phone', label: 'Phone', names: ['phone', 'phonenumber', 'mobile', 'mobilephone', 'tel', 'telephone'] },
  { value: 'avatar', label: 'Picture', names: ['avatar', 'avatarurl', 'picture', 'photo', 'image'] },
  { value: 'locale', label: 'Locale', names: ['locale', 'language', 'lang'] },
  { value: 'timezone', label: 'Time zone', names: ['timezone', 'tz', 'zone'] },
  { value: 'data', label: 'All data, as JSON', names: ['data'] },
] as const
type FieldName = (typeof fields)[number]['value']

/** What a column maps to: a field, a name in `data`, or nothing. */
export type Meaning = FieldName | 'own-data' | 'nothing'

/** Also in our exports, but the server sets these itself. */
const setByServer = new Set([
  ...['_id', '_organizationid', '_environmentid', 'createdat', 'updatedat', 'deleted', 'isonline', 'lastonlineat'],
  ...['channels', 'topics', '__v'],
])

/** Guesses the mapping by column name; uses no field twice. */
export function guessMeanings(columns: readonly string[]): Meaning[] {
  const taken = new Set<Meaning>()
  const plain = columns.map((column) => column.toLowerCase().replaceAll(/[\s_.-]+/g, ''))
  const guess = (name: string, column: string): Meaning => {
    if (setByServer.has(column.toLowerCase().trim()) || name === '') return 'nothing'
    const field = fields.find(({ value, names }) => !taken.has(value) && (names as readonly string[]).includes(name))
    if (!field) return 'own-data'
    taken.add(field.value)
    return field.value
  }
  // `subscriberId` wins over `id`, whatever the order.
  const sure = plain.indexOf('subscriberid')
  if (sure !== -1) taken.add('subscriberId')
  return plain.map((name, index) => (index === sure ? 'subscriberId' : guess(name, columns[index] ?? '')))
}

/** Reads CSV (any delimiter), a JSON list, or one JSON object per line. Throws an error that can be shown. */
export async function readPeople(file: File): Promise<PeopleFile> {
  const text = (await file.text()).replace(/^\uFEFF/, '')
  if (text.trim() === '') throw new Error('The file is empty.')
  const isJson = /\.(json|jsonl|ndjson)$/i.test(file.name) || /^\s*[[{]/.test(text)
  const found = isJson ? fromJson(text) : await fromCsv(text)
  if (found.rows.length === 0) throw new Error('The file has column names, but no rows below them.')
  return { name: file.name, ...found }
}

async function fromCsv(text: string): Promise<Omit<PeopleFile, 'name'>> {
  const { default: papa } = await import('papaparse')
  // Guessed without empty lines, which mislead the guess; parsed with them, for the line numbers.
  const { delimiter } = papa.parse(text, { preview: 10, skipEmptyLines: true }).meta
  const { data, errors } = papa.parse<string[]>(text, { delimiter, skipEmptyLines: false })
  const broken = errors.find(({ type }) => type === 'Quotes')
  if (broken) throw new Error(`A quote is not closed near line ${(broken.row ?? 0) + 1}.`)
  const [head = [], ...rest] = data
  const rows = rest
    .map((cells, index) => ({ line: index + 2, cells: cells.map(unguarded) }))
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  return { columns: head.map((column) => column.trim()), rows }
}

function fromJson(text: string): Omit<PeopleFile, 'name'> {
  const records = jsonRecords(text)
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))]
  return {
    columns,
    rows: records.map((record, index) => ({ line: index + 1, cells: columns.map((column) => record[column]) })),
  }
}

function jsonRecords(text: string): Array<Record<string, unknown>> {
  const whole = parse(text)
  const list = Array.isArray(whole) ? whole : listIn(whole)
  const records =
    list ??
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => parse(line))
  const wrong = records.findIndex((record) => typeof record !== 'object' || record === null || Array.isArray(record))
  if (wrong !== -1)
    throw new Error(`Record ${wrong + 1} is not an object. The file must be a list of objects, or one object per line.`)
  return records as Array<Record<string, unknown>>
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** API responses wrap the list in an object. */
function listIn(value: unknown): unknown[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { subscribers, data } = value as { subscribers?: unknown; data?: unknown }
  if (Array.isArray(subscribers)) return subscribers
  return Array.isArray(data) ? data : 'subscriberId' in value ? [value] : undefined
}

export type ReadRow =
  | { line: number; subscriber: NewSubscriber; problems?: undefined }
  | { line: number; subscriberId: string; problems: string[] }

/** A row as the API accepts it, or why it does not. Empty cells leave the stored value. */
export function readRow({ line, cells }: PeopleRow, columns: readonly string[], meanings: readonly Meaning[]): ReadRow {
  const texts: Partial<Record<Exclude<FieldName, 'data'>, string>> = {}
  const data: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [index, meaning] of meanings.entries()) {
    const cell = cells[index]
    const isEmpty = cell === undefined || cell === null || (typeof cell === 'string' && cell.trim() === '')
    if (meaning === 'nothing' || isEmpty) continue
    if (meaning === 'own-data') data[columns[index] ?? ''] = cell
    else if (meaning === 'data') {
      const read = typeof cell === 'string' ? readJsonObject(cell) : readJsonObject(JSON.stringify(cell))
      if (read.problem) problems.push('data is not a JSON object')
      else Object.assign(data, read.value)
    } else if (typeof cell === 'object') problems.push(`${meaning} must be a text`)
    else texts[meaning] = String(cell).trim()
  }
  const { subscriberId = '', email, locale, timezone } = texts
  if (subscriberId === '') problems.push('The id is missing')
  if (email !== undefined && !isEmail(email)) problems.push(`“${email}” is not an email address`)
  if (locale !== undefined && !isLocale(locale)) problems.push(`“${locale}” is not a locale such as en_US`)
  if (timezone !== undefined && !isTimeZone(timezone))
    problems.push(`“${timezone}” is not a time zone such as Europe/Zurich`)
  if (problems.length > 0) return { line, subscriberId, problems }
  return { line, subscriber: { ...texts, subscriberId, ...(Object.keys(data).length > 0 ? { data } : {}) } }
}

// The server's rules; the server decides.
const isEmail = (text: string) => text.length <= 320 && /^[^\s@"(),:;<>[\\\]]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text)

function isLocale(text: string): boolean {
  try {
    return /^[A-Za-z]{2,3}([_-]|$)/.test(text) && Intl.getCanonicalLocales(text.replaceAll('_', '-')).length === 1
  } catch {
    return false
  }
}

function isTimeZone(text: string): boolean {
  try {
    return /^[A-Za-z]/.test(text) && new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined
  } catch {
    return false
  }
}
