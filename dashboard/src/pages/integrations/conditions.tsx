// The conditions of an integration: groups of comparisons with the tenant of a trigger. Only email and SMS use them.
import { Plus, Trash2 } from 'lucide-react'
import type { Conditions } from '../../api/integrations.ts'
import { Button } from '../../ui/base/button.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'

type Group = Conditions[number]
type Child = Group['children'][number]
type Operator = NonNullable<Child['operator']>

const operators: Array<{ value: Operator; label: string }> = [
  { value: 'EQUAL', label: 'is' },
  { value: 'NOT_EQUAL', label: 'is not' },
  { value: 'IN', label: 'is one of' },
  { value: 'NOT_IN', label: 'is none of' },
  { value: 'LIKE', label: 'contains' },
  { value: 'NOT_LIKE', label: 'does not contain' },
  { value: 'LARGER', label: 'is more than' },
  { value: 'LARGER_EQUAL', label: 'is at least' },
  { value: 'SMALLER', label: 'is less than' },
  { value: 'SMALLER_EQUAL', label: 'is at most' },
]

const first: Child = { on: 'tenant', field: 'identifier', operator: 'EQUAL', value: '' }
const newGroup: Group = { isNegated: false, type: 'GROUP', value: 'AND', children: [first] }

interface ConditionsEditorProps {
  value: Conditions
  onValue: (value: Conditions) => void
  disabled?: boolean
}

export function ConditionsEditor({ value, onValue, disabled = false }: ConditionsEditorProps) {
  const replace = (at: number, group: Group | undefined) =>
    onValue(value.flatMap((one, index) => (index === at ? (group ?? []) : one)))
  if (value.length === 0)
    return (
      <div className="flex flex-wrap items-center justify-between gap-3 rounded-surface border border-dashed px-3 py-2.5">
        <p className="text-sm text-muted">For every tenant.</p>
        <Button size="sm" icon={<Plus />} disabled={disabled} onClick={() => onValue([newGroup])}>
          Only for some tenants
        </Button>
      </div>
    )
  return (
    <div className="space-y-2">
      {value.map((group, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a group has no id
        <div key={at} className="space-y-2 rounded-surface border bg-raised p-3">
          <div className="flex items-center justify-between gap-2">
            <span className="text-xs text-muted">
              {group.isNegated ? 'Not for tenants where' : 'For tenants where'}
            </span>
            {group.children.length > 1 && (
              <Segments
                label="How to combine the comparisons"
                value={group.value}
                onValue={(join) => !disabled && replace(at, { ...group, value: join })}
                options={[
                  { value: 'AND', label: 'All match' },
                  { value: 'OR', label: 'Any matches' },
                ]}
              />
            )}
          </div>
          {group.children.map((child, place) => (
            <Comparison
              // biome-ignore lint/suspicious/noArrayIndexKey: a comparison has no id
              key={place}
              child={child}
              disabled={disabled}
              onValue={(one) =>
                replace(at, { ...group, children: group.children.map((each, index) => (index === place ? one : each)) })
              }
              onRemove={() => {
                const children = group.children.filter((_, index) => index !== place)
                replace(at, children.length === 0 ? undefined : { ...group, children })
              }}
            />
          ))}
          <Button
            variant="ghost"
            size="sm"
            icon={<Plus />}
            disabled={disabled}
            onClick={() => replace(at, { ...group, children: [...group.children, first] })}
          >
            Add a comparison
          </Button>
        </div>
      ))}
    </div>
  )
}

interface ComparisonProps {
  child: Child
  onValue: (child: Child) => void
  onRemove: () => void
  disabled: boolean
}

function Comparison({ child, onValue, onRemove, disabled }: ComparisonProps) {
  const known = operators.some(({ value }) => value === child.operator)
  const options =
    known || !child.operator ? operators : [...operators, { value: child.operator, label: child.operator }]
  return (
    <div className="grid grid-cols-[1fr_auto] gap-2 sm:grid-cols-[1fr_150px_1fr_auto]">
      <Input
        aria-label="Field of the tenant"
        placeholder="identifier, name, data.plan"
        value={child.field ?? ''}
        onValue={(field) => onValue({ ...child, field })}
        disabled={disabled}
        className="font-mono text-code"
      />
      <Select
        aria-label="Comparison"
        value={child.operator ?? 'EQUAL'}
        onValue={(operator) => onValue({ ...child, operator })}
        options={options}
        disabled={disabled}
        className="max-sm:col-start-1"
      />
      <Input
        aria-label="Value"
        placeholder={child.operator === 'IN' || child.operator === 'NOT_IN' ? 'acme, globex' : 'acme'}
        value={typeof child.value === 'string' ? child.value : child.value == null ? '' : JSON.stringify(child.value)}
        onValue={(value) => onValue({ ...child, value })}
        disabled={disabled}
        className="max-sm:col-start-1"
      />
      <Button
        variant="ghost"
        size="icon"
        hint="Remove the comparison"
        disabled={disabled}
        onClick={onRemove}
        className="max-sm:col-start-2 max-sm:row-start-1"
      >
        <Trash2 />
      </Button>
    </div>
  )
}
