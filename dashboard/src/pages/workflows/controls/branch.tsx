// The arms of a branch: names, conditions, and whether the run ends behind them. Their steps are edited in the flow.
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react'
import { toast } from 'sonner'
import { Button } from '../../../ui/base/button.tsx'
import { counted } from '../../../ui/base/counted.ts'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { readRoot, writeRoot } from '../draft/condition-model.ts'
import type { DraftStep } from '../draft/draft.ts'
import { issuesAt, useStep } from '../draft/step-context.ts'
import { type Arm, allSteps, armsOf } from '../draft/tree.ts'
import { SwitchControl } from './basic.tsx'
import { GroupRows } from './condition.tsx'

const mostArms = 10
const longestName = 64

export function ArmsControl() {
  const { step, set, readOnly } = useStep()
  const arms = armsOf(step).flatMap(({ key, arm }) => (key === 'default' ? [] : arm))
  const otherwise = armsOf(step).find(({ key }) => key === 'default')?.arm
  const names = [...arms, ...(otherwise ? [otherwise] : [])].map(({ name }) => name)
  const taken = new Set(names)
  const put = (index: number, arm: Arm | undefined) =>
    set({ arms: arms.flatMap((each, place) => (place === index ? (arm ?? []) : each)) })
  const remove = (index: number, arm: Arm) => {
    put(index, undefined)
    toast(`“${arm.name}” removed with ${counted(allSteps(arm.steps).length, 'step')}`, {
      action: {
        label: 'Undo',
        onClick: () => set(({ arms: left }) => ({ arms: (left as Arm[]).toSpliced(index, 0, withoutIds(arm)) })),
      },
    })
  }
  const swap = (index: number, by: 1 | -1) => {
    const next = [...arms]
    next.splice(index + by, 0, ...next.splice(index, 1))
    set({ arms: next })
  }
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">The first arm whose condition holds is taken, else the default.</p>
      {arms.map((arm, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an arm is its place
        <fieldset key={index} className="space-y-3 rounded-surface border p-3">
          <legend className="sr-only">{`Arm ${index + 1}: ${arm.name}`}</legend>
          <div className="flex items-end gap-1">
            <div className="min-w-0 flex-1">
              <NameField
                label={`Arm ${index + 1}`}
                arm={arm}
                others={names.toSpliced(index, 1)}
                onArm={(next) => put(index, next)}
              />
            </div>
            {!readOnly && (
              <>
                <Button
                  variant="ghost"
                  size="icon"
                  hint="Ask it earlier"
                  disabled={index === 0}
                  onClick={() => swap(index, -1)}
                >
                  <ArrowUp />
                </Button>
                <Button
                  variant="ghost"
                  size="icon"
                  hint="Ask it later"
                  disabled={index === arms.length - 1}
                  onClick={() => swap(index, 1)}
                >
                  <ArrowDown />
                </Button>
                <Button
                  variant="ghost"
                  size="icon"
                  hint={arms.length === 1 ? 'A branch has at least one arm' : `Remove ${arm.name} with its steps`}
                  disabled={arms.length === 1}
                  onClick={() => remove(index, arm)}
                >
                  <Trash2 />
                </Button>
              </>
            )}
          </div>
          <Condition index={index} arm={arm} onArm={(next) => put(index, next)} />
          <End path={`arms.${index}.end`} arm={arm} onArm={(next) => put(index, next)} />
        </fieldset>
      ))}
      {!readOnly && (
        <Button
          size="sm"
          icon={<Plus />}
          disabled={arms.length >= mostArms}
          {...(arms.length >= mostArms ? { hint: `A branch has up to ${mostArms} arms` } : {})}
          onClick={() => set({ arms: [...arms, { name: freeName(taken), steps: [] }] })}
        >
          Add an arm
        </Button>
      )}
      {otherwise ? (
        <fieldset className="space-y-3 rounded-surface border border-dashed border-line-strong p-3">
          <legend className="sr-only">Default</legend>
          <NameField
            label="Default"
            arm={otherwise}
            others={names.slice(0, arms.length)}
            onArm={(next) => set({ default: next })}
          />
          <End path="default.end" arm={otherwise} onArm={(next) => set({ default: next })} />
        </fieldset>
      ) : (
        !readOnly && (
          <Button size="sm" icon={<Plus />} onClick={() => set({ default: { name: freeName(taken), steps: [] } })}>
            Add a default
          </Button>
        )
      )}
    </div>
  )
}

/** The server may have deleted its steps by then, so their ids are invalid. Their stepIds stay. */
function withoutIds(arm: Arm): Arm {
  const bare = ({ _id, ...step }: DraftStep): DraftStep => {
    const { arms, default: otherwise } = step.controlValues as { arms?: Arm[]; default?: Arm }
    return {
      ...step,
      controlValues: {
        ...step.controlValues,
        ...(arms ? { arms: arms.map(withoutIds) } : {}),
        ...(otherwise ? { default: withoutIds(otherwise) } : {}),
      },
    }
  }
  return { ...arm, steps: arm.steps.map(bare) }
}

interface ArmFieldProps {
  arm: Arm
  onArm: (arm: Arm) => void
}

/** @param others the names of the other arms and the default */
function NameField({ label, arm, others, onArm }: ArmFieldProps & { label: string; others: string[] }) {
  const { readOnly } = useStep()
  const problem =
    arm.name.trim() === '' ? 'It needs a name' : others.includes(arm.name) ? 'Another arm has this name' : ''
  return (
    <FieldFrame label={label} errors={problem === '' ? [] : [problem]}>
      {(control) => (
        <Input
          {...control}
          dir="auto"
          maxLength={longestName}
          disabled={readOnly}
          value={arm.name}
          onValue={(name) => onArm({ ...arm, name })}
        />
      )}
    </FieldFrame>
  )
}

function Condition({ index, arm, onArm }: ArmFieldProps & { index: number }) {
  const { issues } = useStep()
  return (
    <GroupRows
      group={readRoot(arm.condition)}
      path=""
      depth={0}
      issues={issuesAt(issues, `arms.${index}.condition`)}
      holdsAt={() => undefined}
      onChange={(group) => {
        const { condition: _, ...rest } = arm
        const condition = writeRoot(group)
        onArm(condition === undefined ? rest : { ...rest, condition })
      }}
    />
  )
}

const End = ({ path, arm, onArm }: ArmFieldProps & { path: string }) => (
  <SwitchControl
    path={path}
    label="End the run behind it"
    hint="Otherwise the run goes on with the step after the branch."
    value={arm.end}
    onValue={(end) => onArm({ ...arm, end })}
  />
)

function freeName(taken: ReadonlySet<string>): string {
  for (let number = taken.size + 1; ; number += 1) if (!taken.has(`Arm ${number}`)) return `Arm ${number}`
}
