// The steps from top to bottom, with waits on the lines between them, and the arms of a branch side by side below it. Add, drag,
// or move them by keyboard.
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
import { GripVertical } from 'lucide-react'
import { useRef, useState } from 'react'
import { cn } from '../../../ui/base/class-names.ts'
import { Kbd } from '../../../ui/base/tooltip.tsx'
import { lookOf, StepIcon } from '../../../ui/domain/step-kind.tsx'
import type { DraftStep } from '../draft/draft.ts'
import { waitOf } from '../draft/steps.ts'
import { Arms } from './arms.tsx'
import {
  cardClass,
  type FlowKeyboard,
  type FlowProps,
  Line,
  type Place,
  StepCard,
  selectedClass,
} from './flow-card.tsx'

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
    const step = steps[from]
    if (step && to !== -1 && from !== to) onMove(step, { at: to })
  }
  const keys: FlowKeyboard = {
    move: (step, from, by) => {
      const to = from.at + by
      if (to < 0 || to >= from.count) return
      onMove(step, { within: from.within, at: to })
      setSaid(`${step.name} is at position ${to + 1} of ${from.count}.`)
      // Wait until React has moved the card, then focus it.
      requestAnimationFrame(() => keys.focus(step.stepId, 0))
    },
    focus: (stepId, by) => {
      const cards = [...(list.current?.querySelectorAll<HTMLElement>('[data-step]') ?? [])]
      cards[cards.findIndex((card) => card.dataset.step === stepId) + by]?.focus()
    },
  }

  return (
    <div
      className={cn(
        'mx-auto flex w-full flex-col items-stretch px-4 py-8 *:mx-auto *:w-full *:max-w-76',
        steps.some(({ type }) => type === 'branch') ? 'max-w-280 *:[ol]:max-w-none' : 'max-w-84',
      )}
    >
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
        onAdd={(kind) => onAdd(kind, { at: 0 })}
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
              <Step key={step.stepId} {...props} step={step} place={index} keys={keys} />
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

interface StepProps extends FlowProps {
  step: DraftStep
  place: number
  keys: FlowKeyboard
}

function Step(props: StepProps) {
  const { step, place, steps, canEdit, keys } = props
  const sortable = useSortable({ id: step.stepId, disabled: !canEdit })
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = sortable
  const own: Place = { at: place, count: steps.length }
  return (
    <li
      ref={setNodeRef}
      style={{
        transform: transform ? `translate3d(${transform.x}px, ${transform.y}px, 0)` : undefined,
        transition,
      }}
      className={cn('relative', isDragging && 'z-10')}
    >
      <StepCard {...props} place={own} className={cn('mx-auto max-w-76', isDragging && 'shadow-float')}>
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
      </StepCard>
      {step.type === 'branch' && <Arms {...props} branch={step} keys={keys} />}
      <Line
        canAdd={canEdit}
        wait={waitOf(step)}
        hue={lookOf(step.type).hue}
        label={`Add a step after ${step.name}`}
        onAdd={(kind) => props.onAdd(kind, { at: place + 1 })}
        isLast={place === steps.length - 1}
      />
    </li>
  )
}

/** Keyboard hints below the flow. */
export const FlowKeys = ({ hasArms }: { hasArms: boolean }) => (
  <p className="flex flex-wrap items-center justify-center gap-x-3 gap-y-1 px-4 pb-6 text-xs text-muted pointer-coarse:hidden">
    <span className="inline-flex items-center gap-1">
      <Kbd keys="↑" />
      <Kbd keys="↓" /> select
    </span>
    {hasArms && (
      <span className="inline-flex items-center gap-1">
        <Kbd keys="←" />
        <Kbd keys="→" /> other arm
      </span>
    )}
    <span className="inline-flex items-center gap-1">
      <Kbd keys="alt+↑" /> move
    </span>
    <span className="inline-flex items-center gap-1">
      <Kbd keys="del" /> delete
    </span>
  </p>
)
