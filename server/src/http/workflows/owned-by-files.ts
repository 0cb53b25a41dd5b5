// Where a workflow or layout is kept in files.
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { type DefinitionFileRow, listDefinitionFiles } from '../../db/queries/definition-files.ts'
import { Nullable, Timestamp } from '../edge/schema.ts'

export const Files = Type.Object({
  repository: Nullable(Type.String()),
  commit: Nullable(Type.String()),
  path: Nullable(Type.String()),
  url: Nullable(Type.String()),
  pushedAt: Timestamp,
  revision: Type.String({ description: 'What files last pushed' }),
  drifted: Type.Boolean({ description: 'Whether something else changed it since' }),
})
type Files = Static<typeof Files>

/** For an answer: absent unless files pushed it. */
export async function filesOf(
  db: Db,
  environmentId: string,
  { kind, id, revision }: { kind: 'workflow' | 'layout'; id: string; revision: string },
): Promise<{ files?: Files }> {
  const [file] = await listDefinitionFiles(db, environmentId, { kind, ids: [id] })
  return file ? { files: showFiles(file, revision) } : {}
}

export const showFiles = (file: DefinitionFileRow, revision: string): Files => ({
  repository: file.repository,
  commit: file.commit,
  path: file.path,
  url: file.url,
  pushedAt: file.pushed_at,
  revision: file.revision,
  drifted: file.revision !== revision,
})
