import { useAction } from '../../api/cache.ts'
import { api } from '../../api/client.ts'
import { type LayoutSummary, layouts } from '../../api/layouts.ts'

/** Every e-mail that names no layout looks different from then on; the way back is the one that was the default before. */
export function useMakeDefault({ layoutId, name }: Pick<LayoutSummary, 'layoutId' | 'name'>) {
  return useAction({
    do: async () => {
      const all = await api('GET /v2/layouts', { query: { limit: 100 } })
      await layouts.makeDefault(layoutId)
      return all.layouts.find(({ isDefault }) => isDefault)
    },
    refresh: ['layouts', 'workflows'],
    done: `E-mails that name no layout get “${name}” now`,
    undo: async (before) => before && layouts.makeDefault(before.layoutId),
  })
}
