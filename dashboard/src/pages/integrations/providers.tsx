// What the pages know of providers beyond what the API says of them: which are our own, and how one looks in a list.
import type { Provider } from '../../api/integrations.ts'
import { cn } from '../../ui/base/class-names.ts'
import { lookOf } from '../../ui/domain/step-kind.tsx'

/** Our own: asks for nothing, sends nothing out, and what it takes can be looked at in the sandbox. */
export const isSandbox = ({ channel, credentials, docs }: Provider) =>
  channel !== 'in_app' && credentials.length === 0 && docs === undefined

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
