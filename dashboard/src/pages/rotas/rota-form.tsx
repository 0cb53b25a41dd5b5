// Makes or changes a rota. Its shifts are written as the API has them.
import { useState } from 'react'
import { type Rota, rotas } from '../../api/rotas.ts'
import { Button } from '../../ui/base/button.tsx'
import { identifierOf } from '../../ui/base/identifier.ts'
import { CodeEditor } from '../../ui/code/code-editor.tsx'
import { Field, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog, DialogFooter } from '../../ui/frame/dialog.tsx'

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
    description="The first shift that covers a moment decides, so exceptions stand above."
  >
    {open && <RotaForm onClose={onClose} {...(rota ? { rota } : {})} />}
  </Dialog>
)

const firstShifts = [
  {
    ...{ start: '2026-11-02T09:00', rrule: 'FREQ=WEEKLY', duration: { amount: 1, unit: 'weeks' } },
    turns: [['ada'], ['bob']],
  },
]

type Shifts = Rota['shifts']

function readShifts(text: string): { shifts?: Shifts; problem?: string } {
  try {
    const read: unknown = JSON.parse(text)
    return Array.isArray(read) ? { shifts: read as Shifts } : { problem: 'This must be a list of shifts: [ … ].' }
  } catch (error) {
    return { problem: `This is not valid JSON: ${(error as Error).message}` }
  }
}

function RotaForm({ onClose, rota }: Omit<RotaDialogProps, 'open'>) {
  const [hasOwnId, setOwnId] = useState(false)
  const form = useForm({
    initial: {
      name: rota?.name ?? '',
      rotaId: rota?.rotaId ?? '',
      timezone: rota?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
      shifts: JSON.stringify(rota?.shifts ?? firstShifts, undefined, 2),
    },
    submit: ({ name, rotaId, timezone, shifts }) => {
      const body = { name: name.trim(), timezone: timezone.trim(), shifts: readShifts(shifts).shifts ?? [] } as never
      return rota ? rotas.put(rota.rotaId, body) : rotas.create({ rotaId: rotaId.trim(), ...(body as object) } as never)
    },
    refresh: ['rotas'],
    done: ({ name }) => `${name} saved`,
    onDone: onClose,
  })
  const { name, rotaId, timezone, shifts } = form.values
  const { problem } = readShifts(shifts)
  const isReady = name.trim() !== '' && rotaId.trim() !== '' && timezone.trim() !== '' && problem === undefined
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
      <Field
        form={form}
        name="shifts"
        label="Shifts"
        hint="Once: start, end and who. Again and again: start, rrule, duration and turns."
      >
        {({ name: _, ...control }) => <CodeEditor {...control} aria-label="Shifts" language="json" />}
      </Field>
      {problem && (
        <p role="alert" className="text-xs text-bad">
          {problem}
        </p>
      )}
      <FormError form={form} />
      <DialogFooter>
        <Button onClick={onClose}>Cancel</Button>
        <SubmitButton form={form} disabled={!isReady || !form.isDirty}>
          {rota ? 'Save' : 'Create rota'}
        </SubmitButton>
      </DialogFooter>
    </Form>
  )
}
