// What the service takes while nobody asks anything of it, its database not counted.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Figure } from './figures.ts'
import { startService } from './service.ts'
import { makeWorkflow } from './triggers.ts'

export async function benchIdle({
  quick,
}: {
  quick: boolean
}): Promise<{ figures: Figure[]; notes: Record<string, unknown> }> {
  const seconds = quick ? 15 : 60
  const service = await startService()
  try {
    await makeWorkflow(service)
    await service.send('POST', '/v1/events/trigger', { name: 'bench', to: 'ada', payload: { number: 1 } })
    await sleep(10_000)
    const before = cpuMs(service.pid)
    await sleep(seconds * 1000)
    const share = (cpuMs(service.pid) - before) / (seconds * 10)
    return {
      figures: [
        {
          name: 'memory of the idle service',
          unit: 'MB',
          ours: residentMb(service.pid),
          reference: residentMb(process.pid),
          against: 'this benchmark, which does nothing',
          target: { oursAtMost: 150 },
        },
        {
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

function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const residentMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024
