// A step in the flow: its card, and the line below it with the button that adds a step.
import {
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  ArrowUp,
  CopyPlus,
  ListFilter,
  Plus,
  Power,
  PowerOff,
  Split,
  Trash2,
  TriangleAlert,
} from 'lucide-react'
import { type KeyboardEvent, memo, type ReactNode, useId } from 'react'
import type { StepCheck } from '../../../api/workflows.ts'
import { Button } from '../../../ui/base/button.tsx'
import { cn } from '../../../ui/base/class-names.ts'
import { Tooltip } from '../../../ui/base/tooltip.tsx'
import { lookOf, StepIcon, type StepKind } from '../../../ui/domain/step-kind.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../../../ui/frame/menu.tsx'
import type { DraftStep } from '../draft/draft.ts'
import type { Visited } from '../draft/flow-items.ts'
import { same } from '../draft/same.ts'
import { addable, hasCondition, type Issue, summaryOf } from '../draft/steps.ts'
import type { Direction, Spot } from '../draft/tree.ts'

export interface FlowProps {
  workflowId: string
  steps: readonly DraftStep[]
  issues: ReadonlyMap<string, readonly Issue[]>
  /** What each step would do with the example of the preview. */
  checks: ReadonlyMap<string, StepCheck>
  selected: string | undefined
  canEdit: boolean
  onSelect: (stepId: string | undefined) => void
  /** @returns the `stepId` of the new step */
  onAdd: (kind: StepKind, spot: Spot) => string
  /** @returns whether it is there now: branches cannot be nested any deeper than the server allows */
  onMove: (step: DraftStep, to: Spot) => boolean
  /** @returns the `stepId` of the branch */
  onWrap: (step: DraftStep) => string | undefined
  onDuplicate: (step: DraftStep) => void
  onRemove: (step: DraftStep) => void
  onToggle: (step: DraftStep) => void
}

/** What the keyboard does in the flow, and where it is. Its functions stay the same. */
export interface FlowKeyboard {
  /** The item that Tab reaches, and whose buttons it reaches next. */
  current: string | undefined
  visited: Visited
  /** The item behind which a step is being chosen. */
  adding: string | undefined
  onAdding: (item: string | undefined) => void
  /** Puts the focus where it was, or on what was added. */
  onAdded: () => void
  enter: (item: string) => void
  focus: (item: string) => void
  /** Puts the focus back that drawing the arms in another way has taken. */
  restore: () => void
  press: (event: KeyboardEvent<HTMLElement>, item: string, step: DraftStep | undefined) => void
  canMove: (step: DraftStep, to: Direction) => boolean
  move: (step: DraftStep, to: Direction) => void
  wrap: (step: DraftStep) => void
}

/** Its functions stay the same, too. */
export interface InFlow extends FlowProps {
  keys: FlowKeyboard
}

export const cardClass =
  'group/card relative flex min-h-14 w-full items-center gap-2.5 rounded-surface border bg-page py-2 text-left transition-[border-color,box-shadow] duration-120 hover:border-line-strong'
export const selectedClass = 'border-accent ring-2 ring-accent/20 hover:border-accent'

interface FlowItemProps {
  /** Of the step, or of the arm that has none. */
  item: string
  step?: DraftStep
  level: number
  /** Its place in its list, and how long that is. */
  at: number
  count: number
  isSelected?: boolean
  keys: FlowKeyboard
  onClick?: () => void
  /** An element that says more. */
  describedBy?: string
  className?: string
  children: ReactNode
}

/** The `id` of an item: the tree owns its items, whose buttons stand beside them. */
export const itemId = (item: string): string => `flow-${item.replaceAll(/[^\w-]/g, '_')}`

/** An item of the tree. What it contains is its name. */
export function FlowItem(props: FlowItemProps) {
  const { item, step, level, at, count, isSelected = false, keys, onClick, describedBy, className, children } = props
  return (
    <div
      id={itemId(item)}
      role="treeitem"
      aria-level={level}
      aria-posinset={at + 1}
      aria-setsize={count}
      aria-selected={isSelected}
      aria-describedby={describedBy}
      {...(step?.type === 'branch' ? { 'aria-expanded': true } : {})}
      tabIndex={keys.current === item ? 0 : -1}
      data-item={item}
      {...(step ? { 'data-step': step.stepId } : {})}
      onClick={onClick}
      onFocus={() => keys.enter(item)}
      onKeyDown={(event) => event.target === event.currentTarget && keys.press(event, item, step)}
      className={cn('outline-none', className)}
    >
      {children}
    </div>
  )
}

/** Where a step stands. */
export interface Where {
  level: number
  at: number
  count: number
  /** "in arm Paid of Paid?"; empty at the top level. */
  inArm: string
}

/** "Mail, email, step 1 of 2 in arm Paid of Paid?"; the level is said by itself. */
function spokenOf(step: DraftStep, { at, count, inArm }: Where): string {
  const { label } = lookOf(step.type)
  const kind = label === label.toUpperCase() ? label : label.toLowerCase()
  const place = `step ${at + 1} of ${count}${inArm === '' ? '' : ` ${inArm}`}`
  return [step.name, ...(step.name === label ? [] : [kind]), place].join(', ')
}

interface StepCardProps extends InFlow {
  step: DraftStep
  where: Where
  className?: string
  /** Beside the card, such as its handle. */
  children?: ReactNode
}

const holdsIn = ({ checks, step }: StepCardProps) => checks.get(step.stepId)?.holds
const issuesIn = ({ issues, step }: StepCardProps) => issues.get(step.stepId) ?? []

