// The condition of a step: groups of rows with field, operator and value; or the JSON Logic itself.
import { Braces, CircleCheck, CircleHelp, CircleX, Plus, SquareStack, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Button } from '../../../ui/base/button.tsx'
import { cn } from '../../../ui/base/class-names.ts'
import { Combobox } from '../../../ui/form/combobox.tsx'
import { useTouched } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { Segments } from '../../../ui/frame/tabs.tsx'
import {
  type Condition,
  type Group,
  inWords,
  newRule,
  operators,
  type Rule,
  readRoot,
  readValue,
  shapeOf,
  textOfValue,
  valueFor,
  writeRoot,
} from '../draft/condition-model.ts'
import type { SchemaField } from '../draft/schema-fields.ts'
import { issuesAt, objectOf, useStep } from '../draft/step-context.ts'
import type { Issue } from '../draft/steps.ts'
import { JsonField } from './basic.tsx'
import { Fold } from './fold.tsx'

export function ConditionControl({ field }: { field: SchemaField }) {
  const { values, set, issues, check, readOnly } = useStep()
  const [view, setView] = useState<'rows' | 'json'>('rows')
  const stored = values[field.name]
  const root = useMemo(() => readRoot(stored), [stored])
  const own = issuesAt(issues, field.name)
  const write = (group: Group) => set({ [field.name]: writeRoot(group) })
  const isGroup = Object.keys(objectOf(stored)).some((operator) => operator === 'and' || operator === 'or')
  // A single row is the rule itself for the server.
  const holdsAt = (path: string) => check?.rows[isGroup ? path : '']
  return (
    <Fold title="Condition" count={own.length} aside={inWords(root)}>
      <div className="space-y-3">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <p className="text-sm text-muted">
            {root.members.length === 0
              ? 'This step always runs.'
              : 'This step runs only if this is met; otherwise it is skipped.'}
          </p>
          {root.members.length > 0 && check && (
            <span className="mr-auto">
              <Holds holds={check.holds} yes="Runs with this payload" no="Skipped with this payload" />
            </span>
          )}
          <Segments
            label="Condition as"
            value={view}
            onValue={setView}
            options={[
              { value: 'rows', label: 'Rows' },
              { value: 'json', label: 'JSON' },
            ]}
          />
        </div>
        {view === 'json' ? (
          <JsonField
            label="JSON Logic"
            hint="You can use every operator here, also those that rows cannot show."
            value={stored}
            readOnly={readOnly}
            errors={own.map(({ message }) => message)}
            onValue={(skip) => set({ [field.name]: skip })}
          />
        ) : (
          <GroupRows group={root} onChange={write} path="" issues={own} holdsAt={holdsAt} depth={0} />
        )}
      </div>
    </Fold>
  )
}

interface GroupProps {
  group: Group
  onChange: (group: Group) => void
  onRemove?: () => void
  /** The path in the server's issues: `0.1`. */
  path: string
  issues: readonly Issue[]
  /** Whether the row at a path holds for the example; null if it cannot be told, undefined if it was not asked. */
  holdsAt: (path: string) => boolean | null | undefined
  depth: number
}

/** A word and an icon, not the colour alone. */
function Holds({ holds, yes, no }: { holds: boolean | null | undefined; yes: string; no: string }) {
  if (holds === undefined) return null
  const Icon = holds === null ? CircleHelp : holds ? CircleCheck : CircleX
  return (
    <span className={cn('inline-flex items-center gap-1 text-xs', holds ? 'text-good' : 'text-muted')}>
      <Icon className="size-3.5 shrink-0" aria-hidden />
      {holds === null ? 'Cannot be evaluated' : holds ? yes : no}
    </span>
  )
}

