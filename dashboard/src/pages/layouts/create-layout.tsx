import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { layouts } from '../../api/layouts.ts'
import { identifierOf } from '../../ui/base/identifier.ts'
import type { EmailEditorType } from '../../ui/email/email-editor.tsx'
import { Field, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'
import { starterOf } from './starters.ts'

export const CreateLayout = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Dialog open={open} onClose={onClose} title="New layout">
    {open && <CreateForm onClose={onClose} />}
  </Dialog>
)

function CreateForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [hasOwnId, setOwnId] = useState(false)
  const form = useForm({
    initial: { name: '', layoutId: '', editorType: 'html' as EmailEditorType },
    submit: async ({ name, layoutId, editorType }) => {
      const created = await layouts.create({ name: name.trim(), layoutId: layoutId.trim(), __source: 'dashboard' })
      const email = { body: starterOf(editorType), editorType }
      return layouts.change(created.layoutId, { name: created.name, controlValues: { email } })
    },
    refresh: ['layouts'],
    onDone: ({ layoutId }) => void navigate({ to: '/layouts/$layoutId', params: { layoutId }, search: {} }),
  })
  const { name, layoutId } = form.values
  return (
    <Form form={form}>
      <Field form={form} name="name" label="Name">
        {(control) => (
          <Input
            {...control}
            autoFocus
            dir="auto"
            placeholder="Newsletter"
            onValue={(name) => form.set({ name, ...(hasOwnId ? {} : { layoutId: identifierOf(name) }) })}
          />
        )}
      </Field>
      <Field form={form} name="layoutId" label="Identifier" hint="Email steps refer to it. It cannot be changed later.">
        {(control) => (
          <Input
            {...control}
            spellCheck={false}
            className="font-mono text-code"
            placeholder="newsletter"
            onValue={(layoutId) => {
              setOwnId(layoutId !== '')
              form.set({ layoutId })
            }}
          />
        )}
      </Field>
      <Field form={form} name="editorType" label="Written in">
        {({ value, onValue }) => (
          <Segments<EmailEditorType>
            label="Written in"
            value={value}
            onValue={onValue}
            options={[
              { value: 'html', label: 'HTML' },
              { value: 'block', label: 'Blocks' },
            ]}
          />
        )}
      </Field>
      <FormFooter form={form} onClose={onClose} disabled={name.trim() === '' || layoutId.trim() === ''}>
        Create layout
      </FormFooter>
    </Form>
  )
}
