// How to reach a subscriber beyond email and phone: devices, chat webhooks, chat accounts, connected workspaces.
import { useQuery } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { api, type Body } from '../../api/client.ts'
import { type ChannelConnection, type ChannelEndpoint, type Subscriber, subscribers } from '../../api/subscribers.ts'
import { Button } from '../../ui/base/button.tsx'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { StepIcon } from '../../ui/domain/step-kind.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { AddCredentials, AddEndpoint, endpointTypes } from './add-channel.tsx'

type Credentials = Subscriber['channels'][number]

export function Channels({ subscriber }: { subscriber: Subscriber }) {
  const { subscriberId } = subscriber
  const canEdit = useCan('editor')
  const [adding, setAdding] = useState<'credentials' | 'endpoint'>()
  const endpoints = useQuery(subscribers.endpoints(subscriberId))
  const connections = useQuery(subscribers.connections(subscriberId))
  const add = (what: 'credentials' | 'endpoint') =>
    canEdit && (
      <Button size="sm" icon={<Plus />} onClick={() => setAdding(what)}>
        {what === 'credentials' ? 'Add credentials' : 'Add endpoint'}
      </Button>
    )
  return (
    <div className="space-y-8">
      <Part
        title="Credentials"
        description="Push device tokens and chat webhooks, each for one integration."
        action={add('credentials')}
        isEmpty={subscriber.channels.length === 0}
        empty="None. Your app usually adds a device token when a user signs in."
      >
        {subscriber.channels.map((one) => (
          <CredentialsRow key={one._integrationId} credentials={one} subscriberId={subscriberId} canEdit={canEdit} />
        ))}
      </Part>
      <Loaded query={endpoints} skeleton={<SkeletonText lines={3} />}>
        {({ data }) => (
          <Part
            title="Endpoints"
            description="Where chat messages go: a channel, a person, a webhook or a number."
            action={add('endpoint')}
            isEmpty={data.length === 0}
            empty="None. They are created when the subscriber links a chat, or by hand."
          >
            {data.map((one) => (
              <EndpointRow key={one.identifier} endpoint={one} canEdit={canEdit} />
            ))}
          </Part>
        )}
      </Loaded>
      <Loaded query={connections} skeleton={<SkeletonText lines={3} />}>
        {({ data }) => (
          <Part
            title="Connected workspaces"
            description="Chat workspaces to which this subscriber gave access."
            isEmpty={data.length === 0}
            empty="None. Subscribers connect one from the inbox, or with a link from your program."
          >
            {data.map((one) => (
              <ConnectionRow key={one.identifier} connection={one} canEdit={canEdit} />
            ))}
          </Part>
        )}
      </Loaded>
      <AddCredentials
        open={adding === 'credentials'}
        subscriberId={subscriberId}
        onClose={() => setAdding(undefined)}
      />
      <AddEndpoint open={adding === 'endpoint'} subscriberId={subscriberId} onClose={() => setAdding(undefined)} />
    </div>
  )
}

interface PartProps {
  title: string
  description: string
  action?: ReactNode
  isEmpty: boolean
  empty: string
  children: ReactNode
}

function Part({ title, description, action, isEmpty, empty, children }: PartProps) {
  return (
    <section aria-label={title}>
      <div className="mb-2 flex items-start justify-between gap-4">
        <div>
          <h3 className="text-sm font-semibold">{title}</h3>
          <p className="mt-0.5 text-xs text-pretty text-muted">{description}</p>
        </div>
        {action}
      </div>
      {isEmpty ? (
        <p className="rounded-surface border border-dashed px-4 py-4 text-sm text-muted">{empty}</p>
      ) : (
        <ul className="divide-y rounded-surface border">{children}</ul>
      )}
    </section>
  )
}

interface LineProps {
  kind: string
  title: ReactNode
  badges?: ReactNode
  facts: ReadonlyArray<readonly [name: string, value: string]>
  removal?: { hint: string; isPending: boolean; run: () => void } | undefined
}

function Line({ kind, title, badges, facts, removal }: LineProps) {
  return (
    <li className="flex items-start gap-3 px-3 py-2.5">
      <StepIcon kind={kind} tile />
      <div className="min-w-0 flex-1 text-sm">
        <div className="flex min-h-7 flex-wrap items-center gap-x-2">
          <span className="truncate font-medium">{title}</span>
          {badges}
        </div>
        <dl className="mt-0.5 space-y-0.5">
          {facts.map(([name, value]) => (
            <div key={`${name} ${value}`} className="flex gap-2 text-xs">
              <dt className="shrink-0 text-muted">{name}</dt>
              <dd className="min-w-0 truncate font-mono" title={value}>
                {value}
              </dd>
            </div>
          ))}
        </dl>
      </div>
      {removal && (
        <Button variant="ghost" size="icon" hint={removal.hint} pending={removal.isPending} onClick={removal.run}>
          <Trash2 />
        </Button>
      )}
    </li>
  )
}