/** Drawn again only if it would look different: an editor draws its flow with every letter that is typed. */
export const StepCard = memo(
  StepCardItself,
  (before, after) =>
    same(before.step, after.step) &&
    same(before.where, after.where) &&
    before.className === after.className &&
    before.children === after.children &&
    before.canEdit === after.canEdit &&
    (before.selected === before.step.stepId) === (after.selected === after.step.stepId) &&
    (before.keys.current === before.step.stepId) === (after.keys.current === after.step.stepId) &&
    holdsIn(before) === holdsIn(after) &&
    same(issuesIn(before), issuesIn(after)),
)

function StepCardItself(props: StepCardProps) {
  const { step, where, selected, canEdit, keys, className, children, onSelect } = props
  const summary = useId()
  const issues = issuesIn(props)
  const isSelected = step.stepId === selected
  const isSkipped = step.active && holdsIn(props) === false
  const isPale = !step.active || isSkipped
  return (
    <div className={cn(cardClass, 'pr-1 pl-3', className, isSelected && selectedClass, isPale && 'bg-sunken')}>
      {children}
      <span aria-hidden>
        <StepIcon kind={step.type} tile className={cn(isPale && 'opacity-50')} />
      </span>
      <FlowItem
        item={step.stepId}
        step={step}
        keys={keys}
        {...{ level: where.level, at: where.at, count: where.count, isSelected, describedBy: summary }}
        onClick={() => onSelect(step.stepId)}
        className="min-w-0 flex-1 cursor-pointer text-left after:absolute after:inset-0 after:rounded-surface focus-visible:after:outline-2 focus-visible:after:outline-accent"
      >
        <span className="flex items-center gap-1.5">
          <span className="sr-only">{spokenOf(step, where)}</span>
          <span
            aria-hidden
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
        <span id={summary} aria-hidden className="block truncate text-xs text-muted" dir="auto">
          {summaryOf(step)}
        </span>
      </FlowItem>
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

const moves = [
  { to: 'up', label: 'Move up', shortcut: 'alt+↑', icon: <ArrowUp /> },
  { to: 'down', label: 'Move down', shortcut: 'alt+↓', icon: <ArrowDown /> },
] as const
const sideways = [
  { to: 'left', label: 'Move to the arm before', shortcut: 'alt+←', icon: <ArrowLeft /> },
  { to: 'right', label: 'Move to the next arm', shortcut: 'alt+→', icon: <ArrowRight /> },
] as const

function StepMenu(props: StepCardProps) {
  const { step, keys } = props
  return (
    <Menu label={`Actions for ${step.name}`} className="w-60" tabIndex={keys.current === step.stepId ? 0 : -1}>
      <StepActions {...props} />
    </Menu>
  )
}

/** Drawn when the menu opens: by then the step may be able to move elsewhere. */
function StepActions({ step, keys, onDuplicate, onRemove, onToggle }: StepCardProps) {
  const canMove = (to: Direction) => keys.canMove(step, to)
  const shown = [...moves, ...sideways.filter(({ to }) => canMove(to))]
  return (
    <>
      <MenuItem icon={<Plus />} shortcut="a" onSelect={() => keys.onAdding(step.stepId)}>
        Add a step after it
      </MenuItem>
      <MenuItem icon={<CopyPlus />} onSelect={() => onDuplicate(step)}>
        Duplicate
      </MenuItem>
      <MenuItem icon={<Split />} shortcut="b" onSelect={() => keys.wrap(step)}>
        Wrap in a branch
      </MenuItem>
      <MenuSeparator />
      {shown.map(({ to, label, shortcut, icon }) => (
        <MenuItem key={to} icon={icon} shortcut={shortcut} disabled={!canMove(to)} onSelect={() => keys.move(step, to)}>
          {label}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem icon={step.active ? <PowerOff /> : <Power />} onSelect={() => onToggle(step)}>
        {step.active ? 'Turn off' : 'Turn on'}
      </MenuItem>
      <MenuItem icon={<Trash2 />} danger shortcut="del" onSelect={() => onRemove(step)}>
        Delete
      </MenuItem>
    </>
  )
}

interface LineProps {
  canAdd: boolean
  keys: FlowKeyboard
  /** The item that it is behind; undefined at the start of the flow. */
  item: string | undefined
  wait?: string | undefined
  hue?: string
  label: string
  isLast: boolean
  /** Where it adds a step. */
  within?: Spot['within']
  at: number
  onAdd: FlowProps['onAdd']
}

/** The place before the first step. */
const atStart = ':start'

/** The line between two steps; dashed and labelled if the run waits there. */
export const Line = memo(LineItself, ({ keys: keysBefore, ...before }, { keys: keysAfter, ...after }) => {
  const item = before.item ?? atStart
  return (
    same(before, after) &&
    (keysBefore.current === item) === (keysAfter.current === item) &&
    (keysBefore.adding === item) === (keysAfter.adding === item)
  )
})

function LineItself({
  canAdd,
  keys,
  item = atStart,
  wait,
  hue = 'var(--line-strong)',
  label,
  isLast,
  within,
  at,
  onAdd,
}: LineProps) {
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
            open={keys.adding === item}
            onOpen={(isOpen) => keys.onAdding(isOpen ? item : undefined)}
            onClosed={(event) => {
              event.preventDefault()
              keys.onAdded()
            }}
            trigger={
              <Button
                size="icon-sm"
                tabIndex={item === atStart || keys.current === item ? 0 : -1}
                hint={label}
                {...(item === atStart ? {} : { shortcut: 'a' })}
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
                  <MenuItem key={kind} icon={<StepIcon kind={kind} />} onSelect={() => onAdd(kind, { within, at })}>
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
