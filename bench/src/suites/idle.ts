// Memory and processor time of the idle service, without its database.
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMs, residentKb } from '../harness/processes.ts'
import { startService } from '../harness/service.ts'
import { makeWorkflow } from '../harness/triggers.ts'
import type { Options, Outcome } from '../report/figures.ts'

export async function benchIdle({ quick }: Options): Promise<Outcome> {
  const [restSeconds, seconds] = quick ? [0.5, 2] : [10, 60]
  const service = await startService()
  try {
    await makeWorkflow(service)
    await service.send('POST', '/v1/events/trigger', { name: 'bench', to: 'ada', payload: { number: 1 } })
    await sleep(restSeconds * 1000)
    const before = cpuMs(service.pid)
    await sleep(seconds * 1000)
    const share = (cpuMs(service.pid) - before) / (seconds * 10)
    return {
      figures: [
        {
          id: 'idle-memory',
          name: 'memory of the idle service',
          unit: 'MB',
          ours: residentKb(service.pid) / 1024,
          reference: residentKb(process.pid) / 1024,
          against: 'this benchmark, which does nothing',
          target: { oursAtMost: 150 },
        },
        {
          id: 'idle-processor',
          name: 'processor time of the idle service',
          unit: '%',
          ours: share,
          reference: 1,
          against: 'a hundredth of a core',
          target: { oursAtMost: 1 },
        },
      ],
      notes: { seconds },
    }
  } finally {
    await service.stop()
  }
}
