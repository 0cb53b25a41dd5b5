import { useNavigate } from '@tanstack/react-router'
import { contexts, keyOf } from '../../api/contexts.ts'
import { JsonEditor, readJsonObject } from '../../ui/code/json-editor.tsx'
import { Field, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'

export const CreateContext = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Dialog open={open} onClose={onClose} title="New context">
    {open && <CreateForm onClose={onClose} />}
  </Dialog>
)

function CreateForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const form = useForm({
    initial: { type: 'tenant', id: '', data: '{\n  "name": ""\n}' },
    submit: ({ type, id, data }) =>
      contexts.create({ type: type.trim(), id: id.trim(), data: readJsonObject(data).value ?? {} }),
    refresh: ['contexts'],
    done: (created) => `${keyOf(created)} created`,
    onDone: (created) =>
      void navigate({
        to: '/contexts/{-$contextKey}',
        params: { contextKey: keyOf(created) },
        search: (search: object) => ({ ...search, new: undefined }),
      }),
  })
  const { type, id, data } = form.values
  const isReady = type.trim() !== '' && id.trim() !== '' && readJsonObject(data).problem === undefined
  return (
    <Form form={form}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field form={form} name="type" label="Type" hint="For example tenant, app or region.">
          {(control) => <Input {...control} spellCheck={false} className="font-mono text-code" />}
        </Field>
        <Field form={form} name="id" label="Id" hint="Type and id cannot be changed later.">
          {(control) => <Input {...control} autoFocus spellCheck={false} className="font-mono text-code" />}
        </Field>
      </div>
      <Field form={form} name="data" label="Data">
        {({ name: _, 'aria-invalid': __, ...control }) => <JsonEditor {...control} aria-label="Data" />}
      </Field>
      <FormFooter form={form} onClose={onClose} disabled={!isReady}>
        Create context
      </FormFooter>
    </Form>
  )
}
