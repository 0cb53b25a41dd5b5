// Recipients of a trigger who got no run, with the reason. Nothing else would mention them: this answers "why did this person
// not get it?" for everybody.

export const passedOverReasons = [
  'topic_not_found',
  'topic_subscription_preference_evaluation',
  'excluded',
  'actor',
  'invalid_recipient',
  'canceled_by_user',
] as const
export type PassedOverReason = (typeof passedOverReasons)[number]

export interface PassedOverGroup {
  reason: PassedOverReason
  detail: string | null
  named: string | null
  subscriberIds: string[]
}

/** For one trigger, or a chunk of it: one row per reason. */
export class PassedOver {
  readonly #groups = new Map<string, PassedOverGroup>()

  /** A subscriber. */
  add(reason: PassedOverReason, subscriberId: string, detail: string | null = null): void {
    this.#group(reason, detail, null).subscriberIds.push(subscriberId)
  }

  /** A name that matches nobody; without a name, everybody not reached. */
  addNamed(reason: PassedOverReason, named: string | null = null): void {
    this.#group(reason, null, named)
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  get groups(): readonly PassedOverGroup[] {
    return [...this.#groups.values()]
  }

  #group(reason: PassedOverReason, detail: string | null, named: string | null): PassedOverGroup {
    const key = JSON.stringify([reason, detail, named])
    const known = this.#groups.get(key)
    if (known) return known
    const made = { reason, detail, named, subscriberIds: [] }
    this.#groups.set(key, made)
    return made
  }
}
