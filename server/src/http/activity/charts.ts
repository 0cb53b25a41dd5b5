// Activity statistics: volume, failures, latency and channels over time. db/queries/activity-counts.ts says how they stay fast.
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import {
  type Count,
  countedUntil,
  failedRuns,
  freshCounts,
  quantile,
  type Span,
  slotSeconds,
  storedCounts,
} from '../../db/queries/activity-counts.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Timestamp } from '../edge/schema.ts'
import { idsOfWorkflows, readRange } from './filter.ts'

const channels = ['in_app', 'email', 'sms', 'chat', 'push'] as const
/** Seconds. Shorter than a counted slot only for ranges with so few rows that we can read them directly. */
const intervals = [60, 600, 1_800, 3_600, 10_800, 21_600, 86_400] as const
/** As many as a chart can show legibly. */
const mostChosen = 150
const mostBuckets = 1_000
const shortMs = 2 * 3_600_000
const dayMs = 86_400_000

const figures = {
  runs: Type.Integer({ description: 'Runs started' }),
  failed: Type.Integer({ description: 'Of these, runs that have failed since' }),
  messages: Type.Object(
    Object.fromEntries(channels.map((channel) => [channel, Type.Integer()])) as Record<
      (typeof channels)[number],
      ReturnType<typeof Type.Integer>
    >,
    { description: 'Messages created' },
  ),
  latency: Type.Optional(
    Type.Object(
      { p50Ms: Type.Number(), p95Ms: Type.Number() },
      { description: 'From trigger to message, for runs without delay or digest; accurate to 6 %' },
    ),
  ),
}
const Figures = Type.Object(figures)
type Figures = Static<typeof Figures>

const Charts = Type.Object({
  after: Timestamp,
  before: Timestamp,
  interval: Type.Integer({ description: 'Seconds' }),
  buckets: Type.Array(Type.Object({ at: Timestamp, ...figures }), {
    description: 'Every interval, also empty ones',
  }),
  totals: Figures,
})

export const activityCharts: Resource = (app, { db }) => {
  app.get(
    '/v1/activity/charts',
    {
      schema: {
        tags: ['Activity'],
        summary: 'Count runs, failures, messages and latency over time',
        querystring: Type.Object({
          after: Type.Optional(Type.String({ description: 'ISO 8601; default: a day before the end' })),
          before: Type.Optional(Type.String({ description: 'ISO 8601; default: now' })),
          interval: Type.Optional(
            Type.Unsafe<number>({
              type: 'integer',
              enum: [...intervals],
              description:
                'Seconds; by default chosen to match the time range. Intervals begin at multiples of it, in UTC',
            }),
          ),
          workflowIds: Type.Optional(Type.Array(Type.String(), { description: 'Identifiers of workflows' })),
        }),
        response: { 200: Charts },
      },
    },
    async (request) => {
      const { environment, query } = request
      const asked = readRange(query)
      const before = asked.before ?? request.now()
      const after = asked.after ?? new Date(before.getTime() - dayMs)
      if (after > before) throw fail('activity_range_invalid')
      const interval = query.interval ?? suitable(after, before)
      // Include the current millisecond.
      const span = aligned(after, asked.before ?? new Date(before.getTime() + 1), interval)
      const buckets = (span.to.getTime() - span.from.getTime()) / (interval * 1_000)
      if (buckets > mostBuckets) throw fail('activity_too_many_buckets', { buckets, limit: mostBuckets })
      const workflowIds = await idsOfWorkflows(db, environment.id, query.workflowIds)
      const whose = { environmentId: environment.id, workflowIds, isHeld: environment.isHeld }
      const [counts, failed] = await Promise.all([
        countsOf(db, whose, span, interval),
        failedRuns(db, whose, span, interval),
      ])
      return { after: span.from, before: span.to, interval, ...drawn(span, interval, counts, failed) }
    },
  )
}

function suitable(after: Date, before: Date): number {
  const ms = before.getTime() - after.getTime()
  if (ms <= shortMs) return intervals[0]
  return intervals.find((seconds) => seconds >= slotSeconds && ms / (seconds * 1_000) <= mostChosen) ?? 86_400
}

/** Extends the range to whole intervals. */
function aligned(after: Date, before: Date, interval: number): Span {
  const ms = interval * 1_000
  const from = Math.floor(after.getTime() / ms) * ms
  return { from: new Date(from), to: new Date(Math.max(from + ms, Math.ceil(before.getTime() / ms) * ms)) }
}

/** The counted slots, and from there on the rows themselves. */
async function countsOf(
  db: Db,
  whose: Parameters<typeof freshCounts>[1],
  span: Span,
  interval: number,
): Promise<Count[]> {
  // Slots are of the real time.
  if (interval < slotSeconds || whose.isHeld) return freshCounts(db, whose, span, interval)
  const until = (await countedUntil(db)) ?? span.from
  const border = new Date(Math.min(Math.max(until.getTime(), span.from.getTime()), span.to.getTime()))
  const [stored, fresh] = await Promise.all([
    storedCounts(db, whose, { from: span.from, to: border }, interval),
    freshCounts(db, whose, { from: border, to: span.to }, interval),
  ])
  return [...stored, ...fresh]
}

interface Sums {
  runs: number
  failed: number
  messages: Figures['messages']
  bins: Map<number, number>
}

const nothing = (): Sums => ({
  runs: 0,
  failed: 0,
  messages: { in_app: 0, email: 0, sms: 0, chat: 0, push: 0 },
  bins: new Map(),
})

function drawn(span: Span, interval: number, counts: Count[], failed: Array<Pick<Count, 'at' | 'count'>>) {
  const buckets = new Map<number, Sums>()
  for (let at = span.from.getTime() / 1_000; at < span.to.getTime() / 1_000; at += interval) buckets.set(at, nothing())
  const totals = nothing()
  const sumsAt = (at: number) => [totals, ...(buckets.has(at) ? [buckets.get(at) as Sums] : [])]
  for (const { at, measure, bin, count } of counts)
    for (const sums of sumsAt(at)) {
      if (measure === 'runs') sums.runs += count
      else if (measure === 'latency') sums.bins.set(bin, (sums.bins.get(bin) ?? 0) + count)
      else if (measure in sums.messages) sums.messages[measure as keyof Figures['messages']] += count
    }
  for (const { at, count } of failed) for (const sums of sumsAt(at)) sums.failed += count
  return {
    buckets: [...buckets].map(([at, sums]) => ({ at: new Date(at * 1_000), ...figuresOf(sums) })),
    totals: figuresOf(totals),
  }
}

function figuresOf({ bins, ...counts }: Sums): Figures {
  const [p50Ms, p95Ms] = [quantile(bins, 0.5), quantile(bins, 0.95)]
  return { ...counts, ...(p50Ms === undefined || p95Ms === undefined ? {} : { latency: { p50Ms, p95Ms } }) }
}
