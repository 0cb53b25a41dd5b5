// Failed deliveries: why each failed, and buttons to send one, a selection or all matching ones again.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { MailCheck, SearchX, Send } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { type Delivery, type DeliveryFilter, deliveries, undelivered } from '../../api/deliveries.ts'
import { integrations, useProviderNames } from '../../api/integrations.ts'
import { workflows } from '../../api/workflows.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState, ProgressBar } from '../../ui/base/states.tsx'
import { reasonLabel, reasonLabels } from '../../ui/domain/reasons.ts'
import { channels, lookOf, StepIcon } from '../../ui/domain/step-kind.tsx'
import { SearchInput } from '../../ui/form/input.tsx'
import { Checkbox } from '../../ui/form/switch.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterBar, FilterChip, TextFilterChip } from '../../ui/list/filters.tsx'
import { type Column, RowActions, Table, TwoLines, timeColumn } from '../../ui/list/table.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'
import { redriveChosen, redriveMatching, stopRedrive, useRedriveWork } from './redrive-work.ts'

const schema = {
  subscriberId: text(),
  channel: text(),
  reason: text(),
  workflowId: text(),
  providerId: text(),
  transactionId: text(),
}
type Filters = Record<keyof typeof schema, string>

/** Drops values the API does not know. */
function filterOf(filters: Filters): DeliveryFilter {
  const { channel, reason, ...texts } = filters
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== '')),
    ...(isOneOf(channels, channel) ? { channel } : {}),
    ...(isOneOf(undelivered, reason) ? { reason } : {}),
  }
}

const isOneOf = <Value extends string>(values: readonly Value[], value: string): value is Value =>
  (values as readonly string[]).includes(value)

const count = (number: number) => `${number.toLocaleString('en')} failed ${number === 1 ? 'delivery' : 'deliveries'}`

