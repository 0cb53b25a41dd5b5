// Subscribers: found by name, address, number or id. The selected one opens beside the list.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Import, UserRound, UserRoundSearch } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { nameOf, type Subscriber, subscribers } from '../../api/subscribers.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Avatar } from '../../ui/base/avatar.tsx'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { StepIcons } from '../../ui/domain/step-kind.tsx'
import { SearchInput } from '../../ui/form/input.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterBar, TextFilterChip } from '../../ui/list/filters.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { SavedViews } from '../../ui/list/saved-views.tsx'
import { type Column, Paging, Table, timeColumn } from '../../ui/list/table.tsx'
import {
  flag,
  manyOf,
  oneOf,
  parseSearch,
  stringifySearch,
  text,
  type UrlState,
  useUrlState,
} from '../../ui/list/url-state.ts'
import { CreateSubscriber } from './create-subscriber.tsx'
import { DataFilters, fieldsOf } from './data-filter.tsx'
import { ExportMenu, ExportStrip } from './export.tsx'
import { ImportDialog, ImportStrip } from './import-dialog.tsx'
import { ChosenSubscribers } from './selection.tsx'
import { SubscriberSheet } from './subscriber-sheet.tsx'

const schema = {
  query: text(),
  ...{ name: text(), email: text(), phone: text(), subscriberId: text(), data: manyOf() },
  by: oneOf(['createdAt', 'updatedAt'], 'createdAt'),
  direction: oneOf(['ASC', 'DESC'], 'DESC'),
  ...{ after: text(), before: text() },
  new: flag(),
  import: flag(),
}
const perPage = 50
type Filters = UrlState<typeof schema>

/** What a saved view keeps. */
const viewed = ['query', 'name', 'email', 'phone', 'subscriberId', 'data', 'by', 'direction'] as const

const viewOf = (filters: Filters): string =>
  stringifySearch(
    Object.fromEntries(
      viewed
        .filter((name) => JSON.stringify(filters[name]) !== JSON.stringify(schema[name].fallback))
        .map((name) => [name, filters[name]]),
    ),
  ).replace(/^\?/, '')

function filtersOf(view: string): Partial<Filters> {
  const given = parseSearch(view)
  return Object.fromEntries(viewed.map((name) => [name, schema[name].parse(given[name])]))
}

/** The typed text decides which filter of the API to use. */
function meant(query: string): { email?: string; phone?: string; name?: string } {
  if (query === '') return {}
  if (query.includes('@')) return { email: query }
  return /^\+?[\d\s()./-]{3,}$/.test(query) ? { phone: query.trim() } : { name: query }
}

