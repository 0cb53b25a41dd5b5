// The card of a step in the flow, and the line below it with the button that adds a step.
import { ArrowDown, ArrowUp, CopyPlus, ListFilter, Plus, Power, PowerOff, Trash2, TriangleAlert } from 'lucide-react'
import type { KeyboardEvent, ReactNode } from 'react'
import type { StepCheck } from '../../../api/workflows.ts'
import { Button } from '../../../ui/base/button.tsx'
import { cn } from '../../../ui/base/class-names.ts'
import { Tooltip } from '../../../ui/base/tooltip.tsx'
import { lookOf, StepIcon, type StepKind } from '../../../ui/domain/step-kind.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../../../ui/frame/menu.tsx'
import type { DraftStep } from '../draft/draft.ts'
import { addable, hasCondition, type Issue, summaryOf } from '../draft/steps.ts'
import type { Spot } from '../draft/tree.ts'

export interface FlowProps {
  workflowId: string
  steps: readonly DraftStep[]
  issues: ReadonlyMap<string, readonly Issue[]>
  /** What each step would do with the example of the preview. */
  checks: ReadonlyMap<string, StepCheck>
  selected: string | undefined
  canEdit: boolean
  onSelect: (stepId: string | undefined) => void
  onAdd: (kind: StepKind, spot: Spot) => void
  onMove: (step: DraftStep, to: Spot) => void
  onDuplicate: (step: DraftStep) => void
  onRemove: (step: DraftStep) => void
  onToggle: (step: DraftStep) => void
}

/** Where a step is, and among how many. */
export type Place = Spot & { count: number }

export interface FlowKeyboard {
  move: (step: DraftStep, from: Place, by: 1 | -1) => void
  /** The card so many after that of the step. */
  focus: (stepId: string, by: number) => void
}

export const cardClass =
  'group/card relative flex min-h-14 w-full items-center gap-2.5 rounded-surface border bg-page py-2 text-left transition-[border-color,box-shadow] duration-120 hover:border-line-strong'
export const selectedClass = 'border-accent ring-2 ring-accent/20 hover:border-accent'

interface StepCardProps extends FlowProps {
  step: DraftStep
  place: Place
  keys: FlowKeyboard
  /** Where it stands, for those who do not see it. */
  where?: string
  className?: string
  /** Beside the card, such as its handle. */
  children?: ReactNode
}

export function StepCard(props: StepCardProps) {
  const { step, place, selected, canEdit, keys, where, className, children, onSelect, onRemove } = props
  const issues = props.issues.get(step.stepId) ?? []
  const isSelected = step.stepId === selected
  const isSkipped = step.active && props.checks.get(step.stepId)?.holds === false
  const isPale = !step.active || isSkipped
  const { label } = lookOf(step.type)
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : undefined
    if (by !== undefined) {
      event.preventDefault()
      if (!event.altKey) keys.focus(step.stepId, by)
      else if (canEdit) keys.move(step, place, by)
    }
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') focusNextArm(event)
    if (canEdit && (event.key === 'Delete' || event.key === 'Backspace')) {
      event.preventDefault()
      onRemove(step)
    }
  }
  return (
    <div className={cn(cardClass, 'pr-1 pl-3', className, isSelected && selectedClass, isPale && 'bg-sunken')}>
      {children}
      <StepIcon kind={step.type} tile className={cn(isPale && 'opacity-50')} />
      <button
        type="button"
        data-step={step.stepId}
        aria-current={isSelected ? 'step' : undefined}
        onClick={() => onSelect(step.stepId)}
        onKeyDown={onKeyDown}
        className="min-w-0 flex-1 text-left outline-none after:absolute after:inset-0 after:rounded-surface focus-visible:after:outline-2 focus-visible:after:outline-accent"
      >
        <span className="flex items-center gap-1.5">
          <span className={cn('truncate text-sm font-medium', isSkipped && 'text-muted')} dir="auto" title={step.name}>
            {step.name}
          </span>
          {hasCondition(step) && (
            <ListFilter role="img" aria-label="has a condition" className="size-3.5 shrink-0 text-muted" />
          )}
          {!step.active && <span className="shrink-0 text-xs text-muted">off</span>}
          {isSkipped && (
            <Tooltip text="Its condition does not hold for the payload of the preview">
              <span className="relative z-1 shrink-0 text-xs text-muted">would be skipped</span>
            </Tooltip>
          )}
        </span>
        <span className="block truncate text-xs text-muted" dir="auto">
          {summaryOf(step)}
        </span>
        {step.name !== label && <span className="sr-only">{label}</span>}
        {where && <span className="sr-only">{where}</span>}
      </button>
      {issues.length > 0 && (
        <Tooltip text={issues.map(({ message }) => message).join(' · ')}>
          <span className="relative z-1 inline-flex items-center gap-1 rounded-sm bg-bad/10 px-1 text-xs font-medium text-bad">
            <TriangleAlert className="size-3" aria-hidden />
            {issues.length}
            <span className="sr-only">{issues.length === 1 ? 'issue' : 'issues'}</span>
          </span>
        </Tooltip>
      )}
      {canEdit && (
        <div className="relative z-1">
          <StepMenu {...props} />
        </div>
      )}
    </div>
  )
}

