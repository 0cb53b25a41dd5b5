import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from '../base/button.tsx'
import { cn } from '../base/class-names.ts'

interface SheetProps {
  open: boolean
  /** Navigates to the list. */
  onClose: () => void
  title: ReactNode
  /** The accessible name if the title is more than text. */
  label?: string
  subtitle?: ReactNode
  /** Buttons at the top right. */
  actions?: ReactNode
  /** Fixed at the bottom, for the save button of a form. */
  footer?: ReactNode
  wide?: boolean
  children: ReactNode
}

/** Focuses the sheet itself: its first button would show its tooltip. A field with autofocus keeps the focus. */
function focusItself(event: Event): void {
  event.preventDefault()
  const sheet = event.currentTarget as HTMLElement
  if (!sheet.contains(document.activeElement)) sheet.focus()
}

/**
 * The selected item beside its list. It is open if the URL says so (`/topics/{-$topicKey}`), so Back and links work. The list
 * stays usable: click another row, or press j/k and Enter, to show that one instead.
 */
export function Sheet({ open, onClose, title, label, subtitle, actions, footer, wide = false, children }: SheetProps) {
  return (
    <Radix.Root open={open} modal={false} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Content
          aria-describedby={undefined}
          {...(label ? { 'aria-label': label, 'aria-labelledby': undefined } : {})}
          onInteractOutside={(event) => event.preventDefault()}
          onOpenAutoFocus={focusItself}
          className={cn(
            'fixed inset-y-0 right-0 z-40 flex w-full animate-slide flex-col border-l border-line bg-page shadow-float outline-none',
            wide ? 'sm:max-w-[min(960px,92vw)]' : 'sm:max-w-[min(600px,92vw)]',
          )}
        >
          <div className="flex min-h-14 items-center gap-2 border-b py-2 pr-3 pl-4 sm:pl-6">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-base font-semibold break-words">{title}</Radix.Title>
              {subtitle && <div className="text-xs break-words text-muted">{subtitle}</div>}
            </div>
            {actions}
            <Button variant="ghost" size="icon" hint="Close" shortcut="esc" onClick={onClose}>
              <X />
            </Button>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 sm:px-6 sm:py-5">{children}</div>
          {footer && <footer className="flex justify-end gap-2 border-t px-4 py-3 sm:px-6">{footer}</footer>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
