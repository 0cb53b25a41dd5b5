import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { topics } from '../../api/topics.ts'
import { identifierOf } from '../../ui/base/identifier.ts'
import { Field, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Checkbox } from '../../ui/form/switch.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'

export const CreateTopic = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Dialog open={open} onClose={onClose} title="New topic">
    {open && <CreateForm onClose={onClose} />}
  </Dialog>
)

function CreateForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [hasOwnKey, setOwnKey] = useState(false)
  const form = useForm({
    initial: { name: '', key: '', joinableFromBrowser: false },
    submit: ({ name, key, joinableFromBrowser }) =>
      topics.create({ key: key.trim(), name: name.trim(), joinableFromBrowser }),
    refresh: ['topics'],
    done: ({ name, key }) => `${name ?? key} created`,
    onDone: ({ key }) =>
      void navigate({
        to: '/topics/{-$topicKey}',
        params: { topicKey: key },
        search: (search: object) => ({ ...search, new: undefined }),
      }),
  })
  return (
    <Form form={form}>
      <Field form={form} name="name" label="Name">
        {(control) => (
          <Input
            {...control}
            autoFocus
            dir="auto"
            maxLength={100}
            placeholder="Release notes"
            onValue={(name) => form.set({ name, ...(hasOwnKey ? {} : { key: identifierOf(name) }) })}
          />
        )}
      </Field>
      <Field form={form} name="key" label="Key" hint="Triggers use it. It cannot be changed later.">
        {(control) => (
          <Input
            {...control}
            spellCheck={false}
            maxLength={100}
            className="font-mono text-code"
            placeholder="release-notes"
            onValue={(key) => {
              setOwnKey(key !== '')
              form.set({ key })
            }}
          />
        )}
      </Field>
      <Field
        form={form}
        name="joinableFromBrowser"
        label="Joinable from a browser"
        hint="For topics that everybody may read: a page can offer a button to follow it."
        inline
      >
        {(control) => <Checkbox {...control} />}
      </Field>
      <FormFooter form={form} onClose={onClose} disabled={form.values.key.trim() === ''}>
        Create topic
      </FormFooter>
    </Form>
  )
}
