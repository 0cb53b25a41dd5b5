// The charts made from results. A chart without results is omitted.
import { type Bar, barChart, distanceChart, type Line, lineChart, panelChart, type Tone } from './chart.ts'
import { type Figure, headroomOf, type Series, short, withUnit } from './figures.ts'
import type { Result } from './results.ts'

type Results = Map<string, Result>

interface Chart {
  title: string
  svg: string
}

/** By chart name. */
export function charts(results: Results): Map<string, Chart> {
  const makers = { targets, throughput, latency, growth, workers, soak }
  return new Map(
    Object.entries(makers).flatMap(([name, make]): Array<[string, Chart]> => {
      const chart = make(results)
      return chart ? [[name, chart]] : []
    }),
  )
}

const find = (results: Results, suite: string, id: string): Figure | undefined =>
  results.get(suite)?.figures.find((figure) => figure.id === id)

const named: Record<string, string> = {
  start: 'Start',
  cost: 'Processor time of a trigger',
  rendering: 'Rendering',
  accepting: 'Accepting triggers',
  'end-to-end': 'Trigger to message',
  'fan-out': 'Fan-out to a topic',
  latency: 'Latency',
  deliveries: 'Deliveries to a webhook',
  smtp: 'Email over SMTP',
  workers: 'Several workers',
  backlog: 'Beside a backlog',
  growth: 'Growth to 10 million',
  inbox: 'Inbox and sockets',
  lists: 'Lists of a million rows',
  overload: 'Overload',
  simulating: 'Simulations',
  files: 'Definitions in files',
  journeys: 'Journeys',
  consent: 'Consent',
  importing: 'Imports',
  outbox: 'Calls from SQL',
  idle: 'Idle cost',
  soak: 'An hour of load',
}

function targets(results: Results): Chart | undefined {
  const title = 'Distance of every suite from its target'
  const rows = Object.entries(named).flatMap(([suite, label]) => {
    const figures = results.get(suite)?.figures ?? []
    const headrooms = figures.flatMap((figure) => headroomOf(figure) ?? [])
    if (headrooms.length === 0) return []
    const value = Math.min(...headrooms)
    return [{ label, value, text: value >= 1 ? `${short(value)}× better` : `${short(value)}× of it` }]
  })
  if (rows.length === 0) return undefined
  const note = 'The tightest target of each suite, on a logarithmic scale. Right of the line is better than the target.'
  return { title, svg: distanceChart({ title, note }, rows) }
}

function throughput(results: Results): Chart | undefined {
  const title = 'Throughput compared with references'
  const rate = (label: string, value: number | undefined, tone: Tone): Bar[] =>
    value === undefined ? [] : [{ label, value, text: `${short(value)}/s`, tone }]
  const pair = (name: string, suite: string, id: string, given?: string, label = 'Belfry') => {
    const figure = find(results, suite, id)
    const reference = given ?? figure?.against ?? ''
    return {
      name,
      bars: figure ? [...rate(label, figure.ours, 'ours'), ...rate(reference, figure.reference, 'reference')] : [],
    }
  }
  const accepting = pair('Triggers accepted, each committed', 'accepting', 'accepted')
  const delivering = find(results, 'accepting', 'accepted-delivering')
  accepting.bars.splice(1, 0, ...rate('while also delivering them', delivering?.ours, 'ours'))
  const whole = pair(
    'Triggers to readable messages',
    'end-to-end',
    'bulk',
    'five empty BullMQ hops',
    '100 in a request',
  )
  whole.bars.splice(1, 0, ...rate('each a request', find(results, 'end-to-end', 'single')?.ours, 'ours'))
  whole.bars.push(
    ...rate('the same rows, plain inserts', find(results, 'end-to-end', 'floor')?.reference, 'reference'),
    ...rate('empty graphile-worker jobs', find(results, 'end-to-end', 'jobs')?.reference, 'reference'),
  )
  const groups = [
    accepting,
    whole,
    pair('One trigger to a topic', 'fan-out', 'topic'),
    pair('Emails to a webhook', 'deliveries', 'webhook', 'the same requests sent directly'),
    pair('Short texts to a webhook', 'deliveries', 'short-webhook', 'the same requests sent directly'),
    pair('Email over SMTP', 'smtp', 'smtp', 'Nodemailer directly'),
  ].filter(({ bars }) => bars.length > 0)
  if (groups.length === 0) return undefined
  const note = 'Per second; everything shares the same cores. The grey bars were measured in the same run.'
  return { title, svg: barChart({ title, note }, groups) }
}

