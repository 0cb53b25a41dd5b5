import { cn } from './class-names.ts'

/** Initials in a circle. */
export function Avatar({ name, className }: { name: string; className?: string }) {
  const words = name.split(/[\s@._-]+/).filter(Boolean)
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '')
  return (
    <span
      aria-hidden
      className={cn(
        'grid size-6 shrink-0 place-items-center rounded-full bg-accent/15 text-2xs font-semibold text-ink uppercase',
        className,
      )}
    >
      {letters.join('')}
    </span>
  )
}

/** The colour of an environment, always beside its name. */
export const EnvironmentDot = ({ color, className }: { color: string | null; className?: string }) => (
  <span
    aria-hidden
    className={cn('size-2 shrink-0 rounded-full bg-faint', className)}
    style={color ? { background: color } : undefined}
  />
)
