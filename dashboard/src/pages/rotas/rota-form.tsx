// Makes or changes a rota: its name, its time zone, and its shifts in the order in which they decide.
import { CalendarPlus, Plus } from 'lucide-react'
import { useState } from 'react'
import { type Rota, rotas } from '../../api/rotas.ts'
import { Button } from '../../ui/base/button.tsx'
import { identifierOf } from '../../ui/base/identifier.ts'
import { timeNow } from '../../ui/base/time.tsx'
import { Field, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'
import { ShiftFields } from './shift-fields.tsx'
import { draftOf, missingIn, mondayOf, moved, newException, newTurns, shiftOf } from './shifts.ts'

interface RotaDialogProps {
  open: boolean
  onClose: () => void
  /** Undefined for a new one. */
  rota?: Rota
}

export const RotaDialog = ({ open, onClose, rota }: RotaDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    size="md"
    title={rota ? `Change ${rota.name}` : 'New rota'}
    description="The first shift that covers a moment decides, so put exceptions at the top."
  >
    {open && <RotaForm onClose={onClose} {...(rota ? { rota } : {})} />}
  </Dialog>
)

function RotaForm({ onClose, rota }: Omit<RotaDialogProps, 'open'>) {
  const [hasOwnId, setOwnId] = useState(false)
  const form = useForm({
    initial: {
      name: rota?.name ?? '',
      rotaId: rota?.rotaId ?? '',
      timezone: rota?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
      shifts: rota ? rota.shifts.map(draftOf) : [newTurns(mondayOf(new Date(timeNow())))],
    },
    submit: ({ name, rotaId, timezone, shifts }) => {
      const body = { name: name.trim(), timezone: timezone.trim(), shifts: shifts.map(shiftOf) } as never
      return rota ? rotas.put(rota.rotaId, body) : rotas.create({ rotaId: rotaId.trim(), ...(body as object) } as never)
    },
    refresh: ['rotas'],
    done: ({ name }) => `${name} saved`,
    onDone: onClose,
  })
  const { name, rotaId, timezone, shifts } = form.values
  const isReady =
    [name, rotaId, timezone].every((text) => text.trim() !== '') &&
    shifts.length > 0 &&
    shifts.every((shift) => missingIn(shift) === undefined)
  const today = new Date(timeNow()).toISOString().slice(0, 10)
  return (
    <Form form={form}>
      <Field form={form} name="name" label="Name">
        {(control) => (
          <Input
            {...control}
            autoFocus
            dir="auto"
            maxLength={100}
            onValue={(next) => form.set({ name: next, ...(hasOwnId || rota ? {} : { rotaId: identifierOf(next) }) })}
          />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field form={form} name="rotaId" label="Id" hint={rota ? 'It cannot be changed.' : 'Steps name it.'}>
          {(control) => (
            <Input
              {...control}
              disabled={rota !== undefined}
              spellCheck={false}
              className="font-mono text-code"
              onValue={(next) => {
                setOwnId(true)
                form.set({ rotaId: next })
              }}
            />
          )}
        </Field>
        <Field form={form} name="timezone" label="Time zone">
          {(control) => <Input {...control} spellCheck={false} placeholder="Europe/Berlin" />}
        </Field>
      </div>
      <fieldset className="space-y-3">
        <legend className="mb-1.5 text-sm font-medium">Shifts</legend>
        {shifts.map((shift, place) => (
          <ShiftFields
            key={shift.key}
            shift={shift}
            place={place}
            count={shifts.length}
            errors={errorsOf(form.errors, place)}
            onShift={(next) => form.set({ shifts: shifts.map((each, at) => (at === place ? next : each)) })}
            onMove={(to) => form.set({ shifts: moved(shifts, place, to) })}
            onRemove={() => form.set({ shifts: shifts.filter((_, at) => at !== place) })}
          />
        ))}
        <div className="flex flex-wrap gap-2">
          <Button
            size="sm"
            icon={<CalendarPlus />}
            onClick={() => form.set({ shifts: [newException(today), ...shifts] })}
          >
            Add an exception
          </Button>
          <Button
            size="sm"
            icon={<Plus />}
            onClick={() => form.set({ shifts: [...shifts, newTurns(mondayOf(new Date(timeNow())))] })}
          >
            Add turns
          </Button>
        </div>
      </fieldset>
      <FormFooter form={form} onClose={onClose} disabled={!isReady || !form.isDirty}>
        {rota ? 'Save' : 'Create rota'}
      </FormFooter>
    </Form>
  )
}

/** The server names a shift by its place, in the path or in the sentence. */
function errorsOf(errors: Record<string, string[]>, place: number): string[] {
  const own = `shifts.${place}`
  const found = Object.entries(errors).flatMap(([field, messages]) =>
    field === own || field.startsWith(`${own}.`) ? messages : messages.filter((each) => each.startsWith(`${own}.`)),
  )
  return [...new Set(found)].map((message) => {
    const words = message.replace(`${own}.`, '').replace(/\.$/, '')
    return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
  })
}
