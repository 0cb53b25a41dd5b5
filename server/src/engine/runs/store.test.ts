import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { QueuedWakes } from './store.ts'

let wakes: QueuedWakes

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  wakes = new QueuedWakes()
})
afterEach(() => {
  vi.useRealTimers()
})

const asked = (...slots: Array<[string, number]>) => {
  const { missing, commit } = wakes.missing(new Map(slots))
  return { missing: [...missing.keys()], commit }
}

test('a wake-up is queued once, from the commit on', () => {
  const first = asked(['a', 10_000], ['b', 20_000])
  expect(first.missing).toEqual(['a', 'b'])
  expect(asked(['a', 10_000]).missing).toEqual(['a'])
  first.commit()
  expect(asked(['a', 10_000], ['b', 20_000], ['c', 30_000]).missing).toEqual(['c'])
})

test('near its time it is queued again, for a transaction that commits after it fires', () => {
  asked(['a', 10_000]).commit()
  vi.advanceTimersByTime(7_999)
  expect(asked(['a', 2_001]).missing).toEqual([])
  vi.advanceTimersByTime(1)
  expect(asked(['a', 2_000]).missing).toEqual(['a'])
})

test('what is due now or soon is always queued', () => {
  for (const delay of [0, 2_000]) {
    asked(['now', delay]).commit()
    expect(asked(['now', delay]).missing).toEqual(['now'])
  }
})
