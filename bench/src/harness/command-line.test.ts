import { expect, test } from 'vitest'
import { readCommand } from './command-line.ts'

const suites = ['start', 'accepting', 'soak']

test('suites and sizes are read from the command line', () => {
  expect(readCommand([], suites)).toEqual({ options: { quick: false, minutes: 60, perSecond: 50 }, names: [] })
  expect(readCommand(['soak', '--minutes', '5', '--per-second', '200', '--quick'], suites)).toEqual({
    options: { quick: true, minutes: 5, perSecond: 200 },
    names: ['soak'],
  })
})

test.each([['--help'], ['-h'], ['accepting', '--help']])('%s %s prints the suites', (...args) => {
  const answer = readCommand(args, suites)
  expect(answer).toMatchObject({ exitCode: 0, text: expect.stringContaining('start, accepting, soak') })
})

test.each([
  [['acepting', 'start'], 'Unknown benchmark: acepting\n'],
  [['--fast'], "Unknown option '--fast'"],
  [['--minutes'], '--minutes'],
])('%j is refused in words, with the suites', (args, reason) => {
  const answer = readCommand(args, suites)
  expect(answer).toMatchObject({ exitCode: 2, text: expect.stringContaining(reason) })
  expect(answer).toMatchObject({ text: expect.stringContaining('start, accepting, soak') })
})
