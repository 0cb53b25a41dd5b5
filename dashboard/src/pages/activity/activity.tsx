// The list of runs, newest first, with all filters of the API. The selected run opens beside it.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Activity as ActivityIcon, ArrowUp, SearchX } from 'lucide-react'
import { lazy, Suspense, useEffect } from 'react'
import { cache } from '../../api/cache.ts'
import { useProviderNames } from '../../api/integrations.ts'
import { type RunFilter, type RunSummary, runs, subscriberIdOf, whoOf } from '../../api/runs.ts'
import { Button, ButtonLink } from '../../ui/base/button.tsx'
import { EmptyState, Skeleton } from '../../ui/base/states.tsx'
import { Time } from '../../ui/base/time.tsx'
import { RequestCode } from '../../ui/code/code-block.tsx'
import { RunStatus, stepOutcome } from '../../ui/domain/outcomes.tsx'
import { StepIcons } from '../../ui/domain/step-kind.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { type Column, Instead, Table, TwoLines, timeColumn } from '../../ui/list/table.tsx'
import { isFiltered, noFilters, useFilters, useRunFilter } from './run-filter.ts'
import { RunFilters } from './run-filters.tsx'
import { RunSheet } from './run-sheet.tsx'
import { TriggerReport } from './trigger-report.tsx'
import { Volume } from './volume.tsx'
import { whyOf } from './why.ts'

const Charts = lazy(() => import('./charts.tsx').then((module) => ({ default: module.Charts })))

const columns: Array<Column<RunSummary>> = [
  {
    id: 'subscriber',
    header: 'Subscriber',
    width: 'lg:w-60',
    cell: (run) => (
      <TwoLines
        until="lg"
        first={<bdi>{whoOf(run)}</bdi>}
        second={
          <>
            <Instead of="md">
              <bdi>{run.template?.name ?? 'Deleted workflow'}</bdi> ·{' '}
            </Instead>
            <Reason run={run} />
          </>
        }
      />
    ),
  },
  {
    id: 'workflow',
    header: 'Workflow',
    width: 'w-56',
    from: 'md',
    cell: ({ template }) => (template ? <bdi>{template.name}</bdi> : <span className="text-muted">Deleted</span>),
  },
  {
    id: 'steps',
    header: 'Steps',
    width: 'w-32',
    from: 'xl',
    cell: ({ jobs }) => (
      <StepIcons kinds={jobs.map(({ type }) => type)} tones={jobs.map((job) => stepOutcome(job).tone)} limit={4} />
    ),
  },
  {
    id: 'status',
    header: 'Status',
    width: 'w-28',
    cell: (run) => <TwoLines until="sm" first={<RunStatus run={run} />} second={<Time at={run.createdAt} />} />,
  },
  {
    id: 'why',
    header: 'Why',
    from: 'lg',
    cell: (run) => <Reason run={run} />,
  },
  timeColumn('When', 'createdAt', { width: 'w-26', align: 'right', from: 'sm' }),
]

function Reason({ run }: { run: RunSummary }) {
  const { sentence, brief } = whyOf(run, { provider: useProviderNames() })
  return (
    <span className="text-muted" title={sentence}>
      {brief}
    </span>
  )
}

export function Page() {
  const [filters, setFilters] = useFilters()
  const { runId } = useParams({ strict: false }) as { runId?: string }
  const navigate = useNavigate()
  const filter = useRunFilter(filters)
  const list = useInfiniteQuery({
    ...runs.endless(filter ?? {}),
    enabled: filter !== undefined,
    // New runs may appear at once in an empty list: there is nothing to move.
    refetchInterval: ({ state }) => (state.data?.pages[0]?.data.length === 0 ? 3_000 : false),
  })
  const rows = list.data?.pages.flatMap(({ data }) => data)
  const newest = rows?.[0]?._id
  useFreshStates(rows, filter)

  const [transactionId, ...further] = filters.transactionId
  const isOneTrigger =
    transactionId !== undefined && further.length === 0 && !isFiltered(filters, { but: ['transactionId'] })
  const only = isOneTrigger && !list.isPlaceholderData && rows?.length === 1 ? rows[0]?._id : undefined
  useEffect(() => {
    // A link to a trigger with a single run opens that run.
    if (only === undefined || runId !== undefined) return
    void navigate({
      to: '/activity/{-$runId}',
      params: { runId: only },
      search: ((before: object) => ({ ...before, transactionId: undefined })) as never,
      replace: true,
    })
  }, [only, runId, navigate])

  const showNew = async () => {
    document.querySelector('#content')?.scrollTo({ top: 0 })
    await cache.resetQueries({ queryKey: runs.endless(filter ?? {}).queryKey })
  }
  return (
    <Frame title="Activity" flush>
      <RunFilters filters={filters} onFilters={setFilters} />
      <Volume
        range={filters}
        workflowIds={filters.workflowIds}
        onRange={(range) => setFilters(range, { push: true })}
        isChartsOpen={filters.charts}
        onCharts={(charts) => setFilters({ charts })}
      />
      {filters.charts && (
        <Suspense fallback={<Skeleton className="m-6 h-48" />}>
          <Charts
            range={filters}
            workflowIds={filters.workflowIds}
            view={filters.view}
            onView={(view) => setFilters({ view })}
          />
        </Suspense>
      )}
      {newest && filter && filters.before === '' && (
        <NewPill since={newest} filter={filter} onShow={() => void showNew()} />
      )}
      <Table
        label="Runs"
        columns={columns}
        rows={rows}
        rowKey={({ _id }) => _id}
        rowLink={({ _id }) => ({ to: '/activity/{-$runId}', params: { runId: _id } }) as never}
        selected={runId}
        query={list}
        endless={{
          hasMore: list.hasNextPage,
          isLoading: list.isFetchingNextPage || list.isFetchNextPageError,
          onEnd: () => void list.fetchNextPage(),
        }}
        empty={
          isOneTrigger ? (
            <TriggerReport transactionId={transactionId} onClear={() => setFilters(noFilters)} />
          ) : (
            <Empty
              isFiltered={isFiltered(filters) || filters.after !== '' || filters.before !== ''}
              onClear={() => setFilters(noFilters)}
            />
          )
        }
        footer={
          <Footer
            count={rows?.length}
            hasMore={list.hasNextPage}
            error={list.isFetchNextPageError ? list.error : null}
            onRetry={() => void list.fetchNextPage()}
          />
        }
      />
      <RunSheet
        runId={runId}
        onClose={() =>
          void navigate({
            to: '/activity/{-$runId}',
            params: { runId: undefined },
            search: true as never,
            resetScroll: false,
          })
        }
      />
    </Frame>
  )
}

