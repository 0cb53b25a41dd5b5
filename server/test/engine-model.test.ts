// Compares the engine with a small model: whatever callers do in any order, and however workers die, every accepted trigger
// ends in exactly the messages of the model, and no work is left.

import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { inApp, makeWorkflow, messagesOf, prefer } from './runs.ts'
import { type Api, useServer } from './server.ts'

const server = useServer()

const people = ['ada', 'bob']
const listed = '{% for event in steps.digest.events %} {{event.payload.n}}{% endfor %}'
const regular = (minutes: number) => ({ type: 'regular', amount: minutes, unit: 'minutes' })
const digest = (minutes: number) => ({ type: 'digest', stepId: 'digest', controlValues: regular(minutes) })
const delay = (minutes: number) => ({ type: 'delay', controlValues: regular(minutes) })
const throttle = { type: 'throttle', controlValues: { type: 'fixed', amount: 60, unit: 'minutes', threshold: 2 } }

const workflows = {
  now: [inApp('now {{payload.n}}')],
  later: [inApp('at once {{payload.n}}'), delay(60), inApp('later {{payload.n}}')],
  collected: [digest(60), inApp(`collected${listed}`)],
  both: [digest(30), delay(30), inApp(`both${listed}`)],
  held: [throttle, inApp('held')],
}
type Name = keyof typeof workflows

const minuteMs = 60_000

interface Event {
  id: string
  workflow: Name
  to: string[]
  n: number
}

interface Wait {
  /** The transaction id a cancel has to name. */
  id: string
  who: string
  due: number
  text: string
}

interface Window {
  workflow: Name
  who: string
  due: number
  events: Array<{ id: string; n: number }>
}

class Model {
  now = 0
  used = new Set<string>()
  queued: Event[] = []
  waits: Wait[] = []
  windows: Window[] = []
  throttles = new Map<string, { ends: number; passed: number }>()
  refusing = new Set<string>()
  messages: string[] = []

  trigger(event: Event): void {
    if (this.used.has(event.id)) return
    this.used.add(event.id)
    this.queued.push(event)
  }

  cancel(id: string): boolean {
    const own = this.queued.filter((event) => event.id === id)
    this.queued = this.queued.filter((event) => event.id !== id)
    for (const event of own) this.start(event)
    const before = JSON.stringify([this.waits, this.windows])
    this.waits = this.waits.filter((wait) => wait.id !== id)
    for (const window of this.windows) window.events = window.events.filter((event) => event.id !== id)
    this.windows = this.windows.filter(({ events }) => events.length > 0)
    return JSON.stringify([this.waits, this.windows]) !== before
  }

  drain(): void {
    for (const event of this.queued) this.start(event)
    this.queued = []
    const isDue = ({ due }: { due: number }) => due <= this.now
    for (let due = this.takeDue(isDue); due > 0; due = this.takeDue(isDue));
  }

  takeDue(isDue: (wait: { due: number }) => boolean): number {
    const [waits, windows] = [this.waits.filter(isDue), this.windows.filter(isDue)]
    this.waits = this.waits.filter((wait) => !isDue(wait))
    this.windows = this.windows.filter((window) => !isDue(window))
    for (const { who, text } of waits) this.send(who, text)
    for (const { workflow, who, events } of windows) {
      const text = `${workflow} ${events.map(({ n }) => n).join(' ')}`
      if (workflow === 'collected') this.send(who, text)
      else this.waits.push({ id: events[0]?.id ?? '', who, due: this.now + 30 * minuteMs, text })
    }
    return waits.length + windows.length
  }

  start({ id, workflow, to, n }: Event): void {
    for (const who of to) {
      switch (workflow) {
        case 'now':
          this.send(who, `now ${n}`)
          break
        case 'later':
          this.send(who, `at once ${n}`)
          this.waits.push({ id, who, due: this.now + 60 * minuteMs, text: `later ${n}` })
          break
        case 'held': {
          const known = this.throttles.get(who)
          const window = known && known.ends > this.now ? known : { ends: this.now + 60 * minuteMs, passed: 0 }
          this.throttles.set(who, window)
          if (window.passed === 2) break
          window.passed += 1
          this.send(who, 'held')
          break
        }
        default: {
          const open = this.windows.find((window) => window.workflow === workflow && window.who === who)
          if (open) open.events.push({ id, n })
          else {
            const due = this.now + (workflow === 'collected' ? 60 : 30) * minuteMs
            this.windows.push({ workflow, who, due, events: [{ id, n }] })
          }
        }
      }
    }
  }

  send(who: string, text: string): void {
    if (!this.refusing.has(who)) this.messages.push(`${who}: ${text}`)
  }
}

