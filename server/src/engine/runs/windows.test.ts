import { expect, test } from 'vitest'
import type { Group, JoinDigest, PassThrottle } from '../../steps/contract/need.ts'
import {
  closeDigest,
  collect,
  heirOf,
  joinDigest,
  mostEventBytes,
  noDigest,
  noThrottle,
  passThrottle,
} from './windows.ts'

const group: Group = { environmentId: 'e', workflowId: 'w', stepRowId: 's', subscriberRowId: 'p', value: '' }
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000)
const join = (notificationId: string, lookBackMs?: number): JoinDigest => ({
  ...{ need: 'join digest', group, notificationId },
  lookBackMs,
})
const pass = (threshold: number, endsAt: Date): PassThrottle => ({ need: 'pass throttle', group, threshold, endsAt })

test('the first event of a group opens the window, and the others are merged into it until it closes', () => {
  const { places, after } = joinDigest(noDigest(), [join('a'), join('b')], at(0))
  expect(places).toEqual([{ place: 'main' }, { place: 'merged', into: 'a' }])
  const closed = closeDigest(after ?? noDigest(), [{ need: 'close digest', group, notificationId: 'a' }])
  expect(closed?.notification_id).toBeNull()
  expect(joinDigest(closed ?? noDigest(), [join('c')], at(9)).places).toEqual([{ place: 'main' }])
})

test('a run that no longer collects closes nothing', () => {
  const { after } = joinDigest(noDigest(), [join('a')], at(0))
  expect(closeDigest(after ?? noDigest(), [{ need: 'close digest', group, notificationId: 'b' }])).toBeUndefined()
})

test('with a look-back, an event goes on at once unless there was one shortly before', () => {
  const first = joinDigest(noDigest(), [join('a', 60_000)], at(0))
  expect(first.places).toEqual([{ place: 'first' }])
  expect(first.after?.forget_at).toEqual(at(60))
  const state = first.after ?? noDigest()
  expect(joinDigest(state, [join('b', 60_000)], at(60)).places).toEqual([{ place: 'main' }])
  expect(joinDigest(state, [join('b', 60_000)], at(61)).places).toEqual([{ place: 'first' }])
})

test('a digest holds a thousand events and eight megabytes, and the first event whatever its size', () => {
  const event = (bytes: number) => ({ id: 'x', time: '', payload: {}, bytes })
  expect(collect(Array.from({ length: 1_200 }, () => event(1)))).toHaveLength(1_000)
  expect(collect([event(mostEventBytes + 1), event(1)])).toHaveLength(1)
  expect(collect([event(mostEventBytes - 1), event(1), event(1)])).toHaveLength(2)
})

test('the oldest event of a canceled digest inherits it; the id decides between two of one moment', () => {
  const merged = [
    { id: 'c', created_at: at(2) },
    { id: 'b', created_at: at(1) },
    { id: 'a', created_at: at(1) },
  ]
  expect(heirOf(merged)?.id).toBe('a')
  expect(heirOf([])).toBeUndefined()
})

test('a throttle lets as many pass as it may in a window, which the first one opens and time closes', () => {
  const { passes, after } = passThrottle(noThrottle(at(0)), [pass(1, at(60)), pass(1, at(99))], at(0))
  expect(passes.map(({ isThrottled }) => isThrottled)).toEqual([false, true])
  expect(after).toEqual({ passed: 1, started_at: at(0), ends_at: at(60) })
  const state = after ?? noThrottle(at(0))
  expect(passThrottle(state, [pass(1, at(119))], at(59)).passes[0]?.isThrottled).toBe(true)
  expect(passThrottle(state, [pass(1, at(119))], at(59)).after).toBeUndefined()
  expect(passThrottle(state, [pass(1, at(120))], at(60)).passes[0]).toMatchObject({ isThrottled: false, count: 1 })
})
