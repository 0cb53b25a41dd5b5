import { describe, expect, test } from 'vitest'
import { type Circumstances, decide, type Failure, policy, type Standing } from './policy.ts'

const startedAt = new Date('2026-05-01T10:00:00.000Z')
const sinceStart = (ms: number) => new Date(startedAt.getTime() + ms)
const [second, minute, hour] = [1_000, 60_000, 3_600_000]

interface Case {
  failure: Partial<Failure> & Pick<Failure, 'kind'>
  standing?: Partial<Standing>
  circumstances?: Partial<Circumstances>
}

const judge = ({ failure, standing = {}, circumstances = {} }: Case) =>
  decide(
    { mayHaveArrived: false, ...failure },
    { startedAt, calls: 1, callsHere: 1, uncertainCalls: 0, ...standing },
    { now: startedAt, isIdempotent: false, holdsUnknown: false, others: 'none', random: () => 1, ...circumstances },
  )

const refused = { action: 'give up', reason: 'provider_refused' }
const failed = { action: 'give up', reason: 'provider_failed' }
const unknown = { action: 'give up', reason: 'outcome_unknown' }
const onward = { action: 'fail over' }
const retry = (afterMs: number, where = 'here') => ({ action: 'retry', afterMs, where })

const later = { kind: 'later' } as const
const lost = { kind: 'later', mayHaveArrived: true } as const

describe('what follows a failure', () => {
  test.each<[string, Case, object]>([
    [
      'a message that all would refuse is given up',
      { failure: { kind: 'never' }, circumstances: { others: 'untried' } },
      refused,
    ],
    ['so is an invalid address', { failure: { kind: 'address' }, circumstances: { others: 'untried' } }, refused],

    [
      'a refusal moves it to another integration',
      { failure: { kind: 'failover' }, circumstances: { others: 'untried' } },
      onward,
    ],
    ['so do invalid credentials', { failure: { kind: 'credentials' }, circumstances: { others: 'untried' } }, onward],
    ['a refusal without another integration ends it', { failure: { kind: 'failover' } }, refused],
    ['so do invalid credentials', { failure: { kind: 'credentials' } }, refused],
    [
      'a refusal after all others have failed gives those another chance, after a wait',
      { failure: { kind: 'failover' }, standing: { calls: 4 }, circumstances: { others: 'tried' } },
      retry(16 * second, 'next'),
    ],

    ['a temporary failure is retried', { failure: later }, retry(2 * second)],
    ['with growing waits', { failure: later, standing: { calls: 5, callsHere: 5 } }, retry(32 * second)],
    ['up to an hour', { failure: later, standing: { calls: 30, callsHere: 30 } }, retry(hour)],
    ['with at least half the wait', { failure: later, circumstances: { random: () => 0 } }, retry(second)],
    ['as long as the provider asks', { failure: { ...later, afterSeconds: 45 } }, retry(45 * second)],
    [
      'and not less than planned',
      { failure: { ...later, afterSeconds: 1 }, standing: { calls: 5 } },
      retry(32 * second),
    ],

    [
      'a temporary failure does not move it to another integration at once',
      { failure: later, circumstances: { others: 'untried' } },
      retry(2 * second),
    ],
    [
      'but after a few',
      { failure: later, standing: { calls: 3, callsHere: 3 }, circumstances: { others: 'untried' } },
      onward,
    ],
    [
      'or if the provider asks for a long wait',
      { failure: { ...later, afterSeconds: 61 }, circumstances: { others: 'untried' } },
      onward,
    ],
    [
      'if all have failed it goes round, with waits',
      { failure: later, standing: { calls: 6, callsHere: 3 }, circumstances: { others: 'tried' } },
      retry(64 * second, 'next'),
    ],
    [
      'and a wait that one asks for does not apply to the next',
      { failure: { ...later, afterSeconds: 600 }, standing: { calls: 1 }, circumstances: { others: 'tried' } },
      retry(2 * second, 'next'),
    ],

    [
      'after a day it is given up',
      {
        failure: later,
        standing: { calls: 20, callsHere: 20 },
        circumstances: { now: sinceStart(24 * hour - 30 * minute) },
      },
      failed,
    ],
    ['also if the provider asks for a longer wait', { failure: { ...later, afterSeconds: 86_401 } }, failed],
    ['and after very many calls', { failure: later, standing: { calls: policy.mostCalls, callsHere: 2 } }, failed],

    [
      'a call that may have succeeded is repeated after a wait',
      { failure: lost, standing: { uncertainCalls: 1 } },
      retry(minute),
    ],
    ['then after a long one', { failure: lost, standing: { calls: 2, uncertainCalls: 2 } }, retry(5 * minute)],
    ['and a longer one', { failure: lost, standing: { calls: 3, uncertainCalls: 3 } }, retry(25 * minute)],
    ['and then left for a person to decide', { failure: lost, standing: { calls: 4, uncertainCalls: 4 } }, unknown],
    [
      'a provider that drops repetitions is retried like any other',
      { failure: lost, standing: { calls: 5, callsHere: 5, uncertainCalls: 5 }, circumstances: { isIdempotent: true } },
      retry(32 * second),
    ],
  ])('%s', (_, given, expected) => {
    expect(judge(given)).toEqual(expected)
  })

  test('the last attempt is later than an outage of ten minutes', () => {
    for (const random of [() => 0, () => 0.999]) {
      let [now, calls] = [startedAt, 1]
      while (now < sinceStart(10 * minute)) {
        const decision = judge({
          failure: later,
          standing: { calls, callsHere: calls },
          circumstances: { now, random },
        })
        expect(decision.action).toBe('retry')
        now = new Date(now.getTime() + (decision as { afterMs: number }).afterMs)
        calls += 1
      }
      expect(now.getTime()).toBeLessThan(sinceStart(25 * minute).getTime())
    }
  })
})
