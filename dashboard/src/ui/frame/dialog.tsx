import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { createContext, type ReactNode, use, useCallback, useMemo, useState } from 'react'
import { Button } from '../base/button.tsx'
import { cn } from '../base/class-names.ts'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  size?: 'sm' | 'md' | 'lg'
  /** Buttons at the bottom, the primary one last. Forms put theirs inside. */
  footer?: ReactNode
  children?: ReactNode
}

const widths = { sm: 'max-w-md', md: 'max-w-xl', lg: 'max-w-4xl' }

export function Dialog({ open, onClose, title, description, size = 'sm', footer, children }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 grid animate-fade place-items-end overflow-y-auto bg-[rgb(9_9_10/0.5)] sm:place-items-center sm:p-6">
          <Radix.Content
            data-modal
            {...(description ? {} : { 'aria-describedby': undefined })}
            className={cn(
              'relative flex max-h-[92dvh] w-full animate-appear flex-col overflow-hidden rounded-t-surface border border-line bg-page shadow-float outline-none sm:max-h-[85dvh] sm:rounded-surface',
              widths[size],
            )}
          >
            <header className="flex shrink-0 items-start gap-3 px-5 pt-4 pb-3">
              <div className="min-w-0 flex-1">
                <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
                {description && (
                  <Radix.Description className="mt-1 text-sm text-muted">{description}</Radix.Description>
                )}
              </div>
              <Radix.Close asChild>
                <Button variant="ghost" size="icon-sm" aria-label="Close" className="-mr-1.5">
                  <X />
                </Button>
              </Radix.Close>
            </header>
            {/* Title and buttons stay in view: only what is between them scrolls. */}
            {children && <div className="min-h-0 overflow-y-auto px-5 pb-5">{children}</div>}
            {footer && <footer className="flex shrink-0 flex-wrap justify-end gap-2 px-5 pt-2 pb-5">{footer}</footer>}
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** The buttons of a form in a dialog: they stick to its lower edge while the fields scroll. */
export const DialogFooter = ({ children }: { children: ReactNode }) => (
  <footer className="sticky -bottom-5 z-3 -mx-5 -mb-5 flex flex-wrap justify-end gap-2 bg-page px-5 pt-2 pb-5">
    {children}
  </footer>
)

interface Question {
  title: string
  /** What will be lost, by name and number. */
  body: ReactNode
  /** The verb: "Delete 3 subscribers". */
  confirm: string
  danger?: boolean
}

const AskContext = createContext<(question: Question) => Promise<boolean>>(async () => false)

/**
 * Asks before an action that cannot be undone. Other actions run at once and offer Undo.
 *
 *     const ask = useConfirm()
 *     if (await ask({ title: 'Delete topic?', body: '…', confirm: 'Delete topic' })) remove.mutate(key)
 */
export const useConfirm = () => use(AskContext)

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<(Question & { answer: (yes: boolean) => void }) | undefined>()
  const [isOpen, setOpen] = useState(false)
  const ask = useCallback((question: Question) => {
    setOpen(true)
    return new Promise<boolean>((resolve) => setAsked({ ...question, answer: resolve }))
  }, [])
  const settle = (yes: boolean) => {
    asked?.answer(yes)
    setOpen(false)
  }
  const value = useMemo(() => ask, [ask])
  return (
    <AskContext value={value}>
      {children}
      <Dialog
        open={isOpen}
        onClose={() => settle(false)}
        title={asked?.title ?? ''}
        description={asked?.body}
        footer={
          <>
            <Button onClick={() => settle(false)}>Cancel</Button>
            <Button variant={asked?.danger === false ? 'primary' : 'danger'} onClick={() => settle(true)} autoFocus>
              {asked?.confirm}
            </Button>
          </>
        }
      />
    </AskContext>
  )
}
