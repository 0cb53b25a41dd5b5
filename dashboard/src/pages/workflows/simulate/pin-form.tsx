// Edits one input of a scenario: when it happens, for whom, and what it brings.
import { useEffect, useState } from 'react'
import { channels, lookOf } from '../../../ui/domain/step-kind.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { Checkbox } from '../../../ui/form/switch.tsx'
import { JsonField } from '../controls/basic.tsx'
import { objectOf } from '../draft/step-context.ts'
import { FormEnd } from './form-end.tsx'
import { durationText, type Fault, faults, type Pin, pinLabels, readDuration, type Scenario } from './scenario.ts'

interface PinFormProps {
  scenario: Scenario
  pin: Pin
  onChange: (pin: Pin) => void
  onRemove: () => void
  onDone: () => void
}

export function PinForm({ scenario, pin, onChange, onRemove, onDone }: PinFormProps) {
  const people = scenario.people.map(({ subscriberId, firstName }) => ({ value: subscriberId, label: firstName }))
  const triggers = scenario.pins.filter(({ type }) => type === 'trigger')
  return (
    <section aria-label={pinLabels[pin.type]} className="space-y-4 p-4">
      <h3 className="text-sm font-semibold">{pinLabels[pin.type]}</h3>
      <DurationField
        label="After"
        hint="From the start: 90s, 4m, 1h30m, 2d."
        value={pin.at}
        onValue={(at) => at !== undefined && onChange({ ...pin, at })}
      />
      {pin.type === 'trigger' && (
        <>
          {people.length > 1 && (
            <fieldset className="space-y-1.5">
              <legend className="mb-1 text-sm font-medium">To</legend>
              {people.map(({ value, label }) => (
                <label key={value} className="flex items-center gap-2 text-sm" htmlFor={`to-${pin.id}-${value}`}>
                  <Checkbox
                    id={`to-${pin.id}-${value}`}
                    value={pin.to.includes(value)}
                    onValue={(isOn) =>
                      onChange({ ...pin, to: isOn === true ? [...pin.to, value] : pin.to.filter((id) => id !== value) })
                    }
                  />
                  {label}
                </label>
              ))}
            </fieldset>
          )}
          <JsonField
            label="Payload"
            className="max-h-56"
            value={pin.payload}
            onValue={(payload) => onChange({ ...pin, payload: objectOf(payload) })}
          />
        </>
      )}
      {(pin.type === 'read' || pin.type === 'seen') && (
        <FieldFrame label="Who" hint="Everything that is in their inbox by then.">
          {(control) => (
            <Select
              id={control.id}
              aria-label="Who"
              value={pin.subscriberId}
              onValue={(subscriberId) => onChange({ ...pin, subscriberId })}
              options={people}
            />
          )}
        </FieldFrame>
      )}
      {pin.type === 'cancel' && (
        <FieldFrame label="Trigger">
          {(control) => (
            <Select
              id={control.id}
              aria-label="Trigger"
              value={pin.transactionId}
              onValue={(transactionId) => onChange({ ...pin, transactionId })}
              options={triggers.map(({ id, at }) => ({ value: id, label: `${id} (+${durationText(at)})` }))}
            />
          )}
        </FieldFrame>
      )}
      {pin.type === 'fault' && (
        <>
          <FieldFrame label="What">
            {(control) => (
              <Select
                id={control.id}
                aria-label="What"
                value={pin.fault}
                onValue={(fault) => onChange({ ...pin, fault })}
                options={Object.entries(faults).map(([value, label]) => ({ value: value as Fault, label }))}
              />
            )}
          </FieldFrame>
          <FieldFrame label="Channel">
            {(control) => (
              <Select
                id={control.id}
                aria-label="Channel"
                value={pin.channel ?? 'all'}
                onValue={(channel) => onChange({ ...pin, channel: channel === 'all' ? undefined : channel })}
                options={[
                  { value: 'all', label: 'All' },
                  ...channels
                    .filter((each) => each !== 'in_app')
                    .map((each) => ({ value: each, label: lookOf(each).label })),
                ]}
              />
            )}
          </FieldFrame>
          <DurationField
            label="For"
            hint="Empty: for good."
            optional
            value={pin.lastsMs}
            onValue={(lastsMs) => onChange({ ...pin, lastsMs })}
          />
        </>
      )}
      <FormEnd onRemove={onRemove} onDone={onDone} />
    </section>
  )
}

interface DurationFieldProps {
  label: string
  hint: string
  optional?: boolean
  value: number | undefined
  onValue: (ms: number | undefined) => void
}

function DurationField({ label, hint, optional = false, value, onValue }: DurationFieldProps) {
  const written = value === undefined ? '' : durationText(value)
  const [text, setText] = useState(written)
  // A pin that is dragged changes it from elsewhere.
  useEffect(() => setText((now) => (readDuration(now) === value ? now : written)), [value, written])
  const isWrong = readDuration(text) === undefined && !(optional && text.trim() === '')
  return (
    <FieldFrame
      label={label}
      hint={hint}
      optional={optional}
      errors={isWrong ? ['Write it as 90s, 4m, 1h30m or 2d, up to 366d.'] : []}
    >
      {(control) => (
        <Input
          {...control}
          value={text}
          onValue={(next) => {
            setText(next)
            const read = readDuration(next)
            if (read !== undefined || (optional && next.trim() === '')) onValue(read)
          }}
        />
      )}
    </FieldFrame>
  )
}
