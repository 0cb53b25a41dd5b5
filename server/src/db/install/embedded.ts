// The PostgreSQL that comes with Belfry: its cluster is in the data folder, it listens on a Unix socket, and stops with Belfry.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import type { Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { StartError } from '../../errors.ts'
import { writeWhole } from './data-dir.ts'
import { makePrivateFolder, type Owner, placesFor } from './embedded-places.ts'
import { hasArgument, isAlive } from './processes.ts'

const run = promisify(execFile)
const user = 'belfry'
const database = 'belfry'
const largestLog = 10_000_000
/** For a server that does not open its socket. Recovery after a crash may take longer. */
const longestStartMs = 60_000
/** How often to restart a server that stopped because its disk was full. */
const fullDiskRetryMs = 2_000
/** A server that stops this often, without staying up for a minute, is given up: no restart cures it. */
const mostRestarts = 8
const stableMs = 60_000
const longestPauseMs = 2_000
/** Rollbacks and the final checkpoint can take a while. */
const longestStopMs = 60_000

export interface EmbeddedPostgres {
  url: string
  /**
   * A server that stops by itself is restarted, until it stops again and again: then this resolves. It stays pending after
   * `stop`.
   */
  died: Promise<Error>
  /** A fast shutdown: open transactions are rolled back, everything committed is on disk when this returns. */
  stop(): Promise<void>
}

interface Options {
  dataDir: string
  password: string
  settings?: Record<string, string>
  say: (line: string) => void
  /** Told why the server stopped, when it is about to be restarted. */
  onRestart?: (reason: string) => void
}

/** Waits until the server takes connections. */
export const startEmbedded = async (options: Options): Promise<EmbeddedPostgres> => (await beginEmbedded(options)).ready

/** Starts the server. Until it is `ready`, there is time to do something else. */
export async function beginEmbedded(options: Options): Promise<{ url: string; ready: Promise<EmbeddedPostgres> }> {
  const { password, settings, say, onRestart = () => undefined, ...given } = options
  const dataDir = realpathSync(given.dataDir)
  const { bin, cluster, socketDir, owner } = placesFor(dataDir, say)
  await stopLeftover(cluster, say)
  if (!existsSync(path.join(cluster, 'PG_VERSION'))) {
    say('creating the database')
    await createCluster(bin, cluster, owner, password)
  }
  const logFile = path.join(dataDir, 'postgres.log')
  const choices = Object.entries({ ...serverSettings(socketDir), ...settings }).map(
    ([name, value]) => `${name}=${value}`,
  )
  const command = [path.join(bin, 'postgres'), '-D', cluster, ...choices.flatMap((choice) => ['-c', choice])]
  const begin = () => new GuardedServer(command, owner, logFile)
  const url = (name: string) => `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(socketDir)}`
  const ready = async (): Promise<EmbeddedPostgres> => {
    const server = begin()
    try {
      await untilReady(url('postgres'), server, say)
      await ensureDatabase(url('postgres'))
      writeWhole(path.join(dataDir, 'database-url'), `${url(database)}\n`)
    } catch (error) {
      await server.stop()
      throw error
    }
    return keep(server, { url: url(database), begin, cluster, socketDir, onRestart })
  }
  return { url: url(database), ready: ready() }
}

interface Kept {
  url: string
  begin(): GuardedServer
  cluster: string
  socketDir: string
  onRestart(reason: string): void
}