/** Announces new runs; they appear when the user clicks. */
function NewPill({ since, filter, onShow }: { since: string; filter: RunFilter; onShow: () => void }) {
  const { data } = useQuery({ ...runs.count(since, filter), refetchInterval: 5_000 })
  const text = data && data.count > 0 ? `${data.count}${data.isCapped ? '+' : ''} new` : ''
  return (
    <div className="sticky top-2 z-10 flex h-0 justify-center" role="status">
      {text && (
        <button
          type="button"
          onClick={onShow}
          className="mt-10 flex h-7 animate-rise items-center gap-1 rounded-full bg-accent px-3 text-xs font-medium text-on-accent shadow-float pointer-coarse:h-9"
        >
          <ArrowUp className="size-3.5" aria-hidden />
          {text}
        </button>
      )}
    </div>
  )
}

interface FooterProps {
  count: number | undefined
  hasMore: boolean
  error: Error | null
  onRetry: () => void
}

function Footer({ count, hasMore, error, onRetry }: FooterProps) {
  if (count === undefined) return null
  return (
    <div className="flex h-12 items-center justify-center gap-3 text-xs text-muted">
      {error ? (
        <>
          {error.message}
          <Button size="sm" onClick={onRetry}>
            Try again
          </Button>
        </>
      ) : hasMore ? (
        'Loading more…'
      ) : (
        `${count.toLocaleString('en')} ${count === 1 ? 'run' : 'runs'}`
      )}
    </div>
  )
}

function Empty({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered)
    return (
      <EmptyState icon={<SearchX />} title="No run matches" action={<Button onClick={onClear}>Clear filters</Button>}>
        Remove a filter or choose a longer time range.
      </EmptyState>
    )
  const request = {
    method: 'POST' as const,
    path: '/v1/events/trigger',
    body: { name: 'my-workflow', to: { subscriberId: 'ada', email: 'ada@example.com' }, payload: {} },
  }
  return (
    <EmptyState
      icon={<ActivityIcon />}
      title="Nothing has been triggered yet"
      action={
        <ButtonLink to={'/start' as never} variant="primary">
          Send a first message
        </ButtonLink>
      }
    >
      <p>Every trigger shows up here, with its outcome. Send one like this:</p>
      <RequestCode request={request} className="mt-4" />
    </EmptyState>
  )
}

/** At most so many unfinished runs are polled at once. */
const mostFresh = 20

/** Updates rows of unfinished runs in place; never adds, moves or removes a row. */
function useFreshStates(rows: RunSummary[] | undefined, filter: RunFilter | undefined): void {
  const going = (rows ?? []).filter(({ status }) => status === 'processing').slice(0, mostFresh)
  const { data } = useQuery({
    ...runs.states({
      transactionId: [...new Set(going.map((run) => run.transactionId))],
      subscriberIds: [...new Set(going.map(subscriberIdOf))],
      limit: 50,
    }),
    enabled: going.length > 0,
    // Runs that wait for long change rarely.
    refetchInterval: going.some(({ jobs }) => !jobs.some(({ status }) => status === 'delayed')) ? 3_000 : 10_000,
  })
  useEffect(() => {
    if (!data || !filter) return
    const fresh = new Map(data.data.map((run) => [run._id, run]))
    cache.setQueryData(runs.endless(filter).queryKey, (before) => {
      if (!before) return before
      const isOld = (run: RunSummary) => fresh.has(run._id) && fresh.get(run._id)?.updatedAt !== run.updatedAt
      if (!before.pages.some((page) => page.data.some(isOld))) return before
      const pages = before.pages.map((page) => ({ ...page, data: page.data.map((run) => fresh.get(run._id) ?? run) }))
      return { ...before, pages }
    })
  }, [data, filter])
}
