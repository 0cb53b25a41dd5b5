import { Check, ChevronsUpDown } from 'lucide-react'
import { Select as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cn } from '../base/class-names.ts'
import { controlClass } from './input.tsx'

export interface Option<Value extends string = string> {
  value: Value
  label: string
  icon?: ReactNode
  hint?: string | undefined
}

interface SelectProps<Value extends string> {
  id?: string
  value: Value | undefined
  onValue: (value: Value) => void
  options: ReadonlyArray<Option<Value>>
  placeholder?: string
  disabled?: boolean
  className?: string
  'aria-label'?: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: boolean | undefined
}

/** One of a few options. For many options, or options from the server, use Combobox. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { value, onValue, options, placeholder = 'Choose…', disabled = false, className, ...rest } = props
  return (
    <Radix.Root value={value ?? ''} onValueChange={(chosen) => onValue(chosen as Value)} disabled={disabled}>
      <Radix.Trigger
        {...rest}
        className={cn(
          controlClass,
          'inline-flex h-8 items-center justify-between gap-2 px-2.5 text-left data-placeholder:text-muted pointer-coarse:h-10',
          className,
        )}
      >
        <span className="truncate">
          <Radix.Value placeholder={placeholder} />
        </span>
        <ChevronsUpDown className="size-3.5 shrink-0 text-faint" aria-hidden />
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          position="popper"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width) animate-appear overflow-hidden rounded-surface border border-line bg-page shadow-float"
        >
          <Radix.Viewport className="p-1">
            {options.map((option) => (
              <Radix.Item
                key={option.value}
                value={option.value}
                className="relative flex min-h-8 items-center gap-2 rounded-control py-1 pr-8 pl-2 text-sm outline-none select-none data-highlighted:bg-hover"
              >
                <Radix.ItemText>
                  <span className="inline-flex items-center gap-2">
                    {option.icon}
                    {option.label}
                  </span>
                </Radix.ItemText>
                {option.hint && <span className="text-xs text-muted">{option.hint}</span>}
                <Radix.ItemIndicator className="absolute right-2">
                  <Check className="size-3.5 text-accent" />
                </Radix.ItemIndicator>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
