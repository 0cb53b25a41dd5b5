import { expect, test } from 'vitest'
import { draftOf, everyIn, missingIn, mondayOf, moved, newException, newTurns, type Shift, shiftOf } from './shifts.ts'

const shifts: Shift[] = [
  { start: '2026-12-24T09:00', end: '2026-12-27T09:00', who: ['cy'] },
  {
    ...{ start: '2026-11-02T09:00', rrule: 'FREQ=WEEKLY', duration: { amount: 1, unit: 'weeks' } },
    turns: [['ada'], ['bob', 'di']],
  },
  {
    ...{ start: '2026-11-02T09:00', rrule: 'FREQ=DAILY;INTERVAL=2', duration: { amount: 12, unit: 'hours' } },
    turns: [['ada']],
  },
  {
    ...{ start: '2026-11-02T09:00', rrule: 'FREQ=WEEKLY;BYDAY=MO,WE', duration: { amount: 90, unit: 'minutes' } },
    turns: [['ada'], []],
  },
]

test.each(shifts)('a shift goes through the form and back: $start $rrule', (shift) => {
  expect(shiftOf(draftOf(shift))).toEqual(shift)
  expect(missingIn(draftOf(shift))).toBeUndefined()
})

test.each([
  ['FREQ=WEEKLY', { amount: '1', unit: 'weeks' }],
  ['freq=daily;interval=3', { amount: '3', unit: 'days' }],
  ['RRULE:FREQ=MONTHLY', { amount: '1', unit: 'months' }],
  ['FREQ=WEEKLY;BYDAY=MO', undefined],
  ['FREQ=YEARLY', undefined],
  ['FREQ=DAILY;INTERVAL=0', undefined],
  ['', undefined],
])('the rule %s in fields', (rrule, every) => {
  expect(everyIn(rrule)).toEqual(every)
})

test('what is missing is named', () => {
  const turns = newTurns('2026-11-02')
  expect(missingIn(turns)).toBe('Nobody has a turn yet.')
  const filled = { ...turns, turns: [['ada'], []] }
  expect(missingIn(filled)).toBeUndefined()
  expect(missingIn({ ...filled, start: '' })).toBe('It needs a start.')
  expect(missingIn({ ...filled, every: undefined, rrule: ' ' })).toMatch(/how often/)
  expect(missingIn({ ...filled, duration: { amount: '', unit: 'days' } })).toMatch(/how long/)
  const once = { ...newException('2026-11-02'), who: ['ada'] }
  expect(missingIn(once)).toBeUndefined()
  expect(missingIn({ ...once, who: [] })).toMatch(/Nobody/)
  expect(missingIn({ ...once, end: once.start })).toMatch(/after its start/)
  expect(missingIn({ ...once, end: '' })).toMatch(/an end/)
})

test('a week begins on its Monday, and shifts change places', () => {
  expect(mondayOf(new Date(2026, 10, 8, 23))).toBe('2026-11-02')
  expect(mondayOf(new Date(2026, 10, 2))).toBe('2026-11-02')
  expect(moved(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b'])
})
