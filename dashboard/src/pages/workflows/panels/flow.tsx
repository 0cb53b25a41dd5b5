// The steps from top to bottom, with waits on the lines between them. Add, drag, or move them by keyboard.
import {
  type Announcements,
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core'
import {
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import {
  ArrowDown,
  ArrowUp,
  CopyPlus,
  GripVertical,
  ListFilter,
  Plus,
  Power,
  PowerOff,
  Trash2,
  TriangleAlert,
} from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import type { StepCheck } from '../../../api/workflows.ts'
import { Button } from '../../../ui/base/button.tsx'
import { cn } from '../../../ui/base/class-names.ts'
import { Kbd, Tooltip } from '../../../ui/base/tooltip.tsx'
import { lookOf, StepIcon, type StepKind } from '../../../ui/domain/step-kind.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../../../ui/frame/menu.tsx'
import type { DraftStep } from '../draft/draft.ts'
import { addable, hasCondition, type Issue, summaryOf, waitOf } from '../draft/steps.ts'

interface FlowProps {
  workflowId: string
  steps: readonly DraftStep[]
  issues: ReadonlyMap<string, readonly Issue[]>
  /** What each step would do with the example of the preview. */
  checks: ReadonlyMap<string, StepCheck>
  selected: string | undefined
  canEdit: boolean
  onSelect: (stepId: string | undefined) => void
  onAdd: (kind: StepKind, at: number) => void
  onMove: (from: number, to: number) => void
  onDuplicate: (step: DraftStep) => void
  onRemove: (step: DraftStep) => void
  onToggle: (step: DraftStep) => void
}

export function Flow(props: FlowProps) {
  const { steps, selected, canEdit, onAdd, onMove, onSelect } = props
  const [said, setSaid] = useState('')
  const list = useRef<HTMLOListElement>(null)
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  )
  const placeOf = (stepId: unknown) => steps.findIndex((step) => step.stepId === stepId)
  const nameOf = (stepId: unknown) => steps[placeOf(stepId)]?.name ?? 'The step'
  const announcements: Announcements = {
    onDragStart: ({ active }) => `${nameOf(active.id)} picked up. Move it with the arrow keys, drop it with space.`,
    onDragOver: ({ active, over }) =>
      over ? `${nameOf(active.id)} is at position ${placeOf(over.id) + 1} of ${steps.length}.` : undefined,
    onDragEnd: ({ active, over }) => (over ? `${nameOf(active.id)} dropped at position ${placeOf(over.id) + 1}.` : ''),
    onDragCancel: ({ active }) => `${nameOf(active.id)} was not moved.`,
  }
  const drop = ({ active, over }: DragEndEvent) => {
    const [from, to] = [placeOf(active.id), placeOf(over?.id)]
    if (from !== -1 && to !== -1 && from !== to) onMove(from, to)
  }
  const move = (from: number, by: 1 | -1) => {
    const to = from + by
    if (to < 0 || to >= steps.length) return
    onMove(from, to)
    setSaid(`${steps[from]?.name} is at position ${to + 1} of ${steps.length}.`)
  }
  const focus = (place: number) =>
    list.current?.querySelectorAll<HTMLElement>('[data-step]')[Math.max(0, Math.min(steps.length - 1, place))]?.focus()

  return (
    <div className="mx-auto flex w-full max-w-84 flex-col items-stretch px-4 py-8">
      <button
        type="button"
        aria-current={selected === undefined ? 'step' : undefined}
        onClick={() => onSelect(undefined)}
        className={cn(cardClass, 'px-3', selected === undefined && selectedClass)}
      >
        <StepIcon kind="trigger" tile />
        <span className="min-w-0 flex-1">
          <span className="block text-sm font-medium">Trigger</span>
          <code className="block truncate text-muted">{props.workflowId}</code>
        </span>
      </button>
      <Line
        canAdd={canEdit}
        label="Add a step at the start"
        onAdd={(kind) => onAdd(kind, 0)}
        isLast={steps.length === 0}
      />
      <DndContext
        sensors={sensors}
        collisionDetection={closestCenter}
        accessibility={{ announcements }}
        onDragEnd={drop}
      >
        <SortableContext items={steps.map(({ stepId }) => stepId)} strategy={verticalListSortingStrategy}>
          <ol ref={list} aria-label="Steps">
            {steps.map((step, index) => (
              <Step
                key={step.stepId}
                {...props}
                step={step}
                place={index}
                onStep={(by) => move(index, by)}
                onFocusAt={focus}
              />
            ))}
          </ol>
        </SortableContext>
      </DndContext>
      {steps.length === 0 ? (
        <p className="rounded-surface border border-dashed border-line-strong px-4 py-5 text-center text-sm text-muted">
          {canEdit ? 'Add the first step with the plus button above.' : 'No steps yet.'}
        </p>
      ) : (
        <p className="text-center text-xs text-muted">End</p>
      )}
      <p aria-live="polite" className="sr-only">
        {said}
      </p>
    </div>
  )
}

const cardClass =
  'group/card relative flex min-h-14 w-full items-center gap-2.5 rounded-surface border bg-page py-2 text-left transition-[border-color,box-shadow] duration-120 hover:border-line-strong'
const selectedClass = 'border-accent ring-2 ring-accent/20 hover:border-accent'

interface StepProps extends FlowProps {
  step: DraftStep
  place: number
  onStep: (by: 1 | -1) => void
  onFocusAt: (place: number) => void
}

function Step(props: StepProps) {
  const { step, place, steps, selected, canEdit, onSelect, onStep, onFocusAt, onRemove } = props
  const sortable = useSortable({ id: step.stepId, disabled: !canEdit })
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = sortable
  const issues = props.issues.get(step.stepId) ?? []
  const isSelected = step.stepId === selected
  const isSkipped = step.active && props.checks.get(step.stepId)?.holds === false
  const isPale = !step.active || isSkipped
  const { label } = lookOf(step.type)
  const wait = waitOf(step)
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : undefined
    if (by !== undefined) {
      event.preventDefault()
      if (!event.altKey) onFocusAt(place + by)
      else if (canEdit) {
        onStep(by)
        // Wait until React has moved the card, then focus it.
        requestAnimationFrame(() => onFocusAt(Math.max(0, Math.min(steps.length - 1, place + by))))
      }
    }
    if (canEdit && (event.key === 'Delete' || event.key === 'Backspace')) {
      event.preventDefault()
      onRemove(step)
    }
  }
  return (
    <li
      ref={setNodeRef}
      style={{
        transform: transform ? `translate3d(${transform.x}px, ${transform.y}px, 0)` : undefined,
        transition,
      }}
      className={cn('relative', isDragging && 'z-10')}
    >
      <div
        className={cn(
          cardClass,
          'pr-1 pl-3',
          isSelected && selectedClass,
          isDragging && 'shadow-float',
          isPale && 'bg-sunken',
        )}
      >
        {canEdit && (
          <button
            ref={setActivatorNodeRef}
            type="button"
            {...attributes}
            {...listeners}
            aria-label={`Move ${step.name}`}
            className="absolute top-1/2 -left-6 grid h-8 w-6 -translate-y-1/2 cursor-grab touch-none place-items-center rounded-control text-faint opacity-0 group-hover/card:opacity-100 hover:text-muted focus-visible:opacity-100 active:cursor-grabbing pointer-coarse:opacity-100"
          >
            <GripVertical className="size-4" />
          </button>
        )}
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
            <span
              className={cn('truncate text-sm font-medium', isSkipped && 'text-muted')}
              dir="auto"
              title={step.name}
            >
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
      <Line
        canAdd={canEdit}
        wait={wait}
        hue={lookOf(step.type).hue}
        label={`Add a step after ${step.name}`}
        onAdd={(kind) => props.onAdd(kind, place + 1)}
        isLast={place === steps.length - 1}
      />
    </li>
  )
}

