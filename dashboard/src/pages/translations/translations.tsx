// Translated workflows and layouts, their locales, and which are outdated.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { FileJson, Languages, Settings2 } from 'lucide-react'
import { useCanEditContent } from '../../api/auth.ts'
import { type Resource, type TranslationGroup, translations } from '../../api/translations.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { localeName } from '../../ui/base/locales.ts'
import { EmptyState } from '../../ui/base/states.tsx'
import { Badge, Status } from '../../ui/base/status.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { ProtectedNote } from '../../ui/domain/protected-note.tsx'
import { SearchInput } from '../../ui/form/input.tsx'
import { Menu, MenuItem } from '../../ui/frame/menu.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterBar } from '../../ui/list/filters.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, Table, timeColumn } from '../../ui/list/table.tsx'
import { oneOf, text, type UrlState, useUrlState, wholeNumber } from '../../ui/list/url-state.ts'
import { AddResource } from './add-resource.tsx'
import { GroupSheet } from './group-sheet.tsx'
import { LocaleSettings } from './locale-settings.tsx'
import { ExportMaster, ImportMaster } from './master.tsx'

const schema = { query: text(), page: wholeNumber(0), dialog: oneOf(['', 'add', 'locales', 'import', 'export'], '') }
const perPage = 50

/** `workflow:welcome`, in the URL. */
const keyOf = ({ resourceType, resourceId }: Resource) => `${resourceType}:${resourceId}`
function resourceIn(key: string | undefined): Resource | undefined {
  const [, resourceType, resourceId] = /^(workflow|layout):(.+)$/s.exec(key ?? '') ?? []
  return resourceId ? { resourceType: resourceType as Resource['resourceType'], resourceId } : undefined
}

const columns: Array<Column<TranslationGroup>> = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ resourceName, resourceId }) => (
      <>
        <span dir="auto">{resourceName}</span>
        <code className="ml-2 font-normal text-muted max-lg:hidden">{resourceId}</code>
      </>
    ),
  },
  {
    id: 'type',
    header: 'Kind',
    width: 'w-28',
    from: 'lg',
    cell: ({ resourceType }) => (resourceType === 'workflow' ? 'Workflow' : 'Layout'),
  },
  {
    id: 'locales',
    header: 'Locales',
    width: 'w-64',
    from: 'md',
    cell: ({ locales }) => (
      <span className="flex flex-wrap gap-1">
        {locales.slice(0, 3).map((locale) => (
          <Badge key={locale}>
            <span title={locale}>{localeName(locale)}</span>
          </Badge>
        ))}
        {locales.length > 3 && <span className="text-xs text-muted">+{locales.length - 3}</span>}
      </span>
    ),
  },
  {
    id: 'state',
    header: 'State',
    width: 'w-36',
    cell: ({ outdatedLocales = [] }) =>
      outdatedLocales.length === 0 ? (
        <Status tone="good">Up to date</Status>
      ) : (
        <span title={outdatedLocales.map(localeName).join(', ')}>
          <Status tone="warn">{outdatedLocales.length} outdated</Status>
        </span>
      ),
  },
  timeColumn('Updated', 'updatedAt', { from: 'xl' }),
]

