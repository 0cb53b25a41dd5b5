// A small chart of runs over time above the list. Select a range with the pointer or the keyboard to filter the list.
import { useQuery } from '@tanstack/react-query'
import { ChartColumn } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, useMemo, useRef, useState } from 'react'
import { type ActivityCharts, runs } from '../../api/runs.ts'
import { Button } from '../../ui/base/button.tsx'
import { counted } from '../../ui/base/counted.ts'
import { Skeleton } from '../../ui/base/states.tsx'
import { momentsOf, type TimeRange } from '../../ui/list/filters.tsx'

interface VolumeProps {
  range: TimeRange
  workflowIds: string[]
  onRange: (range: TimeRange) => void
  isChartsOpen: boolean
  onCharts: (isOpen: boolean) => void
}

export const useCharts = (range: TimeRange, workflowIds: string[]) => {
  const { after, before } = range
  const moments = useMemo(() => momentsOf({ after, before }), [after, before])
  const ofWorkflows = workflowIds.length > 0 ? { workflowIds } : {}
  const refetchInterval = before === '' ? 30_000 : false
  const asked = useQuery({ ...runs.charts({ ...moments, ...ofWorkflows }), refetchInterval })
  // Without a range it is a day. If all of it happened in the last hour, a day would be one bar.
  const isYoung = after === '' && before === '' && asked.data !== undefined && isOfLastHour(asked.data)
  const hour = useMemo(() => momentsOf({ after: isYoung ? '1h' : '', before: '' }), [isYoung])
  const young = useQuery({ ...runs.charts({ ...hour, ...ofWorkflows }), refetchInterval, enabled: isYoung })
  // Anything older would be left out.
  const isWhole = young.data?.totals.runs === asked.data?.totals.runs
  return isYoung && young.data && isWhole ? young : asked
}

const hourMs = 3_600_000

/** Roughly: its bucket begins before it does. */
function isOfLastHour({ buckets, before }: Pick<ActivityCharts, 'buckets' | 'before'>): boolean {
  const first = buckets.find(({ runs }) => runs > 0)
  return first !== undefined && Date.parse(before) - Date.parse(first.at) <= 2 * hourMs
}

const spanOf = ({ after, before }: ActivityCharts) =>
  Date.parse(before) - Date.parse(after) <= hourMs * 1.1 ? 'hour' : '24 hours'

export function Volume({ range, workflowIds, onRange, isChartsOpen, onCharts }: VolumeProps) {
  const charts = useCharts(range, workflowIds)
  const isSet = range.after !== '' || range.before !== ''
  return (
    <div className="border-b px-4 pt-3 pb-2 sm:px-6">
      <div className="mb-2 flex h-7 items-center gap-3 text-xs text-muted">
        {charts.data ? (
          <p className="min-w-0 truncate">
            <span className="font-medium text-ink">{charts.data.totals.runs.toLocaleString('en')}</span>{' '}
            {charts.data.totals.runs === 1 ? 'run' : 'runs'}
            {charts.data.totals.failed > 0 && (
              <span className="text-bad"> · {charts.data.totals.failed.toLocaleString('en')} failed</span>
            )}
            {!isSet && ` in the last ${spanOf(charts.data)}`}
            {workflowIds.length > 0 && ' of the chosen workflows'}
          </p>
        ) : charts.error ? (
          <p className="truncate">{charts.error.message}</p>
        ) : (
          <Skeleton className="h-3.5 w-40" />
        )}
        <span className="ml-auto flex gap-1">
          {isSet && (
            <Button variant="ghost" size="sm" onClick={() => onRange({ after: '', before: '' })}>
              Clear range
            </Button>
          )}
          <Button
            variant="ghost"
            size="sm"
            icon={<ChartColumn />}
            aria-expanded={isChartsOpen}
            onClick={() => onCharts(!isChartsOpen)}
          >
            Charts
          </Button>
        </span>
      </div>
      {charts.data ? <Bars charts={charts.data} onRange={onRange} /> : <div className="h-12" />}
    </div>
  )
}

