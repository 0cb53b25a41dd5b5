// An environment in front of the old service: how both compare for each workflow, and the switch that delivers it here.
import { useQuery } from '@tanstack/react-query'
import { Columns2, Plus } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { environments } from '../../api/environments.ts'
import { type ShadowReport, shadow } from '../../api/shadow.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState, Loaded } from '../../ui/base/states.tsx'
import { Badge, Status } from '../../ui/base/status.tsx'
import { timeNow } from '../../ui/base/time.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'
import { Differences } from './differences.tsx'
import { NewShadow } from './new-shadow.tsx'

type Compared = ShadowReport['workflows'][number]

const dayMs = 86_400_000
const cleanDays = 7
const count = (value: number) => value.toLocaleString('en')
const plural = (value: number, noun: string) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`

export function ShadowSection() {
  const { _id } = useEnvironment()
  const query = useQuery(environments.list())
  return (
    <Loaded query={query}>{(all) => (all.find((each) => each._id === _id)?.shadow ? <Report /> : <NoShadow />)}</Loaded>
  )
}

function NoShadow() {
  const [isOpen, setOpen] = useState(false)
  const canMake = useCan('admin')
  return (
    <>
      <EmptyState
        icon={<Columns2 />}
        title="This environment stands in front of no other service"
        action={
          canMake && (
            <Button icon={<Plus />} onClick={() => setOpen(true)}>
              New shadow environment
            </Button>
          )
        }
      >
        Your servers call a shadow environment instead of the old service. It passes everything on, does the same here
        without sending, and shows every difference. When a workflow is clean, switch it over.
        {!canMake && ' An admin can make one.'}
      </EmptyState>
      {isOpen && <NewShadow onClose={() => setOpen(false)} />}
    </>
  )
}

function Report() {
  const settings = useQuery(shadow.settings())
  const report = useQuery(shadow.report())
  const [{ differences }, setUrl] = useUrlState({ differences: text() })
  return (
    <Loaded query={settings}>
      {({ upstreamUrl, settleMinutes, live }) => (
        <Loaded query={report}>
          {(found) => (
            <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
              <Summary report={found} upstreamUrl={upstreamUrl} settleMinutes={settleMinutes} />
              {rowsOf(found, live).length === 0 ? (
                <NoTriggers />
              ) : (
                <ul aria-label="Workflows" className="divide-y rounded-surface border">
                  {rowsOf(found, live).map((row) => (
                    <WorkflowRow
                      key={row.workflowId}
                      row={row}
                      live={live}
                      onDifferences={() => setUrl({ differences: row.workflowId })}
                    />
                  ))}
                </ul>
              )}
              <Differences workflowId={differences} onClose={() => setUrl({ differences: '' })} />
            </div>
          )}
        </Loaded>
      )}
    </Loaded>
  )
}

/** Those that were triggered, and those that are live. */
const rowsOf = ({ workflows }: ShadowReport, live: string[]): Compared[] => {
  const others = live.filter((id) => !workflows.some(({ workflowId }) => workflowId === id))
  const idle = others.map((workflowId) => ({ workflowId, compared: 0, different: 0, cleanSince: null }))
  return [...workflows, ...idle].toSorted((a, b) => (a.workflowId < b.workflowId ? -1 : 1))
}

const kindWords: Record<string, string> = {
  missing: 'missing here',
  extra: 'only here',
  status: 'with another status',
  recipient: 'to another address',
  content: 'with other content',
  time: 'at another time',
}

function Summary({
  report,
  upstreamUrl,
  settleMinutes,
}: {
  report: ShadowReport
  upstreamUrl: string
  settleMinutes: number
}) {
  const { triggers, compared, same, different, pending, kinds } = report
  const found = Object.entries(kinds).filter(([, each]) => each > 0)
  return (
    <div className="grid gap-1 text-sm">
      <p>
        In front of <code className="break-all">{upstreamUrl}</code>. Triggers are compared when both sides have ended,
        at the latest after {plural(settleMinutes, 'minute')}.
      </p>
      <p className="tabular-nums">
        {plural(triggers, 'trigger')} in 30 days: {count(compared)} compared, {count(same)} the same,{' '}
        <span className={different > 0 ? 'text-bad' : ''}>{count(different)} different</span>, {count(pending)} to come.
      </p>
      {found.length > 0 && (
        <p className="text-muted tabular-nums">
          Differences: {found.map(([kind, each]) => `${count(each)} ${kindWords[kind] ?? kind}`).join(', ')}.
        </p>
      )}
    </div>
  )
}

interface RowProps {
  row: Compared
  live: string[]
  onDifferences: () => void
}

function WorkflowRow({ row, live, onDifferences }: RowProps) {
  const { workflowId, compared, different } = row
  const isLive = live.includes(workflowId)
  const canSwitch = useCan('admin')
  const change = useAction({
    do: (isOn: boolean) =>
      shadow.change({ live: isOn ? [...live, workflowId] : live.filter((each) => each !== workflowId) }),
    refresh: ['shadow', 'environments'],
    done: (_, isOn) => (isOn ? `${workflowId} is delivered here now` : `${workflowId} is passed on again`),
    undo: () => shadow.change({ live }),
  })
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-40 flex-1">
        <h3 className="truncate font-mono text-sm">
          <bdi>{workflowId}</bdi>
        </h3>
        <p className="text-xs text-muted tabular-nums">
          {count(compared)} compared, {count(different)} different
        </p>
      </div>
      <Cleanness row={row} />
      <Button size="sm" disabled={different === 0} onClick={onDifferences} aria-label={`Differences of ${workflowId}`}>
        Differences
      </Button>
      <span className="flex min-w-32 items-center gap-2 text-sm">
        <Switch
          value={isLive}
          onValue={(isOn) => change.mutate(isOn)}
          disabled={!canSwitch || change.isPending}
          aria-label={`Deliver ${workflowId} here`}
        />
        <Status tone={isLive ? 'good' : 'neutral'}>{isLive ? 'Live here' : 'Passed on'}</Status>
      </span>
    </li>
  )
}

function Cleanness({ row: { compared, cleanSince } }: { row: Compared }) {
  if (compared === 0) return <Badge>Nothing compared yet</Badge>
  if (cleanSince === null) return <Badge tone="bad">Differs</Badge>
  const cleanMs = timeNow() - Date.parse(cleanSince)
  const days = Math.floor(cleanMs / dayMs)
  if (days >= cleanDays) return <Badge tone="good">{`Clean for ${plural(days, 'day')}`}</Badge>
  const hours = Math.max(0, Math.floor(cleanMs / 3_600_000))
  return (
    <Badge tone="info">{days > 0 ? `Clean for ${plural(days, 'day')}` : `Clean for ${plural(hours, 'hour')}`}</Badge>
  )
}

function NoTriggers() {
  const canSee = useCan('owner')
  const keys = useQuery({ ...environments.apiKeys(), enabled: canSee })
  return (
    <EmptyState icon={<Columns2 />} title="No trigger yet" className="max-w-2xl">
      <p>
        Bring the definitions and people along first, then give your servers this address and key. Browsers stay where
        they are.
      </p>
      <CodeBlock
        className="mt-4 text-start"
        title="For your servers"
        code={`NOVU_API_URL=${window.location.origin}\nNOVU_SECRET_KEY=${keys.data?.[0]?.key ?? 'YOUR_API_KEY'}`}
      />
    </EmptyState>
  )
}
