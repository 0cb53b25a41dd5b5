// The controls of digest, delay and throttle.
import { useState } from 'react'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { Segments } from '../../../ui/frame/tabs.tsx'
import type { ControlValues } from '../draft/draft.ts'
import type { SchemaField } from '../draft/schema-fields.ts'
import { isBlank, issuesAt, objectOf, useStep } from '../draft/step-context.ts'
import { cronInWords } from '../draft/steps.ts'
import { NumberControl, SwitchControl, TextControl } from './basic.tsx'

interface OfField {
  field: SchemaField
}

const units = ['seconds', 'minutes', 'hours', 'days', 'weeks', 'months']

interface DurationProps {
  label: string
  hint?: string
  optional?: boolean
  /** The prefix of `amount` and `unit` in issue paths. */
  prefix?: string
  value: ControlValues
  onValue: (patch: { amount?: number | undefined; unit?: string }) => void
  units?: readonly string[]
}

export function Duration({
  label,
  hint,
  optional,
  prefix = '',
  value,
  onValue,
  units: offered = units,
}: DurationProps) {
  const { issues, readOnly } = useStep()
  const own = ['amount', 'unit'].flatMap((name) => issuesAt(issues, `${prefix}${name}`))
  // A program may have stored one that is not offered.
  const known = [...new Set([...offered, ...(typeof value.unit === 'string' ? [value.unit] : [])])]
  return (
    <FieldFrame
      label={label}
      hint={hint}
      optional={optional ?? false}
      errors={[...new Set(own.map(({ message }) => message))]}
      isEmpty={isBlank(value.amount)}
    >
      {(control) => (
        <div className="flex gap-2">
          <Input
            {...control}
            type="number"
            min={1}
            inputMode="numeric"
            disabled={readOnly}
            className="w-24"
            value={typeof value.amount === 'number' || typeof value.amount === 'string' ? value.amount : ''}
            onValue={(text) => onValue({ amount: text === '' ? undefined : Number(text) })}
          />
          <Select
            aria-label={`Unit of ${label.toLowerCase()}`}
            className="w-36"
            disabled={readOnly}
            value={typeof value.unit === 'string' ? value.unit : undefined}
            onValue={(unit) => onValue({ unit })}
            options={known.map((unit) => ({ value: unit, label: unit }))}
          />
        </div>
      )}
    </FieldFrame>
  )
}

const times = [
  { value: '0 9 * * *', label: 'Every day at 9:00' },
  { value: '0 9 * * 1-5', label: 'Weekdays at 9:00' },
  { value: '0 9 * * 1', label: 'Mondays at 9:00' },
  { value: '0 17 * * 5', label: 'Fridays at 17:00' },
  { value: '0 9 1 * *', label: 'On the 1st of the month at 9:00' },
  { value: '0 * * * *', label: 'Every hour, on the hour' },
]

export function Cron({ value, onValue }: { value: unknown; onValue: (cron: string) => void }) {
  const { issues, readOnly } = useStep()
  const cron = typeof value === 'string' ? value : ''
  const words = cronInWords(cron)
  const isKnown = times.some((time) => time.value === cron)
  return (
    <FieldFrame
      label="Until"
      hint={
        cron === ''
          ? 'Minute, hour, day, month and weekday, in the subscriber’s own time zone.'
          : `${words === cron ? 'A cron expression' : words[0]?.toUpperCase() + words.slice(1)}, in the subscriber’s own time zone.`
      }
      errors={issuesAt(issues, 'cron').map(({ message }) => message)}
      isEmpty={isBlank(value)}
    >
      {(control) => (
        <div className="flex flex-wrap gap-2">
          <Select
            aria-label="Usual times"
            className="w-56"
            disabled={readOnly}
            placeholder="Usual times…"
            value={isKnown ? cron : undefined}
            onValue={onValue}
            options={times}
          />
          <Input
            {...control}
            aria-label="Cron expression"
            className="w-36 font-mono text-code"
            spellCheck={false}
            placeholder="0 9 * * *"
            disabled={readOnly}
            value={cron}
            onValue={onValue}
          />
        </div>
      )}
    </FieldFrame>
  )
}

