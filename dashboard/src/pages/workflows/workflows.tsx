// The list of workflows, filtered by name, tag and status.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Copy, CopyPlus, Power, PowerOff, Trash2, Workflow as WorkflowIcon } from 'lucide-react'
import { useCan, useCanEditContent, useIsProtected } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { environments } from '../../api/environments.ts'
import { versions } from '../../api/versions.ts'
import { type WorkflowSummary, workflows } from '../../api/workflows.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { counted } from '../../ui/base/counted.ts'
import { EmptyState } from '../../ui/base/states.tsx'
import { Badge, Status } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { ProtectedNote } from '../../ui/domain/protected-note.tsx'
import { StepIcons } from '../../ui/domain/step-kind.tsx'
import { SearchInput } from '../../ui/form/input.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/frame/menu.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterBar, FilterChip } from '../../ui/list/filters.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, type Order, RowActions, Table, timeColumn } from '../../ui/list/table.tsx'
import { manyOf, oneOf, text, useUrlState, wholeNumber } from '../../ui/list/url-state.ts'
import { CreateWorkflow } from './create-workflow.tsx'
import { states } from './draft/workflow-status.ts'
import { SyncItems } from './panels/sync-workflow.tsx'

const schema = {
  query: text(),
  tags: manyOf(),
  status: manyOf(['ACTIVE', 'INACTIVE', 'ERROR']),
  by: oneOf(['createdAt', 'updatedAt', 'name', 'lastTriggeredAt'], 'updatedAt'),
  direction: oneOf(['ASC', 'DESC'], 'DESC'),
  page: wholeNumber(0),
  new: text(),
}
const perPage = 50

/** How many tags fit into their column: two short ones, or one. */
const fitting = ([first = '', second = '']: readonly string[]) => (first.length + second.length > 18 ? 1 : 2)

