// The arms of a branch below it: side by side where there is room, else one at a time.
import { CornerDownRight, OctagonX } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react'
import { cn } from '../../../ui/base/class-names.ts'
import { lookOf } from '../../../ui/domain/step-kind.tsx'
import { inWords, readRoot } from '../draft/condition-model.ts'
import type { DraftStep } from '../draft/draft.ts'
import { emptyArm, firstIn, visitedArm } from '../draft/flow-items.ts'
import { waitOf } from '../draft/steps.ts'
import { type Arm, type ArmKey, armsOf } from '../draft/tree.ts'
import { FlowItem, type InFlow, Line, StepCard } from './flow-card.tsx'

interface ArmsProps extends InFlow {
  branch: DraftStep
  /** Of the branch. */
  level: number
}

const mostSideBySide = 4
const narrowestArm = 176
const roomySize = '(min-width: 1024px)'

export function Arms(props: ArmsProps) {
  const { branch, keys } = props
  const arms = armsOf(branch)
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const isRoomy = useMedia(roomySize)
  const isWide = isRoomy && arms.length <= mostSideBySide && width >= arms.length * narrowestArm
  const id = useId()
  const drawn = useRef(isWide)
  useEffect(() => {
    if (drawn.current !== isWide) keys.restore()
    drawn.current = isWide
  }, [isWide, keys])
  const within = visitedArm(branch, keys.visited)
  const shown = arms.find(({ key }) => key === within?.arm)
  return (
    <div ref={frame} className="mt-3">
      {isWide ? (
        <div className="grid auto-cols-fr grid-flow-col gap-4">
          {arms.map(({ key, arm }) => (
            <ArmColumn key={key} {...props} armKey={key} arm={arm} />
          ))}
        </div>
      ) : (
        <div className="mx-auto max-w-76 space-y-3">
          <ArmTabs {...props} shown={shown?.key} panel={id} />
          {shown && <ArmColumn {...props} id={id} armKey={shown.key} arm={shown.arm} />}
        </div>
      )}
    </div>
  )
}

interface ArmTabsProps extends ArmsProps {
  shown: ArmKey | undefined
  panel: string
}

function ArmTabs({ branch, steps, keys, shown, panel }: ArmTabsProps) {
  const arms = armsOf(branch)
  const list = useRef<HTMLDivElement>(null)
  const choose = (key: ArmKey) => keys.enter(firstIn(steps, { stepId: branch.stepId, arm: key }))
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    const next = arms[arms.findIndex(({ key }) => key === shown) + by]
    if (by === 0 || !next) return
    event.preventDefault()
    choose(next.key)
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.key}"]`)?.focus()
  }
  return (
    <div
      ref={list}
      role="tablist"
      aria-label={`Arms of ${branch.name}`}
      onKeyDown={onKeyDown}
      className="flex overflow-x-auto border-b"
    >
      {arms.map(({ key, arm }) => (
        <button
          key={key}
          type="button"
          role="tab"
          data-tab={key}
          aria-selected={key === shown}
          {...(key === shown ? { 'aria-controls': panel } : {})}
          tabIndex={key === shown ? 0 : -1}
          onClick={() => choose(key)}
          dir="auto"
          className="-mb-px h-8 shrink-0 border-b-2 border-transparent px-2.5 text-xs font-medium whitespace-nowrap text-muted hover:text-ink aria-selected:border-accent aria-selected:text-ink pointer-coarse:h-10"
        >
          {arm.name}
        </button>
      ))}
    </div>
  )
}

function useWidth(of: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!of.current) return
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0))
    observer.observe(of.current)
    return () => observer.disconnect()
  }, [of])
  return width
}

const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    (changed) => {
      const media = window.matchMedia(query)
      media.addEventListener('change', changed)
      return () => media.removeEventListener('change', changed)
    },
    () => window.matchMedia(query).matches,
  )

interface ArmColumnProps extends ArmsProps {
  id?: string
  armKey: ArmKey
  arm: Arm
}

function ArmColumn({ armKey, arm, id, level, ...props }: ArmColumnProps) {
  const { branch, canEdit, keys, onAdd, onSelect } = props
  const within = { stepId: branch.stepId, arm: armKey }
  const { length: count } = arm.steps
  const isDefault = armKey === 'default'
  const inArm = `in arm ${arm.name} of ${branch.name}`
  const end = arm.end === true ? 'Ends the run' : count === 0 ? 'Does nothing' : 'Goes on below'
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form
    <div
      id={id}
      role="group"
      aria-label={`Arm ${arm.name} of ${branch.name}`}
      className={cn('min-w-0 rounded-surface border bg-page/60 p-2', isDefault && 'border-dashed border-line-strong')}
    >
      <button
        type="button"
        tabIndex={-1}
        onClick={() => onSelect(branch.stepId)}
        className="flex w-full items-start gap-1.5 rounded-control px-1 py-0.5 text-left hover:bg-hover"
      >
        <CornerDownRight className="mt-0.5 size-3.5 shrink-0 text-muted" aria-hidden />
        <span className="min-w-0">
          <span className="block truncate text-sm font-medium" dir="auto" title={arm.name}>
            {arm.name}
          </span>
          <span className="block truncate text-xs text-muted" dir="auto">
            {isDefault ? 'if no other arm is taken' : inWords(readRoot(arm.condition))}
          </span>
        </span>
      </button>
      <Line
        canAdd={canEdit}
        keys={keys}
        item={emptyArm(within)}
        label={`Add a step at the start of ${arm.name}`}
        isLast={count === 0}
        within={within}
        at={0}
        onAdd={onAdd}
      />
      {arm.steps.map((step, at) => (
        <div key={step.stepId}>
          <StepCard {...props} step={step} where={{ level: level + 1, at, count, inArm }} />
          {step.type === 'branch' && <Arms {...props} branch={step} level={level + 1} />}
          <Line
            canAdd={canEdit}
            keys={keys}
            item={step.stepId}
            wait={waitOf(step)}
            hue={lookOf(step.type).hue}
            label={`Add a step after ${step.name}`}
            isLast={at === count - 1}
            within={within}
            at={at + 1}
            onAdd={onAdd}
          />
        </div>
      ))}
      {count === 0 && (
        <FlowItem
          item={emptyArm(within)}
          keys={keys}
          {...{ level: level + 1, at: 0, count: 1 }}
          className="rounded-control text-center text-xs text-muted focus-visible:outline-2 focus-visible:outline-accent"
        >
          <span className="sr-only">{`No steps yet ${inArm}`}</span>
          <EndMark end={arm.end === true}>{end}</EndMark>
        </FlowItem>
      )}
      {count > 0 && (
        <p className="text-center text-xs text-muted">
          <EndMark end={arm.end === true}>{end}</EndMark>
        </p>
      )}
    </div>
  )
}

const EndMark = ({ end, children }: { end: boolean; children: string }) =>
  end ? (
    <span className="inline-flex items-center gap-1 font-medium">
      <OctagonX className="size-3.5 text-bad" aria-hidden />
      {children}
    </span>
  ) : (
    children
  )
