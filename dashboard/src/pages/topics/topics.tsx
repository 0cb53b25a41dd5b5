// Topics: one trigger reaches all subscribers of a topic. The selected topic lists them.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Hash } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { type Topic, topics } from '../../api/topics.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { OpenTopicsWarning } from '../../shell/open-topics.tsx'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { SearchInput } from '../../ui/form/input.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterBar, TextFilterChip } from '../../ui/list/filters.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, Paging, Table, timeColumn } from '../../ui/list/table.tsx'
import { flag, oneOf, text, useUrlState } from '../../ui/list/url-state.ts'
import { CreateTopic } from './create-topic.tsx'
import { TopicSheet } from './topic-sheet.tsx'

const schema = {
  ...{ query: text(), name: text() },
  by: oneOf(['createdAt', 'updatedAt'], 'createdAt'),
  direction: oneOf(['ASC', 'DESC'], 'DESC'),
  ...{ after: text(), before: text() },
  new: flag(),
}
const perPage = 50

const columns: Array<Column<Topic>> = [
  { id: 'name', header: 'Name', cell: ({ name, key }) => <span dir="auto">{name ?? key}</span> },
  { id: 'key', header: 'Key', cell: ({ key }) => <code className="text-muted">{key}</code> },
  timeColumn('Updated', 'updatedAt', { orderBy: 'updatedAt', from: 'sm' }),
  timeColumn('Created', 'createdAt', { orderBy: 'createdAt', from: 'md' }),
]

export function Page() {
  const [filters, setFilters] = useUrlState(schema)
  const { topicKey } = useParams({ strict: false })
  const navigate = useNavigate()
  const environment = useEnvironment()
  const canEdit = useCan('editor')
  const { query, name, by, direction, after, before } = filters
  const order = { limit: perPage, orderBy: by, orderDirection: direction }
  const list = useQuery(topics.list({ ...order, after, before, key: query, name }))
  // The API searches keys or names; the search field searches both.
  const byName = useQuery({
    ...topics.list({ ...order, name: query }),
    enabled: query !== '' && name === '' && !after && !before,
  })
  const create = () => setFilters({ new: true }, { push: true })

  const found = list.data?.data
  const more = query === '' || name !== '' || after || before ? [] : (byName.data?.data ?? [])
  const rows = found && [...found, ...more.filter(({ key }) => !found.some((one) => one.key === key))]
  const isSearching = rows?.length === 0 && query !== '' && byName.isPending && byName.fetchStatus !== 'idle'
  return (
    <Frame title="Topics" flush actions={canEdit && <NewButton onNew={create}>New topic</NewButton>}>
      <OpenTopicsWarning className="border-b px-4 sm:px-6" />
      <FilterBar>
        <SearchInput
          value={query}
          onValue={(query) => setFilters({ query })}
          label="Search topics"
          placeholder="Key or name…"
          className="w-full sm:w-64"
        />
        <TextFilterChip label="Name" value={name} onValue={(name) => setFilters({ name })} />
      </FilterBar>
      <Table
        label="Topics"
        columns={columns}
        rows={isSearching ? undefined : rows}
        rowKey={({ key }) => key}
        rowLink={({ key }) => ({ to: '/topics/{-$topicKey}', params: { topicKey: key } })}
        selected={topicKey}
        order={{ by, direction }}
        onOrder={(order) => setFilters({ by: order.by as typeof by, direction: order.direction })}
        query={list}
        empty={
          query || name || after || before ? (
            <EmptyState
              icon={<Hash />}
              title="No topic matches"
              action={<Button onClick={() => setFilters({ query: '', name: '' })}>Clear filters</Button>}
            >
              No topic in {environment.name} has this in its key or name.
            </EmptyState>
          ) : (
            <NoTopics canEdit={canEdit} onCreate={create} />
          )
        }
        footer={<Paging page={list.data} onPage={setFilters} noun="topics" />}
      />
      <TopicSheet
        topicKey={topicKey}
        onClose={() =>
          void navigate({
            to: '/topics/{-$topicKey}',
            params: { topicKey: undefined },
            search: (search: object) => ({
              ...search,
              subscriber: undefined,
              subscription: undefined,
              from: undefined,
            }),
          })
        }
      />
      <CreateTopic open={canEdit && filters.new} onClose={() => setFilters({ new: false, after, before })} />
    </Frame>
  )
}

const NoTopics = ({ canEdit, onCreate }: { canEdit: boolean; onCreate: () => void }) => (
  <NothingYet
    icon={<Hash />}
    title="No topics yet"
    button="New topic"
    onNew={canEdit && onCreate}
    maxHeight={220}
    request={{
      method: 'POST',
      path: '/v2/topics/release-notes/subscriptions',
      body: { subscriptions: ['ada', 'grace'] },
    }}
  >
    A trigger to a topic reaches all its subscribers. Subscribing to a new key creates the topic:
  </NothingYet>
)