export function Page() {
  const [filters, setFilters] = useUrlState(schema)
  const environment = useEnvironment()
  const canEdit = useCanEditContent()
  const isProtected = useIsProtected()
  const { query, tags, status, by, direction, page } = filters
  const list = useQuery(
    workflows.list({
      ...{ limit: perPage, offset: page * perPage, orderBy: by, orderDirection: direction },
      ...{ query, tags, status },
    }),
  )
  const known = useQuery(environments.tags(environment._id))
  const isFiltered = query !== '' || tags.length > 0 || status.length > 0
  const create = (from = 'blank') => setFilters({ new: from, page }, { push: true })

  const columns: Array<Column<WorkflowSummary>> = [
    {
      id: 'name',
      header: 'Name',
      orderBy: 'name',
      cell: ({ name, workflowId }) => (
        <>
          <span dir="auto">{name}</span>
          <code className="ml-2 font-normal text-muted max-lg:hidden">{workflowId}</code>
        </>
      ),
    },
    {
      id: 'steps',
      header: 'Steps',
      width: 'w-36',
      from: 'md',
      cell: ({ stepTypeOverviews }) => <StepIcons kinds={stepTypeOverviews} limit={5} />,
    },
    {
      id: 'tags',
      header: 'Tags',
      width: 'w-44',
      from: 'lg',
      cell: ({ tags }) => (
        <span className="flex gap-1">
          {tags.slice(0, fitting(tags)).map((tag) => (
            <Badge key={tag}>
              <span className="truncate" title={tag} dir="auto">
                {tag}
              </span>
            </Badge>
          ))}
          {tags.length > fitting(tags) && (
            <span className="text-xs text-muted" title={tags.slice(fitting(tags)).join(', ')}>
              +{tags.length - fitting(tags)}
            </span>
          )}
        </span>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      width: 'w-28',
      cell: ({ status, brake }) =>
        brake ? <Status tone="bad">Braked</Status> : <Status tone={states[status].tone}>{states[status].word}</Status>,
    },
    {
      id: 'lastTriggered',
      header: 'Last triggered',
      orderBy: 'lastTriggeredAt',
      width: 'w-32',
      from: 'sm',
      cell: ({ lastTriggeredAt }) =>
        lastTriggeredAt ? <Time at={lastTriggeredAt} /> : <span className="text-muted">Never</span>,
    },
    timeColumn('Updated', 'updatedAt', { orderBy: 'updatedAt', from: 'xl' }),
    {
      id: 'actions',
      header: <span className="sr-only">Actions</span>,
      width: 'w-14',
      cell: (workflow) => <WorkflowMenu workflow={workflow} />,
    },
  ]
  const shown = list.data
  const more = shown ? shown.totalCount - (page + 1) * perPage : 0
  return (
    <Frame
      title="Workflows"
      flush
      actions={
        <NewButton
          disabled={!canEdit}
          hint={
            canEdit ? 'New workflow' : isProtected ? 'This environment is protected' : 'Viewers cannot create workflows'
          }
          onNew={() => create()}
        >
          New workflow
        </NewButton>
      }
    >
      <ProtectedNote />
      <FilterBar>
        <SearchInput
          value={query}
          onValue={(query) => setFilters({ query })}
          label="Search workflows"
          placeholder="Name or identifier…"
          className="w-full sm:w-64"
        />
        <FilterChip
          label="Status"
          options={Object.entries(states).map(([value, { word }]) => ({ value, label: word }))}
          value={status}
          onValue={(status) => setFilters({ status: status as typeof filters.status })}
        />
        <FilterChip
          label="Tag"
          options={(known.data ?? []).map(({ name }) => ({ value: name, label: name }))}
          value={tags}
          onValue={(tags) => setFilters({ tags })}
        />
      </FilterBar>
      <Table
        label="Workflows"
        columns={columns}
        rows={shown?.workflows}
        rowKey={({ _id }) => _id}
        rowLink={({ workflowId }) => ({ to: '/workflows/$workflowId', params: { workflowId }, search: {} })}
        order={{ by, direction }}
        onOrder={(order: Order) => setFilters({ by: order.by as typeof by, direction: order.direction })}
        query={list}
        empty={
          isFiltered ? (
            <EmptyState
              icon={<WorkflowIcon />}
              title="No workflow matches"
              action={<Button onClick={() => setFilters({ query: '', tags: [], status: [] })}>Clear filters</Button>}
            >
              No workflow in {environment.name} has this name, tag and status.
            </EmptyState>
          ) : (
            <NoWorkflows canEdit={canEdit} onCreate={create} />
          )
        }
        footer={
          shown && (
            <nav
              aria-label="Pages of workflows"
              className="flex h-12 items-center justify-between gap-4 px-4 text-xs text-muted sm:px-6"
            >
              <span>
                {shown.totalCount.toLocaleString('en')} {shown.totalCount === 1 ? 'workflow' : 'workflows'}
              </span>
              {(page > 0 || more > 0) && (
                <span className="flex gap-1">
                  <Button size="sm" disabled={page === 0} onClick={() => setFilters({ page: page - 1 })}>
                    Previous
                  </Button>
                  <Button size="sm" disabled={more <= 0} onClick={() => setFilters({ page: page + 1 })}>
                    Next
                  </Button>
                </span>
              )}
            </nav>
          )
        }
      />
      <CreateWorkflow
        from={canEdit && filters.new !== '' ? filters.new : undefined}
        onClose={() => setFilters({ new: '', page })}
      />
    </Frame>
  )
}

function NoWorkflows({ canEdit, onCreate }: { canEdit: boolean; onCreate: (from?: string) => void }) {
  return (
    <NothingYet
      icon={<WorkflowIcon />}
      title="No workflows yet"
      button="New workflow"
      onNew={canEdit && (() => onCreate())}
      others={
        <Button icon={<Copy />} onClick={() => onCreate('comments')}>
          Start from a template
        </Button>
      }
      request={{
        method: 'POST',
        path: '/v2/workflows',
        body: {
          name: 'Order shipped',
          workflowId: 'order-shipped',
          active: true,
          steps: [
            {
              name: 'Inbox',
              type: 'in_app',
              controlValues: { subject: 'On its way', body: 'Order {{payload.number}} has left us.' },
            },
          ],
        },
      }}
    >
      A workflow says what to send when your program triggers it. Create one here, or with a request:
    </NothingYet>
  )
}

function WorkflowMenu({ workflow }: { workflow: WorkflowSummary }) {
  const { workflowId, name, status, origin } = workflow
  const navigate = useNavigate()
  const ask = useConfirm()
  const canEdit = useCanEditContent()
  const canSync = useCan('editor')
  const isActive = status !== 'INACTIVE'
  const isCode = origin === 'external'
  const activate = useAction({
    do: (active: boolean) => workflows.setActive(workflowId, active),
    refresh: ['workflows'],
    done: (_, active) => (active ? `“${name}” is active` : `“${name}” is inactive. Triggers do nothing`),
    undo: (_, active) => workflows.setActive(workflowId, !active),
  })
  const duplicate = useAction({
    do: () => workflows.duplicate(workflowId),
    refresh: ['workflows'],
    done: 'Duplicated. The copy is inactive',
    onDone: (copy) =>
      void navigate({ to: '/workflows/$workflowId', params: { workflowId: copy.workflowId }, search: {} }),
  })
  const remove = useAction({
    do: () => workflows.remove(workflowId),
    refresh: ['workflows'],
    done: 'Workflow deleted',
    // With its steps and texts; preferences of subscribers are gone.
    undo: () => versions.restoreLast({ kind: 'workflow', id: workflowId }),
  })
  const confirmRemove = async () => {
    const yes = await ask({
      title: `Delete “${name}”?`,
      body: `Its ${counted(workflow.steps.length, 'step')}, translations and all subscribers’ preferences are deleted. Triggers for “${workflowId}” will be refused. Its history is kept for 30 days.`,
      confirm: 'Delete workflow',
    })
    if (yes) remove.mutate()
  }
  if (!canEdit) return null
  return (
    <RowActions>
      <Menu label={`Actions for ${name}`}>
        <MenuItem icon={isActive ? <PowerOff /> : <Power />} onSelect={() => activate.mutate(!isActive)}>
          {isActive ? 'Deactivate' : 'Activate'}
        </MenuItem>
        {!isCode && (
          <MenuItem icon={<CopyPlus />} onSelect={() => duplicate.mutate()}>
            Duplicate
          </MenuItem>
        )}
        {canSync && !isCode && <SyncItems workflow={workflow} />}
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} danger onSelect={() => void confirmRemove()}>
          Delete…
        </MenuItem>
      </Menu>
    </RowActions>
  )
}
