// Memory and processor time of the idle service, by itself and with its database.
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMs, cpuMsOfAll, postmasterOf, residentKb, treeOf } from '../harness/processes.ts'
import { startService } from '../harness/service.ts'
import { makeWorkflow } from '../harness/triggers.ts'
import type { Options, Outcome } from '../report/figures.ts'

export async function benchIdle({ quick }: Options): Promise<Outcome> {
  const [restSeconds, seconds] = quick ? [0.5, 2] : [10, 60]
  const service = await startService()
  try {
    await makeWorkflow(service)
    await service.send('POST', '/v1/events/trigger', { name: 'bench', to: 'ada', payload: { number: 1 } })
    const postmaster = await postmasterOf(service)
    // This program's own connections are none of the service's.
    await service.database.end()
    await sleep(restSeconds * 1000)
    const spent = () => cpuMs(service.pid) + cpuMsOfAll(postmaster)
    const before = spent()
    await sleep(seconds * 1000)
    const share = (spent() - before) / (seconds * 10)
    const tree = treeOf(service.pid)
    return {
      figures: [
        {
          id: 'idle-memory',
          name: 'memory of the idle service',
          unit: 'MB',
          ours: residentKb(service.pid) / 1024,
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
          name: 'processor time of both, idle',
          unit: '%',
          ours: share,
          reference: 1,
          against: 'a hundredth of a core',
          target: { oursAtMost: 0.5 },
        },
      ],
      notes: { seconds },
    }
  } finally {
    await service.stop()
  }
}
