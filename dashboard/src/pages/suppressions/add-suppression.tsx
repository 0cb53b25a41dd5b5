import { suppressions } from '../../api/suppressions.ts'
import { channels, optionsOf } from '../../ui/domain/suppression-words.ts'
import { Field, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'

const scopes = { all: 'Everything', commercial: 'Commercial messages only' } as const

export const AddSuppression = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Add an address"
    description="From the moment it is added, nothing that it holds back is sent."
  >
    {open && <AddForm onClose={onClose} />}
  </Dialog>
)

function AddForm({ onClose }: { onClose: () => void }) {
  const form = useForm({
    initial: {
      channel: 'email' as keyof typeof channels,
      address: '',
      scope: 'all' as keyof typeof scopes,
      note: '',
    },
    submit: ({ channel, address, scope, note }) =>
      suppressions.add({
        channel,
        address: address.trim(),
        scope: { type: scope },
        ...(note.trim() === '' ? {} : { note: note.trim() }),
      }),
    refresh: ['suppressions'],
    done: ({ address }) => `${address ?? 'The address'} is held back`,
    onDone: onClose,
  })
  return (
    <Form form={form}>
      <Field form={form} name="channel" label="Channel">
        {({ name: _, ...control }) => <Select {...control} options={optionsOf(channels)} className="w-full" />}
      </Field>
      <Field
        form={form}
        name="address"
        label="Address"
        hint="An email address, a phone number, a device token or a chat address."
      >
        {(control) => <Input {...control} autoFocus spellCheck={false} autoComplete="off" />}
      </Field>
      <Field form={form} name="scope" label="Holds back" hint="Critical workflows are sent all the same.">
        {({ name: _, ...control }) => <Select {...control} options={optionsOf(scopes)} className="w-full" />}
      </Field>
      <Field form={form} name="note" label="Note" hint="Why, for your colleagues.">
        {(control) => <Input {...control} maxLength={500} />}
      </Field>
      <FormFooter form={form} onClose={onClose} disabled={form.values.address.trim() === ''}>
        Add address
      </FormFooter>
    </Form>
  )
}
