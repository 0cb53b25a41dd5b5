// Deliveries per second to a webhook, and how much a hanging provider slows the others.
import { setTimeout as sleep } from 'node:timers/promises'
import { type HttpSink, startHttpSink } from '../harness/http-sink.ts'
import { sendMany, sendSteadily } from '../harness/load.ts'
import { type Service, startService } from '../harness/service.ts'
import { median, type Options, type Outcome, percentile } from '../report/figures.ts'

const perRequest = 100
const steadyPerSecond = 50
/** On a shared machine, a short stall spoils one stretch but not the median. */
const stretchSeconds = 10
const longestMs = 120_000

export async function benchDeliveries({ quick }: Options): Promise<Outcome> {
  const [count, warmUps, seconds] = quick ? [300, 100, 1] : [20_000, 1_000, 60]
  const [sink, vendor] = [await startSink(), await startVendor()]
  const service = await startService()
  try {
    await prepare(service, sink.url, vendor.url)
    const direct = { mails: await post(sink.url, count, mailOf), texts: await post(vendor.url, count, textOf) }
    const load = { url: service.url, apiKey: service.apiKey, connections: 4 }
    const taken = { mail: () => sink.received.size, text: vendor.answered }
    const through = async (workflow: keyof typeof taken, tag: string, number: number) => {
      const [before, began] = [taken[workflow](), performance.now()]
      await sendMany(load, '/v1/events/trigger/bulk', number / perRequest, (request) => ({
        events: Array.from({ length: perRequest }, (_, place) => triggerOf(workflow, `${tag}-${request}-${place}`)),
      }))
      while (taken[workflow]() < before + number) {
        if (performance.now() - began > longestMs) throw new Error('not everything was delivered in time')
        await sleep(5)
      }
      return number / ((performance.now() - began) / 1000)
    }
    await through('mail', 'first', warmUps)
    const mailsPerSecond = await through('mail', 'all', count)
    const opened = sink.mostOpen()
    await through('text', 'first-text', warmUps)
    const textsPerSecond = await through('text', 'all-texts', count)

    // Warm up retries, so that their code is compiled and their statements planned, as in a service that has run for a
    // while.
    vendor.play('busy')
    await steadily(service, sink, seconds / 8, 'busy', ['text'])
    vendor.play('well')
    await steadily(service, sink, seconds / 8, 'warm-up', ['text'])
    const alone = await steadily(service, sink, seconds, 'alone', [])
    const healthy = await steadily(service, sink, seconds, 'healthy', ['text'])
    vendor.play('dead')
    const beside = await steadily(service, sink, seconds, 'beside', ['text'])
    const p99sOf = (sent: Map<string, number>) => {
      const took = [...sent].map(([id, at]) => (sink.received.get(id) ?? Number.NaN) - at)
      const size = Math.min(took.length, steadyPerSecond * stretchSeconds)
      const stretches = Array.from({ length: took.length / size }, (_, place) =>
        took.slice(place * size, (place + 1) * size),
      )
      return stretches.map((stretch) => percentile(stretch, 0.99))
    }
    const p99s = { alone: p99sOf(alone), healthy: p99sOf(healthy), beside: p99sOf(beside) }
    return {
      figures: [
        {
          id: 'short-webhook',
          name: 'short texts to a webhook, through the engine',
          unit: '/s',
          ours: textsPerSecond,
          reference: direct.texts,
          against: 'requests of their size sent directly',
          target: { oursAtLeast: 2_000 },
        },
        {
          id: 'webhook',
          name: 'e-mails to a webhook, through the engine',
          unit: '/s',
          ours: mailsPerSecond,
          reference: direct.mails,
          against: 'requests of their size sent directly',
        },
        {
          id: 'connections',
          name: 'connections open at a time for them',
          unit: '',
          ours: opened,
          reference: 128,
          against: 'what is allowed',
          target: { atMost: 1 },
        },
        {
          id: 'beside-hanging-p99',
          name: `p99 of deliveries at ${steadyPerSecond}/s beside as many to a provider that hangs`,
          unit: 'ms',
          ours: median(p99s.beside),
          reference: median(p99s.healthy),
          against: 'beside as many while it answers',
          target: { atMost: 1.5 },
        },
        {
          id: 'beside-nothing-p99',
          name: 'the same',
          unit: 'ms',
          ours: median(p99s.beside),
          reference: median(p99s.alone),
          against: 'with nothing beside them',
        },
      ],
      notes: {
        ...{ count, seconds, steadyPerSecond, hung: vendor.hanging() },
        p99: `the median of stretches of ${stretchSeconds} seconds`,
        p99OfStretchesMs: p99s,
      },
    }
  } finally {
    // Stop the vendor first: the service would wait for its hanging requests.
    vendor.stop()
    await service.stop()
    sink.stop()
  }
}

