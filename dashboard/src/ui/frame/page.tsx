import { type ReactNode, useEffect } from 'react'
import { cn } from '../base/class-names.ts'

interface PageProps {
  title: string
  /** Replaces the title text, for example with an editable name or a back link. */
  heading?: ReactNode
  description?: ReactNode
  actions?: ReactNode
  /** Tables and the canvas use the full width; forms and text read better in at most 1,200 px. */
  width?: 'full' | 'content' | 'narrow'
  /** No padding, for tables that reach the edges. */
  flush?: boolean
  /** Fills the window instead of scrolling: for the canvas. */
  fills?: boolean
  children: ReactNode
}

const widths = { full: '', content: 'mx-auto w-full max-w-300', narrow: 'mx-auto w-full max-w-180' }

/** The frame of every page: title and actions at the top, content below. */
export function Page(props: PageProps) {
  const { title, heading, description, actions, width = 'full', flush = false, fills = false, children } = props
  useEffect(() => {
    document.title = `${title} · Belfry`
  }, [title])
  return (
    <div className={cn('flex min-h-full flex-col', fills && 'h-full min-h-0')}>
      <header
        className={cn(
          'flex min-h-14 flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5 sm:px-6',
          (flush || fills) && 'border-b',
          width !== 'full' && cn(widths[width], 'pt-6'),
        )}
      >
        {/* If they do not fit side by side, the buttons go below the title. */}
        <div className="min-w-44 flex-1">
          <h1 className="truncate text-title font-semibold tracking-tight">{heading ?? title}</h1>
          {description && <p className="mt-0.5 text-sm text-pretty text-muted">{description}</p>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      <div className={cn('min-w-0 flex-1', !flush && !fills && 'px-4 py-4 sm:px-6', fills && 'min-h-0', widths[width])}>
        {children}
      </div>
    </div>
  )
}

/** A section of a settings page: title at the left, controls at the right. */
export function Section({
  title,
  description,
  children,
}: {
  title: string
  description?: ReactNode
  children: ReactNode
}) {
  return (
    <section className="grid gap-x-8 gap-y-3 border-b py-6 first:pt-2 last:border-b-0 md:grid-cols-[240px_1fr]">
      <div>
        <h2 className="text-base font-semibold">{title}</h2>
        {description && <p className="mt-1 text-sm text-pretty text-muted">{description}</p>}
      </div>
      <div className="min-w-0">{children}</div>
    </section>
  )
}

/** A list of names and values. */
export function Facts({ facts }: { facts: ReadonlyArray<readonly [name: ReactNode, value: ReactNode]> }) {
  return (
    <dl className="grid grid-cols-[minmax(96px,auto)_1fr] gap-x-6 gap-y-2 text-sm">
      {facts.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed where they are written
        <div key={index} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value ?? <span className="text-muted">—</span>}</dd>
        </div>
      ))}
    </dl>
  )
}
