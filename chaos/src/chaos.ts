// One chaos run: starts everything, plays the plan, waits until it settles, and checks the account.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Account, account } from './account.ts'
import { type Books, leftIn } from './books.ts'
import { ask, Client } from './client.ts'
import { Database } from './database.ts'
import { type Played, play, type World } from './faults.ts'
import { type FaultKind, faultKinds, type Plan } from './plan.ts'
import { Fleet, type Role } from './processes.ts'
import { Provider } from './provider.ts'
import { Refusals } from './refusals.ts'
import { Reports } from './reports.ts'
import { prepare, type Send, type Setting } from './workflows.ts'

export interface ChaosOptions {
  plan: Plan
  /** The processes of the service. */
  roles: Role[]
  /** How long it may take until no work is left. */
  settleMs: number
  /** Size of the database's own disk. */
  megabytes: number
  say(line: string): void
}

export interface Outcome {
  account: Account
  /** How many times each fault was played, and how many times its moment did not come. */
  faults: Record<FaultKind, { done: number; missed: number }>
  settledInMs: number | undefined
  statuses: Map<number, number>
  manners: Provider['manners']
  deaths: number
  /** Errors counted in PostgreSQL's log. */
  logged: Record<string, number>
}

const hourMs = 3_600_000
/** While it settles, the clocks are moved on this often. */
const moveEveryMs = 15_000
/**
 * A wait that ends this long after its time, with workers alive, is late. Twice the interval of the check, plus a restart.
 */
const lateMs = 240_000

const openTransactions = `
  SELECT pid, state, extract(epoch FROM now() - xact_start)::int AS seconds, pg_blocking_pids(pid) AS behind, left(query, 80) AS query
  FROM pg_stat_activity WHERE now() - xact_start > interval '60 s' AND backend_type = 'client backend'`

export class Chaos {
  readonly #options: ChaosOptions
  readonly #folder: string
  readonly #world: World
  readonly #late = new Map<string, number>()
  readonly #played = Object.fromEntries(faultKinds.map((kind) => [kind, { done: 0, missed: 0 }])) as Outcome['faults']
  #setting: Setting | undefined
  #client: Client | undefined
  #reports: Reports | undefined
  #refusals: Refusals | undefined
  #settledInMs: number | undefined

