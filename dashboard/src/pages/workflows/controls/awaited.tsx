// What a wait waits for: events that programs post and what becomes of messages, for how long, and how far back it looks.
import { Plus, X } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from '../../../ui/base/button.tsx'
import { type AwaitedEntry, entriesIn, happenings } from '../../../ui/domain/awaited.ts'
import { StepIcon } from '../../../ui/domain/step-kind.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { Checkbox } from '../../../ui/form/switch.tsx'
import { Segments } from '../../../ui/frame/tabs.tsx'
import { readRoot, writeRoot } from '../draft/condition-model.ts'
import { isBlank, issuesAt, objectOf, StepContext, useStep } from '../draft/step-context.ts'
import { TextControl } from './basic.tsx'
import { GroupRows } from './condition.tsx'
import { Fold } from './fold.tsx'
import { Cron, Duration, DynamicKey } from './wait.tsx'

const mostEntries = 10

export function AwaitedControls() {
  const { values, set } = useStep()
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">The first of these ends the wait, or the time is over.</p>
      <EntriesControl path="for" entries={entriesIn(values.for)} onEntries={(entries) => set({ for: entries })} />
      <Timeout />
      <LookBack />
    </div>
  )
}

interface EntriesProps {
  /** As in issues. */
  path: string
  entries: readonly AwaitedEntry[]
  onEntries: (entries: AwaitedEntry[]) => void
}

export function EntriesControl({ path, entries, onEntries }: EntriesProps) {
  const { readOnly } = useStep()
  const put = (index: number, entry: AwaitedEntry | undefined) =>
    onEntries(entries.flatMap((each, place) => (place === index ? (entry ?? []) : each)))
  const isFull = entries.length >= mostEntries
  return (
    <div className="space-y-3">
      {entries.map((entry, index) => (
        <EntryFields
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry is its place
          key={index}
          path={`${path}.${index}`}
          title={`${isOfMessage(entry) ? 'Message' : 'Event'} ${index + 1}`}
          entry={entry}
          onEntry={(next) => put(index, next)}
          onRemove={entries.length === 1 ? undefined : () => put(index, undefined)}
        />
      ))}
      {!readOnly && (
        <Button
          size="sm"
          icon={<Plus />}
          disabled={isFull}
          {...(isFull ? { hint: `Up to ${mostEntries} things can be waited for` } : {})}
          onClick={() => onEntries([...entries, {}])}
        >
          {entries.length === 0 ? 'Add what to wait for' : 'Or something else'}
        </Button>
      )}
    </div>
  )
}

const isOfMessage = (entry: AwaitedEntry) => 'message' in entry

interface EntryProps {
  path: string
  entry: AwaitedEntry
  onEntry: (entry: AwaitedEntry) => void
}

interface EntryFieldsProps extends EntryProps {
  title: string
  /** Undefined for the only one. */
  onRemove: (() => void) | undefined
}

function EntryFields({ title, onRemove, ...props }: EntryFieldsProps) {
  const { entry, onEntry } = props
  const { readOnly } = useStep()
  const kind = isOfMessage(entry) ? 'message' : 'event'
  return (
    <fieldset className="space-y-3 rounded-surface border p-3">
      <legend className="sr-only">{title}</legend>
      {!readOnly && (
        <div className="flex items-center justify-between gap-2">
          <Segments
            label={`What ${title.toLowerCase()} is`}
            value={kind}
            onValue={(next) => next !== kind && onEntry(next === 'message' ? { message: '', happens: ['read'] } : {})}
            options={[
              { value: 'event', label: 'An event' },
              { value: 'message', label: 'A message' },
            ]}
          />
          {onRemove && (
            <Button variant="ghost" size="icon" hint={`Remove ${title.toLowerCase()}`} onClick={onRemove}>
              <X />
            </Button>
          )}
        </div>
      )}
      {kind === 'message' ? <MessageFields {...props} /> : <EventFields {...props} />}
    </fieldset>
  )
}

const eventVariables = ['id', 'name', 'key', 'subscriberId', 'payload', 'createdAt'].map((name) => ({
  path: `event.${name}`,
  type: name === 'payload' ? 'object' : 'string',
}))

function EventFields({ path, entry, onEntry }: EntryProps) {
  const editing = useStep()
  const { issues, readOnly } = editing
  const put = (patch: AwaitedEntry) =>
    onEntry(Object.fromEntries(Object.entries({ ...entry, ...patch }).filter(([, value]) => value !== undefined)))
  const condition = readRoot(entry.condition)
  const ofCondition = issuesAt(issues, `${path}.condition`)
  const errors = issuesAt(issues, `${path}.event`).map(({ message }) => message)
  return (
    <>
      <FieldFrame label="Name" hint="As your program posts it." errors={errors} isEmpty={isBlank(entry.event)}>
        {(control) => (
          <Input
            {...control}
            className="font-mono text-code"
            spellCheck={false}
            autoComplete="off"
            maxLength={128}
            placeholder="cart.paid"
            disabled={readOnly}
            value={entry.event ?? ''}
            onValue={(event) => put({ event: event || undefined })}
          />
        )}
      </FieldFrame>
      <TextControl
        path={`${path}.key`}
        label="Key"
        optional
        placeholder="{{payload.cartId}}"
        hint={
          isBlank(entry.key)
            ? 'Without a key, only events about the subscriber of the run count.'
            : 'Only events with this key count. Events that name another subscriber do not.'
        }
        value={entry.key}
        onValue={(key) => put({ key: key || undefined })}
      />
      <Fold
        title="Only if"
        count={ofCondition.length}
        aside={condition.members.length === 0 ? 'any such event' : `${condition.members.length}`}
      >
        <StepContext value={{ ...editing, variables: [...eventVariables, ...editing.variables] }}>
          <GroupRows
            group={condition}
            path=""
            depth={0}
            issues={ofCondition}
            holdsAt={() => undefined}
            onChange={(group) => put({ condition: writeRoot(group) })}
          />
        </StepContext>
      </Fold>
    </>
  )
}

