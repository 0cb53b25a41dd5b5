import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'neutral'

const dots: Record<Tone, string> = {
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
  info: 'bg-info',
  neutral: 'bg-faint',
}

/** A state: always a dot and a word, never colour alone. `live` marks work in progress. */
export function Status({ tone, live = false, children }: { tone: Tone; live?: boolean; children: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-1.5 align-middle whitespace-nowrap">
      <span aria-hidden className={cn('size-2 shrink-0 rounded-full', dots[tone], live && 'animate-pulse')} />
      {children}
    </span>
  )
}

// A tone on its own tint has too little contrast.
const badges: Record<Tone, string> = {
  good: 'bg-good/10 text-[color-mix(in_oklab,var(--good)_80%,var(--ink))]',
  warn: 'bg-warn/12 text-[color-mix(in_oklab,var(--warn)_80%,var(--ink))]',
  bad: 'bg-bad/10 text-[color-mix(in_oklab,var(--bad)_90%,var(--ink))]',
  info: 'bg-info/10 text-[color-mix(in_oklab,var(--info)_90%,var(--ink))]',
  neutral: 'bg-hover text-muted',
}

/** A small label: a tag, a role, "primary". */
export function Badge({
  tone = 'neutral',
  className,
  children,
}: {
  tone?: Tone
  className?: string
  children: ReactNode
}) {
  return (
    <span
      className={cn(
        'inline-flex h-5 min-w-0 max-w-full items-center gap-1 truncate align-middle rounded-sm px-1.5 text-xs font-medium whitespace-nowrap [&_svg]:size-3',
        badges[tone],
        className,
      )}
    >
      {children}
    </span>
  )
}