function ExtendToSchedule() {
  const { values, set } = useStep()
  return (
    <SwitchControl
      path="extendToSchedule"
      label="Wait for the subscriber’s schedule"
      hint="If it ends outside the subscriber’s schedule, it waits until the schedule opens."
      value={values.extendToSchedule}
      onValue={(extendToSchedule) => set({ extendToSchedule })}
    />
  )
}

/** What only a digest for a time has. */
const withoutPeriod = {
  ...{ amount: undefined, unit: undefined, lookBackWindow: undefined },
  ...{ window: undefined, maxWindow: undefined },
}

export function DigestControls() {
  const { values, set, readOnly } = useStep()
  const isTimed = values.type === 'timed' || (typeof values.cron === 'string' && values.cron !== '')
  const window = objectOf(values.lookBackWindow)
  const hasWindow = Object.keys(window).length > 0
  const isSliding = !isTimed && values.window === 'sliding'
  const longest = objectOf(values.maxWindow)
  return (
    <div className="space-y-4">
      {!readOnly && (
        <Segments
          label="Collect"
          value={isTimed ? 'timed' : 'regular'}
          onValue={(type) =>
            set(
              type === 'timed'
                ? { type, cron: '0 9 * * *', ...withoutPeriod }
                : { type, cron: undefined, amount: 10, unit: 'minutes' },
            )
          }
          options={[
            { value: 'regular', label: 'For a time' },
            { value: 'timed', label: 'Until a time of day' },
          ]}
        />
      )}
      {isTimed ? (
        <Cron value={values.cron} onValue={(cron) => set({ cron })} />
      ) : (
        <Duration
          label="Collect for"
          hint={
            isSliding
              ? 'Starts again with each event; all events until then become one message.'
              : 'Starts with the first event; all events until then become one message.'
          }
          value={values}
          onValue={set}
        />
      )}
      {!isTimed && (
        <SwitchControl
          path="window"
          label="Start again with each event"
          hint="The digest ends once nothing has come for that long."
          value={isSliding}
          onValue={(on) =>
            set(
              on
                ? { window: 'sliding', maxWindow: { amount: 1, unit: 'days' } }
                : { window: undefined, maxWindow: undefined },
            )
          }
        />
      )}
      {isSliding && (
        <Duration
          label="At the latest after"
          prefix="maxWindow."
          value={longest}
          onValue={(patch) => set({ maxWindow: { ...longest, ...patch } })}
        />
      )}
      <TextControl
        path="digestKey"
        label="Group by"
        optional
        placeholder="payload.postId"
        hint="Events with the same value are collected together. Each subscriber has their own digest anyway."
        value={values.digestKey}
        onValue={(digestKey) => set({ digestKey: digestKey || undefined })}
      />
      {!isTimed && (
        <>
          <SwitchControl
            path="lookBackWindow"
            label="Send an event at once after a silence"
            hint="An event is sent without waiting, unless another came shortly before."
            value={hasWindow}
            onValue={(on) =>
              set({
                lookBackWindow: on ? { amount: 5, unit: 'minutes' } : undefined,
                ...(on ? { flushFirst: undefined } : {}),
              })
            }
          />
          {hasWindow && (
            <Duration
              label="Shortly before means within"
              prefix="lookBackWindow."
              value={window}
              onValue={(patch) => set({ lookBackWindow: { ...window, ...patch } })}
            />
          )}
        </>
      )}
      {!hasWindow && (
        <SwitchControl
          path="flushFirst"
          label="Send the first event at once"
          hint="Events that come while the digest is open are sent together at its end."
          value={values.flushFirst}
          onValue={(on) => set({ flushFirst: on || undefined })}
        />
      )}
      <ExtendToSchedule />
    </div>
  )
}

export function MaxEventsControl({ field }: OfField) {
  const { values, set } = useStep()
  return (
    <NumberControl
      path={field.name}
      label="End after this many events"
      optional
      placeholder="No limit"
      value={values[field.name]}
      onValue={(maxEvents) => set({ maxEvents })}
    />
  )
}

export function KeepControl({ field }: OfField) {
  const { values, set } = useStep()
  return (
    <NumberControl
      path={field.name}
      label="Events in the message"
      optional
      placeholder="1000"
      hint="Further ones are only counted."
      value={values[field.name]}
      onValue={(keep) => set({ keep })}
    />
  )
}

