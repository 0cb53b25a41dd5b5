// Who of a trigger's recipients gets a run, and who is passed over. Nothing here does I/O.
import type { Recipient, RunTopic } from '../../db/core/tables.ts'
import { resolveSubscription } from '../core/preferences.ts'
import type { PreparedEvent, RecipientRow } from './compose.ts'
import type { PassedOver } from './passed-over.ts'

type Direct = Extract<Recipient, { subscriberId: string }>

/** Direct recipients, each once; the last definition of one counts. */
export function directOf({ recipients }: { recipients: Recipient[] | null }): Direct[] {
  const named = (recipients ?? []).filter((each): each is Direct => 'subscriberId' in each)
  // There is usually one.
  return named.length < 2 ? named : [...new Map(named.map((each) => [each.subscriberId, each])).values()]
}

export const topicKeysOf = (recipients: Recipient[]): string[] =>
  recipients.flatMap((each) => ('topicKey' in each ? [String(each.topicKey)] : []))

/** Whether its runs are begun by a walk over members. */
export const isWide = ({ recipients }: { recipients: Recipient[] | null }): boolean =>
  recipients === null || recipients.some((each) => 'topicKey' in each)

/** Through which topic a member is reached. */
export interface Subscription {
  topic_id: string
  topic_key: string
  identifier: string
  /** The subscriber's choice for this workflow with this subscription. */
  choice: { enabled: boolean; condition: Record<string, unknown> | null } | null
}

export interface Reached<Row = RecipientRow> {
  recipient: Row
  /** Null for a broadcast. */
  topics: RunTopic[] | null
}

/** Leaves out direct recipients, those whom any of the topics excludes, and the actor. @param via null for a broadcast */
export function reach<Row extends RecipientRow>(
  event: Pick<PreparedEvent, 'row' | 'facts'>,
  members: Array<{ recipient: Row; via: Subscription[] | null }>,
  passedOver: PassedOver,
  now: Date,
): Array<Reached<Row>> {
  const { recipients } = event.row
  const direct = new Set(directOf(event.row).map(({ subscriberId }) => subscriberId))
  const excluded = new Set<string>()
  for (const each of recipients ?? [])
    if ('exclude' in each) for (const subscriberId of (each.exclude ?? []) as string[]) excluded.add(subscriberId)
  const actor = recipients === null ? undefined : event.facts.actor?.subscriber_id
  const reached: Array<Reached<Row>> = []
  for (const { recipient, via } of members) {
    const { subscriber_id: subscriberId } = recipient
    if (direct.has(subscriberId)) continue
    if (excluded.has(subscriberId)) passedOver.add('excluded', subscriberId)
    else if (subscriberId === actor) passedOver.add('actor', subscriberId)
    else {
      const { topics, reason } = via ? topicsThatPass(via, event, now) : { topics: null, reason: null }
      if (topics === null || topics.length > 0) reached.push({ recipient, topics })
      else passedOver.add('topic_subscription_preference_evaluation', subscriberId, reason)
    }
  }
  return reached
}

/** The topics that let the workflow through; if none does, why the first did not. */
function topicsThatPass(
  via: Subscription[],
  event: Pick<PreparedEvent, 'facts'>,
  now: Date,
): { topics: RunTopic[]; reason: string | null } {
  const { payload } = event.facts
  let refused: string | null = null
  const topics = via.flatMap(({ topic_id, topic_key, identifier, choice }) => {
    const { passes, reason } = resolveSubscription(choice ?? undefined, { payload, now })
    if (!passes) {
      refused ??= reason
      return []
    }
    const topic = { _topicId: topic_id, topicKey: topic_key, subscriptionIdentifier: identifier, preference: reason }
    return [choice?.condition ? { ...topic, condition: choice.condition } : topic]
  })
  return { topics, reason: refused }
}
