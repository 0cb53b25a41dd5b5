// The suppression list: who is not written to, and why.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Ban, Download, Upload } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Suppression, suppressions } from '../../api/suppressions.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { download } from '../../ui/base/download.ts'
import { EmptyState } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import {
  addressText,
  channels,
  optionsOf,
  reasons,
  scopes,
  scopeText,
  sources,
} from '../../ui/domain/suppression-words.ts'
import { SearchInput } from '../../ui/form/input.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { chipClass, FilterBar, FilterChip } from '../../ui/list/filters.tsx'
import { NewButton } from '../../ui/list/new.tsx'
import { type Column, Paging, Table, timeColumn } from '../../ui/list/table.tsx'
import { flag, manyOf, text, useUrlState } from '../../ui/list/url-state.ts'
import { AddSuppression } from './add-suppression.tsx'
import { ImportSuppressions } from './import-suppressions.tsx'
import { SuppressionSheet } from './suppression-sheet.tsx'

const keysOf = <Value extends string>(words: Record<Value, string>) => Object.keys(words) as Value[]

const schema = {
  address: text(),
  channel: manyOf(keysOf(channels)),
  reason: manyOf(keysOf(reasons)),
  source: manyOf(keysOf(sources)),
  scope: manyOf(keysOf(scopes)),
  expired: flag(),
  ...{ after: text(), before: text() },
  ...{ new: flag(), import: flag() },
}

const columns: Array<Column<Suppression>> = [
  {
    id: 'address',
    header: 'Address',
    cell: (entry) => <span className={entry.address === null ? 'text-muted' : ''}>{addressText(entry)}</span>,
  },
  { id: 'channel', header: 'Channel', width: 'w-24', from: 'sm', cell: ({ channel }) => channels[channel] },
  {
    id: 'reason',
    header: 'Reason',
    width: 'w-36',
    cell: ({ reason }) => <Badge tone={reason === 'complaint' ? 'bad' : 'neutral'}>{reasons[reason]}</Badge>,
  },
  { id: 'scope', header: 'Holds back', from: 'md', cell: scopeText },
  { id: 'source', header: 'From', width: 'w-32', from: 'lg', cell: ({ source }) => sources[source] },
  timeColumn('Since', 'createdAt', { from: 'sm' }),
]

export function Page() {
  const [filters, setFilters] = useUrlState(schema)
  const { suppressionId } = useParams({ strict: false })
  const navigate = useNavigate()
  const environment = useEnvironment()
  const canEdit = useCan('editor')
  const canExport = useCan('admin')
  const { address, after, before } = filters
  const [channel] = filters.channel
  const [reason] = filters.reason
  const [source] = filters.source
  const [scope] = filters.scope
  const list = useQuery(
    suppressions.list({
      ...{ limit: 50, after, before, address },
      ...(channel ? { channel } : {}),
      ...(reason ? { reason } : {}),
      ...(source ? { source } : {}),
      ...(scope ? { scope } : {}),
      ...(filters.expired ? { includeExpired: true } : {}),
    }),
  )
  const add = () => setFilters({ new: true }, { push: true })
  const save = useAction({
    do: suppressions.export,
    onDone: (file) => download(`suppressions-${environment.name.toLowerCase()}.csv`, file, 'text/csv'),
  })
  const isFiltered = address !== '' || channel || reason || source || scope || filters.expired
  return (
    <Frame
      title="Suppressions"
      flush
      actions={
        <>
          {canExport && (
            <>
              <Button icon={<Download />} pending={save.isPending} onClick={() => save.mutate()}>
                Export
              </Button>
              <Button icon={<Upload />} onClick={() => setFilters({ import: true }, { push: true })}>
                Import
              </Button>
            </>
          )}
          {canEdit && <NewButton onNew={add}>Add an address</NewButton>}
        </>
      }
    >
      <FilterBar>
        <SearchInput
          value={address}
          onValue={(address) => setFilters({ address })}
          label="Search by address"
          placeholder="A whole address…"
          className="w-full sm:w-64"
        />
        <FilterChip
          label="Reason"
          single
          options={optionsOf(reasons)}
          value={filters.reason}
          onValue={(value) => setFilters({ reason: value as typeof filters.reason })}
        />
        <FilterChip
          label="Channel"
          single
          options={optionsOf(channels)}
          value={filters.channel}
          onValue={(value) => setFilters({ channel: value as typeof filters.channel })}
        />
        <FilterChip
          label="From"
          single
          options={optionsOf(sources)}
          value={filters.source}
          onValue={(value) => setFilters({ source: value as typeof filters.source })}
        />
        <FilterChip
          label="Holds back"
          single
          options={optionsOf(scopes)}
          value={filters.scope}
          onValue={(value) => setFilters({ scope: value as typeof filters.scope })}
        />
        <button
          type="button"
          aria-pressed={filters.expired}
          className={cn(
            chipClass,
            filters.expired ? 'border-accent/40 bg-accent/8' : 'border-dashed border-line-strong text-muted',
          )}
          onClick={() => setFilters({ expired: !filters.expired })}
        >
          Expired too
        </button>
      </FilterBar>
      <Table
        label="Suppressions"
        columns={columns}
        rows={list.data?.data}
        rowKey={({ _id }) => _id}
        rowLink={({ _id }) => ({ to: '/suppressions/{-$suppressionId}', params: { suppressionId: _id } })}
        selected={suppressionId}
        query={list}
        empty={
          isFiltered ? (
            <EmptyState
              icon={<Ban />}
              title="No entry matches"
              action={
                <Button
                  onClick={() =>
                    setFilters({ address: '', channel: [], reason: [], source: [], scope: [], expired: false })
                  }
                >
                  Clear filters
                </Button>
              }
            >
              Addresses are found whole, not in part.
            </EmptyState>
          ) : (
            <EmptyState icon={<Ban />} title="Nobody is held back">
              Hard bounces, complaints and unsubscriptions appear here.
            </EmptyState>
          )
        }
        footer={<Paging page={list.data} onPage={setFilters} noun="entries" />}
      />
      <SuppressionSheet
        suppressionId={suppressionId}
        onClose={() =>
          void navigate({ to: '/suppressions/{-$suppressionId}', params: { suppressionId: undefined }, search: true })
        }
      />
      <AddSuppression open={canEdit && filters.new} onClose={() => setFilters({ new: false, after, before })} />
      <ImportSuppressions
        open={canExport && filters.import}
        onClose={() => setFilters({ import: false, after, before })}
      />
    </Frame>
  )
}
