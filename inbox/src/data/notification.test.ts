import { describe, expect, test } from 'vitest'
import type { Child, Described } from '../view/dom.ts'
import { markdown, plain } from '../view/markdown.ts'
import { fromClock, relativeTime, toClock } from '../view/time.ts'
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

/** The tree as HTML-like text. */
const write = (children: Child[]): string =>
  children
    .map((child) => {
      if (typeof child !== 'object' || child === null) return String(child)
      const { tag, props, children: inner } = child as Described
      return `<${tag}${props.href ? ` ${String(props.href)}` : ''}>${write(inner)}</${tag}>`
    })
    .join('')

describe('Markdown', () => {
  test.each([
    ['plain', 'plain'],
    [
      '**bold** and *italic* and ***both***',
      '<strong>bold</strong> and <em>italic</em> and <strong><em>both</em></strong>',
    ],
    ['**bold *and italic***', '<strong>bold <em>and italic</em></strong>'],
    [String.raw`\*not italic\*`, '*not italic*'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['`a **b**`', '<code>a **b**</code>'],
    ['two\nlines', 'two<br></br>lines'],
    ['[the **page**](https://example.com)', '<a https://example.com>the <strong>page</strong></a>'],
    ['[place](/here)', '<a /here>place</a>'],
    ['[run](javascript:alert(1))', '[run](javascript:alert(1))'],
    ['see https://example.com/a?b=1.', 'see <a https://example.com/a?b=1>example.com/a?b=1</a>.'],
    ['<b>hi</b>', '<b>hi</b>'],
  ])('%s', (text, expected) => {
    expect(write(markdown(text))).toBe(expected)
  })

  test('a subject contains no links, because it may be inside one', () => {
    expect(write(markdown('[page](https://example.com)', { withoutLinks: true }))).toBe('<span>page</span>')
  })

  test('is read aloud without its marks', () => {
    expect(plain(String.raw`**Ada** sent [a file](https://example.com) \*`)).toBe('Ada sent a file *')
  })

  test('long text that looks like unfinished Markdown is still parsed fast', () => {
    for (const text of ['*'.repeat(20_000), '['.repeat(20_000), '**a'.repeat(5_000)])
      expect(write(markdown(text)).length).toBeGreaterThan(1_000)
  })
})

describe('times', () => {
  const now = Date.parse('2026-05-10T12:00:00.000Z')
  test.each([
    ['2026-05-10T11:59:30.000Z', 'now'],
    ['2026-05-10T11:58:00.000Z', '2m ago'],
    ['2026-05-10T09:00:00.000Z', '3h ago'],
    ['2026-05-09T09:00:00.000Z', 'yesterday'],
    ['2026-05-01T10:00:00.000Z', 'May 1'],
    ['2025-12-24T10:00:00.000Z', 'Dec 24, 2025'],
  ])('%s is %s', (moment, expected) => {
    expect(relativeTime(moment, now, 'en')).toBe(expected)
  })

  test.each([
    ['09:00 AM', '09:00'],
    ['12:00 AM', '00:00'],
    ['12:30 PM', '12:30'],
    ['05:05 PM', '17:05'],
  ])('%s is %s', (stored, clock) => {
    expect([toClock(stored), fromClock(clock)]).toEqual([clock, stored])
  })
})
