// The service as in production: processes of the built program, restarted whenever one exits.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { packageFolder } from '../../server/src/package-folder.ts'
import { freePort } from '../../server/test/free-port.ts'
import { Link } from './link.ts'

export type Role = 'api' | 'worker' | 'all'

export const secretKey = 'c4'.repeat(32)
export const apiKey = 'chaos-key-0123456789abcdef'
/** The project folder: both server/ and chaos/, which holds the built program, are in it. */
export const root = fileURLToPath(new URL('..', packageFolder))
const program = path.join(root, 'server/dist/bundle/main.js')
/** Generous, for busy machines. */
const longestStartMs = 240_000

export interface Death {
  name: string
  role: Role
  at: number
}

/** One place in the fleet, with its own port and database connection; an exited process is replaced. */
export class Place {
  readonly name: string
  readonly role: Role
  readonly link: Link
  readonly url: string
  readonly #port: number
  readonly #fleet: Fleet
  #child: ChildProcess | undefined
  #isWanted = false
  #downMs = 0
  /** Heap limit in megabytes, if limited. */
  #heap: number | undefined

  constructor(fleet: Fleet, name: string, role: Role, link: Link, port: number) {
    this.name = name
    this.role = role
    this.link = link
    this.#fleet = fleet
    this.#port = port
    this.url = `http://127.0.0.1:${port}`
  }

  start(): void {
    this.#isWanted = true
    if (this.#child) return
    const log = openSync(path.join(this.#fleet.folder, `${this.name}.log`), 'a')
    const child = spawn(
      process.execPath,
      [
        '--enable-source-maps',
        ...(this.#heap === undefined ? [] : [`--max-old-space-size=${this.#heap}`]),
        ...['--import', path.join(root, 'chaos/src/clock.mjs'), program],
      ],
      {
        cwd: root,
        stdio: ['ignore', log, log, 'ipc'],
        env: {
          PATH: process.env.PATH ?? '',
          HOME: process.env.HOME ?? '/',
          PORT: String(this.#port),
          DATABASE_URL: `postgres://belfry:chaos@127.0.0.1:${this.link.port}/belfry`,
          BELFRY_SECRET_KEY: secretKey,
          BELFRY_API_KEY: apiKey,
          BELFRY_ROLE: this.role,
          // Where the providers of the game are.
          BELFRY_ALLOW_PRIVATE_ADDRESSES: 'development',
          BELFRY_LOG: 'warn',
          CHAOS_OFFSET_MS: String(this.#fleet.offsetMs),
        },
      },
    )
    closeSync(log)
    child.on('error', () => undefined)
    this.#child = child
    child.once('exit', () => {
      this.#child = undefined
      this.#fleet.deaths.push({ name: this.name, role: this.role, at: Date.now() })
      void this.#replace()
    })
  }

  async #replace(): Promise<void> {
    const downMs = this.#downMs
    this.#downMs = 0
    await sleep(200 + downMs)
    if (this.#isWanted) this.start()
  }

  /** The replacement starts after `downMs`. */
  kill(downMs = 0): void {
    this.#downMs = downMs
    this.#child?.kill('SIGKILL')
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** For the next process; undefined means no limit. */
  limitMemory(megabytes: number | undefined): void {
    this.#heap = megabytes
  }

  tellTime(offsetMs: number): void {
    if (this.#child?.connected) this.#child.send({ offsetMs }, () => undefined)
  }

  async answers(what: 'ready' | 'live'): Promise<boolean> {
    const reply = await fetch(`${this.url}/health/${what}`, { signal: AbortSignal.timeout(2_000) }).catch(
      () => undefined,
    )
    await reply?.arrayBuffer().catch(() => undefined)
    return reply?.ok === true
  }

  async stop(): Promise<void> {
    this.#isWanted = false
    const child = this.#child
    if (!child) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGCONT')
    child.kill('SIGTERM')
    const patience = setTimeout(() => child.kill('SIGKILL'), 15_000)
    await ended
    clearTimeout(patience)
    this.link.close()
  }
}

export class Fleet {
  readonly folder: string
  readonly places: Place[] = []
  readonly deaths: Death[] = []
  offsetMs = 0
  /** The farthest ahead any clock has been. */
  mostOffsetMs = 0

  constructor(folder: string) {
    this.folder = folder
  }

  async add(name: string, role: Role, socket: string): Promise<void> {
    const link = await new Link(socket).listen()
    this.places.push(new Place(this, name, role, link, await freePort()))
  }

  get takers(): Place[] {
    return this.places.filter(({ role }) => role !== 'worker')
  }

  get workers(): Place[] {
    return this.places.filter(({ role }) => role !== 'api')
  }

  named(name: string): Place {
    const found = this.places.find((place) => place.name === name)
    if (!found) throw new Error(`there is no process ${name}`)
    return found
  }

  start(): void {
    for (const place of this.places) place.start()
  }

  async until(what: 'ready' | 'live'): Promise<void> {
    const deadline = Date.now() + longestStartMs
    for (const place of this.places) {
      while (!(await place.answers(what))) {
        if (Date.now() > deadline) throw new Error(`${place.name} did not become ${what}; its log is in ${this.folder}`)
        await sleep(100)
      }
    }
  }

  /** Sets the clock of all processes, as on one machine. */
  setClock(offsetMs: number): void {
    this.offsetMs = offsetMs
    this.mostOffsetMs = Math.max(this.mostOffsetMs, offsetMs)
    for (const place of this.places) place.tellTime(offsetMs)
  }

  async stop(): Promise<void> {
    await Promise.all(this.places.map((place) => place.stop()))
  }
}