export function GroupRows({ group, onChange, onRemove, path, issues, holdsAt, depth }: GroupProps) {
  const { readOnly } = useStep()
  const { members } = group
  const replace = (index: number, next: Condition | undefined) =>
    onChange({ ...group, members: members.flatMap((member, place) => (place === index ? (next ?? []) : member)) })
  const own = issues.filter(({ variableName }) => (variableName ?? '') === path)
  return (
    <div className={cn('space-y-2', depth > 0 && 'rounded-surface border border-dashed border-line-strong p-2')}>
      {members.length > 1 && (
        <Segments
          label="How to combine the conditions"
          value={group.join}
          onValue={(join) => !readOnly && onChange({ ...group, join })}
          options={[
            { value: 'and', label: 'All match' },
            { value: 'or', label: 'Any matches' },
          ]}
        />
      )}
      {members.map((member, index) => {
        const at = path === '' ? `${index}` : `${path}.${index}`
        const common = { path: at, issues, holdsAt, onRemove: () => replace(index, undefined) }
        const change = (next: Condition) => replace(index, next)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id
          <div key={index}>
            {member.kind === 'group' ? (
              <GroupRows {...common} group={member} onChange={change} depth={depth + 1} />
            ) : member.kind === 'rule' ? (
              <RuleRow {...common} rule={member} onChange={change} />
            ) : (
              <div className="flex items-start gap-2">
                <Braces className="mt-2 size-4 shrink-0 text-muted" aria-hidden />
                <div className="min-w-0 flex-1">
                  <JsonField
                    label="As JSON Logic"
                    value={member.json}
                    readOnly={readOnly}
                    onValue={(json) => change({ kind: 'raw', json: json ?? {} })}
                  />
                </div>
                <span className="pt-2">
                  <Holds holds={holdsAt(at)} yes="Holds" no="Does not hold" />
                </span>
                <RemoveButton onRemove={common.onRemove} />
              </div>
            )}
          </div>
        )
      })}
      {(depth > 0 || members.length > 0 || own.length > 0) &&
        own.map(({ message }) => (
          <p key={message} className="text-xs text-bad">
            {message}
          </p>
        ))}
      {!readOnly && (
        <div className="flex flex-wrap gap-2">
          <Button size="sm" icon={<Plus />} onClick={() => onChange({ ...group, members: [...members, newRule()] })}>
            Add a condition
          </Button>
          {members.length > 0 && depth < 3 && (
            <Button
              size="sm"
              variant="ghost"
              icon={<SquareStack />}
              onClick={() =>
                onChange({
                  ...group,
                  members: [
                    ...members,
                    { kind: 'group', join: group.join === 'and' ? 'or' : 'and', members: [newRule()] },
                  ],
                })
              }
            >
              Add a group
            </Button>
          )}
          {onRemove && (
            <Button size="sm" variant="ghost" className="ml-auto" onClick={onRemove}>
              Remove the group
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

function RemoveButton({ onRemove }: { onRemove: () => void }) {
  const { readOnly } = useStep()
  if (readOnly) return null
  return (
    <Button variant="ghost" size="icon" hint="Remove this condition" onClick={onRemove}>
      <X />
    </Button>
  )
}

interface RuleProps {
  rule: Rule
  onChange: (rule: Rule) => void
  onRemove: () => void
  path: string
  issues: readonly Issue[]
  holdsAt: GroupProps['holdsAt']
}

function RuleRow({ rule, onChange, onRemove, path, issues, holdsAt }: RuleProps) {
  const { variables, readOnly } = useStep()
  const own = issues.filter(({ variableName }) => (variableName ?? '') === path)
  const { isTouched, onBlur } = useTouched(rule.field === '')
  const isWrong = own.length > 0 && isTouched
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only learns that a control inside was left
    <div className="rounded-control border bg-raised p-2" onBlur={onBlur}>
      <div className="flex flex-wrap items-start gap-2">
        <Combobox
          aria-label="Field"
          aria-invalid={isWrong || undefined}
          className="min-w-40 flex-[2] font-mono text-code"
          placeholder="payload.plan"
          allowNew
          disabled={readOnly}
          value={rule.field}
          onValue={(field) => onChange({ ...rule, field })}
          options={variables
            .filter(({ path: value }) => !value.startsWith('t.'))
            .map(({ path: value, type }) => ({ value, label: value, hint: type }))}
        />
        <Select
          aria-label="Operator"
          className="w-44"
          disabled={readOnly}
          value={rule.operator}
          onValue={(operator) => onChange({ ...rule, operator, value: valueFor(operator, rule.value) })}
          options={operators}
        />
        <ValueInput rule={rule} onChange={onChange} isWrong={isWrong} />
        <RemoveButton onRemove={onRemove} />
      </div>
      {own.length === 0 && rule.field !== '' && (
        <p className="mt-1">
          <Holds holds={holdsAt(path)} yes="Holds" no="Does not hold" />
        </p>
      )}
      {own.map(({ message }) => (
        <p key={message} className={cn('mt-1 text-xs', isWrong ? 'text-bad' : 'text-muted')}>
          {message}
        </p>
      ))}
    </div>
  )
}

const agoUnits = ['minutes', 'hours', 'days', 'weeks', 'months', 'years']

function ValueInput({ rule, onChange, isWrong }: { rule: Rule; onChange: (rule: Rule) => void; isWrong: boolean }) {
  const { readOnly } = useStep()
  const shape = shapeOf(rule.operator)
  const change = (value: unknown) => onChange({ ...rule, value })
  const common = { disabled: readOnly, 'aria-invalid': isWrong || undefined }
  switch (shape) {
    case 'none':
      return null
    case 'range': {
      const [low, high] = Array.isArray(rule.value) ? rule.value : ['', '']
      return (
        <span className="flex min-w-44 flex-1 items-center gap-2 text-sm text-muted">
          <Input
            {...common}
            aria-label="From"
            value={textOfValue(low)}
            onValue={(text) => change([readValue(text), high])}
          />
          and
          <Input
            {...common}
            aria-label="To"
            value={textOfValue(high)}
            onValue={(text) => change([low, readValue(text)])}
          />
        </span>
      )
    }
    case 'ago': {
      const { amount, unit } = objectOf(rule.value)
      return (
        <span className="flex min-w-44 flex-1 gap-2">
          <Input
            {...common}
            type="number"
            min={1}
            aria-label="Amount"
            className="w-20"
            value={typeof amount === 'number' ? amount : ''}
            onValue={(text) => change({ amount: Number(text), unit })}
          />
          <Select
            aria-label="Unit"
            disabled={readOnly}
            value={typeof unit === 'string' ? unit : undefined}
            onValue={(next) => change({ amount, unit: next })}
            options={agoUnits.map((value) => ({ value, label: value }))}
          />
        </span>
      )
    }
    case 'list':
      return <ListInput {...common} value={Array.isArray(rule.value) ? rule.value : []} onValue={change} />
    case 'text':
      return (
        <Input
          {...common}
          aria-label="Value"
          className="min-w-32 flex-1"
          value={typeof rule.value === 'string' ? rule.value : textOfValue(rule.value)}
          onValue={change}
        />
      )
    case 'value':
      return (
        <Input
          {...common}
          aria-label="Value"
          placeholder="pro, 3, true"
          className="min-w-32 flex-1"
          value={textOfValue(rule.value)}
          onValue={(text) => change(readValue(text))}
        />
      )
  }
}

interface ListInputProps {
  value: unknown[]
  onValue: (value: unknown[]) => void
  disabled: boolean
  'aria-invalid': boolean | undefined
}

/** Keeps the typed text: a trailing comma starts the next value. */
function ListInput({ value, onValue, ...rest }: ListInputProps) {
  const written = value.map(textOfValue).join(', ')
  const [typed, setTyped] = useState(written)
  const read = (text: string) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(readValue)
  const shown = JSON.stringify(read(typed)) === JSON.stringify(value) ? typed : written
  return (
    <Input
      {...rest}
      aria-label="Values"
      placeholder="pro, team, enterprise"
      className="min-w-32 flex-1"
      value={shown}
      onValue={(text) => {
        setTyped(text)
        onValue(read(text))
      }}
    />
  )
}
