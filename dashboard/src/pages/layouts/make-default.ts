import { useAction } from '../../api/cache.ts'
import { api } from '../../api/client.ts'
import { type LayoutSummary, layouts } from '../../api/layouts.ts'

/** Changes every email that chooses no layout. Undo restores the former default. */
export function useMakeDefault({ layoutId, name }: Pick<LayoutSummary, 'layoutId' | 'name'>) {
  return useAction({
    do: async () => {
      const all = await api('GET /v2/layouts', { query: { limit: 100 } })
      await layouts.makeDefault(layoutId)
      return all.layouts.find(({ isDefault }) => isDefault)
    },
    refresh: ['layouts', 'workflows'],
    done: `Emails without another layout now use “${name}”`,
    undo: async (before) => before && layouts.makeDefault(before.layoutId),
  })
}
