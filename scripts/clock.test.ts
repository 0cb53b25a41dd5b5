import { expect, test } from 'vitest'
import { clockReads } from './clock.mjs'

test('the check finds every way to read the clock or chance of the process', () => {
  const source = [
    'const a = Date.now()',
    'const b = new Date()',
    'const c = new Date( )',
    'const d = new Date',
    'const e = Math.random()',
    'tools({ random: Math.random })',
    'const f = randomBytes(4)',
  ].join('\n')
  expect(clockReads(source).map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7])
})

test('a moment that is handed in is no such reading, nor is a comment', () => {
  const source = [
    'const a = new Date(now.getTime() + 1)',
    'const b = new Date(text)',
    '// Date.now() would not do here',
    '/* nor\n Math.random() */',
    "const url = 'https://example.com/'",
    'const c = clock.now()',
  ].join('\n')
  expect(clockReads(source)).toEqual([])
})
