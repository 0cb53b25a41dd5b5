// Carries out calls of the SQL functions in our own database. A row goes in the transaction that accepts its trigger, so it counts
// once, whatever dies.
import { isOutage, isTransient, isUnstorable, retryConflicts } from '../../db/core/database.ts'
import { inTransaction, type Transaction } from '../../db/core/transaction.ts'
import { type SubscriberInput, upsertSubscribers } from '../../db/queries/subscribers.ts'
import { RequestError } from '../../errors.ts'
import { timeIn } from '../core/held-clocks.ts'
import type { EngineParts } from '../runs/start-runs.ts'
import type { Triggers } from '../runs/trigger.ts'
import type { TriggerRequest, TriggerResult } from '../runs/trigger-request.ts'
import { refusalOf } from './refusals.ts'
import { formatRefusal, mostRows, type OutboxRow, type Refusal, settled, settleRows, takeRows, waveOf } from './rows.ts'

/** Reads a call as the API reads a request. Throws what the API would answer. */
export interface CallReader {
  trigger(environmentId: string, body: Record<string, unknown>): TriggerRequest
  subscriber(body: Record<string, unknown>): SubscriberInput
}

interface Surroundings extends EngineParts {
  triggers: Triggers
  cancel(environmentId: string, transactionId: string): Promise<unknown>
}

/** Of more than these, the queue starts the runs, in parallel. */
const mostStarted = 100
/** A trigger that waits longer for a lock is left to the queue, as over HTTP. */
const lockTimeoutMs = 250
/** The same when it is only queued: then the calls are tried again. */
const patientMs = 5_000
/** A call that fails this often for no reason we know is refused, so that it does not hold up the others. */
const mostFailures = 5

export class OutboxDrain {
  readonly #surroundings: Surroundings
  readonly #read: CallReader
  /** How many are taken one by one, after some failed together. */
  #alone = 0
  readonly #failures = new Map<string, number>()

  constructor(surroundings: Surroundings, read: CallReader) {
    this.#surroundings = surroundings
    this.#read = read
  }

  /**
   * Carries out some calls. @returns how many; 0 if there are none, or other processes hold them
   * @param taken called with their number once nobody else can take them
   */
  async takeSome(taken: (calls: number) => void = () => undefined): Promise<number> {
    const most = this.#alone > 0 ? 1 : mostRows
    this.#alone = Math.max(this.#alone - 1, 0)
    let rows: OutboxRow[] = []
    const take = (startsNow: boolean) =>
      retryConflicts(() =>
        inTransaction(
          this.#surroundings.pool,
          async (transaction) => {
            rows = await transaction.run<OutboxRow & Record<string, unknown>>(takeRows, [most, null])
            if (rows.length === 0) return 0
            const wave = waveOf(rows)
            taken(wave.length)
            return this.#carryOut(transaction, wave, startsNow)
          },
          { lockTimeoutMs: startsNow ? lockTimeoutMs : patientMs },
        ),
      )
    try {
      return await take(true)
    } catch (error) {
      if (isOutage(error)) throw error
      this.#surroundings.log.warn({ err: error }, 'could not carry out calls of the outbox at once; queuing them')
    }
    try {
      return await take(false)
    } catch (error) {
      const [row] = rows
      if (isTransient(error) || !row) throw error
      if (most > 1) this.#alone = rows.length
      else await this.#noteFailure(row, error)
      return rows.length
    }
  }

  async #carryOut(transaction: Transaction, rows: OutboxRow[], startsNow: boolean): Promise<number> {
    const { clock, meter } = this.#surroundings
    const refusals = new Map<string, Refusal>()
    const known = rows.filter((row) => {
      const refusal = formatRefusal(row)
      if (refusal) refusals.set(row.id, refusal)
      return !refusal
    })
    const kind = rows[0]?.kind ?? 'trigger'
    if (kind === 'trigger') await this.#trigger(transaction, known, refusals, startsNow && known.length <= mostStarted)
    else if (kind === 'upsert_subscriber') await this.#upsert(transaction, known, refusals)
    // A cancel that is repeated after a crash finds nothing more to cancel.
    else for (const row of known) await this.#surroundings.cancel(row.environment_id, row.transaction_id ?? '')
    await transaction.run(settleRows, settled(rows, refusals, clock.now()))
    transaction.afterCommit(() => {
      for (const { id } of rows) this.#failures.delete(id)
      meter?.drained(kind, 'accepted', rows.length - refusals.size)
      meter?.drained(kind, 'refused', refusals.size)
    })
    return rows.length
  }

  async #trigger(transaction: Transaction, rows: OutboxRow[], refusals: Map<string, Refusal>, startsNow: boolean) {
    const readable = rows.flatMap((row) => {
      const request = readOr(refusals, row, () => this.#read.trigger(row.environment_id, row.body))
      return request ? [{ row, request }] : []
    })
    const requests = readable.map(({ request }) => request)
    const results = await this.#surroundings.triggers.acceptIn(transaction, requests, { startsNow })
    for (const [index, { row }] of readable.entries()) {
      const refusal = refusalOf(results[index] as TriggerResult | RequestError)
      if (refusal) refusals.set(row.id, refusal)
    }
  }

  /** Several for one subscriber become one, with what each of them says. */
  async #upsert(transaction: Transaction, rows: OutboxRow[], refusals: Map<string, Refusal>): Promise<void> {
    const inputs = new Map<string, Map<string, SubscriberInput>>()
    for (const row of rows) {
      const input = readOr(refusals, row, () => this.#read.subscriber(row.body))
      if (!input) continue
      const own = inputs.get(row.environment_id) ?? new Map<string, SubscriberInput>()
      inputs.set(row.environment_id, own.set(input.subscriberId, { ...own.get(input.subscriberId), ...input }))
    }
    for (const [environmentId, own] of [...inputs].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const now = await timeIn(transaction, this.#surroundings, environmentId)
      await upsertSubscribers(transaction.tx, environmentId, [...own.values()], now)
    }
  }

  /** A call that fails alone: a value that cannot be stored, or a fault of ours. */
  async #noteFailure(row: OutboxRow, error: unknown): Promise<void> {
    const { pool, clock, log, meter } = this.#surroundings
    const failures = (this.#failures.get(row.id) ?? 0) + 1
    log.error({ err: error, outboxId: row.id, failures }, 'could not carry out a call of the outbox')
    const isValue = isUnstorable(error)
    if (!isValue && failures < mostFailures) {
      this.#failures.set(row.id, failures)
      throw error
    }
    this.#failures.delete(row.id)
    const refusal = isValue
      ? { code: 'unstorable', message: 'The call contains a value that is too long or too large to be stored' }
      : { code: 'internal', message: 'The call failed repeatedly; the log of the service has the reason' }
    await pool.query(settleRows.text, settled([row], new Map([[row.id, refusal]]), clock.now()))
    meter?.drained(row.kind, 'refused', 1)
  }
}

function readOr<T>(refusals: Map<string, Refusal>, row: OutboxRow, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    refusals.set(row.id, refusalOf(error) as Refusal)
    return undefined
  }
}
