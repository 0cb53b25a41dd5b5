// Journeys: what a branch, a cap and a wait cost beside workflows without them, and how fast an event ends many waits.
import { setTimeout as sleep } from 'node:timers/promises'
import { startHttpSink } from '../harness/http-sink.ts'
import { type Load, sendMany } from '../harness/load.ts'
import { cpuMs, cpuMsOfAll, postmasterOf } from '../harness/processes.ts'
import { type Service, startService } from '../harness/service.ts'
import { newestMessage, perRequest, subscribers, untilMessages } from '../harness/triggers.ts'
import { type Figure, median, type Options, type Outcome, percentile } from '../report/figures.ts'
import { fillTopic, singleTriggers } from './fan-out.ts'

const inApp = (stepId: string) => ({
  ...{ name: stepId, stepId, type: 'in_app' },
  controlValues: { body: 'Hello {{subscriber.firstName}}, this is number {{payload.number}}' },
})
const list = [inApp('first'), inApp('second'), inApp('third')]
const tree = [
  inApp('first'),
  {
    ...{ name: 'Choose', stepId: 'choose', type: 'branch' },
    controlValues: {
      arms: [{ name: 'Counted', condition: { '>=': [{ var: 'payload.number' }, 0] }, steps: [inApp('second')] }],
    },
  },
  inApp('third'),
]
const waiting = [
  {
    ...{ name: 'Wait', stepId: 'wait', type: 'wait_for_event' },
    controlValues: { for: [{ event: 'bench.over', key: '{{payload.key}}' }], amount: 7, unit: 'days' },
  },
  inApp('tell'),
]

const makeWorkflow = (service: Service, workflowId: string, steps: object[]) =>
  service.send('POST', '/v2/workflows', { name: workflowId, workflowId, active: true, steps })

interface Sizes {
  rounds: number
  /** Triggers of a round. */
  count: number
  /** Waits that one event ends, and members of the topic beside it. */
  members: number
  idleWaits: number
  /** Of a window, how many there are, and how long both rest before. */
  idleSeconds: number
  idleWindows: number
  restSeconds: number
}

export async function benchJourneys({ quick }: Options): Promise<Outcome> {
  const sizes: Sizes = quick
    ? { rounds: 1, count: 500, members: 1_000, idleWaits: 2_000, idleSeconds: 2, idleWindows: 1, restSeconds: 1 }
    : { rounds: 5, count: 5_000, members: 10_000, idleWaits: 100_000, idleSeconds: 60, idleWindows: 5, restSeconds: 90 }
  const figures = [
    await withService(undefined, (service) => branchBesideList(service, sizes)),
    ...(await withService(undefined, (service) => capBesideNone(service, sizes))),
    await withService({ BELFRY_ROLE: 'api' }, (service) => eventsBesideTriggers(service, sizes)),
    ...(await withService(undefined, (service) => eventBesideTopic(service, sizes))),
    await withService(undefined, (service) => idleWaits(service, sizes)),
  ]
  return { figures, notes: { ...sizes, value: 'medians of the rounds, taken in turns' } }
}

async function withService<T>(settings: Record<string, string> | undefined, work: (service: Service) => Promise<T>) {
  const service = await startService(settings)
  try {
    return await work(service)
  } finally {
    await service.stop()
  }
}

/** Runs both once to warm up, and then in turns. @returns the median of each */
async function inTurns(rounds: number, ours: () => Promise<number>, reference: () => Promise<number>) {
  const found: [ours: number[], reference: number[]] = [[], []]
  for (let round = 0; round <= rounds; round += 1) {
    const [one, other] = [await ours(), await reference()]
    if (round === 0) continue
    found[0].push(one)
    found[1].push(other)
  }
  return { ours: median(found[0]), reference: median(found[1]) }
}

const loadOn = ({ url, apiKey }: Service): Load => ({ url, apiKey, connections: 4 })

/** Triggers per second, until all their messages are stored. */
async function delivered(service: Service, name: string, count: number, messagesEach: number): Promise<number> {
  const after = await newestMessage(service)
  return triggered(service, name, count, () => untilMessages(service, count * messagesEach, { after }))
}

