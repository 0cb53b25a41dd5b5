import { Command } from 'cmdk'
import { Check, ChevronsUpDown, LoaderCircle } from 'lucide-react'
import { Popover } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { cn } from '../base/class-names.ts'
import { controlClass } from './input.tsx'
import type { Option } from './select.tsx'

interface CommonProps {
  id?: string
  options: readonly Option[]
  /** Called with the typed text if the server filters the options. */
  onSearch?: (text: string) => void
  isLoading?: boolean
  placeholder?: string
  /** Allows the typed text as a value. */
  allowNew?: boolean
  disabled?: boolean
  className?: string
  'aria-label'?: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: boolean | undefined
}

interface ComboboxProps extends CommonProps {
  value: string | undefined
  onValue: (value: string) => void
  /** The label of a value that is not among the options. */
  display?: ReactNode
}

/** A searchable select for one value. */
export function Combobox({ value, onValue, display, ...rest }: ComboboxProps) {
  const chosen = rest.options.find((option) => option.value === value)
  return (
    <Picker
      {...rest}
      isChosen={(option) => option === value}
      onPick={onValue}
      closes
      shown={value ? (display ?? chosen?.label ?? value) : undefined}
      icon={chosen?.icon}
    />
  )
}

interface MultiComboboxProps extends CommonProps {
  value: readonly string[]
  onValue: (value: string[]) => void
}

/** A searchable select for several values, such as tags. */
export function MultiCombobox({ value, onValue, ...rest }: MultiComboboxProps) {
  const labels = value.map((one) => rest.options.find((option) => option.value === one)?.label ?? one)
  return (
    <Picker
      {...rest}
      isChosen={(option) => value.includes(option)}
      onPick={(picked) => onValue(value.includes(picked) ? value.filter((one) => one !== picked) : [...value, picked])}
      closes={false}
      shown={labels.length > 0 ? labels.join(', ') : undefined}
    />
  )
}

interface PickerProps extends CommonProps {
  isChosen: (value: string) => boolean
  onPick: (value: string) => void
  closes: boolean
  shown: ReactNode
  icon?: ReactNode
}

function Picker(props: PickerProps) {
  const { options, onSearch, isLoading, placeholder = 'Choose…', allowNew, disabled, className, ...rest } = props
  const { isChosen, onPick, closes, shown, icon, ...trigger } = rest
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const pick = (value: string) => {
    onPick(value)
    if (closes) setOpen(false)
    setTyped('')
    onSearch?.('')
  }
  const said = typed.trim()
  const isNew =
    allowNew &&
    said !== '' &&
    !options.some(({ value, label }) => value === said || label.toLowerCase() === said.toLowerCase())
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger
        {...trigger}
        role="combobox"
        aria-expanded={isOpen}
        disabled={disabled}
        className={cn(
          controlClass,
          'inline-flex h-8 items-center justify-between gap-2 px-2.5 text-left pointer-coarse:h-10',
          className,
        )}
      >
        <span className={cn('flex min-w-0 items-center gap-2 truncate', !shown && 'text-muted')}>
          {icon}
          <span className="truncate">{shown ?? placeholder}</span>
        </span>
        <ChevronsUpDown className="size-3.5 shrink-0 text-faint" aria-hidden />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          sideOffset={4}
          align="start"
          collisionPadding={8}
          className="z-50 w-(--radix-popover-trigger-width) min-w-56 animate-appear overflow-hidden rounded-surface border border-line bg-page shadow-float"
        >
          <Command shouldFilter={!onSearch} label={trigger['aria-label'] ?? placeholder}>
            <div className="flex items-center gap-2 border-b px-2.5">
              <Command.Input
                value={typed}
                onValueChange={(text) => {
                  setTyped(text)
                  onSearch?.(text)
                }}
                placeholder="Type to find…"
                className="h-9 w-full bg-transparent text-sm outline-none"
              />
              {isLoading && <LoaderCircle className="size-3.5 animate-spin text-faint" />}
            </div>
            <Command.List className="max-h-64 overflow-y-auto p-1">
              {!isNew && (
                <Command.Empty className="px-2 py-4 text-center text-sm text-muted">
                  {isLoading ? 'Searching…' : 'Nothing found'}
                </Command.Empty>
              )}
              {options.map((option) => (
                <Command.Item
                  key={option.value}
                  value={option.value}
                  keywords={[option.label, option.hint ?? '']}
                  onSelect={() => pick(option.value)}
                  className={itemClass}
                >
                  {option.icon}
                  <span className="truncate">{option.label}</span>
                  {option.hint && <span className="truncate text-xs text-muted">{option.hint}</span>}
                  {isChosen(option.value) && <Check className="ml-auto size-3.5 shrink-0 text-accent" />}
                </Command.Item>
              ))}
              {isNew && (
                <Command.Item value={typed} onSelect={() => pick(typed.trim())} className={itemClass}>
                  Use “{typed.trim()}”
                </Command.Item>
              )}
            </Command.List>
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

const itemClass =
  'flex min-h-8 items-center gap-2 rounded-control px-2 py-1 text-sm select-none data-[selected=true]:bg-hover'
