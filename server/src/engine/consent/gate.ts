// The gate before every call to a provider. Calls that are about to start form a batch: one transaction locks their addresses,
// reads the suppression list, starts the calls that it lets pass, and commits. Who adds an entry takes the same locks alone, so
// there is one order of calls and entries per address.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { comparedAddress, hashOfAddress, lockOfHash } from '../../db/core/addresses.ts'
import { isOutage } from '../../db/core/database.ts'
import { inTransaction, statement } from '../../db/core/transaction.ts'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
import type { Passed, Recipients, Sender, SuppressionGate } from '../../steps/contract/suppression.ts'
import { GroupCommit } from '../core/group-commit.ts'
import { untilReachable } from '../core/patience.ts'
import { heldBackBy } from './rules.ts'

const askSuppressions = statement(
  'ask_suppressions',
  'SELECT * FROM ask_suppressions($1, $2::bigint[], $3::text[], $4::text[], $5::bytea[])',
)

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
  start(): Promise<unknown>
}

type Result = Passed<unknown> | 'busy'

const batch = 100
/** Before a call asks again whose address somebody adds to the list right now. */
const busyPauseMs = 5

export class Gate implements SuppressionGate {
  readonly #parts: { pool: pg.Pool; clock: { now(): Date }; log: Logger }
  readonly #batches: GroupCommit<Asked, Result>

  constructor(parts: { pool: pg.Pool; clock: { now(): Date }; log: Logger }) {
    this.#parts = parts
    this.#batches = new GroupCommit((asked) => this.#ask(asked), isOutage, {
      mostItems: batch,
      mostSize: batch,
      sizeOf: ({ hashes }) => hashes.length,
    })
  }

  async pass<T>(sender: Sender, recipients: Recipients, start: () => Promise<T>): Promise<Passed<T>> {
    const { channel, addresses } = recipients
    const hashes = addresses.map((address) => hashOfAddress(comparedAddress(channel, address)))
    for (;;) {
      // What `start` returns is what it promises.
      const result = (await untilReachable(() => this.#batches.add({ sender, recipients, hashes, start }))) as
        | Passed<T>
        | 'busy'
      if (result !== 'busy') return result
      await sleep(busyPauseMs)
    }
  }

  async #ask(asked: Asked[]): Promise<Result[]> {
    const { pool, clock, log } = this.#parts
    const results: Result[] = []
    const rows = asked.flatMap((call) => call.hashes.map((hash) => ({ call, hash })))
    const values = [
      clock.now(),
      rows.map(({ hash }) => lockOfHash(hash)),
      rows.map(({ call }) => call.sender.environmentId),
      rows.map(({ call }) => call.recipients.channel),
      rows.map(({ hash }) => hash),
    ]
    try {
      await inTransaction(pool, async (transaction) => {
        const answers = await transaction.run<Answer>(askSuppressions, values)
        results.push(...decided(asked, answers))
      })
    } catch (error) {
      // If the connection broke before the calls were started, none is.
      if (results.length === 0) throw error
      log.warn({ err: error }, 'the calls were started, but their transaction did not end well')
    }
    return results
  }
}

/** Starts the calls that nothing holds back. */
function decided(asked: Asked[], answers: Answer[]): Result[] {
  const byPlace = new Map<number, Answer[]>()
  for (const answer of answers) byPlace.set(answer.place, [...(byPlace.get(answer.place) ?? []), answer])
  let place = 0
  return asked.map((call): Result => {
    const own = call.recipients.addresses.map((address) => {
      place += 1
      return { address, answers: byPlace.get(place) ?? [] }
    })
    if (own.some((each) => each.answers.some(({ is_busy: isBusy }) => isBusy))) return 'busy'
    const heldBack = own.flatMap(({ address, answers: found }) =>
      heldBackBy(
        address,
        found.flatMap(({ entry }) => entry ?? []),
        call.sender,
      ),
    )
    return heldBack.length > 0 ? { heldBack } : { started: started(call) }
  })
}

/** Its failure is told to whoever awaits it; until they do, it is not an error of the process. */
function started({ start }: Asked): Promise<unknown> {
  const result = (async () => start())()
  result.catch(() => undefined)
  return result
}
