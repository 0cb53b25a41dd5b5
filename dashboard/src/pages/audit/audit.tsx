// The audit log: who changed what, when, and from where.
import { useQuery } from '@tanstack/react-query'
import { Bot, Download, KeyRound, ScrollText } from 'lucide-react'
import { useCan, useSession } from '../../api/auth.ts'
import { type AuditEntry, team } from '../../api/team.ts'
import { Avatar, EnvironmentDot } from '../../ui/base/avatar.tsx'
import { Button, buttonClass } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { Status } from '../../ui/base/status.tsx'
import { absoluteTime, Time } from '../../ui/base/time.tsx'
import { Tooltip } from '../../ui/base/tooltip.tsx'
import { JsonView } from '../../ui/code/json-view.tsx'
import { Facts, Page as Frame } from '../../ui/frame/page.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { FilterBar, FilterChip } from '../../ui/list/filters.tsx'
import { type Column, Paging, Table, timeColumn } from '../../ui/list/table.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'
import { actions, sentenceOf } from './actions.ts'

const schema = { action: text(), actor: text(), after: text(), before: text(), entry: text() }

export function Page() {
  const canSee = useCan('admin')
  if (!canSee)
    return (
      <Frame title="Audit" width="content">
        <EmptyState icon={<ScrollText />} title="The audit log is for admins">
          It shows who changed what in your organization. Ask an admin or owner to look something up.
        </EmptyState>
      </Frame>
    )
  return <Log />
}

function Log() {
  const [url, setUrl] = useUrlState(schema)
  const { environments } = useSession()
  const members = useQuery(team.members())
  const { action, actor, after, before } = url
  const list = useQuery(team.audit({ limit: 50, action, actor, after, before }))
  const isFiltered = action !== '' || actor !== ''
  const cursors = { after, before }
  const environmentOf = ({ environmentId }: AuditEntry) => environments.find(({ _id }) => _id === environmentId)
  const columns: Array<Column<AuditEntry>> = [
    {
      id: 'what',
      header: 'What',
      cell: (entry) => (
        <>
          {sentenceOf(entry)}
          {(entry.target.name ?? entry.target.id) && (
            <span className="ml-2 font-normal text-muted" dir="auto">
              {entry.target.name ?? <code>{entry.target.id}</code>}
            </span>
          )}
          <span className="block truncate text-xs font-normal text-muted sm:hidden" dir="auto">
            {entry.actor.name || entry.actor.email}
          </span>
        </>
      ),
    },
    { id: 'who', header: 'Who', width: 'w-56', from: 'sm', cell: ({ actor }) => <Actor actor={actor} /> },
    {
      id: 'where',
      header: 'Environment',
      width: 'w-40',
      from: 'lg',
      cell: (entry) => {
        const environment = environmentOf(entry)
        if (!environment) return <span className="text-muted">—</span>
        return (
          <span className="inline-flex items-center gap-1.5">
            <EnvironmentDot color={environment.color} />
            {environment.name}
          </span>
        )
      },
    },
    {
      id: 'address',
      header: 'Address',
      width: 'w-36',
      from: 'xl',
      cell: ({ address }) => <code className="text-muted">{address ?? '—'}</code>,
    },
    timeColumn('When', 'createdAt'),
  ]
  const open = list.data?.data.find(({ _id }) => _id === url.entry)
  return (
    <Frame
      title="Audit"
      flush
      actions={
        <>
          <ChainStatus />
          <a href="/v1/audit/export" download className={buttonClass()}>
            <Download aria-hidden /> Export
          </a>
        </>
      }
    >
      <FilterBar>
        <FilterChip
          label="Action"
          single
          options={actions}
          value={action === '' ? [] : [action]}
          onValue={([chosen = '']) => setUrl({ action: chosen, entry: '' })}
        />
        <FilterChip
          label="Who"
          single
          options={(members.data ?? []).map(({ _id, name, email }) => ({ value: _id, label: name || email }))}
          value={actor === '' ? [] : [actor]}
          onValue={([chosen = '']) => setUrl({ actor: chosen, entry: '' })}
        />
      </FilterBar>
      <Table
        label="Audit log"
        columns={columns}
        rows={list.data?.data}
        rowKey={({ _id }) => _id}
        rowLink={({ _id }) => ({
          to: '/audit',
          search: ((previous: object) => ({ ...previous, entry: _id })) as never,
        })}
        selected={url.entry}
        query={list}
        empty={
          <EmptyState
            icon={<ScrollText />}
            title={isFiltered ? 'No entry matches' : 'No changes yet'}
            action={isFiltered && <Button onClick={() => setUrl({ action: '', actor: '' })}>Clear filters</Button>}
          >
            Changes to integrations, environments, keys, variables, webhooks, members and settings appear here.
          </EmptyState>
        }
        footer={<Paging page={list.data} onPage={setUrl} noun={list.data?.totalCount === 1 ? 'entry' : 'entries'} />}
      />
      <Sheet
        open={open !== undefined}
        onClose={() => setUrl({ entry: '', ...cursors })}
        title={open ? sentenceOf(open) : ''}
        subtitle={open && absoluteTime(open.createdAt)}
      >
        {open && (
          <div className="space-y-5">
            <Facts
              facts={[
                ['Who', <Actor key="who" actor={open.actor} />],
                ['Email', open.actor.email],
                ['Action', <code key="action">{open.action}</code>],
                [
                  'What',
                  open.target.name || open.target.id ? (
                    <span key="target">
                      {open.target.name && (
                        <span className="mr-2" dir="auto">
                          {open.target.name}
                        </span>
                      )}
                      {open.target.id && <Id value={open.target.id} />}
                    </span>
                  ) : null,
                ],
                ['Environment', environmentOf(open)?.name],
                ['Address', open.address && <code key="address">{open.address}</code>],
                ['When', <Time key="when" at={open.createdAt} />],
              ]}
            />
            {Object.keys(open.details).length > 0 && <JsonView value={open.details} title="Details" />}
          </div>
        )}
      </Sheet>
    </Frame>
  )
}

/** Whether anybody has changed the log behind its back. */
function ChainStatus() {
  const { data } = useQuery(team.auditChain())
  if (!data || data.entries === 0) return null
  const { isWhole, broken, entries } = data
  const text = isWhole
    ? `The hashes of all ${entries} entries fit: nothing was changed or removed.`
    : `Entry ${broken?.number}: ${broken?.reason}.`
  return (
    <Tooltip text={text}>
      <span className="max-sm:hidden">
        <Status tone={isWhole ? 'good' : 'bad'}>{isWhole ? 'Verified' : 'Tampered with'}</Status>
      </span>
    </Tooltip>
  )
}

function Actor({ actor }: { actor: AuditEntry['actor'] }) {
  const icon =
    actor.type === 'person' ? (
      <Avatar name={actor.name || actor.email || '?'} className="size-5" />
    ) : actor.type === 'api-key' ? (
      <KeyRound className="size-4 shrink-0 text-muted" aria-hidden />
    ) : (
      <Bot className="size-4 shrink-0 text-muted" aria-hidden />
    )
  return (
    <span className="flex items-center gap-2">
      {icon}
      <span className="truncate" dir="auto">
        {actor.name || actor.email}
      </span>
    </span>
  )
}