export function Page() {
  const [filters, setFilters] = useUrlState(schema)
  const filter = useMemo(() => filterOf(filters), [filters])
  const canEdit = useCan('editor')
  const ask = useConfirm()
  const work = useRedriveWork()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [wanted, setWanted] = useState('')
  const found = useQuery(workflows.list({ query: wanted, limit: 50, orderBy: 'lastTriggeredAt' }))
  const providers = useQuery(integrations.providers())
  const nameOfProvider = useProviderNames()
  const list = useInfiniteQuery(deliveries.endless(filter))
  const rows = list.data?.pages.flatMap(({ data }) => data)
  const isFiltered = Object.values(filters).some((value) => value !== '')
  // Rows that have left the list cannot be sent again.
  const selected = (rows ?? []).filter(({ id }) => chosen.has(id))
  const clear = () => setFilters({ ...none })
  const change = (patch: Partial<Filters>) => {
    setChosen(new Set())
    setFilters(patch)
  }

  const consequences = (of: readonly Delivery[]) => {
    const unsure = of.filter(({ reason }) => reason === 'outcome_unknown').length
    const twice =
      unsure === 0
        ? ''
        : ` ${of.length === 1 ? 'It' : unsure.toLocaleString('en')} may already have been sent, and would then arrive twice.`
    return `Only the failed step runs again, with the current integrations. Devices and chats that already got the message do not get it twice. What is sent cannot be unsent.${twice}`
  }
  const sendChosen = async (of: readonly Delivery[]) => {
    const [only] = of
    const title =
      of.length === 1 && only
        ? `Send the ${nounOf(only)} to ${only.subscriberId} again?`
        : `Send ${count(of.length)} again?`
    const confirm = of.length === 1 ? 'Send again' : `Send ${of.length.toLocaleString('en')} again`
    if (!(await ask({ title, body: consequences(of), confirm, danger: false }))) return
    setChosen(new Set())
    await redriveChosen(of.map(({ id }) => id))
  }
  const sendMatching = async () => {
    const total = list.hasNextPage ? undefined : (rows?.length ?? 0)
    const which = isFiltered ? ' that match the filters' : ''
    const title =
      total === undefined ? `Send all failed deliveries${which} again?` : `Send ${count(total)}${which} again?`
    const many = total === undefined ? ` There are more than ${rows?.length ?? 0} of them.` : ''
    const confirm = 'Send all again'
    if (!(await ask({ title, body: consequences(rows ?? []) + many, confirm, danger: false }))) return
    setChosen(new Set())
    await redriveMatching(filter, total)
  }

  const onlyEditors = canEdit ? {} : { hint: 'Viewers cannot send' }
  const columns: Array<Column<Delivery>> = [
    {
      id: 'choose',
      header: (
        <Checkbox
          aria-label="Select all shown"
          value={selected.length > 0 && selected.length === rows?.length}
          onValue={(isOn) => setChosen(new Set(isOn ? rows?.map(({ id }) => id) : []))}
          disabled={!canEdit}
        />
      ),
      width: 'w-11 sm:w-13',
      cell: ({ id, subscriberId }) => (
        <span className="relative z-1 inline-flex align-middle">
          <Checkbox
            aria-label={`Select the delivery to ${subscriberId}`}
            value={chosen.has(id)}
            onValue={(isOn) => setChosen(new Set(isOn ? [...chosen, id] : [...chosen].filter((one) => one !== id)))}
            disabled={!canEdit}
          />
        </span>
      ),
    },
    {
      id: 'subscriber',
      header: 'Subscriber',
      width: 'lg:w-52',
      isLink: true,
      cell: ({ subscriberId, channel, workflowId }) => (
        <span className="flex items-center gap-2">
          <StepIcon kind={channel} />
          <span className="min-w-0">
            <TwoLines until="md" first={<bdi>{subscriberId}</bdi>} second={workflowId ?? 'Deleted workflow'} />
          </span>
        </span>
      ),
    },
    {
      id: 'workflow',
      header: 'Workflow',
      width: 'w-44',
      from: 'md',
      cell: ({ workflowId }) => workflowId ?? <span className="text-muted">Deleted</span>,
    },
    {
      id: 'why',
      header: 'Why',
      cell: (delivery) => (
        <span title={delivery.error}>
          {reasonLabel(delivery.reason)}
          <span className="text-muted max-sm:hidden"> {detailsOf(delivery)}</span>
        </span>
      ),
    },
    {
      id: 'provider',
      header: 'Provider',
      width: 'w-32',
      from: 'lg',
      cell: ({ providerId }) => (providerId && nameOfProvider(providerId)) ?? <span className="text-muted">—</span>,
    },
    timeColumn('Failed', 'failedAt', { width: 'w-26', from: 'sm' }),
    {
      id: 'actions',
      header: <span className="sr-only">Actions</span>,
      width: 'w-14',
      cell: (delivery) => (
        <RowActions>
          <Button
            variant="ghost"
            size="icon"
            hint={canEdit ? 'Send again' : 'Viewers cannot send'}
            disabled={!canEdit || work !== undefined}
            onClick={() => void sendChosen([delivery])}
          >
            <Send />
          </Button>
        </RowActions>
      ),
    },
  ]
  return (
    <Frame
      title="Failed deliveries"
      flush
      actions={
        rows !== undefined &&
        rows.length > 0 &&
        (selected.length > 0 ? (
          <>
            <span className="text-sm text-muted">{selected.length.toLocaleString('en')} selected</span>
            <Button onClick={() => setChosen(new Set())}>Clear selection</Button>
            <Button
              variant="primary"
              icon={<Send />}
              disabled={work !== undefined}
              onClick={() => void sendChosen(selected)}
            >
              Send {selected.length.toLocaleString('en')} again
            </Button>
          </>
        ) : (
          <Button
            icon={<Send />}
            disabled={!canEdit || work !== undefined}
            onClick={() => void sendMatching()}
            {...onlyEditors}
          >
            {isFiltered ? 'Send all matching again' : 'Send all again'}
          </Button>
        ))
      }
    >
      {work && (
        <div className="flex items-center gap-4 border-b bg-raised px-4 py-3 sm:px-6">
          <div className="min-w-0 flex-1">
            <ProgressBar
              label="Sending again. You can leave this page"
              done={work.done}
              {...(work.total === undefined ? {} : { total: work.total })}
            />
          </div>
          <Button size="sm" onClick={stopRedrive} pending={work.isStopping}>
            Stop
          </Button>
        </div>
      )}
      <FilterBar>
        <SearchInput
          value={filters.subscriberId}
          onValue={(subscriberId) => change({ subscriberId })}
          label="Subscriber"
          placeholder="Subscriber id…"
          className="w-full sm:w-60"
        />
        <FilterChip
          label="Channel"
          single
          options={channels.map((value) => ({ value, label: lookOf(value).label, icon: <StepIcon kind={value} /> }))}
          value={filters.channel ? [filters.channel] : []}
          onValue={([channel = '']) => change({ channel })}
        />
        <FilterChip
          label="Reason"
          single
          options={undelivered.map((value) => ({ value, label: reasonLabels[value] }))}
          value={filters.reason ? [filters.reason] : []}
          onValue={([reason = '']) => change({ reason })}
        />
        <FilterChip
          label="Workflow"
          single
          options={(found.data?.workflows ?? []).map(({ workflowId, name }) => ({ value: workflowId, label: name }))}
          value={filters.workflowId ? [filters.workflowId] : []}
          onValue={([workflowId = '']) => change({ workflowId })}
          onSearch={setWanted}
        />
        <FilterChip
          label="Provider"
          single
          options={(providers.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={filters.providerId ? [filters.providerId] : []}
          onValue={([providerId = '']) => change({ providerId })}
        />
        <TextFilterChip
          label="Transaction"
          mono
          value={filters.transactionId}
          onValue={(transactionId) => change({ transactionId })}
        />
        {isFiltered && (
          <Button variant="ghost" size="sm" onClick={clear}>
            Clear
          </Button>
        )}
      </FilterBar>
      <Table
        label="Failed deliveries"
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        rowLink={({ notificationId, stepId }) =>
          ({ to: '/activity/{-$runId}', params: { runId: notificationId }, search: { steps: stepId } }) as never
        }
        query={list}
        endless={{
          hasMore: list.hasNextPage,
          isLoading: list.isFetchingNextPage || list.isFetchNextPageError,
          onEnd: () => void list.fetchNextPage(),
        }}
        empty={
          isFiltered ? (
            <EmptyState
              icon={<SearchX />}
              title="No failed delivery matches"
              action={<Button onClick={clear}>Clear filters</Button>}
            />
          ) : (
            <EmptyState icon={<MailCheck />} title="No failed deliveries">
              Belfry retries failed deliveries, also through other integrations. Those that still fail appear here, with
              the reason and a button to send them again.
            </EmptyState>
          )
        }
        footer={
          rows && (
            <p className="flex h-12 items-center px-4 text-xs text-muted sm:px-6">
              {list.hasNextPage ? 'Loading more…' : count(rows.length)}
            </p>
          )
        }
      />
    </Frame>
  )
}

const none: Filters = {
  ...{ subscriberId: '', channel: '', reason: '', workflowId: '', providerId: '', transactionId: '' },
}

const nouns: Record<Delivery['channel'], string> = {
  ...{ in_app: 'in-app message', email: 'email', sms: 'SMS', chat: 'chat message', push: 'push notification' },
}
const nounOf = ({ channel }: Delivery) => nouns[channel]

/** The provider's error, the number of attempts, and how many of several devices or chats were not reached. */
function detailsOf({ error, destinations }: Delivery): string {
  const calls = destinations.reduce((sum, destination) => sum + destination.calls, 0)
  const failed = destinations.filter(({ status }) => status === 'failed').length
  return [
    error,
    calls > 1 ? `${calls} calls` : '',
    destinations.length > 1 ? `${failed} of ${destinations.length} not reached` : '',
  ]
    .filter(Boolean)
    .join(' · ')
}
