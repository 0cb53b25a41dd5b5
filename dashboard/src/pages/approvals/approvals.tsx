// Publish requests of all environments: those that wait, and the decided ones. The sheet shows the differences.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { ArrowRight, ClipboardCheck } from 'lucide-react'
import { approvals, type PublishRequest } from '../../api/approvals.ts'
import { useSession } from '../../api/auth.ts'
import { EnvironmentDot } from '../../ui/base/avatar.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { Status } from '../../ui/base/status.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { type Column, Table, timeColumn } from '../../ui/list/table.tsx'
import { RequestSheet } from './request-sheet.tsx'
import { countOf, statuses } from './words.ts'

export function Page() {
  const { requestId } = useParams({ strict: false })
  const navigate = useNavigate()
  const { environments } = useSession()
  const list = useQuery({ ...approvals.list(), refetchInterval: 60_000 })
  const nameOf = (id: string) => environments.find(({ _id }) => _id === id)?.name ?? 'another environment'
  const colorOf = (id: string) => environments.find(({ _id }) => _id === id)?.color ?? null
  // What waits for this person first, then what waits at all; each newest first.
  const rank = ({ mayDecide, status }: PublishRequest) => (mayDecide ? 0 : status === 'pending' ? 1 : 2)
  const rows = list.data?.toSorted((one, other) => rank(one) - rank(other))
  const columns: Array<Column<PublishRequest>> = [
    {
      id: 'what',
      header: 'Request',
      cell: (request) => (
        <span className="block min-w-0">
          <span className="block truncate font-medium" dir="auto">
            {request.comment || request.resources.map(({ resourceName }) => resourceName).join(', ')}
          </span>
          <span className="block truncate text-xs text-muted">
            {countOf(request.resources)} · <span dir="auto">{request.requestedBy.name}</span>
          </span>
        </span>
      ),
    },
    {
      id: 'way',
      header: 'From and into',
      width: 'w-72',
      from: 'lg',
      cell: ({ sourceEnvironmentId, targetEnvironmentId }) => (
        <span className="flex items-center gap-2 text-muted">
          <EnvironmentDot color={colorOf(sourceEnvironmentId)} />
          <span className="truncate">{nameOf(sourceEnvironmentId)}</span>
          <ArrowRight className="size-3.5 shrink-0" aria-label="into" role="img" />
          <EnvironmentDot color={colorOf(targetEnvironmentId)} />
          <span className="truncate">{nameOf(targetEnvironmentId)}</span>
        </span>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      width: 'w-32',
      cell: ({ status, mayDecide }) => (
        <Status tone={statuses[status].tone}>{mayDecide ? 'Waits for you' : statuses[status].word}</Status>
      ),
    },
    timeColumn('Asked', 'createdAt', { from: 'sm' }),
  ]
  return (
    <Frame title="Approvals" flush>
      <Table
        label="Approvals"
        columns={columns}
        rows={rows}
        rowKey={({ _id }) => _id}
        rowLink={({ _id }) => ({ to: '/approvals/{-$requestId}', params: { requestId: _id } })}
        selected={requestId}
        query={list}
        empty={
          <EmptyState icon={<ClipboardCheck />} title="No publish requests">
            Protect an environment on the Environments page. Publishing into it then asks a second person, and the
            request appears here.
          </EmptyState>
        }
      />
      <RequestSheet
        request={list.data?.find(({ _id }) => _id === requestId)}
        isMissing={requestId !== undefined && list.data !== undefined}
        nameOf={nameOf}
        onClose={() => void navigate({ to: '/approvals/{-$requestId}', params: { requestId: undefined } })}
      />
    </Frame>
  )
}