function MessageFields({ path, entry, onEntry }: EntryProps) {
  const { issues, sends, readOnly } = useStep()
  const id = useId()
  const happens = entry.happens ?? []
  const toggle = (name: string, isOn: boolean) =>
    onEntry({
      ...entry,
      happens: happenings.map(({ value }) => value).filter((each) => (each === name ? isOn : happens.includes(each))),
    })
  const errorsAt = (member: string) => issuesAt(issues, `${path}.${member}`).map(({ message }) => message)
  const known = sends.some(({ stepId }) => stepId === entry.message)
  return (
    <>
      <FieldFrame
        label="Of the step"
        hint={sends.length === 0 ? 'No step before this one sends a message.' : undefined}
        errors={errorsAt('message')}
        isEmpty={isBlank(entry.message)}
      >
        {(control) => (
          <Select
            {...control}
            className="w-full"
            placeholder="Choose an earlier step…"
            disabled={readOnly || (sends.length === 0 && !entry.message)}
            value={entry.message || undefined}
            onValue={(message) => onEntry({ ...entry, message })}
            options={[
              ...sends.map(({ stepId, name, type }) => ({
                ...{ value: stepId, label: name, hint: stepId === name ? undefined : stepId },
                icon: <StepIcon kind={type} />,
              })),
              ...(known || !entry.message ? [] : [{ value: entry.message, label: entry.message }]),
            ]}
          />
        )}
      </FieldFrame>
      <fieldset>
        <legend className="mb-1.5 text-sm font-medium">Is</legend>
        <div className="grid grid-cols-2 gap-x-3 gap-y-2 @md:grid-cols-4">
          {happenings.map(({ value, label }) => (
            <label key={value} htmlFor={`${id}-${value}`} className="flex items-center gap-2 text-sm">
              <Checkbox
                id={`${id}-${value}`}
                disabled={readOnly}
                value={happens.includes(value)}
                onValue={(isOn) => toggle(value, isOn)}
              />
              {label}
            </label>
          ))}
        </div>
        {errorsAt('happens').map((message) => (
          <p key={message} className="mt-1.5 text-xs text-bad">
            {message}
          </p>
        ))}
      </fieldset>
    </>
  )
}

type TimeoutKind = 'amount' | 'cron' | 'dynamicKey'

const without = { amount: undefined, unit: undefined, cron: undefined, dynamicKey: undefined }
const beginnings = { amount: { amount: 1, unit: 'hours' }, cron: { cron: '0 9 * * *' }, dynamicKey: {} }

function Timeout() {
  const { values, set, readOnly } = useStep()
  // An empty path is not kept, so the values alone do not tell.
  const [kind, setKind] = useState<TimeoutKind>(values.cron ? 'cron' : values.dynamicKey ? 'dynamicKey' : 'amount')
  return (
    <>
      {!readOnly && (
        <Segments
          label="How long it waits"
          value={kind}
          onValue={(next) => {
            setKind(next)
            if (next !== kind) set({ ...without, ...beginnings[next] })
          }}
          options={[
            { value: 'amount', label: 'For a time' },
            { value: 'cron', label: 'Until a time of day' },
            { value: 'dynamicKey', label: 'From the trigger' },
          ]}
        />
      )}
      {kind === 'amount' && <Duration label="Wait at most" value={values} onValue={set} />}
      {kind === 'cron' && <Cron value={values.cron} onValue={(cron) => set({ cron })} />}
      {kind === 'dynamicKey' && <DynamicKey hint="The path of a date, or of an amount and a unit." />}
    </>
  )
}

const lookBacks = [
  { value: 'trigger', label: 'Since the trigger' },
  { value: 'wait', label: 'Only from the wait on' },
  { value: 'longer', label: 'Also before the trigger' },
] as const

function LookBack() {
  const { values, set, issues, readOnly } = useStep()
  const { lookBack } = values
  const reach = objectOf(lookBack)
  const kind = lookBack === false ? 'wait' : typeof lookBack === 'object' && lookBack !== null ? 'longer' : 'trigger'
  return (
    <>
      <FieldFrame
        label="Events count"
        hint="An event that counts ends the wait at once, even if it came before the wait began."
        errors={kind === 'longer' ? [] : issuesAt(issues, 'lookBack').map(({ message }) => message)}
      >
        {(control) => (
          <Select
            {...control}
            className="w-64"
            disabled={readOnly}
            value={kind}
            onValue={(next) =>
              set({
                lookBack: next === 'trigger' ? undefined : next === 'wait' ? false : { amount: 1, unit: 'hours' },
              })
            }
            options={lookBacks}
          />
        )}
      </FieldFrame>
      {kind === 'longer' && (
        <Duration
          label="Back to"
          hint="Before the wait begins, up to 7 days."
          prefix="lookBack."
          value={reach}
          onValue={(patch) => set({ lookBack: { ...reach, ...patch } })}
          units={['seconds', 'minutes', 'hours', 'days']}
        />
      )}
    </>
  )
}