async function prepare({ send }: Service, sinkUrl: string, vendorUrl: string): Promise<void> {
  const mail = { webhookUrl: sinkUrl, secretKey: 'secret', from: 'belfry@example.com', senderName: 'Belfry' }
  const text = { baseUrl: vendorUrl, apiKeyRequestHeader: 'x-key', apiKey: 'key', from: '+4912345' }
  for (const [channel, providerId, credentials] of [
    ['email', 'email-webhook', mail],
    ['sms', 'generic-sms', text],
  ] as const) {
    const integration = { providerId, channel, credentials, active: true, check: false }
    const { _id } = await send<{ _id: string }>('POST', '/v1/integrations', integration)
    await send('POST', `/v1/integrations/${_id}/set-primary`)
  }
  for (const [workflowId, type, controlValues] of [
    ['mail', 'email', { subject: 'News', body: '<p>Hello {{subscriber.subscriberId}}</p>' }],
    ['text', 'sms', { body: 'Hello' }],
  ] as const)
    await send('POST', '/v2/workflows', {
      ...{ name: workflowId, workflowId, active: true },
      steps: [{ name: type, type, controlValues }],
    })
}

const triggerOf = (name: string, transactionId: string) => ({
  name,
  transactionId,
  to: { subscriberId: `reader-${transactionId.length}`, email: 'reader@example.com', phone: '+491234567890' },
  payload: {},
})

/** Mails at a steady rate, beside as many triggers of each other workflow. @returns when each was sent */
async function steadily(
  { url, apiKey }: Service,
  { received }: Sink,
  seconds: number,
  tag: string,
  others: string[],
): Promise<Map<string, number>> {
  const load = { url, apiKey, connections: 32 }
  const sentAt = new Map<string, number>()
  const rate = { perSecond: steadyPerSecond, seconds }
  const mails = sendSteadily(load, '/v1/events/trigger', rate, (number) => {
    const id = `${tag}-${number}`
    sentAt.set(id, performance.now())
    return triggerOf('mail', id)
  })
  const rest = others.map((name) =>
    sendSteadily(load, '/v1/events/trigger', rate, (number) => triggerOf(name, `${tag}-${name}-${number}`)),
  )
  await Promise.all([mails, ...rest])
  const deadline = performance.now() + longestMs
  for (const id of sentAt.keys())
    while (!received.has(id)) {
      if (performance.now() > deadline) throw new Error(`${id} was not delivered in time`)
      await sleep(20)
    }
  return sentAt
}

interface Sink extends HttpSink {
  /** When each transaction's delivery arrived. */
  received: Map<string, number>
}

async function startSink(): Promise<Sink> {
  const received = new Map<string, number>()
  const sink = await startHttpSink((text) => {
    const body = JSON.parse(text) as { notificationDetails: { transactionId: string } }
    received.set(body.notificationDetails.transactionId, performance.now())
    return { status: 200, body: '{}' }
  })
  return { ...sink, received }
}

type Manner = 'well' | 'busy' | 'dead'

/** Answers, asks to retry in a second, or accepts every request and never answers. */
async function startVendor() {
  let manner: Manner = 'well'
  let [hanging, answered] = [0, 0]
  const sink = await startHttpSink(() => {
    if (manner === 'busy') return { status: 429, body: '{}', headers: { 'retry-after': '1' } }
    if (manner === 'dead') {
      hanging += 1
      return undefined
    }
    answered += 1
    return { status: 200, body: '{"id":"1"}' }
  })
  const play = (next: Manner) => {
    manner = next
  }
  return { ...sink, play, hanging: () => hanging, answered: () => answered }
}

const mailOf = (number: number) => ({
  notificationDetails: { transactionId: `direct-${number}` },
  html: 'x'.repeat(2_000),
})

const textOf = (number: number) => ({
  to: '+491234567890',
  content: 'Hello',
  sender: '+4912345',
  id: `direct-${number}`,
})

/** The reference: the same requests, sent directly. */
async function post(url: string, count: number, bodyOf: (number: number) => object): Promise<number> {
  const load = { url, apiKey: 'none', connections: 16 }
  return (await sendMany(load, '/', count, bodyOf)).perSecond
}
