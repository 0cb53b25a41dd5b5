// Filters on the data of subscribers: a field and the value it must have.
import { Plus, X } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useState } from 'react'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { Input } from '../../ui/form/input.tsx'
import { chipClass, popoverClass } from '../../ui/list/filters.tsx'

interface DataFiltersProps {
  /** Each as `plan=pro`. */
  value: readonly string[]
  onValue: (value: string[]) => void
  /** Fields that subscribers on this page have. */
  fields: readonly string[]
}

/** The server takes no more. */
const most = 5

export function DataFilters({ value, onValue, fields }: DataFiltersProps) {
  const [isOpen, setOpen] = useState(false)
  const [field, setField] = useState('')
  const [wanted, setWanted] = useState('')
  const path = field.trim().replace(/^(subscriber\.)?data\./, '')
  const isReady = /^[^=.]+(\.[^=.]+){0,4}$/.test(path)
  const add = () => {
    if (!isReady) return
    onValue([...new Set([...value, `${path}=${wanted.trim()}`])])
    setField('')
    setWanted('')
    setOpen(false)
  }
  return (
    <>
      {value.map((filter) => {
        const [name = '', ...rest] = filter.split('=')
        return (
          <span key={filter} className={cn(chipClass, 'border-accent/40 bg-accent/8 pr-1 hover:bg-accent/8')}>
            <span className="font-mono">{name}</span> is
            <span className="max-w-40 truncate font-medium">{rest.join('=') || '“”'}</span>
            <button
              type="button"
              aria-label={`Remove the filter ${filter}`}
              onClick={() => onValue(value.filter((one) => one !== filter))}
              className="grid size-6 place-items-center"
            >
              <X className="size-3" />
            </button>
          </span>
        )
      })}
      {value.length < most && (
        <Popover.Root open={isOpen} onOpenChange={setOpen}>
          <Popover.Trigger className={cn(chipClass, 'border-dashed border-line-strong text-muted')}>
            <Plus className="size-3" />
            Data
          </Popover.Trigger>
          <Popover.Portal>
            <Popover.Content
              align="start"
              sideOffset={4}
              collisionPadding={8}
              className={cn(popoverClass, 'w-80 max-w-[calc(100vw-16px)] p-3')}
            >
              <form
                className="grid grid-cols-[1fr_auto_1fr] items-center gap-2"
                onSubmit={(event) => {
                  event.preventDefault()
                  add()
                }}
              >
                <Input
                  aria-label="Field"
                  list="data-fields"
                  placeholder="plan"
                  className="font-mono text-code"
                  spellCheck={false}
                  autoFocus
                  value={field}
                  onValue={setField}
                />
                <span className="text-sm text-muted">is</span>
                <Input aria-label="Value" placeholder="pro" value={wanted} onValue={setWanted} />
                <datalist id="data-fields">
                  {fields.map((one) => (
                    <option key={one} value={one} />
                  ))}
                </datalist>
                <p className="col-span-2 text-xs text-muted">
                  Inside objects with dots: <code>address.city</code>
                </p>
                <Button type="submit" variant="primary" size="sm" disabled={!isReady}>
                  Apply
                </Button>
              </form>
            </Popover.Content>
          </Popover.Portal>
        </Popover.Root>
      )}
    </>
  )
}

/** The fields of plain values in what is shown, for suggestions. */
export function fieldsOf(all: ReadonlyArray<{ data?: Record<string, unknown> | null | undefined }>): string[] {
  const found = new Set<string>()
  const look = (value: unknown, path: string, depth: number) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) found.add(path)
    else if (depth < 5)
      for (const [name, inner] of Object.entries(value)) look(inner, path === '' ? name : `${path}.${name}`, depth + 1)
  }
  for (const { data } of all) if (data) look(data, '', 0)
  return [...found].filter((path) => path !== '' && !/=/.test(path)).sort()
}
