// The filter bar above the runs: every filter of the API, shown as a chip once it is set.
import { useQuery } from '@tanstack/react-query'
import { ListFilterPlus, X } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useState } from 'react'
import { environments } from '../../api/environments.ts'
import { workflows } from '../../api/workflows.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { absoluteTime } from '../../ui/base/time.tsx'
import { runStates } from '../../ui/domain/outcomes.tsx'
import { reasonLabels } from '../../ui/domain/reasons.ts'
import { StepIcon, stepKinds } from '../../ui/domain/step-kind.tsx'
import { Input, SearchInput } from '../../ui/form/input.tsx'
import { DateRange, FilterBar, FilterChip, TextFilterChip } from '../../ui/list/filters.tsx'
import { type Filters, isFiltered, noFilters } from './run-filter.ts'

interface Props {
  filters: Filters
  onFilters: (patch: Partial<Filters>) => void
}

const statuses = Object.entries(runStates).map(([value, { word }]) => ({ value, label: word }))
const kinds = Object.entries(stepKinds)
  .filter(([value]) => value !== 'trigger')
  .map(([value, { label }]) => ({ value, label, icon: <StepIcon kind={value} /> }))
const reasons = Object.entries(reasonLabels).map(([value, label]) => ({ value, label }))
const severities = ['high', 'medium', 'low', 'none'].map((value) => ({
  value,
  label: value.charAt(0).toUpperCase() + value.slice(1),
}))

/** Rarely used filters: behind a button until they are set. Some take several values, separated by commas. */
const others = [
  { name: 'transactionId', label: 'Transaction', isList: true },
  { name: 'subscriberIds', label: 'Subscriber', isList: true },
  { name: 'emails', label: 'Email', isList: true },
  { name: 'topicKey', label: 'Topic', isList: false },
  { name: 'subscriptionId', label: 'Subscription', isList: false },
  { name: 'contextKeys', label: 'Context', isList: true },
] as const
type Other = (typeof others)[number]

const textOf = (filters: Filters, { name }: Other) => [filters[name]].flat().join(', ')
const listOf = (text: string) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
const patchOf = ({ name, isList }: Other, text: string): Partial<Filters> => ({
  [name]: isList ? listOf(text) : text.trim(),
})

export function RunFilters({ filters, onFilters }: Props) {
  const environment = useEnvironment()
  const [wanted, setWanted] = useState('')
  const found = useQuery(workflows.list({ query: wanted, limit: 50, orderBy: 'lastTriggeredAt' }))
  const tags = useQuery(environments.tags(environment._id))
  const workflowOptions = (found.data?.workflows ?? []).map(({ workflowId, name }) => ({
    value: workflowId,
    label: name,
  }))
  const used = others.filter((other) => textOf(filters, other) !== '')
  return (
    <FilterBar>
      <SearchInput
        value={filters.search}
        onValue={(search) => onFilters({ search })}
        label="Search by subscriber"
        placeholder="Subscriber id or email…"
        className="w-full sm:w-60"
      />
      <div className="-mx-4 flex items-center gap-2 overflow-x-auto px-4 [scrollbar-width:none] sm:mx-0 sm:flex-wrap sm:overflow-visible sm:px-0 [&>*]:shrink-0">
        <DateRange value={filters} onValue={({ after, before }) => onFilters({ after, before })} />
        <FilterChip
          label="Status"
          options={statuses}
          value={filters.status}
          onValue={(status) => onFilters({ status: status as Filters['status'] })}
        />
        <FilterChip
          label="Workflow"
          options={workflowOptions}
          value={filters.workflowIds}
          onValue={(workflowIds) => onFilters({ workflowIds })}
          onSearch={setWanted}
        />
        <FilterChip
          label="Channel"
          options={kinds}
          value={filters.channels}
          onValue={(channels) => onFilters({ channels })}
        />
        <FilterChip
          label="Reason"
          options={reasons}
          value={filters.reasons}
          onValue={(reasons) => onFilters({ reasons })}
        />
        {filters.held && (
          <Button size="sm" icon={<X />} hint="Remove this filter" onClick={() => onFilters({ held: false })}>
            Held until a schedule opened
          </Button>
        )}
        {filters.stepsAfter !== '' && (filters.held || filters.reasons.length > 0) && (
          <Button size="sm" icon={<X />} hint="Remove this filter" onClick={() => onFilters({ stepsAfter: '' })}>
            That happened since {absoluteTime(filters.stepsAfter)}
          </Button>
        )}
        <FilterChip
          label="Severity"
          options={severities}
          value={filters.severity}
          onValue={(severity) => onFilters({ severity: severity as Filters['severity'] })}
        />
        {((tags.data?.length ?? 0) > 0 || filters.tags.length > 0) && (
          <FilterChip
            label="Tag"
            options={(tags.data ?? []).map(({ name }) => ({ value: name, label: name }))}
            value={filters.tags}
            onValue={(tags) => onFilters({ tags })}
          />
        )}
        {filters.templates.length > 0 && (
          <TextFilterChip
            label="Workflow _id"
            mono
            value={filters.templates.join(', ')}
            onValue={(text) => onFilters({ templates: listOf(text) })}
          />
        )}
        {used.map((other) => (
          <TextFilterChip
            key={other.name}
            label={other.label}
            mono
            value={textOf(filters, other)}
            onValue={(text) => onFilters(patchOf(other, text))}
          />
        ))}
        <MoreFilters filters={filters} onFilters={onFilters} />
        {(isFiltered(filters) || filters.after !== '' || filters.before !== '') && (
          <Button variant="ghost" size="sm" onClick={() => onFilters(noFilters)}>
            Clear
          </Button>
        )}
      </div>
    </FilterBar>
  )
}

function MoreFilters({ filters, onFilters }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState<Record<string, string>>({})
  return (
    <Popover.Root
      open={isOpen}
      onOpenChange={(open) => {
        setTyped({})
        setOpen(open)
      }}
    >
      <Popover.Trigger asChild>
        <Button variant="ghost" size="sm" icon={<ListFilterPlus />}>
          More
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label="More filters"
          className="z-50 w-84 max-w-[calc(100vw-16px)] animate-appear rounded-surface border border-line bg-page p-3 shadow-float outline-none"
        >
          <form
            className="space-y-2"
            onSubmit={(event) => {
              event.preventDefault()
              onFilters(
                Object.assign(
                  {},
                  ...others.map((other) => patchOf(other, typed[other.name] ?? textOf(filters, other))),
                ),
              )
              setOpen(false)
            }}
          >
            {others.map((other) => (
              // biome-ignore lint/a11y/noLabelWithoutControl: the field inside is one
              <label key={other.name} className="flex items-center gap-2 text-xs text-muted">
                <span className="w-20 shrink-0">{other.label}</span>
                <Input
                  value={typed[other.name] ?? textOf(filters, other)}
                  onValue={(text) => setTyped({ ...typed, [other.name]: text })}
                  placeholder={other.name === 'contextKeys' ? 'tenant:acme' : undefined}
                  spellCheck={false}
                  className="font-mono text-code"
                />
              </label>
            ))}
            <div className="flex items-center justify-between gap-2 pt-1">
              <span className="text-xs text-muted">Separate several with commas</span>
              <Button type="submit" variant="primary" size="sm">
                Apply
              </Button>
            </div>
          </form>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
