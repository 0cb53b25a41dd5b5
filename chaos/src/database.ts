// The PostgreSQL under attack: Belfry's embedded one, on a small disk of its own that can fill up.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type EmbeddedPostgres, startEmbedded } from '../../server/src/db/install/embedded.ts'
import { SmallDisk } from '../../server/test/small-disk.ts'

const password = 'chaos'

export class Database {
  readonly #folder: string
  /** Undefined if mounting is not permitted: then the disk never fills up. */
  readonly #disk: SmallDisk | undefined
  #server: EmbeddedPostgres | undefined
  url = ''

  constructor(folder: string, megabytes: number) {
    this.#folder = folder
    this.#disk = SmallDisk.mount(folder, megabytes)
  }

  /** Whether it has its own disk, which can be filled. */
  get isBounded(): boolean {
    return this.#disk !== undefined
  }

  /** The folder of its Unix socket. */
  get socket(): string {
    return path.join(new URL(this.url.replace('@/', '@socket/')).searchParams.get('host') ?? '', '.s.PGSQL.5432')
  }

  async start(): Promise<void> {
    const settings = {
      max_connections: '200',
      max_wal_size: '160MB',
      // Short, so that deadlocks are detected while faults are played.
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
        // The remains of a killed server may take a moment to exit.
        if (attempt === 40) throw error
        await sleep(250)
      }
    }
  }

  /** As an operator does it: sessions end, and everything committed is on disk. */
  async restart(): Promise<void> {
    await this.#server?.stop()
    this.#server = undefined
    await this.start()
  }

  /** Kills the whole server at once, again and again for this long. It comes back by itself. */
  async kill(downMs: number): Promise<void> {
    const file = path.join(this.#folder, 'postgres', 'postmaster.pid')
    for (const began = Date.now(); ; await sleep(500)) {
      const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0
      try {
        if (pid) process.kill(pid, 'SIGKILL')
      } catch {
        // It has gone already.
      }
      if (Date.now() - began > downMs) break
    }
    await this.ensureUp()
  }

  /** Fills the disk. @returns the bytes it took */
  fill(): number {
    return this.#disk?.fill() ?? 0
  }

  async free(): Promise<void> {
    this.#disk?.free()
    await this.ensureUp()
  }

  /** PostgreSQL may have exited by itself if it had no space to recover. */
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

  /** How many times its log contains the text. */
  said(text: string): number {
    const log = path.join(this.#folder, 'postgres.log')
    return existsSync(log) ? readFileSync(log, 'utf8').split(text).length - 1 : 0
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
    this.#server = undefined
    this.#disk?.unmount()
  }
}
