import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { cn } from '../base/class-names.ts'
import { CopyButton } from '../base/copy.tsx'

interface JsonViewProps {
  value: unknown
  /** Levels open at first. */
  open?: number
  title?: ReactNode
  className?: string
}

/** Read-only JSON with folding, colours and a copy button. */
export function JsonView({ value, open = 2, title, className }: JsonViewProps) {
  return (
    <div className={cn('group/json relative overflow-hidden rounded-surface border bg-sunken', className)}>
      {title && <div className="flex h-9 items-center border-b px-3 text-xs text-muted">{title}</div>}
      <CopyButton
        text={JSON.stringify(value, undefined, 2) ?? ''}
        className="absolute top-1.5 right-1.5 z-1 bg-sunken"
      />
      <div className="max-h-120 overflow-auto p-3 font-mono text-code break-words">
        <Node value={value} open={open} />
      </div>
    </div>
  )
}

function Node({ name, value, open, last = true }: { name?: string; value: unknown; open: number; last?: boolean }) {
  const [isOpen, setOpen] = useState(open > 0)
  const label = name === undefined ? null : <span className="text-ink">{JSON.stringify(name)}: </span>
  const comma = last ? '' : ','
  if (typeof value !== 'object' || value === null)
    return (
      <div className="pl-4">
        {label}
        <Leaf value={value} />
        {comma}
      </div>
    )
  const isList = Array.isArray(value)
  const members = Object.entries(value)
  const [start, end] = isList ? ['[', ']'] : ['{', '}']
  if (members.length === 0)
    return (
      <div className="pl-4">
        {label}
        {start}
        {end}
        {comma}
      </div>
    )
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex items-center text-left"
      >
        <ChevronRight
          className={cn('mr-0.5 size-3.5 shrink-0 text-muted transition-transform duration-120', isOpen && 'rotate-90')}
        />
        <span>
          {label}
          {start}
          {!isOpen && (
            <span className="text-muted">
              {' '}
              {members.length}{' '}
              {isList ? (members.length === 1 ? 'item' : 'items') : members.length === 1 ? 'field' : 'fields'} {end}
              {comma}
            </span>
          )}
        </span>
      </button>
      {isOpen && (
        <>
          <div className="ml-1.5 border-l pl-2.5">
            {members.map(([key, member], index) => (
              <Node
                key={key}
                {...(isList ? {} : { name: key })}
                value={member}
                open={open - 1}
                last={index === members.length - 1}
              />
            ))}
          </div>
          <div className="pl-4">
            {end}
            {comma}
          </div>
        </>
      )}
    </div>
  )
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') return <span className="text-good">{JSON.stringify(value)}</span>
  if (typeof value === 'number') return <span className="text-info">{value}</span>
  return <span className="text-accent">{String(value)}</span>
}
