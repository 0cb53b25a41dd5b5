// Events that programs have posted, and how many waits each has ended.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { RadioTower } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { events, type PostedEvent } from '../../api/events.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { PostEvent } from '../../ui/domain/post-event.tsx'
import { SearchInput } from '../../ui/form/input.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterBar, TextFilterChip } from '../../ui/list/filters.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, Paging, Table, timeColumn } from '../../ui/list/table.tsx'
import { flag, text, useUrlState } from '../../ui/list/url-state.ts'
import { Ended, EventSheet } from './event-sheet.tsx'

const schema = {
  ...{ name: text(), subscriberId: text(), key: text() },
  ...{ after: text(), before: text() },
  new: flag(),
}

const none = <span className="text-muted">—</span>

const columns: Array<Column<PostedEvent>> = [
  { id: 'name', header: 'Name', cell: ({ name }) => <code>{name}</code> },
  {
    id: 'subscriber',
    header: 'Subscriber',
    cell: ({ subscriberId }) => (subscriberId === null ? none : <bdi>{subscriberId}</bdi>),
  },
  { id: 'key', header: 'Key', from: 'sm', cell: ({ key }) => (key === null ? none : <code>{key}</code>) },
  { id: 'ended', header: 'Ended', width: 'w-28', cell: (event) => <Ended event={event} /> },
  timeColumn('Posted', 'createdAt', { from: 'sm' }),
]

export function Page() {
  const [filters, setFilters] = useUrlState(schema)
  const { eventId } = useParams({ strict: false })
  const navigate = useNavigate()
  const canPost = useCan('editor')
  const { name, subscriberId, key, after, before } = filters
  const list = useQuery(
    events.list({
      ...{ limit: 50, after, before },
      ...(name ? { name } : {}),
      ...(subscriberId ? { subscriberId } : {}),
      ...(key ? { key } : {}),
    }),
  )
  const post = () => setFilters({ new: true }, { push: true })
  const isFiltered = name !== '' || subscriberId !== '' || key !== ''
  return (
    <Frame
      title="Events"
      flush
      actions={
        canPost && (
          <NewButton onNew={post} hint="Post an event by hand">
            Post event
          </NewButton>
        )
      }
    >
      <FilterBar>
        <SearchInput
          value={name}
          onValue={(name) => setFilters({ name })}
          label="Search by name"
          placeholder="A whole name…"
          className="w-full sm:w-64"
        />
        <TextFilterChip
          label="Subscriber"
          value={subscriberId}
          onValue={(subscriberId) => setFilters({ subscriberId })}
        />
        <TextFilterChip label="Key" mono value={key} onValue={(key) => setFilters({ key })} />
      </FilterBar>
      <Table
        label="Events"
        columns={columns}
        rows={list.data?.data}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/events/{-$eventId}', params: { eventId: id } })}
        selected={eventId}
        query={list}
        empty={
          isFiltered || after || before ? (
            <EmptyState
              icon={<RadioTower />}
              title="No event matches"
              action={
                <Button onClick={() => setFilters({ name: '', subscriberId: '', key: '' })}>Clear filters</Button>
              }
            >
              Names, subscribers and keys are found whole, not in part.
            </EmptyState>
          ) : (
            <NoEvents canPost={canPost} onPost={post} />
          )
        }
        footer={<Paging page={list.data} onPage={setFilters} noun="events" />}
      />
      <EventSheet
        eventId={eventId}
        onClose={() => void navigate({ to: '/events/{-$eventId}', params: { eventId: undefined }, search: true })}
      />
      <PostEvent
        open={canPost && filters.new}
        onClose={() => setFilters({ new: false, after, before })}
        event={{ name, subscriberId, key }}
      />
    </Frame>
  )
}

const NoEvents = ({ canPost, onPost }: { canPost: boolean; onPost: () => void }) => (
  <NothingYet
    icon={<RadioTower />}
    title="No events yet"
    button="Post event"
    onNew={canPost && onPost}
    maxHeight={220}
    request={{
      method: 'POST',
      path: '/v2/events',
      body: { name: 'cart.paid', key: 'cart-7', payload: { total: 40 } },
    }}
  >
    Steps of a workflow can wait for events. Your program posts them with one request:
  </NothingYet>
)
