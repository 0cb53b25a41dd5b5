import { useQuery } from '@tanstack/react-query'
import { ArrowRight, Trash2 } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Context, contexts, keyOf, nameIn } from '../../api/contexts.ts'
import { Button, ButtonLink } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Time } from '../../ui/base/time.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { JsonEditor, jsonText, readJsonObject } from '../../ui/code/json-editor.tsx'
import { Field, Form, FormError, SubmitButton, useForm, useUnsavedGuard } from '../../ui/form/form.tsx'
import { Menu, MenuItem } from '../../ui/frame/menu.tsx'
import { Facts } from '../../ui/frame/page.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'

export function ContextSheet({ contextKey, onClose }: { contextKey: string | undefined; onClose: () => void }) {
  const name = nameIn(contextKey ?? '')
  const query = useQuery({ ...contexts.one(name), enabled: contextKey !== undefined })
  return (
    <Sheet
      open={contextKey !== undefined}
      onClose={onClose}
      label={contextKey ?? ''}
      title={name.id}
      subtitle={name.type}
      actions={query.data && <ContextMenu context={query.data} onDeleted={onClose} />}
    >
      {contextKey !== undefined && (
        <Loaded query={query} skeleton={<SkeletonText lines={6} />}>
          {(context) => <ContextForm key={keyOf(context)} context={context} />}
        </Loaded>
      )}
    </Sheet>
  )
}

function ContextMenu({ context, onDeleted }: { context: Context; onDeleted: () => void }) {
  const canEdit = useCan('editor')
  const { type, id, data } = context
  const remove = useAction({
    do: () => contexts.remove(context),
    refresh: ['contexts'],
    done: `${keyOf(context)} deleted`,
    undo: () => contexts.create({ type, id, data }),
    onDone: onDeleted,
  })
  if (!canEdit) return null
  return (
    <Menu label={`Actions for ${keyOf(context)}`}>
      <MenuItem icon={<Trash2 />} danger onSelect={() => remove.mutate()}>
        Delete
      </MenuItem>
    </Menu>
  )
}

function ContextForm({ context }: { context: Context }) {
  const canEdit = useCan('editor')
  const { type, id } = context
  const form = useForm({
    initial: { data: jsonText(context.data) },
    submit: ({ data }) => contexts.change(context, readJsonObject(data).value ?? {}),
    refresh: ['contexts'],
    done: 'Context saved',
  })
  useUnsavedGuard(form.isDirty && canEdit)
  const isBroken = readJsonObject(form.values.data).problem !== undefined
  const [first = 'name'] = Object.keys(context.data)
  return (
    <Form form={form}>
      <Field form={form} name="data" label="Data" hint="A trigger that sends other data for this context replaces it.">
        {({ name: _, 'aria-invalid': __, ...control }) => (
          <JsonEditor {...control} aria-label="Data" readOnly={!canEdit} className="min-h-48" />
        )}
      </Field>
      <FormError form={form} />
      {canEdit && (
        <div className="flex gap-2">
          <SubmitButton form={form} disabled={!form.isDirty || isBroken}>
            Save data
          </SubmitButton>
          {form.isDirty && <Button onClick={() => form.reset()}>Discard</Button>}
        </div>
      )}
      <div className="space-y-4 border-t pt-4">
        <CodeBlock title="In a template" code={`{{context.${type}.data.${first}}}`} />
        <Facts
          facts={[
            ['Key', <Id key="key" value={`${type}:${id}`} />],
            ['Created', <Time key="created" at={context.createdAt} />],
            ['Updated', <Time key="updated" at={context.updatedAt} />],
          ]}
        />
        <ButtonLink to={'/activity' as '/'} search={{ contextKeys: keyOf(context) }} icon={<ArrowRight />}>
          Runs in this context
        </ButtonLink>
      </div>
    </Form>
  )
}
