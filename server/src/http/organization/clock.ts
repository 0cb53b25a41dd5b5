// The clock of an environment for tests: it stands still until somebody moves it. See docs/testing.md.
import { Type } from 'typebox'
import { ClockRefused, type Target } from '../../engine/runs/clock.ts'
import { durationMs, MomentInvalid, momentIn } from '../../engine/simulation/moments.ts'
import { fail, type RequestError } from '../../errors.ts'
import { goneWith } from '../edge/hang-up.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, FreeObject, Nullable, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'

const Waiting = Type.Object({
  count: Type.Integer(),
  next: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: 'When the next wait ends' }),
})
const Clock = Type.Object({
  held: Type.Boolean(),
  now: Timestamp,
  seed: Type.Optional(Type.Integer({ description: 'Decides the random part of waits before another attempt' })),
  waiting: Type.Optional(Waiting),
  advancingTo: Type.Optional(
    Type.Unsafe<Date | null>({ ...NullableTimestamp, description: 'Null while it stands still' }),
  ),
})
const counts = (description: string) =>
  Type.Unsafe<Record<string, number>>({ ...FreeObject, additionalProperties: { type: 'integer' }, description })

const Advanced = Type.Object({
  from: Timestamp,
  now: Timestamp,
  reached: Type.Boolean({ description: 'False after a minute of work; the same `to` goes on' }),
  moments: Type.Integer({ description: 'How many times it stopped for waits that ended' }),
  waitsEnded: Type.Integer(),
  runsEnded: Type.Integer(),
  attempts: Type.Integer({ description: 'Calls to providers' }),
  messages: counts('Those sent, by channel'),
  reasons: counts('Steps, by reason'),
  hasMore: Type.Boolean({ description: 'Whether more steps ended than `events` has' }),
  waiting: Waiting,
  events: Type.Array(
    Type.Object({
      at: Timestamp,
      transactionId: Type.String(),
      subscriberId: Type.String(),
      workflowId: Type.String(),
      stepId: Type.String(),
      status: Type.String(),
      reason: Nullable(Type.String()),
    }),
    { description: 'The first 1,000 steps that ended, in order' },
  ),
})

export const clocks: Resource = (app, { engine, clock }) => {
  const tags = ['Clock']

  app.get(
    '/v1/clock',
    {
      schema: {
        tags,
        summary: "Retrieve the environment's clock",
        description: 'Of an ordinary environment `held` is false, and `now` the real time.',
        response: { 200: Clock },
      },
    },
    async (request) => {
      const shown = await engine.clocks.read(request.environment.id)
      return shown ? { held: true, ...shown } : { held: false, now: clock.now() }
    },
  )

  app.put(
    '/v1/clock',
    {
      config: { scope: 'send', leavesClock: true, keepsContent: true, refusals: [409] },
      schema: {
        tags,
        summary: 'Set a held clock, forwards or back',
        description: 'Until the environment takes its first trigger.',
        body: Body(
          { now: Type.String({ description: 'ISO 8601, or `2026-03-29T02:30[Europe/Berlin]`' }) },
          { examples: [{ now: '2026-03-28T19:00:00Z' }] },
        ),
        response: { 200: Clock },
      },
    },
    async (request) => {
      const { id } = request.environment
      const now = momentOf('now', request.body.now)
      await engine.clocks.set(id, now).catch(refuse)
      const shown = await engine.clocks.read(id)
      if (!shown) throw fail('clock_not_held')
      return { held: true, ...shown }
    },
  )

  app.post(
    '/v1/clock/advance',
    {
      config: { scope: 'send', leavesClock: true, keepsContent: true, refusals: [409] },
      schema: {
        tags,
        summary: 'Advance a held clock',
        description:
          'Answers when everything up to then has happened. `{"by": "0s"}` finishes what is due now. It works for at most a minute; then `reached` is false, and the same `to` goes on.',
        body: Body(
          {
            by: Type.Optional(Type.String({ description: 'A duration: `30d`, `1h30m`, `90s`, `250ms`' })),
            to: Type.Optional(Type.String({ description: 'A moment, or `next`: the next wait that ends' })),
          },
          { examples: [{ by: '3d' }] },
        ),
        response: { 200: Advanced },
      },
    },
    async (request, reply) => {
      const target = targetOf(request.body)
      // It has a limit of its own.
      request.waitsSince = Number.POSITIVE_INFINITY
      return engine.clocks.advance(request.environment.id, target, goneWith(reply)).catch(refuse)
    },
  )
}

function targetOf({ by, to }: { by?: string; to?: string }): Target {
  if ((by === undefined) === (to === undefined)) throw generalError(['either by or to must be given'])
  if (by !== undefined) return { by: read('by', () => durationMs(by)) }
  if (to?.startsWith('+')) throw generalError([`to: ${JSON.stringify(to)} is a duration; say how far in by`])
  return to === 'next' ? 'next' : { to: momentOf('to', to ?? '') }
}

export const momentOf = (name: string, text: string): Date => new Date(read(name, () => momentIn(text)))

function read(name: string, reading: () => number): number {
  try {
    return reading()
  } catch (error) {
    if (error instanceof MomentInvalid) throw generalError([`${name}: ${error.message}`])
    throw error
  }
}

function refuse(error: unknown): never {
  throw error instanceof ClockRefused ? refusalOf(error) : error
}

function refusalOf({ refusal }: ClockRefused): RequestError {
  switch (refusal.code) {
    case 'clock_moving': {
      const to = refusal.to.toISOString()
      return fail('clock_moving', { to }, { ctx: { to }, headers: { 'Retry-After': '1' } })
    }
    case 'clock_backwards': {
      const now = refusal.now.toISOString()
      return fail('clock_backwards', { now }, { ctx: { now } })
    }
    default:
      return fail(refusal.code)
  }
}
