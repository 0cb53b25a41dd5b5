// The gate before every call to a provider. Calls that are about to start form a batch. They are written down as begun, and then one
// transaction locks their addresses, reads the suppression list, starts the calls that it lets pass, and commits. Who adds an
// entry takes the same locks alone, so there is one order of calls and entries per address. Calls may also start a little later,
// until the commit is on its way: that is their turn.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { comparedAddress, hashOfAddress, lockOfHash } from '../../db/core/addresses.ts'
import { isOutage } from '../../db/core/database.ts'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
import type { Turn } from '../../providers/provider.ts'
import type { Beginning } from '../../steps/contract/step-run.ts'
import type { Passed, Recipients, Sender, SuppressionGate } from '../../steps/contract/suppression.ts'
import { GroupCommit } from '../core/group-commit.ts'
import { untilReachable } from '../core/patience.ts'
import { heldBackBy } from './rules.ts'

/** Writes calls down as begun (`engine/runs/begun-calls.ts`). */
interface Marker {
  /** Throws if the call must not begin. */
  check(beginning: Beginning): void
  /** For `mark_begun`; undefined if there is nothing to write down. */
  marksFor(beginnings: Beginning[]): Marks | undefined
  /** Why a call does not begin: it could not be written down for this reason, or without one, others have it. */
  refusal(cause?: unknown): Error
}

interface Marks {
  values: [worker: string, seq: number, calls: string[], ended: number[], listing: string | null]
  /** To be called once they are written down. */
  written(): void
}

interface Parts {
  pool: pg.Pool
  clock: { now(): Date }
  log: Logger
  begunCalls: Marker
}

interface Answer {
  /** Counts from 1. */
  place: number
  is_busy: boolean
  entry: (Omit<SuppressionRow, 'created_at'> & { created_at: string }) | null
}

interface Asked {
  sender: Sender
  recipients: Recipients
  hashes: Buffer[]
  beginning: Beginning | undefined
  start(turn: Turn): Promise<unknown>
}

type Result = Passed<unknown> | 'busy' | 'not ours'

const batch = 100
/** Calls that follow each other more quickly go together: a batch of eight costs as much as one of thirty. */
const paceMs = 20
/** Before a call asks again whose address somebody adds to the list right now. */
const busyPauseMs = 5
/** Half of the time after which PostgreSQL ends a transaction that is idle, and with it the locks. */
const longestTurnMs = 500
/** How long a turn lasts at most for calls that wait for connections. */
const awaitedTurnMs = 30

export class Gate implements SuppressionGate {
  readonly #parts: Parts
  readonly #batches: GroupCommit<Asked, Result>
  /** Its transaction is open: the next batch ends it. */
  #open: pg.PoolClient | undefined
  /** Of the calls that passed in it. */
  #turn: BatchTurn | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#batches = new GroupCommit((asked) => this.#ask(asked), isOutage, {
      mostItems: batch,
      mostSize: batch,
      sizeOf: ({ hashes }) => hashes.length,
      paceMs,
      rest: () => this.#turn?.untilStarted(),
    })
  }

  async pass<T>(
    sender: Sender,
    recipients: Recipients,
    start: (turn: Turn) => Promise<T>,
    beginning?: Beginning,
  ): Promise<Passed<T>> {
    const { begunCalls } = this.#parts
    const { channel, addresses } = recipients
    const hashes = addresses.map((address) => hashOfAddress(comparedAddress(channel, address)))
    for (;;) {
      if (beginning) begunCalls.check(beginning)
      const result = await untilReachable(() =>
        this.#batches.add({ sender, recipients, hashes, beginning, start }),
      ).catch((error: unknown) => {
        throw beginning?.isWritten === false ? begunCalls.refusal(error) : error
      })
      if (result === 'not ours') throw begunCalls.refusal()
      // What `start` returns is what it promises.
      if (result !== 'busy') return result as Passed<T>
      await sleep(busyPauseMs)
    }
  }

  async #ask(asked: Asked[]): Promise<Result[]> {
    const { pool, clock, begunCalls } = this.#parts
    const marks = begunCalls.marksFor(asked.flatMap(({ beginning }) => beginning ?? []))
    const isFirst = this.#open === undefined
    this.#open ??= await pool.connect()
    const client = this.#open
    // From here on the commit is on its way.
    this.#turn?.end()
    const turn = new BatchTurn()
    this.#turn = turn
    let results: Result[]
    try {
      // One round trip. What is written down goes into the transaction of the batch before, whose COMMIT makes it last.
      const asks = asking(asked, clock.now())
      const before = isFirst && !marks ? '' : `${isFirst ? 'BEGIN; ' : ''}${marks ? marking(marks) : ''}COMMIT; `
      const text = `${before}BEGIN; ${asks}`
      const answers = [(await client.query(text)) as unknown as pg.QueryResult | pg.QueryResult[]].flat()
      const found = answers.filter(({ command }) => command === 'SELECT')
      if (marks && found[0]?.rows[0].mark_begun === true) marks.written()
      turn.begin(client)
      results = decided(asked, found.at(-1)?.rows ?? [], turn)
    } catch (error) {
      turn.end()
      this.#open = undefined
      client.release(true)
      throw error
    }
    if (!this.#batches.isWanted) {
      const started = turn.untilStarted()
      if (started) void started.then(() => this.#end(turn, client))
      else this.#end(turn, client)
    }
    return results
  }

  /** Unless the next batch has ended it. */
  #end(turn: BatchTurn, client: pg.PoolClient): void {
    if (this.#turn !== turn) return
    turn.end()
    this.#open = undefined
    void this.#commit(client)
  }

  async #commit(client: pg.PoolClient): Promise<void> {
    try {
      await client.query('COMMIT')
      client.release()
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'the calls were started, but their transaction did not end well')
      client.release(true)
    }
  }
}

