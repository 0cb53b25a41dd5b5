import { expect, test } from 'vitest'
import { commandFor, readArguments } from './arguments.ts'
import { faultKinds } from './plan.ts'

test('without arguments all faults run for two minutes, with a random seed', () => {
  const asked = readArguments([])
  expect(asked).toEqual({
    minutes: 2,
    perSecond: 1.5,
    seed: expect.stringMatching(/^[0-9a-f]{8}$/),
    kinds: [...faultKinds],
  })
  expect(readArguments([])).not.toEqual(asked)
})

test('arguments are used', () => {
  const only = 'kill a worker,fill the disk'
  expect(readArguments(['--minutes', '0.5', '--rate=3', '--seed', 'anything', '--only', only])).toEqual({
    minutes: 0.5,
    perSecond: 3,
    seed: 'anything',
    kinds: ['kill a worker', 'fill the disk'],
  })
})

const numbers = '--minutes and --rate must be numbers above 0.'

test.each<[args: string[], complaint: string]>([
  [['--minutes', 'many'], numbers],
  [['--minutes', '0'], numbers],
  [['--minutes=-1'], numbers],
  [['--minutes', ''], numbers],
  [['--minutes', 'Infinity'], numbers],
  [['--rate', 'fast'], numbers],
  [['--rate', '0'], numbers],
  [['--minute', '3'], "Unknown option '--minute'. It takes --minutes N,"],
  // As npm passes it on when the two dashes are forgotten.
  [['3'], "Unexpected argument '3'. It takes --minutes N,"],
  [['--seed'], "Option '--seed <value>' argument missing. It takes --minutes N,"],
  [['--only', 'rain'], '--only takes, separated by commas: kill a worker, kill an API process,'],
  [['--only', 'kill a worker,rain'], '--only takes, separated by commas: kill a worker,'],
])('%j is refused with one sentence', (args, complaint) => {
  expect(readArguments(args)).toEqual({ complaint: expect.stringContaining(complaint) })
})

test.each([
  [[]],
  [['--minutes', '0.5', '--rate', '3', '--seed', "it's a seed"]],
  [['--seed', 'x', '--only', 'kill a worker,fill the disk']],
])('the command printed for %j repeats the run', (args) => {
  const asked = readArguments(args)
  if ('complaint' in asked) throw new Error(asked.complaint)
  const words = commandFor(asked).match(/'(?:[^']|'\\'')*'|\S+/g) ?? []
  const read = words.map((word) => word.replace(/^'(.*)'$/, '$1').replaceAll("'\\''", "'"))
  expect(read.slice(0, 4)).toEqual(['npm', 'run', 'chaos', '--'])
  expect(readArguments(read.slice(4))).toEqual(asked)
})
