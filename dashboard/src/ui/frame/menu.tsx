import { Link, type LinkComponentProps } from '@tanstack/react-router'
import { MoreHorizontal } from 'lucide-react'
import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from '../base/button.tsx'
import { cn } from '../base/class-names.ts'
import { Kbd } from '../base/tooltip.tsx'

interface MenuProps {
  /** The button that opens it; three dots by default. */
  trigger?: ReactNode
  label?: string
  align?: 'start' | 'end'
  className?: string
  /** Of the three dots. */
  tabIndex?: number
  /** Where something else opens it too. */
  open?: boolean
  onOpen?: (isOpen: boolean) => void
  /** Otherwise the focus goes back to the button. */
  onClosed?: (event: Event) => void
  children: ReactNode
}

export function Menu(props: MenuProps) {
  const { trigger, label = 'More', align = 'end', className, tabIndex = 0, open, onOpen, onClosed, children } = props
  return (
    <Radix.Root modal={false} {...(open === undefined ? {} : { open })} {...(onOpen ? { onOpenChange: onOpen } : {})}>
      <Radix.Trigger asChild>
        {trigger ?? (
          <Button variant="ghost" size="icon" aria-label={label} tabIndex={tabIndex}>
            <MoreHorizontal />
          </Button>
        )}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          {...(onClosed ? { onCloseAutoFocus: onClosed } : {})}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className={cn(
            'z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 animate-appear overflow-y-auto rounded-surface border border-line bg-page p-1 shadow-float',
            className,
          )}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

const itemClass =
  'flex min-h-8 items-center gap-2 rounded-control px-2 py-1 text-sm outline-none select-none data-disabled:opacity-50 data-highlighted:bg-hover pointer-coarse:min-h-10 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted'

interface MenuItemProps {
  icon?: ReactNode
  shortcut?: string
  danger?: boolean
  disabled?: boolean
  onSelect: () => void
  children: ReactNode
}

export function MenuItem({ icon, shortcut, danger = false, disabled = false, onSelect, children }: MenuItemProps) {
  return (
    <Radix.Item
      disabled={disabled}
      onSelect={onSelect}
      className={cn(itemClass, danger && 'text-bad [&_svg]:text-bad')}
    >
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {shortcut && <Kbd keys={shortcut} />}
    </Radix.Item>
  )
}

export function MenuLink({ icon, children, ...link }: LinkComponentProps & { icon?: ReactNode }) {
  return (
    <Radix.Item asChild>
      <Link {...link} className={itemClass}>
        {icon}
        {children as ReactNode}
      </Link>
    </Radix.Item>
  )
}

export function MenuChoice(props: { value: string; onValue: (value: string) => void; children: ReactNode }) {
  return (
    <Radix.RadioGroup value={props.value} onValueChange={props.onValue}>
      {props.children}
    </Radix.RadioGroup>
  )
}

export function MenuOption({ value, icon, children }: { value: string; icon?: ReactNode; children: ReactNode }) {
  return (
    <Radix.RadioItem value={value} className={itemClass}>
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      <Radix.ItemIndicator className="text-accent">✓</Radix.ItemIndicator>
    </Radix.RadioItem>
  )
}

export const MenuSeparator = () => <Radix.Separator className="mx-1 my-1 h-px bg-line" />
export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <Radix.Label className="px-2 py-1.5 text-xs font-medium text-muted">{children}</Radix.Label>
)
