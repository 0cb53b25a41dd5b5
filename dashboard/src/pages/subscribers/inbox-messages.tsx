// The inbox as the subscriber sees it, with actions for support: mark, archive, delete.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Archive, ArchiveRestore, Bell, Mail, MailOpen, Trash2 } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { api } from '../../api/client.ts'
import { type InboxMessage, subscribers } from '../../api/subscribers.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState, Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { absoluteTime, Time } from '../../ui/base/time.tsx'
import { InAppFrame } from '../../ui/domain/message-frames.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/frame/menu.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'
import { oneOf, useUrlState } from '../../ui/list/url-state.ts'

const schema = { messages: oneOf(['open', 'unread', 'archived', 'snoozed'], 'open') }
const views = {
  open: { archived: false, snoozed: false },
  unread: { read: false, archived: false, snoozed: false },
  archived: { archived: true },
  snoozed: { snoozed: true },
}

export function InboxMessages({ subscriberId }: { subscriberId: string }) {
  const [{ messages: view }, set] = useUrlState(schema)
  const query = useInfiniteQuery(subscribers.messages(subscriberId, views[view]))
  return (
    <div>
      <Segments
        label="Which messages"
        value={view}
        onValue={(messages) => set({ messages })}
        options={[
          { value: 'open', label: 'Inbox' },
          { value: 'unread', label: 'Unread' },
          { value: 'archived', label: 'Archived' },
          { value: 'snoozed', label: 'Snoozed' },
        ]}
      />
      <div className="mt-4">
        <Loaded query={query} skeleton={<SkeletonText lines={6} />}>
          {({ pages }) => {
            const messages = pages.flatMap(({ data }) => data)
            if (messages.length === 0)
              return (
                <EmptyState icon={<Bell />} title={view === 'open' ? 'The inbox is empty' : 'No messages here'}>
                  {view === 'open' && 'Messages from in-app steps appear here.'}
                </EmptyState>
              )
            return (
              <ul className="space-y-3">
                {messages.map((message) => (
                  <li key={message.id}>
                    <Message message={message} subscriberId={subscriberId} />
                  </li>
                ))}
              </ul>
            )
          }}
        </Loaded>
        {query.hasNextPage && (
          <Button className="mt-4" pending={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load older messages
          </Button>
        )}
      </div>
    </div>
  )
}

type Mark = 'read' | 'unread' | 'archive' | 'unarchive'
const opposite: Record<Mark, Mark> = { read: 'unread', unread: 'read', archive: 'unarchive', unarchive: 'archive' }
const said: Record<Mark, string> = {
  read: 'Marked as read',
  unread: 'Marked as unread',
  archive: 'Archived',
  unarchive: 'Back in the inbox',
}

function Message({ message, subscriberId }: { message: InboxMessage; subscriberId: string }) {
  const canEdit = useCan('editor')
  const ask = useConfirm()
  const path = { subscriberId, notificationId: message.id }
  const send = (mark: Mark) =>
    api(`PATCH /v2/subscribers/{subscriberId}/notifications/{notificationId}/${mark}`, { path })
  const mark = useAction({
    do: send,
    refresh: ['subscribers'],
    done: (_, mark) => said[mark],
    undo: (_, mark) => send(opposite[mark]),
  })
  const remove = useAction({
    do: () => api('DELETE /v2/subscribers/{subscriberId}/notifications/{notificationId}', { path }),
    refresh: ['subscribers'],
    done: 'Message deleted',
  })
  const confirmRemove = async () => {
    const yes = await ask({
      title: 'Delete this message?',
      body: `“${message.subject || message.body}” is deleted from the inbox. This cannot be undone; archiving can.`,
      confirm: 'Delete message',
    })
    if (yes) remove.mutate()
  }
  return (
    <div>
      <InAppFrame
        subject={message.subject}
        body={message.body}
        avatar={message.avatar}
        isRead={message.isRead}
        primary={message.primaryAction?.label}
        secondary={message.secondaryAction?.label}
        when={<Time at={message.createdAt} />}
      />
      <div className="mt-1 flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1 px-1 text-xs text-muted">
        <span className="truncate">{message.workflow.name}</span>
        {message.isRead ? (
          <span>
            Read <Time at={message.readAt} />
          </span>
        ) : message.isSeen ? (
          <span>Seen, not read</span>
        ) : (
          <span>Not seen yet</span>
        )}
        {message.isArchived && <Badge>Archived</Badge>}
        {message.snoozedUntil && <Badge tone="info">Snoozed until {absoluteTime(message.snoozedUntil)}</Badge>}
        <Link
          to={'/activity' as '/'}
          search={{ transactionId: message.transactionId }}
          className="ml-auto font-medium text-ink hover:underline"
        >
          Open the run
        </Link>
        {canEdit && (
          <Menu label={`Actions for ${message.subject || 'this message'}`}>
            {message.isRead ? (
              <MenuItem icon={<Mail />} onSelect={() => mark.mutate('unread')}>
                Mark as unread
              </MenuItem>
            ) : (
              <MenuItem icon={<MailOpen />} onSelect={() => mark.mutate('read')}>
                Mark as read
              </MenuItem>
            )}
            {message.isArchived ? (
              <MenuItem icon={<ArchiveRestore />} onSelect={() => mark.mutate('unarchive')}>
                Unarchive
              </MenuItem>
            ) : (
              <MenuItem icon={<Archive />} onSelect={() => mark.mutate('archive')}>
                Archive
              </MenuItem>
            )}
            <MenuSeparator />
            <MenuItem icon={<Trash2 />} danger onSelect={() => void confirmRemove()}>
              Delete…
            </MenuItem>
          </Menu>
        )}
      </div>
    </div>
  )
}
