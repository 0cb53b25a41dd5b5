// What counts as a difference, without a database: files.md §7.
import { describe, expect, test } from 'vitest'
import { compare, isSettled, mostDifferences } from './compare.ts'
import { comparable, firstDifference, isSameText } from './content.ts'
import type { SeenMessage, SeenRun, SeenStep, Side } from './side.ts'
import { orderedJson } from './side.ts'

const began = new Date('2026-05-01T10:00:00Z')
const later = (seconds: number, from = began) => new Date(from.getTime() + seconds * 1000)
const message = (more: Partial<SeenMessage> = {}): SeenMessage => ({
  ...{ channel: 'email', addresses: ['ada@example.com'], at: later(1) },
  content: { subject: 'Hi', content: '<p>Hello</p>', avatar: undefined, cta: undefined },
  ...more,
})
const step = (more: Partial<SeenStep> = {}): SeenStep => ({
  ...{ stepId: 'mail', type: 'email', status: 'completed', messages: [message()] },
  ...more,
})
const run = (steps: SeenStep[] = [step()], startedAt = began): Omit<SeenRun, 'subscriberId'> => ({ startedAt, steps })
const side = (runs: Record<string, Omit<SeenRun, 'subscriberId'>>, more: Partial<Side> = {}): Side => ({
  runs: new Map(Object.entries(runs).map(([subscriberId, each]) => [subscriberId, { subscriberId, ...each }])),
  ...{ isWhole: true, hasEnded: true },
  ...more,
})
const about = { transactionId: 't', workflowId: 'comments' }
const found = (there: Side, here: Side) =>
  compare(about, there, here).map(({ subscriberId, stepId, kind, path, upstream, here: own }) => ({
    ...{ subscriberId, stepId, kind, path, upstream, here: own },
  }))
const withMessage = (more: Partial<SeenMessage>) => side({ ada: run([step({ messages: [message(more)] })]) })

describe('kinds', () => {
  test('equal sides have none', () => {
    const both = side({ ada: run(), bob: run() })
    expect(compare(about, both, both)).toEqual([])
  })

  test('missing and extra: a run, or a step of it', () => {
    expect(found(side({ ada: run() }), side({ bob: run() }))).toEqual([
      { subscriberId: 'ada', stepId: null, kind: 'missing', path: 'run', upstream: { mail: 'completed' }, here: null },
      { subscriberId: 'bob', stepId: null, kind: 'extra', path: 'run', upstream: null, here: { mail: 'completed' } },
    ])
    expect(
      found(side({ ada: run([step(), step({ stepId: 'a' })]) }), side({ ada: run([step(), step({ stepId: 'b' })]) })),
    ).toEqual([
      { subscriberId: 'ada', stepId: 'a', kind: 'missing', path: 'step', upstream: 'completed', here: null },
      { subscriberId: 'ada', stepId: 'b', kind: 'extra', path: 'step', upstream: null, here: 'completed' },
    ])
    expect(found(side({ ada: run() }), side({ ada: run([step({ messages: [] })]) }))).toMatchObject([
      { kind: 'recipient' },
    ])
    const inbox = message({ channel: 'in_app', addresses: [] })
    expect(
      found(side({ ada: run([step({ messages: [inbox] })]) }), side({ ada: run([step({ messages: [] })]) })),
    ).toMatchObject([{ kind: 'missing', path: 'messages', upstream: 1, here: 0 }])
  })

  test('status: nothing else is told of that step', () => {
    const failed = side({ ada: run([step({ status: 'failed', messages: [message({ addresses: [] })] })]) })
    expect(found(side({ ada: run() }), failed)).toEqual([
      { subscriberId: 'ada', stepId: 'mail', kind: 'status', path: 'status', upstream: 'completed', here: 'failed' },
    ])
  })

  test('recipient: all addresses of a step, in any order', () => {
    const to = (...addresses: string[][]) =>
      side({ ada: run([step({ messages: addresses.map((each) => message({ addresses: each })) })]) })
    expect(found(to(['a'], ['b']), to(['b'], ['a']))).toEqual([])
    expect(found(to(['a'], ['b']), to(['a']))).toMatchObject([{ kind: 'recipient', upstream: ['a', 'b'], here: ['a'] }])
  })

  test('content: each field, unless a side keeps none', () => {
    const other = { subject: 'Ho', content: '<p>Hello!</p>', avatar: undefined, cta: '{"url":"/x"}' }
    expect(found(side({ ada: run() }), withMessage({ content: other }))).toMatchObject([
      { kind: 'content', path: 'subject', upstream: 'Hi', here: 'Ho' },
      { kind: 'content', path: 'content' },
      { kind: 'content', path: 'cta', upstream: '', here: '{"url":"/x"}' },
    ])
    expect(found(side({ ada: run() }), withMessage({ content: { subject: 'Ho', content: undefined } }))).toEqual([])
  })

  test('time: two minutes are the same, and clocks need not agree', () => {
    const at = (seconds: number) => withMessage({ at: later(seconds) })
    expect(found(at(0), at(120))).toEqual([])
    expect(found(at(121), at(0))).toMatchObject([
      { kind: 'time', path: 'createdAt', upstream: later(121).toISOString() },
    ])
    const elsewhere = later(86_400)
    const skewed = side({ ada: run([step({ messages: [message({ at: later(1, elsewhere) })] })], elsewhere) })
    expect(found(side({ ada: run() }), skewed)).toEqual([])
  })

  test('steps without ids of their own are matched by type and place', () => {
    const nameless = side({
      ada: run([step({ stepId: '' }), step({ stepId: '', type: 'sms', status: 'failed' }), step({ stepId: '' })]),
    })
    const named = side({
      ada: run([step({ stepId: 'a' }), step({ stepId: 'b', type: 'sms' }), step({ stepId: 'c', status: 'skipped' })]),
    })
    expect(found(nameless, named).map(({ stepId, kind }) => [stepId, kind])).toEqual([
      ['b', 'status'],
      ['c', 'status'],
    ])
  })

  test('of a part of the recipients only those on both sides are compared; the list ends somewhere', () => {
    const failed = run([step({ status: 'failed' })])
    const part = side({ ada: run(), bob: run() }, { isWhole: false })
    expect(found(part, side({ ada: failed, cyd: run() })).map(({ subscriberId }) => subscriberId)).toEqual(['ada'])
    const many = (one: typeof failed) => side(Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`s${n}`, one])))
    expect(compare(about, many(run()), many(failed))).toHaveLength(mostDifferences)
  })
})

