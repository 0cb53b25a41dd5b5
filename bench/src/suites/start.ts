// The time from `npm start` to healthy, on a machine where it has run before.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../server/test/free-port.ts'
import { keys, makeDataDir, root } from '../harness/service.ts'
import { type Figure, median, type Options, type Outcome } from '../report/figures.ts'

export async function benchStart({ quick }: Options): Promise<Outcome> {
  const repetitions = quick ? 1 : 7
  const dataDir = await makeDataDir()
  try {
    const ours: number[] = []
    const floor: number[] = []
    for (let n = 0; n < repetitions; n += 1) {
      ours.push(await startOnce(dataDir))
      const began = performance.now()
      spawnSync('npm', ['exec', '--', 'node', '-e', ''], { cwd: root })
      floor.push(performance.now() - began)
    }
    const figure: Figure = {
      id: 'start',
      name: 'npm start until healthy, second time',
      unit: 'ms',
      ours: median(ours),
      reference: median(floor),
      against: 'npm running a program that does nothing',
      target: { oursAtMost: 1_500 },
    }
    return { figures: [figure], notes: { repetitions, value: 'median' } }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Milliseconds from the command to the first healthy answer. Stops the service afterwards. */
async function startOnce(dataDir: string): Promise<number> {
  const port = await freePort()
  const began = performance.now()
  const child = spawn('npm', ['start'], {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, ...keys, PORT: String(port), BELFRY_DATA_DIR: dataDir },
  })
  const ended = once(child, 'exit')
  for (;;) {
    const isReady = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
      (reply) => reply.ok,
      () => false,
    )
    if (isReady) break
    if (child.exitCode !== null) throw new Error(`npm start exited with code ${child.exitCode}`)
    await sleep(10)
  }
  const took = performance.now() - began
  child.kill('SIGTERM')
  await ended
  return took
}
