// Simulations, explanations, impacts and held clocks: how long they take, what a simulated step costs beside a real one, and how
// much triggers suffer while simulations run without a break, or beside many held environments.
import { acceptedBeside } from '../harness/beside.ts'
import { sendMany } from '../harness/load.ts'
import { cpuMs, cpuMsOfAll, postmasterOf } from '../harness/processes.ts'
import { type Service, startService } from '../harness/service.ts'
import { bulkOf, makeWorkflow, newestMessage, perRequest, untilMessages } from '../harness/triggers.ts'
import { median, type Options, type Outcome } from '../report/figures.ts'
import { acceptedBesideHeld, advanceBesideReal, livedMonth } from './held-clocks.ts'

const startAt = '2026-05-01T10:00:00Z'
const days = 30

const collecting = [
  { name: 'Collect', stepId: 'collect', type: 'digest', controlValues: { amount: 1, unit: 'hours' } },
  { name: 'Wait', stepId: 'wait', type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
  {
    ...{ name: 'Mail', stepId: 'mail', type: 'email' },
    controlValues: { subject: '{{steps.collect.eventCount}} events', body: '<p>Hello {{subscriber.firstName}}</p>' },
  },
]

export async function benchSimulating({ quick }: Options): Promise<Outcome> {
  const [rounds, triggers, steps, seconds] = quick ? [2, 100, 500, 1] : [15, 1_000, 10_000, 20]
  const [lives, heldEnvironments, waits, ends] = quick ? [1, 3, 100, 1] : [3, 100, 1_000, 5]
  const besideHeld = await acceptedBesideHeld(heldEnvironments, waits, seconds)
  const service = await startService()
  try {
    const lived = await livedMonth(service, wholeMonth(), lives)
    const advance = await advanceBesideReal(service, 1_000, ends)
    const month = await monthOf(service, rounds)
    const step = await stepCost(service, steps)
    const beside = await acceptedBesideSimulations(service, seconds)
    const explained = await explainBesidePreview(service, rounds)
    const impactMs = await impactOf(service, triggers, rounds)
    return {
      figures: [
        {
          ...{ id: 'simulated-month', unit: 'ms', ours: month, target: { oursAtMost: 1_000 } },
          name: `100 triggers of a digest, delay and email workflow over ${days} simulated days`,
        },
        {
          ...{ id: 'lived-month', unit: 'ms', ours: month, reference: lived, target: { atMost: 0.05 } },
          ...{ name: 'the same 100 triggers, simulated', against: 'lived through by advancing a held clock' },
        },
        {
          ...{ id: 'simulated-step', unit: 'ms', ours: step.simulated, reference: step.real, target: { atMost: 0.5 } },
          name: 'processor time of a simulated in-app step',
          against: 'of the same step in production, database included',
        },
        {
          ...{ id: 'beside-simulations', unit: '/s', ours: beside.busy, reference: beside.alone },
          ...{ target: { atLeast: 0.85 }, against: 'beside none' },
          name: 'triggers accepted while simulations run without a break',
        },
        {
          ...{ id: 'beside-held-clocks', unit: '/s', ours: besideHeld.crowded, reference: besideHeld.alone },
          ...{ target: { atLeast: 0.97 }, against: 'beside none' },
          name: `triggers accepted with ${heldEnvironments} held environments of ${waits} waits each`,
        },
        {
          ...{ id: 'advance', unit: 'ms', ours: advance.advanced, reference: advance.real, target: { atMost: 3 } },
          ...{ name: 'advance over 1,000 waits', against: '1,000 that end at once in an ordinary environment' },
        },
        {
          ...{
            id: 'explain',
            unit: 'ms',
            ours: explained.explain,
            reference: explained.preview,
            target: { atMost: 3 },
          },
          ...{ name: 'explain a workflow of one step to one person', against: 'a preview of the same step' },
        },
        {
          ...{ id: 'impact', name: `impact of a change on ${triggers} triggers`, unit: 'ms', ours: impactMs },
          target: { oursAtMost: 3_000 },
        },
      ],
      notes: {
        rounds,
        triggers,
        steps,
        seconds,
        lives,
        heldEnvironments,
        waits,
        ends,
        value: 'medians; rates over the whole time',
      },
    }
  } finally {
    await service.stop()
  }
}

/** Milliseconds of one call, the median of several, after one that warms up. */
async function timed(rounds: number, work: () => Promise<unknown>): Promise<number> {
  await work()
  const took: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now()
    await work()
    took.push(performance.now() - began)
  }
  return median(took)
}

