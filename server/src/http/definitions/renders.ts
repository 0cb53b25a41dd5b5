// What a change does to messages: both sides rendered for people, for plans and for comparisons of versions.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { findEnvironmentAccess } from '../../db/core/environment-access.ts'
import type { WorkflowRow } from '../../db/queries/workflows.ts'
import { type Change, type Content, readRenders, renderChange } from '../../engine/authoring/renders.ts'
import { type EnvironmentRows, ownOrigin } from '../../engine/definitions/content.ts'
import { fail } from '../../errors.ts'
import { brandingOf } from '../../render/branding.ts'
import type { Services } from '../edge/resource.ts'
import { Body, FreeObject, Nullable } from '../edge/schema.ts'
import type { Writes } from './plan.ts'

const mostSubscribers = 20
const mostTriggers = 100

export const RenderAsked = Body(
  {
    subscriberIds: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        maxItems: mostSubscribers,
        description: 'For each of them, with the last payload that is kept, else an example',
      }),
    ),
    triggers: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: mostTriggers,
        description: 'For the recipients of as many of the last triggers, shared out among the workflows',
      }),
    ),
  },
  { description: 'Render the messages that would change; at most 200' },
)

const Message = Type.Unsafe<Record<string, unknown> | null>({
  ...FreeObject,
  type: ['object', 'null'],
  description: 'Of an email `subject` and `html`, of others the members of their channel; null if there is none',
})
export const Renders = Type.Array(
  Type.Object({
    workflowId: Type.String(),
    stepId: Type.String(),
    channel: Type.String(),
    subscriberId: Nullable(Type.String({ description: 'Null for an example' })),
    transactionId: Nullable(Type.String({ description: 'The trigger whose data it is; null for an example' })),
    same: Type.Boolean(),
    before: Message,
    after: Message,
    error: Nullable(Type.String({ description: 'Why a side could not be rendered' })),
  }),
)
export const HasMore = Type.Boolean({ description: 'Whether there were more than 200' })

export interface Rendered {
  renders: Static<typeof Renders>
  hasMore: boolean
}
export const nothingRendered: Rendered = { renders: [], hasMore: false }

type Prepared = () => Promise<Rendered>

/** Renders show what people got, which not every key may read. */
export function refuseUnread({ key }: FastifyRequest): void {
  if (key && !key.may('read')) throw fail('insufficient_scope', { needed: 'read' }, { ctx: { needed: 'read' } })
}

/** Reads in the caller's snapshot. @returns what renders, once the snapshot is given back */
export async function prepareRenders(
  tx: Tx,
  { secrets, brand, config }: Pick<Services, 'secrets' | 'brand' | 'config'>,
  { environmentId, now }: { environmentId: string; now: Date },
  change: Change,
  { subscriberIds = [], triggers = 0 }: Static<typeof RenderAsked>,
): Promise<Prepared> {
  const read = await readRenders(tx, environmentId, change, { subscriberIds, triggers })
  const access = await findEnvironmentAccess(tx, secrets, environmentId)
  const defaultLocale = await readDefaultLocale(tx, environmentId)
  if (!access) return async () => nothingRendered
  const surroundings = { access, defaultLocale, branding: brandingOf(brand.word), linkBase: config.publicUrl, now }
  return () => renderChange(surroundings, change, read)
}

async function readDefaultLocale(db: Db | Tx, environmentId: string): Promise<string> {
  const row = await db
    .selectFrom('environments as e')
    .innerJoin('organizations as o', 'o.id', 'e.organization_id')
    .select('o.default_locale')
    .where('e.id', '=', environmentId)
    .executeTakeFirst()
  return row?.default_locale ?? ''
}

/** What the environment would define after a push. */
export function contentAfter(rows: EnvironmentRows, writes: Writes): Content {
  const replaced = <Row extends { id: string }, Fields>(
    before: Row[],
    written: Array<{ id: string; fields: Fields }>,
    gone: string[],
  ) => {
    const known = new Map(before.map((row) => [row.id, row]))
    const ids = new Set([...gone, ...written.map(({ id }) => id)])
    return [
      ...before.filter(({ id }) => !ids.has(id)),
      ...written.map(({ id, fields }) => ({ origin: ownOrigin, ...known.get(id), ...fields, id })),
    ]
  }
  const keyOf = (text: { resourceType: string; resourceRowId: string; locale: string }) =>
    `${text.resourceType} ${text.resourceRowId} ${text.locale}`
  const changed = new Set([...writes.texts, ...writes.removedTexts].map(keyOf))
  return {
    workflows: replaced(rows.workflows, writes.workflows, writes.deletedWorkflows) as WorkflowRow[],
    layouts: replaced(rows.layouts, writes.layouts, writes.deletedLayouts) as Content['layouts'],
    translations: [
      ...rows.translations.filter(
        ({ resource_type: resourceType, resource_row_id: resourceRowId, locale }) =>
          !changed.has(keyOf({ resourceType, resourceRowId, locale })),
      ),
      ...writes.texts.map(({ resourceType, resourceRowId, locale, content }) => ({
        ...{ resource_type: resourceType, resource_row_id: resourceRowId, locale, content },
      })),
    ],
  }
}
