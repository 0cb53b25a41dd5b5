// The PostgreSQL under attack: the one Belfry brings along, on a disk of its own that can be full.
import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type EmbeddedPostgres, startEmbedded } from '../../server/src/db/install/embedded.ts'

const password = 'chaos'

export class Database {
  readonly #folder: string
  readonly #filler: string
  #server: EmbeddedPostgres | undefined
  /** Whether its disk is one that only it uses, so that it can be filled. */
  readonly isBounded: boolean
  url = ''

  constructor(folder: string, megabytes: number) {
    this.#folder = folder
    this.#filler = path.join(folder, 'filler')
    this.isBounded = mount(folder, megabytes)
  }

  /** Where it listens. */
  get socket(): string {
    return path.join(new URL(this.url.replace('@/', '@socket/')).searchParams.get('host') ?? '', '.s.PGSQL.5432')
  }

  async start(): Promise<void> {
    const settings = {
      max_connections: '200',
      max_wal_size: '160MB',
      // Soon enough that some are found while the faults are played.
      deadlock_timeout: '200ms',
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        const server = await startEmbedded({ dataDir: this.#folder, password, settings, say: () => undefined })
        this.#server = server
        this.url = server.url
        void server.died.then(() => {
          if (this.#server === server) this.#server = undefined
        })
        return
      } catch (error) {
        // What is left of a server that was killed may take a moment to end.
        if (attempt === 40) throw error
        await sleep(250)
      }
    }
  }

  /** As an operator does it: sessions are ended, everything committed is on the disk. */
  async restart(): Promise<void> {
    await this.#server?.stop()
    this.#server = undefined
    await this.start()
  }

  /** The whole server at once, without a word. */
  async kill(downMs: number): Promise<void> {
    const file = path.join(this.#folder, 'postgres', 'postmaster.pid')
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0
    const server = this.#server
    if (pid) process.kill(pid, 'SIGKILL')
    await server?.died
    await sleep(downMs)
    await this.start()
  }

  /** Nothing more fits. @returns how many bytes it took */
  fill(): number {
    const file = openSync(this.#filler, 'w')
    const block = Buffer.alloc(1 << 20)
    let written = 0
    try {
      for (let size = block.length; size > 0; ) {
        try {
          written += writeSync(file, block, 0, size)
        } catch {
          size = Math.floor(size / 2)
        }
      }
    } finally {
      closeSync(file)
    }
    return written
  }

  async free(): Promise<void> {
    rmSync(this.#filler, { force: true })
    await this.ensureUp()
  }

  /** It may have ended by itself, where it could not even recover for want of space. */
  async ensureUp(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      if (!this.#server) await this.start()
      try {
        await this.query('SELECT 1')
        return
      } catch (error) {
        if (attempt === 240) throw error
        await sleep(250)
      }
    }
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = await this.connect()
    try {
      return (await client.query<Row>(text, values)).rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  async connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: 5_000,
      application_name: 'chaos',
    })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  /** How often its log says so. */
  said(text: string): number {
    const log = path.join(this.#folder, 'postgres.log')
    return existsSync(log) ? readFileSync(log, 'utf8').split(text).length - 1 : 0
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
    this.#server = undefined
    if (this.isBounded) execFileSync('umount', [this.#folder])
  }
}

/** Takes the right to mount; without it the disk is never full. */
function mount(folder: string, megabytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'belfry-chaos', folder], {
      stdio: 'ignore',
    })
    return true
  } catch {
    return false
  }
}