export function OrderControl({ field }: OfField) {
  const { values, set, readOnly } = useStep()
  return (
    <FieldFrame label="Order of events">
      {(control) => (
        <Select
          {...control}
          className="w-44"
          disabled={readOnly}
          value={values[field.name] === 'newest' ? 'newest' : 'oldest'}
          onValue={(order) => set({ order: order === 'newest' ? order : undefined })}
          options={[
            { value: 'oldest', label: 'Oldest first' },
            { value: 'newest', label: 'Newest first' },
          ]}
        />
      )}
    </FieldFrame>
  )
}

export function FieldsControl({ field }: OfField) {
  const { values, set, issues, readOnly } = useStep()
  const paths = Array.isArray(values[field.name]) ? (values[field.name] as unknown[]).map(String) : []
  // As typed: a comma at the end is not yet a path.
  const [text, setText] = useState(paths.join(', '))
  return (
    <FieldFrame
      label="Fields of each event"
      optional
      hint="Only these are kept of each payload. Separate paths with commas."
      errors={issuesAt(issues, field.name).map(({ message }) => message)}
    >
      {(control) => (
        <Input
          {...control}
          className="font-mono text-code"
          spellCheck={false}
          placeholder="author, post.title"
          disabled={readOnly}
          value={text}
          onValue={(next) => {
            setText(next)
            const given = next.split(',').flatMap((path) => path.trim() || [])
            set({ fields: given.length > 0 ? given : undefined })
          }}
        />
      )}
    </FieldFrame>
  )
}

export function DelayControls() {
  const { values, set, readOnly } = useStep()
  const type = values.type === 'timed' || values.type === 'dynamic' ? values.type : 'regular'
  return (
    <div className="space-y-4">
      {!readOnly && (
        <Segments
          label="How it waits"
          value={type}
          onValue={(next) =>
            set({
              ...{ type: next, amount: undefined, unit: undefined, cron: undefined, dynamicKey: undefined },
              ...(next === 'regular' ? { amount: 1, unit: 'hours' } : next === 'timed' ? { cron: '0 9 * * *' } : {}),
            })
          }
          options={[
            { value: 'regular', label: 'For a time' },
            { value: 'timed', label: 'Until a time of day' },
            { value: 'dynamic', label: 'From the trigger' },
          ]}
        />
      )}
      {type === 'regular' && <Duration label="Wait for" value={values} onValue={set} />}
      {type === 'timed' && <Cron value={values.cron} onValue={(cron) => set({ cron })} />}
      {type === 'dynamic' && <DynamicKey hint="The path of a date, or of an amount and a unit." />}
      <ExtendToSchedule />
    </div>
  )
}

export function DynamicKey({ hint }: { hint: string }) {
  const { values, set } = useStep()
  return (
    <TextControl
      path="dynamicKey"
      label="Until"
      placeholder="payload.sendAt"
      hint={hint}
      value={values.dynamicKey}
      onValue={(dynamicKey) => set({ dynamicKey: dynamicKey || undefined })}
    />
  )
}

export function ThrottleControls() {
  const { values, set, readOnly } = useStep()
  const isDynamic = values.type === 'dynamic'
  return (
    <div className="space-y-4">
      <NumberControl
        path="threshold"
        label="Allow at most"
        hint="Further runs for the same subscriber end here."
        min={1}
        placeholder="1"
        value={values.threshold}
        onValue={(threshold) => set({ threshold })}
      />
      {!readOnly && (
        <Segments
          label="The window"
          value={isDynamic ? 'dynamic' : 'fixed'}
          onValue={(type) =>
            set({
              type,
              ...(type === 'dynamic'
                ? { amount: undefined, unit: undefined }
                : { dynamicKey: undefined, amount: 1, unit: 'hours' }),
            })
          }
          options={[
            { value: 'fixed', label: 'In a time' },
            { value: 'dynamic', label: 'From the trigger' },
          ]}
        />
      )}
      {isDynamic ? (
        <DynamicKey hint="The path of the end of the window: a date, or an amount and a unit." />
      ) : (
        <Duration label="Within" value={values} onValue={set} units={['minutes', 'hours', 'days']} />
      )}
      <TextControl
        path="throttleKey"
        label="Count by"
        optional
        placeholder="payload.projectId"
        hint="Each value is counted separately."
        value={values.throttleKey}
        onValue={(throttleKey) => set({ throttleKey: throttleKey || undefined })}
      />
    </div>
  )
}
