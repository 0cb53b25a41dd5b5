// The sandbox mailbox: messages at the left, and the selected one as its recipient would see it.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowUp, Inbox, Paperclip, SearchX, Trash2, TriangleAlert } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { useCan } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import { type SandboxFilter, type SandboxSummary, sandbox } from '../../api/sandbox.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button, ButtonLink } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { useShortcut } from '../../ui/base/shortcuts.ts'
import { EmptyState, ErrorState, Skeleton } from '../../ui/base/states.tsx'
import { Time } from '../../ui/base/time.tsx'
import { lookOf, StepIcon } from '../../ui/domain/step-kind.tsx'
import { SearchInput } from '../../ui/form/input.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterChip } from '../../ui/list/filters.tsx'
import { flag, oneOf, text, useUrlState } from '../../ui/list/url-state.ts'
import { FaultBanner, FaultPanel } from './faults.tsx'
import { MessageView } from './message-view.tsx'

const sandboxChannels = ['email', 'sms', 'chat', 'push'] as const

const schema = {
  search: text(),
  channel: oneOf(['', ...sandboxChannels], ''),
  subscriberId: text(),
  transactionId: text(),
  faults: flag(),
}

export function Page() {
  const [filters, setFilters] = useUrlState(schema)
  const { messageId } = useParams({ strict: false }) as { messageId?: string }
  const environment = useEnvironment()
  const canEdit = useCan('editor')
  const ask = useConfirm()
  const { search, channel, subscriberId, transactionId } = filters
  const filter: SandboxFilter = {
    ...(search ? { search } : {}),
    ...(channel ? { channel } : {}),
    ...(subscriberId ? { subscriberId } : {}),
    ...(transactionId ? { transactionId } : {}),
  }
  const isFiltered = Object.keys(filter).length > 0
  const list = useInfiniteQuery({
    ...sandbox.endless(filter),
    // New messages may appear at once in an empty list: there is nothing to move.
    refetchInterval: ({ state }) => (state.data?.pages[0]?.data.length === 0 ? 3_000 : false),
  })
  const messages = list.data?.pages.flatMap(({ data }) => data)
  const total = list.data?.pages[0]?.totalCount ?? 0
  const empty = useAction({ do: () => sandbox.empty(), refresh: ['sandbox'], done: 'Sandbox emptied' })
  const onEmpty = async () => {
    const yes = await ask({
      title: 'Empty the sandbox?',
      body: isFiltered
        ? `All messages in the sandbox of ${environment.name} are deleted, also those the filters hide. This cannot be undone; their runs stay.`
        : `${total === 1 ? 'The message' : `All ${total.toLocaleString('en')} messages`} in the sandbox of ${environment.name} ${total === 1 ? 'is' : 'are'} deleted. This cannot be undone; the runs stay.`,
      confirm: 'Empty the sandbox',
    })
    if (yes) empty.mutate()
  }
  const onlyEditors = canEdit ? {} : { hint: 'Viewers cannot do this' }
  return (
    <Frame
      title="Sandbox"
      fills
      actions={
        <>
          <Button
            icon={<TriangleAlert />}
            aria-expanded={filters.faults}
            onClick={() => setFilters({ faults: !filters.faults })}
          >
            Simulate a failure
          </Button>
          <Button
            icon={<Trash2 />}
            disabled={!canEdit || (messages?.length ?? 0) === 0}
            pending={empty.isPending}
            onClick={() => void onEmpty()}
            {...onlyEditors}
          >
            Empty
          </Button>
        </>
      }
    >
      <div className="flex h-full min-h-0 flex-col">
        <FaultBanner />
        {filters.faults && <FaultPanel onClose={() => setFilters({ faults: false })} />}
        <div className="grid min-h-0 flex-1 lg:grid-cols-[380px_minmax(0,1fr)]">
          <div className={cn('flex min-h-0 min-w-0 flex-col lg:border-r', messageId && 'max-lg:hidden')}>
            <div className="flex flex-wrap items-center gap-2 border-b px-4 py-2.5">
              <SearchInput
                value={search}
                onValue={(search) => setFilters({ search })}
                label="Search messages"
                placeholder="Subject, text or address…"
                className="min-w-40 flex-1"
              />
              <FilterChip
                label="Channel"
                single
                options={sandboxChannels.map((value) => ({
                  value,
                  label: lookOf(value).label,
                  icon: <StepIcon kind={value} />,
                }))}
                value={channel ? [channel] : []}
                onValue={([chosen = '']) => setFilters({ channel: chosen as typeof channel })}
              />
              {(subscriberId || transactionId) && (
                <Button variant="ghost" size="sm" onClick={() => setFilters({ subscriberId: '', transactionId: '' })}>
                  Show all messages
                </Button>
              )}
            </div>
            <MessageList
              messages={messages}
              selected={messageId}
              filter={filter}
              error={list.error}
              onRetry={() => void list.refetch()}
              hasMore={list.hasNextPage}
              isLoadingMore={list.isFetchingNextPage}
              onMore={() => void list.fetchNextPage()}
              empty={
                isFiltered ? (
                  <EmptyState
                    icon={<SearchX />}
                    title="No message matches"
                    action={
                      <Button
                        onClick={() => setFilters({ search: '', channel: '', subscriberId: '', transactionId: '' })}
                      >
                        Clear filters
                      </Button>
                    }
                  />
                ) : (
                  <EmptyState
                    icon={<Inbox />}
                    title="Nothing has arrived yet"
                    action={
                      <ButtonLink to={'/start' as never} variant="primary">
                        Send a first message
                      </ButtonLink>
                    }
                  >
                    The sandbox integrations send nothing: their email, SMS, chat and push messages are kept here for a
                    week. Trigger a workflow to see one.
                  </EmptyState>
                )
              }
            />
          </div>
          <div className={cn('min-h-0 min-w-0 overflow-y-auto bg-raised', !messageId && 'max-lg:hidden')}>
            {messageId ? (
              <MessageView messageId={messageId} />
            ) : (
              (messages?.length ?? 0) > 0 && (
                <p className="grid h-full place-items-center p-8 text-sm text-muted">
                  Choose a message to see it here.
                </p>
              )
            )}
          </div>
        </div>
      </div>
    </Frame>
  )
}

