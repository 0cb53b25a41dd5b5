// Would somebody get this? A workflow and a person, and the gates between them.
import { useQuery } from '@tanstack/react-query'
import { DoorOpen } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { explain } from '../../api/explain.ts'
import { nameOf, subscribers } from '../../api/subscribers.ts'
import { workflows } from '../../api/workflows.ts'
import { EmptyState, Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { JsonEditor, readJsonObject } from '../../ui/code/json-editor.tsx'
import { Explained } from '../../ui/domain/doors.tsx'
import { SubscriberPicker } from '../../ui/domain/subscriber-picker.tsx'
import { Combobox } from '../../ui/form/combobox.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'

const schema = { workflowId: text(), subscriberId: text() }

export function Page() {
  const [{ workflowId, subscriberId }, set] = useUrlState(schema)
  const [written, setWritten] = useState('{}')
  const payload = readJsonObject(useDeferredValue(written)).value ?? {}
  return (
    <Frame
      title="Would they get it?"
      description="Plays one trigger for one person, as everything is now. Nothing is sent."
      width="content"
    >
      <div className="grid gap-x-8 gap-y-6 lg:grid-cols-[280px_minmax(0,1fr)]">
        <div className="space-y-4">
          <FieldFrame label="Workflow">
            {(control) => (
              <WorkflowPicker id={control.id} value={workflowId} onValue={(next) => set({ workflowId: next })} />
            )}
          </FieldFrame>
          <FieldFrame label="Subscriber" hint="Or an id that nobody has yet.">
            {(control) => (
              <SubscriberPicker
                id={control.id}
                allowNew
                value={subscriberId || undefined}
                onValue={(next) => set({ subscriberId: next })}
              />
            )}
          </FieldFrame>
          <FieldFrame label="Payload">
            {(control) => (
              <JsonEditor
                id={control.id}
                aria-label="Payload"
                className="max-h-56 min-h-24"
                value={written}
                onValue={setWritten}
              />
            )}
          </FieldFrame>
        </div>
        <div className="@container min-w-0">
          {workflowId === '' || subscriberId === '' ? (
            <EmptyState icon={<DoorOpen />} title="Choose a workflow and a subscriber">
              You see every gate on the way: preferences, schedule, conditions, providers, addresses and content.
            </EmptyState>
          ) : (
            <Answer workflowId={workflowId} subscriberId={subscriberId} payload={payload} />
          )}
        </div>
      </div>
    </Frame>
  )
}

interface Asked {
  workflowId: string
  subscriberId: string
  payload: Record<string, unknown>
}

function Answer(asked: Asked) {
  const query = useQuery(explain.ahead(asked))
  const person = useQuery(subscribers.list({ limit: 1, subscriberId: asked.subscriberId }))
  const [known] = person.data?.data ?? []
  return (
    <Loaded query={query} skeleton={<SkeletonText lines={8} />}>
      {(explanation) => <Explained explanation={explanation} who={known ? nameOf(known) : asked.subscriberId} />}
    </Loaded>
  )
}

function WorkflowPicker({ id, value, onValue }: { id: string; value: string; onValue: (value: string) => void }) {
  const [typed, setTyped] = useState('')
  const query = useDeferredValue(typed.trim())
  const list = useQuery(workflows.list({ limit: 20, ...(query === '' ? {} : { query }) }))
  const chosen = useQuery({ ...workflows.one(value), enabled: value !== '' })
  return (
    <Combobox
      id={id}
      aria-label="Workflow"
      placeholder="Choose a workflow…"
      value={value || undefined}
      onValue={onValue}
      display={chosen.data?.name}
      onSearch={setTyped}
      isLoading={list.isFetching}
      options={(list.data?.workflows ?? []).map(({ workflowId, name }) => ({
        value: workflowId,
        label: name,
        hint: workflowId,
      }))}
    />
  )
}
