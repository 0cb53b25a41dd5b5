// Calls of the SQL functions that were refused after their transaction had committed: why, what they said, and once more.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { DatabaseZap, RotateCcw, SearchX } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type RefusedCall, refusedCalls } from '../../api/refused-calls.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { Time } from '../../ui/base/time.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { Facts, Page as Frame } from '../../ui/frame/page.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { FilterBar, TextFilterChip } from '../../ui/list/filters.tsx'
import { type Column, Paging, RowActions, Table, TwoLines, timeColumn } from '../../ui/list/table.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'

const schema = { code: text(), after: text(), before: text() }

const functions: Record<RefusedCall['kind'], string> = {
  trigger: 'belfry.trigger',
  cancel: 'belfry.cancel',
  upsert_subscriber: 'belfry.upsert_subscriber',
}

const retriedText = ({ retried }: { retried: number }) =>
  retried === 1 ? 'The call is tried again' : `${retried.toLocaleString('en')} calls are tried again`

export function Page() {
  const [filters, setFilters] = useUrlState(schema)
  const { callId } = useParams({ strict: false })
  const navigate = useNavigate()
  const canEdit = useCan('editor')
  const { code, after, before } = filters
  const list = useQuery(refusedCalls.list({ limit: 50, after, before, ...(code ? { code } : {}) }))
  const rows = list.data?.data
  const close = () => void navigate({ to: '/refused-calls/{-$callId}', params: { callId: undefined }, search: true })
  const retry = useAction({
    do: (ids: string[] | undefined) => refusedCalls.retry(ids),
    refresh: ['refused-calls'],
    done: retriedText,
    onDone: close,
  })
  const isFiltered = code !== '' || after !== '' || before !== ''
  const hint = canEdit ? 'Try again' : 'Viewers cannot send'
  const columns: Array<Column<RefusedCall>> = [
    {
      id: 'call',
      header: 'Call',
      isLink: true,
      cell: ({ kind, workflowId, body }) => (
        <TwoLines until="md" first={<code>{functions[kind]}</code>} second={subjectOf({ workflowId, body })} />
      ),
    },
    {
      id: 'about',
      header: 'About',
      from: 'md',
      cell: (call) => <bdi>{subjectOf(call)}</bdi>,
    },
    {
      id: 'why',
      header: 'Why',
      cell: ({ code, message }) => (
        <span title={message}>
          <code>{code}</code>
          <span className="text-muted max-sm:hidden"> {message}</span>
        </span>
      ),
    },
    timeColumn('Refused', 'refusedAt', { from: 'sm' }),
    {
      id: 'actions',
      header: <span className="sr-only">Actions</span>,
      width: 'w-14',
      cell: ({ _id }) => (
        <RowActions>
          <Button
            variant="ghost"
            size="icon"
            hint={hint}
            disabled={!canEdit || retry.isPending}
            onClick={() => retry.mutate([_id])}
          >
            <RotateCcw />
          </Button>
        </RowActions>
      ),
    },
  ]
  return (
    <Frame
      title="Refused calls"
      flush
      actions={
        canEdit &&
        rows !== undefined &&
        rows.length > 0 && (
          <Button icon={<RotateCcw />} pending={retry.isPending} onClick={() => retry.mutate(undefined)}>
            Try all again
          </Button>
        )
      }
    >
      <FilterBar>
        <TextFilterChip label="Code is" mono value={code} onValue={(code) => setFilters({ code })} />
      </FilterBar>
      <Table
        label="Refused calls"
        columns={columns}
        rows={rows}
        rowKey={({ _id }) => _id}
        rowLink={({ _id }) => ({ to: '/refused-calls/{-$callId}', params: { callId: _id } })}
        selected={callId}
        query={list}
        empty={
          isFiltered ? (
            <EmptyState
              icon={<SearchX />}
              title="No refused call matches"
              action={<Button onClick={() => setFilters({ code: '', after: '', before: '' })}>Clear filters</Button>}
            />
          ) : (
            <NoneRefused />
          )
        }
        footer={<Paging page={list.data} onPage={setFilters} noun="calls" />}
      />
      <CallSheet
        call={rows?.find(({ _id }) => _id === callId)}
        onClose={close}
        onRetry={canEdit ? (id) => retry.mutate([id]) : undefined}
      />
    </Frame>
  )
}

/** The workflow that was triggered, or the subscriber that was stored. */
const subjectOf = ({ workflowId, body }: Pick<RefusedCall, 'workflowId' | 'body'>): string =>
  workflowId ?? (typeof body.subscriberId === 'string' ? body.subscriberId : '')

interface CallSheetProps {
  call: RefusedCall | undefined
  onClose: () => void
  onRetry: ((id: string) => void) | undefined
}

function CallSheet({ call, onClose, onRetry }: CallSheetProps) {
  return (
    <Sheet
      open={call !== undefined}
      onClose={onClose}
      label="Refused call"
      title={call ? subjectOf(call) : ''}
      subtitle={call && functions[call.kind]}
      actions={
        call &&
        onRetry && (
          <Button icon={<RotateCcw />} onClick={() => onRetry(call._id)}>
            Try again
          </Button>
        )
      }
    >
      {call && (
        <div className="space-y-4">
          <p>{call.message}.</p>
          <CodeBlock title="What it said" code={JSON.stringify(call.body, null, 2)} maxHeight={420} />
          <Facts
            facts={[
              ['Code', <code key="code">{call.code}</code>],
              [
                'Transaction id',
                call.transactionId === null ? '—' : <Id key="transaction" value={call.transactionId} />,
              ],
              ['Database role', <code key="role">{call.role}</code>],
              ['Called', <Time key="called" at={call.calledAt} />],
              ['Refused', <Time key="refused" at={call.refusedAt} />],
            ]}
          />
        </div>
      )}
    </Sheet>
  )
}

function NoneRefused() {
  const environment = useEnvironment()
  return (
    <EmptyState icon={<DatabaseZap />} title="No refused calls" className="max-w-2xl">
      <p>
        An application on the same PostgreSQL can trigger inside its own transaction. A call whose workflow is missing,
        inactive, or expects another payload is listed here for 30 days.
      </p>
      <CodeBlock
        className="mt-4 text-start"
        title="SQL"
        code={`SELECT belfry.allow('app', '${environment.name}');  -- once, as the owner of the database

BEGIN;
UPDATE orders SET shipped = true WHERE id = 42;
SELECT belfry.trigger('order-shipped', '["ada"]', '{"orderId": 42}');
COMMIT;`}
      />
    </EmptyState>
  )
}
