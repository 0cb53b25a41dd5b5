// Charts of volume, failures, latency and channels over time; and the same numbers as a table.
import type { ReactNode } from 'react'
import {
  Area,
  AreaChart,
  Bar,
  BarChart,
  CartesianGrid,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts'
import type { ActivityCharts } from '../../api/runs.ts'
import { Loaded, Skeleton } from '../../ui/base/states.tsx'
import { duration } from '../../ui/base/time.tsx'
import { channels, lookOf } from '../../ui/domain/step-kind.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'
import type { TimeRange } from '../../ui/list/filters.tsx'
import { useCharts } from './volume.tsx'

interface ChartsProps {
  range: TimeRange
  workflowIds: string[]
  view: 'charts' | 'table'
  onView: (view: 'charts' | 'table') => void
}

type Bucket = ActivityCharts['buckets'][number]

export function Charts({ range, workflowIds, view, onView }: ChartsProps) {
  const query = useCharts(range, workflowIds)
  return (
    <section aria-label="Charts" className="border-b bg-raised px-4 py-3 sm:px-6">
      <div className="mb-3 flex items-center justify-between gap-3">
        <h2 className="text-sm font-semibold">Over time</h2>
        <Segments
          label="Show as"
          value={view}
          onValue={onView}
          options={[
            { value: 'charts', label: 'Charts' },
            { value: 'table', label: 'Table' },
          ]}
        />
      </div>
      <Loaded query={query} skeleton={<Skeleton className="h-40" />}>
        {(data) => (view === 'table' ? <Numbers data={data} /> : <Pictures data={data} />)}
      </Loaded>
    </section>
  )
}

const hour = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' })
const whole = new Intl.DateTimeFormat('en', {
  ...{ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  hourCycle: 'h23',
})
const twoDaysMs = 172_800_000

const rate = ({ runs, failed }: Pick<Bucket, 'runs' | 'failed'>) => (runs === 0 ? 0 : (failed / runs) * 100)
const percent = (value: number) => `${value < 10 && value > 0 ? value.toFixed(1) : Math.round(value)} %`
const used = ({ totals }: ActivityCharts) => channels.filter((channel) => totals.messages[channel] > 0)

function Pictures({ data }: { data: ActivityCharts }) {
  const isLong = Date.parse(data.before) - Date.parse(data.after) > twoDaysMs
  const shared = {
    data: data.buckets.map((bucket) => ({ ...bucket, rate: rate(bucket) })),
    margin: { top: 4, right: 4, bottom: 0, left: 0 },
  }
  const axes = (format: (value: number) => string) => [
    <CartesianGrid key="grid" vertical={false} stroke="var(--line)" />,
    <XAxis
      key="x"
      dataKey="at"
      height={20}
      tickFormatter={(at: string) => (isLong ? day : hour).format(new Date(at))}
      {...{ tickLine: { stroke: 'var(--line-strong)' }, axisLine: { stroke: 'var(--line)' }, minTickGap: 40, tick }}
    />,
    <YAxis
      key="y"
      width={52}
      // A label with a space would be broken into two lines.
      tickFormatter={(value: number) => format(value).replaceAll(' ', '\u00a0')}
      allowDecimals={false}
      {...{ tickLine: false, axisLine: false, tick }}
    />,
    <Tooltip
      key="tip"
      isAnimationActive={false}
      labelFormatter={(at) => whole.format(new Date(String(at)))}
      formatter={(value) => format(Number(value))}
      contentStyle={{
        ...{ background: 'var(--page)', border: '1px solid var(--line)', borderRadius: 8, fontSize: 12 },
        ...{ boxShadow: '0 8px 24px -6px var(--shadow)', color: 'var(--ink)' },
      }}
      cursor={{ fill: 'var(--hover)', stroke: 'var(--line-strong)' }}
    />,
  ]
  const count = (value: number) => value.toLocaleString('en')
  const still = { isAnimationActive: false }
  const { totals } = data
  const messages = channels.reduce((sum, channel) => sum + totals.messages[channel], 0)
  return (
    <div className="grid gap-3 md:grid-cols-2 2xl:grid-cols-4">
      <Picture title="Runs" value={count(totals.runs)}>
        <BarChart {...shared}>
          {axes(count)}
          <Bar dataKey="runs" name="Runs" fill="var(--accent)" radius={[2, 2, 0, 0]} {...still} />
        </BarChart>
      </Picture>
      <Picture title="Failed" value={`${count(totals.failed)} (${percent(rate(totals))})`}>
        <AreaChart {...shared}>
          {axes(percent)}
          <Area
            dataKey="rate"
            name="Failed"
            stroke="var(--bad)"
            fill="var(--bad)"
            fillOpacity={0.12}
            type="stepAfter"
            {...still}
          />
        </AreaChart>
      </Picture>
      <Picture
        title="From trigger to message"
        value={totals.latency ? `${duration(totals.latency.p50Ms)} median` : 'No message'}
        legend={[
          { name: 'median', hue: 'var(--info)' },
          { name: '95th percentile', hue: 'var(--hue-digest)' },
        ]}
      >
        <LineChart {...shared}>
          {axes(duration)}
          <Line
            dataKey="latency.p50Ms"
            name="Half"
            stroke="var(--info)"
            dot={{ r: 1.5 }}
            strokeWidth={1.5}
            connectNulls
            {...still}
          />
          <Line
            {...{ dataKey: 'latency.p95Ms', name: '95 %', stroke: 'var(--hue-digest)', strokeDasharray: '4 3' }}
            {...{ dot: { r: 1.5 }, strokeWidth: 1.5, connectNulls: true, ...still }}
          />
        </LineChart>
      </Picture>
      <Picture
        title="Messages by channel"
        value={count(messages)}
        legend={used(data).map((channel) => ({ name: lookOf(channel).label, hue: lookOf(channel).hue }))}
      >
        <BarChart {...shared}>
          {axes(count)}
          {used(data).map((channel) => (
            <Bar
              key={channel}
              dataKey={`messages.${channel}`}
              name={lookOf(channel).label}
              stackId="messages"
              fill={lookOf(channel).hue}
              {...still}
            />
          ))}
        </BarChart>
      </Picture>
    </div>
  )
}

const tick = { fontSize: 11, fill: 'var(--muted)' }

interface PictureProps {
  title: string
  value: string
  legend?: Array<{ name: string; hue: string }>
  children: ReactNode
}

function Picture({ title, value, legend = [], children }: PictureProps) {
  return (
    <figure className="min-w-0 rounded-surface border bg-page p-3">
      <figcaption className="mb-2 flex flex-wrap items-baseline gap-x-2 text-xs text-muted">
        {title}
        <span className="text-sm font-semibold text-ink">{value}</span>
        <span className="ml-auto flex flex-wrap gap-x-2 text-2xs">
          {legend.map(({ name, hue }) => (
            <span key={name} className="inline-flex items-center gap-1">
              <span aria-hidden className="size-2 rounded-full" style={{ background: hue }} />
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      {/* Screen readers get the same numbers from the table. */}
      <div className="h-36" aria-hidden>
        <ResponsiveContainer width="100%" height="100%">
          {children}
        </ResponsiveContainer>
      </div>
    </figure>
  )
}

function Numbers({ data }: { data: ActivityCharts }) {
  const filled = data.buckets.filter(({ runs, messages }) => runs > 0 || channels.some((one) => messages[one] > 0))
  const cell = 'h-8 border-b px-3 text-right whitespace-nowrap tabular-nums first:text-left'
  return (
    <section
      aria-label="Numbers over time"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
      tabIndex={0}
      className="max-h-96 overflow-auto rounded-surface border bg-page"
    >
      <table className="w-full border-separate border-spacing-0 text-xs">
        <caption className="sr-only">
          Runs, failures, latency and messages over time; empty periods are left out
        </caption>
        <thead>
          <tr>
            {['Time', 'Runs', 'Failed', 'Median', '95 %', ...channels.map((channel) => lookOf(channel).label)].map(
              (name) => (
                <th key={name} scope="col" className={`${cell} sticky top-0 bg-page font-medium text-muted`}>
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {filled.map((bucket) => (
            <tr key={bucket.at}>
              <th scope="row" className={`${cell} font-normal`}>
                {whole.format(new Date(bucket.at))}
              </th>
              <td className={cell}>{bucket.runs.toLocaleString('en')}</td>
              <td className={cell}>{bucket.failed.toLocaleString('en')}</td>
              <td className={cell}>{bucket.latency ? duration(bucket.latency.p50Ms) : '—'}</td>
              <td className={cell}>{bucket.latency ? duration(bucket.latency.p95Ms) : '—'}</td>
              {channels.map((channel) => (
                <td key={channel} className={cell}>
                  {bucket.messages[channel].toLocaleString('en')}
                </td>
              ))}
            </tr>
          ))}
          {filled.length === 0 && (
            <tr>
              <td colSpan={10} className="h-16 text-center text-muted">
                Nothing in this time range
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  )
}