function keep(first: GuardedServer, { url, begin, cluster, socketDir, onRestart }: Kept): EmbeddedPostgres {
  let server = first
  const stopping = new AbortController()
  /** Restarts a server that was killed, or whose disk was full, once there is space again. Until then, requests get 503. */
  const watch = async (): Promise<Error> => {
    for (let restarts = 0; ; ) {
      const since = performance.now()
      const error = await server.died
      const isDiskFull = server.lackedRoom() || isFull(cluster)
      if (!isDiskFull) {
        restarts = performance.now() - since > stableMs ? 1 : restarts + 1
        if (restarts > mostRestarts) return error
        onRestart(error.message)
      }
      const pauseMs = isDiskFull ? fullDiskRetryMs : Math.min(longestPauseMs, 25 * 2 ** restarts)
      await sleep(pauseMs, undefined, { signal: stopping.signal })
      // Its guard may have been killed, and not the server itself.
      await stopLeftover(cluster, () => undefined)
      if (!stopping.signal.aborted) server = begin()
    }
  }
  return {
    url,
    died: new Promise((resolve) => {
      watch().then(resolve, () => undefined)
    }),
    async stop() {
      stopping.abort()
      await server.stop()
      // In /tmp, nothing else would show what the folder is for.
      if (path.dirname(socketDir) !== path.dirname(cluster)) rmSync(socketDir, { recursive: true, force: true })
    },
  }
}

function serverSettings(socketDir: string): Record<string, string> {
  return {
    listen_addresses: '',
    unix_socket_directories: socketDir,
    unix_socket_permissions: '0700',
    port: '5432',
    max_connections: '100',
    // After a crash, the log since a checkpoint is replayed: at most this much of it. Once tables have grown, a megabyte takes
    // 6.5 ms of a core with these buffers, and 13 with half of them. Buffers that were never used take no memory.
    max_wal_size: '1GB',
    // A new file of the log is not filled with zeros first: 16 MB, for which all commits wait. Beside 1,000 mails a second that
    // was 100 ms every three seconds. A single commit takes no longer.
    wal_init_zero: 'off',
    shared_buffers: '256MB',
    checkpoint_warning: '0',
    // Four processes fewer: what we read is in memory, and nobody replicates from here.
    io_method: 'sync',
    max_logical_replication_workers: '0',
    // JIT compilation takes longer than our short statements.
    jit: 'off',
    random_page_cost: '1.1',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
  }
}

// Runs PostgreSQL, and requests a fast shutdown when standard input closes, which happens however Belfry dies. It ignores
// signals to the process group, so that it does not stop before Belfry.
const guard = `
  trap '' INT TERM HUP
  exec 3<&0
  "$@" </dev/null 3<&- & server=$!
  ( read -r _ <&3; kill -INT $server ) & reader=$!
  wait $server; status=$?
  kill -KILL $reader 2>/dev/null
  exit $status`

/** A server process with its guard. */
class GuardedServer {
  readonly logFile: string
  readonly died: Promise<Error>
  /** Why the server stopped, once it has. */
  end: string | undefined
  readonly #guard: ChildProcess
  readonly #ended: Promise<string>
  #stopping = false

  constructor(command: string[], owner: Owner, logFile: string) {
    this.logFile = logFile
    if (existsSync(logFile) && statSync(logFile).size > largestLog) rmSync(logFile)
    const log = openSync(logFile, 'a', 0o600)
    // Its own session: Ctrl-C in a terminal reaches only Belfry, which stops the database last.
    this.#guard = spawn('sh', ['-c', guard, 'belfry-postgres', ...command], {
      stdio: ['pipe', log, log],
      detached: true,
      cwd: '/',
      ...owner,
    })
    closeSync(log)
    this.#ended = new Promise((resolve) => {
      this.#guard.once('exit', (code, signal) => resolve(signal ?? `code ${code}`))
      this.#guard.once('error', (error) => resolve(error.message))
    })
    this.died = new Promise((resolve) => {
      void this.#ended.then((end) => {
        this.end = end
        if (!this.#stopping)
          resolve(new StartError(`The embedded PostgreSQL stopped unexpectedly (${end}). ${this.logTail()}`))
      })
    })
    // Neither keeps this process alive; when it exits, the guard's input closes.
    this.#guard.unref()
    const input = this.#guard.stdin as Socket | null
    input?.unref()
    // Closing the input of a guard that has exited is not an error.
    input?.on('error', () => undefined)
  }

  async stop(): Promise<void> {
    this.#stopping = true
    this.#guard.stdin?.end()
    const patience = setTimeout(() => this.#guard.kill('SIGKILL'), longestStopMs)
    await this.#ended
    clearTimeout(patience)
  }

  logTail(): string {
    return `Its log, ${this.logFile}, ends:\n${this.#lastLines(8).join('\n')}`
  }

  /** Whether its log says that the disk was full; on a full disk it may not have been able to write that. */
  lackedRoom(): boolean {
    return this.#lastLines(30).some((line) => line.includes('No space left on device'))
  }

  #lastLines(count: number): string[] {
    return existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-count) : []
  }
}

