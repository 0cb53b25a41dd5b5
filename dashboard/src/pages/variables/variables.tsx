// Environment variables: one key, a value for each environment, used in templates as {{env.KEY}}.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Lock, Variable as VariableIcon } from 'lucide-react'
import { type Environment, useCanInOrganization, useSession } from '../../api/auth.ts'
import { type Variable, variables } from '../../api/variables.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { EnvironmentDot } from '../../ui/base/avatar.tsx'
import { Button } from '../../ui/base/button.tsx'
import { CopyButton } from '../../ui/base/copy.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { SearchInput } from '../../ui/form/input.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterBar } from '../../ui/list/filters.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, RowActions, Table, timeColumn } from '../../ui/list/table.tsx'
import { flag, text, useUrlState } from '../../ui/list/url-state.ts'
import { CreateVariable, VariableSheet } from './variable-forms.tsx'

const schema = { search: text(), new: flag() }
/** More columns would be too narrow to read. */
const mostColumns = 4

export function Page() {
  const { variableKey } = useParams({ strict: false })
  const [url, setUrl] = useUrlState(schema)
  const navigate = useNavigate()
  const { environments } = useSession()
  const here = useEnvironment()
  const canChange = useCanInOrganization('admin')
  const list = useQuery(variables.list(url.search))
  const create = () => setUrl({ new: true }, { push: true })
  // The current environment first: a phone has room for only one.
  const shown = [here, ...environments.filter(({ _id }) => _id !== here._id)].slice(0, mostColumns)
  const columns: Array<Column<Variable>> = [
    {
      id: 'key',
      header: 'Key',
      cell: ({ key, isSecret }) => (
        <span className="flex items-center gap-2">
          <code className="truncate">{key}</code>
          {isSecret && (
            <Badge>
              <Lock aria-hidden />
              <span className="max-sm:sr-only">Secret</span>
            </Badge>
          )}
        </span>
      ),
    },
    ...shown.map(
      (environment, index): Column<Variable> => ({
        id: environment._id,
        header: (
          <span className="inline-flex items-center gap-1.5">
            <EnvironmentDot color={environment.color} />
            {environment.name}
          </span>
        ),
        ...(index === 0 ? {} : { from: index === 1 ? 'md' : 'lg' }),
        cell: (variable) => <Value variable={variable} environment={environment} />,
      }),
    ),
    timeColumn('Changed', 'updatedAt', { from: 'xl' }),
    {
      id: 'actions',
      header: <span className="sr-only">Actions</span>,
      width: 'w-14',
      from: 'sm',
      cell: ({ key }) => (
        <RowActions>
          <CopyButton text={`{{env.${key}}}`} label={`Copy {{env.${key}}}`} />
        </RowActions>
      ),
    },
  ]
  return (
    <Frame
      title="Variables"
      flush
      actions={
        <NewButton
          disabled={!canChange}
          hint={canChange ? 'New variable' : 'Only admins and owners can create variables'}
          onNew={create}
        >
          New variable
        </NewButton>
      }
    >
      <FilterBar>
        <SearchInput
          value={url.search}
          onValue={(search) => setUrl({ search })}
          label="Search variables"
          placeholder="Part of a key…"
          className="w-full sm:w-64"
        />
      </FilterBar>
      <Table
        label="Variables"
        columns={columns}
        rows={list.data}
        rowKey={({ key }) => key}
        rowLink={({ key }) => ({ to: '/variables/{-$variableKey}', params: { variableKey: key } })}
        selected={variableKey}
        query={list}
        empty={
          url.search === '' ? (
            <NothingYet
              icon={<VariableIcon />}
              title="No variables yet"
              button="New variable"
              onNew={canChange && create}
            >
              <p>
                Use a variable for what differs between environments, such as your support address or a base URL.
                Templates then work in every environment.
              </p>
              <CodeBlock className="mt-4" code={'Questions? Write to {{env.SUPPORT_EMAIL}}.'} title="In a template" />
            </NothingYet>
          ) : (
            <EmptyState
              icon={<VariableIcon />}
              title={`No key contains “${url.search}”`}
              action={<Button onClick={() => setUrl({ search: '' })}>Show all</Button>}
            />
          )
        }
      />
      <VariableSheet
        variableKey={variableKey}
        onClose={() =>
          void navigate({ to: '/variables/{-$variableKey}', params: { variableKey: undefined }, search: true })
        }
      />
      {canChange && url.new && <CreateVariable onClose={() => setUrl({ new: false })} />}
    </Frame>
  )
}

function Value({ variable, environment }: { variable: Variable; environment: Environment }) {
  const value = variable.values.find(({ _environmentId }) => _environmentId === environment._id)?.value
  if (value === undefined) return <span className="text-muted">Not set</span>
  return (
    <span className="block truncate font-mono text-code" dir="auto" title={value}>
      {value}
    </span>
  )
}