function StepMenu({ step, place, steps, onStep, onDuplicate, onRemove, onToggle }: StepProps) {
  return (
    <Menu label={`Actions for ${step.name}`}>
      <MenuItem icon={<CopyPlus />} onSelect={() => onDuplicate(step)}>
        Duplicate
      </MenuItem>
      <MenuItem icon={<ArrowUp />} shortcut="alt+↑" disabled={place === 0} onSelect={() => onStep(-1)}>
        Move up
      </MenuItem>
      <MenuItem icon={<ArrowDown />} shortcut="alt+↓" disabled={place === steps.length - 1} onSelect={() => onStep(1)}>
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
function Line({ canAdd, wait, hue = 'var(--line-strong)', label, isLast, onAdd }: LineProps) {
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

/** Keyboard hints below the flow. */
export const FlowKeys = () => (
  <p className="flex flex-wrap items-center justify-center gap-x-3 gap-y-1 px-4 pb-6 text-xs text-muted pointer-coarse:hidden">
    <span className="inline-flex items-center gap-1">
      <Kbd keys="↑" />
      <Kbd keys="↓" /> select
    </span>
    <span className="inline-flex items-center gap-1">
      <Kbd keys="alt+↑" /> move
    </span>
    <span className="inline-flex items-center gap-1">
      <Kbd keys="del" /> delete
    </span>
  </p>
)
