// Contexts: tenants, apps or regions that a notification is about, each with data for templates.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Boxes } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { type Context, contexts, keyOf } from '../../api/contexts.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { SearchInput } from '../../ui/form/input.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterBar, TextFilterChip } from '../../ui/list/filters.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, Paging, Table, timeColumn } from '../../ui/list/table.tsx'
import { flag, oneOf, text, useUrlState } from '../../ui/list/url-state.ts'
import { ContextSheet } from './context-sheet.tsx'
import { CreateContext } from './create-context.tsx'

const schema = {
  ...{ query: text(), type: text() },
  by: oneOf(['createdAt', 'updatedAt'], 'createdAt'),
  direction: oneOf(['ASC', 'DESC'], 'DESC'),
  ...{ after: text(), before: text() },
  new: flag(),
}

const columns: Array<Column<Context>> = [
  {
    id: 'id',
    header: 'Id',
    cell: ({ id }) => <span className="font-mono text-code">{id}</span>,
  },
  { id: 'type', header: 'Type', width: 'w-36', cell: ({ type }) => <Badge>{type}</Badge> },
  {
    id: 'data',
    header: 'Data',
    from: 'md',
    cell: ({ data }) =>
      Object.keys(data).length > 0 ? (
        <code className="text-muted">{JSON.stringify(data)}</code>
      ) : (
        <span className="text-muted">None</span>
      ),
  },
  timeColumn('Updated', 'updatedAt', { orderBy: 'updatedAt', from: 'sm' }),
  timeColumn('Created', 'createdAt', { orderBy: 'createdAt', from: 'lg' }),
]

export function Page() {
  const [filters, setFilters] = useUrlState(schema)
  const { contextKey } = useParams({ strict: false })
  const navigate = useNavigate()
  const environment = useEnvironment()
  const canEdit = useCan('editor')
  const { query, type, by, direction, after, before } = filters
  const list = useQuery(
    contexts.list({
      ...{ limit: 50, orderBy: by, orderDirection: direction, after, before, search: query },
      ...(type ? { type } : {}),
    }),
  )
  const create = () => setFilters({ new: true }, { push: true })
  return (
    <Frame title="Contexts" flush actions={canEdit && <NewButton onNew={create}>New context</NewButton>}>
      <FilterBar>
        <SearchInput
          value={query}
          onValue={(query) => setFilters({ query })}
          label="Search contexts"
          placeholder="Type or id…"
          className="w-full sm:w-64"
        />
        <TextFilterChip label="Type is" mono value={type} onValue={(type) => setFilters({ type })} />
      </FilterBar>
      <Table
        label="Contexts"
        columns={columns}
        rows={list.data?.data}
        rowKey={keyOf}
        rowLink={(context) => ({ to: '/contexts/{-$contextKey}', params: { contextKey: keyOf(context) } })}
        selected={contextKey}
        order={{ by, direction }}
        onOrder={(order) => setFilters({ by: order.by as typeof by, direction: order.direction })}
        query={list}
        empty={
          query || type || after || before ? (
            <EmptyState
              icon={<Boxes />}
              title="No context matches"
              action={<Button onClick={() => setFilters({ query: '', type: '' })}>Clear filters</Button>}
            >
              No context in {environment.name} has this type or id.
            </EmptyState>
          ) : (
            <NoContexts canEdit={canEdit} onCreate={create} />
          )
        }
        footer={<Paging page={list.data} onPage={setFilters} noun="contexts" />}
      />
      <ContextSheet
        contextKey={contextKey}
        onClose={() =>
          void navigate({ to: '/contexts/{-$contextKey}', params: { contextKey: undefined }, search: true })
        }
      />
      <CreateContext open={canEdit && filters.new} onClose={() => setFilters({ new: false, after, before })} />
    </Frame>
  )
}

const NoContexts = ({ canEdit, onCreate }: { canEdit: boolean; onCreate: () => void }) => (
  <NothingYet
    icon={<Boxes />}
    title="No contexts yet"
    button="New context"
    onNew={canEdit && onCreate}
    request={{
      method: 'POST',
      path: '/v1/events/trigger',
      body: {
        name: 'your-workflow',
        to: { subscriberId: 'ada' },
        context: { tenant: { id: 'acme', data: { name: 'Acme', plan: 'pro' } } },
      },
    }}
  >
    A context says what a notification is about, such as a tenant. Templates can use its data, and inboxes, preferences
    and topics can be separate for each context. A trigger that names a new context creates it:
  </NothingYet>
)
