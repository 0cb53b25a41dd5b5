// The fields of one shift: turns that come again and again, or an exception that comes once.
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { Button } from '../../ui/base/button.tsx'
import { SubscribersPicker } from '../../ui/domain/subscriber-picker.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { durationUnits, type Frequency, frequencies, missingIn, moved, type ShiftDraft } from './shifts.ts'

interface ShiftFieldsProps {
  shift: ShiftDraft
  place: number
  count: number
  errors: readonly string[]
  onShift: (shift: ShiftDraft) => void
  onMove: (to: number) => void
  onRemove: () => void
}

const custom = 'custom'

export function ShiftFields({ shift, place, count, errors, onShift, onMove, onRemove }: ShiftFieldsProps) {
  const name = `${shift.isOnce ? 'Exception' : 'Turns'}, shift ${place + 1}`
  const missing = missingIn(shift)
  return (
    <fieldset className="space-y-3 rounded-surface border p-3">
      <legend className="sr-only">{name}</legend>
      <div className="flex items-center gap-1">
        <span aria-hidden className="mr-auto text-sm font-medium">
          {shift.isOnce ? 'Exception' : 'Turns'}
        </span>
        <Button
          variant="ghost"
          size="icon"
          hint={`Move shift ${place + 1} up: it decides before those below`}
          disabled={place === 0}
          onClick={() => onMove(place - 1)}
        >
          <ArrowUp />
        </Button>
        <Button
          variant="ghost"
          size="icon"
          hint={`Move shift ${place + 1} down`}
          disabled={place === count - 1}
          onClick={() => onMove(place + 1)}
        >
          <ArrowDown />
        </Button>
        <Button variant="ghost" size="icon" hint={`Remove shift ${place + 1}`} onClick={onRemove}>
          <X />
        </Button>
      </div>
      {shift.isOnce ? <OnceFields shift={shift} onShift={onShift} /> : <TurnFields shift={shift} onShift={onShift} />}
      {(errors.length > 0 ? errors : missing ? [missing] : []).map((message) => (
        <p key={message} className={errors.length > 0 ? 'text-xs text-bad' : 'text-xs text-muted'}>
          {message}
        </p>
      ))}
    </fieldset>
  )
}

type Fields = Pick<ShiftFieldsProps, 'shift' | 'onShift'>

const TimeField = ({ label, value, onValue }: { label: string; value: string; onValue: (value: string) => void }) => (
  <FieldFrame label={label}>
    {(control) => <Input {...control} type="datetime-local" className="w-52" value={value} onValue={onValue} />}
  </FieldFrame>
)

function OnceFields({ shift, onShift }: Fields) {
  return (
    <>
      <div className="flex flex-wrap gap-3">
        <TimeField label="Start" value={shift.start} onValue={(start) => onShift({ ...shift, start })} />
        <TimeField label="End" value={shift.end} onValue={(end) => onShift({ ...shift, end })} />
      </div>
      <FieldFrame label="Who is on duty">
        {(control) => (
          <SubscribersPicker {...control} value={shift.who} onValue={(who) => onShift({ ...shift, who })} />
        )}
      </FieldFrame>
    </>
  )
}

function TurnFields({ shift, onShift }: Fields) {
  const { every, duration, turns } = shift
  const units = [...new Set<string>([...durationUnits, duration.unit])]
  const putTurn = (index: number, turn: string[]) =>
    onShift({ ...shift, turns: turns.map((each, at) => (at === index ? turn : each)) })
  return (
    <>
      <div className="flex flex-wrap items-end gap-3">
        <TimeField label="First turn" value={shift.start} onValue={(start) => onShift({ ...shift, start })} />
        <FieldFrame label="A new turn every">
          {(control) => (
            <div className="flex gap-2">
              {every && (
                <Input
                  {...control}
                  type="number"
                  min={1}
                  className="w-18"
                  value={every.amount}
                  onValue={(amount) => onShift({ ...shift, every: { ...every, amount } })}
                />
              )}
              <Select
                {...(every ? {} : { id: control.id })}
                aria-label="Unit in which turns come again"
                className="w-32"
                value={every?.unit ?? custom}
                onValue={(unit) =>
                  onShift({
                    ...shift,
                    every: unit === custom ? undefined : { amount: every?.amount ?? '1', unit: unit as Frequency },
                  })
                }
                options={[
                  ...frequencies.map((unit) => ({ value: unit as string, label: unit as string })),
                  { value: custom, label: 'Another rule' },
                ]}
              />
            </div>
          )}
        </FieldFrame>
        <FieldFrame label="Lasts">
          {(control) => (
            <div className="flex gap-2">
              <Input
                {...control}
                type="number"
                min={1}
                className="w-18"
                value={duration.amount}
                onValue={(amount) => onShift({ ...shift, duration: { ...duration, amount } })}
              />
              <Select
                aria-label="Unit of how long a turn lasts"
                className="w-28"
                value={duration.unit}
                onValue={(unit) => onShift({ ...shift, duration: { ...duration, unit } })}
                options={units.map((unit) => ({ value: unit, label: unit }))}
              />
            </div>
          )}
        </FieldFrame>
      </div>
      {!every && (
        <FieldFrame label="Rule" hint="An RRULE of RFC 5545, for example FREQ=WEEKLY;BYDAY=MO,WE,FR.">
          {(control) => (
            <Input
              {...control}
              spellCheck={false}
              className="font-mono text-code"
              value={shift.rrule}
              onValue={(rrule) => onShift({ ...shift, rrule })}
            />
          )}
        </FieldFrame>
      )}
      <fieldset>
        <legend className="mb-1.5 text-sm font-medium">Turns, one after the other</legend>
        <ol className="space-y-2">
          {turns.map((turn, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a turn is its place
            <li key={index} className="flex items-center gap-1">
              <span aria-hidden className="w-6 shrink-0 text-right text-xs text-muted tabular-nums">
                {index + 1}.
              </span>
              <SubscribersPicker
                aria-label={`Who has turn ${index + 1}`}
                className="w-full min-w-0"
                value={turn}
                onValue={(next) => putTurn(index, next)}
              />
              <Button
                variant="ghost"
                size="icon"
                hint={`Move turn ${index + 1} up`}
                disabled={index === 0}
                onClick={() => onShift({ ...shift, turns: moved(turns, index, index - 1) })}
              >
                <ArrowUp />
              </Button>
              <Button
                variant="ghost"
                size="icon"
                hint={`Remove turn ${index + 1}`}
                disabled={turns.length === 1}
                onClick={() => onShift({ ...shift, turns: turns.filter((_, at) => at !== index) })}
              >
                <X />
              </Button>
            </li>
          ))}
        </ol>
        <Button
          size="sm"
          variant="ghost"
          icon={<Plus />}
          className="mt-2"
          onClick={() => onShift({ ...shift, turns: [...turns, []] })}
        >
          Add a turn
        </Button>
      </fieldset>
    </>
  )
}