export function Page() {
  const [{ query, page, dialog }, set] = useUrlState(schema)
  const { resource: key } = useParams({ strict: false })
  const navigate = useNavigate()
  const environment = useEnvironment()
  const canEdit = useCanEditContent()
  const list = useQuery(translations.list({ query, limit: perPage, offset: page * perPage }))
  const locales = useQuery(translations.locales())
  const show = (dialog: UrlState<typeof schema>['dialog'], options?: { push: boolean }) =>
    set({ dialog, page }, options)
  const add = () => show('add', { push: true })
  const close = () => show('')
  const resource = resourceIn(key)
  const openResource = (one: Resource) =>
    navigate({
      to: '/translations/{-$resource}',
      params: { resource: keyOf(one) },
      search: (search: object) => ({ ...search, dialog: undefined }),
    })
  return (
    <Frame
      title="Translations"
      flush
      actions={
        <>
          <Menu
            trigger={
              <Button icon={<FileJson />}>
                <span className="max-sm:sr-only">All texts as</span> JSON
              </Button>
            }
          >
            <MenuItem onSelect={() => show('export')}>Export a locale…</MenuItem>
            {canEdit && <MenuItem onSelect={() => show('import')}>Import a locale…</MenuItem>}
          </Menu>
          <Button icon={<Settings2 />} onClick={() => show('locales', { push: true })}>
            Locales
          </Button>
          {canEdit && (
            <NewButton onNew={add} hint="Add a translation">
              Translate
            </NewButton>
          )}
        </>
      }
    >
      <ProtectedNote />
      <FilterBar>
        <SearchInput
          value={query}
          onValue={(query) => set({ query })}
          label="Search translations"
          placeholder="Name or identifier…"
          className="w-full sm:w-64"
        />
        {locales.data && (
          <span className="text-xs text-muted">
            From {localeName(locales.data.defaultLocale)}{' '}
            {locales.data.targetLocales.length === 0
              ? 'into no other locale yet'
              : `into ${locales.data.targetLocales.map(localeName).join(', ')}`}
          </span>
        )}
      </FilterBar>
      <Table
        label="Translations"
        columns={columns}
        rows={list.data?.data}
        rowKey={keyOf}
        rowLink={(group) => ({ to: '/translations/{-$resource}', params: { resource: keyOf(group) } })}
        selected={key}
        query={list}
        empty={
          query ? (
            <EmptyState
              icon={<Languages />}
              title="No translation matches"
              action={<Button onClick={() => set({ query: '' })}>Clear search</Button>}
            >
              No translated workflow or layout in {environment.name} has this name or identifier.
            </EmptyState>
          ) : (
            <NothingTranslated canEdit={canEdit} onAdd={add} />
          )
        }
        footer={<Pages page={page} total={list.data?.total} onPage={(page) => set({ page })} />}
      />
      <GroupSheet
        resource={resource}
        settings={locales.data}
        onClose={() =>
          void navigate({
            to: '/translations/{-$resource}',
            params: { resource: undefined },
            search: (search: object) => ({ ...search, locale: undefined }),
          })
        }
      />
      <AddResource open={canEdit && dialog === 'add'} onClose={close} onAdded={(one) => void openResource(one)} />
      {locales.data && (
        <>
          <LocaleSettings open={dialog === 'locales'} settings={locales.data} onClose={close} />
          <ExportMaster open={dialog === 'export'} settings={locales.data} onClose={close} />
          <ImportMaster open={canEdit && dialog === 'import'} settings={locales.data} onClose={close} />
        </>
      )}
    </Frame>
  )
}

function Pages({ page, total, onPage }: { page: number; total: number | undefined; onPage: (page: number) => void }) {
  if (total === undefined) return null
  const isLast = (page + 1) * perPage >= total
  return (
    <nav
      aria-label="Pages of translations"
      className="flex h-12 items-center justify-between gap-4 px-4 text-xs text-muted sm:px-6"
    >
      <span>
        {total} {total === 1 ? 'resource' : 'resources'}
      </span>
      {(page > 0 || !isLast) && (
        <span className="flex gap-1">
          <Button size="sm" disabled={page === 0} onClick={() => onPage(page - 1)}>
            Previous
          </Button>
          <Button size="sm" disabled={isLast} onClick={() => onPage(page + 1)}>
            Next
          </Button>
        </span>
      )}
    </nav>
  )
}

const NothingTranslated = ({ canEdit, onAdd }: { canEdit: boolean; onAdd: () => void }) => {
  return (
    <NothingYet
      icon={<Languages />}
      title="No translations yet"
      button="Translate a workflow or layout"
      onNew={canEdit && onAdd}
    >
      <p>
        Templates use a text by its key, and each subscriber gets it in their language. If a text is missing, the
        default locale is used.
      </p>
      <CodeBlock className="mt-4" title="In a template" code={'{{t.greeting}}, {{subscriber.firstName}}!'} />
    </NothingYet>
  )
}