/** While the transaction of a batch is open, and its locks are held. */
class BatchTurn implements Turn {
  #untilMs = Number.POSITIVE_INFINITY
  /** Calls that have not been started. */
  readonly #waiting = new Set<() => void>()
  #started: Promise<void> | undefined
  #whenStarted: () => void = () => undefined
  #leave: () => void = () => undefined

  get isOver(): boolean {
    return performance.now() >= this.#untilMs
  }

  /** Until all calls have been started, or for as long as they may wait. Undefined if none waits. */
  untilStarted(): Promise<void> | undefined {
    if (this.#waiting.size === 0) return undefined
    this.#started ??= new Promise((resolve) => {
      const timer = setTimeout(resolve, awaitedTurnMs)
      this.#whenStarted = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    return this.#started
  }

  begin(client: pg.PoolClient): void {
    const lost = () => this.end()
    client.once('error', lost)
    this.#leave = () => client.off('error', lost)
    this.#untilMs = performance.now() + longestTurnMs
  }

  whenOver(end: () => void): () => void {
    if (this.isOver) end()
    else this.#waiting.add(end)
    return () => {
      if (this.#waiting.delete(end) && this.#waiting.size === 0) this.#whenStarted()
    }
  }

  end(): void {
    this.#untilMs = 0
    this.#leave()
    const late = [...this.#waiting]
    this.#waiting.clear()
    this.#whenStarted()
    for (const end of late) end()
  }
}

const { escapeLiteral } = pg
const listOf = (type: string, values: readonly unknown[]) =>
  `ARRAY[${values.map((value) => escapeLiteral(String(value))).join(', ')}]::${type}[]`

function marking({ values: [worker, seq, calls, ended, listing] }: Marks): string {
  const texts = [
    ...[escapeLiteral(worker), String(seq), listOf('text', calls), listOf('bigint', ended)],
    listing === null ? 'NULL' : escapeLiteral(listing),
  ]
  return `SELECT mark_begun(${texts.join(', ')}); `
}

function asking(asked: Asked[], now: Date): string {
  const rows = asked.flatMap((call) => call.hashes.map((hash) => ({ call, hash })))
  const texts = [
    escapeLiteral(now.toISOString()),
    listOf(
      'bigint',
      rows.map(({ hash }) => lockOfHash(hash)),
    ),
    listOf(
      'text',
      rows.map(({ call }) => call.sender.environmentId),
    ),
    listOf(
      'text',
      rows.map(({ call }) => call.recipients.channel),
    ),
    listOf(
      'bytea',
      rows.map(({ hash }) => `\\x${hash.toString('hex')}`),
    ),
  ]
  return `SELECT * FROM ask_suppressions(${texts.join(', ')})`
}

/** Starts the calls that nothing holds back. */
function decided(asked: Asked[], answers: Answer[], turn: Turn): Result[] {
  const byPlace = new Map<number, Answer[]>()
  for (const answer of answers) byPlace.set(answer.place, [...(byPlace.get(answer.place) ?? []), answer])
  let place = 0
  return asked.map((call): Result => {
    const own = call.recipients.addresses.map((address) => {
      place += 1
      return { address, answers: byPlace.get(place) ?? [] }
    })
    if (call.beginning?.isWritten === false) return 'not ours'
    if (own.some((each) => each.answers.some(({ is_busy: isBusy }) => isBusy))) return 'busy'
    const heldBack = own.flatMap(({ address, answers: found }) =>
      heldBackBy(
        address,
        found.flatMap(({ entry }) => entry ?? []),
        call.sender,
      ),
    )
    return heldBack.length > 0 ? { heldBack } : { started: started(call, turn) }
  })
}

/** Its failure is told to whoever awaits it; until they do, it is not an error of the process. */
function started({ start }: Asked, turn: Turn): Promise<unknown> {
  const result = (async () => start(turn))()
  result.catch(() => undefined)
  return result
}
