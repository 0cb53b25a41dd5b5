// Held clocks: what it takes to live through what a simulation plays, what many held environments cost the others, and how fast
// an advance ends waits.
import { setTimeout as sleep } from 'node:timers/promises'
import { sendMany } from '../harness/load.ts'
import { type Service, startService } from '../harness/service.ts'
import { bulkOf, makeWorkflow, newestMessage, perRequest, untilMessages } from '../harness/triggers.ts'
import { median } from '../report/figures.ts'

const turns = 4

/** An environment whose clock is held, with the requests of a service. */
async function holdClock(service: Service, name: string, now: string): Promise<Service> {
  // The key of one environment may make others if that environment is open to keys.
  await service.database.query('UPDATE environments SET open_to_keys = true WHERE id = $1', [service.environmentId])
  const { _id, apiKeys } = await service.send<{ _id: string; apiKeys: Array<{ key: string }> }>(
    'POST',
    '/v1/environments',
    { name, color: '#8e44ad', clock: { now } },
  )
  const apiKey = apiKeys[0]?.key ?? ''
  return {
    ...service,
    ...{ apiKey, environmentId: _id },
    async send<Answer>(method: string, path: string, body?: unknown) {
      const reply = await fetch(service.url + path, {
        method,
        headers: { authorization: `ApiKey ${apiKey}`, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      const text = await reply.text()
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
      return JSON.parse(text) as Answer
    },
  }
}

interface Month {
  steps: object[]
  startAt: string
  days: number
  /** The inputs of the simulation, `everyMinutes` apart. */
  triggers: ReadonlyArray<{ to: string; payload: object }>
  everyMinutes: number
}

/** Milliseconds to live through a month: the clock is advanced to each trigger, and at last to the end. */
export async function livedMonth(service: Service, month: Month, rounds: number): Promise<number> {
  const took: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const held = await holdClock(service, `Month ${round}`, month.startAt)
    await makeWorkflow(held, month.steps)
    const began = performance.now()
    for (const { to, payload } of month.triggers) {
      await held.send('POST', '/v1/events/trigger', {
        ...{ name: 'bench', payload, to: { subscriberId: to, email: `${to}@example.com` } },
      })
      await advance(held, { by: `${month.everyMinutes}m` })
    }
    await advance(held, { by: '2d' })
    took.push(performance.now() - began)
    const { waiting } = await held.send<{ waiting: { count: number } }>('GET', '/v1/clock')
    if (waiting.count > 0) throw new Error(`${waiting.count} waits are left after ${month.days} days`)
  }
  return median(took)
}

interface Advanced {
  reached: boolean
  waitsEnded: number
}

async function advance(held: Service, body: object): Promise<Advanced> {
  const told = await held.send<Advanced>('POST', '/v1/clock/advance', body)
  if (!told.reached) throw new Error('an advance took longer than a minute')
  return told
}

/** Accepted triggers per second of a service with many waits in held environments, and of one without, in turns. */
export async function acceptedBesideHeld(
  environments: number,
  waits: number,
  seconds: number,
): Promise<{ alone: number; crowded: number }> {
  const services = [await startService(), await startService()] as const
  const [plain, crowded] = services
  try {
    for (const service of services) await makeWorkflow(service)
    await fill(crowded, environments, waits)
    const [rates, crowdedRates]: [number[], number[]] = [[], []]
    for (const service of services) await accepted(service, seconds / turns)
    for (let turn = 0; turn < turns; turn += 1) {
      rates.push(await accepted(plain, seconds / turns))
      crowdedRates.push(await accepted(crowded, seconds / turns))
    }
    return { alone: median(rates), crowded: median(crowdedRates) }
  } finally {
    for (const service of services) await service.stop()
  }
}

const delayed = (wait: object) => [
  { name: 'Wait', stepId: 'wait', type: 'delay', controlValues: wait },
  { name: 'Tell', stepId: 'tell', type: 'in_app', controlValues: { body: 'Hello {{subscriber.firstName}}' } },
]

async function fill(service: Service, environments: number, waits: number): Promise<void> {
  for (let number = 0; number < environments; number += 1) {
    const held = await holdClock(service, `Held ${number}`, '2026-05-01T10:00:00Z')
    await makeWorkflow(held, delayed({ type: 'regular', amount: 30, unit: 'days' }))
    await triggerMany(held, 'bench', waits)
  }
  await untilWaiting(service, 'held IS NOT NULL', environments * waits)
}

/** A run for each of as many subscribers, a hundred per trigger. */
const triggerMany = (place: Service, name: string, count: number, payload: object = {}) =>
  sendMany({ ...place, connections: 4 }, '/v1/events/trigger', count / perRequest, (number) => ({
    ...{ name, payload },
    to: Array.from({ length: perRequest }, (_, index) => `subscriber-${number * perRequest + index}`),
  }))

async function untilWaiting({ database }: Service, which: string, count: number): Promise<void> {
  for (const deadline = Date.now() + 300_000; ; await sleep(50)) {
    const waiting = `SELECT count(*) FROM timers WHERE kind = 'step' AND ${which}`
    const { rows } = await database.query<{ count: string }>(waiting)
    if (Number(rows[0]?.count) >= count) return
    if (Date.now() > deadline) throw new Error(`not ${count} waits after five minutes`)
  }
}

/** Per second. What was accepted is finished before the next turn, so that it does not slow the other service. */
async function accepted(service: Service, seconds: number): Promise<number> {
  const after = await newestMessage(service)
  const began = performance.now()
  let count = 0
  while (performance.now() - began < seconds * 1000) {
    await sendMany({ ...service, connections: 8 }, '/v1/events/trigger/bulk', 8, bulkOf)
    count += 8 * perRequest
  }
  const rate = count / ((performance.now() - began) / 1000)
  await untilMessages(service, count, { after })
  return rate
}

/** Milliseconds for waits that all end at one moment, until their messages are there: by an advance, and by the real time. */
export async function advanceBesideReal(
  service: Service,
  waits: number,
  rounds: number,
): Promise<{ advanced: number; real: number }> {
  const [advanced, real]: [number[], number[]] = [[], []]
  const workflow = {
    ...{ name: 'Waits', workflowId: 'waits', active: true },
    steps: delayed({ type: 'dynamic', dynamicKey: 'payload.until' }),
  }
  const trigger = (place: Service, until: Date) => triggerMany(place, 'waits', waits, { until: until.toISOString() })
  const startAt = '2026-05-01T10:00:00Z'
  const held = await holdClock(service, 'Advanced', startAt)
  for (const place of [service, held]) await place.send('POST', '/v2/workflows', workflow)
  for (let round = 0; round < rounds; round += 1) {
    const { now } = await held.send<{ now: string }>('GET', '/v1/clock')
    await trigger(held, new Date(Date.parse(now) + 3_600_000))
    await untilWaiting(service, 'held IS NOT NULL', waits)
    const began = performance.now()
    const { waitsEnded } = await advance(held, { by: '1h' })
    advanced.push(performance.now() - began)
    if (waitsEnded !== waits) throw new Error(`${waitsEnded} of ${waits} waits have ended`)

    const after = await newestMessage(service)
    const until = new Date(Date.now() + 10_000)
    await trigger(service, until)
    await untilWaiting(service, 'held IS NULL', waits)
    if (Date.now() > until.getTime()) throw new Error('the waits ended before all had begun')
    await sleep(until.getTime() - Date.now())
    await untilMessages(service, waits, { after })
    real.push(Date.now() - until.getTime())
  }
  return { advanced: median(advanced), real: median(real) }
}
