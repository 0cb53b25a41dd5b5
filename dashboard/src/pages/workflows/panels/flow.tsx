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
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { cn } from '../../../ui/base/class-names.ts'
import { useSteady } from '../../../ui/base/steady.ts'
import { Kbd } from '../../../ui/base/tooltip.tsx'
import { lookOf, StepIcon } from '../../../ui/domain/step-kind.tsx'
import type { DraftStep } from '../draft/draft.ts'
import {
  allItems,
  armsAround,
  emptyArm,
  itemAfter,
  itemBefore,
  itemBeside,
  spotOfItem,
  type Visited,
} from '../draft/flow-items.ts'
import { waitOf } from '../draft/steps.ts'
import { allSteps, armsOf, type Direction, listAt, spotOf, spotToward } from '../draft/tree.ts'
import { Arms } from './arms.tsx'
import {
  cardClass,
  type FlowKeyboard,
  type FlowProps,
  type InFlow,
  itemId,
  Line,
  StepCard,
  selectedClass,
} from './flow-card.tsx'

// The same objects each time: with new ones the handles of all steps would be drawn again.
const byPointer = { activationConstraint: { distance: 4 } }
const byKeyboard = { coordinateGetter: sortableKeyboardCoordinates }

export function Flow(given: FlowProps) {
  const { steps, selected, canEdit } = given
  const list = useRef<HTMLDivElement>(null)
  const trigger = useRef<HTMLButtonElement>(null)
  const added = useRef<string>(undefined)
  const { keys, said } = useFlowKeyboard(given, { list, trigger, added })
  const { onSelect, onMove, onWrap, onDuplicate, onRemove, onToggle } = given
  const onAdd: FlowProps['onAdd'] = (kind, spot) => {
    added.current = given.onAdd(kind, spot)
    return added.current
  }
  const acts = useSteady({ onSelect, onAdd, onMove, onWrap, onDuplicate, onRemove, onToggle })
  const props: InFlow = { ...given, ...acts, keys }
  const sensors = useSensors(useSensor(PointerSensor, byPointer), useSensor(KeyboardSensor, byKeyboard))
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

  return (
    <div
      className={cn(
        'mx-auto flex w-full flex-col items-stretch px-4 py-8 *:mx-auto *:w-full *:max-w-76',
        steps.some(({ type }) => type === 'branch') ? 'max-w-280 *:data-flow:max-w-none' : 'max-w-84',
      )}
    >
      <button
        ref={trigger}
        type="button"
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' || steps[0] === undefined) return
          event.preventDefault()
          keys.focus(steps[0].stepId)
        }}
        aria-current={selected === undefined ? 'step' : undefined}
        onClick={() => onSelect(undefined)}
        className={cn(cardClass, 'px-3', selected === undefined && selectedClass)}
      >
        <StepIcon kind="trigger" tile />
        <span className="min-w-0 flex-1">
          <span className="block text-sm font-medium">Trigger</span>
          <code className="block truncate text-muted">{given.workflowId}</code>
        </span>
      </button>
      <Line
        canAdd={canEdit}
        keys={keys}
        item={undefined}
        label="Add a step at the start"
        at={0}
        onAdd={acts.onAdd}
        isLast={steps.length === 0}
      />
      <DndContext
        sensors={sensors}
        collisionDetection={closestCenter}
        accessibility={{ announcements }}
        onDragEnd={drop}
      >
        <SortableContext items={steps.map(({ stepId }) => stepId)} strategy={verticalListSortingStrategy}>
          {steps.length > 0 && (
            // The buttons between the steps are no part of a tree, so it owns its items where they are.
            <div role="tree" aria-label="Steps" aria-owns={allItems(steps).map(itemId).join(' ')} />
          )}
          <div ref={list} data-flow>
            {steps.map((step, index) => (
              <Step key={step.stepId} {...props} step={step} place={index} />
            ))}
          </div>
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

interface Elements {
  list: RefObject<HTMLDivElement | null>
  trigger: RefObject<HTMLButtonElement | null>
  /** The step that was added last, until it has the focus. */
  added: RefObject<string | undefined>
}

const directions: Record<string, Direction | undefined> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
}

