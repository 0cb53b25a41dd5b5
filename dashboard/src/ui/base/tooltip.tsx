import { Tooltip as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

interface TooltipProps {
  text?: ReactNode
  shortcut?: string | undefined
  side?: 'top' | 'right' | 'bottom' | 'left'
  children: ReactNode
}

/** Wraps one focusable element. */
export function Tooltip({ text, shortcut, side = 'bottom', children }: TooltipProps) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-60 flex max-w-72 animate-appear items-center gap-2 rounded-control border border-line bg-raised px-2 py-1 text-xs text-ink shadow-float"
        >
          {text}
          {shortcut && <Kbd keys={shortcut} />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

export const TooltipProvider = ({ children }: { children: ReactNode }) => (
  <Radix.Provider delayDuration={400} skipDelayDuration={200}>
    {children}
  </Radix.Provider>
)

// Unit tests import this in Node.js, which may have no navigator.
const isMac = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? '')

/** `mod+k` is ⌘K on a Mac and Ctrl K elsewhere. */
export function Kbd({ keys, className }: { keys: string; className?: string }) {
  const names = keys.split('+').map((key) => symbols[key] ?? (key.length === 1 ? key.toUpperCase() : key))
  return (
    <kbd
      className={cn(
        'inline-flex h-4.5 items-center rounded-sm border border-line bg-page px-1 text-2xs font-medium text-muted',
        className,
      )}
    >
      {names.join(isMac ? '' : ' ')}
    </kbd>
  )
}

const symbols: Record<string, string> = {
  mod: isMac ? '⌘' : 'Ctrl',
  shift: isMac ? '⇧' : 'Shift',
  enter: '↵',
  esc: 'Esc',
}
