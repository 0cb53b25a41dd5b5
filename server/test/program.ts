// Runs the built program as an operator does: as a process, with settings from the environment.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, vi } from 'vitest'
import { isAlive } from '../src/db/install/processes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Ending {
  code: number | null
  output: string
}

/** One process of the program. */
export class Run {
  readonly url: string
  readonly ended: Promise<Ending>
  /** Everything printed so far. */
  output = ''
  readonly #child: ChildProcess
  #told: string | undefined

  constructor(env: Record<string, string>, args: string[] = [], node = process.execPath) {
    this.url = `http://127.0.0.1:${env.PORT}`
    const { PATH = '', HOME = '/' } = process.env
    this.#child = spawn(node, [path.join(root, 'server/dist/bundle/main.js'), ...args], {
      cwd: root,
      env: { PATH, HOME, ...env },
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    this.ended = new Promise((resolve) => this.#child.once('close', (code) => resolve({ code, output: this.output })))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Waits until the program has printed this text. */
  async says(text: string): Promise<void> {
    let isOver = false
    void this.ended.then(() => {
      isOver = true
    })
    while (!this.output.includes(text)) {
      if (isOver) throw new Error(`The program exited without printing "${text}":\n${this.output}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Waits until the program says that it is ready. */
  async ready(): Promise<this> {
    await this.says('Belfry is ready at')
    await this.says('\n\n')
    return this
  }

  /** The file with the keys and the link, which a first start names instead of printing them. */
  get file(): string | undefined {
    return /^ {4}(\/\S+first-start\.txt)$/m.exec(this.output)?.[1]
  }

  /** What the operator reads: everything printed, and that file. */
  get told(): string {
    if (this.file !== undefined) this.#told ??= readFileSync(this.file, 'utf8')
    return this.output + (this.#told ?? '')
  }

  get keys(): string[] {
    return [...this.told.matchAll(/^ {4}(?:Development|Production) +(\S+)$/gm)].map(([, key]) => key ?? '')
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  async stop(): Promise<Ending> {
    this.signal('SIGTERM')
    return this.ended
  }
}

let isBuilt = false

/** Once in each worker: to find out whether anything is stale reads all sources. */
export function build(): void {
  if (!isBuilt) execFileSync(process.execPath, [path.join(root, 'scripts/setup.mjs'), 'start'])
  isBuilt = true
}

/** Starts programs and makes data folders; whatever is left of them is stopped and removed after each test, or after all. */
export function usePrograms({ until = 'after each' }: { until?: 'after each' | 'after all' } = {}) {
  const runs: Run[] = []
  const folders: string[] = []

  // Builds the server if it is stale; busy machines need time for it.
  beforeAll(build, 300_000)

  const atTheEnd = until === 'after each' ? afterEach : afterAll
  atTheEnd(async () => {
    for (const run of runs.splice(0)) {
      run.signal('SIGKILL')
      await run.ended
    }
    for (const folder of folders.splice(0)) {
      const pid = databasePid(folder)
      if (pid) await vi.waitUntil(() => !isAlive(pid), { timeout: 20_000 })
      for (const place of [sheltered(folder), folder]) if (place) rmSync(place, { recursive: true, force: true })
    }
  })

  return {
    start(env: Record<string, string>, { node = process.execPath } = {}): Run {
      const run = new Run(env, [], node)
      runs.push(run)
      return run
    },

    /** Runs a command instead of the service. */
    command(args: string[], env: Record<string, string>): Run {
      const run = new Run(env, args)
      runs.push(run)
      return run
    },

    /** An empty folder that the database's user can enter. */
    folder(): string {
      const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'belfry-start-')))
      chmodSync(folder, 0o755)
      folders.push(folder)
      return folder
    },
  }
}

/** Where the database is if its user cannot enter the data folder. */
function sheltered(dataDir: string): string | undefined {
  const cluster = path.join(dataDir, 'postgres')
  if (!existsSync(cluster)) return undefined
  const place = path.dirname(realpathSync(cluster))
  return place.startsWith('/var/lib/belfry/') ? place : undefined
}

/** The database server's pid from its pid file; undefined once it has shut down. */
export function databasePid(dataDir: string): number | undefined {
  const file = path.join(dataDir, 'postgres', 'postmaster.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
}

/** The guard shells of the database: its parent, and the parent's other children. */
export function guardPids(dataDir: string): number[] {
  const database = databasePid(dataDir) ?? 0
  const parents = parentsByPid()
  const guard = parents.get(database) ?? 0
  return [guard, ...[...parents].filter(([pid, parent]) => parent === guard && pid !== database).map(([pid]) => pid)]
}

function parentsByPid(): Map<number, number> {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
    return new Map(lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]))
  }
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // Ended in the meantime.
    }
  }
  return parents
}

export function databaseLog(dataDir: string): string {
  return readFileSync(path.join(dataDir, 'postgres.log'), 'utf8')
}

/** A request with an API key. @returns its status and body */
export async function ask(url: string, key: string, body?: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { Authorization: `ApiKey ${key}`, 'Content-Type': 'application/json', Connection: 'close' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, body: isJson ? JSON.parse(text) : text }
}
