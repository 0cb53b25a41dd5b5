// Everything that an environment defines, as files know it: workflows, layouts, and the texts of each locale.
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../../db/core/database.ts'
import type { DefinitionKind, TranslationTable } from '../../db/core/tables.ts'
import type { LayoutRow } from '../../db/queries/layouts.ts'
import type { WorkflowRow } from '../../db/queries/workflows.ts'
import { layoutDefinition } from './layout-definition.ts'
import { revisionOf } from './revision.ts'
import { type Definition, workflowDefinition } from './workflow-definition.ts'

/** In the order in which they are listed. */
export const definitionKinds = [
  'integration',
  'layout',
  'topic',
  'translation',
  'variable',
  'workflow',
] as const satisfies readonly DefinitionKind[]

/** What files have unless they say otherwise. */
export const usualKinds: readonly DefinitionKind[] = ['layout', 'translation', 'workflow']

/** Made in the dashboard or by the API. Others are declared in code, and are no files. */
export const ownOrigin = 'svc-cloud'

export interface StoredDefinition {
  kind: DefinitionKind
  id: string
  definition: Definition
  revision: string
  /** Null for kinds without history. */
  version: number | null
  updatedAt: Date | null
}

export interface EnvironmentRows {
  layouts: LayoutRow[]
  workflows: WorkflowRow[]
  translations: Array<Selectable<TranslationTable>>
}

/** With `lock` nobody changes them before the transaction ends; in the usual order (layouts, then workflows, each by id). */
export async function readRows(db: Db | Tx, environmentId: string, lock?: 'lock'): Promise<EnvironmentRows> {
  const layouts = await db
    .selectFrom('layouts')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .orderBy('id')
    .$if(lock !== undefined, (query) => query.forUpdate())
    .execute()
  const workflows = (await db
    .selectFrom('workflows')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .orderBy('id')
    .$if(lock !== undefined, (query) => query.forUpdate())
    .execute()) as WorkflowRow[]
  const translations = await db
    .selectFrom('translations')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .orderBy('locale')
    .execute()
  return { layouts, workflows, translations }
}

/** Workflows that code declares are left out. By kind, then by id. */
export function definitionsIn(rows: EnvironmentRows): StoredDefinition[] {
  const found = [
    ...rows.layouts.map((row): StoredDefinition => stored('layout', row.identifier, layoutDefinition(row), row)),
    ...localesIn(rows).map((locale) => stored('translation', locale, textsIn(rows, locale), null)),
    ...rows.workflows
      .filter(({ origin }) => origin === ownOrigin)
      .map((row) => stored('workflow', row.identifier, workflowDefinition(row), row)),
  ]
  return found.sort(compareDefinitions)
}

/** By kind, then by id. */
export const compareDefinitions = (a: { kind: string; id: string }, b: { kind: string; id: string }): number =>
  compareText(a.kind, b.kind) || compareText(a.id, b.id)

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const stored = (
  kind: DefinitionKind,
  id: string,
  definition: Definition,
  row: { version: number; updated_at: Date } | null,
): StoredDefinition => ({
  kind,
  id,
  definition,
  revision: revisionOf(definition),
  version: row?.version ?? null,
  updatedAt: row?.updated_at ?? null,
})

/** Those that have texts. */
const localesIn = ({ translations }: EnvironmentRows) => [
  ...new Set(translations.filter(({ content }) => Object.keys(content).length > 0).map(({ locale }) => locale)),
]

/** As master JSON has them: no texts are left out. */
function textsIn({ translations, layouts, workflows }: EnvironmentRows, locale: string): Definition {
  const own = translations.filter((row) => row.locale === locale && Object.keys(row.content).length > 0)
  const of = (type: 'workflow' | 'layout', rows: Array<{ id: string; identifier: string }>) => {
    const contents = new Map(
      own.filter((row) => row.resource_type === type).map((row) => [row.resource_row_id, row.content]),
    )
    const named = rows.flatMap(({ id, identifier }) => {
      const content = contents.get(id)
      return content ? [[identifier, content] as const] : []
    })
    return Object.fromEntries(named.sort(([a], [b]) => compareText(a, b)))
  }
  return { workflows: of('workflow', workflows), layouts: of('layout', layouts) }
}

export async function readEnvironmentName(
  db: Db | Tx,
  environmentId: string,
): Promise<{ name: string; identifier: string }> {
  const { rows } = await sql<{ name: string; identifier: string }>`
    SELECT name, identifier FROM environments WHERE id = ${environmentId}`.execute(db)
  return rows[0] ?? { name: '', identifier: '' }
}