interface MessageListProps {
  messages: SandboxSummary[] | undefined
  selected: string | undefined
  filter: SandboxFilter
  error: Error | null
  onRetry: () => void
  hasMore: boolean
  isLoadingMore: boolean
  onMore: () => void
  empty: ReactNode
}

function MessageList(props: MessageListProps) {
  const { messages, selected, filter, error, onRetry, hasMore, isLoadingMore, onMore, empty } = props
  const box = useRef<HTMLDivElement>(null)
  const step = (by: 1 | -1) => {
    const links = [...(box.current?.querySelectorAll<HTMLElement>('a[data-message]') ?? [])]
    const current = links.indexOf(document.activeElement as HTMLElement)
    const shown = links.findIndex(({ dataset }) => dataset.message === selected)
    const next = links[Math.max(0, Math.min(links.length - 1, (current === -1 ? shown : current) + by))]
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
  }
  useShortcut('j', () => step(1))
  useShortcut('k', () => step(-1))
  if (!messages) {
    if (error) return <ErrorState error={error} onRetry={onRetry} />
    return (
      <div className="space-y-4 p-4" role="status" aria-label="Loading">
        {['w-2/3', 'w-1/2', 'w-3/4', 'w-2/5'].map((width) => (
          <Skeleton key={width} className={cn('h-10', width)} />
        ))}
      </div>
    )
  }
  if (messages.length === 0) return empty
  const newest = messages[0]?.id
  return (
    <div ref={box} className="relative min-h-0 flex-1 overflow-y-auto">
      {newest && (
        <NewPill
          than={newest}
          filter={filter}
          onShow={() => {
            box.current?.scrollTo({ top: 0 })
            void cache.resetQueries({ queryKey: sandbox.endless(filter).queryKey })
          }}
        />
      )}
      <ul aria-label="Messages">
        {messages.map((message) => (
          <Row key={message.id} message={message} isSelected={message.id === selected} />
        ))}
      </ul>
      {hasMore && (
        <div className="flex justify-center p-3">
          <Button size="sm" pending={isLoadingMore} onClick={onMore}>
            Older messages
          </Button>
        </div>
      )}
    </div>
  )
}

function NewPill({ than, filter, onShow }: { than: string; filter: SandboxFilter; onShow: () => void }) {
  const { data } = useQuery({ ...sandbox.newer(than, filter), refetchInterval: 3_000 })
  const count = data?.data.length ?? 0
  return (
    <div className="sticky top-2 z-10 flex h-0 justify-center" role="status">
      {count > 0 && (
        <button
          type="button"
          onClick={onShow}
          className="flex h-7 animate-rise items-center gap-1 rounded-full bg-accent px-3 text-xs font-medium text-on-accent shadow-float pointer-coarse:h-9"
        >
          <ArrowUp className="size-3.5" aria-hidden />
          {count}
          {data?.previous ? '+' : ''} new
        </button>
      )}
    </div>
  )
}

function Row({ message, isSelected }: { message: SandboxSummary; isSelected: boolean }) {
  const { id, channel, to, subject, text, createdAt, attachments } = message
  return (
    <li>
      <Link
        to={'/sandbox/{-$messageId}' as never}
        params={{ messageId: id } as never}
        search={true as never}
        resetScroll={false}
        data-message={id}
        aria-current={isSelected ? 'true' : undefined}
        className={cn(
          'flex gap-3 border-b px-4 py-2.5 -outline-offset-2 hover:bg-hover',
          isSelected && 'bg-accent/8 hover:bg-accent/8',
        )}
      >
        <StepIcon kind={channel} tile className="mt-0.5" />
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline gap-2">
            <bdi className="min-w-0 flex-1 truncate text-sm font-medium">{subject ?? text ?? '(no text)'}</bdi>
            <Time at={createdAt} className="text-xs text-muted" />
          </span>
          <span className="flex items-center gap-2 text-xs text-muted">
            <span className="min-w-0 truncate">To {to.join(', ')}</span>
            {attachments.length > 0 && (
              <span className="ml-auto inline-flex shrink-0 items-center gap-0.5">
                <Paperclip className="size-3" aria-hidden />
                {attachments.length}
                <span className="sr-only"> {attachments.length === 1 ? 'attachment' : 'attachments'}</span>
              </span>
            )}
          </span>
          {subject !== null && text && <bdi className="block truncate text-xs text-muted">{text}</bdi>}
        </span>
      </Link>
    </li>
  )
}
