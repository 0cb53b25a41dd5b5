import { expect, test } from 'vitest'
import { slugOf } from './slug.ts'

const id = '6615943e7ace93b0540ae377'

test.each([
  ['Welcome email', 'welcome-email_env_f5VFlcRWmt1PF4uV'],
  ['SendGrid & Co.', 'send-grid-and-co_env_f5VFlcRWmt1PF4uV'],
  ["  It's HTMLParser 2  ", 'its-html-parser-2_env_f5VFlcRWmt1PF4uV'],
  ['Prüfung', 'prufung_env_f5VFlcRWmt1PF4uV'],
  ['試験', 'env_f5VFlcRWmt1PF4uV'],
])('%j becomes %s', (name, slug) => {
  expect(slugOf(name, 'env', id)).toBe(slug)
})

test('an id is the same number in base 62, with a 0 for each zero byte in front', () => {
  expect(slugOf('a', 'env', '507f1f77bcf86cd799439011')).toBe('a_env_WOmdqnzOjKcHpEdl')
  expect(slugOf('a', 'env', '00000000000000000000003d')).toBe(`a_env_${'0'.repeat(11)}z`)
})
