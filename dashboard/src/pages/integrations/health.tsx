// The health of an integration, from evidence: never used, sending, refused, or paused after repeated failures.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { type Health, type Integration, integrations } from '../../api/integrations.ts'
import { Status, type Tone } from '../../ui/base/status.tsx'
import { Moment, Time } from '../../ui/base/time.tsx'
import { Tooltip } from '../../ui/base/tooltip.tsx'

/** No answer at all. Everything else is the provider's own answer. */
const unreachable = new Set(['host_unknown', 'connection_failed', 'certificate_refused', 'connection_lost', 'timeout'])
const isUnreachable = ({ errorCode = '' }: Health) => unreachable.has(errorCode)

const words = (health: Health): { tone: Tone; word: ReactNode } => {
  if (health.state === 'open') return { tone: 'bad', word: 'Paused' }
  if (health.state === 'half_open') return { tone: 'warn', word: 'Retrying' }
  const { length } = health.hosts
  if (length > 0) return { tone: 'warn', word: `${length} ${length === 1 ? 'address' : 'addresses'} failing` }
  if (health.refusedSince)
    return {
      tone: 'bad',
      word: (
        <>
          {isUnreachable(health) ? 'Unreachable' : 'Refused'} since <Moment at={health.refusedSince} />
        </>
      ),
    }
  if (!health.lastSentAt) return { tone: 'neutral', word: 'Never used' }
  return {
    tone: 'good',
    word: (
      <>
        Last sent <Time at={health.lastSentAt} />
      </>
    ),
  }
}

function useHealth(integration: Integration) {
  const { data, error } = useQuery({ ...integrations.health(), enabled: isWatched(integration) })
  return { data: data?.find(({ integrationId }) => integrationId === integration._id), error }
}

const isDue = (at: string | undefined) => at === undefined || Date.parse(at) <= Date.now()
const isWatched = ({ channel, active }: Integration) => active && channel !== 'in_app'

export function HealthStatus({ integration }: { integration: Integration }) {
  const { data, error } = useHealth(integration)
  if (!isWatched(integration)) return <span className="text-muted">—</span>
  if (error) return <span className="text-muted">Unknown</span>
  if (!data) return null
  const { tone, word } = words(data)
  const status = (
    <Status tone={tone}>
      <span>{word}</span>
    </Status>
  )
  return data.error && data.state === 'closed' ? (
    <Tooltip text={data.error}>
      <span>{status}</span>
    </Tooltip>
  ) : (
    status
  )
}

/** Explains the problem and what happens next; empty if healthy. */
export function HealthNote({ integration }: { integration: Integration }) {
  const { data } = useHealth(integration)
  if (!data || (data.state === 'closed' && data.hosts.length === 0 && !data.refusedSince)) return null
  return (
    <div role="status" className="mb-4 rounded-surface border border-bad/30 bg-bad/8 p-3 text-sm">
      {data.state === 'closed' && data.refusedSince && (
        <div className="flex gap-2.5">
          <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
          <div className="min-w-0">
            <p className="font-medium">{isUnreachable(data) ? 'Cannot be reached' : 'Refuses every message'}</p>
            {data.error && <p className="mt-0.5 break-words">{data.error}</p>}
            <p className="mt-0.5 text-muted">
              {isUnreachable(data) ? 'Since' : 'Refused since'} <Moment at={data.refusedSince} />. Once you have
              corrected it, retry the messages under{' '}
              <Link to="/deliveries" className="underline underline-offset-2 hover:text-ink">
                Failed deliveries
              </Link>
              .
            </p>
          </div>
        </div>
      )}
      {data.state !== 'closed' && (
        <div className="flex gap-2.5">
          <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
          <div className="min-w-0">
            <p className="font-medium">
              {data.state === 'open' ? 'Paused after' : 'Retrying after'} {data.failures}{' '}
              {data.failures === 1 ? 'failure' : 'failures'} in a row
            </p>
            {data.error && <p className="mt-0.5 break-words">{data.error}</p>}
            <p className="mt-0.5 text-muted">
              {data.state === 'open' ? (
                <>
                  Messages go to the next integration, or wait. Next attempt:{' '}
                  {isDue(data.retryAt) ? 'due' : <Time at={data.retryAt} isAhead />}.
                </>
              ) : (
                'The next message is the next attempt.'
              )}
            </p>
          </div>
        </div>
      )}
      {data.hosts.length > 0 && (
        <ul aria-label="Failing addresses" className="space-y-1.5 [&:not(:first-child)]:mt-3">
          {data.hosts.map((host) => (
            <li key={host.host} className="flex flex-wrap items-baseline gap-x-2">
              <code className="break-all">{host.host}</code>
              <span className="text-xs text-muted">
                {host.failures} failures, next attempt <Time at={host.retryAt} isAhead />
              </span>
              {host.error && <span className="w-full text-xs break-words text-muted">{host.error}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