async function triggered(service: Service, name: string, count: number, untilDone: () => Promise<void>) {
  const began = performance.now()
  const requests = Math.ceil(count / perRequest)
  await sendMany(loadOn(service), '/v1/events/trigger/bulk', requests, (request) => ({
    events: Array.from({ length: perRequest }, (_, place) => {
      const number = request * perRequest + place
      return { name, to: `subscriber-${number % subscribers}`, payload: { number } }
    }),
  }))
  await untilDone()
  return (requests * perRequest) / ((performance.now() - began) / 1000)
}

async function branchBesideList(service: Service, { rounds, count }: Sizes): Promise<Figure> {
  await makeWorkflow(service, 'tree', tree)
  await makeWorkflow(service, 'list', list)
  const measured = await inTurns(
    rounds,
    () => delivered(service, 'tree', count, 3),
    () => delivered(service, 'list', count, 3),
  )
  return {
    ...{ id: 'branch', name: 'triggers of three steps with a branch around one', unit: '/s', ...measured },
    ...{ against: 'the same three steps in a list', target: { atLeast: 0.9 } },
  }
}

/** A cap holds nobody back here, so both do the same work. Unless it names channels, it counts all but in-app. */
async function capBesideNone(service: Service, { rounds, count }: Sizes): Promise<Figure[]> {
  let sent = 0
  const sink = await startHttpSink(() => {
    sent += 1
    return { status: 200, body: '{"id":"1"}' }
  })
  try {
    await makeWorkflow(service, 'one', [inApp('tell')])
    await makeWorkflow(service, 'text', [{ name: 'Text', type: 'sms', controlValues: { body: 'Hello' } }])
    const credentials = { baseUrl: sink.url, apiKeyRequestHeader: 'x-key', apiKey: 'key', from: '+4912345' }
    const provider = { providerId: 'generic-sms', channel: 'sms', credentials, active: true, check: false }
    const { _id } = await service.send<{ _id: string }>('POST', '/v1/integrations', provider)
    await service.send('POST', `/v1/integrations/${_id}/set-primary`)
    for (let at = 0; at < subscribers; at += 500)
      await service.send('POST', '/v1/subscribers/bulk', {
        subscribers: Array.from({ length: 500 }, (_, place) => ({
          ...{ subscriberId: `subscriber-${at + place}`, phone: '+491234567890' },
        })),
      })
    const window = { amount: 1, unit: 'hours' }
    const beside = (cap: object, work: () => Promise<number>) => {
      const guarded = async (caps: object[]) => {
        await service.send('PUT', '/v2/guards', { quietHours: 'skip', caps })
        return work()
      }
      return inTurns(
        rounds,
        () => guarded([{ limit: 1_000, window, ...cap }]),
        () => guarded([]),
      )
    }
    const inbox = await beside({ id: 'inbox', channels: ['in_app'] }, () => delivered(service, 'one', count, 1))
    const texts = await beside({ id: 'all' }, () => {
      sent = 0
      return triggered(service, 'text', count, async () => {
        while (sent < count) await sleep(5)
      })
    })
    return [
      {
        ...{ id: 'cap', name: 'triggers of one text message under a cap', unit: '/s', ...texts },
        ...{ against: 'the same without a cap', target: { atLeast: 0.85 } },
      },
      {
        ...{
          id: 'in-app-cap',
          name: 'triggers of one in-app step under a cap of in-app messages',
          unit: '/s',
          ...inbox,
        },
        against: 'the same without a cap',
      },
    ]
  } finally {
    sink.stop()
  }
}

/** A process that only accepts; nobody waits for these events. */
async function eventsBesideTriggers(service: Service, { rounds, count }: Sizes): Promise<Figure> {
  await makeWorkflow(service, 'one', [inApp('tell')])
  const load = { ...loadOn(service), connections: 64 }
  const rate = async (path: string, bodyOf: (number: number) => object) =>
    (await sendMany(load, path, count, bodyOf)).perSecond
  const to = (number: number) => `subscriber-${number % subscribers}`
  const measured = await inTurns(
    rounds,
    () =>
      rate('/v2/events', (number) => ({
        name: 'cart.paid',
        subscriberId: to(number),
        key: `cart-${number}`,
        payload: { number },
      })),
    () => rate('/v1/events/trigger', (number) => ({ name: 'one', to: to(number), payload: { number } })),
  )
  return {
    ...{ id: 'events', name: 'events accepted, each committed', unit: '/s', ...measured },
    ...{ against: 'triggers accepted', target: { atLeast: 0.8 } },
  }
}

const everyone = { type: 'Topic', topicKey: 'everyone' }

