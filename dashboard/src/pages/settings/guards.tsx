// How many messages one person gets in the environment, and what becomes of them while their schedule is closed.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus, X } from 'lucide-react'
import { useMemo } from 'react'
import { environments } from '../../api/environments.ts'
import { type Cap, type Guards, guards } from '../../api/guards.ts'
import { runs } from '../../api/runs.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { freeIdentifier } from '../../ui/base/identifier.ts'
import { Loaded } from '../../ui/base/states.tsx'
import { timeNow } from '../../ui/base/time.tsx'
import { channels, lookOf } from '../../ui/domain/step-kind.tsx'
import { MultiCombobox } from '../../ui/form/combobox.tsx'
import { Field, FieldFrame, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'

const mostCaps = 20
const units = ['minutes', 'hours', 'days', 'weeks'] as const
const quietHours = [
  { value: 'skip', label: 'Skip it' },
  { value: 'hold', label: 'Hold it until the schedule opens' },
] as const

export function GuardSettings({ canChange }: { canChange: boolean }) {
  const query = useQuery(guards.now())
  return <Loaded query={query}>{(data) => <GuardForm stored={data} canChange={canChange} />}</Loaded>
}

function GuardForm({ stored, canChange }: { stored: Guards; canChange: boolean }) {
  const form = useForm({
    initial: stored,
    submit: guards.put,
    refresh: ['guards'],
    done: 'Guards saved',
  })
  const { caps } = form.values
  const put = (index: number, cap: Cap | undefined) =>
    form.set({ caps: caps.flatMap((each, place) => (place === index ? (cap ?? []) : each)) })
  const add = () => {
    const id = freeIdentifier('cap', new Set(caps.map((cap) => cap.id)))
    form.set({ caps: [...caps, { id, limit: 3, window: { amount: 1, unit: 'days' } }] })
  }
  return (
    <Form form={form} className="max-w-160">
      <Held />
      <Field
        form={form}
        name="quietHours"
        label="Outside a subscriber’s schedule"
        hint="What happens to a message then. In-app and critical messages are sent anyway; a workflow can have its own setting."
      >
        {({ name: _, ...control }) => (
          <Select {...control} className="w-80" disabled={!canChange} options={quietHours} />
        )}
      </Field>
      <fieldset className="space-y-3">
        <legend className="mb-1.5 text-sm font-medium">Caps</legend>
        {caps.length === 0 && (
          <p className="text-sm text-muted">
            None yet. A cap limits how many messages one person gets in a period, over all workflows.
          </p>
        )}
        {caps.map((cap, index) => (
          <CapFields
            // biome-ignore lint/suspicious/noArrayIndexKey: a cap is its place
            key={index}
            cap={cap}
            errors={errorsOf(form.errors, index)}
            canChange={canChange}
            onCap={(next) => put(index, next)}
          />
        ))}
        {canChange && (
          <Button
            size="sm"
            icon={<Plus />}
            disabled={caps.length >= mostCaps}
            {...(caps.length >= mostCaps ? { hint: `Up to ${mostCaps} caps` } : {})}
            onClick={add}
          >
            Add a cap
          </Button>
        )}
      </fieldset>
      <FormError form={form} />
      {canChange && (
        <SubmitButton form={form} disabled={!form.isDirty}>
          Save guards
        </SubmitButton>
      )}
    </Form>
  )
}

/** The server names a cap by its place, in the path or in the sentence. */
function errorsOf(errors: Record<string, string[]>, index: number): string[] {
  const own = `caps.${index}.`
  const found = Object.entries(errors).flatMap(([field, messages]) =>
    messages.filter((message) => field.startsWith(own) || message.startsWith(own)),
  )
  return [...new Set(found)].map((message) => {
    const words = message.replace(own, '').replace(/\.$/, '')
    return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
  })
}

const dayMs = 86_400_000
/** The server counts no further. */
const mostCounted = 100

/** Runs count whenever they began: what matters is when their messages were held. */
const ever = new Date(0).toISOString()

/** How many runs the guards concerned in the last day, with links to them. */
function Held() {
  const stepsAfter = useMemo(() => new Date(timeNow() - dayMs).toISOString(), [])
  const counts = {
    held: useQuery(runs.count(ever, { held: true, stepsAfter })).data?.count,
    skipped: useQuery(runs.count(ever, { reasons: ['outside_schedule'], stepsAfter })).data?.count,
    capped: useQuery(runs.count(ever, { reasons: ['capped'], stepsAfter })).data?.count,
  }
  if (Object.values(counts).includes(undefined)) return null
  return (
    <section aria-label="In the last day">
      <h3 className="mb-1.5 text-sm font-medium">In the last day</h3>
      <ul className="space-y-0.5 text-sm text-muted">
        <li>
          <RunCount count={counts.held} search={{ held: 'true', stepsAfter }} /> held until a schedule opened
        </li>
        <li>
          <RunCount count={counts.skipped} search={{ reasons: 'outside_schedule', stepsAfter }} /> with a message
          skipped outside a schedule
        </li>
        <li>
          <RunCount count={counts.capped} search={{ reasons: 'capped', stepsAfter }} /> with a message held back by a
          cap
        </li>
      </ul>
    </section>
  )
}

function RunCount({ count = 0, search }: { count: number | undefined; search: Record<string, string> }) {
  const words = count >= mostCounted ? `${mostCounted} runs or more` : count === 1 ? '1 run' : `${count} runs`
  if (count === 0) return words
  return (
    <Link to={'/activity' as '/'} search={search as never} className="text-ink underline underline-offset-2">
      {words}
    </Link>
  )
}

interface CapFieldsProps {
  cap: Cap
  errors: readonly string[]
  canChange: boolean
  onCap: (cap: Cap | undefined) => void
}

function CapFields({ cap, errors, canChange, onCap }: CapFieldsProps) {
  const environment = useEnvironment()
  const tags = useQuery(environments.tags(environment._id))
  const { window } = cap
  const known = [...new Set([...(tags.data ?? []).map(({ name }) => name), ...(cap.tags ?? [])])]
  return (
    <fieldset className="space-y-3 rounded-surface border p-3">
      <legend className="sr-only">{`Cap ${cap.id}`}</legend>
      <div className="flex items-end gap-2">
        <FieldFrame label="Id" className="min-w-0 flex-1">
          {(control) => (
            <Input
              {...control}
              maxLength={64}
              spellCheck={false}
              className="font-mono text-code"
              disabled={!canChange}
              value={cap.id}
              onValue={(id) => onCap({ ...cap, id })}
            />
          )}
        </FieldFrame>
        {canChange && (
          <Button variant="ghost" size="icon" hint={`Remove the cap ${cap.id}`} onClick={() => onCap(undefined)}>
            <X />
          </Button>
        )}
      </div>
      <div className="flex flex-wrap items-end gap-x-2 gap-y-3">
        <FieldFrame label="At most">
          {(control) => (
            <Input
              {...control}
              type="number"
              min={1}
              max={1000}
              className="w-20"
              disabled={!canChange}
              value={cap.limit || ''}
              onValue={(text) => onCap({ ...cap, limit: Number(text) })}
            />
          )}
        </FieldFrame>
        <span className="pb-1.5 text-sm text-muted">in</span>
        <FieldFrame label="Window">
          {(control) => (
            <div className="flex gap-2">
              <Input
                {...control}
                type="number"
                min={1}
                className="w-20"
                disabled={!canChange}
                value={window.amount || ''}
                onValue={(text) => onCap({ ...cap, window: { ...window, amount: Number(text) } })}
              />
              <Select
                aria-label="Unit of the window"
                className="w-28"
                disabled={!canChange}
                value={window.unit}
                onValue={(unit) => onCap({ ...cap, window: { ...window, unit } })}
                options={[...new Set([...units, window.unit])].map((unit) => ({ value: unit, label: unit }))}
              />
            </div>
          )}
        </FieldFrame>
      </div>
      <div className="grid gap-3 sm:grid-cols-2">
        <FieldFrame label="Channels">
          {(control) => (
            <MultiCombobox
              {...control}
              className="w-full"
              placeholder="All but in-app"
              disabled={!canChange}
              value={cap.channels ?? []}
              onValue={(next) => onCap(withList(cap, 'channels', next as Cap['channels']))}
              options={channels.map((channel) => ({ value: channel, label: lookOf(channel).label }))}
            />
          )}
        </FieldFrame>
        <FieldFrame label="Tags of workflows">
          {(control) => (
            <MultiCombobox
              {...control}
              className="w-full"
              allowNew
              placeholder="All workflows"
              disabled={!canChange}
              value={cap.tags ?? []}
              onValue={(next) => onCap(withList(cap, 'tags', next))}
              options={known.map((name) => ({ value: name, label: name }))}
            />
          )}
        </FieldFrame>
      </div>
      {errors.map((message) => (
        <p key={message} className="text-xs text-bad">
          {message}
        </p>
      ))}
    </fieldset>
  )
}

/** An empty list means all, as one that is absent. */
function withList<Name extends 'channels' | 'tags'>(cap: Cap, name: Name, list: Cap[Name]): Cap {
  const { [name]: _, ...rest } = cap
  return (list && list.length > 0 ? { ...rest, [name]: list } : rest) as Cap
}