/** The server hides addresses of chat webhooks from people who may not see secrets; what is hidden cannot be restored. */
const isHidden = (values: object): boolean => Object.values(values).includes('••••••••')

const labels: Record<string, string> = { webhookUrl: 'Webhook', channel: 'Channel', deviceTokens: 'Device' }

function CredentialsRow(props: { credentials: Credentials; subscriberId: string; canEdit: boolean }) {
  const { credentials: one, subscriberId, canEdit } = props
  const { providerId, credentials, integrationIdentifier } = one
  const facts = Object.entries(credentials).flatMap(([name, value]) =>
    [value].flat().flatMap((text) => (text ? [[labels[name] ?? name, String(text)] as const] : [])),
  )
  const remove = useAction({
    do: () =>
      api('DELETE /v1/subscribers/{subscriberId}/credentials/{providerId}', { path: { subscriberId, providerId } }),
    refresh: ['subscribers'],
    done: `Credentials for ${providerId} removed`,
    ...(isHidden(credentials)
      ? {}
      : {
          undo: () =>
            api('PUT /v1/subscribers/{subscriberId}/credentials', {
              path: { subscriberId },
              body: {
                providerId,
                integrationIdentifier,
                credentials,
              } as Body<'PUT /v1/subscribers/{subscriberId}/credentials'>,
            }),
        }),
  })
  const isPush = credentials.deviceTokens !== undefined && credentials.deviceTokens.length > 0
  return (
    <Line
      kind={isPush ? 'push' : 'chat'}
      title={providerId}
      badges={integrationIdentifier && <Badge>{integrationIdentifier}</Badge>}
      facts={facts}
      removal={
        canEdit ? { hint: `Remove ${providerId}`, isPending: remove.isPending, run: () => remove.mutate() } : undefined
      }
    />
  )
}

function EndpointRow({ endpoint: one, canEdit }: { endpoint: ChannelEndpoint; canEdit: boolean }) {
  const { identifier, type, endpoint, subscriberId, integrationIdentifier, connectionIdentifier, contextKeys } = one
  const remove = useAction({
    do: () => api('DELETE /v1/channel-endpoints/{identifier}', { path: { identifier } }),
    refresh: ['subscribers'],
    done: 'Endpoint removed',
    ...(isHidden(endpoint)
      ? {}
      : {
          undo: () =>
            api('POST /v1/channel-endpoints', {
              body: {
                ...{ identifier, type, endpoint, subscriberId, integrationIdentifier },
                ...(connectionIdentifier ? { connectionIdentifier } : {}),
                ...(contextKeys.length > 0 ? { context: Object.fromEntries(contextKeys.map(split)) } : {}),
              },
            }),
        }),
  })
  return (
    <Line
      kind={one.channel}
      title={endpointTypes[type].label}
      badges={
        <>
          <Badge>{integrationIdentifier}</Badge>
          {contextKeys.map((key) => (
            <Badge key={key}>{key}</Badge>
          ))}
        </>
      }
      facts={Object.entries(endpoint).map(([name, value]) => [endpointTypes[type].fields[name] ?? name, value])}
      removal={
        canEdit ? { hint: 'Remove the endpoint', isPending: remove.isPending, run: () => remove.mutate() } : undefined
      }
    />
  )
}

const split = (key: string) => [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)]

function ConnectionRow({ connection, canEdit }: { connection: ChannelConnection; canEdit: boolean }) {
  const ask = useConfirm()
  const { identifier, workspace, integrationIdentifier } = connection
  const name = workspace.name ?? workspace.id
  const remove = useAction({
    do: () => api('DELETE /v1/channel-connections/{identifier}', { path: { identifier } }),
    refresh: ['subscribers'],
    done: `${name} disconnected`,
  })
  const confirmRemove = async () => {
    const yes = await ask({
      title: `Disconnect ${name}?`,
      body: 'Its token is deleted, so messages to endpoints in this workspace fail. To connect it again, somebody in the workspace must approve it.',
      confirm: 'Disconnect',
    })
    if (yes) remove.mutate()
  }
  return (
    <Line
      kind={connection.channel}
      title={name}
      badges={<Badge>{integrationIdentifier}</Badge>}
      facts={[['Workspace', workspace.id]]}
      removal={
        canEdit
          ? { hint: `Disconnect ${name}`, isPending: remove.isPending, run: () => void confirmRemove() }
          : undefined
      }
    />
  )
}