/** One round of each: every round leaves as many runs behind. */
async function eventBesideTopic(service: Service, { members }: Sizes): Promise<Figure[]> {
  await makeWorkflow(service, 'bench', [inApp('tell')])
  await makeWorkflow(service, 'waiting', waiting)
  await fillTopic(service, members)
  const perSecond = async (begin: () => Promise<unknown>) => {
    const after = await newestMessage(service)
    const began = performance.now()
    await begin()
    await untilMessages(service, members, { after })
    return members / ((performance.now() - began) / 1000)
  }
  let topic = 0
  await singleTriggers(service, 'topic', async () => {
    topic = await perSecond(() =>
      service.send('POST', '/v1/events/trigger', { name: 'bench', to: everyone, payload: { number: 1 } }),
    )
  })
  await service.send('POST', '/v1/events/trigger', { name: 'waiting', to: everyone, payload: { key: 'k', number: 1 } })
  await untilWaiting(service, members)
  let event = 0
  const beside = await singleTriggers(service, 'event', async () => {
    event = await perSecond(() => service.send('POST', '/v2/events', { name: 'bench.over', key: 'k' }))
  })
  return [
    {
      ...{ id: 'event-ends-waits', name: `waits that one event ends, of ${members.toLocaleString('en')}`, unit: '/s' },
      ...{ ours: event, reference: topic, against: 'a topic of as many members', target: { atLeast: 0.5 } },
    },
    {
      ...{
        id: 'beside-event-p99',
        name: 'p99 of single triggers beside it, until the message can be read',
        unit: 'ms',
      },
      ...{ ours: percentile(beside, 0.99), target: { oursAtMost: 250 } },
    },
  ]
}

/**
 * Two services side by side, in the same minutes: an idle service's own minutes differ by more than waits cost. Both have had the same
 * triggers; of one their runs wait, of the other they have ended. Then both rest: what is left of the load, such as V8's last
 * collections, is over, and PostgreSQL has tidied up the rows that were written.
 */
async function idleWaits(service: Service, sizes: Sizes): Promise<Figure> {
  const { idleWaits: waits, idleSeconds, idleWindows, restSeconds } = sizes
  const measured = await withService(undefined, async (beside) => {
    const both = [
      { service, workflow: waiting, of: await postmasterOf(service) },
      { service: beside, workflow: waiting.slice(1), of: await postmasterOf(beside) },
    ]
    for (const each of both) {
      await makeWorkflow(each.service, 'waiting', each.workflow)
      await sendMany(loadOn(each.service), '/v1/events/trigger/bulk', Math.ceil(waits / perRequest), (request) => ({
        events: Array.from({ length: perRequest }, (_, place) => {
          const number = request * perRequest + place
          return {
            name: 'waiting',
            to: `subscriber-${number % subscribers}`,
            payload: { key: `key-${number}`, number },
          }
        }),
      }))
    }
    await untilWaiting(service, waits)
    await untilMessages(beside, waits)
    for (const { service: each } of both) {
      await each.database.query('VACUUM (ANALYZE)')
      await each.database.query('CHECKPOINT')
      // This program's own connections are none of the service's.
      await each.database.end()
    }
    await sleep(restSeconds * 1000)
    const spent = () => both.map(({ service: { pid }, of }) => cpuMs(pid) + cpuMsOfAll(of))
    const shares: number[][] = []
    for (let before = spent(); shares.length < idleWindows; ) {
      await sleep(idleSeconds * 1000)
      const after = spent()
      shares.push(after.map((ms, place) => (ms - (before[place] ?? 0)) / (idleSeconds * 10)))
      before = after
    }
    return shares
  })
  const more = median(measured.map(([ours = 0, reference = 0]) => ours - reference))
  return {
    ...{ id: 'idle-waits', name: `processor time that ${waits.toLocaleString('en')} idle waits add`, unit: '%' },
    ...{ ours: Math.max(0, more), target: { oursAtMost: 1 } },
  }
}

async function untilWaiting({ database, environmentId }: Service, count: number): Promise<void> {
  const deadline = Date.now() + 600_000
  for (;;) {
    const { rows } = await database.query<{ count: string }>(
      'SELECT count(*) FROM event_waits WHERE environment_id = $1',
      [environmentId],
    )
    if (Number(rows[0]?.count) >= count) return
    if (Date.now() > deadline) throw new Error(`only ${rows[0]?.count} of ${count} runs wait`)
    await sleep(200)
  }
}
