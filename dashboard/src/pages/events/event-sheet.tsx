// One event: whom it was about, what it brought, and how many waits it has ended.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { events, type PostedEvent } from '../../api/events.ts'
import { Button } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Status } from '../../ui/base/status.tsx'
import { absoluteTime } from '../../ui/base/time.tsx'
import { JsonView } from '../../ui/code/json-view.tsx'
import { PostEvent } from '../../ui/domain/post-event.tsx'
import { Facts } from '../../ui/frame/page.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'

/** "2 waits", or that it is still telling them. */
export function Ended({ event: { status, matched } }: { event: PostedEvent }) {
  if (status === 'matching')
    return (
      <Status tone="info" live>
        Matching
      </Status>
    )
  if (matched === 0) return <span className="text-muted">Nothing</span>
  return <Status tone="good">{matched === 1 ? '1 wait' : `${matched.toLocaleString('en')} waits`}</Status>
}

export function EventSheet({ eventId, onClose }: { eventId: string | undefined; onClose: () => void }) {
  const query = useQuery({ ...events.one(eventId ?? ''), enabled: eventId !== undefined })
  const title = query.data?.name ?? 'Event'
  return (
    <Sheet open={eventId !== undefined} onClose={onClose} label={title} title={title} subtitle="Event">
      {eventId !== undefined && (
        <Loaded query={query} skeleton={<SkeletonText lines={6} />}>
          {(event) => <Whole event={event} />}
        </Loaded>
      )}
    </Sheet>
  )
}

function Whole({ event }: { event: PostedEvent }) {
  const canPost = useCan('editor')
  const [isPosting, setPosting] = useState(false)
  const { id, name, key, subscriberId, payload, createdAt } = event
  return (
    <div className="space-y-6">
      <Facts
        facts={[
          ['Ended', <Ended key="ended" event={event} />],
          [
            'Subscriber',
            subscriberId === null ? (
              'Nobody'
            ) : (
              <Link
                key="subscriber"
                to={`/subscribers/${encodeURIComponent(subscriberId)}` as '/'}
                className="underline decoration-line-strong underline-offset-2 hover:decoration-current"
              >
                <bdi>{subscriberId}</bdi>
              </Link>
            ),
          ],
          ['Key', key === null ? 'None' : <Id key="key" value={key} />],
          ['Posted', absoluteTime(createdAt)],
          ['Id', <Id key="id" value={id} />],
        ]}
      />
      {canPost && (
        <Button icon={<Send />} onClick={() => setPosting(true)}>
          Post it again
        </Button>
      )}
      <JsonView title="Payload" value={payload} />
      <PostEvent
        open={isPosting}
        onClose={() => setPosting(false)}
        event={{
          ...{ name, payload },
          ...(key === null ? {} : { key }),
          ...(subscriberId === null ? {} : { subscriberId }),
        }}
      />
    </div>
  )
}
