// Layouts: the frame around the content of emails.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CopyPlus, LayoutTemplate, Star, Trash2 } from 'lucide-react'
import { useCanEditContent } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type LayoutSummary, layouts } from '../../api/layouts.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { ProtectedNote } from '../../ui/domain/protected-note.tsx'
import { SearchInput } from '../../ui/form/input.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/frame/menu.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterBar } from '../../ui/list/filters.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, RowActions, Table, timeColumn } from '../../ui/list/table.tsx'
import { flag, oneOf, text, useUrlState } from '../../ui/list/url-state.ts'
import { CreateLayout } from './create-layout.tsx'
import { useDeleteLayout } from './delete-layout.ts'
import { useMakeDefault } from './make-default.ts'

const schema = {
  query: text(),
  by: oneOf(['createdAt', 'updatedAt', 'name'], 'createdAt'),
  direction: oneOf(['ASC', 'DESC'], 'DESC'),
  new: flag(),
}
/** The most layouts an environment can have. */
const most = 100

const columns: Array<Column<LayoutSummary>> = [
  {
    id: 'name',
    header: 'Name',
    orderBy: 'name',
    cell: ({ name, isDefault }) => (
      <span className="flex items-center gap-2">
        <span className="truncate" dir="auto">
          {name}
        </span>
        {isDefault && <Badge tone="info">Default</Badge>}
      </span>
    ),
  },
  {
    id: 'id',
    header: 'Identifier',
    from: 'sm',
    cell: ({ layoutId }) => <code className="text-muted">{layoutId}</code>,
  },
  {
    id: 'translated',
    header: 'Translated',
    width: 'w-28',
    from: 'lg',
    cell: ({ isTranslationEnabled }) => (isTranslationEnabled ? 'Yes' : <span className="text-muted">No</span>),
  },
  timeColumn('Updated', 'updatedAt', { orderBy: 'updatedAt' }),
  timeColumn('Created', 'createdAt', { orderBy: 'createdAt', from: 'md' }),
  {
    id: 'actions',
    header: <span className="sr-only">Actions</span>,
    width: 'w-16',
    cell: (layout) => <LayoutMenu layout={layout} />,
  },
]

export function Page() {
  const [{ query, by, direction, new: isNew }, set] = useUrlState(schema)
  const environment = useEnvironment()
  const canEdit = useCanEditContent()
  const list = useQuery(layouts.list({ query, orderBy: by, orderDirection: direction, limit: most }))
  const create = () => set({ new: true }, { push: true })
  const total = list.data?.totalCount
  return (
    <Frame title="Layouts" flush actions={canEdit && <NewButton onNew={create}>New layout</NewButton>}>
      <ProtectedNote />
      <FilterBar>
        <SearchInput
          value={query}
          onValue={(query) => set({ query })}
          label="Search layouts"
          placeholder="Name or identifier…"
          className="w-full sm:w-64"
        />
      </FilterBar>
      <Table
        label="Layouts"
        columns={columns}
        rows={list.data?.layouts}
        rowKey={({ layoutId }) => layoutId}
        rowLink={({ layoutId }) => ({ to: '/layouts/$layoutId', params: { layoutId }, search: {} })}
        order={{ by, direction }}
        onOrder={(order) => set({ by: order.by as typeof by, direction: order.direction })}
        query={list}
        empty={
          query ? (
            <EmptyState
              icon={<LayoutTemplate />}
              title="No layout matches"
              action={<Button onClick={() => set({ query: '' })}>Clear search</Button>}
            >
              No layout in {environment.name} has this name or identifier.
            </EmptyState>
          ) : (
            <NothingYet icon={<LayoutTemplate />} title="No layouts yet" button="New layout" onNew={canEdit && create}>
              A layout is the frame of your emails: your logo above the content, your address and the unsubscribe link
              below. Emails use the first layout unless they choose another.
            </NothingYet>
          )
        }
        footer={
          total !== undefined && (
            <p className="flex h-12 items-center px-4 text-xs text-muted sm:px-6">
              {total} {total === 1 ? 'layout' : 'layouts'}
            </p>
          )
        }
      />
      <CreateLayout open={canEdit && isNew} onClose={() => set({ new: false })} />
    </Frame>
  )
}

function LayoutMenu({ layout }: { layout: LayoutSummary }) {
  const canEdit = useCanEditContent()
  const navigate = useNavigate()
  const { layoutId, name, isDefault } = layout
  const remove = useDeleteLayout(layout)
  const makeDefault = useMakeDefault(layout)
  const duplicate = useAction({
    do: () => layouts.duplicate(layoutId, `${name} (copy)`),
    refresh: ['layouts'],
    done: 'Layout duplicated',
    onDone: (copy) => void navigate({ to: '/layouts/$layoutId', params: { layoutId: copy.layoutId }, search: {} }),
  })
  if (!canEdit) return null
  return (
    <RowActions>
      <Menu label={`Actions for ${name}`}>
        <MenuItem icon={<CopyPlus />} onSelect={() => duplicate.mutate()}>
          Duplicate
        </MenuItem>
        {!isDefault && (
          <MenuItem icon={<Star />} onSelect={() => makeDefault.mutate()}>
            Make default
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} danger disabled={isDefault} onSelect={() => remove.mutate()}>
          {isDefault ? 'The default cannot be deleted' : 'Delete…'}
        </MenuItem>
      </Menu>
    </RowActions>
  )
}
