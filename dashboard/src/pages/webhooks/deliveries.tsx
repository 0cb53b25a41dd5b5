// The delivery log of one endpoint: what was sent, how it answered, and a button to send again.
import { useQuery } from '@tanstack/react-query'
import { ChevronRight, RotateCw, Send } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type WebhookDelivery, type WebhookEndpoint, webhooks } from '../../api/webhooks.ts'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { Id } from '../../ui/base/copy.tsx'
import { EmptyState, ErrorState, Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Status, type Tone } from '../../ui/base/status.tsx'
import { absoluteTime, duration, Time } from '../../ui/base/time.tsx'
import { JsonView } from '../../ui/code/json-view.tsx'
import { FilterChip } from '../../ui/list/filters.tsx'
import { Paging } from '../../ui/list/table.tsx'
import { manyOf, text, useUrlState } from '../../ui/list/url-state.ts'

const states: Record<WebhookDelivery['status'], { word: string; tone: Tone }> = {
  pending: { word: 'Waiting', tone: 'info' },
  sending: { word: 'Sending', tone: 'info' },
  delivered: { word: 'Delivered', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
}
const statuses = Object.keys(states) as Array<WebhookDelivery['status']>
const schema = { status: manyOf(statuses), delivery: text(), after: text(), before: text() }

export function Deliveries({ endpoint }: { endpoint: WebhookEndpoint }) {
  const [url, setUrl] = useUrlState(schema)
  const { after, before, status, delivery } = url
  const list = useQuery(
    webhooks.deliveries({
      ...{ endpointId: endpoint._id, limit: 20, after, before },
      ...(status[0] ? { status: status[0] } : {}),
    }),
  )
  if (list.error && !list.data) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />
  return (
    <div>
      <div className="mb-3 flex items-center gap-2">
        <FilterChip
          label="Status"
          single
          options={statuses.map((value) => ({ value, label: states[value].word }))}
          value={status}
          onValue={(chosen) => setUrl({ status: chosen as typeof status, delivery: '' })}
        />
      </div>
      {!list.data ? (
        <SkeletonText lines={5} />
      ) : list.data.data.length === 0 ? (
        <EmptyState
          icon={<Send />}
          title={status.length > 0 ? 'No delivery matches' : 'No deliveries yet'}
          className="py-10"
          action={status.length > 0 && <Button onClick={() => setUrl({ status: [] })}>Show all</Button>}
        >
          {status.length > 0 ? undefined : 'Events sent to this endpoint appear here. Click Test to send one now.'}
        </EmptyState>
      ) : (
        <ul aria-label="Deliveries" className="divide-y rounded-surface border">
          {list.data.data.map((one) => (
            <Delivery
              key={one._id}
              delivery={one}
              endpoint={endpoint}
              isOpen={delivery === one._id}
              onToggle={() => setUrl({ delivery: delivery === one._id ? '' : one._id, after, before })}
            />
          ))}
        </ul>
      )}
      <Paging page={list.data} onPage={setUrl} noun={list.data?.totalCount === 1 ? 'delivery' : 'deliveries'} />
    </div>
  )
}

interface DeliveryProps {
  delivery: WebhookDelivery
  endpoint: WebhookEndpoint
  isOpen: boolean
  onToggle: () => void
}

function Delivery({ delivery, endpoint, isOpen, onToggle }: DeliveryProps) {
  const { status, eventType, history, createdAt } = delivery
  const { word, tone } = states[status]
  const last = history.at(-1)
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className="flex min-h-10 w-full items-center gap-2.5 px-3 py-1.5 text-left text-sm hover:bg-hover"
      >
        <ChevronRight
          aria-hidden
          className={cn('size-4 shrink-0 text-muted transition-transform duration-120', isOpen && 'rotate-90')}
        />
        <code className="min-w-0 flex-1 truncate">{eventType}</code>
        <span className="shrink-0 font-mono text-xs text-muted max-sm:hidden">
          {last && (last.status ? `HTTP ${last.status}` : 'no answer')}
        </span>
        <span className="w-20 shrink-0 text-xs">
          <Status tone={tone} live={status === 'sending'}>
            {word}
          </Status>
        </span>
        <Time at={createdAt} className="w-20 shrink-0 text-right text-xs text-muted" />
      </button>
      {isOpen && <DeliveryDetails delivery={delivery} endpoint={endpoint} />}
    </li>
  )
}

function DeliveryDetails({ delivery, endpoint }: { delivery: WebhookDelivery; endpoint: WebhookEndpoint }) {
  const canChange = useCan('admin')
  const event = useQuery(webhooks.event(delivery.eventId))
  const resend = useAction({
    do: () => webhooks.resend(delivery.eventId, endpoint._id),
    refresh: ['webhooks'],
    done: 'Sending again',
  })
  return (
    <div className="animate-rise space-y-4 border-t bg-raised px-3 py-3 sm:pl-10">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Id value={delivery.eventId} />
        {canChange && (
          <Button
            size="sm"
            icon={<RotateCw />}
            pending={resend.isPending}
            disabled={!endpoint.active}
            onClick={() => resend.mutate()}
            {...(endpoint.active ? {} : { hint: 'Turn the endpoint on first' })}
          >
            Send again
          </Button>
        )}
      </div>
      <section aria-label="Attempts">
        <h3 className="mb-1.5 text-xs font-medium text-muted">
          {delivery.history.length === 0 ? 'No attempt yet' : 'Attempts, newest first'}
        </h3>
        <ol className="space-y-2">
          {delivery.history.toReversed().map((attempt, index) => {
            const isTaken = attempt.status !== undefined && attempt.status >= 200 && attempt.status < 300
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may have the same time
              <li key={index} className="rounded-control border bg-page px-2.5 py-2 text-sm">
                <div className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
                  <Status tone={isTaken ? 'good' : 'bad'}>
                    {attempt.status ? `HTTP ${attempt.status}` : 'No answer'}
                  </Status>
                  <span className="text-xs text-muted">
                    {absoluteTime(attempt.at)} · {duration(attempt.durationMs)}
                  </span>
                </div>
                {attempt.error && <p className="mt-1 break-words">{attempt.error}</p>}
                {attempt.response && (
                  <pre className="mt-1 max-h-40 overflow-auto text-code break-all whitespace-pre-wrap text-muted">
                    {attempt.response}
                  </pre>
                )}
              </li>
            )
          })}
        </ol>
        {delivery.nextAttemptAt && (
          <p className="mt-2 text-xs text-muted">
            Next attempt: <Time at={delivery.nextAttemptAt} isAhead />.
          </p>
        )}
      </section>
      <Loaded query={event}>{(body) => <JsonView value={body} open={2} title="Body" />}</Loaded>
    </div>
  )
}