/** Ways in which a piece of work is carried out. */
const manners = {
  once: (work: () => Promise<void>) => work(),
  twice: async (work: () => Promise<void>) => {
    await work()
    await work()
  },
  /** The worker loses its connections again and again (except the queue's own); its successor does the work again. */
  killed: async (work: () => Promise<void>) => {
    let isOver = false
    const dying = work().then(
      () => undefined,
      () => undefined,
    )
    void dying.then(() => {
      isOver = true
    })
    while (!isOver)
      await sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
          AND query NOT LIKE '%graphile_worker%'`.execute(server.database.db)
    await dying
    await work()
  },
  /** The work is done, but the queue is not told. */
  unheard: async (work: () => Promise<void>) => {
    await work()
    throw new Error('the worker died before it could report')
  },
}
type Manner = keyof typeof manners

const mostRounds = 30

async function drain(given: Manner[]): Promise<void> {
  let place = 0
  const next = () => manners[given[place++] ?? 'once']
  for (let round = 0; round < mostRounds; round += 1) {
    await server.drain((work) => next()(work)).catch(() => undefined)
    const { rows: failed } = await sql<{ id: string }>`
      SELECT id FROM graphile_worker.jobs WHERE last_error IS NOT NULL`.execute(server.database.db)
    const { rows: due } = await sql`SELECT FROM timers WHERE due_at <= ${server.clock.now()}`.execute(
      server.database.db,
    )
    if (failed.length === 0 && due.length === 0) return
    await sql`
      SELECT graphile_worker.reschedule_jobs(${failed.map(({ id }) => id)}::bigint[], run_at := now())`.execute(
      server.database.db,
    )
  }
  throw new Error('The work does not end.')
}

type Command =
  | { do: 'trigger'; workflow: Name; to: string[]; reuses: number | null }
  | { do: 'cancel'; which: number }
  | { do: 'prefer'; who: string; wants: boolean }
  | { do: 'advance'; minutes: number }
  | { do: 'drain'; manners: Manner[] }

const someManners = fc.array(fc.constantFrom(...(Object.keys(manners) as Manner[])), { maxLength: 8 })
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('trigger' as const),
      workflow: fc.constantFrom(...(Object.keys(workflows) as Name[])),
      to: fc.subarray(people, { minLength: 1 }),
      reuses: fc.option(fc.nat({ max: 10 }), { freq: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat({ max: 10 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('prefer' as const), who: fc.constantFrom(...people), wants: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('advance' as const), minutes: fc.constantFrom(1, 15, 29, 30, 59, 60) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('drain' as const), manners: someManners }) },
)

async function perform(api: Api, model: Model, commands: Command[]): Promise<void> {
  const ids: string[] = []
  for (const [n, each] of commands.entries()) {
    switch (each.do) {
      case 'trigger': {
        const id = (each.reuses === null ? undefined : ids[each.reuses]) ?? `t${n}`
        ids.push(id)
        const { workflow, to } = each
        const body = { name: workflow, to, payload: { n }, transactionId: id }
        expect((await api.post('/v1/events/trigger', body)).body.status).toBe('processed')
        model.trigger({ id, workflow, to, n })
        break
      }
      case 'cancel': {
        const id = ids[each.which % Math.max(1, ids.length)] ?? 'nothing'
        const answer = (await api.delete(`/v1/events/trigger/${id}`)).body
        expect({ canceled: answer }).toEqual({ canceled: model.cancel(id) })
        break
      }
      case 'prefer':
        await prefer(api, each.who, { channels: { in_app: each.wants } })
        if (each.wants) model.refusing.delete(each.who)
        else model.refusing.add(each.who)
        break
      case 'advance':
        server.clock.advance({ minutes: each.minutes })
        model.now += each.minutes * minuteMs
        break
      case 'drain':
        await drain(each.manners)
        model.drain()
        break
    }
  }
}

/** Moves the clock past every possible wait. */
async function finish(model: Model): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await drain(['once'])
    model.drain()
    server.clock.advance({ hours: 1 })
    model.now += 60 * minuteMs
  }
}

async function leftOf({ environmentId }: Api): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`
    SELECT (SELECT count(*) FROM notifications WHERE environment_id = ${environmentId} AND status = 'processing')::int AS runs,
      (SELECT count(*) FROM jobs WHERE environment_id = ${environmentId}
         AND status IN ('pending', 'queued', 'running', 'delayed'))::int AS steps,
      (SELECT count(*) FROM timers WHERE environment_id = ${environmentId})::int AS timers,
      (SELECT count(*) FROM digests WHERE environment_id = ${environmentId} AND notification_id IS NOT NULL)::int AS windows,
      (SELECT count(*) FROM events WHERE environment_id = ${environmentId} AND started_at IS NULL)::int AS events`.execute(
    server.database.db,
  )
  return rows[0] ?? {}
}

async function messagesIn(api: Api): Promise<string[]> {
  const found = await Promise.all(
    people.map(async (who) =>
      (await messagesOf(api, `subscriberId=${who}`)).map(({ content }) => `${who}: ${content}`),
    ),
  )
  return found.flat().sort()
}

test('no notification is lost, duplicated or stuck', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 4, maxLength: 18 }), async (commands) => {
      const api = await server.freshApi()
      for (const [name, steps] of Object.entries(workflows)) await makeWorkflow(api, name, steps)
      for (const subscriberId of people) await api.post('/v2/subscribers', { subscriberId })
      const model = new Model()
      await perform(api, model, commands)
      await finish(model)
      expect(await messagesIn(api)).toEqual(model.messages.sort())
      expect(await leftOf(api)).toEqual({ runs: 0, steps: 0, timers: 0, windows: 0, events: 0 })
    }),
    { numRuns: 30, endOnFailure: true },
  )
})
