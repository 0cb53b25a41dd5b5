import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cn } from '../base/class-names.ts'

interface TabsProps<Value extends string> {
  value: Value
  onValue: (value: Value) => void
  tabs: ReadonlyArray<{ value: Value; label: ReactNode; count?: number | undefined }>
  label: string
  /** Beside the tabs, at the right. */
  actions?: ReactNode
  className?: string
  children: ReactNode
}

/** Keep the open tab in the URL: `useUrlState({ tab: oneOf([...]) })`. */
export function Tabs<Value extends string>(props: TabsProps<Value>) {
  const { value, onValue, tabs, label, actions, className, children } = props
  return (
    <Radix.Root value={value} onValueChange={(tab) => onValue(tab as Value)} className={className}>
      <div className="flex items-end justify-between gap-4 border-b">
        <Radix.List aria-label={label} className="-mb-px flex gap-4 overflow-x-auto">
          {tabs.map((tab) => (
            <Radix.Trigger
              key={tab.value}
              value={tab.value}
              className="flex h-9 items-center gap-1.5 border-b-2 border-transparent text-sm font-medium whitespace-nowrap text-muted transition-colors duration-120 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink pointer-coarse:h-11"
            >
              {tab.label}
              {tab.count !== undefined && (
                <span className="rounded-full bg-sunken px-1.5 text-2xs text-muted">{tab.count}</span>
              )}
            </Radix.Trigger>
          ))}
        </Radix.List>
        {actions}
      </div>
      {children}
    </Radix.Root>
  )
}

export const TabPanel = ({
  value,
  className,
  children,
}: {
  value: string
  className?: string
  children: ReactNode
}) => (
  <Radix.Content value={value} className={cn('pt-4 outline-none', className)}>
    {children}
  </Radix.Content>
)

interface SegmentsProps<Value extends string> {
  value: Value
  onValue: (value: Value) => void
  options: ReadonlyArray<{ value: Value; label: ReactNode; hint?: string }>
  label: string
}

/** A choice of two to four views: desktop or phone, visual or code. */
export function Segments<Value extends string>({ value, onValue, options, label }: SegmentsProps<Value>) {
  return (
    <fieldset aria-label={label} className="inline-flex h-8 items-center rounded-control border bg-sunken p-0.5">
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          title={option.hint}
          onClick={() => onValue(option.value)}
          className="inline-flex h-full items-center gap-1.5 rounded-sm px-2 text-xs font-medium text-muted transition-colors duration-120 hover:text-ink aria-pressed:bg-page aria-pressed:text-ink aria-pressed:shadow-[0_0_0_1px_var(--line)] [&_svg]:size-3.5"
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  )
}
