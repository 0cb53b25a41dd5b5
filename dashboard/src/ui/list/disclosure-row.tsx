// A row of a list that opens to show more.
import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { cn } from '../base/class-names.ts'

interface DisclosureRowProps {
  startsOpen: boolean
  /** The row itself. */
  summary: ReactNode
  /** Of what it opens. */
  className?: string
  children: ReactNode
}

export function DisclosureRow({ startsOpen, summary, className, children }: DisclosureRowProps) {
  const [isOpen, setOpen] = useState(startsOpen)
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-11 w-full items-center gap-2.5 px-3 py-2 text-left text-sm"
      >
        <ChevronRight
          aria-hidden
          className={cn('size-4 shrink-0 text-muted transition-transform duration-120', isOpen && 'rotate-90')}
        />
        {summary}
      </button>
      {isOpen && <div className={cn('animate-rise border-t bg-raised p-3', className)}>{children}</div>}
    </li>
  )
}
