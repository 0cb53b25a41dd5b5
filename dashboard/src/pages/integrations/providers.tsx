// What the pages know of providers beyond what the API says of them: which are our own, and how one looks in a list.
import { useQuery } from '@tanstack/react-query'
import { type Integration, integrations, type Provider } from '../../api/integrations.ts'
import { cn } from '../../ui/class-names.ts'
import { lookOf } from '../../ui/step-kind.tsx'

/** Our own: asks for nothing, sends nothing out, and what it takes can be looked at in the sandbox. */
export const isSandbox = ({ channel, credentials, docs }: Provider) =>
  channel !== 'in_app' && credentials.length === 0 && docs === undefined

/** That of push is made with the environment and by nobody else, so the list of providers does not have it. */
const unlisted = (id: string): Provider | undefined =>
  id.endsWith('-push')
    ? { id, name: 'Belfry Push', channel: 'push', reportsDeliveries: false, credentials: [] }
    : undefined

export const providerOf = (providers: readonly Provider[] | undefined, providerId: string) =>
  providers?.find(({ id }) => id === providerId) ?? unlisted(providerId)

/** How a provider is called; until that is known, and where it is none of ours, its id. */
export function useProviderNames(): (providerId: string) => string {
  const { data } = useQuery(integrations.providers())
  return (providerId) => providerOf(data, providerId)?.name ?? providerId
}

/** Its first letters on the colour of its channel. */
export function ProviderTile({ name, channel, className }: { name: string; channel: string; className?: string }) {
  const { hue } = lookOf(channel)
  const letters = [...name.replaceAll(/[^\p{L}\p{N}]/gu, '')].slice(0, 2).join('')
  return (
    <span
      aria-hidden
      className={cn('grid size-7 shrink-0 place-items-center rounded-control text-2xs font-semibold', className)}
      style={{
        color: `color-mix(in oklab, ${hue} 70%, var(--ink))`,
        background: `color-mix(in oklab, ${hue} 12%, transparent)`,
      }}
    >
      {letters}
    </span>
  )
}
