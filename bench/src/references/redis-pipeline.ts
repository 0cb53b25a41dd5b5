// Five BullMQ queues in a row, each job only adding the next. Redis syncs to disk every second, its default.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue, Worker } from 'bullmq'
import { freePort } from '../../../server/test/free-port.ts'

const hops = 5
/** Per queue, as the comparable product sets it. */
const concurrency = 200

const isInstalled = () => spawnSync('redis-server', ['--version']).status === 0

function install(): void {
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) return
  process.stderr.write('  installing redis-server, once\n')
  // Runlevel 1 keeps the package from starting a server, which would take a port of this machine.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  for (const args of [
    ['update', '-q'],
    ['install', '-y', '-q', '--no-install-recommends', 'redis-server'],
  ])
    spawnSync('apt-get', args, { env })
}

interface Pipeline {
  /** @returns jobs per second that passed all queues */
  send(count: number): Promise<number>
  stop(): Promise<void>
}

/** Undefined if Redis is missing and cannot be installed. */
export async function pipeline(): Promise<Pipeline | undefined> {
  if (!isInstalled()) install()
  if (!isInstalled()) {
    process.stderr.write('  redis-server is not installed: no comparison with a pipeline\n')
    return undefined
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'belfry-bench-redis-'))
  const port = await freePort()
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--appendonly', 'yes', '--save', '']
  const server = spawn('redis-server', settings, { stdio: 'ignore' })
  const ended = once(server, 'exit')
  await sleep(500)

  const connection = { host: '127.0.0.1', port }
  const queues = Array.from({ length: hops }, (_, hop) => new Queue(`hop-${hop}`, { connection }))
  const options = { removeOnComplete: true }
  let [arrived, wanted, done] = [0, 0, () => {}]
  const workers = queues.map(
    ({ name }, hop) =>
      new Worker(
        name,
        async ({ data }) => {
          const next = queues[hop + 1]
          if (next) await next.add('job', data, options)
          else {
            arrived += 1
            if (arrived === wanted) done()
          }
        },
        { connection, concurrency },
      ),
  )
  await Promise.all(workers.map((worker) => worker.waitUntilReady()))

  return {
    async send(count) {
      ;[arrived, wanted] = [0, count]
      const finished = new Promise<void>((resolve) => {
        done = resolve
      })
      const began = performance.now()
      let next = 0
      const sender = async () => {
        while (next < count) {
          next += 1
          await queues[0]?.add('job', { number: next, to: 'ada', payload: { text: 'hello' } }, options)
        }
      }
      await Promise.all(Array.from({ length: 128 }, sender))
      await finished
      return count / ((performance.now() - began) / 1000)
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.close()))
      await Promise.all(queues.map((queue) => queue.close()))
      server.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