/** PostgreSQL allocates its write-ahead log in files of 16 MB. */
const leastRoom = 32 * 1024 * 1024

function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize < leastRoom
}

async function createCluster(bin: string, cluster: string, owner: Owner, password: string): Promise<void> {
  // Created in a draft folder and moved into place when complete. An interrupted start leaves its own draft behind, in which
  // initdb may still be running.
  const home = path.dirname(cluster)
  for (const file of readdirSync(home).filter((name) => name.startsWith('draft-')))
    rmSync(path.join(home, file), { recursive: true, force: true, maxRetries: 20 })
  const draft = path.join(home, `draft-${process.pid}`)
  makePrivateFolder(draft, owner)
  const passwordFile = `${draft}.pw`
  writeWhole(passwordFile, password)
  if (owner) chownSync(passwordFile, owner.uid, owner.gid)
  // Many rounds of hashing protect short passwords. Ours is random, and 4,096 rounds cost each connection 30 ms of a core.
  const rounds = ['--set', 'scram_iterations=1']
  const access = ['-U', user, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, ...rounds]
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--locale=C', '--builtin-locale=C.UTF-8']
  try {
    await run(path.join(bin, 'initdb'), ['-D', draft, ...access, ...locale], { cwd: '/', ...owner })
  } catch (cause) {
    throw new StartError('The embedded PostgreSQL could not create its database.', { cause })
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(draft, cluster)
}

/** Stops a server left over from a dead Belfry, and removes a pid file that now names another program. */
async function stopLeftover(cluster: string, say: Options['say']): Promise<void> {
  const pidFile = path.join(cluster, 'postmaster.pid')
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  // PostgreSQL cleans up after a dead server itself, except in these two cases.
  if (!pid || (isAlive(pid) && !hasArgument(pid, cluster))) rmSync(pidFile, { force: true })
  if (!pid || !hasArgument(pid, cluster)) return
  say(`stopping the database that an earlier Belfry left running (pid ${pid})`)
  for (const [signal, timeoutMs] of [
    ['SIGINT', 20_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    if (isAlive(pid)) process.kill(pid, signal)
    for (const deadline = Date.now() + timeoutMs; isAlive(pid) && Date.now() < deadline; ) await sleep(20)
  }
  if (isAlive(pid))
    throw new StartError(`The database of an earlier Belfry (pid ${pid}) does not stop; stop it, then start again.`)
}

async function untilReady(url: string, server: GuardedServer, say: Options['say']): Promise<void> {
  const began = Date.now()
  // Each question costs PostgreSQL a process, and processor time that a recovery could use.
  for (let isRecovering = false; ; await sleep(isRecovering ? 100 : 20)) {
    const refusal = await refusalOf(url)
    if (!refusal) return
    const waitedMs = Date.now() - began
    if (server.end !== undefined || (!isRecovering && waitedMs > longestStartMs))
      throw new StartError(`The embedded PostgreSQL did not start. ${server.logTail()}`, { cause: refusal })
    const code = refusal instanceof pg.DatabaseError ? (refusal.code ?? '') : ''
    if (code.startsWith('28')) {
      throw new StartError(
        'The embedded PostgreSQL does not accept the password in secrets.json; restore that file from a backup.',
        { cause: refusal },
      )
    }
    if (code === '57P03' && !isRecovering && waitedMs > 1_000) {
      say('the database was not shut down properly and is being recovered')
      isRecovering = true
    }
  }
}

async function refusalOf(url: string): Promise<Error | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  try {
    await client.connect()
    return undefined
  } catch (error) {
    return error as Error
  } finally {
    await client.end()
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${database}`)
  } finally {
    await client.end()
  }
}
