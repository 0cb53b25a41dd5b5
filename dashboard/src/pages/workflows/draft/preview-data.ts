// The example payload and subscriber for previews and test runs, kept in this browser.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { currentEnvironment } from '../../../api/client.ts'
import { type Subscriber, subscribers } from '../../../api/subscribers.ts'
import { type Workflow, workflows } from '../../../api/workflows.ts'
import { objectOf } from './step-context.ts'

export interface PreviewData {
  /** The user's changes to the server's example; undefined for none. */
  payload: Record<string, unknown> | undefined
  subscriberId: string | undefined
  subscriber: Subscriber | undefined
  setPayload: (payload: Record<string, unknown> | undefined) => void
  setSubscriberId: (subscriberId: string | undefined) => void
}

interface Kept {
  payload?: Record<string, unknown> | undefined
  subscriberId?: string | undefined
}

export function usePreviewData(workflowId: string): PreviewData {
  const place = `belfry-preview:${currentEnvironment()}:${workflowId}`
  const [kept, setKept] = useState<Kept>(() => {
    try {
      return JSON.parse(localStorage.getItem(place) ?? '{}') as Kept
    } catch {
      return {}
    }
  })
  useEffect(() => localStorage.setItem(place, JSON.stringify(kept)), [place, kept])
  const { subscriberId, payload } = kept
  const found = useQuery({
    ...subscribers.list({ subscriberId: subscriberId ?? '', limit: 1 }),
    enabled: subscriberId !== undefined,
  })
  return {
    payload,
    subscriberId,
    subscriber: subscriberId === undefined ? undefined : found.data?.data[0],
    setPayload: (payload) => setKept((before) => ({ ...before, payload })),
    setSubscriberId: (subscriberId) => setKept((before) => ({ ...before, subscriberId })),
  }
}

/** An example payload: fields of the schema and variables the templates use. */
export function useExamplePayload(workflow: Workflow): Record<string, unknown> {
  const { workflowId, steps, updatedAt } = workflow
  // The last step can use the most variables.
  const stepId = steps.at(-1)?.stepId ?? ''
  const preview = useQuery({ ...workflows.preview(workflowId, stepId, {}, updatedAt), enabled: stepId !== '' })
  const example = objectOf(preview.data?.previewPayloadExample)
  return objectOf(example.payload ?? workflow.payloadExample)
}

/** The example for a preview, as the server takes it. */
export const previewPayloadOf = ({ payload, subscriber }: PreviewData) => ({
  ...(payload ? { payload } : {}),
  ...(subscriber ? { subscriber: variablesOf(subscriber) } : {}),
})

/** As templates see it: without empty values. */
function variablesOf(subscriber: Subscriber): Record<string, unknown> {
  const { subscriberId, firstName, lastName, email, phone, avatar, locale, timezone, data } = subscriber
  const all = { subscriberId, firstName, lastName, email, phone, avatar, locale, timezone, data: data ?? {} }
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value ?? '']))
}
