import { beforeEach, describe, expect, test } from 'vitest'
import { TestClock } from '../../test/server.ts'
import { breaksCircuit, CircuitBreaker, type CircuitChange, type Pass } from './circuit-breaker.ts'

const key = { environmentId: 'e', integrationId: 'i', host: '' }
let clock: TestClock
let changes: CircuitChange[]
let breaker: CircuitBreaker

beforeEach(() => {
  clock = new TestClock()
  changes = []
  breaker = new CircuitBreaker({ clock, onChange: (change) => changes.push(change) })
})

const enter = (of = key) => breaker.enter(of)
function admitted(of = key): Pass {
  const pass = enter(of)
  if (!pass.admitted) throw new Error(`refused: ${pass.why}`)
  return pass
}
const failTimes = (times: number, of = key) => {
  for (let i = 0; i < times; i += 1) admitted(of).fail('no connection')
}
const seconds = (count: number) => new Date(clock.now().getTime() + count * 1000)

describe('a circuit', () => {
  test('opens after five failures in a row, and says until when', () => {
    failTimes(4)
    expect(enter()).toMatchObject({ admitted: true })
    failTimes(1)
    expect(enter()).toEqual({ admitted: false, why: 'open', retryAt: seconds(30) })
    expect(changes).toEqual([{ ...key, state: 'open', failures: 5, error: 'no connection', retryAt: seconds(30) }])
  })

  test('is not opened by failures with a success between them, nor by answers', () => {
    failTimes(4)
    admitted().succeed()
    failTimes(4)
    admitted().release()
    expect(breaker.admits(key)).toBe(true)
  })

  test('lets one message through when its time is over, and closes if that succeeds', () => {
    failTimes(5)
    clock.advance({ seconds: 30 })
    const probe = admitted()
    expect(enter()).toMatchObject({ admitted: false, why: 'open' })
    probe.succeed()
    expect(enter()).toMatchObject({ admitted: true })
    expect(changes.at(-1)).toMatchObject({ state: 'closed', retryAt: undefined })
  })

  test('stays open twice as long each time that fails, at most five minutes', () => {
    failTimes(5)
    for (const expected of [60, 120, 240, 300, 300]) {
      clock.advance({ minutes: 5 })
      admitted().fail('still down')
      expect(enter()).toEqual({ admitted: false, why: 'open', retryAt: seconds(expected) })
    }
  })

  test('learns nothing from calls that were under way when it opened', () => {
    const slow = admitted()
    failTimes(5)
    clock.advance({ seconds: 20 })
    slow.fail('timeout')
    expect(enter()).toMatchObject({ retryAt: seconds(10) })
  })

  test('a message let through that is not sent after all leaves it to the next', () => {
    failTimes(5)
    clock.advance({ seconds: 30 })
    admitted().release()
    expect(enter()).toMatchObject({ admitted: true })
  })

  test('is told to be closed by the first success, because another process may have said otherwise', () => {
    admitted().succeed()
    admitted().succeed()
    expect(changes).toEqual([{ ...key, state: 'closed', failures: 0, error: undefined, retryAt: undefined }])
  })

  test('is one for each integration and, where servers are the subscribers’ own, for each host', () => {
    failTimes(5, { ...key, host: 'down.example.com' })
    expect(breaker.admits({ ...key, host: 'down.example.com' })).toBe(false)
    expect(breaker.admits({ ...key, host: 'up.example.com' })).toBe(true)
    expect(breaker.admits(key)).toBe(true)
    expect(breaker.admits({ ...key, integrationId: 'other' })).toBe(true)
  })
})

describe('calls under way', () => {
  test('are limited for one integration', () => {
    const passes = Array.from({ length: 32 }, () => admitted())
    expect(enter()).toEqual({ admitted: false, why: 'busy', retryAt: seconds(1) })
    passes[0]?.release()
    expect(enter()).toMatchObject({ admitted: true })
  })

  test('are limited to a few where they take long, so that who hangs leaves room for the others', () => {
    const slow = Array.from({ length: 4 }, () => admitted())
    clock.advance({ seconds: 2 })
    expect(enter()).toMatchObject({ admitted: false, why: 'busy' })
    expect(enter({ ...key, integrationId: 'other' })).toMatchObject({ admitted: true })
    slow[0]?.succeed()
    expect(enter()).toMatchObject({ admitted: true })
  })
})

test('only failures of the way there and of the whole service count', () => {
  expect(
    (['timeout', 'connection_lost', 'connection_failed', 'host_unknown', 'unavailable'] as const).map(breaksCircuit),
  ).toEqual([true, true, true, true, true])
  expect(
    (['rate_limited', 'rejected', 'unauthorized', 'recipient_refused', 'message_refused'] as const).map(breaksCircuit),
  ).toEqual([false, false, false, false, false])
})
