// The contexts that items belong to. Missing ones are created, as by every other request that names them.
import { Type } from 'typebox'
import { addContexts, contextNamePattern } from '../../db/queries/contexts.ts'
import type { Importing } from './kind.ts'

const part = contextNamePattern.slice(1, -1)
export const GivenContextKeys = Type.Optional(
  Type.Array(
    Type.String({ maxLength: 201, pattern: `^${part}:${part}$`, texts: { pattern: 'must be a context, as type:id' } }),
    { maxItems: 5, description: 'Contexts, each `type:id`' },
  ),
)

/** Sorted, without duplicates, as they are stored. */
export const sortedKeys = (keys: string[] | undefined): string[] => [...new Set(keys)].sort()

export async function makeContexts(
  { tx, environmentId, now }: Importing,
  items: Array<{ contextKeys?: string[] }>,
): Promise<void> {
  const keys = [...new Set(items.flatMap(({ contextKeys = [] }) => contextKeys))]
  if (keys.length === 0) return
  const contexts = keys.map((key) => {
    const [type = '', id = ''] = key.split(':')
    return { type, id, data: {} }
  })
  await addContexts(tx, environmentId, contexts, now)
}