const triggersOver = (count: number, everyMinutes: number, people = 10) =>
  Array.from({ length: count }, (_, place) => ({
    ...{ type: 'trigger', at: `+${place * everyMinutes}m`, to: `reader-${place % people}`, payload: { number: place } },
  }))

const everyMinutes = Math.floor((days * 24 * 60) / 100)
const wholeMonth = () => ({ steps: collecting, startAt, days, everyMinutes, triggers: triggersOver(100, everyMinutes) })

const monthOf = (service: Service, rounds: number): Promise<number> => {
  const body = {
    ...{ workflow: { draft: { steps: collecting } }, startAt, horizon: `${days + 2}d` },
    subscribers: Array.from({ length: 10 }, (_, place) => ({
      ...{ subscriberId: `reader-${place}`, email: `reader-${place}@example.com` },
    })),
    inputs: triggersOver(100, everyMinutes),
  }
  return timed(rounds, () => service.send('POST', '/v1/simulations', body))
}

/** The same in-app step, simulated and real, after a warm-up of each. */
async function stepCost(service: Service, count: number): Promise<{ simulated: number; real: number }> {
  await makeWorkflow(service)
  const postmaster = await postmasterOf(service)
  const cpu = () => cpuMs(service.pid) + cpuMsOfAll(postmaster)
  const load = { url: service.url, apiKey: service.apiKey, connections: 4 }
  const real = async () => {
    const after = await newestMessage(service)
    await sendMany(load, '/v1/events/trigger/bulk', Math.ceil(count / perRequest), bulkOf)
    await untilMessages(service, Math.ceil(count / perRequest) * perRequest, { after })
  }
  const most = 1_000
  const simulated = async () => {
    for (let done = 0; done < count; done += most) {
      const inputs = triggersOver(Math.min(most, count - done), 1, most)
      await service.send('POST', '/v1/simulations', { workflow: { workflowId: 'bench' }, startAt, inputs })
    }
  }
  const costOf = async (work: () => Promise<unknown>) => {
    await work()
    const before = cpu()
    await work()
    return (cpu() - before) / count
  }
  return { real: await costOf(real), simulated: await costOf(simulated) }
}

const acceptedBesideSimulations = (service: Service, seconds: number) => {
  const body = { workflow: { workflowId: 'bench' }, startAt, inputs: triggersOver(1_000, 1, 1_000) }
  return acceptedBeside(service, seconds, () => service.send('POST', '/v1/simulations', body))
}

async function explainBesidePreview(service: Service, rounds: number): Promise<{ explain: number; preview: number }> {
  const { steps } = await service.send<{ steps: Array<{ stepId: string }> }>('GET', '/v2/workflows/bench')
  const path = `/v2/workflows/bench/step/${steps[0]?.stepId}/preview`
  const preview = () => service.send('POST', path, { previewPayload: { payload: { number: 1 } } })
  const explain = () =>
    service.send('POST', '/v1/explain', { workflowId: 'bench', subscriberId: 'subscriber-1', payload: { number: 1 } })
  return { preview: await timed(rounds * 5, preview), explain: await timed(rounds * 5, explain) }
}

async function impactOf(service: Service, triggers: number, rounds: number): Promise<number> {
  const { name, steps, preferences, origin } = await service.send<{
    name: string
    steps: Array<Record<string, unknown>>
    preferences: unknown
    origin: string
  }>('GET', '/v2/workflows/bench')
  const changed = steps.map((step) => ({ ...step, controlValues: { subject: 'Other', body: 'Hello' } }))
  const draft = { name, active: true, preferences, origin, steps: changed }
  return timed(rounds, () => service.send('POST', '/v2/workflows/bench/impact', { draft, triggers }))
}
