// Starts the built service as a user would, in its own folder, and gives access to its API and database.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { Client } from 'undici'
import { packageFolder } from '../../../server/src/package-folder.ts'
import { freePort } from '../../../server/test/free-port.ts'

/** The project folder: both server/ and bench/, which holds the built benchmarks, are in it. */
export const root = fileURLToPath(new URL('..', packageFolder))
const programIn = (folder: string) => path.join(folder, 'server/dist/bundle/main.js')
/** The Node flags of `npm start`. */
export const flags = (
  JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
).scripts.start
  .split(' ')
  .filter((word) => word.startsWith('--'))
const apiKey = 'bench-key-0123456789abcdef'
export const secretKey = 'be'.repeat(32)
/** Whoever takes part in a measurement is on this machine. */
const allHere = { BELFRY_MAX_SOCKETS_PER_ADDRESS: '10000', BELFRY_ALLOW_PRIVATE_ADDRESSES: 'development' }
export const keys = { BELFRY_API_KEY: apiKey, BELFRY_SECRET_KEY: secretKey }
/** Generous, for busy machines. */
const longestStartMs = 180_000

/** The PostgreSQL version of the last start, for the description of the machine. */
export const seen: { postgres?: string } = {}

export interface Service {
  url: string
  apiKey: string
  databaseUrl: string
  /** The folder with its database and secrets. */
  dataDir: string
  pid: number
  database: pg.Pool
  environmentId: string
  /** Sends one request and returns its body; throws unless it succeeds. */
  send<Answer = unknown>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<Answer>
  stop(): Promise<void>
}

/** @param folder the project folder of another version */
export async function startService(settings: Record<string, string> = {}, folder = root): Promise<Service> {
  const dataDir = await makeDataDir(folder)
  const { port, child, ended } = await startProcess({ BELFRY_DATA_DIR: dataDir, ...settings }, folder).catch(
    (error: unknown) => {
      rmSync(dataDir, { recursive: true, force: true })
      throw error
    },
  )

  const databaseUrl = readFileSync(path.join(dataDir, 'database-url'), 'utf8').trim()
  const database = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  // The next query reports the error; a connection lost in between must not stop the other suites.
  database.on('error', () => undefined)
  const { rows } = await database.query<{ id: string }>("SELECT id FROM environments WHERE name = 'Development'")
  const version = await database.query<{ server_version: string }>('SHOW server_version')
  if (version.rows[0]) seen.postgres = version.rows[0].server_version
  const client = new Client(`http://127.0.0.1:${port}`)
  return {
    ...{ url: `http://127.0.0.1:${port}`, apiKey, databaseUrl, dataDir, pid: child.pid ?? 0, database },
    environmentId: rows[0]?.id ?? '',
    async send<Answer>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', target: string, body?: unknown) {
      const reply = await client.request({
        method,
        path: target,
        headers: {
          authorization: `ApiKey ${apiKey}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await reply.body.text()
      if (reply.statusCode >= 300) throw new Error(`${method} ${target}: ${reply.statusCode} ${text}`)
      return JSON.parse(text) as Answer
    },
    async stop() {
      await client.close()
      if (!database.ended) await database.end()
      child.kill('SIGTERM')
      await ended
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

const templates = new Map<string, Promise<string>>()

/** A copy of a data folder made by one first start: copying is faster, and a full run needs many. */
export async function makeDataDir(folder = root): Promise<string> {
  const template = templates.get(folder) ?? makeTemplate(folder)
  templates.set(folder, template)
  const dataDir = makeFolder()
  // Keep the owners: when run as root, the database files belong to another user.
  execFileSync('cp', ['-a', `${await template}/.`, dataDir])
  return dataDir
}

async function makeTemplate(folder: string): Promise<string> {
  const dataDir = makeFolder()
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
  const { child, ended } = await startProcess({ BELFRY_DATA_DIR: dataDir }, folder)
  child.kill('SIGTERM')
  await ended
  return dataDir
}

function makeFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'belfry-bench-'))
  chmodSync(folder, 0o755)
  return folder
}

export interface Joined {
  url: string
  pid: number
  stop(): Promise<void>
}

/** Starts another process on the same database. */
export async function joinService({ databaseUrl }: Service, settings: Record<string, string>): Promise<Joined> {
  const { port, child, ended } = await startProcess({
    DATABASE_URL: databaseUrl,
    // No load balancer has to notice the stop.
    BELFRY_DRAIN_SECONDS: '0',
    ...settings,
  })
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function startProcess(settings: Record<string, string>, folder = root) {
  const port = await freePort()
  const child = spawn(process.execPath, [...flags, programIn(folder)], {
    env: { ...process.env, PORT: String(port), ...keys, BELFRY_LOG: 'warn', ...allHere, ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  try {
    await untilReady(`http://127.0.0.1:${port}/health/ready`, child)
  } catch (error) {
    child.kill('SIGTERM')
    await ended
    throw error
  }
  return { port, child, ended }
}

export async function untilReady(url: string, child: { exitCode: number | null }): Promise<void> {
  const deadline = Date.now() + longestStartMs
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the service exited with code ${child.exitCode} before it was ready`)
    const isReady = await fetch(url).then(
      (reply) => reply.ok,
      () => false,
    )
    if (isReady) return
    if (Date.now() > deadline) throw new Error(`the service was not ready after ${longestStartMs / 1000} s`)
    await sleep(50)
  }
}
