import { type ReactNode, useEffect } from 'react'
import { Mark } from './mark.tsx'

interface BarePageProps {
  title: string
  description?: ReactNode
  children: ReactNode
  footer?: ReactNode
}

/** A centred form, for pages before sign-in. */
export function BarePage({ title, description, children, footer }: BarePageProps) {
  useEffect(() => {
    document.title = `${title} · Belfry`
  }, [title])
  return (
    <main className="grid min-h-dvh place-items-center bg-raised px-4 py-12">
      <div className="w-full max-w-90">
        <Mark className="mb-6 size-9" />
        <h1 className="text-title font-semibold tracking-tight">{title}</h1>
        {description && <p className="mt-1 text-base text-pretty text-muted">{description}</p>}
        <div className="mt-6">{children}</div>
        {footer && <div className="mt-6 text-sm text-muted">{footer}</div>}
      </div>
    </main>
  )
}
