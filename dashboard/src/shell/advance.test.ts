import { expect, test } from 'vitest'
import { advanceOf, restOf } from './advance.ts'

test('a duration is by how much, with or without a plus; anything else is a moment', () => {
  expect(advanceOf(' +2h ')).toEqual({ by: '2h' })
  expect(advanceOf('1d30m')).toEqual({ by: '1d30m' })
  expect(advanceOf('2026-05-01T10:00Z')).toEqual({ to: '2026-05-01T10:00Z' })
})

test('what is left of an advance has the moment it was for, wherever the clock has come to', () => {
  const from = '2026-05-01T10:00:00.000Z'
  expect(restOf({ by: '1d2h3m4s5ms' }, from)).toEqual({ to: '2026-05-02T12:03:04.005Z' })
  expect(restOf({ by: '250ms' }, from)).toEqual({ to: '2026-05-01T10:00:00.250Z' })
  expect(restOf({ by: '90m' }, from)).toEqual({ to: '2026-05-01T11:30:00.000Z' })
  expect(restOf({ to: '2026-06-01T00:00:00Z' }, from)).toEqual({ to: '2026-06-01T00:00:00Z' })
  expect(restOf({ to: 'next' }, from)).toBeUndefined()
})