function latency(results: Results): Chart | undefined {
  const title = 'Latency'
  const bar = (label: string, suite: string, id: string): Bar[] => {
    const figure = find(results, suite, id)
    if (!figure) return []
    const { target } = figure
    const mark = target && 'oursAtMost' in target ? { mark: target.oursAtMost } : {}
    return [{ label, value: figure.ours, text: withUnit(figure.ours, 'ms'), tone: 'ours', ...mark }]
  }
  const groups = [
    {
      name: 'From the request to a readable message',
      bars: [
        ...bar('p50', 'latency', 'p50'),
        ...bar('p99', 'latency', 'p99'),
        ...bar('p99 beside a million waiting', 'latency', 'beside-waiting-p99'),
        ...bar('p99 beside a large topic', 'fan-out', 'beside-topic-p99'),
      ],
    },
    {
      name: 'From the message to the browser',
      bars: [...bar('p50', 'inbox', 'event-p50'), ...bar('p99', 'inbox', 'event-p99')],
    },
    { name: 'Deliveries', bars: bar('p99 beside a provider that hangs', 'deliveries', 'beside-hanging-p99') },
  ].filter(({ bars }) => bars.length > 0)
  if (groups.length === 0) return undefined
  return {
    title,
    svg: barChart({ title, note: 'Milliseconds at a steady load; the vertical line is the target.' }, groups),
  }
}

const lineOf = (series: Series, name: string, tone: Tone, x: string, y: string): Line => ({
  ...{ name, tone },
  points: series
    .map((point) => ({ x: point[x] ?? Number.NaN, y: point[y] ?? Number.NaN }))
    .filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y)),
})

function growth(results: Results): Chart | undefined {
  const title = 'Cost of a notification, by number stored'
  const series = results.get('growth')?.series?.growth
  if (!series) return undefined
  const lines = [
    lineOf(series, 'service', 'ours', 'stored', 'serviceMs'),
    lineOf(series, 'database', 'second', 'stored', 'databaseMs'),
  ].filter(({ points }) => points.length > 0)
  if (lines.length === 0) return undefined
  const note = 'Milliseconds of processor time per notification, from the trigger to the message.'
  const x = { label: 'notifications stored', scale: 'log', format: shortCount } as const
  const y = { label: '', scale: 'linear', format: short } as const
  return { title, svg: lineChart({ title, note }, { x, y }, lines) }
}

const shortCount = (value: number) =>
  value >= 1e6 ? `${short(value / 1e6)}M` : value >= 1e3 ? `${short(value / 1e3)}k` : short(value)

function workers(results: Results): Chart | undefined {
  const title = 'One to four worker processes'
  const { series, notes } = results.get('workers') ?? {}
  if (!series?.workers) return undefined
  const label = ({ workers: number = 0 }: Series[number]) => `${number} worker${number === 1 ? '' : 's'}`
  const rates = series.workers.map((point): Bar => {
    const value = point.perSecond ?? 0
    return { label: label(point), value, text: `${short(value)}/s`, tone: 'ours' }
  })
  // Scaled to the rates: the longest bar is as long as the longest of those.
  const cost = (point: Series[number]) => (point.serviceMs ?? 0) + (point.databaseMs ?? 0)
  const most = Math.max(...rates.map(({ value }) => value)) / Math.max(...series.workers.map(cost), 1e-9)
  const costs = series.workers.map((point): Bar => {
    return { label: label(point), value: cost(point) * most, text: withUnit(cost(point), 'ms'), tone: 'second' }
  })
  const groups = [
    { name: 'Triggers to readable messages', bars: rates },
    { name: 'Processor time per trigger, all processes and the database', bars: costs },
  ]
  const note = `With one more process that accepts triggers, all on the same ${short(Number(notes?.cores ?? 0))} cores.`
  return { title, svg: barChart({ title, note }, groups) }
}

function soak(results: Results): Chart | undefined {
  const { series, notes } = results.get('soak') ?? {}
  const samples = series?.samples
  if (!samples) return undefined
  const minutes = Number(notes?.minutes ?? 60)
  const title = `${short(minutes)} minutes of steady load`
  const line = (name: string, tone: Tone, y: string) => lineOf(samples, name, tone, 'minute', y)
  const note = `${short(Number(notes?.triggers ?? 0))} triggers: in-app, email, delays and digests. Every axis starts at zero.`
  const x = {
    ...({ label: '', scale: 'linear', format: (value: number) => `${short(value)} min` } as const),
    ticks: [0.25, 0.5, 0.75, 1].map((share) => share * minutes),
  }
  const panels = [
    {
      title: 'Memory of the service, MB',
      lines: [line('in all', 'ours', 'memoryMb'), line('heap', 'second', 'heapMb')],
    },
    { title: 'Connections to the database', lines: [line('', 'ours', 'connections')] },
    { title: 'Tables with short-lived rows, MB', lines: [line('', 'ours', 'standingMb')] },
    { title: 'Dead rows before vacuum, %', lines: [line('', 'ours', 'deadShare')] },
    { title: 'Request to browser, ms', lines: [line('p50', 'ours', 'p50Ms'), line('p99', 'third', 'p99Ms')] },
    {
      title: 'Processor time per trigger, ms',
      lines: [line('service', 'ours', 'serviceMs'), line('database', 'second', 'databaseMs')],
    },
    // Not ours: the load of everything on the machine.
    { title: 'One database commit, ms', lines: [line('', 'reference', 'commitMs')] },
    { title: 'Load average of the machine', lines: [line('', 'reference', 'load')] },
  ]
    // Omit what this machine could not measure.
    .map(({ title: name, lines }) => ({
      title: name,
      lines: lines.filter(({ points }) => points.length > 0),
      format: short,
    }))
    .filter(({ lines }) => lines.length > 0)
  return { title, svg: panelChart({ title, note }, x, panels) }
}
