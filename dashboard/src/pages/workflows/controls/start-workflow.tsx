// The step that triggers another workflow: which, for whom, and with what payload.
import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { workflows } from '../../../api/workflows.ts'
import { Button } from '../../../ui/base/button.tsx'
import { Combobox } from '../../../ui/form/combobox.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { isBlank, issuesAt, objectOf, textOf, useStep } from '../draft/step-context.ts'
import { JsonControl, TextControl } from './basic.tsx'

const mostRecipients = 100

export function StartWorkflowControls() {
  const { values, set } = useStep()
  return (
    <div className="space-y-4">
      <WorkflowField />
      <Recipients />
      <JsonControl
        path="payload"
        label="Payload"
        optional
        hint="Texts are templates. A text that is exactly one variable keeps its type."
        className="max-h-72"
        value={values.payload}
        onValue={(payload) => set({ payload: payload === undefined ? undefined : objectOf(payload) })}
      />
      <TextControl
        path="cancellationKey"
        label="Cancellation key"
        optional
        placeholder="{{payload.orderId}}"
        hint="The started runs can be cancelled by it."
        value={values.cancellationKey}
        onValue={(cancellationKey) => set({ cancellationKey: cancellationKey || undefined })}
      />
    </div>
  )
}

function WorkflowField() {
  const { values, set, issues, readOnly } = useStep()
  const [typed, setTyped] = useState('')
  const query = useDeferredValue(typed.trim())
  const list = useQuery(workflows.list({ limit: 20, ...(query === '' ? {} : { query }) }))
  const found = list.data?.workflows ?? []
  return (
    <FieldFrame
      label="Workflow"
      hint="It runs beside this one: cancelling the one does not cancel the other."
      errors={issuesAt(issues, 'workflowId').map(({ message }) => message)}
      isEmpty={isBlank(values.workflowId)}
    >
      {(control) => (
        <Combobox
          {...control}
          className="w-full"
          placeholder="Choose a workflow…"
          allowNew
          disabled={readOnly}
          value={textOf(values.workflowId) || undefined}
          onValue={(workflowId) => set({ workflowId })}
          onSearch={setTyped}
          isLoading={list.isFetching}
          options={found.map(({ workflowId, name }) => ({
            ...{ value: workflowId, label: name },
            hint: name === workflowId ? undefined : workflowId,
          }))}
        />
      )}
    </FieldFrame>
  )
}

type Recipient = string | { type: 'Topic'; topicKey: string }

const kinds = [
  { value: 'subscriber', label: 'Subscriber' },
  { value: 'topic', label: 'Topic' },
] as const

function Recipients() {
  const { values, set, issues, readOnly } = useStep()
  const recipients = [values.to ?? []].flat() as Recipient[]
  const put = (index: number, recipient: Recipient | undefined) =>
    set({ to: recipients.flatMap((each, place) => (place === index ? (recipient ?? []) : [each])) })
  const general = issuesAt(issues, 'to').filter(({ path }) => path === 'to')
  const isFull = recipients.length >= mostRecipients
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1.5 text-sm font-medium">For</legend>
      {recipients.map((recipient, index) => {
        const isTopic = typeof recipient === 'object' && recipient !== null
        const text = isTopic ? recipient.topicKey : textOf(recipient)
        const write = (next: string, asTopic = isTopic) =>
          put(index, asTopic ? { type: 'Topic', topicKey: next } : next)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a recipient is its place
          <div key={index} className="flex items-start gap-2">
            <Select
              aria-label={`What recipient ${index + 1} is`}
              className="mt-6.5 w-32"
              disabled={readOnly}
              value={isTopic ? 'topic' : 'subscriber'}
              onValue={(kind) => write(text, kind === 'topic')}
              options={kinds}
            />
            <div className="min-w-0 flex-1">
              <TextControl
                path={`to.${index}`}
                label={isTopic ? `Topic ${index + 1}` : `Subscriber ${index + 1}`}
                placeholder={isTopic ? 'managers' : '{{payload.managerId}}'}
                value={text}
                onValue={(next) => write(next)}
              />
            </div>
            {!readOnly && (
              <Button
                variant="ghost"
                size="icon"
                className="mt-6.5"
                hint={`Remove recipient ${index + 1}`}
                onClick={() => put(index, undefined)}
              >
                <X />
              </Button>
            )}
          </div>
        )
      })}
      {general.map(({ message }) => (
        <p key={message} className="text-xs text-muted">
          {message}
        </p>
      ))}
      {!readOnly && (
        <Button
          size="sm"
          icon={<Plus />}
          disabled={isFull}
          {...(isFull ? { hint: `Up to ${mostRecipients} recipients` } : {})}
          onClick={() => set({ to: [...recipients, ''] })}
        >
          Add a recipient
        </Button>
      )}
    </fieldset>
  )
}