test('both have to end with the same recipients before the time is up', () => {
  const one = side({ ada: run() })
  expect(isSettled(one, one)).toBe(true)
  expect(isSettled({ ...one, hasEnded: false }, one)).toBe(false)
  expect(isSettled(one, { ...one, hasEnded: false })).toBe(false)
  expect(isSettled(one, side({ ada: run(), bob: run() }))).toBe(false)
  expect(isSettled(one, side({ bob: run() }))).toBe(false)
  expect(isSettled(one, side({ ada: run([step(), step({ stepId: 'x' })]) }))).toBe(false)
  expect(isSettled(side({}), side({}))).toBe(false)
})

describe('content', () => {
  test.each([
    ['<p>Hello   \n Ada</p>', '<p>Hello Ada</p>'],
    ['id 65f0c0ffee65f0c0ffee65f0', 'id 75f0c0ffee65f0c0ffee65f1'],
    ['6f1c2f0e-7a53-4a55-9a3f-0d6a2f8a1b2c', '0f1c2f0e-7a53-4a55-9a3f-0d6a2f8a1b2d'],
    ['https://x.example/l/u/AbCdEf0123456789AbCdEf?t=1', 'https://x.example/l/u/ZbCdEf0123456789AbCdEg?t=1'],
    ['<b>x</b><table width="1" data-novu-branding=""><tr><td>Sent</td></tr></table>', '<b>x</b>'],
  ])('%s is the same as %s', (a, b) => {
    expect(isSameText(a, b)).toBe(true)
  })

  test.each([
    ['Order 1001', 'Order 1002'],
    ['order-number-2026-11-18-0001', 'order-number-2026-11-18-0002'],
    ['https://x.example/orders/1001', 'https://x.example/orders/1002'],
    ['https://x.example/getting-started-with-things', 'https://x.example/getting-started-with-stuff'],
    ['HelloAda', 'Hello Ada'],
  ])('%s differs from %s', (a, b) => {
    expect(isSameText(a, b)).toBe(false)
  })

  test('a long text is shown around the first place that differs', () => {
    const long = 'x '.repeat(1_000)
    const { upstream, here } = firstDifference(`${long}there ${long}`, `${long}here ${long}`)
    expect(upstream).toContain('there')
    expect(here).toContain('here')
    expect(upstream.length).toBeLessThan(450)
    expect(comparable('  a  b ')).toBe('a b')
  })

  test('JSON has one order, and empty members are none', () => {
    expect(orderedJson({ b: 1, a: { d: null, c: '' } })).toBe('{"b":1}')
    expect(orderedJson({ b: [2, 1], a: true })).toBe('{"a":true,"b":[2,1]}')
    expect(orderedJson({ url: null, buttons: null })).toBeUndefined()
  })
})
