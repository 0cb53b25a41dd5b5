// The topics a subscriber follows.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Hash, X } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { nameOf, type Subscriber, subscribers } from '../../api/subscribers.ts'
import { topics } from '../../api/topics.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState, Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { Combobox } from '../../ui/form/combobox.tsx'
import { Paging } from '../../ui/list/table.tsx'

export function TopicsFollowed({ subscriber }: { subscriber: Subscriber }) {
  const { subscriberId } = subscriber
  const [cursor, setCursor] = useState<{ after?: string; before?: string }>({})
  const [typed, setTyped] = useState('')
  const canEdit = useCan('editor')
  const query = useQuery(subscribers.subscriptions(subscriberId, { limit: 20, ...cursor }))
  const found = useQuery({ ...topics.list({ limit: 20, key: typed }), enabled: canEdit })
  const follow = useAction({
    do: (key: string) => topics.subscribe(key, { subscriptions: [subscriberId] }),
    refresh: ['subscribers', 'topics'],
    done: (_, key) => `${nameOf(subscriber)} follows ${key}`,
  })
  const leave = useAction({
    do: ({ key, identifier }: { key: string; identifier: string }) => topics.unsubscribe(key, identifier),
    refresh: ['subscribers', 'topics'],
    done: (_, { key }) => `${nameOf(subscriber)} no longer follows ${key}`,
    undo: (before) => topics.restore(before),
  })
  const options = (found.data?.data ?? []).map(({ key, name }) => ({ value: key, label: name ?? key, hint: key }))
  return (
    <div>
      {canEdit && (
        <Combobox
          aria-label="Follow a topic"
          placeholder="Follow a topic…"
          className="mb-4 max-w-80"
          value={undefined}
          options={options}
          onSearch={setTyped}
          isLoading={found.isFetching || follow.isPending}
          allowNew
          onValue={(key) => follow.mutate(key)}
        />
      )}
      <Loaded query={query} skeleton={<SkeletonText lines={4} />}>
        {(page) =>
          page.data.length === 0 ? (
            <EmptyState icon={<Hash />} title="No topics" className="py-8">
              A trigger to a topic reaches all its subscribers. {canEdit && 'Choose one above.'}
            </EmptyState>
          ) : (
            <>
              <ul>
                {page.data.map(({ identifier, topic, contextKeys, createdAt }) => (
                  <li key={identifier} className="flex min-h-11 items-center gap-3 border-b py-1 text-sm">
                    <Hash className="size-4 shrink-0 text-faint" aria-hidden />
                    <span className="min-w-0 flex-1 truncate">
                      <Link
                        to="/topics/{-$topicKey}"
                        params={{ topicKey: topic.key }}
                        search={{}}
                        className="font-medium hover:underline"
                      >
                        {topic.name ?? topic.key}
                      </Link>
                      {topic.name && <code className="ml-2 text-muted">{topic.key}</code>}
                    </span>
                    {contextKeys.map((key) => (
                      <Badge key={key}>{key}</Badge>
                    ))}
                    <Time at={createdAt} className="text-xs text-muted max-sm:hidden" />
                    {canEdit && (
                      <Button
                        variant="ghost"
                        size="icon"
                        hint={`Stop following ${topic.name ?? topic.key}`}
                        onClick={() => leave.mutate({ key: topic.key, identifier })}
                      >
                        <X />
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
              <div className="-mx-4 sm:-mx-6">
                <Paging page={page} onPage={setCursor} noun="topics" />
              </div>
            </>
          )
        }
      </Loaded>
    </div>
  )
}
