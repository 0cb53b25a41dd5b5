// Those a trigger meant, or could have meant, who got no run by it. Nothing else would tell of them: their reasons are kept
// beside the runs, so that "why did this person not get it?" has an answer for everybody.
import { newId } from '../../db/core/ids.ts'
import type { Transaction } from '../../db/core/transaction.ts'
import { notePassedOver } from '../core/statements.ts'

export const passedOverReasons = [
  'topic_not_found',
  'topic_subscription_preference_evaluation',
  'excluded',
  'actor',
  'invalid_recipient',
  'canceled_by_user',
] as const
export type PassedOverReason = (typeof passedOverReasons)[number]

interface Group {
  reason: PassedOverReason
  detail: string | null
  named: string | null
  subscriberIds: string[]
}

/** Of one trigger, or a chunk of it: one row for all with the same reason. */
export class PassedOver {
  readonly #groups = new Map<string, Group>()

  /** A subscriber. */
  add(reason: PassedOverReason, subscriberId: string, detail: string | null = null): void {
    this.#group(reason, detail, null).subscriberIds.push(subscriberId)
  }

  /** Something that stands for nobody; or, without a name, all who are left. */
  addNamed(reason: PassedOverReason, named: string | null = null): void {
    this.#group(reason, null, named)
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  /** For `notePassedOver`. */
  columns(environmentId: string, eventId: string, now: Date): unknown[] {
    const groups = [...this.#groups.values()]
    return [
      environmentId,
      eventId,
      groups.map(() => newId(now)),
      groups.map(({ reason }) => reason),
      groups.map(({ detail }) => detail),
      groups.map(({ named }) => named),
      // Lists of different lengths are no column of their own.
      groups.map(({ subscriberIds }) => JSON.stringify(subscriberIds)),
      now,
    ]
  }

  async store(transaction: Transaction, environmentId: string, eventId: string, now: Date): Promise<void> {
    if (!this.isEmpty) await transaction.run(notePassedOver, this.columns(environmentId, eventId, now))
  }

  #group(reason: PassedOverReason, detail: string | null, named: string | null): Group {
    const key = JSON.stringify([reason, detail, named])
    const known = this.#groups.get(key)
    if (known) return known
    const made = { reason, detail, named, subscriberIds: [] }
    this.#groups.set(key, made)
    return made
  }
}