  constructor(options: ChaosOptions) {
    this.#options = options
    this.#folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'belfry-chaos-')))
    chmodSync(this.#folder, 0o755)
    const disk = mkdtempSync(path.join(this.#folder, 'disk-'))
    chmodSync(disk, 0o755)
    this.#world = {
      fleet: new Fleet(this.#folder),
      database: new Database(disk, options.megabytes),
      provider: new Provider(options.plan.seed),
    }
  }

  get database(): Database {
    return this.#world.database
  }

  async start(): Promise<void> {
    const { fleet, database, provider } = this.#world
    const { plan, roles } = this.#options
    await provider.listen()
    await database.start()
    const counts: Record<Role, number> = { api: 0, worker: 0, all: 0 }
    for (const role of roles) {
      counts[role] += 1
      await fleet.add(`${role}-${counts[role]}`, role, database.socket)
    }
    fleet.start()
    await fleet.until('ready')
    this.#setting = await prepare(this.#send, plan, provider.url)
    const urls = () => fleet.takers.map(({ url }) => url)
    const { environmentId, pushIntegrationId, mailIntegrationId, sandboxMail } = this.#setting
    const inbound = `/v2/inbound-webhooks/delivery-providers/${environmentId}`
    this.#client = new Client(urls, { sandboxMail, minutes: plan.minutes })
    this.#reports = new Reports(plan.seed, urls, `${inbound}/${pushIntegrationId}`)
    this.#refusals = new Refusals(plan.seed, urls, `${inbound}/${mailIntegrationId}`)
    provider.onPush = (id) => this.#reports?.tell(id)
    provider.onOffer = (who, offer) => this.#refusals?.tell(who, offer)
  }

  /** Plays the plan, then repairs everything and waits until no work is left. */
  async run(): Promise<void> {
    const { plan } = this.#options
    const over = new AbortController()
    const watched = this.#watch(over.signal)
    try {
      await Promise.all([this.#client?.perform(plan), this.#playFaults()])
    } finally {
      over.abort()
      await watched
    }
    await this.#mend()
    await this.#settle()
  }

  async account(): Promise<Outcome> {
    const { fleet, database, provider } = this.#world
    // Stop reports first: one that arrives during the account would be missing from rows already read.
    await this.#reports?.end()
    await this.#refusals?.end()
    const found = await account(this.#books())
    if (this.#settledInMs === undefined)
      found.findings.unshift({
        kind: 'stuck',
        what: `work was left after ${this.#options.settleMs / 1000} s`,
      })
    const told = (this.#reports?.faults ?? 0) + (this.#refusals?.faults ?? 0)
    const faults = (this.#client?.ledger.statuses.get(500) ?? 0) + told
    if (faults > 0)
      found.findings.push({ kind: 'wrong', what: `the API answered 500 ${faults} times; the causes are in the logs` })
    for (const [what, at] of this.#late)
      if (at < 0)
        found.findings.push({ kind: 'stuck', what: `a wait ended more than ${lateMs / 1000} s late: ${what}` })
    return {
      account: found,
      faults: this.#played,
      settledInMs: this.#settledInMs,
      statuses: this.#client?.ledger.statuses ?? new Map(),
      manners: provider.manners,
      deaths: fleet.deaths.length,
      logged: {
        'deadlocks found': database.said('deadlock detected'),
        'serialization failures': database.said('could not serialize access'),
        'statements refused for lack of disk space': database.said('No space left on device'),
        'recoveries after a crash':
          database.said('was not properly shut down') + database.said('was interrupted; last known up'),
      },
    }
  }

  /** @param keep keeps the logs, for debugging */
  async stop({ keep = false } = {}): Promise<void> {
    const { fleet, database, provider } = this.#world
    await this.#reports?.end()
    await this.#refusals?.end()
    await fleet.stop()
    await database.stop()
    provider.close()
    if (keep) this.#options.say(`Process logs: ${this.#folder}.`)
    else rmSync(this.#folder, { recursive: true, force: true })
  }

  #books(): Books {
    const { database, provider, fleet } = this.#world
    if (!this.#client || !this.#reports || !this.#refusals || !this.#setting) throw new Error('the run was not started')
    return {
      plan: this.#options.plan,
      ledger: this.#client.ledger,
      reports: this.#reports,
      refusals: this.#refusals,
      environmentId: this.#setting.environmentId,
      url: fleet.takers[0]?.url ?? '',
      ...{ database, provider },
    }
  }

  readonly #send: Send = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await ask(this.#world.fleet.takers[0]?.url ?? '', method, path, body)
    if (!answer || answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer?.status} ${JSON.stringify(answer?.body)}`)
    return answer.body as T
  }

  async #playFaults(): Promise<void> {
    const { plan, say } = this.#options
    const began = Date.now()
    const kinds = new Set(plan.faults.map(({ kind }) => kind)).size
    for (const [place, fault] of plan.faults.entries()) {
      await sleep(fault.pauseMs)
      // Each kind is played at least once, even if that takes longer.
      if (place >= kinds && Date.now() - began > plan.minutes * 60_000) return
      const second = Math.round((Date.now() - began) / 1000)
      const { what, isDone } = await play(this.#world, fault).catch(
        (error: unknown): Played => ({ what: `could not be played: ${String(error)}`, isDone: false }),
      )
      this.#played[fault.kind][isDone ? 'done' : 'missed'] += 1
      say(`${String(second).padStart(5)} s  ${fault.kind}${isDone ? '' : ' was not played'}: ${what}`)
    }
  }

  /** Looks for overdue waits and long transactions. */
  async #watch(over: AbortSignal): Promise<void> {
    const { database, fleet } = this.#world
    const told = new Set<number>()
    while (!over.aborted) {
      await sleep(5_000, undefined, { signal: over }).catch(() => undefined)
      for (const { pid, ...open } of await database.query<{ pid: number }>(openTransactions).catch(() => [])) {
        if (!told.has(pid)) this.#options.say(`         long-running transaction: ${JSON.stringify(open)}`)
        told.add(pid)
      }
      const now = new Date(Date.now() + fleet.offsetMs)
      const rows = await database
        .query<{ id: string }>(`SELECT subject_id || '/' || position AS id FROM timers WHERE due_at < $1`, [now])
        .catch(() => undefined)
      if (!rows) continue
      const due = new Set(rows.map(({ id }) => id))
      for (const [id, since] of this.#late) if (since > 0 && !due.has(id)) this.#late.delete(id)
      for (const id of due) {
        const since = this.#late.get(id) ?? Date.now()
        this.#late.set(id, since > 0 && Date.now() - since > lateMs ? -1 : since)
      }
    }
  }

  async #mend(): Promise<void> {
    const { fleet, database, provider } = this.#world
    provider.calm()
    for (const place of fleet.places) {
      place.link.lie(undefined)
      place.link.silence(false)
      place.limitMemory(undefined)
      place.signal('SIGCONT')
    }
    await database.free()
    await fleet.until('live')
    // Past every retry time, however far ahead the clock has been.
    fleet.setClock(fleet.mostOffsetMs + 2 * hourMs)
  }

  async #settle(): Promise<void> {
    const { fleet } = this.#world
    const began = Date.now()
    for (let movedAt = began; Date.now() - began < this.#options.settleMs; ) {
      const left = await leftIn(this.#books()).catch(() => ({ unreachable: 1 }))
      if (Object.values(left).every((count) => count === 0)) {
        this.#settledInMs = Date.now() - began
        return
      }
      await sleep(1_000)
      // A call that failed as the last fault was repaired waits for its next attempt: less than an hour, at this point.
      if (Date.now() - movedAt > moveEveryMs) {
        movedAt = Date.now()
        fleet.setClock(fleet.mostOffsetMs + hourMs)
      }
    }
  }
}
