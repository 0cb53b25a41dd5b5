import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useCanInOrganization, useSession } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import { type Variable, variables } from '../../api/variables.ts'
import { EnvironmentDot } from '../../ui/base/avatar.tsx'
import { Button } from '../../ui/base/button.tsx'
import { Loaded } from '../../ui/base/states.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import {
  Field,
  FieldFrame,
  Form,
  FormError,
  FormFooter,
  type FormState,
  SubmitButton,
  useForm,
} from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Checkbox } from '../../ui/form/switch.tsx'
import { Dialog, useConfirm } from '../../ui/frame/dialog.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'

interface Values {
  key: string
  isSecret: boolean
  /** By environment; null keeps the stored value. */
  values: Record<string, string | null>
}

const given = (values: Values['values']) =>
  Object.entries(values).flatMap(([id, value]) => (value === null ? [] : [{ _environmentId: id, value }]))

export function CreateVariable({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const form = useForm<Values, Variable>({
    initial: { key: '', isSecret: false, values: {} },
    submit: ({ key, isSecret, values }) =>
      variables.create({ key, isSecret, values: given(values).filter(({ value }) => value !== '') }),
    refresh: ['variables'],
    done: ({ key }) => `${key} created`,
    onDone: ({ key }) => void navigate({ to: '/variables/{-$variableKey}', params: { variableKey: key }, search: {} }),
  })
  return (
    <Dialog open onClose={onClose} size="md" title="New variable" description="Templates use it as {{env.KEY}}.">
      <Form form={form}>
        <KeyField form={form} disabled={false} />
        <SecretField form={form} disabled={false} />
        <ValueFields form={form} stored={[]} isStoredSecret={false} disabled={false} />
        <FormFooter form={form} onClose={onClose} disabled={form.values.key === ''}>
          Create variable
        </FormFooter>
      </Form>
    </Dialog>
  )
}

export function VariableSheet({ variableKey, onClose }: { variableKey: string | undefined; onClose: () => void }) {
  const query = useQuery({ ...variables.one(variableKey ?? ''), enabled: variableKey !== undefined })
  const canChange = useCanInOrganization('admin')
  const ask = useConfirm()
  const remove = useAction({
    do: (key: string) => variables.remove(key),
    refresh: ['variables'],
    done: (_, key) => `${key} deleted`,
    onDone: onClose,
  })
  if (variableKey === undefined) return null
  const askRemove = async () => {
    const { workflows } = await cache.fetchQuery(variables.usage(variableKey))
    const names = workflows.slice(0, 5).map(({ name }) => `“${name}”`)
    const more = workflows.length > names.length ? ` and ${workflows.length - names.length} more` : ''
    const used =
      workflows.length === 0
        ? 'No workflow uses it.'
        : `${workflows.length === 1 ? 'One workflow uses it' : `${workflows.length} workflows use it`}: ${names.join(', ')}${more}. They will render it empty.`
    const body = `${used} Its values in all environments are deleted. This cannot be undone.`
    if (await ask({ title: `Delete ${variableKey}?`, body, confirm: 'Delete variable' })) remove.mutate(variableKey)
  }
  return (
    <Sheet
      open
      onClose={onClose}
      title={<code className="text-base">{variableKey}</code>}
      label={variableKey}
      actions={
        canChange && (
          <Button variant="ghost" size="icon" hint="Delete" onClick={() => void askRemove()}>
            <Trash2 />
          </Button>
        )
      }
    >
      <Loaded query={query}>{(variable) => <EditVariable key={variable._id} variable={variable} />}</Loaded>
    </Sheet>
  )
}

function EditVariable({ variable }: { variable: Variable }) {
  const canChange = useCanInOrganization('admin')
  const navigate = useNavigate()
  const initial: Values = {
    key: variable.key,
    isSecret: variable.isSecret,
    values: Object.fromEntries(
      variable.values.map(({ _environmentId, value }) => [_environmentId, variable.isSecret ? null : value]),
    ),
  }
  const form = useForm<Values, Variable>({
    initial,
    submit: ({ key, isSecret, values }) => {
      const changed = given(values).filter(({ _environmentId: id, value }) => value !== initial.values[id])
      return variables.change(variable.key, {
        ...(key === variable.key ? {} : { key }),
        ...(isSecret === variable.isSecret ? {} : { isSecret }),
        ...(changed.length === 0 ? {} : { values: changed }),
      })
    },
    refresh: ['variables'],
    done: 'Saved. It applies from the next message on',
    onDone: (after) => {
      if (after.key !== variable.key)
        void navigate({ to: '/variables/{-$variableKey}', params: { variableKey: after.key }, search: true })
      if (after.isSecret)
        form.reset({
          key: after.key,
          isSecret: true,
          values: Object.fromEntries(after.values.map(({ _environmentId }) => [_environmentId, null])),
        })
    },
  })
  return (
    <div className="space-y-6">
      {!canChange && (
        <p className="rounded-surface border bg-raised px-3 py-2 text-sm text-muted">
          You can view this. Only admins and owners can change variables.
        </p>
      )}
      <Form form={form}>
        <KeyField form={form} disabled={!canChange} />
        <SecretField form={form} disabled={!canChange} />
        <ValueFields
          form={form}
          stored={variable.values.map(({ _environmentId }) => _environmentId)}
          isStoredSecret={variable.isSecret}
          disabled={!canChange}
        />
        <FormError form={form} />
        {canChange && (
          <div className="flex gap-2">
            <SubmitButton form={form} disabled={!form.isDirty}>
              Save
            </SubmitButton>
            {form.isDirty && <Button onClick={() => form.reset()}>Discard</Button>}
          </div>
        )}
      </Form>
      <section aria-label="Use" className="space-y-3 border-t pt-5">
        <CodeBlock code={`{{env.${variable.key}}}`} title="In a template" />
        <Usage variableKey={variable.key} />
      </section>
    </div>
  )
}

function KeyField({ form, disabled }: { form: FormState<Values>; disabled: boolean }) {
  return (
    <Field form={form} name="key" label="Key" hint="Letters, digits and underscores, such as SUPPORT_EMAIL.">
      {(control) => (
        <Input {...control} disabled={disabled} className="font-mono text-code" spellCheck={false} autoComplete="off" />
      )}
    </Field>
  )
}

function SecretField({ form, disabled }: { form: FormState<Values>; disabled: boolean }) {
  return (
    <Field
      form={form}
      name="isSecret"
      label="Secret"
      hint="Its values are never shown again. Templates still use them."
      inline
    >
      {(control) => <Checkbox {...control} disabled={disabled} />}
    </Field>
  )
}

interface ValueFieldsProps {
  form: FormState<Values>
  /** Environments that have a value. */
  stored: readonly string[]
  isStoredSecret: boolean
  disabled: boolean
}

function ValueFields({ form, stored, isStoredSecret, disabled }: ValueFieldsProps) {
  const { environments } = useSession()
  const { values, isSecret } = form.values
  const set = (id: string, value: string | null) => form.set({ values: { ...values, [id]: value } })
  return (
    <fieldset className="space-y-3">
      <legend className="mb-2 text-sm font-medium">Values</legend>
      {environments.map(({ _id, name, color }) => {
        const isKept = isStoredSecret && stored.includes(_id) && (values[_id] ?? null) === null
        return (
          <FieldFrame
            key={_id}
            label={
              <span className="inline-flex items-center gap-1.5 font-normal">
                <EnvironmentDot color={color} />
                {name}
              </span>
            }
          >
            {(control) =>
              isKept ? (
                <div className="flex gap-2">
                  <Input {...control} value="••••••••••••" readOnly disabled className="font-mono" />
                  {!disabled && (
                    <Button onClick={() => set(_id, '')}>
                      Replace<span className="sr-only"> the value in {name}</span>
                    </Button>
                  )}
                </div>
              ) : (
                <div className="flex gap-2">
                  <Input
                    {...control}
                    value={values[_id] ?? ''}
                    onValue={(value) => set(_id, value)}
                    placeholder={stored.includes(_id) ? 'Empty' : 'Not set'}
                    disabled={disabled}
                    className={isSecret ? 'font-mono text-code [-webkit-text-security:disc]' : 'font-mono text-code'}
                    autoComplete="off"
                    spellCheck={false}
                    dir="auto"
                  />
                  {isStoredSecret && stored.includes(_id) && (
                    <Button onClick={() => set(_id, null)}>Keep the stored value</Button>
                  )}
                </div>
              )
            }
          </FieldFrame>
        )
      })}
    </fieldset>
  )
}

function Usage({ variableKey }: { variableKey: string }) {
  const query = useQuery(variables.usage(variableKey))
  return (
    <Loaded query={query}>
      {({ workflows }) =>
        workflows.length === 0 ? (
          <p className="text-sm text-muted">No workflow uses it yet.</p>
        ) : (
          <div>
            <h3 className="mb-1.5 text-sm font-medium">Used in</h3>
            <ul className="divide-y rounded-surface border">
              {workflows.map(({ workflowId, name }) => (
                <li key={workflowId}>
                  <Link
                    to={`/workflows/${workflowId}` as '/'}
                    search={{}}
                    className="flex min-h-10 items-center gap-2 px-3 text-sm hover:bg-hover"
                  >
                    <span className="truncate" dir="auto">
                      {name}
                    </span>
                    <code className="ml-auto truncate text-muted">{workflowId}</code>
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        )
      }
    </Loaded>
  )
}