function useFlowKeyboard(flow: FlowProps, { list, trigger, added }: Elements) {
  const { steps, selected, canEdit, onMove, onWrap, onRemove, onSelect } = flow
  const [said, setSaid] = useState('')
  const [entered, setEntered] = useState<string>()
  const [visited, setVisited] = useState<Visited>({})
  const [adding, setAdding] = useState<string>()
  const opener = useRef<HTMLElement>(undefined)
  const isThere = (item: string | undefined) => spotOfItem(steps, item) !== undefined
  const current = [entered, selected, steps[0]?.stepId].find(isThere)

  const enter = (item: string) => {
    setEntered(item)
    setVisited((before) => ({ ...before, ...armsAround(steps, item) }))
  }
  // What is selected elsewhere, such as in the list of issues, comes into view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another step is selected
  useEffect(() => {
    if (selected !== undefined) enter(selected)
  }, [selected])

  /** The item may have to be drawn first. */
  const focus = (item: string, tries = 10) => {
    const found = list.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(item)}"]`)
    if (found) found.focus()
    else if (tries > 0) requestAnimationFrame(() => focus(item, tries - 1))
  }
  const restore = () => {
    if (entered !== undefined && document.activeElement === document.body) focus(entered)
  }
  const go = (item: string | undefined) => {
    if (item === undefined) return
    enter(item)
    focus(item)
  }
  const move = (step: DraftStep, to: Direction) => {
    const spot = spotToward(steps, step.stepId, to)
    if (!spot || !onMove(step, spot)) return
    const branch = allSteps(steps).find(({ stepId }) => stepId === spot.within?.stepId)
    const arm = branch && armsOf(branch).find(({ key }) => key === spot.within?.arm)?.arm.name
    setVisited((before) => ({ ...before, ...(spot.within ? { [spot.within.stepId]: spot.within.arm } : {}) }))
    setSaid(
      `${step.name} is at position ${spot.at + 1}${branch ? ` in arm ${arm} of ${branch.name}` : ` of ${steps.length}`}.`,
    )
    // Wait until React has moved the card, then focus it.
    requestAnimationFrame(() => focus(step.stepId))
  }
  const wrap = (step: DraftStep) => {
    const branch = onWrap(step)
    if (branch === undefined) return
    setSaid(`${step.name} is in a branch now.`)
    requestAnimationFrame(() => focus(branch))
  }
  const remove = (step: DraftStep) => {
    const spot = spotOf(steps, step.stepId)
    const beside = spot && listAt(steps, spot.within)
    const next = spot && (beside?.[spot.at + 1] ?? beside?.[spot.at - 1])?.stepId
    onRemove(step)
    requestAnimationFrame(() => go(next ?? (spot?.within ? emptyArm(spot.within) : steps[0]?.stepId)))
  }
  const press = (event: KeyboardEvent<HTMLElement>, item: string, step: DraftStep | undefined) => {
    if (event.ctrlKey || event.metaKey) return
    const to = directions[event.key]
    const act = () => {
      if (to !== undefined && event.altKey) return step && canEdit ? move(step, to) : undefined
      if (event.altKey) return undefined
      switch (event.key) {
        case 'ArrowDown':
          return go(itemAfter(steps, item, visited))
        case 'ArrowUp': {
          const before = itemBefore(steps, item, visited)
          return before === undefined ? trigger.current?.focus() : go(before)
        }
        case 'ArrowLeft':
          return go(itemBeside(steps, item, -1))
        case 'ArrowRight':
          return go(itemBeside(steps, item, 1))
        case 'Enter':
        case ' ':
          return step ? onSelect(step.stepId) : open(item)
        case 'a':
          return open(item)
        case 'b':
          return step && canEdit ? wrap(step) : undefined
        default:
          return step && canEdit ? remove(step) : undefined
      }
    }
    if (to === undefined && !['Enter', ' ', 'a', 'b', 'Delete', 'Backspace'].includes(event.key)) return
    event.preventDefault()
    act()
  }
  const open = (item: string) => {
    if (canEdit) onAdding(item)
  }
  const onAdding = (item: string | undefined) => {
    if (item !== undefined) {
      added.current = undefined
      opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : undefined
    }
    setAdding(item)
  }
  const onAdded = () => {
    const item = added.current
    added.current = undefined
    if (item === undefined) opener.current?.focus()
    else go(item)
  }
  const canMove = (step: DraftStep, to: Direction) => spotToward(steps, step.stepId, to) !== undefined
  const acts = useSteady({
    onAdding,
    onAdded,
    enter,
    focus: (item: string) => focus(item),
    restore,
    press,
    canMove,
    move,
    wrap,
  })
  const keys: FlowKeyboard = { current, visited, adding, ...acts }
  return { keys, said }
}

interface StepProps extends InFlow {
  step: DraftStep
  place: number
}

function Step(props: StepProps) {
  const { step, place, steps, canEdit, keys } = props
  const sortable = useSortable({ id: step.stepId, disabled: !canEdit })
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = sortable
  const isCurrent = keys.current === step.stepId
  const handle = useMemo(
    () => (
      <button
        ref={setActivatorNodeRef}
        type="button"
        {...attributes}
        {...listeners}
        tabIndex={isCurrent ? 0 : -1}
        aria-label={`Move ${step.name}`}
        className="absolute top-1/2 -left-6 grid h-8 w-6 -translate-y-1/2 cursor-grab touch-none place-items-center rounded-control text-faint opacity-0 group-hover/card:opacity-100 hover:text-muted focus-visible:opacity-100 active:cursor-grabbing pointer-coarse:opacity-100"
      >
        <GripVertical className="size-4" />
      </button>
    ),
    [attributes, listeners, setActivatorNodeRef, isCurrent, step.name],
  )
  return (
    <div
      ref={setNodeRef}
      style={{
        transform: transform ? `translate3d(${transform.x}px, ${transform.y}px, 0)` : undefined,
        transition,
      }}
      className={cn('relative', isDragging && 'z-10')}
    >
      <StepCard
        {...props}
        where={{ level: 1, at: place, count: steps.length, inArm: '' }}
        className={cn('mx-auto max-w-76', isDragging && 'shadow-float')}
      >
        {canEdit && handle}
      </StepCard>
      {step.type === 'branch' && <Arms {...props} branch={step} level={1} />}
      <Line
        canAdd={canEdit}
        keys={keys}
        item={step.stepId}
        wait={waitOf(step)}
        hue={lookOf(step.type).hue}
        label={`Add a step after ${step.name}`}
        at={place + 1}
        onAdd={props.onAdd}
        isLast={place === steps.length - 1}
      />
    </div>
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
      <Kbd keys="enter" /> open
    </span>
    <span className="inline-flex items-center gap-1">
      <Kbd keys="a" /> add after
    </span>
    <span className="inline-flex items-center gap-1">
      <Kbd keys="b" /> wrap in a branch
    </span>
    <span className="inline-flex items-center gap-1">
      <Kbd keys={hasArms ? 'alt+← ↑ ↓ →' : 'alt+↑ ↓'} /> move
    </span>
    <span className="inline-flex items-center gap-1">
      <Kbd keys="del" /> delete
    </span>
  </p>
)
