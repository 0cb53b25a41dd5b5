// What the pages know about providers beyond the API: which are sandbox providers, and their tile in a list.
import type { Provider } from '../../api/integrations.ts'
import { cn } from '../../ui/base/class-names.ts'
import { hueOf, lettersOf, logoOf } from '../../ui/domain/provider-marks.ts'
import { lookOf, StepIcon } from '../../ui/domain/step-kind.tsx'

/** Needs no credentials, sends nothing, and stores its messages in the sandbox. */
export const isSandbox = ({ channel, credentials, docs }: Provider) =>
  channel !== 'in_app' && credentials.length === 0 && docs === undefined

interface ProviderTileProps {
  providerId: string
  name: string
  channel: string
  className?: string
}

/** The provider's logo, or letters on a colour of its own. Belfry's own providers have the icon of their channel. */
export function ProviderTile({ providerId, name, channel, className }: ProviderTileProps) {
  const logo = logoOf(providerId)
  const isOwn = name.startsWith('Belfry ')
  const color = logo?.color ?? (isOwn ? lookOf(channel).hue : `oklch(0.55 0.15 ${hueOf(providerId)})`)
  return (
    <span
      aria-hidden
      className={cn('grid size-7 shrink-0 place-items-center rounded-control text-2xs font-semibold', className)}
      style={{
        color: `color-mix(in oklab, ${color} 72%, var(--ink))`,
        background: `color-mix(in oklab, ${color} 12%, transparent)`,
      }}
    >
      {logo ? (
        <svg viewBox="0 0 24 24" aria-hidden="true" className="size-4" fill="currentColor">
          <path d={logo.path} />
        </svg>
      ) : isOwn ? (
        <StepIcon kind={channel} />
      ) : (
        lettersOf(name)
      )}
    </span>
  )
}
