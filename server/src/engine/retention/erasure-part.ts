// One transaction of an erasure: what it is given, and what it answers.
import type { Tx } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { Person } from '../../db/queries/personal-data.ts'

/** Rows per transaction: few enough that no lock is held for long. */
export const batch = 1_000

export type Counts = Record<string, number>

/** The result of one transaction. If there is more to do, `next` says from where. */
export interface Done {
  counts: Counts
  next?: string
}

export interface Round {
  tx: Tx
  person: Person
  reached: string
  secrets: Secrets
  now: Date
  closeQuestions: CloseQuestions
}

/** Closes the open questions of these runs, which are about to go, as a cancel does. */
export type CloseQuestions = (tx: Tx, runs: Array<{ environmentId: string; id: string }>, now: Date) => Promise<void>
