import { describe, expect, test } from 'vitest'
import { type Asking, decidingEntry, holdsBack, scopeOf } from './rules.ts'

const critical: Asking = { workflowId: 'news', category: null, messageClass: 'transactional', isCritical: true }
const transactional: Asking = { ...critical, isCritical: false, category: 'offers' }
const commercial: Asking = { ...transactional, messageClass: 'commercial' }

const entry = (reason: string, scope = 'all', scope_id = '', exceptions: string[] = []) => ({
  ...{ id: `${reason} ${scope}`, reason, scope, scope_id, exceptions },
})
const answers = (of: ReturnType<typeof entry>) =>
  [critical, transactional, commercial].map((asking) => (holdsBack(of, asking) ? 'held back' : 'passes'))

describe('the table, row by row:', () => {
  test.each(['hard_bounce', 'complaint'])('%s holds everything back, whatever its scope', (reason) => {
    for (const scope of ['all', 'commercial'])
      expect(answers(entry(reason, scope))).toEqual(['held back', 'held back', 'held back'])
    expect(answers(entry(reason, 'workflow', 'other'))).toEqual(['held back', 'held back', 'held back'])
  })

  describe.each(['soft_bounces', 'stop', 'manual', 'unsubscribe'])('%s', (reason) => {
    test('of scope all lets critical workflows pass', () => {
      expect(answers(entry(reason))).toEqual(['passes', 'held back', 'held back'])
    })

    test('of scope commercial holds commercial workflows back', () => {
      expect(answers(entry(reason, 'commercial'))).toEqual(['passes', 'passes', 'held back'])
    })

    test('of a workflow holds that one back, also a transactional one', () => {
      expect(answers(entry(reason, 'workflow', 'news'))).toEqual(['passes', 'held back', 'held back'])
      expect(answers(entry(reason, 'workflow', 'other'))).toEqual(['passes', 'passes', 'passes'])
    })

    test('of a category holds its commercial workflows back, but for exceptions', () => {
      expect(answers(entry(reason, 'category', 'offers'))).toEqual(['passes', 'passes', 'held back'])
      expect(answers(entry(reason, 'category', 'offers', ['news']))).toEqual(['passes', 'passes', 'passes'])
      expect(answers(entry(reason, 'category', 'other'))).toEqual(['passes', 'passes', 'passes'])
    })
  })
})

test('of several entries the gravest decides, then the widest', () => {
  const entries = [entry('manual', 'workflow', 'news'), entry('unsubscribe', 'commercial'), entry('manual')]
  expect(decidingEntry(entries, commercial)?.id).toBe('unsubscribe commercial')
  expect(decidingEntry(entries, transactional)?.id).toBe('manual all')
  expect(decidingEntry([...entries, entry('complaint')], critical)?.id).toBe('complaint all')
  expect(decidingEntry(entries, critical)).toBeUndefined()
})

test('a scope is shown with what it names', () => {
  const shown = (scope: string, of = '') => scopeOf({ scope, scope_id: of, exceptions: ['weekly'] })
  expect(shown('all')).toEqual({ type: 'all' })
  expect(shown('commercial')).toEqual({ type: 'commercial' })
  expect(shown('workflow', 'news')).toEqual({ type: 'workflow', workflowId: 'news' })
  expect(shown('category', 'offers')).toEqual({ type: 'category', category: 'offers', except: ['weekly'] })
})
