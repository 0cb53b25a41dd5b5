// Definitions in files: a push beside the same requests one by one, the first start of an installed package beside one from a
// clone, and how long the check of a folder takes.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../server/test/free-port.ts'
import { keys, root, type Service, startService } from '../harness/service.ts'
import { type Figure, median, type Options, type Outcome } from '../report/figures.ts'

interface Definition extends Record<string, unknown> {
  workflowId: string
}

export async function benchFiles({ quick }: Options): Promise<Outcome> {
  const [count, rounds] = quick ? [50, 3] : [200, 9]
  const service = await startService()
  let pushes: Awaited<ReturnType<typeof pushBesideRequests>>
  try {
    pushes = await pushBesideRequests(service, count, rounds)
  } finally {
    await service.stop()
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'belfry-bench-files-'))
  try {
    const validate = validateOf(folder, 200, rounds)
    const installed = await firstStartOfPackage(folder)
    // It installs and builds everything, which takes minutes.
    const cloned = quick ? undefined : await firstStartOfClone(folder)
    const start = { unit: 'ms', ours: installed, against: 'npm start in a new clone, until ready' }
    const name = 'belfry-server from an installed package until ready, first start'
    const figures: Figure[] = [
      {
        ...{ id: 'push-unchanged', name: `push of ${count} unchanged workflows`, unit: 'ms', ours: pushes.unchanged },
        ...{ reference: pushes.gets, against: `${count} GETs, one after the other`, target: { atMost: 0.5 } },
      },
      {
        ...{ id: 'push-changed', name: `push of ${count} changed workflows`, unit: 'ms', ours: pushes.changed },
        ...{ reference: pushes.puts, against: `${count} PUTs, one after the other`, target: { atMost: 0.7 } },
      },
      { id: 'package-start', name, unit: 'ms', ours: installed, target: { oursAtMost: 15_000 } },
      ...(cloned === undefined
        ? []
        : [{ ...start, id: 'package-beside-clone', name: 'the same', reference: cloned, target: { atMost: 0.25 } }]),
      {
        ...{ id: 'validate', name: 'belfry validate of 200 workflows', unit: 'ms', ours: validate },
        target: { oursAtMost: 2_000 },
      },
    ]
    return { figures, notes: { count, rounds, value: 'medians; first starts once' } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const definitionOf = (place: number, word: string): Definition => ({
  ...{ workflowId: `order-${place}`, name: `Order ${place}`, active: true, validatePayload: true },
  payloadSchema: { type: 'object', required: ['id'], properties: { id: { type: 'integer' }, who: { type: 'string' } } },
  steps: [
    {
      ...{ stepId: 'mail', name: 'Mail', type: 'email' },
      controlValues: { subject: `${word} {{payload.id}}`, editorType: 'html', body: page(word) },
    },
    { stepId: 'wait', name: 'Wait', type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
    { stepId: 'inbox', name: 'Inbox', type: 'in_app', controlValues: { body: `${word} {{payload.who}}` } },
  ],
})

/** As long as an email usually is. */
const page = (word: string) =>
  `<html><body>${`<p>${word} {{payload.who}}, order {{payload.id}}.</p>\n`.repeat(80)}</body></html>`

async function pushBesideRequests(
  service: Service,
  count: number,
  rounds: number,
): Promise<Record<'unchanged' | 'changed' | 'gets' | 'puts', number>> {
  const definitions = (word: string) => Array.from({ length: count }, (_, place) => definitionOf(place, word))
  const push = (all: Definition[]) =>
    service.send('POST', '/v2/definitions/push', {
      resources: all.map((definition) => ({
        ...{ kind: 'workflow', id: definition.workflowId, base: 'any', definition },
      })),
    })
  const took = { unchanged: [] as number[], changed: [] as number[], gets: [] as number[], puts: [] as number[] }
  const timed = async (name: keyof typeof took, work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    took[name].push(performance.now() - began)
  }
  await push(definitions('Warm'))
  for (let round = 0; round < rounds; round += 1) {
    const words = definitions(`Pushed ${round}`)
    await timed('changed', () => push(words))
    await timed('unchanged', () => push(words))
    await timed('gets', async () => {
      for (const { workflowId } of words) await service.send('GET', `/v2/workflows/${workflowId}`)
    })
    await timed('puts', async () => {
      for (const definition of definitions(`Put ${round}`))
        await service.send('PUT', `/v2/workflows/${definition.workflowId}?upsert=true`, definition)
    })
  }
  const { unchanged, changed, gets, puts } = took
  return { unchanged: median(unchanged), changed: median(changed), gets: median(gets), puts: median(puts) }
}

/** The program itself, in a folder of files. */
function validateOf(folder: string, count: number, rounds: number): number {
  const program = path.join(folder, 'cli')
  execFileSync(process.execPath, [path.join(root, 'cli', 'build.mjs'), program])
  for (let place = 0; place < count; place += 1) {
    const { workflowId, ...definition } = definitionOf(place, 'Checked')
    const own = path.join(folder, 'belfry', 'workflows', workflowId)
    mkdirSync(own, { recursive: true })
    // JSON is YAML too.
    writeFileSync(path.join(own, 'workflow.yaml'), JSON.stringify({ workflowId, ...definition }, null, 2))
  }
  writeFileSync(path.join(folder, 'belfry', 'belfry.yaml'), 'format: 1\n')
  const took: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now()
    execFileSync(process.execPath, [path.join(program, 'belfry.mjs'), 'validate'], { cwd: folder, stdio: 'ignore' })
    took.push(performance.now() - began)
  }
  return median(took)
}

/** The packed server, installed in an empty folder, with the embedded database that its optional packages bring. */
async function firstStartOfPackage(folder: string): Promise<number> {
  const release = path.join(folder, 'release')
  execFileSync(process.execPath, [path.join(root, 'scripts', 'pack.mjs'), release], { stdio: 'ignore' })
  const home = path.join(folder, 'home')
  mkdirSync(home)
  writeFileSync(path.join(home, 'package.json'), '{ "private": true }')
  const packed = readdirSync(release).find((file) => file.startsWith('belfry-server-')) ?? ''
  const options = ['--offline', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', ...options, path.join(release, packed)], { cwd: home, stdio: 'ignore' })
  linkOptional(home)
  return untilReady('npx', ['--no', 'belfry-server'], home, path.join(folder, 'data'))
}

/** Fetching them is no part of the start: those of this checkout serve. */
function linkOptional(home: string): void {
  const { optionalDependencies = {} } = JSON.parse(
    readFileSync(path.join(home, 'node_modules', '@belfry', 'server', 'package.json'), 'utf8'),
  ) as { optionalDependencies?: Record<string, string> }
  for (const name of Object.keys(optionalDependencies)) {
    const [from, to] = [root, home].map((folder) => path.join(folder, 'node_modules', name)) as [string, string]
    if (!existsSync(from) || existsSync(to)) continue
    mkdirSync(path.dirname(to), { recursive: true })
    symlinkSync(from, to)
  }
}

async function firstStartOfClone(folder: string): Promise<number> {
  const clone = path.join(folder, 'clone')
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone])
  return untilReady('npm', ['start'], clone, path.join(folder, 'data-of-clone'))
}

/** Milliseconds from the command to the first healthy answer. Stops the service afterwards. */
async function untilReady(command: string, args: string[], cwd: string, dataDir: string): Promise<number> {
  const port = await freePort()
  const began = performance.now()
  const child = spawn(command, args, {
    cwd,
    stdio: 'ignore',
    // A group of its own: npx does not pass signals on to what it started.
    detached: true,
    env: { ...process.env, ...keys, PORT: String(port), BELFRY_DATA_DIR: dataDir },
  })
  const ended = once(child, 'exit')
  for (;;) {
    const isReady = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
      (reply) => reply.ok,
      () => false,
    )
    if (isReady) break
    if (child.exitCode !== null) throw new Error(`${command} ${args.join(' ')} exited with code ${child.exitCode}`)
    await sleep(20)
  }
  const took = performance.now() - began
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  await ended
  return took
}
