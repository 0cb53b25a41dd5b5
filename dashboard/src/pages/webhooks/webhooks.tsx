// Webhook endpoints and their state.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Webhook } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { type WebhookEndpoint, webhooks } from '../../api/webhooks.ts'
import { Status, type Tone } from '../../ui/base/status.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, Paging, Table, timeColumn } from '../../ui/list/table.tsx'
import { flag, text, useUrlState } from '../../ui/list/url-state.ts'
import { EndpointSheet } from './endpoint-sheet.tsx'
import { CreateEndpoint, SecretDialog } from './forms.tsx'

const schema = { new: flag(), after: text(), before: text() }

function stateOf({ active, disabledAt, failingSince }: WebhookEndpoint): { tone: Tone; word: string } {
  if (disabledAt) return { tone: 'bad', word: 'Turned off' }
  if (!active) return { tone: 'neutral', word: 'Off' }
  if (failingSince) return { tone: 'warn', word: 'Failing' }
  return { tone: 'good', word: 'On' }
}

export function Page() {
  const { endpointId } = useParams({ strict: false })
  const [url, setUrl] = useUrlState(schema)
  const navigate = useNavigate()
  const canChange = useCan('admin')
  const { after, before } = url
  const list = useQuery(webhooks.endpoints({ limit: 50, after, before }))
  // Shown only now, so it outlives the dialog that created it.
  const [secret, setSecret] = useState<{ secret: string; isNew: boolean }>()
  const create = () => setUrl({ new: true }, { push: true })
  const open = (id: string | undefined) =>
    void navigate({ to: '/webhooks/{-$endpointId}', params: { endpointId: id }, search: {} })

  const columns: Array<Column<WebhookEndpoint>> = [
    {
      id: 'url',
      header: 'URL',
      cell: ({ url: address, description }) => (
        <>
          <code className="font-medium">{address}</code>
          {description && (
            <span className="ml-2 font-normal text-muted max-lg:hidden" dir="auto">
              {description}
            </span>
          )}
        </>
      ),
    },
    {
      id: 'events',
      header: 'Events',
      width: 'w-56',
      from: 'lg',
      cell: ({ eventTypes }) => (
        <span className="text-muted" title={eventTypes?.join(', ')}>
          {eventTypes === null ? 'All' : eventTypes.length > 2 ? `${eventTypes.length} types` : eventTypes.join(', ')}
        </span>
      ),
    },
    {
      id: 'state',
      header: 'State',
      width: 'w-32',
      cell: (endpoint) => {
        const { tone, word } = stateOf(endpoint)
        return <Status tone={tone}>{word}</Status>
      },
    },
    timeColumn('Created', 'createdAt', { from: 'sm' }),
  ]
  return (
    <Frame
      title="Webhooks"
      flush
      actions={
        <NewButton
          disabled={!canChange}
          hint={canChange ? 'New endpoint' : 'Only admins and owners can create endpoints'}
          onNew={create}
        >
          New endpoint
        </NewButton>
      }
    >
      <Table
        label="Webhook endpoints"
        columns={columns}
        rows={list.data?.data}
        rowKey={({ _id }) => _id}
        rowLink={({ _id }) => ({ to: '/webhooks/{-$endpointId}', params: { endpointId: _id } })}
        selected={endpointId}
        query={list}
        empty={
          <NothingYet
            icon={<Webhook />}
            title="No webhook endpoints yet"
            button="New endpoint"
            onNew={canChange && create}
            maxHeight={360}
            request={{
              method: 'POST',
              path: '/v2/webhooks/endpoints',
              body: { url: 'https://example.com/hooks', eventTypes: ['message.sent', 'message.failed'] },
            }}
          >
            An endpoint is your URL that receives events about messages, workflows, subscribers and preferences.
            {!canChange && ' Only admins and owners can create them.'}
          </NothingYet>
        }
        footer={
          <Paging page={list.data} onPage={setUrl} noun={list.data?.totalCount === 1 ? 'endpoint' : 'endpoints'} />
        }
      />
      <EndpointSheet
        endpointId={endpointId}
        onClose={() => open(undefined)}
        onSecret={(made) => setSecret({ secret: made, isNew: false })}
      />
      {canChange && url.new && (
        <CreateEndpoint
          onClose={() => setUrl({ new: false })}
          onMade={({ _id, secret: made }) => {
            setSecret({ secret: made, isNew: true })
            open(_id)
          }}
        />
      )}
      {secret && <SecretDialog {...secret} onClose={() => setSecret(undefined)} />}
    </Frame>
  )
}
