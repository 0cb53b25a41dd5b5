// Integrations by channel: which is primary, which are active, and their health.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Plug, Power, PowerOff, Send, Star, Trash2 } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { type Integration, integrations, useProviderNames } from '../../api/integrations.ts'
import { Button } from '../../ui/base/button.tsx'
import { Badge, Status } from '../../ui/base/status.tsx'
import { Tooltip } from '../../ui/base/tooltip.tsx'
import { type Channel, channels, lookOf, StepIcon } from '../../ui/domain/step-kind.tsx'
import { Menu, MenuItem, MenuLink, MenuSeparator } from '../../ui/frame/menu.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, RowActions, Table } from '../../ui/list/table.tsx'
import { hasPrimary, useIntegrationActions } from './actions.ts'
import { AddIntegration, useAdding } from './add-integration.tsx'
import { HealthStatus } from './health.tsx'
import { IntegrationSheet } from './integration-sheet.tsx'
import { ProviderTile } from './providers.tsx'

export function Page() {
  const { integrationId } = useParams({ strict: false })
  const navigate = useNavigate()
  const canChange = useCan('admin')
  const adding = useAdding()
  const list = useQuery(integrations.list())
  const nameOf = useProviderNames()
  const rows = list.data?.toSorted(
    (one, other) =>
      channels.indexOf(one.channel) - channels.indexOf(other.channel) ||
      Number(other.primary) - Number(one.primary) ||
      Number(other.active) - Number(one.active) ||
      other.priority - one.priority,
  )
  const isWithoutPrimary = (channel: Channel) =>
    (channel === 'email' || channel === 'sms') &&
    !rows?.some((one) => one.channel === channel && one.active && (one.primary || one.conditions.length > 0))
  const columns: Array<Column<Integration>> = [
    {
      id: 'name',
      header: 'Name',
      cell: (integration) => (
        <span className="flex items-center gap-2.5">
          <ProviderTile
            providerId={integration.providerId}
            name={nameOf(integration.providerId)}
            channel={integration.channel}
          />
          <span className="truncate" dir="auto">
            {integration.name}
          </span>
          {integration.primary && <Badge tone="info">Primary</Badge>}
          {integration.conditions.length > 0 && <Badge className="max-sm:hidden">Conditions</Badge>}
        </span>
      ),
    },
    {
      id: 'provider',
      header: 'Provider',
      width: 'w-52',
      from: 'md',
      cell: (integration) => <span className="text-muted">{nameOf(integration.providerId)}</span>,
    },
    {
      id: 'active',
      header: 'Status',
      width: 'w-24 sm:w-28',
      cell: ({ active }) => <Status tone={active ? 'good' : 'neutral'}>{active ? 'Active' : 'Inactive'}</Status>,
    },
    {
      id: 'health',
      header: 'Health',
      width: 'w-52',
      from: 'sm',
      cell: (integration) => <HealthStatus integration={integration} />,
    },
    {
      id: 'identifier',
      header: 'Identifier',
      width: 'w-56',
      from: 'xl',
      cell: ({ identifier }) => <code className="text-muted">{identifier}</code>,
    },
    {
      id: 'actions',
      header: <span className="sr-only">Actions</span>,
      width: 'w-14',
      cell: (integration) => <IntegrationMenu integration={integration} all={list.data ?? []} />,
    },
  ]
  return (
    <Frame
      title="Integrations"
      flush
      actions={
        <NewButton
          disabled={!canChange}
          hint={canChange ? 'Add an integration' : 'Only admins and owners can add integrations'}
          onNew={() => adding.open()}
        >
          Add integration
        </NewButton>
      }
    >
      <Table
        label="Integrations"
        columns={columns}
        rows={rows}
        rowKey={({ _id }) => _id}
        rowLink={({ _id }) => ({ to: '/integrations/{-$integrationId}', params: { integrationId: _id } })}
        selected={integrationId}
        query={list}
        group={{
          of: ({ channel }) => channel,
          heading: (channel) => (
            <span className="flex items-center gap-2">
              <StepIcon kind={channel} />
              {lookOf(channel).label}
              {isWithoutPrimary(channel as Channel) && (
                <Tooltip text="Nothing is sent on this channel until one integration is active and primary.">
                  <span className="ml-auto font-normal">
                    <Status tone="warn">No primary</Status>
                  </span>
                </Tooltip>
              )}
            </span>
          ),
        }}
        empty={
          <NothingYet
            icon={<Plug />}
            title="No integrations yet"
            button="Add integration"
            onNew={canChange && (() => adding.open())}
          >
            An integration connects Belfry to a provider that delivers email, SMS, chat or push messages.
            {!canChange && ' Ask an admin to add one.'}
          </NothingYet>
        }
        footer={rows && <Missing rows={rows} canChange={canChange} onAdd={adding.open} />}
      />
      <IntegrationSheet
        integrationId={integrationId}
        onClose={() =>
          void navigate({
            to: '/integrations/{-$integrationId}',
            params: { integrationId: undefined },
            search: {},
          })
        }
      />
      {canChange && <AddIntegration all={list.data ?? []} />}
    </Frame>
  )
}

/** Channels without an integration, each with a button to add one. */
function Missing(props: { rows: readonly Integration[]; canChange: boolean; onAdd: (channel: Channel) => void }) {
  const missing = channels.filter((channel) => !props.rows.some((row) => row.channel === channel))
  if (missing.length === 0 || !props.canChange) return null
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 py-4 text-sm text-muted sm:px-6">
      No integration yet for:
      {missing.map((channel) => (
        <Button key={channel} size="sm" icon={<StepIcon kind={channel} />} onClick={() => props.onAdd(channel)}>
          Add {lookOf(channel).label}
        </Button>
      ))}
    </div>
  )
}

function IntegrationMenu({ integration, all }: { integration: Integration; all: readonly Integration[] }) {
  const canChange = useCan('admin')
  const { setActive, makePrimary, askRemove } = useIntegrationActions(integration, all)
  const { _id, name, active, primary, channel } = integration
  if (!canChange) return null
  return (
    <RowActions>
      <Menu label={`Actions for ${name}`}>
        {channel !== 'in_app' && (
          <MenuLink
            to="/integrations/{-$integrationId}"
            params={{ integrationId: _id }}
            search={{ tab: 'test' }}
            icon={<Send />}
          >
            Send a test
          </MenuLink>
        )}
        {hasPrimary(integration) && !primary && (
          <MenuItem icon={<Star />} onSelect={() => makePrimary.mutate()}>
            Make primary
          </MenuItem>
        )}
        <MenuItem icon={active ? <PowerOff /> : <Power />} onSelect={() => setActive.mutate(!active)}>
          {active ? 'Deactivate' : 'Activate'}
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} danger onSelect={() => void askRemove()}>
          Delete…
        </MenuItem>
      </Menu>
    </RowActions>
  )
}
