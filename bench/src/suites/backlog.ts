// A fleet with a backlog at a provider that refuses, answers 500 or hangs: how much single in-app triggers beside it are slowed.
import { startHttpSink } from '../harness/http-sink.ts'
import { sendMany } from '../harness/load.ts'
import { joinService, type Service, startService } from '../harness/service.ts'
import { timesToMessage } from '../harness/time-to-message.ts'
import { makeWorkflow, perRequest } from '../harness/triggers.ts'
import { type Figure, median, type Options, type Outcome, percentile } from '../report/figures.ts'

const workers = 3
const perSecond = 20
/** On a shared machine, a short stall spoils one stretch but not the median. */
const stretchSeconds = 10
const settings = { BELFRY_DATABASE_CONNECTIONS: '12' }

const manners = ['refuses', 'answers 500', 'hangs'] as const
type Manner = (typeof manners)[number]

export async function benchBacklog({ quick }: Options): Promise<Outcome> {
  const [count, stretches] = quick ? [300, 1] : [3_000, 5]
  let manner: Manner = 'refuses'
  let asked = 0
  const vendor = await startHttpSink(() => {
    asked += 1
    if (manner === 'hangs') return undefined
    return { status: manner === 'refuses' ? 400 : 500, body: '{}' }
  })
  const service = await startService({ ...settings, BELFRY_ROLE: 'api' })
  const joined: Array<Awaited<ReturnType<typeof joinService>>> = []
  try {
    await prepare(service, vendor.url)
    const worker = { ...settings, BELFRY_ROLE: 'worker' }
    joined.push(...(await Promise.all(Array.from({ length: workers }, () => joinService(service, worker)))))
    const p99s = async (tag: string) => {
      const found: number[] = []
      for (let stretch = 0; stretch < stretches; stretch += 1)
        found.push(
          percentile(
            await timesToMessage(service, {
              ...{ perSecond, seconds: quick ? 1 : stretchSeconds },
              tag: `${tag.replace(' ', '-')}-${stretch}`,
            }),
            0.99,
          ),
        )
      return found
    }
    await p99s('warm-up')
    const alone = await p99s('alone')
    const beside: Partial<Record<Manner, number[]>> = {}
    for (const each of manners) {
      manner = each
      await sendBacklog(service, count, each)
      beside[each] = await p99s(each)
    }
    return {
      figures: manners.map(
        (each): Figure => ({
          id: `beside-${each.replace(' ', '-')}-p99`,
          name: `p99 from request to message beside ${count.toLocaleString('en')} messages to a provider that ${each}`,
          unit: 'ms',
          ours: median(beside[each] ?? []),
          reference: median(alone),
          against: 'with nothing beside them',
          target: { atMost: 1.5 },
        }),
      ),
      notes: { count, workers, perSecond, asked, p99OfStretchesMs: { alone, ...beside } },
    }
  } finally {
    // Stop the vendor first: the service would wait for its hanging requests.
    vendor.stop()
    await Promise.all(joined.map((each) => each.stop()))
    await service.stop()
  }
}

async function prepare(service: Service, vendorUrl: string): Promise<void> {
  await makeWorkflow(service)
  const credentials = { baseUrl: vendorUrl, apiKeyRequestHeader: 'x-key', apiKey: 'key', from: '+4912345' }
  const integration = { providerId: 'generic-sms', channel: 'sms', credentials, active: true, check: false }
  const { _id } = await service.send<{ _id: string }>('POST', '/v1/integrations', integration)
  await service.send('POST', `/v1/integrations/${_id}/set-primary`)
  const steps = [{ name: 'Text', type: 'sms', controlValues: { body: 'Hello' } }]
  await service.send('POST', '/v2/workflows', { name: 'Text', workflowId: 'text', active: true, steps })
}

async function sendBacklog({ url, apiKey }: Service, count: number, tag: string): Promise<void> {
  const load = { url, apiKey, connections: 4 }
  await sendMany(load, '/v1/events/trigger/bulk', count / perRequest, (request) => ({
    events: Array.from({ length: perRequest }, (_, place) => ({
      name: 'text',
      transactionId: `backlog-${tag}-${request}-${place}`,
      to: { subscriberId: `reader-${place}`, phone: '+491234567890' },
    })),
  }))
}
