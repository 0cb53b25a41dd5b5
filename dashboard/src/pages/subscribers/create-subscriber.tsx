import { useNavigate } from '@tanstack/react-router'
import { nameOf, subscribers } from '../../api/subscribers.ts'
import { Field, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'

export function CreateSubscriber({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="New subscriber"
      description="You can change everything but the id later, and add more fields."
    >
      {open && <CreateForm onClose={onClose} />}
    </Dialog>
  )
}

const filled = (fields: Record<string, string>) =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value.trim() ? [[name, value.trim()]] : [])))

function CreateForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const form = useForm({
    initial: { subscriberId: '', firstName: '', lastName: '', email: '', phone: '' },
    submit: ({ subscriberId, ...fields }) =>
      subscribers.create({ subscriberId: subscriberId.trim(), ...filled(fields) }),
    refresh: ['subscribers'],
    done: (created) => `${nameOf(created)} created`,
    onDone: ({ subscriberId }) =>
      void navigate({
        to: '/subscribers/{-$subscriberId}',
        params: { subscriberId },
        search: (search: object) => ({ ...search, new: undefined }),
      }),
  })
  return (
    <Form form={form}>
      <Field
        form={form}
        name="subscriberId"
        label="Id"
        hint="The id of this user in your program. Triggers use it. It cannot be changed later."
      >
        {(control) => <Input {...control} autoFocus spellCheck={false} className="font-mono text-code" />}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field form={form} name="firstName" label="First name" optional>
          {(control) => <Input {...control} dir="auto" />}
        </Field>
        <Field form={form} name="lastName" label="Last name" optional>
          {(control) => <Input {...control} dir="auto" />}
        </Field>
        <Field form={form} name="email" label="Email" optional>
          {(control) => <Input {...control} type="email" />}
        </Field>
        <Field form={form} name="phone" label="Phone" optional hint="With country code: +41 …">
          {(control) => <Input {...control} type="tel" />}
        </Field>
      </div>
      <FormFooter form={form} onClose={onClose} disabled={form.values.subscriberId.trim() === ''}>
        Create subscriber
      </FormFooter>
    </Form>
  )
}
