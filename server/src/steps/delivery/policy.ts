// What to do after a provider failure: retry, use another integration, or give up. The only place that decides this; it does no
// I/O.
import type { DeliveryErrorKind } from '../../providers/delivery-error.ts'
import type { Reason } from '../contract/outcome.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

export const policy = {
  /** From the first attempt; after this, the message is no longer worth sending. */
  budgetMs: 24 * hour,
  /** Calls for one message. The waits use up the budget first, unless a provider keeps asking for short ones. */
  mostCalls: 50,
  /** Calls to one integration before another gets its turn. */
  callsBeforeFailover: 3,
  /** A provider that asks for a longer wait is skipped, if there is another. */
  longestPatienceMs: minute,
  /** Waits double from here … */
  firstWaitMs: 2 * second,
  /** … up to here. */
  longestWaitMs: hour,
  /**
   * If a call may have succeeded unnoticed, each further one may deliver twice: so there are few, after 1, 5 and 25 minutes, to
   * give an outage time to pass.
   */
  mostUncertainCalls: 4,
  firstUncertainWaitMs: minute,
  uncertainGrowth: 5,
} as const

export interface Failure {
  kind: DeliveryErrorKind
  mayHaveArrived: boolean
  /** The wait that the provider asks for. */
  afterSeconds?: number | undefined
}

/** The message's history so far. */
export interface Standing {
  startedAt: Date
  /** This one included. */
  calls: number
  /** Of those, the latest ones to the integration that failed. */
  callsHere: number
  /** Calls that may have succeeded unnoticed. */
  uncertainCalls: number
}

export interface Circumstances {
  now: Date
  /** The provider drops repetitions. */
  isIdempotent: boolean
  /** Rather miss a message than send it twice. */
  holdsUnknown: boolean
  /** Whether another integration could deliver it: one not tried yet, or only ones that failed before. */
  others: 'untried' | 'tried' | 'none'
  /** At least 0, less than 1. */
  random: () => number
}

export type Decision =
  | { action: 'retry'; afterMs: number; where: 'here' | 'next' }
  | { action: 'fail over' }
  | { action: 'give up'; reason: Extract<Reason, 'provider_failed' | 'provider_refused' | 'outcome_unknown'> }

export function decide(failure: Failure, standing: Standing, circumstances: Circumstances): Decision {
  const { now, others } = circumstances
  const { kind } = failure
  if (kind === 'never' || kind === 'address') return { action: 'give up', reason: 'provider_refused' }
  const isUncertain = failure.mayHaveArrived && !circumstances.isIdempotent
  if (isUncertain && (circumstances.holdsUnknown || standing.uncertainCalls >= policy.mostUncertainCalls))
    return { action: 'give up', reason: 'outcome_unknown' }

  const askedMs = (failure.afterSeconds ?? 0) * second
  const isRefused = kind === 'failover' || kind === 'credentials'
  const hadItsTurn = standing.callsHere >= policy.callsBeforeFailover || askedMs > policy.longestPatienceMs
  if (isRefused && others === 'none') return { action: 'give up', reason: 'provider_refused' }
  if ((isRefused || hadItsTurn) && others === 'untried') return { action: 'fail over' }

  const where = isRefused || (hadItsTurn && others === 'tried') ? 'next' : 'here'
  const plannedMs = isUncertain ? uncertainWaitMs(standing, circumstances) : waitMs(standing.calls, circumstances)
  const afterMs = where === 'here' ? Math.max(plannedMs, askedMs) : plannedMs
  const isTooLate = now.getTime() + afterMs > standing.startedAt.getTime() + policy.budgetMs
  if (isTooLate || standing.calls >= policy.mostCalls) return { action: 'give up', reason: 'provider_failed' }
  return { action: 'retry', afterMs, where }
}

function waitMs(calls: number, { random }: Pick<Circumstances, 'random'>): number {
  return jittered(Math.min(policy.longestWaitMs, policy.firstWaitMs * 2 ** (calls - 1)), random)
}

function uncertainWaitMs({ uncertainCalls }: Standing, { random }: Circumstances): number {
  return jittered(policy.firstUncertainWaitMs * policy.uncertainGrowth ** (uncertainCalls - 1), random)
}

/** Between half and all of it, so that messages that failed together do not come back together. */
export const jittered = (ms: number, random: () => number): number => Math.round(ms / 2 + (ms / 2) * random())
