// What concerns the runs of a workflow as a whole: the goals that end them, the key that cancels them, quiet hours and caps.
import { Flag, Plus, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { Workflow } from '../../../api/workflows.ts'
import { Button } from '../../../ui/base/button.tsx'
import { entriesIn } from '../../../ui/domain/awaited.ts'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { Segments } from '../../../ui/frame/tabs.tsx'
import { EntriesControl } from '../controls/awaited.tsx'
import { TextControl } from '../controls/basic.tsx'
import { GroupRows } from '../controls/condition.tsx'
import { readRoot, writeRoot } from '../draft/condition-model.ts'
import type { Draft, Goal, Journey } from '../draft/draft.ts'
import { same } from '../draft/same.ts'
import { objectOf, StepContext, type StepEditing, useStep } from '../draft/step-context.ts'
import { sendsMessages } from '../draft/steps.ts'
import { allSteps } from '../draft/tree.ts'
import { useVariables } from '../draft/use-variables.ts'

const mostGoals = 5
const quietHours = [
  { value: 'environment', label: 'As the guards of the environment say' },
  { value: 'skip', label: 'Skip it' },
  { value: 'hold', label: 'Hold it until the schedule opens' },
] as const

interface JourneyProps {
  workflow: Workflow
  draft: Draft
  readOnly: boolean
  onChange: (patch: Partial<Draft>) => void
}

export function JourneySettings({ workflow, draft, readOnly, onChange }: JourneyProps) {
  const { variables, variablesInLists } = useVariables(workflow, workflow.steps.at(-1)?.variables)
  const journey = draft.journey ?? {}
  const set = (patch: Partial<Journey>) => {
    const next = Object.fromEntries(Object.entries({ ...journey, ...patch }).filter(([, value]) => value !== undefined))
    onChange({ journey: Object.keys(next).length > 0 ? next : null })
  }
  const editing: StepEditing = {
    ...{ step: wholeWorkflow, values: {}, set: () => undefined },
    ...{ variables, variablesInLists, issues: [], check: undefined, digests: [], readOnly },
    sends: allSteps(draft.steps).filter(({ type }) => sendsMessages.has(type)),
  }
  return (
    <StepContext value={editing}>
      <fieldset className="@container rounded-surface border">
        <legend className="ml-3 px-1 text-sm font-medium">Runs</legend>
        <div className="space-y-4 p-4 pt-2">
          <Goals stored={journey.goals} onGoals={(goals) => set({ goals: goals.length > 0 ? goals : undefined })} />
          <TextControl
            path="journey.cancellationKey"
            label="Cancellation key"
            optional
            placeholder="{{payload.orderId}}"
            hint="One request can cancel all runs that have this key. A trigger can send its own."
            value={journey.cancellationKey}
            onValue={(key) => set({ cancellationKey: key || undefined })}
          />
          <FieldFrame label="Outside a subscriber’s schedule" hint="What happens to a message then.">
            {(control) => (
              <Select
                {...control}
                className="w-full max-w-80"
                disabled={readOnly}
                value={journey.quietHours ?? 'environment'}
                onValue={(next) => set({ quietHours: next === 'environment' ? undefined : next })}
                options={quietHours}
              />
            )}
          </FieldFrame>
          <FieldFrame
            label="Exempt from caps"
            hint="Its messages neither count in the caps of the environment nor are held back by them."
            inline
          >
            {(control) => (
              <Switch
                {...control}
                disabled={readOnly}
                value={journey.exemptFromCaps === true}
                onValue={(isExempt) => set({ exemptFromCaps: isExempt || undefined })}
              />
            )}
          </FieldFrame>
        </div>
      </fieldset>
    </StepContext>
  )
}

/** The controls of a goal are those of a step. */
const wholeWorkflow: StepEditing['step'] = {
  ...{ stepId: '', name: 'Workflow', type: 'journey', controlValues: {}, active: true },
  ...{ shouldStopOnFail: false, onUnknown: undefined, replyCallback: null },
}

interface GoalsProps {
  stored: readonly Goal[] | undefined
  onGoals: (goals: Goal[]) => void
}

/** The server takes whole goals only, so they are handed on once all of them are. */
function Goals({ stored = none, onGoals }: GoalsProps) {
  const { readOnly } = useStep()
  const [goals, setGoals] = useState(stored)
  const handedOn = useRef(stored)
  // Somebody else has changed them.
  useEffect(() => {
    if (same(stored, handedOn.current)) return
    handedOn.current = stored
    setGoals(stored)
  }, [stored])
  const change = (next: readonly Goal[]) => {
    setGoals(next)
    if (next.some((goal, index) => problemOf(goal, next.slice(0, index)) !== undefined)) return
    handedOn.current = [...next]
    onGoals([...next])
  }
  const put = (index: number, goal: Goal | undefined) =>
    change(goals.flatMap((each, place) => (place === index ? (goal ?? []) : [each])))
  return (
    <fieldset className="space-y-3">
      <legend className="mb-1.5 text-sm font-medium">Goals</legend>
      <p className="text-sm text-muted">The first goal that is met ends the run, at any step.</p>
      {goals.map((goal, index) => (
        <GoalFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a goal is its place
          key={index}
          index={index}
          goal={goal}
          problem={problemOf(goal, goals.slice(0, index))}
          onGoal={(next) => put(index, next)}
        />
      ))}
      {!readOnly && (
        <Button
          size="sm"
          icon={<Plus />}
          disabled={goals.length >= mostGoals}
          {...(goals.length >= mostGoals ? { hint: `Up to ${mostGoals} goals` } : {})}
          onClick={() => change([...goals, { name: freeName(goals), for: [{}] }])}
        >
          Add a goal
        </Button>
      )}
    </fieldset>
  )
}

const none: readonly Goal[] = []

function freeName(goals: readonly Goal[]): string {
  for (let number = goals.length + 1; ; number += 1)
    if (!goals.some(({ name }) => name === `Goal ${number}`)) return `Goal ${number}`
}

/** Why it cannot be saved yet. */
function problemOf({ name, for: entries, condition }: Goal, before: readonly Goal[]): string | undefined {
  if (name.trim() === '') return 'Give it a name'
  if (before.some((goal) => goal.name === name)) return 'Another goal has this name'
  if (entries === undefined) return condition === undefined ? 'Add a condition' : undefined
  const isWhole = entriesIn(entries).every(({ event, message, happens = [] }) =>
    message === undefined ? eventName.test(event ?? '') : message !== '' && happens.length > 0,
  )
  return isWhole ? undefined : 'Say which event or message meets it'
}

const eventName = /^(?!message\.)[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/

interface GoalProps {
  index: number
  goal: Goal
  problem: string | undefined
  onGoal: (goal: Goal | undefined) => void
}

function GoalFields({ index, goal, problem, onGoal }: GoalProps) {
  const { readOnly } = useStep()
  const kind = goal.for === undefined ? 'condition' : 'event'
  return (
    <fieldset className="space-y-3 rounded-surface border p-3">
      <legend className="sr-only">{`Goal ${index + 1}`}</legend>
      <div className="flex items-center gap-2">
        <Flag className="size-4 shrink-0 text-muted" aria-hidden />
        <Input
          aria-label={`Name of goal ${index + 1}`}
          dir="auto"
          maxLength={64}
          disabled={readOnly}
          value={goal.name}
          onValue={(name) => onGoal({ ...goal, name })}
        />
        {!readOnly && (
          <Button variant="ghost" size="icon" hint={`Remove goal ${index + 1}`} onClick={() => onGoal(undefined)}>
            <X />
          </Button>
        )}
      </div>
      {!readOnly && (
        <Segments
          label={`When goal ${index + 1} is met`}
          value={kind}
          onValue={(next) =>
            next !== kind && onGoal(next === 'event' ? { name: goal.name, for: [{}] } : { name: goal.name })
          }
          options={[
            { value: 'event', label: 'When something happens' },
            { value: 'condition', label: 'Before a step, if' },
          ]}
        />
      )}
      {kind === 'event' ? (
        <EntriesControl
          path={`journey.goals.${index}.for`}
          entries={entriesIn(goal.for)}
          onEntries={(entries) => onGoal({ ...goal, for: entries as Array<Record<string, unknown>> })}
        />
      ) : (
        <GroupRows
          group={readRoot(goal.condition)}
          path=""
          depth={0}
          issues={[]}
          holdsAt={() => undefined}
          onChange={(group) => {
            const { condition: _, ...rest } = goal
            const condition = writeRoot(group)
            onGoal(condition === undefined ? rest : { ...rest, condition: objectOf(condition) })
          }}
        />
      )}
      {problem && <p className="text-xs text-muted">Not saved yet. {problem}.</p>}
    </fieldset>
  )
}
