// The last pushes of files into an environment, for its settings: who pushed what, and which were refused for conflicts.
import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { type VersionAuthor, withNames } from '../../db/queries/versions.ts'
import { definitionKinds } from '../../engine/definitions/content.ts'
import type { Resource } from '../edge/resource.ts'
import { Enum, Nullable, Timestamp } from '../edge/schema.ts'
import type { Source } from './apply.ts'
import { Author } from './history.ts'
import type { Conflict } from './plan.ts'

/** Of each environment so many are kept. */
const mostKept = 50
const mostConflicts = 20

interface NewPush {
  environmentId: string
  now: Date
  author: VersionAuthor
  source: Source
  message: string | null
  summary: Record<string, number>
  conflicts: Conflict[]
}

export async function notePush(db: Db | Tx, push: NewPush): Promise<void> {
  const { environmentId, now, author, source, message, summary, conflicts } = push
  const { repository = null, commit = null, url = null } = source
  await db
    .insertInto('definition_pushes')
    .values({
      ...{ environment_id: environmentId, id: newId(now), pushed_at: now, repository, commit, url, message },
      author: JSON.stringify(author),
      summary: JSON.stringify(summary),
      conflicts: JSON.stringify(conflicts.slice(0, mostConflicts).map(({ kind, id, why }) => ({ kind, id, why }))),
    })
    .execute()
  await sql`
    DELETE FROM definition_pushes WHERE environment_id = ${environmentId} AND id <= (
      SELECT id FROM definition_pushes WHERE environment_id = ${environmentId}
      ORDER BY id DESC OFFSET ${mostKept} LIMIT 1)`.execute(db)
}

const Count = Type.Integer()
const Push = Type.Object({
  id: Type.String(),
  pushedAt: Timestamp,
  author: Type.Unsafe<VersionAuthor | null>({ ...Author, type: ['object', 'null'] }),
  repository: Nullable(Type.String()),
  commit: Nullable(Type.String()),
  url: Nullable(Type.String()),
  message: Nullable(Type.String()),
  summary: Type.Object({ created: Count, updated: Count, deleted: Count, unchanged: Count }),
  conflicts: Type.Array(Type.Object({ kind: Enum(definitionKinds), id: Type.String(), why: Type.String() }), {
    description: `Why it was refused, up to ${mostConflicts}; empty if it was carried out`,
  }),
})

export const definitionPushes: Resource = (app, { db }) => {
  app.get(
    '/v2/definitions/pushes',
    {
      schema: {
        tags: ['Definitions'],
        summary: `List the last ${mostKept} pushes of files, newest first`,
        response: { 200: Type.Object({ data: Type.Array(Push) }) },
      },
    },
    async (request) => {
      const rows = await db
        .selectFrom('definition_pushes')
        .selectAll()
        .where('environment_id', '=', request.environment.id)
        .orderBy('id', 'desc')
        .limit(mostKept)
        .execute()
      const authors = await withNames(
        db,
        rows.map(({ author }) => author as unknown as VersionAuthor),
      )
      return {
        data: rows.map(({ id, pushed_at: pushedAt, repository, commit, url, message, summary, conflicts }, i) => ({
          ...{ id, pushedAt, author: authors[i] ?? null, repository, commit, url, message },
          summary: { created: 0, updated: 0, deleted: 0, unchanged: 0, ...summary },
          conflicts: conflicts as Array<{ kind: (typeof definitionKinds)[number]; id: string; why: string }>,
        })),
      }
    },
  )
}
