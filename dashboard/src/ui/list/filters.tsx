// The filter bar above a list: a search field, filter chips and a time range.
import { CalendarRange, Check, Plus, X } from 'lucide-react'
import { Popover } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { Button } from '../base/button.tsx'
import { cn } from '../base/class-names.ts'
import { timeNow } from '../base/time.tsx'
import { Input } from '../form/input.tsx'
import type { Option } from '../form/select.tsx'

export const FilterBar = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap items-center gap-2 border-b px-4 py-2.5 sm:px-6">{children}</div>
)

interface FilterChipProps {
  /** "Status", "Channel". */
  label: string
  options: readonly Option[]
  value: readonly string[]
  onValue: (value: string[]) => void
  /** At most one value. */
  single?: boolean
  /** Called with the typed text if the server filters the options. */
  onSearch?: (text: string) => void
}

/** With more options, the chip has a search field. */
const fewOptions = 9

export const chipClass =
  'inline-flex h-7 items-center gap-1 rounded-full border px-2.5 text-xs transition-colors duration-120 hover:bg-hover pointer-coarse:h-9'
export const popoverClass = 'z-50 animate-appear rounded-surface border border-line bg-page shadow-float outline-none'

/** Dashed while the filter is empty; shows its values once set. */
export function FilterChip({ label, options, value, onValue, single = false, onSearch }: FilterChipProps) {
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const isLong = onSearch !== undefined || options.length > fewOptions
  const wanted = typed.trim().toLowerCase()
  const found =
    wanted === '' || onSearch
      ? options
      : options.filter((option) => `${option.label} ${option.value}`.toLowerCase().includes(wanted))
  const labels = value.map((one) => options.find((option) => option.value === one)?.label ?? one)
  const toggle = (one: string) => {
    const isOn = value.includes(one)
    if (single) onValue(isOn ? [] : [one])
    else onValue(isOn ? value.filter((other) => other !== one) : [...value, one])
    if (single) setOpen(false)
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <span className="inline-flex">
        <Popover.Trigger
          className={cn(
            chipClass,
            value.length === 0
              ? 'border-dashed border-line-strong text-muted'
              : 'rounded-r-none border-accent/40 bg-accent/8 pr-1',
          )}
        >
          {value.length === 0 && <Plus className="size-3" />}
          {label}
          {value.length > 0 && (
            <span className="max-w-48 truncate font-medium">
              {labels.length > 2 ? `${labels.length} chosen` : labels.join(' or ')}
            </span>
          )}
        </Popover.Trigger>
        {value.length > 0 && (
          <button
            type="button"
            aria-label={`Remove the filter ${label}`}
            onClick={() => onValue([])}
            className={cn(chipClass, 'rounded-l-none border-l-0 border-accent/40 bg-accent/8 px-1.5')}
          >
            <X className="size-3" />
          </button>
        )}
      </span>
      <Popover.Portal>
        <Popover.Content align="start" sideOffset={4} collisionPadding={8} className={cn(popoverClass, 'min-w-48 p-1')}>
          {isLong && (
            <Input
              aria-label={`Find in ${label}`}
              placeholder="Type to find…"
              value={typed}
              onValue={(text) => {
                setTyped(text)
                onSearch?.(text)
              }}
              className="mb-1"
            />
          )}
          {found.length === 0 && <p className="px-2 py-3 text-center text-sm text-muted">Nothing found</p>}
          <div
            role="listbox"
            aria-label={label}
            aria-multiselectable={!single}
            className="max-h-72 max-w-80 overflow-y-auto"
          >
            {found.map((option) => (
              <button
                key={option.value}
                type="button"
                role="option"
                aria-selected={value.includes(option.value)}
                onClick={() => toggle(option.value)}
                className="flex min-h-8 w-full items-center gap-2 rounded-control px-2 text-left text-sm hover:bg-hover focus-visible:bg-hover focus-visible:outline-none"
              >
                <span className="grid size-4 place-items-center">
                  {value.includes(option.value) && <Check className="size-3.5 text-accent" />}
                </span>
                {option.icon}
                <span className="truncate">{option.label}</span>
                {option.hint && <span className="ml-auto pl-3 text-xs text-muted">{option.hint}</span>}
              </button>
            ))}
          </div>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

/** A filter with free text, such as a transaction id. */
export function TextFilterChip(props: {
  label: string
  value: string
  onValue: (value: string) => void
  mono?: boolean
}) {
  const { label, value, onValue, mono = false } = props
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState(value)
  const apply = (text: string) => {
    onValue(text.trim())
    setOpen(false)
  }
  return (
    <Popover.Root
      open={isOpen}
      onOpenChange={(open) => {
        setTyped(value)
        setOpen(open)
      }}
    >
      <span className="inline-flex">
        <Popover.Trigger
          className={cn(
            chipClass,
            value === ''
              ? 'border-dashed border-line-strong text-muted'
              : 'rounded-r-none border-accent/40 bg-accent/8 pr-1',
          )}
        >
          {value === '' && <Plus className="size-3" />}
          {label}
          {value !== '' && <span className={cn('max-w-40 truncate font-medium', mono && 'font-mono')}>{value}</span>}
        </Popover.Trigger>
        {value !== '' && (
          <button
            type="button"
            aria-label={`Remove the filter ${label}`}
            onClick={() => onValue('')}
            className={cn(chipClass, 'rounded-l-none border-l-0 border-accent/40 bg-accent/8 px-1.5')}
          >
            <X className="size-3" />
          </button>
        )}
      </span>
      <Popover.Portal>
        <Popover.Content align="start" sideOffset={4} collisionPadding={8} className={cn(popoverClass, 'w-72 p-3')}>
          <form
            className="flex gap-2"
            onSubmit={(event) => {
              event.preventDefault()
              apply(typed)
            }}
          >
            <Input aria-label={label} value={typed} onValue={setTyped} autoFocus className={cn(mono && 'font-mono')} />
            <Button type="submit" variant="primary">
              Apply
            </Button>
          </form>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

export interface TimeRange {
  /** ISO time, or a span such as `24h` before now; empty for no limit. */
  after: string
  before: string
}

const spans = [
  { value: '1h', label: 'Last hour', ms: 3_600_000 },
  { value: '24h', label: 'Last 24 hours', ms: 86_400_000 },
  { value: '7d', label: 'Last 7 days', ms: 604_800_000 },
  { value: '30d', label: 'Last 30 days', ms: 2_592_000_000 },
]

/** The start and end of a range from the URL; a span ends at `now`. */
export function momentsOf({ after, before }: TimeRange, now = timeNow()): { after?: string; before?: string } {
  const span = spans.find(({ value }) => value === after)
  return {
    ...(span ? { after: new Date(now - span.ms).toISOString() } : after ? { after } : {}),
    ...(before ? { before } : {}),
  }
}

const short = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

const isTime = (text: string) => !Number.isNaN(Date.parse(text))

interface DateRangeProps {
  value: TimeRange
  onValue: (range: TimeRange) => void
}

/** A span before now, or two times. Both are plain text for the URL. */
export function DateRange({ value, onValue }: DateRangeProps) {
  const [isOpen, setOpen] = useState(false)
  const span = spans.find((one) => one.value === value.after)
  const isSet = value.after !== '' || value.before !== ''
  // The URL may have anything; the server reports what is wrong with it.
  const moment = (text: string) => (isTime(text) ? short.format(new Date(text)) : text || '…')
  const label = span
    ? span.label
    : isSet
      ? `${moment(value.after)} – ${value.before ? moment(value.before) : 'now'}`
      : 'Any time'
  const choose = (range: TimeRange) => {
    onValue(range)
    setOpen(false)
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger
        className={cn(chipClass, isSet ? 'border-accent/40 bg-accent/8 font-medium' : 'border-line-strong text-muted')}
      >
        <CalendarRange className="size-3.5" />
        {label}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content align="start" sideOffset={4} collisionPadding={8} className={cn(popoverClass, 'w-64 p-1')}>
          {[{ value: '', label: 'Any time' }, ...spans].map((one) => (
            <button
              key={one.value}
              type="button"
              onClick={() => choose({ after: one.value, before: '' })}
              className="flex h-8 w-full items-center justify-between rounded-control px-2 text-sm hover:bg-hover focus-visible:bg-hover focus-visible:outline-none"
            >
              {one.label}
              {value.after === one.value && value.before === '' && <Check className="size-3.5 text-accent" />}
            </button>
          ))}
          <div className="mt-1 space-y-2 border-t p-2">
            <MomentField
              label="From"
              value={span ? '' : value.after}
              onValue={(after) => onValue({ ...value, after })}
            />
            <MomentField
              label="To"
              value={value.before}
              onValue={(before) => onValue({ after: span ? '' : value.after, before })}
            />
          </div>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function MomentField({ label, value, onValue }: { label: string; value: string; onValue: (iso: string) => void }) {
  // A datetime-local field uses local time without a zone.
  const local = isTime(value)
    ? new Date(Date.parse(value) - new Date(value).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
    : ''
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the field inside is one
    <label className="flex items-center gap-2 text-xs text-muted">
      <span className="w-8">{label}</span>
      <Input
        type="datetime-local"
        value={local}
        onValue={(text) => onValue(text ? new Date(text).toISOString() : '')}
        className="text-xs"
      />
    </label>
  )
}
