// Shown while no step is selected: how to trigger this workflow, and its details.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { useCan } from '../../../api/auth.ts'
import { environments } from '../../../api/environments.ts'
import { nameOf } from '../../../api/subscribers.ts'
import type { Workflow } from '../../../api/workflows.ts'
import { Id } from '../../../ui/base/copy.tsx'
import { Badge } from '../../../ui/base/status.tsx'
import { Time } from '../../../ui/base/time.tsx'
import { RequestCode } from '../../../ui/code/code-block.tsx'
import { Facts } from '../../../ui/frame/page.tsx'
import { type PreviewData, useExamplePayload } from '../draft/preview-data.ts'

interface TriggerPanelProps {
  workflow: Workflow
  data: PreviewData
}

export const TriggerPanel = memo(function TriggerPanel({ workflow, data }: TriggerPanelProps) {
  const canSeeKeys = useCan('owner')
  const keys = useQuery({ ...environments.apiKeys(), enabled: canSeeKeys })
  const key = keys.data?.[0]?.key
  const example = useExamplePayload(workflow)
  const { payload = example, subscriber } = data
  const to = subscriber
    ? { subscriberId: subscriber.subscriberId, ...(subscriber.email ? { email: subscriber.email } : {}) }
    : { subscriberId: 'ada', email: 'ada@example.com' }
  return (
    <section aria-label="Trigger" className="h-full overflow-y-auto bg-page px-4 py-5">
      <h2 className="text-base font-semibold">Trigger it from your program</h2>
      <p className="mt-1 mb-3 text-sm text-pretty text-muted">
        {subscriber
          ? `To ${nameOf(subscriber)}, as chosen for the preview.`
          : 'A new subscriber is created automatically.'}
      </p>
      <RequestCode
        request={{ method: 'POST', path: '/v1/events/trigger', body: { name: workflow.workflowId, to, payload } }}
        {...(key ? { apiKey: key } : {})}
      />
      <div className="mt-6">
        <Facts
          facts={[
            ['Identifier', <Id key="id" value={workflow.workflowId} />],
            [
              'Last triggered',
              workflow.lastTriggeredAt ? (
                <Link
                  key="runs"
                  to={'/activity' as '/'}
                  search={{ workflowIds: workflow.workflowId }}
                  className="underline underline-offset-2"
                >
                  <Time at={workflow.lastTriggeredAt} />
                </Link>
              ) : (
                'Never'
              ),
            ],
            ['Updated', <Time key="updated" at={workflow.updatedAt} />],
            [
              'Tags',
              workflow.tags.length > 0 ? (
                <span key="tags" className="flex flex-wrap gap-1">
                  {workflow.tags.map((tag) => (
                    <Badge key={tag}>{tag}</Badge>
                  ))}
                </span>
              ) : undefined,
            ],
            ['Description', workflow.description || undefined],
          ]}
        />
      </div>
    </section>
  )
})
