import { Search, X } from 'lucide-react'
import { type ComponentProps, type Ref, useEffect, useRef, useState } from 'react'
import { cn } from '../base/class-names.ts'
import { useShortcut } from '../base/shortcuts.ts'
import { Kbd } from '../base/tooltip.tsx'

export const controlClass =
  'w-full rounded-control border border-line-strong bg-page text-sm text-ink transition-[border-color,box-shadow] duration-120 hover:border-faint focus-visible:border-accent focus-visible:outline-none focus-visible:ring-2 focus-visible:ring-accent/25 disabled:cursor-not-allowed disabled:bg-sunken disabled:text-muted aria-invalid:border-bad aria-invalid:ring-bad/20 pointer-coarse:text-lg'

interface TextValue {
  onValue?: (value: string) => void
}

export function Input({ onValue, onChange, className, ...rest }: ComponentProps<'input'> & TextValue) {
  return (
    <input
      {...rest}
      onChange={(event) => {
        onChange?.(event)
        onValue?.(event.target.value)
      }}
      className={cn(controlClass, 'h-8 px-2.5 pointer-coarse:h-10', className)}
    />
  )
}

/** Grows with its content. */
export function Textarea({ onValue, onChange, className, ...rest }: ComponentProps<'textarea'> & TextValue) {
  return (
    <textarea
      rows={3}
      {...rest}
      onChange={(event) => {
        onChange?.(event)
        onValue?.(event.target.value)
      }}
      className={cn(controlClass, 'field-sizing-content min-h-16 resize-y px-2.5 py-1.5', className)}
    />
  )
}

interface SearchInputProps {
  value: string
  /** Called once the user pauses typing. */
  onValue: (value: string) => void
  placeholder?: string
  label: string
  className?: string
  autoFocus?: boolean
  ref?: Ref<HTMLInputElement>
}

/** The search field of a list: `/` focuses it, ArrowDown goes into the rows, Escape clears it. */
export function SearchInput(props: SearchInputProps) {
  const { value, onValue, placeholder = 'Search…', label, className, autoFocus = false } = props
  const [typed, setTyped] = useState(value)
  const input = useRef<HTMLInputElement>(null)
  const latest = useRef(onValue)
  latest.current = onValue
  // The URL usually returns what the user typed a moment ago; it must not overwrite newer input.
  const told = useRef(value)
  const tell = (text: string) => {
    told.current = text
    latest.current(text)
  }
  useShortcut('/', () => input.current?.focus())
  useEffect(() => {
    if (value === told.current) return
    told.current = value
    setTyped(value)
  }, [value])
  useEffect(() => {
    if (typed === told.current) return
    const pause = setTimeout(() => {
      told.current = typed
      latest.current(typed)
    }, 250)
    return () => clearTimeout(pause)
  }, [typed])
  return (
    <div className={cn('relative', className)}>
      <Search
        className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint"
        aria-hidden
      />
      <input
        ref={input}
        type="search"
        data-list-search
        // biome-ignore lint/a11y/noAutofocus: only in dialogs opened for searching
        autoFocus={autoFocus}
        aria-label={label}
        placeholder={placeholder}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') tell(typed)
          if (event.key === 'ArrowDown') {
            const row = document.querySelector<HTMLElement>('[data-row-link]')
            if (row) event.preventDefault()
            row?.focus()
          }
          if (event.key !== 'Escape') return
          event.stopPropagation()
          if (typed === '') input.current?.blur()
          setTyped('')
          tell('')
        }}
        className={cn(controlClass, 'h-8 pr-8 pl-8 pointer-coarse:h-10 [&::-webkit-search-cancel-button]:hidden')}
      />
      {typed === '' ? (
        <Kbd keys="/" className="absolute top-1/2 right-2 -translate-y-1/2 pointer-coarse:hidden" />
      ) : (
        <button
          type="button"
          aria-label="Clear"
          onClick={() => {
            setTyped('')
            tell('')
            input.current?.focus()
          }}
          className="absolute top-1/2 right-1 grid size-6 -translate-y-1/2 place-items-center rounded-sm text-muted hover:text-ink"
        >
          <X className="size-3.5" />
        </button>
      )}
    </div>
  )
}
