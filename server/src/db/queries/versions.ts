// The versions of workflows and layouts: who made them, from where, and their content.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'

export type VersionedKind = 'workflow' | 'layout'

/** Who made a version. A person's name is looked up when it is shown. */
export interface VersionAuthor {
  type: 'person' | 'api_key' | 'command' | 'service'
  id: string | null
  name: string | null
}

export type VersionSource =
  | { kind: 'dashboard' | 'api' | 'sync' | 'import' }
  | { kind: 'files'; repository: string | null; commit: string | null; url: string | null; dirty: boolean }
  | { kind: 'publish'; environment: string; version?: number }
  | { kind: 'restore'; version: number }
  | { kind: 'import'; from: string }

/** Who makes a version, where it comes from, and its name. */
export interface Authorship {
  author: VersionAuthor
  source: VersionSource
  message?: string | null
}

/** For the insert of a version. */
export const authorshipColumns = (by: Authorship | undefined) => ({
  author: by ? JSON.stringify(by.author) : null,
  source: by ? JSON.stringify(by.source) : null,
  message: by?.message ?? null,
})

export interface VersionRow {
  version: number
  created_at: Date
  /** Null for versions of earlier releases, and those that the service itself made. */
  author: VersionAuthor | null
  source: VersionSource | null
  message: string | null
  published_at: Date | null
  /** How many saves it stands for. */
  saves: number
}

/** By locale. */
export type VersionTexts = Record<string, Record<string, unknown>>

export interface VersionContent {
  version: number
  definition: Record<string, unknown>
  /** Null in versions of earlier releases. */
  translations: VersionTexts | null
  /** In the order in which it was written; the definition has lost it. */
  payload_schema: Record<string, unknown> | null
}

const tables = {
  workflow: { name: sql.table('workflow_versions'), id: sql.ref('workflow_id'), rows: sql.table('workflows') },
  layout: { name: sql.table('layout_versions'), id: sql.ref('layout_id'), rows: sql.table('layouts') },
} as const

export interface Versioned {
  kind: VersionedKind
  environmentId: string
  /** The internal id. */
  id: string
}

const isOf = ({ kind, environmentId, id }: Versioned): RawBuilder<boolean> =>
  sql`environment_id = ${environmentId} AND ${tables[kind].id} = ${id}`

/** As many as are listed; older ones are found by their number. */
const mostVersions = 10_000

/** Newest first, without their content. */
export async function listVersions(db: Db | Tx, of: Versioned): Promise<VersionRow[]> {
  const { rows } = await sql<VersionRow>`
    SELECT version, created_at, author, source, message, saves, published_at
    FROM ${tables[of.kind].name} WHERE ${isOf(of)} ORDER BY version DESC LIMIT ${mostVersions}`.execute(db)
  return rows
}

export async function readVersions(
  db: Db | Tx,
  of: Versioned,
  versions: number[],
): Promise<Map<number, VersionContent>> {
  const { rows } = await sql<VersionContent>`
    SELECT version, definition, translations,
           ${of.kind === 'workflow' ? sql`payload_schema` : sql`NULL::json AS payload_schema`}
    FROM ${tables[of.kind].name} WHERE ${isOf(of)} AND version = ANY (${versions}::int[])`.execute(db)
  return new Map(rows.map((row) => [row.version, row]))
}

/** @returns whether there is such a version */
export async function nameVersion(
  db: Db | Tx,
  of: Versioned,
  version: number,
  message: string | null,
): Promise<boolean> {
  const { rows } = await sql`
    UPDATE ${tables[of.kind].name} SET message = ${message} WHERE ${isOf(of)} AND version = ${version}
    RETURNING version`.execute(db)
  return rows.length > 0
}

/** Notes that these were published as they are now: later saves are no part of what was. */
export async function markVersionsPublished(
  tx: Tx,
  environmentId: string,
  kind: VersionedKind,
  ids: string[],
  now: Date,
): Promise<void> {
  if (ids.length === 0) return
  const { name, id, rows } = tables[kind]
  await sql`
    UPDATE ${name} v SET published_at = ${now}
    FROM ${rows} r
    WHERE r.environment_id = ${environmentId} AND r.id = ANY (${ids}::text[])
      AND v.environment_id = r.environment_id AND ${id} = r.id AND v.version = r.version`.execute(tx)
}

/** Who made the current versions of these, and where they came from. */
export async function currentAuthors(
  db: Db | Tx,
  environmentId: string,
  kind: VersionedKind,
  identifiers: string[],
): Promise<Map<string, Pick<VersionRow, 'author' | 'source'>>> {
  if (identifiers.length === 0) return new Map()
  const { rows } = await sql<Pick<VersionRow, 'author' | 'source'> & { identifier: string }>`
    SELECT r.identifier, v.author, v.source
    FROM ${tables[kind].rows} r
    JOIN ${tables[kind].name} v ON v.environment_id = r.environment_id AND ${tables[kind].id} = r.id AND v.version = r.version
    WHERE r.environment_id = ${environmentId} AND r.identifier = ANY (${identifiers}::text[])`.execute(db)
  return new Map(rows.map(({ identifier, author, source }) => [identifier, { author, source }]))
}

/** A person's name is looked up: who left is "a former member". */
export async function withNames(
  db: Db | Tx,
  authors: Array<VersionAuthor | null>,
): Promise<Array<VersionAuthor | null>> {
  const people = authors.flatMap((author) => (author?.type === 'person' && author.id !== null ? author.id : []))
  const names = await namesOfPeople(db, [...new Set(people)])
  return authors.map((author) =>
    author?.type === 'person' ? { ...author, name: names.get(author.id ?? '') ?? 'a former member' } : author,
  )
}

/** By id; whoever is gone is missing. */
async function namesOfPeople(db: Db | Tx, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom('users').select(['id', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
