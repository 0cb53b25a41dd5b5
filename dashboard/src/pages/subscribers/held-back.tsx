// What the suppression list says about a subscriber, and the link by which they change their preferences themselves.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Link2 } from 'lucide-react'
import { toast } from 'sonner'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Subscriber, subscribers } from '../../api/subscribers.ts'
import { type Suppression, suppressions } from '../../api/suppressions.ts'
import { Button } from '../../ui/base/button.tsx'
import { copyText } from '../../ui/base/copy-text.ts'
import { ErrorState, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { absoluteTime, Time } from '../../ui/base/time.tsx'
import { addressText, channels, reasons, scopeText } from '../../ui/domain/suppression-words.ts'

interface Props {
  subscriber: Subscriber
  /** The end of their pause from commercial messages. */
  snoozedUntil: string | null | undefined
}

export function HeldBack({ subscriber, snoozedUntil }: Props) {
  const { subscriberId, email, phone } = subscriber
  // Entries that somebody added know the address alone.
  const own = useQuery(suppressions.list({ subscriberId, limit: 100 }))
  const byEmail = useQuery({
    ...suppressions.list({ channel: 'email', address: email ?? '', limit: 100 }),
    enabled: Boolean(email),
  })
  const byPhone = useQuery({
    ...suppressions.list({ channel: 'sms', address: phone ?? '', limit: 100 }),
    enabled: Boolean(phone),
  })
  const canEdit = useCan('editor')
  const link = useAction({
    do: async () => {
      const { url } = await subscribers.preferencesLink(subscriberId)
      await copyText(url)
    },
    onDone: () => toast.success('Link copied. Whoever has it can change these preferences for 180 days'),
  })
  const asked = [own, byEmail, byPhone]
  const failed = asked.find(({ error }) => error)
  const found = asked.flatMap(({ data }) => data?.data ?? [])
  const entries = [...new Map(found.map((entry) => [entry._id, entry])).values()]
  return (
    <section aria-label="Held back">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h3 className="flex-1 text-sm font-semibold">Held back</h3>
        {canEdit && (
          <Button size="sm" icon={<Link2 />} pending={link.isPending} onClick={() => link.mutate()}>
            Copy the link to their preference page
          </Button>
        )}
      </div>
      {snoozedUntil && (
        <p className="mb-2 text-sm">
          They have paused commercial messages until <time dateTime={snoozedUntil}>{absoluteTime(snoozedUntil)}</time>.
        </p>
      )}
      {failed?.error ? (
        <ErrorState
          error={failed.error}
          onRetry={() => {
            for (const query of asked) if (query.error) void query.refetch()
          }}
        />
      ) : asked.some(({ isLoading }) => isLoading) ? (
        <SkeletonText lines={2} />
      ) : entries.length === 0 ? (
        !snoozedUntil && <p className="text-sm text-muted">Nothing is held back from them.</p>
      ) : (
        <ul className="divide-y rounded-surface border">
          {entries.map((entry) => (
            <Entry key={entry._id} entry={entry} />
          ))}
        </ul>
      )}
    </section>
  )
}

const Entry = ({ entry }: { entry: Suppression }) => (
  <li className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5 text-sm">
    <span className="min-w-40 flex-1">
      <Link
        to="/suppressions/{-$suppressionId}"
        params={{ suppressionId: entry._id }}
        search={{}}
        className="font-medium break-all hover:underline"
      >
        {addressText(entry)}
      </Link>
      <span className="block text-xs text-muted">
        {channels[entry.channel]} · {scopeText(entry)}
      </span>
    </span>
    <Badge tone={entry.reason === 'complaint' ? 'bad' : 'neutral'}>{reasons[entry.reason]}</Badge>
    <Time at={entry.createdAt} className="text-xs text-muted max-sm:hidden" />
  </li>
)
