import { describe, expect, test } from 'vitest'
import type { VersionRow } from '../../db/queries/versions.ts'
import { foldSaves } from './entries.ts'

/** Newest first, a minute apart unless said otherwise. */
const history = (...versions: Array<Partial<VersionRow> & { minute?: number }>): VersionRow[] =>
  versions
    .map(({ minute, ...row }, index) => ({
      version: index + 1,
      created_at: new Date(Date.UTC(2026, 0, 1, 10, minute ?? index)),
      author: { type: 'person' as const, id: 'ada', name: null },
      source: { kind: 'dashboard' as const },
      ...{ message: null, published_at: null, saves: 1 },
      ...row,
    }))
    .reverse()
const folded = (versions: VersionRow[]) => foldSaves(versions).map(({ version, saves }) => [version, saves])

describe('saves in one sitting', () => {
  test('are one entry: the last of them', () => {
    expect(folded(history({}, {}, {}))).toEqual([[3, 3]])
    expect(folded([])).toEqual([])
  })

  test('end after ten minutes without a save', () => {
    expect(folded(history({ minute: 0 }, { minute: 10 }, { minute: 21 }))).toEqual([
      [3, 1],
      [2, 2],
    ])
  })

  test.each<[string, Partial<VersionRow>]>([
    ['another person', { author: { type: 'person', id: 'bob', name: null } }],
    ['a key', { author: { type: 'api_key', id: 'k', name: 'CI' }, source: { kind: 'api' } }],
    ['a name', { message: 'Launch' }],
    ['a restore', { source: { kind: 'restore', version: 1 } }],
    ['a push', { source: { kind: 'files', repository: null, commit: null, url: null, dirty: false } }],
    ['an author that nobody knows', { author: null, source: null }],
  ])('are cut by %s', (_, between) => {
    expect(folded(history({}, {}, between, {}, {}))).toEqual([
      [5, 2],
      [3, 1],
      [2, 2],
    ])
  })

  test('are cut behind what was published', () => {
    expect(folded(history({}, { published_at: new Date() }, {}))).toEqual([
      [3, 1],
      [2, 2],
    ])
  })
})
