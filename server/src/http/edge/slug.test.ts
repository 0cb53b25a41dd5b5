import fc from 'fast-check'
import { expect, test } from 'vitest'
import { idIn, slugify, slugOf } from './slug.ts'

const id = '6615943e7ace93b0540ae377'

test.each([
  ['Welcome email', 'welcome-email_wf_f5VFlcRWmt1PF4uV'],
  ['SendGrid & Co.', 'send-grid-and-co_wf_f5VFlcRWmt1PF4uV'],
  ["  It's HTMLParser 2  ", 'its-html-parser-2_wf_f5VFlcRWmt1PF4uV'],
  ['Don-t do it-s', 'dont-do-its_wf_f5VFlcRWmt1PF4uV'],
  ['fooBar & bazQux', 'foo-bar-and-baz-qux_wf_f5VFlcRWmt1PF4uV'],
  ['--a__b!!c--', 'a-b-c_wf_f5VFlcRWmt1PF4uV'],
  ['We ♥ 🦄', 'we-love-unicorn_wf_f5VFlcRWmt1PF4uV'],
  ['Ελλάδα', 'ellada_wf_f5VFlcRWmt1PF4uV'],
  ['Prüfung', 'pruefung_wf_f5VFlcRWmt1PF4uV'],
  ['Новости', 'novosti_wf_f5VFlcRWmt1PF4uV'],
  ['試験', 'wf_f5VFlcRWmt1PF4uV'],
])('%j becomes %s', (name, slug) => {
  expect(slugOf(name, 'wf', id)).toBe(slug)
})

test('an id is the same number in base 62, with a 0 for each zero byte in front', () => {
  expect(slugOf('a', 'env', '507f1f77bcf86cd799439011')).toBe('a_env_WOmdqnzOjKcHpEdl')
  expect(slugOf('a', 'env', '00000000000000000000003d')).toBe(`a_env_${'0'.repeat(11)}z`)
})

test.each(['a_st_WOmdqnzOjKcHpEdl', 'st_WOmdqnzOjKcHpEdl', '507F1F77BCF86CD799439011'])(
  'the id is read back from %s',
  (parameter) => {
    expect(idIn(parameter, 'st')).toBe('507f1f77bcf86cd799439011')
  },
)

test.each([
  'a_wf_WOmdqnzOjKcHpEdl',
  'WOmdqnzOjKcHpEdl',
  'welcome-notification-email',
  'a_st_WOmdqnzOjKcHpEd',
  'a_st_WOmdqnzOjKcHpEdlxx',
  'a_st_zzzzzzzzzzzzzzzzz',
  '507f1f77bcf86cd79943901',
])('%s is not the slug of a step', (parameter) => {
  expect(idIn(parameter, 'st')).toBeUndefined()
})

test('every id made until 2100 survives the round trip through a slug, whatever the name', () => {
  const ids = fc
    .tuple(fc.integer({ min: 0x6000_0000, max: 0xf486_5700 }), fc.uint8Array({ minLength: 8, maxLength: 8 }))
    .map(([seconds, rest]) => seconds.toString(16).padStart(8, '0') + Buffer.from(rest).toString('hex'))
  fc.assert(
    fc.property(ids, fc.string({ unit: 'grapheme', maxLength: 128 }), (someId, name) => {
      expect(idIn(slugOf(name, 'wf', someId), 'wf')).toBe(someId)
    }),
  )
})

test('a slug has single hyphens between plain lower-case letters and digits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 128 }), (name) => {
      expect(slugify(name)).toMatch(/^(?:[a-z0-9]+(?:-[a-z0-9]+)*)?$/)
    }),
  )
})
