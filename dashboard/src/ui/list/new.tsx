// How a list gets its rows: the button that makes a new one, and what an empty list says.
import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, type ButtonProps } from '../base/button.tsx'
import { useShortcut } from '../base/shortcuts.ts'
import { EmptyState } from '../base/states.tsx'
import { RequestCode } from '../code/code-block.tsx'
import type { ApiRequest } from '../code/snippets.ts'

interface NewButtonProps extends Pick<ButtonProps, 'variant' | 'icon' | 'disabled' | 'hint'> {
  onNew: () => void
  children: string
}

/** In the header of a list. The key `c` does the same. */
export function NewButton({ onNew, children, disabled = false, ...rest }: NewButtonProps) {
  useShortcut('c', onNew, !disabled)
  return (
    <Button
      variant="primary"
      icon={<Plus />}
      hint={children}
      {...rest}
      shortcut="c"
      disabled={disabled}
      onClick={() => onNew()}
    >
      {children}
    </Button>
  )
}

interface NothingYetProps {
  icon: ReactNode
  title: string
  /** Makes the first one; `false` for those who may not. */
  onNew?: (() => void) | false
  button?: string
  /** More buttons. */
  others?: ReactNode
  /** The request that makes the first one. */
  request?: ApiRequest
  maxHeight?: number
  /** What the list is for. */
  children: ReactNode
}

/** A list in which nobody has made anything, as opposed to one whose filters match nothing. */
export function NothingYet(props: NothingYetProps) {
  const { icon, title, onNew = false, button, others, request, maxHeight = 260, children } = props
  return (
    <EmptyState
      icon={icon}
      title={title}
      {...(request ? { className: 'max-w-2xl' } : {})}
      action={
        onNew && (
          <>
            <Button variant="primary" icon={<Plus />} onClick={() => onNew()}>
              {button}
            </Button>
            {others}
          </>
        )
      }
    >
      {request ? (
        <>
          <p>{children}</p>
          <RequestCode className="mt-4" maxHeight={maxHeight} request={request} />
        </>
      ) : (
        children
      )}
    </EmptyState>
  )
}
