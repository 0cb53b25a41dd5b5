// The example payload and subscriber for previews and test runs, kept in this browser.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { currentEnvironment } from '../../../api/client.ts'
import { type Subscriber, subscribers } from '../../../api/subscribers.ts'
import { type Workflow, workflows } from '../../../api/workflows.ts'
import { objectOf } from './step-context.ts'

/** A test run sends each as a trigger. */
export const mostExampleEvents = 20

type Members = Record<string, unknown>

interface Kept {
  /** The user's changes to the server's example; undefined for none. */
  payload?: Members | undefined
  subscriberId?: string | undefined
  /** Instead of the subscriber's own. */
  locale?: string | undefined
  /** What a digest has collected: the payload of each event. */
  events?: Members[] | undefined
}

export interface PreviewData extends Kept {
  subscriber: Subscriber | undefined
  /** The `stepId` of each digest. */
  digests: readonly string[]
  set: (patch: Kept) => void
}

export function usePreviewData(
  workflowId: string,
  steps: ReadonlyArray<{ stepId: string; type: string }>,
): PreviewData {
  const place = `belfry-preview:${currentEnvironment()}:${workflowId}`
  const [kept, setKept] = useState<Kept>(() => {
    try {
      return JSON.parse(localStorage.getItem(place) ?? '{}') as Kept
    } catch {
      return {}
    }
  })
  useEffect(() => localStorage.setItem(place, JSON.stringify(kept)), [place, kept])
  const { subscriberId } = kept
  const found = useQuery({
    ...subscribers.list({ subscriberId: subscriberId ?? '', limit: 1 }),
    enabled: subscriberId !== undefined,
  })
  const subscriber = subscriberId === undefined ? undefined : found.data?.data[0]
  const digests = steps.filter(({ type }) => type === 'digest').map(({ stepId }) => stepId)
  const digestsKey = JSON.stringify(digests)
  // The same object until something in it changes: the panels are drawn from it.
  return useMemo(
    () => ({
      ...kept,
      subscriber,
      digests: JSON.parse(digestsKey) as string[],
      set: (patch) => setKept((before) => ({ ...before, ...patch })),
    }),
    [kept, subscriber, digestsKey],
  )
}

/** An example payload: fields of the schema and variables the templates use. */
export function useExamplePayload(workflow: Workflow): Record<string, unknown> {
  const { workflowId, steps, updatedAt } = workflow
  // The last step can use the most variables.
  const stepId = steps.at(-1)?.stepId ?? ''
  const preview = useQuery({ ...workflows.preview(workflowId, stepId, {}, updatedAt), enabled: stepId !== '' })
  const { payloadExample } = workflow
  return useMemo(() => {
    const example = objectOf(preview.data?.previewPayloadExample)
    return objectOf(example.payload ?? payloadExample)
  }, [preview.data, payloadExample])
}

/** The same for all examples of a visit, so that previews do not change by themselves. */
const time = new Date().toISOString()

/** The example for a preview, as the server takes it. */
export function previewPayloadOf({ payload, subscriber, locale, events, digests }: PreviewData) {
  const person = { ...(subscriber ? variablesOf(subscriber) : {}), ...(locale ? { locale } : {}) }
  const collected = events?.map((event, index) => ({ id: String(index + 1), time, payload: event }))
  return {
    ...(payload ? { payload } : {}),
    ...(Object.keys(person).length > 0 ? { subscriber: person } : {}),
    ...(collected ? { steps: Object.fromEntries(digests.map((stepId) => [stepId, { events: collected }])) } : {}),
  }
}

/** As templates see it: without empty values. */
function variablesOf(subscriber: Subscriber): Record<string, unknown> {
  const { subscriberId, firstName, lastName, email, phone, avatar, locale, timezone, data } = subscriber
  const all = { subscriberId, firstName, lastName, email, phone, avatar, locale, timezone, data: data ?? {} }
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value ?? '']))
}
