// The time of an environment, for the transaction that acts there. Where the clock is held, it is read with a lock that whoever
// moves it has to wait for: so nothing sees two times, and nothing writes a time that is past.
import { HeldMoment } from '../../db/core/held-clock.ts'
import type { Transaction } from '../../db/core/transaction.ts'
import { holdClock } from './held-statements.ts'
import type { Memory } from './memory.ts'

interface Parts {
  memory: Memory
  clock: { now(): Date }
}

/** Where it is not held, nothing is read. */
export async function timeIn(
  transaction: Pick<Transaction, 'run'>,
  { memory, clock }: Parts,
  environmentId: string,
): Promise<Date> {
  const environment = await memory.recall(environmentId)
  if (!environment?.facts.clock) return clock.now()
  return heldTime(transaction, clock, environmentId)
}

/** Of an environment whose clock is held. */
export async function heldTime(
  transaction: Pick<Transaction, 'run'>,
  clock: Parts['clock'],
  environmentId: string,
): Promise<Date> {
  const [row] = await transaction.run<{ clock_now: Date }>(holdClock, [environmentId])
  if (!row) throw new EnvironmentGone()
  return new HeldMoment(row.clock_now, clock.now())
}

/** It was deleted meanwhile. */
export class EnvironmentGone extends Error {
  constructor() {
    super('The environment no longer exists.')
  }
}
