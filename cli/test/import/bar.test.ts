// The bar of an import: count, rate and time left; a line every ten seconds where nobody watches. files.md §4, §6.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Bar, timeLeft } from '../../src/import/bar.ts'
import { Terminal } from '../../src/terminal.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** What a terminal shows, each time anew. */
function watched(isTTY: boolean, env: NodeJS.ProcessEnv = {}) {
  const drawn: string[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    drawn.push(String(text))
    return true
  })
  const before = process.stderr.isTTY
  process.stderr.isTTY = isTTY
  const terminal = new Terminal({}, env)
  process.stderr.isTTY = before
  return { terminal, drawn }
}
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)
const clear = '\r\u001b[2K'

test('on a terminal it is drawn over itself, at most five times a second, and goes away at the end', () => {
  const { terminal, drawn } = watched(true)
  const bar = new Bar(terminal, 'subscribers', { done: 0, total: 200_000 })
  pass(1_000)
  bar.reach(1_000)
  expect(drawn).toEqual([`${clear}[${'░'.repeat(24)}] 1,000 of 200,000 subscribers, 1,000/s, 4 min left`])
  pass(199)
  bar.reach(1_100)
  expect(drawn).toHaveLength(1)
  pass(98_801)
  bar.reach(100_000)
  expect(drawn[1]).toBe(
    `${clear}[${'█'.repeat(12)}${'░'.repeat(12)}] 100,000 of 200,000 subscribers, 1,000/s, 2 min left`,
  )
  pass(100_000)
  bar.reach(200_000)
  expect(drawn[2]).toBe(`${clear}[${'█'.repeat(24)}] 200,000 of 200,000 subscribers, 1,000/s, 0 s left`)
  bar.end()
  expect(drawn[3]).toBe(clear)
})

test('an import that goes on shows what is done already, and the rate of now', () => {
  const { terminal, drawn } = watched(true)
  const bar = new Bar(terminal, 'messages', { done: 500, total: 1_000 })
  pass(10_000)
  bar.reach(600)
  expect(drawn).toEqual([`${clear}[${'█'.repeat(14)}${'░'.repeat(10)}] 600 of 1,000 messages, 10/s, 40 s left`])
})

test.each([
  ['there is no terminal', false, {}],
  ['the terminal cannot draw', true, { TERM: 'dumb' }],
])('a line every ten seconds where %s', (_, isTTY, env) => {
  const { terminal, drawn } = watched(isTTY, env)
  const bar = new Bar(terminal, 'subscribers', { done: 0, total: 3_000 })
  for (let n = 1; n <= 25; n += 1) {
    pass(1_000)
    bar.reach(n * 100)
  }
  bar.end()
  expect(drawn).toEqual([
    '1,000 of 3,000 subscribers, 100/s, 20 s left\n',
    '2,000 of 3,000 subscribers, 100/s, 10 s left\n',
  ])
})

test('as long as nothing is done no time is told', () => {
  const { terminal, drawn } = watched(true)
  new Bar(terminal, 'tenants', { done: 0, total: 0 }).reach(0)
  pass(500)
  new Bar(terminal, 'tenants', { done: 0, total: 5 }).reach(0)
  expect(drawn).toEqual([
    `${clear}[${'█'.repeat(24)}] 0 of 0 tenants, 0/s`,
    `${clear}[${'░'.repeat(24)}] 0 of 5 tenants, 0/s`,
  ])
})

test.each([
  [0, '0 s'],
  [59, '59 s'],
  [60, '1 min'],
  [61, '2 min'],
  [3_599, '1 h 0 min'],
  [5_400, '1 h 30 min'],
])('%d seconds are %s', (seconds, words) => {
  expect(timeLeft(seconds)).toBe(words)
})
