// The real element in a sketch of a page, in a frame of its own: its popup goes to the top layer, above everything of its document.
import { useQuery } from '@tanstack/react-query'
import { useCan } from '../../api/auth.ts'
import { environments } from '../../api/environments.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { EmptyState, Skeleton } from '../../ui/base/states.tsx'
import { attributesOf, type InboxSettings, type Place } from './install.ts'

interface LiveInboxProps {
  settings: InboxSettings
  place: Place
}

export function LiveInbox({ settings, place }: LiveInboxProps) {
  const environment = useEnvironment()
  const canSee = useCan('editor')
  const { data, error } = useQuery({ ...environments.inboxPreview(environment._id), enabled: canSee })
  const box = 'h-120 w-full overflow-hidden rounded-surface border bg-raised'
  if (!canSee || error)
    return (
      <EmptyState title="No preview" className={box}>
        {error?.message ?? 'Only editors see it, because it opens an inbox.'}
      </EmptyState>
    )
  if (!data) return <Skeleton className={box} />
  return (
    <div className={box}>
      {/* Wider than it looks: in a narrow page the inbox would cover its bell, as it does on a phone. */}
      <iframe
        title="The inbox in a page"
        srcDoc={pageOf(settings, place, data)}
        className="h-[142.9%] w-[142.9%] origin-top-left scale-70"
      />
    </div>
  )
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** The frame has this page's policy: it loads scripts of this server only. */
function pageOf(settings: InboxSettings, place: Place, who: { subscriberId: string; subscriberHash: string }): string {
  const attributes = {
    'application-identifier': place.applicationIdentifier,
    'subscriber-id': who.subscriberId,
    'subscriber-hash': who.subscriberHash,
    'backend-url': place.origin,
    ...attributesOf(settings),
    'show-arrivals': '',
    open: '',
  }
  const written = Object.entries(attributes).map(([name, value]) => `${name}="${escaped(value)}"`)
  const isAbove = settings.placement.startsWith('top')
  const isAtStart = settings.placement.endsWith('start')
  const scheme = settings.theme === 'system' ? 'light dark' : settings.theme
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="${scheme}">
<title>A page with an inbox</title>
<style>
  body { margin: 0; height: 100vh; display: flex; flex-direction: ${isAbove ? 'column-reverse' : 'column'};
    font: 14px/20px Inter, system-ui, sans-serif; background: light-dark(#fafafa, #141417) }
  header { display: flex; align-items: center; gap: 12px; height: 48px; padding: 0 12px; flex: none;
    flex-direction: ${isAtStart ? 'row-reverse' : 'row'}; justify-content: space-between;
    border-block: 1px solid light-dark(#e4e4e7, #26262b) }
  i { width: 96px; height: 8px; border-radius: 4px; background: light-dark(#e4e4e7, #26262b) }
</style>
<header><i></i><belfry-inbox ${written.join(' ')}></belfry-inbox></header>
<script src="${escaped(place.origin)}/inbox.js"></script>
</html>`
}
