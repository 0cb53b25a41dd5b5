// Placeholders of a page: loading, empty, failed.
import type { UseQueryResult } from '@tanstack/react-query'
import { CircleAlert, Lock, RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { ApiError, requestProof } from '../../api/client.ts'
import { Button } from './button.tsx'
import { cn } from './class-names.ts'

/** A grey placeholder; appears after 150 ms, so that fast answers do not flicker. */
export const Skeleton = ({ className }: { className?: string }) => (
  <div aria-hidden className={cn('h-4 animate-late rounded-sm', className)}>
    <div className="size-full animate-pulse rounded-[inherit] bg-line/70" />
  </div>
)

export function SkeletonText({ lines = 3 }: { lines?: number }) {
  const widths = ['w-3/4', 'w-full', 'w-2/3', 'w-5/6', 'w-1/2']
  return (
    <div className="space-y-2" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: identical lines
        <Skeleton key={index} className={cn('h-3.5', widths[index % widths.length])} />
      ))}
    </div>
  )
}

interface EmptyStateProps {
  icon?: ReactNode
  title: string
  /** How to fill it. */
  children?: ReactNode
  /** The button that fills it. */
  action?: ReactNode
  /** Fills a whole page. */
  isPage?: boolean
  className?: string
}

/** Shows the button, or the request (a CodeBlock as children), that would fill the list. */
export function EmptyState({ icon, title, children, action, isPage = false, className }: EmptyStateProps) {
  const Heading = isPage ? 'h1' : 'h2'
  return (
    <div className={cn('mx-auto flex max-w-xl flex-col items-center px-4 py-16 text-center', className)}>
      {icon && (
        <div className="mb-4 grid size-10 place-items-center rounded-surface border bg-raised text-muted [&_svg]:size-5">
          {icon}
        </div>
      )}
      <Heading className="text-base font-semibold">{title}</Heading>
      {children && <div className="mt-1.5 w-full text-sm text-pretty text-muted">{children}</div>}
      {action && <div className="mt-5 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}

interface ErrorStateProps {
  error: Error
  onRetry?: () => void
  className?: string
}

/** Secrets are shown to those who proved a short time ago who they are. Afterwards everything hidden loads again. */
export const Hidden = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap items-center gap-3 rounded-surface border bg-raised px-3 py-2.5 text-sm text-muted">
    <Lock className="size-4 shrink-0" aria-hidden />
    <span className="min-w-0 flex-1">{children}</span>
    <Button size="sm" onClick={() => void requestProof()}>
      Show
    </Button>
  </div>
)

/** The server's message, and a Try again button if that may help. */
export function ErrorState({ error, onRetry, className }: ErrorStateProps) {
  if (error instanceof ApiError && error.code === 'proof_needed')
    return <Hidden>Hidden until you confirm that it is you.</Hidden>
  const status = error instanceof ApiError ? error.status : undefined
  const title = status === 404 ? 'Not found' : status === 403 ? 'Not allowed' : 'Something went wrong'
  return (
    <div role="alert" className={cn('mx-auto flex max-w-xl flex-col items-center px-4 py-16 text-center', className)}>
      <div className="mb-4 grid size-10 place-items-center rounded-surface bg-bad/10 text-bad">
        <CircleAlert className="size-5" />
      </div>
      <h2 className="text-base font-semibold">{title}</h2>
      <p className="mt-1.5 text-sm text-pretty text-muted">{error.message}</p>
      {error instanceof ApiError && <p className="mt-2 font-mono text-xs text-muted">{error.code}</p>}
      {onRetry && (
        <Button className="mt-5" icon={<RotateCw />} onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

interface LoadedProps<Data> {
  query: UseQueryResult<Data, Error>
  skeleton?: ReactNode
  children: (data: Data) => ReactNode
}

/** Renders the data, a skeleton while it loads, or the error. */
export function Loaded<Data>({ query, skeleton = <SkeletonText />, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  return skeleton
}

/** Progress of long work. Without a total it only shows activity. */
export function ProgressBar({ done, total, label }: { done: number; total?: number; label: string }) {
  const part = total ? Math.min(1, done / total) : undefined
  return (
    <div>
      <div className="mb-1.5 flex justify-between gap-4 text-xs text-muted">
        <span className="truncate">{label}</span>
        <span className="tabular-nums">
          {total ? `${done.toLocaleString('en')} of ${total.toLocaleString('en')}` : done}
        </span>
      </div>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuenow={done}
        aria-valuemin={0}
        aria-valuemax={total}
        className="h-1.5 overflow-hidden rounded-full bg-line"
      >
        <div
          className={cn(
            'h-full rounded-full bg-accent transition-[width] duration-180',
            part === undefined && 'w-1/3 animate-pulse',
          )}
          style={part === undefined ? undefined : { width: `${part * 100}%` }}
        />
      </div>
    </div>
  )
}