export function Page() {
  const [filters, setFilters] = useUrlState(schema)
  const { subscriberId: open } = useParams({ strict: false })
  const navigate = useNavigate()
  const environment = useEnvironment()
  const canEdit = useCan('editor')
  const { query, by, direction, after, before } = filters
  const chosen = { name: filters.name, email: filters.email, phone: filters.phone, subscriberId: filters.subscriberId }
  const search = { ...chosen, ...meant(query), data: filters.data }
  const list = useQuery(
    subscribers.list({ limit: perPage, orderBy: by, orderDirection: direction, after, before, ...search }),
  )
  // The API finds an id only as a whole, so an exact id match is added to the matches by name.
  const byId = useQuery({ ...subscribers.list({ limit: 1, subscriberId: query }), enabled: query !== '' && !after })
  const isFiltered = query !== '' || filters.data.length > 0 || Object.values(chosen).some((value) => value !== '')
  const create = () => setFilters({ new: true }, { push: true })
  const startImport = () => setFilters({ import: true }, { push: true })

  const exact = query === '' || after || before ? [] : (byId.data?.data ?? [])
  const found = list.data?.data
  const rows = found && [...exact.filter(({ _id }) => !found.some((one) => one._id === _id)), ...found]
  const clear = () => setFilters({ query: '', name: '', email: '', phone: '', subscriberId: '', data: [] })
  // Only what is in sight can be chosen: another page or filter lets go of the rest.
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set())
  const picked = (rows ?? []).filter(({ subscriberId }) => keys.has(subscriberId))
  return (
    <Frame
      title="Subscribers"
      flush
      actions={
        <>
          <ExportMenu filters={search} total={list.data?.totalCount} environment={environment} />
          {canEdit && (
            <>
              <Button icon={<Import />} onClick={startImport}>
                Import
              </Button>
              <NewButton onNew={create}>New subscriber</NewButton>
            </>
          )}
        </>
      }
    >
      <FilterBar>
        <SearchInput
          value={query}
          onValue={(query) => setFilters({ query })}
          label="Search subscribers"
          placeholder="Name, address, number or id…"
          className="w-full sm:w-72"
        />
        <TextFilterChip label="Name" value={filters.name} onValue={(name) => setFilters({ name })} />
        <TextFilterChip label="Email" value={filters.email} onValue={(email) => setFilters({ email })} />
        <TextFilterChip label="Phone" value={filters.phone} onValue={(phone) => setFilters({ phone })} />
        <TextFilterChip
          label="Id is"
          mono
          value={filters.subscriberId}
          onValue={(subscriberId) => setFilters({ subscriberId })}
        />
        <DataFilters
          value={filters.data}
          onValue={(data) => setFilters({ data })}
          fields={isFiltered ? [] : fieldsOf(rows ?? [])}
        />
        <SavedViews
          page="subscribers"
          search={viewOf(filters)}
          onSearch={(view) => setFilters(filtersOf(view), { push: true })}
        />
      </FilterBar>
      <ImportStrip onOpen={startImport} />
      <ExportStrip />
      <ChosenSubscribers chosen={picked} onClear={() => setKeys(new Set())} environment={environment} />
      <Table
        label="Subscribers"
        columns={columns}
        rows={rows}
        rowKey={({ subscriberId }) => subscriberId}
        rowLink={({ subscriberId }) => ({ to: '/subscribers/{-$subscriberId}', params: { subscriberId } })}
        selected={open}
        selection={{ chosen: new Set(picked.map(({ subscriberId }) => subscriberId)), onChosen: setKeys, nameOf }}
        order={{ by, direction }}
        onOrder={(order) => setFilters({ by: order.by as typeof by, direction: order.direction })}
        query={list}
        empty={
          isFiltered ? (
            <EmptyState
              icon={<UserRoundSearch />}
              title="No subscriber matches"
              action={<Button onClick={clear}>Clear filters</Button>}
            >
              {filters.data.length > 0
                ? `No subscriber in ${environment.name} has all of this.`
                : `No subscriber in ${environment.name} has this in their name, address or number, or as their id.`}
            </EmptyState>
          ) : after || before ? (
            <EmptyState
              title="This page no longer exists"
              action={<Button onClick={() => setFilters({ after: '' })}>Go to the first page</Button>}
            >
              Its first subscriber was deleted.
            </EmptyState>
          ) : (
            <NoSubscribers canEdit={canEdit} onCreate={create} onImport={startImport} />
          )
        }
        footer={<Paging page={list.data} onPage={setFilters} noun="subscribers" />}
      />
      <SubscriberSheet
        subscriberId={open}
        onClose={() =>
          void navigate({
            to: '/subscribers/{-$subscriberId}',
            params: { subscriberId: undefined },
            search: (search: object) => ({ ...search, tab: undefined, messages: undefined }),
          })
        }
      />
      <CreateSubscriber open={canEdit && filters.new} onClose={() => setFilters({ new: false, after, before })} />
      <ImportDialog
        open={canEdit && filters.import}
        onClose={() => setFilters({ import: false, after, before })}
        environment={environment}
      />
    </Frame>
  )
}

const muted = (value: string | null | undefined) => value || <span className="text-muted">—</span>

const columns: Array<Column<Subscriber>> = [
  {
    id: 'name',
    header: 'Name',
    cell: (subscriber) => (
      <span className="flex items-center gap-2.5">
        <Avatar name={nameOf(subscriber)} />
        <span className="truncate" dir="auto">
          {nameOf(subscriber)}
        </span>
      </span>
    ),
  },
  {
    id: 'id',
    header: 'Id',
    width: 'sm:w-40 xl:w-48',
    from: 'sm',
    cell: ({ subscriberId }) => <code className="text-muted">{subscriberId}</code>,
  },
  { id: 'email', header: 'Email', width: 'w-56', from: 'md', cell: ({ email }) => muted(email) },
  { id: 'phone', header: 'Phone', width: 'w-40', from: 'lg', cell: ({ phone }) => muted(phone) },
  {
    id: 'reach',
    header: 'Channels',
    width: 'w-28',
    from: 'xl',
    cell: (subscriber) => <StepIcons kinds={reachOf(subscriber)} />,
  },
  timeColumn('Updated', 'updatedAt', { orderBy: 'updatedAt', from: 'xl' }),
  timeColumn('Created', 'createdAt', { orderBy: 'createdAt' }),
]

const pushProviders = new Set(['apns', 'appio', 'expo', 'fcm', 'one-signal', 'push-webhook', 'pusher-beams', 'pushpad'])

/** The channels with a known address; everybody has an inbox. */
function reachOf({ email, phone, channels }: Subscriber): string[] {
  const kinds = channels.map(({ providerId }) => (pushProviders.has(providerId) ? 'push' : 'chat'))
  return ['in_app', ...(email ? ['email'] : []), ...(phone ? ['sms'] : []), ...new Set(kinds)]
}

function NoSubscribers(props: { canEdit: boolean; onCreate: () => void; onImport: () => void }) {
  return (
    <NothingYet
      icon={<UserRound />}
      title="No subscribers yet"
      button="New subscriber"
      onNew={props.canEdit && props.onCreate}
      others={
        <Button icon={<Import />} onClick={props.onImport}>
          Import a file
        </Button>
      }
      maxHeight={220}
      request={{
        method: 'POST',
        path: '/v2/subscribers',
        body: { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' },
      }}
    >
      A trigger creates its subscriber automatically. Or add your users first:
    </NothingYet>
  )
}