const clock = new Intl.DateTimeFormat('en', {
  ...{ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  hourCycle: 'h23',
})

function Bars({ charts, onRange }: { charts: ActivityCharts; onRange: (range: TimeRange) => void }) {
  const { buckets, interval } = charts
  const area = useRef<HTMLDivElement>(null)
  const [from, setFrom] = useState<number>()
  const [at, setAt] = useState<number>()
  const [isDrawing, setDrawing] = useState(false)
  const most = Math.max(1, ...buckets.map((bucket) => bucket.runs))
  const last = buckets.length - 1
  const chosen = at === undefined ? undefined : ([Math.min(from ?? at, at), Math.max(from ?? at, at)] as const)

  const indexAt = (event: PointerEvent) => {
    const box = area.current?.getBoundingClientRect()
    if (!box) return 0
    return Math.max(0, Math.min(last, Math.floor(((event.clientX - box.left) / box.width) * buckets.length)))
  }
  const startOf = (index: number) => Date.parse(buckets[index]?.at ?? charts.after)
  const apply = () => {
    if (!chosen) return
    const end = startOf(chosen[1]) + interval * 1000 - 1
    onRange({ after: new Date(startOf(chosen[0])).toISOString(), before: new Date(end).toISOString() })
    setFrom(undefined)
    setAt(undefined)
  }
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }
    const by = steps[event.key]
    if (by !== undefined) {
      const next = at === undefined ? (by > 0 ? 0 : last) : Math.max(0, Math.min(last, at + by))
      setFrom(event.shiftKey ? (from ?? at ?? next) : undefined)
      setAt(next)
    } else if (event.key === 'Enter') apply()
    else if (event.key === 'Escape' && at !== undefined) {
      setFrom(undefined)
      setAt(undefined)
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  const said = chosen ? textOf(charts, chosen) : `${counted(charts.totals.runs, 'run')}, ${charts.totals.failed} failed`
  return (
    <div className="relative">
      <div
        ref={area}
        role="slider"
        tabIndex={0}
        aria-label="Runs over time. Arrow keys choose a time, Shift selects a range, Enter filters the list"
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at ?? last}
        aria-valuetext={said}
        onKeyDown={move}
        onBlur={() => {
          setFrom(undefined)
          setAt(undefined)
        }}
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          setDrawing(true)
          setFrom(indexAt(event))
          setAt(indexAt(event))
        }}
        onPointerMove={(event) => {
          setAt(indexAt(event))
          if (!isDrawing) setFrom(undefined)
        }}
        onPointerUp={() => {
          if (isDrawing) apply()
          setDrawing(false)
        }}
        onPointerCancel={() => setDrawing(false)}
        onPointerLeave={() => !isDrawing && setAt(undefined)}
        className="h-12 cursor-crosshair touch-pan-y rounded-sm select-none"
      >
        <svg
          aria-hidden="true"
          viewBox={`0 0 ${buckets.length} 48`}
          preserveAspectRatio="none"
          className="size-full overflow-visible"
        >
          {chosen && (
            <rect x={chosen[0]} width={chosen[1] - chosen[0] + 1} y={0} height={48} className="fill-accent/15" />
          )}
          {buckets.map(({ at, runs, failed }, index) => {
            const height = runs === 0 ? 1 : Math.max(3, (runs / most) * 46)
            const bad = runs === 0 ? 0 : (failed / runs) * height
            const isIn = chosen !== undefined && index >= chosen[0] && index <= chosen[1]
            return (
              <g key={at}>
                <rect
                  x={index + 0.12}
                  width={0.76}
                  y={48 - height}
                  height={height}
                  className={isIn && runs > 0 ? 'fill-accent' : runs === 0 ? 'fill-line' : 'fill-faint'}
                />
                {bad > 0 && <rect x={index + 0.12} width={0.76} y={48 - bad} height={bad} className="fill-bad" />}
              </g>
            )
          })}
        </svg>
      </div>
      <div className="mt-1 flex justify-between text-2xs text-muted" aria-hidden>
        {chosen ? (
          <span className="font-medium text-ink">{said}</span>
        ) : (
          ticksOf(charts).map((at, index) => (
            <span key={at} className={index % (tickCount - 1) === 0 ? '' : 'max-sm:hidden'}>
              {clock.format(at)}
            </span>
          ))
        )}
      </div>
    </div>
  )
}

const tickCount = 5

/** Evenly spread; a phone has room for the first and the last. */
function ticksOf({ after, before }: ActivityCharts): number[] {
  const [from, to] = [Date.parse(after), Date.parse(before)]
  return Array.from({ length: tickCount }, (_, index) => from + ((to - from) * index) / (tickCount - 1))
}

function textOf({ buckets, interval }: ActivityCharts, [first, last]: readonly [number, number]): string {
  const part = buckets.slice(first, last + 1)
  const sum = (of: 'runs' | 'failed') => part.reduce((total, bucket) => total + bucket[of], 0)
  const [start, end] = [part[0]?.at, part.at(-1)?.at]
  if (start === undefined || end === undefined) return ''
  const until = new Date(Date.parse(end) + interval * 1000)
  const failed = sum('failed')
  const totals = `${counted(sum('runs'), 'run')}${failed > 0 ? `, ${failed.toLocaleString('en')} failed` : ''}`
  return `${clock.format(new Date(start))} – ${clock.format(until)}: ${totals}`
}
