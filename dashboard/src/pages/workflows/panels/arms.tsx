// The arms of a branch below it: side by side where there is room, else one at a time.
import { CornerDownRight, OctagonX } from 'lucide-react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { cn } from '../../../ui/base/class-names.ts'
import { Segments } from '../../../ui/frame/tabs.tsx'
import { inWords, readRoot } from '../draft/condition-model.ts'
import type { DraftStep } from '../draft/draft.ts'
import { waitOf } from '../draft/steps.ts'
import { type Arm, type ArmKey, armsOf } from '../draft/tree.ts'
import { type FlowKeyboard, type FlowProps, Line, StepCard } from './flow-card.tsx'

interface ArmsProps extends FlowProps {
  branch: DraftStep
  keys: FlowKeyboard
}

const mostSideBySide = 4
const narrowestArm = 176

export function Arms(props: ArmsProps) {
  const { branch, selected } = props
  const arms = armsOf(branch)
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const isWide = arms.length <= mostSideBySide && width >= arms.length * narrowestArm
  const holding = arms.find(({ arm }) => holds(arm, selected))?.key
  const [chosen, setChosen] = useState<ArmKey>()
  const shown = arms.find(({ key }) => key === (chosen ?? holding)) ?? arms[0]
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
          <div className="overflow-x-auto">
            <Segments
              label={`Arms of ${branch.name}`}
              value={String(shown?.key)}
              onValue={(key) => setChosen(key === 'default' ? key : Number(key))}
              options={arms.map(({ key, arm }) => ({ value: String(key), label: arm.name }))}
            />
          </div>
          {shown && <ArmColumn {...props} armKey={shown.key} arm={shown.arm} />}
        </div>
      )}
    </div>
  )
}

const holds = (arm: Arm, stepId: string | undefined): boolean =>
  arm.steps.some((step) => step.stepId === stepId || armsOf(step).some((inner) => holds(inner.arm, stepId)))

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

function ArmColumn({ armKey, arm, ...props }: ArmsProps & { armKey: ArmKey; arm: Arm }) {
  const { branch, canEdit, keys, onAdd, onSelect } = props
  const within = { stepId: branch.stepId, arm: armKey }
  const { length: count } = arm.steps
  const isDefault = armKey === 'default'
  return (
    <section
      data-arm
      aria-label={`Arm ${arm.name} of ${branch.name}`}
      className={cn('min-w-0 rounded-surface border bg-page/60 p-2', isDefault && 'border-dashed border-line-strong')}
    >
      <button
        type="button"
        onClick={() => onSelect(branch.stepId)}
        className="flex w-full items-start gap-1.5 rounded-control px-1 py-0.5 text-left hover:bg-hover"
      >
        <CornerDownRight className="mt-0.5 size-3.5 shrink-0 text-muted" aria-hidden />
        <span className="min-w-0">
          <span className="block truncate text-sm font-medium" dir="auto" title={arm.name}>
            {arm.name}
          </span>
          <span className="block truncate text-xs text-muted" dir="auto">
            {isDefault ? 'otherwise' : inWords(readRoot(arm.condition))}
          </span>
        </span>
      </button>
      <Line
        canAdd={canEdit}
        label={`Add a step at the start of ${arm.name}`}
        isLast={count === 0}
        onAdd={(kind) => onAdd(kind, { within, at: 0 })}
      />
      <ol aria-label={`Steps of ${arm.name}`}>
        {arm.steps.map((step, at) => (
          <li key={step.stepId}>
            <StepCard
              {...props}
              step={step}
              place={{ within, at, count }}
              where={`step ${at + 1} of ${count} in arm ${arm.name} of ${branch.name}`}
            />
            {step.type === 'branch' && <Arms {...props} branch={step} keys={keys} />}
            <Line
              canAdd={canEdit}
              wait={waitOf(step)}
              label={`Add a step after ${step.name}`}
              isLast={at === count - 1}
              onAdd={(kind) => onAdd(kind, { within, at: at + 1 })}
            />
          </li>
        ))}
      </ol>
      {arm.end === true ? (
        <p className="flex items-center justify-center gap-1 text-xs font-medium text-muted">
          <OctagonX className="size-3.5 text-bad" aria-hidden />
          Ends the run
        </p>
      ) : (
        <p className="text-center text-xs text-muted">{count === 0 ? 'Does nothing' : 'Goes on below'}</p>
      )}
    </section>
  )
}
