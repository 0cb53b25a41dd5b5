import { expect, test } from 'vitest'
import type { BoundedWindow, CloseDigest, Group, JoinDigest, PassThrottle } from '../../steps/contract/need.ts'
import {
  closeDigest,
  collect,
  handOn,
  heirOf,
  joinDigest,
  mostEventBytes,
  noDigest,
  noThrottle,
  openUntil,
  passThrottle,
} from './windows.ts'

const group: Group = { environmentId: 'e', workflowId: 'w', stepRowId: 's', subscriberRowId: 'p', value: '' }
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000)
const join = (notificationId: string, lookBackMs?: number): JoinDigest => ({
  ...{ need: 'join digest', group, notificationId },
  lookBackMs,
})
const close = (notificationId: string, isEarly = false): CloseDigest => ({
  ...{ need: 'close digest', group, notificationId, isEarly, newestFirst: false },
})
const pass = (threshold: number, endsAt: Date): PassThrottle => ({ need: 'pass throttle', group, threshold, endsAt })

test('the first event of a group opens the window, and the others are merged into it until it closes', () => {
  const { places, after } = joinDigest(noDigest(), [join('a'), join('b')], at(0))
  expect(places).toEqual([{ place: 'main' }, { place: 'merged', into: 'a' }])
  const closed = closeDigest(after ?? noDigest(), [close('a')])
  expect(closed?.notification_id).toBeNull()
  expect(joinDigest(closed ?? noDigest(), [join('c')], at(9)).places).toEqual([{ place: 'main' }])
})

test('a run that no longer collects closes nothing', () => {
  const { after } = joinDigest(noDigest(), [join('a')], at(0))
  expect(closeDigest(after ?? noDigest(), [close('b')])).toBeUndefined()
})

test('with a look-back, an event goes on at once unless there was one shortly before', () => {
  const first = joinDigest(noDigest(), [join('a', 60_000)], at(0))
  expect(first.places).toEqual([{ place: 'first' }])
  expect(first.after?.forget_at).toEqual(at(60))
  const state = first.after ?? noDigest()
  expect(joinDigest(state, [join('b', 60_000)], at(60)).places).toEqual([{ place: 'main' }])
  expect(joinDigest(state, [join('b', 60_000)], at(61)).places).toEqual([{ place: 'first' }])
})

/** Plays these events of one group, by second, until the last of them. */
function play(
  events: Array<[run: string, second: number]>,
  bounds: Partial<Omit<BoundedWindow, 'until'>> & { for: number },
) {
  let state = noDigest()
  const places = events.map(([notificationId, second]) => {
    const { for: seconds, slides, ...more } = bounds
    const bounded: BoundedWindow = {
      ...{ position: 0, flushesFirst: false, until: at(second + seconds), ...more },
      slides: slides && { ms: seconds * 1000, latest: at(second + 60) },
    }
    const { places: found, after } = joinDigest(state, [{ ...join(notificationId), bounded }], at(second))
    state = after ?? state
    return found[0]
  })
  return { places, state }
}
const slides = { ms: 0, latest: at(0) }

test('each event moves the end of a sliding window, but not beyond its longest', () => {
  const { places, state } = play(
    [
      ['a', 0],
      ['b', 8],
      ['c', 15],
    ],
    { for: 10, slides },
  )
  expect(places).toEqual([
    { place: 'main', until: at(10) },
    { place: 'merged', into: 'a' },
    { place: 'merged', into: 'a' },
  ])
  expect(openUntil(state, close('a'), at(10))).toEqual(at(25))
  expect(openUntil(state, close('a'), at(25))).toBeUndefined()
  // Somebody ended the wait; or another run asks.
  expect(openUntil(state, close('a', true), at(10))).toBeUndefined()
  expect(openUntil(state, close('b'), at(10))).toBeUndefined()
  const seconds = Array.from({ length: 12 }, (_, index) => [`r${index}`, index * 5] as [string, number])
  expect(openUntil(play(seconds, { for: 10, slides }).state, close('r0'), at(55))).toEqual(at(60))
  // Late events join, and move nothing.
  expect(
    openUntil(
      play(
        [
          ['a', 0],
          ['b', 11],
        ],
        { for: 10, slides },
      ).state,
      close('a'),
      at(12),
    ),
  ).toBeUndefined()
})

test('a window ends with the event that makes it so many, and the next event opens another', () => {
  const { places, state } = play(
    [
      ['a', 0],
      ['b', 1],
      ['c', 2],
      ['d', 3],
    ],
    { for: 10, mostEvents: 3, position: 4 },
  )
  expect(places).toEqual([
    { place: 'main', until: at(10) },
    { place: 'merged', into: 'a' },
    { place: 'merged', into: 'a', endsAt: 4 },
    { place: 'main', until: at(13) },
  ])
  // The run that collected closes nothing any more.
  expect(openUntil(state, close('a'), at(3))).toBeUndefined()
  expect(closeDigest(state, [close('a')])).toBeUndefined()
})

test('with a flush, the first event goes on and opens the window; the next collects until its end, or is a first one', () => {
  const { places } = play(
    [
      ['a', 0],
      ['b', 4],
      ['c', 6],
    ],
    { for: 10, flushesFirst: true },
  )
  expect(places).toEqual([{ place: 'first' }, { place: 'main', until: at(10) }, { place: 'merged', into: 'b' }])
  const quiet = play(
    [
      ['a', 0],
      ['b', 10],
      ['c', 12],
    ],
    { for: 10, flushesFirst: true },
  )
  expect(quiet.places).toEqual([{ place: 'first' }, { place: 'first' }, { place: 'main', until: at(20) }])
  expect(quiet.state.forget_at).toEqual(at(20))
  // Canceled: the window stays open for the next event.
  const { state } = play(
    [
      ['a', 0],
      ['b', 4],
    ],
    { for: 10, flushesFirst: true },
  )
  const next = { ...join('c'), bounded: { position: 1, until: at(15), flushesFirst: true } }
  expect(joinDigest(handOn(state, undefined), [next], at(5)).places).toEqual([{ place: 'main', until: at(10) }])
  expect(handOn(state, { id: 'h', position: 2 })).toMatchObject({ notification_id: 'h', bounds: { position: 2 } })
  expect(joinDigest(closeDigest(state, [close('b')]) ?? state, [next], at(11)).places).toEqual([{ place: 'first' }])
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
