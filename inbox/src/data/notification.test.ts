import { describe, expect, test } from 'vitest'
import { compare, type Filter, matches, type Notification, safeUrl } from './notification.ts'

const item = (more: Partial<Notification> = {}): Notification => ({
  ...{
    id: 'a',
    transactionId: 't',
    body: '',
    to: { id: '1', subscriberId: 'ada' },
    createdAt: '2026-05-01T10:00:00.000Z',
  },
  ...{ isRead: false, isSeen: false, isArchived: false, isSnoozed: false, tags: [], severity: 'none' },
  ...more,
})

describe('a filter', () => {
  test.each<[Filter, Partial<Notification>, boolean]>([
    [{}, {}, true],
    [{ read: false, archived: false, snoozed: false }, {}, true],
    [{ read: false }, { isRead: true }, false],
    [{ snoozed: true }, {}, false],
    [{ severity: 'high' }, { severity: 'high' }, true],
    [{ severity: ['low', 'high'] }, { severity: 'medium' }, false],
    [{ tags: [] }, {}, true],
    [{ tags: ['x', 'y'] }, { tags: ['y'] }, true],
    [{ tags: { or: ['x'] } }, { tags: ['y'] }, false],
    [{ tags: { and: [{ or: ['x', 'z'] }, { or: ['y'] }] } }, { tags: ['y', 'z'] }, true],
    [{ tags: { and: [{ or: ['x'] }, { or: ['y'] }] } }, { tags: ['y'] }, false],
    [{ data: { team: 'core' } }, { data: { team: 'core', level: 3 } }, true],
    [{ data: { team: 'core' } }, {}, false],
    [{ data: { level: [1, 3] } }, { data: { level: 3 } }, true],
    [{ data: { teams: 'core' } }, { data: { teams: ['web', 'core'] } }, true],
    [{ data: { level: { or: [1, 2] } } }, { data: { level: 3 } }, false],
    [{ data: { teams: { and: [{ or: ['web'] }, { or: ['core'] }] } } }, { data: { teams: ['web', 'core'] } }, true],
    [{ data: { owner: { name: 'Ada' } } }, { data: { owner: { name: 'Ada', age: 36 } } }, true],
    [{ data: { owner: { name: 'Ada' } } }, { data: { owner: null } }, false],
  ])('%j of %j: %s', (filter, more, expected) => {
    expect(matches(filter, item(more))).toBe(expected)
  })
})

test('the newest comes first, and of the same moment the one with the higher id', () => {
  const later = '2026-05-01T11:00:00.000Z'
  const sorted = [item({ id: 'a' }), item({ id: 'c' }), item({ id: 'b', createdAt: later })].sort(compare)
  expect(sorted.map(({ id }) => id)).toEqual(['b', 'c', 'a'])
})

test.each([
  ['https://example.com/a', 'https://example.com/a'],
  ['/plans/3#c9', '/plans/3#c9'],
  ['?tab=2', '?tab=2'],
  ['javascript:alert(1)', undefined],
  [' JavaScript:alert(1)', undefined],
  ['//evil.example', undefined],
  ['/\\evil.example', undefined],
  ['data:text/html,x', undefined],
  ['mailto:a@example.com', undefined],
  ['', undefined],
])('%s leads to %s', (url, expected) => {
  expect(safeUrl(url)).toBe(expected)
})
