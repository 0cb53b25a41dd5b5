// Which workflows reach a subscriber through a topic: all, some, or only with certain payloads.
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { preferenceBody, type SubscriptionDetails, topics } from '../../api/topics.ts'
import { workflows } from '../../api/workflows.ts'
import { Button } from '../../ui/base/button.tsx'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { JsonEditor, jsonText, readJsonObject } from '../../ui/code/json-editor.tsx'
import { Combobox } from '../../ui/form/combobox.tsx'
import { Field, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog, DialogFooter } from '../../ui/frame/dialog.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'

interface SubscriptionPreferencesProps {
  topicKey: string
  identifier: string | undefined
  onClose: () => void
}

export function SubscriptionPreferences({ topicKey, identifier, onClose }: SubscriptionPreferencesProps) {
  const query = useQuery({
    ...topics.subscription(topicKey, identifier ?? ''),
    enabled: identifier !== undefined,
  })
  return (
    <Dialog
      open={identifier !== undefined}
      onClose={onClose}
      size="md"
      title="Workflows of this subscription"
      description="Workflows that are not listed here always reach the subscriber through this topic."
    >
      {identifier !== undefined && (
        <Loaded query={query} skeleton={<SkeletonText lines={5} />}>
          {(details) => <PreferencesForm topicKey={topicKey} details={details} onClose={onClose} />}
        </Loaded>
      )}
    </Dialog>
  )
}

type Mode = 'on' | 'off' | 'if'
interface Rule {
  workflowId: string
  name: string
  mode: Mode
  condition: string
}

const exampleCondition = { '==': [{ var: 'payload.priority' }, 'high'] }

const ruleOf = (preference: SubscriptionDetails['preferences'][number]): Rule => {
  const { workflowId, enabled, condition } = preferenceBody(preference)
  return {
    workflowId,
    name: preference.workflow.name,
    mode: condition ? 'if' : enabled ? 'on' : 'off',
    condition: jsonText(condition ?? exampleCondition),
  }
}

const bodyOf = ({ workflowId, mode, condition }: Rule) => ({
  workflowId,
  enabled: mode !== 'off',
  ...(mode === 'if' ? { condition: readJsonObject(condition).value ?? {} } : {}),
})

interface PreferencesFormProps {
  topicKey: string
  details: SubscriptionDetails
  onClose: () => void
}

function PreferencesForm({ topicKey, details, onClose }: PreferencesFormProps) {
  const canEdit = useCan('editor')
  const [typed, setTyped] = useState('')
  const found = useQuery({ ...workflows.list({ limit: 20, query: typed }), enabled: canEdit })
  const form = useForm({
    initial: { name: details.name ?? '', rules: details.preferences.map(ruleOf) },
    submit: ({ name, rules }) =>
      topics.changeSubscription(topicKey, details.identifier, { name, preferences: rules.map(bodyOf) }),
    refresh: ['topics'],
    done: 'Saved',
    onDone: onClose,
  })
  const { rules } = form.values
  const setRule = (workflowId: string, patch: Partial<Rule>) =>
    form.set({ rules: rules.map((rule) => (rule.workflowId === workflowId ? { ...rule, ...patch } : rule)) })
  const free = (found.data?.workflows ?? []).filter(({ workflowId }) =>
    rules.every((rule) => rule.workflowId !== workflowId),
  )
  const isBroken = rules.some(({ mode, condition }) => mode === 'if' && readJsonObject(condition).problem !== undefined)
  return (
    <Form form={form}>
      <Field form={form} name="name" label="Name of the subscription" optional>
        {(control) => <Input {...control} disabled={!canEdit} dir="auto" />}
      </Field>
      {details.contextKeys.length > 0 && (
        <p className="flex flex-wrap items-center gap-2 text-sm text-muted">
          Only in context{' '}
          {details.contextKeys.map((key) => (
            <Badge key={key}>{key}</Badge>
          ))}
        </p>
      )}
      {rules.length === 0 ? (
        <p className="rounded-surface border border-dashed px-4 py-6 text-center text-sm text-muted">
          Every workflow triggered for this topic reaches the subscriber.
        </p>
      ) : (
        <ul className="divide-y rounded-surface border">
          {rules.map((rule) => (
            <li key={rule.workflowId} className="space-y-2 px-3 py-2.5">
              <div className="flex flex-wrap items-center gap-2">
                <span className="min-w-0 flex-1 truncate text-sm font-medium" dir="auto">
                  {rule.name}
                </span>
                <fieldset disabled={!canEdit} className="contents">
                  <Segments<Mode>
                    label={`When to send ${rule.name}`}
                    value={rule.mode}
                    onValue={(mode) => canEdit && setRule(rule.workflowId, { mode })}
                    options={[
                      { value: 'on', label: 'Always' },
                      { value: 'if', label: 'If…' },
                      { value: 'off', label: 'Never' },
                    ]}
                  />
                </fieldset>
                {canEdit && (
                  <Button
                    variant="ghost"
                    size="icon"
                    hint={`Remove ${rule.name}`}
                    onClick={() => form.set({ rules: rules.filter((one) => one !== rule) })}
                  >
                    <X />
                  </Button>
                )}
              </div>
              {rule.mode === 'if' && (
                <>
                  <JsonEditor
                    aria-label={`Condition for ${rule.name}`}
                    value={rule.condition}
                    readOnly={!canEdit}
                    onValue={(condition) => setRule(rule.workflowId, { condition })}
                  />
                  <p className="text-xs text-muted">
                    JSON Logic over <code>payload</code>. The message is sent if it is true.
                  </p>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {canEdit && (
        <Combobox
          aria-label="Add a workflow"
          placeholder="Add a workflow…"
          value={undefined}
          onSearch={setTyped}
          isLoading={found.isFetching}
          options={free.map(({ workflowId, name }) => ({ value: workflowId, label: name, hint: workflowId }))}
          onValue={(workflowId) => {
            const name = free.find((one) => one.workflowId === workflowId)?.name ?? workflowId
            form.set({ rules: [...rules, { workflowId, name, mode: 'off', condition: jsonText(exampleCondition) }] })
          }}
        />
      )}
      <FormError form={form} />
      {canEdit && (
        <DialogFooter>
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton form={form} disabled={!form.isDirty || isBroken}>
            Save
          </SubmitButton>
        </DialogFooter>
      )}
    </Form>
  )
}
