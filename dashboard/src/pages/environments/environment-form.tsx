import { Check } from 'lucide-react'
import { type EnvironmentRecord, environments, refreshSession } from '../../api/environments.ts'
import { cn } from '../../ui/base/class-names.ts'
import { Field, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Checkbox } from '../../ui/form/switch.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'

/** Most people can tell them apart, in both themes. */
const colours = [
  { value: '#2e86de', name: 'Blue' },
  { value: '#0d9488', name: 'Teal' },
  { value: '#16a34a', name: 'Green' },
  { value: '#ca8a04', name: 'Yellow' },
  { value: '#ea580c', name: 'Orange' },
  { value: '#dc2626', name: 'Red' },
  { value: '#db2777', name: 'Pink' },
  { value: '#7c3aed', name: 'Violet' },
  { value: '#64748b', name: 'Grey' },
]

interface EnvironmentFormProps {
  environment: EnvironmentRecord | 'new' | undefined
  onClose: () => void
}

export function EnvironmentForm({ environment, onClose }: EnvironmentFormProps) {
  if (!environment) return null
  const isNew = environment === 'new'
  return (
    <Dialog
      open
      onClose={onClose}
      title={isNew ? 'New environment' : environment.name}
      description={
        isNew ? 'It starts empty, with its own API key. Publish workflows into it when they are ready.' : undefined
      }
    >
      <Fields key={isNew ? 'new' : environment._id} environment={environment} onClose={onClose} />
    </Dialog>
  )
}

function Fields({ environment, onClose }: { environment: EnvironmentRecord | 'new'; onClose: () => void }) {
  const isNew = environment === 'new'
  const isNamed = isNew || !/^(development|production)$/i.test(environment.name)
  const form = useForm({
    initial: {
      ...(isNew ? { name: '', color: '#2e86de' } : { name: environment.name, color: environment.color ?? '#64748b' }),
      ...{ isHeld: false, clock: '' },
    },
    submit: ({ name, color, isHeld, clock }) =>
      isNew
        ? environments.create({
            name,
            color,
            ...(isHeld ? { clock: clock ? { now: `${clock.padEnd(19, ':00')}Z` } : {} } : {}),
          })
        : environments.change(environment._id, { ...(isNamed ? { name } : {}), color }),
    refresh: ['environments'],
    done: ({ name }) => (isNew ? `“${name}” created` : 'Saved'),
    onDone: () => {
      void refreshSession()
      onClose()
    },
  })
  return (
    <Form form={form}>
      <Field
        form={form}
        name="name"
        label="Name"
        hint={isNamed ? undefined : 'Development and Production cannot be renamed.'}
      >
        {(control) => <Input {...control} disabled={!isNamed} autoFocus placeholder="Staging" dir="auto" />}
      </Field>
      <Field
        form={form}
        name="color"
        label="Colour"
        hint="Shown beside the name, so that you do not confuse environments."
      >
        {({ value, onValue, id }) => (
          <fieldset id={id} aria-label="Colour" className="flex flex-wrap gap-1.5">
            {colours.map((colour) => (
              <button
                key={colour.value}
                type="button"
                aria-label={colour.name}
                aria-pressed={value === colour.value}
                onClick={() => onValue(colour.value)}
                className="grid size-8 place-items-center rounded-control border border-transparent hover:bg-hover aria-pressed:border-line-strong"
              >
                <span
                  className="grid size-5 place-items-center rounded-full text-[#fff]"
                  style={{ background: colour.value }}
                >
                  <Check className={cn('size-3', value !== colour.value && 'invisible')} strokeWidth={3} />
                </span>
              </button>
            ))}
          </fieldset>
        )}
      </Field>
      {isNew && (
        <Field
          form={form}
          name="isHeld"
          label="Hold the clock"
          inline
          hint="For tests of waits, digests and quiet hours: time stands still until you move it, and everything is sent to the sandbox. This cannot be changed later."
        >
          {(control) => <Checkbox {...control} />}
        </Field>
      )}
      {form.values.isHeld && (
        <Field
          form={form}
          name="clock"
          label="Start time in UTC"
          optional
          hint="If empty, it starts at the current time."
        >
          {(control) => <Input {...control} type="datetime-local" min="2000-01-01T00:00" max="2099-12-31T23:59" />}
        </Field>
      )}
      <FormFooter form={form} onClose={onClose} disabled={form.values.name.trim() === '' || (!isNew && !form.isDirty)}>
        {isNew ? 'Create environment' : 'Save'}
      </FormFooter>
    </Form>
  )
}
