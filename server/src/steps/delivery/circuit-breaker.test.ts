import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { TestClock } from '../../../test/server.ts'
import type { Pass } from '../contract/call-tools.ts'
import { breaksCircuit, CircuitBreaker, type CircuitChange } from './circuit-breaker.ts'

const key = { environmentId: 'e', integrationId: 'i', host: '' }
let clock: TestClock
let changes: CircuitChange[]
let breaker: CircuitBreaker

beforeEach(() => {
  clock = new TestClock()
  changes = []
  breaker = new CircuitBreaker({
    clock,
    random: Math.random,
    elapsed: () => performance.now(),
    patienceMs: 0,
    onChange: (change) => changes.push(change),
  })
})

const enter = (of = key, isBegun = false) => breaker.enter(of, isBegun)
async function admitted(of = key): Promise<Pass> {
  const pass = await enter(of)
  if (!pass.admitted) throw new Error(`refused: ${pass.why}`)
  return pass
}
const failTimes = async (times: number, of = key) => {
  for (let i = 0; i < times; i += 1) (await admitted(of)).fail('no connection')
}
const succeed = async () => (await admitted()).succeed()
const release = async () => (await admitted()).release()
const seconds = (count: number) => new Date(clock.now().getTime() + count * 1000)

describe('a circuit', () => {
  test('opens after five failures in a row, and says until when', async () => {
    await failTimes(4)
    expect(await enter()).toMatchObject({ admitted: true })
    await failTimes(1)
    expect(await enter()).toEqual({ admitted: false, why: 'open', retryAt: seconds(30) })
    expect(changes).toEqual([{ ...key, state: 'open', failures: 5, error: 'no connection', retryAt: seconds(30) }])
  })

  test('is not opened by failures with a success in between, nor by answers', async () => {
    await failTimes(4)
    await succeed()
    await failTimes(4)
    await release()
    expect(breaker.admits(key)).toBe(true)
  })

  test('lets one message through when its time is over, and closes if that succeeds', async () => {
    await failTimes(5)
    clock.advance({ seconds: 30 })
    const probe = await admitted()
    expect(await enter()).toMatchObject({ admitted: false, why: 'open' })
    probe.succeed()
    expect(await enter()).toMatchObject({ admitted: true })
    expect(changes.at(-1)).toMatchObject({ state: 'closed', retryAt: undefined })
  })

  test('doubles its time each time that fails, up to five minutes', async () => {
    await failTimes(5)
    for (const expected of [60, 120, 240, 300, 300]) {
      clock.advance({ minutes: 5 })
      await failTimes(1)
      expect(await enter()).toEqual({ admitted: false, why: 'open', retryAt: seconds(expected) })
    }
  })

  test('ignores calls that were in flight when it opened', async () => {
    const slow = await admitted()
    await failTimes(5)
    clock.advance({ seconds: 20 })
    slow.fail('timeout')
    expect(await enter()).toMatchObject({ retryAt: seconds(10) })
  })

  test('passes the probe on if the message let through is not sent after all', async () => {
    await failTimes(5)
    clock.advance({ seconds: 30 })
    await release()
    expect(await enter()).toMatchObject({ admitted: true })
  })

  test('reports the first success as closed, because another process may have left it open', async () => {
    await succeed()
    await succeed()
    expect(changes).toEqual([{ ...key, state: 'closed', failures: 0, error: undefined, retryAt: undefined }])
  })

  test("is separate for each integration and, where servers are the subscribers' own, for each host", async () => {
    await failTimes(5, { ...key, host: 'down.example.com' })
    expect(breaker.admits({ ...key, host: 'down.example.com' })).toBe(false)
    expect(breaker.admits({ ...key, host: 'up.example.com' })).toBe(true)
    expect(breaker.admits(key)).toBe(true)
    expect(breaker.admits({ ...key, integrationId: 'other' })).toBe(true)
  })
})

describe('concurrent calls', () => {
  test('are limited for one integration', async () => {
    const passes = await Promise.all(Array.from({ length: 64 }, () => admitted()))
    expect(await enter()).toEqual({ admitted: false, why: 'busy', retryAt: seconds(5) })
    passes[0]?.release()
    expect(await enter()).toMatchObject({ admitted: true })
  })

  test('never take the slots of those that are written down as begun already', async () => {
    const passes = await Promise.all(Array.from({ length: 64 }, () => admitted()))
    for (let call = 0; call < 64; call += 1) expect(await enter(key, true)).toMatchObject({ admitted: true })
    expect(await enter(key, true)).toMatchObject({ why: 'busy' })
    passes[0]?.release()
    expect(await enter(key, true)).toMatchObject({ why: 'busy' })
    expect(await enter(key, false)).toMatchObject({ admitted: true })
  })

  test('further ones wait while calls keep ending', async () => {
    breaker = new CircuitBreaker({
      clock,
      random: Math.random,
      elapsed: () => performance.now(),
      patienceMs: 3_600_000,
    })
    const passes = await Promise.all(Array.from({ length: 64 }, () => admitted()))
    const waiting = [enter(), enter()]
    passes[0]?.succeed()
    expect(await waiting[0]).toMatchObject({ admitted: true })
    passes[1]?.fail('no connection')
    expect(await waiting[1]).toMatchObject({ admitted: true })
  })

  test('a slot goes to the one that has waited longest, not to one that comes as it becomes free', async () => {
    breaker = new CircuitBreaker({ clock, random: () => 0, elapsed: () => performance.now(), patienceMs: 3_600_000 })
    const passes = await Promise.all(Array.from({ length: 64 }, () => admitted()))
    const order: string[] = []
    const waits = (name: string) => enter().then(() => order.push(name))
    const all = [waits('first'), waits('second')]
    passes[0]?.succeed()
    all.push(waits('late'))
    for (const pass of passes.slice(1, 3)) pass.succeed()
    await Promise.all(all)
    expect(order).toEqual(['first', 'second', 'late'])
  })

  test('slow ones are limited to a few, so that an integration that hangs leaves room for others', async () => {
    const slow = await Promise.all(Array.from({ length: 4 }, () => admitted()))
    clock.advance({ seconds: 2 })
    expect(await enter()).toMatchObject({ admitted: false, why: 'busy' })
    expect(await enter({ ...key, integrationId: 'other' })).toMatchObject({ admitted: true })
    slow[0]?.succeed()
    expect(await enter()).toMatchObject({ admitted: true })
  })

  test('are retried later the longer none has ended, at most after half a minute', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    await Promise.all(Array.from({ length: 64 }, () => admitted()))
    for (const [more, wait] of [
      [2, 5],
      [10, 12],
      [88, 30],
    ] as const) {
      vi.advanceTimersByTime(more * 1_000)
      expect(await enter()).toEqual({ admitted: false, why: 'busy', retryAt: seconds(wait) })
    }
  })
})

test('only failures of transport and of the whole service count', async () => {
  expect(
    (['timeout', 'connection_lost', 'connection_failed', 'host_unknown', 'unavailable'] as const).map(breaksCircuit),
  ).toEqual([true, true, true, true, true])
  expect(
    (['rate_limited', 'rejected', 'unauthorized', 'recipient_refused', 'message_refused'] as const).map(breaksCircuit),
  ).toEqual([false, false, false, false, false])
})
