// The selected subscriber: profile, preferences, channels, inbox, topics and runs.
import { useQuery } from '@tanstack/react-query'
import { DoorOpen, Download, Eraser, LogOut, Trash2 } from 'lucide-react'
import { toast } from 'sonner'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { nameOf, type Subscriber, subscribers } from '../../api/subscribers.ts'
import { Avatar } from '../../ui/base/avatar.tsx'
import { ButtonLink } from '../../ui/base/button.tsx'
import { CopyButton } from '../../ui/base/copy.tsx'
import { downloadJson } from '../../ui/base/download.ts'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Status } from '../../ui/base/status.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem } from '../../ui/frame/menu.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { TabPanel, Tabs } from '../../ui/frame/tabs.tsx'
import { oneOf, useUrlState } from '../../ui/list/url-state.ts'
import { Channels } from './channels.tsx'
import { InboxMessages } from './inbox-messages.tsx'
import { PreferencesOf } from './preferences.tsx'
import { Profile } from './profile.tsx'
import { RecentRuns } from './recent-runs.tsx'
import { TopicsFollowed } from './topics-followed.tsx'

const tabs = [
  { value: 'profile', label: 'Profile' },
  { value: 'preferences', label: 'Preferences' },
  { value: 'channels', label: 'Channels' },
  { value: 'inbox', label: 'Inbox' },
  { value: 'topics', label: 'Topics' },
  { value: 'runs', label: 'Runs' },
] as const
const schema = { tab: oneOf(['profile', 'preferences', 'channels', 'inbox', 'topics', 'runs'], 'profile') }

interface SubscriberSheetProps {
  subscriberId: string | undefined
  onClose: () => void
}

export function SubscriberSheet({ subscriberId, onClose }: SubscriberSheetProps) {
  const query = useQuery({ ...subscribers.one(subscriberId ?? ''), enabled: subscriberId !== undefined })
  const { data } = query
  const name = data ? nameOf(data) : (subscriberId ?? '')
  return (
    <Sheet
      open={subscriberId !== undefined}
      onClose={onClose}
      label={name}
      title={
        <span className="flex items-center gap-2.5">
          <Avatar name={name} />
          <span className="min-w-0 break-words" dir="auto">
            {name}
          </span>
          {data?.isOnline && (
            <span className="text-xs font-normal text-muted">
              <Status tone="good">Online</Status>
            </span>
          )}
        </span>
      }
      subtitle={
        <span className="flex items-center gap-0.5 pl-8.5">
          <code className="truncate">{subscriberId}</code>
          <CopyButton text={subscriberId ?? ''} label="Copy the id" />
        </span>
      }
      actions={
        data && (
          <>
            <ButtonLink
              size="sm"
              icon={<DoorOpen />}
              to="/explain"
              search={{ subscriberId: data.subscriberId } as never}
            >
              Would they get it?
            </ButtonLink>
            <SubscriberMenu subscriber={data} onDeleted={onClose} />
          </>
        )
      }
    >
      {subscriberId !== undefined && (
        <Loaded query={query} skeleton={<SkeletonText lines={8} />}>
          {(subscriber) => <SubscriberTabs key={subscriber._id} subscriber={subscriber} />}
        </Loaded>
      )}
    </Sheet>
  )
}

function SubscriberTabs({ subscriber }: { subscriber: Subscriber }) {
  const [{ tab }, set] = useUrlState(schema)
  return (
    <Tabs label="Subscriber details" value={tab} onValue={(tab) => set({ tab })} tabs={tabs} className="-mt-2">
      <TabPanel value="profile">
        <Profile subscriber={subscriber} />
      </TabPanel>
      <TabPanel value="preferences">
        <PreferencesOf subscriber={subscriber} />
      </TabPanel>
      <TabPanel value="channels">
        <Channels subscriber={subscriber} />
      </TabPanel>
      <TabPanel value="inbox">
        <InboxMessages subscriberId={subscriber.subscriberId} />
      </TabPanel>
      <TabPanel value="topics">
        <TopicsFollowed subscriber={subscriber} />
      </TabPanel>
      <TabPanel value="runs">
        <RecentRuns subscriberId={subscriber.subscriberId} />
      </TabPanel>
    </Tabs>
  )
}

const some = (count: number, noun: string) => (count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`])

function SubscriberMenu({ subscriber, onDeleted }: { subscriber: Subscriber; onDeleted: () => void }) {
  const ask = useConfirm()
  const canEdit = useCan('editor')
  const isAdmin = useCan('admin')
  const { subscriberId } = subscriber
  const name = nameOf(subscriber)
  const remove = useAction({
    do: async () => {
      const { topics, messages, endpoints } = await subscribers.belongings(subscriberId)
      const lost = [
        ...(messages >= 100
          ? ['100 or more messages in the inbox']
          : some(messages, 'message').map((text) => `${text} in the inbox`)),
        ...some(topics, 'subscription').map((text) => `${text} to topics`),
        ...some(endpoints, 'chat endpoint'),
        ...some(subscriber.channels.length, 'set').map((text) => `${text} of credentials`),
      ]
      const list = new Intl.ListFormat('en').format(lost)
      const yes = await ask({
        title: `Delete ${name}?`,
        body: `${lost.length > 0 ? `This also deletes ${list}, and all preferences.` : 'This also deletes all preferences.'} Past runs stay in the activity, without the name. This cannot be undone.`,
        confirm: 'Delete subscriber',
      })
      if (yes) await subscribers.remove(subscriberId)
      return yes
    },
    refresh: ['subscribers', 'topics'],
    onDone: (isGone) => isGone && onDeleted(),
  })
  const exportAll = useAction({
    do: () => subscribers.exported(subscriberId),
    done: 'Data exported',
    onDone: (all) => downloadJson(`${subscriberId.replaceAll(/[^\w.@-]+/g, '_')}.json`, all),
  })
  const erase = useAction({
    do: async () => {
      const yes = await ask({
        title: `Erase ${name}?`,
        body: 'Everything about them in this environment is deleted: profile, preferences, messages, runs and trigger data. Waiting steps are cancelled. This cannot be undone.',
        confirm: 'Erase everything',
      })
      return yes && subscribers.erase(subscriberId)
    },
    refresh: ['subscribers', 'topics', 'runs'],
    onDone: (erasure) => {
      if (!erasure) return
      toast.success(`${name} erased. Past data is still being deleted.`)
      onDeleted()
    },
  })
  const endSessions = useAction({
    do: async () => {
      const yes = await ask({
        title: `End the inbox sessions of ${name}?`,
        body: 'Tokens that pages hold for this subscriber are refused at once. The pages start new sessions when they are loaded again.',
        confirm: 'End sessions',
      })
      if (yes) await subscribers.endSessions(subscriberId)
      return yes
    },
    onDone: (isDone) => isDone && toast.success('Inbox sessions ended'),
  })
  if (!canEdit) return null
  return (
    <Menu label={`Actions for ${name}`}>
      {isAdmin && (
        <MenuItem icon={<Download />} onSelect={() => exportAll.mutate()}>
          Export all data
        </MenuItem>
      )}
      <MenuItem icon={<LogOut />} onSelect={() => endSessions.mutate()}>
        End inbox sessions…
      </MenuItem>
      <MenuItem icon={<Trash2 />} danger onSelect={() => remove.mutate()}>
        Delete…
      </MenuItem>
      {isAdmin && (
        <MenuItem icon={<Eraser />} danger onSelect={() => erase.mutate()}>
          Erase all data…
        </MenuItem>
      )}
    </Menu>
  )
}
