// The selected topic and its subscribers.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Pencil, SlidersHorizontal, Trash2, UserRoundPlus, Users, X } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { environments } from '../../api/environments.ts'
import { nameOf } from '../../api/subscribers.ts'
import { type Topic, type TopicSubscription, topics } from '../../api/topics.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Avatar } from '../../ui/base/avatar.tsx'
import { Button } from '../../ui/base/button.tsx'
import { CopyButton } from '../../ui/base/copy.tsx'
import { EmptyState, Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { RequestCode } from '../../ui/code/code-block.tsx'
import { Field, FieldFrame, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { Dialog, useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/frame/menu.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { TextFilterChip } from '../../ui/list/filters.tsx'
import { Paging } from '../../ui/list/table.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'
import { AddSubscribers } from './add-subscribers.tsx'
import { SubscriptionPreferences } from './subscription-preferences.tsx'

const schema = { subscriber: text(), subscription: text() }

export function TopicSheet({ topicKey, onClose }: { topicKey: string | undefined; onClose: () => void }) {
  const query = useQuery({ ...topics.one(topicKey ?? ''), enabled: topicKey !== undefined })
  const title = query.data?.name ?? topicKey ?? ''
  return (
    <Sheet
      open={topicKey !== undefined}
      onClose={onClose}
      label={title}
      title={<span dir="auto">{title}</span>}
      subtitle={
        <span className="flex items-center gap-0.5">
          <code className="truncate">{topicKey}</code>
          <CopyButton text={topicKey ?? ''} label="Copy the key" />
        </span>
      }
      actions={query.data && <TopicMenu topic={query.data} onDeleted={onClose} />}
    >
      {topicKey !== undefined && (
        <Loaded query={query} skeleton={<SkeletonText lines={6} />}>
          {(topic) => (
            <>
              <JoinableSwitch topic={topic} />
              <Followers key={topic.key} topic={topic} />
            </>
          )}
        </Loaded>
      )}
    </Sheet>
  )
}

function TopicMenu({ topic, onDeleted }: { topic: Topic; onDeleted: () => void }) {
  const canEdit = useCan('editor')
  const ask = useConfirm()
  const [isRenaming, setRenaming] = useState(false)
  const name = topic.name ?? topic.key
  const followers = useQuery(topics.subscriptions(topic.key, { limit: 1 }))
  const remove = useAction({
    do: () => topics.remove(topic.key),
    refresh: ['topics', 'subscribers'],
    done: `${name} deleted`,
    onDone: onDeleted,
  })
  const confirmRemove = async () => {
    const count = followers.data?.totalCount ?? 0
    const yes = await ask({
      title: `Delete ${name}?`,
      body: `${count === 0 ? 'It has no subscribers.' : `${count.toLocaleString('en')} ${count === 1 ? 'subscription is' : 'subscriptions are'} deleted with it, including their conditions.`} Triggers to “${topic.key}” will reach nobody. This cannot be undone.`,
      confirm: 'Delete topic',
    })
    if (yes) remove.mutate()
  }
  if (!canEdit) return null
  return (
    <>
      <Menu label={`Actions for ${name}`}>
        <MenuItem icon={<Pencil />} onSelect={() => setRenaming(true)}>
          Rename…
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} danger onSelect={() => void confirmRemove()}>
          Delete…
        </MenuItem>
      </Menu>
      <Dialog open={isRenaming} onClose={() => setRenaming(false)} title="Rename topic">
        {isRenaming && <RenameForm topic={topic} onClose={() => setRenaming(false)} />}
      </Dialog>
    </>
  )
}

function RenameForm({ topic, onClose }: { topic: Topic; onClose: () => void }) {
  const form = useForm({
    initial: { name: topic.name ?? '' },
    submit: ({ name }) => topics.change(topic.key, { name: name.trim() }),
    refresh: ['topics'],
    done: 'Topic renamed',
    onDone: onClose,
  })
  return (
    <Form form={form}>
      <Field form={form} name="name" label="Name" hint={`The key stays ${topic.key}.`}>
        {(control) => <Input {...control} autoFocus dir="auto" maxLength={100} />}
      </Field>
      <FormFooter form={form} onClose={onClose} disabled={form.values.name.trim() === ''}>
        Rename
      </FormFooter>
    </Form>
  )
}

function JoinableSwitch({ topic }: { topic: Topic }) {
  const canEdit = useCan('editor')
  const environment = useEnvironment()
  const access = useQuery(environments.inboxAccess(environment._id))
  const isOpenAnyway = access.data !== undefined && (access.data.openTopics ?? access.data.usual.openTopics)
  const change = useAction({
    do: (joinableFromBrowser: boolean) => topics.change(topic.key, { joinableFromBrowser }),
    refresh: ['topics'],
    done: ({ joinableFromBrowser }) =>
      joinableFromBrowser ? 'Browsers can join this topic' : 'Browsers can no longer join this topic',
  })
  return (
    <FieldFrame
      className="mb-5"
      label="Joinable from a browser"
      hint={
        isOpenAnyway
          ? `${environment.name} leaves all topics open, so browsers can join this one either way.`
          : topic.joinableFromBrowser
            ? 'Everybody with an inbox can follow this topic and read what is sent to it.'
            : 'Only your backend and this dashboard add subscribers.'
      }
      inline
    >
      {(control) => (
        <Switch
          {...control}
          value={topic.joinableFromBrowser}
          onValue={(isOn) => change.mutate(isOn)}
          disabled={!canEdit || change.isPending}
        />
      )}
    </FieldFrame>
  )
}

function Followers({ topic }: { topic: Topic }) {
  const canEdit = useCan('editor')
  const [{ subscriber, subscription }, set] = useUrlState(schema)
  const [cursor, setCursor] = useState<{ after?: string; before?: string }>({})
  const [isAdding, setAdding] = useState(false)
  const query = useQuery(
    topics.subscriptions(topic.key, { limit: 20, ...cursor, ...(subscriber ? { subscriberId: subscriber } : {}) }),
  )
  return (
    <div>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <h3 className="mr-auto text-sm font-semibold">
          Subscribers
          {query.data && (
            <span className="ml-2 font-normal text-muted">
              {query.data.totalCount.toLocaleString('en')}
              {query.data.totalCountCapped && '+'}
            </span>
          )}
        </h3>
        <TextFilterChip
          label="Id is"
          mono
          value={subscriber}
          onValue={(subscriber) => {
            setCursor({})
            set({ subscriber })
          }}
        />
        {canEdit && (
          <Button size="sm" icon={<UserRoundPlus />} onClick={() => setAdding(true)}>
            Add subscribers
          </Button>
        )}
      </div>
      <Loaded query={query} skeleton={<SkeletonText lines={6} />}>
        {(page) =>
          page.data.length === 0 ? (
            <EmptyState
              icon={<Users />}
              title={subscriber ? 'Not a subscriber of this topic' : 'No subscribers yet'}
              className="py-8"
            >
              {!subscriber && (
                <RequestCode
                  className="mt-4"
                  request={{
                    method: 'POST',
                    path: `/v2/topics/${encodeURIComponent(topic.key)}/subscriptions`,
                    body: { subscriptions: ['ada'] },
                  }}
                />
              )}
            </EmptyState>
          ) : (
            <>
              <ul className="border-t">
                {page.data.map((one) => (
                  <FollowerRow
                    key={one.identifier}
                    subscription={one}
                    canEdit={canEdit}
                    onOpen={() => set({ subscription: one.identifier }, { push: true })}
                  />
                ))}
              </ul>
              <div className="-mx-4 sm:-mx-6">
                <Paging page={page} onPage={setCursor} noun="subscribers" />
              </div>
            </>
          )
        }
      </Loaded>
      <AddSubscribers topicKey={topic.key} open={isAdding && canEdit} onClose={() => setAdding(false)} />
      <SubscriptionPreferences
        topicKey={topic.key}
        identifier={subscription || undefined}
        onClose={() => set({ subscription: '' })}
      />
    </div>
  )
}

interface FollowerRowProps {
  subscription: TopicSubscription
  canEdit: boolean
  onOpen: () => void
}

function FollowerRow({ subscription, canEdit, onOpen }: FollowerRowProps) {
  const { subscriber, topic, identifier, contextKeys, createdAt } = subscription
  const name = nameOf(subscriber)
  const remove = useAction({
    do: () => topics.unsubscribe(topic.key, identifier),
    refresh: ['topics', 'subscribers'],
    done: `${name} no longer follows ${topic.name ?? topic.key}`,
    undo: (removed) => topics.restore(removed),
  })
  return (
    <li className="flex min-h-12 items-center gap-3 border-b py-1.5">
      <Avatar name={name} />
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-2 text-sm">
          <Link
            to="/subscribers/{-$subscriberId}"
            params={{ subscriberId: subscriber.subscriberId }}
            search={{}}
            className="truncate font-medium hover:underline"
            dir="auto"
          >
            {name}
          </Link>
          {contextKeys.map((key) => (
            <Badge key={key}>{key}</Badge>
          ))}
        </div>
        <div className="text-xs break-words text-muted">
          <code className="break-all">{subscriber.subscriberId}</code> · since <Time at={createdAt} />
        </div>
      </div>
      <Button variant="ghost" size="icon" hint={`Workflows for ${name}`} onClick={onOpen}>
        <SlidersHorizontal />
      </Button>
      {canEdit && (
        <Button
          variant="ghost"
          size="icon"
          hint={`Remove ${name}`}
          pending={remove.isPending}
          onClick={() => remove.mutate()}
        >
          <X />
        </Button>
      )}
    </li>
  )
}
