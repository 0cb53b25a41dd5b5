// One process that accepts and one to four workers on one PostgreSQL: total rate and cost per trigger. With fewer cores than
// processes, processor time says more than the rate.
import { cpus } from 'node:os'
import { sendMany } from '../harness/load.ts'
import { cpuMs, cpuMsOfAll, postmasterOf } from '../harness/processes.ts'
import { type Joined, joinService, type Service, startService } from '../harness/service.ts'
import { bulkOf, makeWorkflow, perRequest, untilMessages } from '../harness/triggers.ts'
import type { Figure, Options, Outcome, Series } from '../report/figures.ts'

/** Per process, plus six: five processes must fit into the embedded database's hundred connections. */
const settings = { BELFRY_DATABASE_CONNECTIONS: '12' }

export async function benchWorkers({ quick }: Options): Promise<Outcome> {
  const [mostWorkers, count] = quick ? [2, 500] : [4, 20_000]
  const series: Series = []
  for (let workers = 1; workers <= mostWorkers; workers += 1) series.push(await measure(workers, count))
  const [one, ...more] = series
  const rates = more.map(
    (point): Figure => ({
      id: `workers-${point.workers}`,
      name: `triggers to readable in-app messages with ${point.workers} workers`,
      ...{ unit: '/s', ours: point.perSecond ?? Number.NaN, reference: one?.perSecond ?? Number.NaN },
      against: 'with one',
    }),
  )
  const last = series.at(-1)
  const each = (point: Series[number] | undefined) =>
    (point?.serviceMs ?? Number.NaN) + (point?.databaseMs ?? Number.NaN)
  return {
    figures: [
      ...rates,
      {
        id: 'workers-processor',
        name: `processor time for each of them with ${mostWorkers} workers, database included`,
        ...{ unit: 'ms', ours: each(last), reference: each(one), against: 'with one' },
        target: { atMost: 1.5 },
      },
    ],
    notes: { count, perRequest, cores: cpus().length },
    series: { workers: series },
  }
}

async function measure(workers: number, count: number): Promise<Series[number]> {
  const service: Service = await startService({ ...settings, BELFRY_ROLE: 'api' })
  const joined: Joined[] = []
  try {
    await makeWorkflow(service)
    const worker = { ...settings, BELFRY_ROLE: 'worker' }
    joined.push(...(await Promise.all(Array.from({ length: workers }, () => joinService(service, worker)))))
    const postmaster = await postmasterOf(service)
    const load = { url: service.url, apiKey: service.apiKey, connections: 8 }
    const send = async (number: number, before: number) => {
      await sendMany(load, '/v1/events/trigger/bulk', number / perRequest, bulkOf)
      await untilMessages(service, before + number)
    }
    // Each process compiles its own code, and is still at it after 2,000 triggers.
    const warmUps = Math.min(6_000, count / 2) * workers
    await send(warmUps, 0)
    const cpu = () => ({
      ours: [service, ...joined].reduce((sum, { pid }) => sum + cpuMs(pid), 0),
      database: cpuMsOfAll(postmaster),
    })
    const [before, began] = [cpu(), performance.now()]
    await send(count, warmUps)
    const [after, tookMs] = [cpu(), performance.now() - began]
    return {
      ...{ workers, perSecond: count / (tookMs / 1000) },
      serviceMs: (after.ours - before.ours) / count,
      databaseMs: (after.database - before.database) / count,
    }
  } finally {
    await Promise.all(joined.map((worker) => worker.stop()))
    await service.stop()
  }
}
