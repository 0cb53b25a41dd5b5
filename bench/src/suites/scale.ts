// One, two and four processes side by side, each doing everything, on a PostgreSQL that is none of theirs: triggers accepted and
// delivered per second, and what each costs. With fewer cores than processes, processor time says more than the rates.
import { cpus } from 'node:os'
import { sendMany } from '../harness/load.ts'
import { cpuMs, cpuMsOfAll, postmasterOf } from '../harness/processes.ts'
import { type Joined, joinService, type Service, startService } from '../harness/service.ts'
import { makeWorkflow, newestMessage, triggerOf, untilMessages } from '../harness/triggers.ts'
import type { Figure, Options, Outcome, Series } from '../report/figures.ts'

/** Per process, plus six: all must fit into a hundred connections. */
const settings = { BELFRY_DATABASE_CONNECTIONS: '12' }
const connections = 128

export async function benchScale({ quick }: Options): Promise<Outcome> {
  const [counts, each] = quick ? [[1, 2], 500] : [[1, 2, 4], 10_000]
  // It holds the database and gets no triggers.
  const holder = await startService({ ...settings, BELFRY_ROLE: 'api' })
  const series: Series = []
  try {
    await makeWorkflow(holder)
    for (const processes of counts) series.push(await measure(holder, processes, each))
  } finally {
    await holder.stop()
  }
  const [one, ...more] = series
  const beside = (point: Series[number], id: string, name: string, unit: string): Figure => ({
    ...{ id: `${id}-${point.processes}`, name: `${name}, ${point.processes} processes`, unit },
    ...{ ours: point[id] ?? Number.NaN, reference: one?.[id] ?? Number.NaN, against: 'one process' },
  })
  return {
    figures: more.flatMap((point) => [
      beside(point, 'accepted', 'triggers accepted', '/s'),
      beside(point, 'delivered', 'triggers to readable in-app messages', '/s'),
      beside(point, 'serviceMs', 'processor time of all processes for each of them', 'ms'),
      beside(point, 'databaseMs', 'processor time of PostgreSQL for each of them', 'ms'),
    ]),
    notes: { each, connections, cores: cpus().length },
    series: { scale: series },
  }
}

async function measure(holder: Service, processes: number, each: number): Promise<Series[number]> {
  const joined: Joined[] = []
  try {
    joined.push(
      ...(await Promise.all(
        Array.from({ length: processes }, () => joinService(holder, { ...settings, BELFRY_ROLE: 'all' })),
      )),
    )
    const postmaster = await postmasterOf(holder)
    const share = Math.ceil(connections / processes)
    const send = async (number: number) => {
      const after = await newestMessage(holder)
      const began = performance.now()
      await Promise.all(
        joined.map(({ url }) =>
          sendMany({ url, apiKey: holder.apiKey, connections: share }, '/v1/events/trigger', number, triggerOf),
        ),
      )
      const acceptedMs = performance.now() - began
      await untilMessages(holder, number * processes, { after })
      return { acceptedMs, deliveredMs: performance.now() - began }
    }
    // Each process compiles its own code, and is still at it after 2,000 triggers.
    await send(Math.min(6_000, each / 2))
    const cpu = () => ({ ours: joined.reduce((sum, { pid }) => sum + cpuMs(pid), 0), database: cpuMsOfAll(postmaster) })
    const before = cpu()
    const { acceptedMs, deliveredMs } = await send(each)
    const after = cpu()
    const count = each * processes
    return {
      processes,
      accepted: count / (acceptedMs / 1000),
      delivered: count / (deliveredMs / 1000),
      serviceMs: (after.ours - before.ours) / count,
      databaseMs: (after.database - before.database) / count,
    }
  } finally {
    await Promise.all(joined.map((process) => process.stop()))
  }
}
