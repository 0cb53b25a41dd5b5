import { useAction } from '../../api/cache.ts'
import { api } from '../../api/client.ts'
import { type LayoutSummary, layouts } from '../../api/layouts.ts'
import { useConfirm } from '../../ui/frame/dialog.tsx'

/** Asks first, and names the workflows whose emails will look different. */
export function useDeleteLayout({ layoutId, name }: Pick<LayoutSummary, 'layoutId' | 'name'>, onDeleted?: () => void) {
  const ask = useConfirm()
  return useAction({
    do: async () => {
      const { workflows } = await api('GET /v2/layouts/{layoutId}/usage', { path: { layoutId } })
      const names = workflows.slice(0, 5).map((workflow) => `“${workflow.name}”`)
      if (workflows.length > names.length) names.push(`${workflows.length - names.length} more`)
      const yes = await ask({
        title: `Delete ${name}?`,
        body: `${names.length === 0 ? 'No email uses it.' : `Emails of ${new Intl.ListFormat('en').format(names)} use the default layout instead.`} Its history is kept for 30 days.`,
        confirm: 'Delete layout',
      })
      if (yes) await layouts.remove(layoutId)
      return yes
    },
    refresh: ['layouts', 'workflows'],
    onDone: (isGone) => isGone && onDeleted?.(),
  })
}