/** The first step of the arm beside, or what adds one there. */
function focusNextArm(event: KeyboardEvent<HTMLElement>): void {
  const arm = event.currentTarget.closest('[data-arm]')
  const next = event.key === 'ArrowLeft' ? arm?.previousElementSibling : arm?.nextElementSibling
  if (!next) return
  event.preventDefault()
  const card = next.querySelector<HTMLElement>('[data-step]') ?? next.querySelector<HTMLElement>('button')
  card?.focus()
}

function StepMenu({ step, place, keys, onDuplicate, onRemove, onToggle }: StepCardProps) {
  return (
    <Menu label={`Actions for ${step.name}`}>
      <MenuItem icon={<CopyPlus />} onSelect={() => onDuplicate(step)}>
        Duplicate
      </MenuItem>
      <MenuItem
        icon={<ArrowUp />}
        shortcut="alt+↑"
        disabled={place.at === 0}
        onSelect={() => keys.move(step, place, -1)}
      >
        Move up
      </MenuItem>
      <MenuItem
        icon={<ArrowDown />}
        shortcut="alt+↓"
        disabled={place.at === place.count - 1}
        onSelect={() => keys.move(step, place, 1)}
      >
        Move down
      </MenuItem>
      <MenuItem icon={step.active ? <PowerOff /> : <Power />} onSelect={() => onToggle(step)}>
        {step.active ? 'Turn off' : 'Turn on'}
      </MenuItem>
      <MenuSeparator />
      <MenuItem icon={<Trash2 />} danger shortcut="del" onSelect={() => onRemove(step)}>
        Delete
      </MenuItem>
    </Menu>
  )
}

interface LineProps {
  canAdd: boolean
  wait?: string | undefined
  hue?: string
  label: string
  isLast: boolean
  onAdd: (kind: StepKind) => void
}

/** The line between two steps; dashed and labelled if the run waits there. */
export function Line({ canAdd, wait, hue = 'var(--line-strong)', label, isLast, onAdd }: LineProps) {
  return (
    <div className={cn('relative flex flex-col items-center', wait ? 'h-20' : 'h-12')}>
      <span
        aria-hidden
        className={cn('absolute inset-y-0 left-1/2 w-0 border-l', wait ? 'border-dashed' : 'border-line-strong')}
        style={wait ? { borderColor: hue } : undefined}
      />
      {wait && (
        <span
          className="relative mt-2 max-w-full truncate rounded-full border bg-page px-2 text-xs leading-5 font-medium"
          style={{ color: hue, borderColor: `color-mix(in oklab, ${hue} 35%, transparent)` }}
        >
          {wait}
        </span>
      )}
      {canAdd && (
        <div className="relative mt-auto mb-3">
          <Menu
            align="start"
            className="w-72"
            trigger={
              <Button
                size="icon-sm"
                aria-label={label}
                className={cn('rounded-full bg-page hover:bg-page hover:text-ink', isLast ? 'text-ink' : 'text-muted')}
              >
                <Plus />
              </Button>
            }
          >
            {addable.map((group) => (
              <div key={group.label}>
                <MenuLabel>{group.label}</MenuLabel>
                {group.kinds.map(({ kind, hint }) => (
                  <MenuItem key={kind} icon={<StepIcon kind={kind} />} onSelect={() => onAdd(kind)}>
                    {lookOf(kind).label}
                    <span className="ml-2 text-xs text-muted">{hint}</span>
                  </MenuItem>
                ))}
              </div>
            ))}
          </Menu>
        </div>
      )}
    </div>
  )
}
