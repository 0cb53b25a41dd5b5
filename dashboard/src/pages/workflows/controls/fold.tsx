import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { cn } from '../../../ui/base/class-names.ts'

/** A folded section for rare settings; open while it contains an issue. */
export function Fold({
  title,
  count = 0,
  aside,
  children,
}: {
  title: string
  count?: number
  aside?: ReactNode
  children: ReactNode
}) {
  const [isOpen, setOpen] = useState(count > 0)
  const isShown = isOpen || count > 0
  return (
    <section className="border-t pt-1">
      <button
        type="button"
        aria-expanded={isShown}
        onClick={() => setOpen(!isShown)}
        className="flex h-9 w-full items-center gap-1.5 text-left text-sm font-medium"
      >
        <ChevronRight
          className={cn('size-4 text-muted transition-transform duration-120', isShown && 'rotate-90')}
          aria-hidden
        />
        <span className="shrink-0">{title}</span>
        <span className="ml-auto truncate text-xs font-normal text-muted">{aside}</span>
      </button>
      {isShown && <div className="pt-2 pb-3">{children}</div>}
    </section>
  )
}
