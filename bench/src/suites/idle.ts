// Memory and processor time of the idle service, by itself and with its database.
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMs, cpuMsOfAll, postmasterOf, residentKb, treeOf } from '../harness/processes.ts'
import { startService } from '../harness/service.ts'
import { makeWorkflow } from '../harness/triggers.ts'
import { median, type Options, type Outcome } from '../report/figures.ts'

export async function benchIdle({ quick }: Options): Promise<Outcome> {
  const [restSeconds, seconds, laterMinutes] = quick ? [0.5, 2, 1] : [10, 60, 3]
  const service = await startService()
  try {
    await makeWorkflow(service)
    await service.send('POST', '/v1/events/trigger', { name: 'bench', to: 'ada', payload: { number: 1 } })
    const postmaster = await postmasterOf(service)
    // This program's own connections are none of the service's.
    await service.database.end()
    await sleep(restSeconds * 1000)
    const spent = () => cpuMs(service.pid) + cpuMsOfAll(postmaster)
    const share = async () => {
      const before = spent()
      await sleep(seconds * 1000)
      return (spent() - before) / (seconds * 10)
    }
    // The first minute has what follows a start: V8 collects garbage, connections end, the canary runs for the first time.
    const first = await share()
    const tree = treeOf(service.pid)
    const memoryKb = residentKb(service.pid)
    const later: number[] = []
    while (later.length < laterMinutes) later.push(await share())
    return {
      figures: [
        {
          id: 'idle-memory',
          name: 'memory of the idle service',
          unit: 'MB',
          ours: memoryKb / 1024,
          reference: residentKb(process.pid) / 1024,
          against: 'this benchmark, which does nothing',
          target: { oursAtMost: 120 },
        },
        {
          ...{ id: 'idle-tree', name: 'the same with its database, shared pages counted once', unit: 'MB' },
          ...{ ours: tree.sharedFairlyKb / 1024, target: { oursAtMost: 180 } },
        },
        {
          ...{ id: 'idle-processes', name: 'processes of both', unit: '' },
          ...{ ours: tree.processes, target: { oursAtMost: 20 } },
        },
        {
          id: 'idle-processor',
          name: 'processor time of both, idle, in the first minute',
          unit: '%',
          ours: first,
          reference: 1,
          against: 'a hundredth of a core',
          target: { oursAtMost: 0.5 },
        },
        {
          ...{ id: 'idle-processor-later', name: 'the same in the minutes after it, their median', unit: '%' },
          ...{ ours: median(later), reference: 1, against: 'a hundredth of a core', target: { oursAtMost: 0.5 } },
        },
      ],
      notes: { seconds, laterMinutes },
    }
  } finally {
    await service.stop()
  }
}
