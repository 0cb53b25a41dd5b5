// What the pages know about providers beyond the API: which are sandbox providers, and their tile in a list.
import type { Provider } from '../../api/integrations.ts'
import { cn } from '../../ui/base/class-names.ts'
import { lookOf } from '../../ui/domain/step-kind.tsx'

/** Needs no credentials, sends nothing, and stores its messages in the sandbox. */
export const isSandbox = ({ channel, credentials, docs }: Provider) =>
  channel !== 'in_app' && credentials.length === 0 && docs === undefined

/** The initials of the provider on the colour of its channel. */
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
