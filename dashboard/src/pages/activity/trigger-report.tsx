// A trigger without runs: its progress, and which recipients were skipped and why.
import { useQuery } from '@tanstack/react-query'
import { Hourglass, SearchX } from 'lucide-react'
import { ApiError } from '../../api/client.ts'
import { type TriggerReport as Report, runs } from '../../api/runs.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState, ErrorState, SkeletonText } from '../../ui/base/states.tsx'

const skipReasons: Record<Report['passedOver'][number]['reason'], string> = {
  topic_not_found: 'The topic does not exist',
  topic_subscription_preference_evaluation: 'Filtered out by the subscription to the topic',
  excluded: 'Excluded by the trigger',
  actor: 'Caused the event, so was not notified',
  invalid_recipient: 'Not a valid subscriber id',
  canceled_by_user: 'The trigger was cancelled first',
}

export function TriggerReport({ transactionId, onClear }: { transactionId: string; onClear: () => void }) {
  const report = useQuery({
    ...runs.trigger(transactionId),
    refetchInterval: ({ state }) => (state.data?.status === 'expanded' ? false : 3_000),
  })
  const clear = <Button onClick={onClear}>Show all activity</Button>
  if (report.error instanceof ApiError && report.error.status === 404)
    return (
      <EmptyState icon={<SearchX />} title="No runs for this trigger" action={clear}>
        {report.error.message}
      </EmptyState>
    )
  if (report.error) return <ErrorState error={report.error} onRetry={() => void report.refetch()} />
  if (!report.data)
    return (
      <div className="p-6">
        <SkeletonText />
      </div>
    )
  const { status, passedOver: people, hasMore } = report.data
  if (status !== 'expanded')
    return (
      <EmptyState
        icon={<Hourglass />}
        title={
          status === 'queued' ? 'The trigger is waiting for a worker' : 'The trigger is looking for its recipients'
        }
      >
        Its runs appear here as they start.
      </EmptyState>
    )
  return (
    <EmptyState icon={<SearchX />} title="The trigger reached nobody" action={clear}>
      {people.length === 0 ? (
        'It had no recipients, or its topics have no subscribers.'
      ) : (
        <ul className="mt-3 divide-y divide-line rounded-surface border text-left">
          {people.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items have no id, and none is inserted between others
            <li key={index} className="px-3 py-2">
              <span className="text-ink">{skipReasons[one.reason]}</span>
              {one.detail && <span> ({one.detail})</span>}
              <div className="truncate font-mono text-code">{one.named ?? one.subscriberIds.join(', ')}</div>
            </li>
          ))}
          {hasMore && <li className="px-3 py-2">and others</li>}
        </ul>
      )}
    </EmptyState>
  )
}
