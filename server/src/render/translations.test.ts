import { describe, expect, test } from 'vitest'
import { RenderError } from './limits.ts'
import { situation } from './liquid.ts'
import { noTranslations, type TranslationGroup, translate, translatorFor } from './translations.ts'
import { renderText } from './values.ts'

const group: TranslationGroup = {
  defaultLocale: 'en_US',
  locales: {
    en_US: {
      greeting: 'Hello {{subscriber.firstName}}!',
      nested: { deep: 'Deep', 'dotted.key': 'Dotted' },
      only: { english: 'English only' },
      'flat.key': 'Flat',
      other: 'other',
      apples: 'apples of {{subscriber.firstName}}',
      quotes: `"It's"`,
      brand: 'Belfry',
      about: 'About {{t.brand}}',
      loop: '{{ t.loop }}',
      answer: 42,
      'größe_1-x': 'Size',
    },
    de_DE: { greeting: 'Hallo {{subscriber.firstName}}!', other: 'weiterer', nested: { deep: 'Tief' } },
  },
}
const of = () => situation({ subscriber: { firstName: 'Ann' }, payload: { list: ['A', 'B', 'C', 'D'] } }, new Date(0))
const english = translatorFor(group, 'en_US')
const german = translatorFor(group, 'de_DE')
const say = (text: string, translator = english) => renderText(text, of(), translator)

test('a key is replaced by its text, which is rendered like the template', () => {
  expect(say('{{t.greeting}}')).toBe('Hello Ann!')
  expect(say('{{t.greeting}} {{ T.nested.deep }} {{-  t.flat.key -}}', german)).toBe('Hallo Ann! Tief Flat')
  expect(say('{{t.nested.dotted.key}} {{t.answer}} {{t.größe_1-x}}')).toBe('Dotted 42 Size')
})

test('each key falls back to the default language on its own', () => {
  expect(say('{{t.other}}, {{t.only.english}}', german)).toBe('weiterer, English only')
})

test.each([
  ['de_DE', 'Hallo Ann!'],
  ['de-DE', 'Hallo Ann!'],
  ['de-de', 'Hallo Ann!'],
  ['fr_FR', 'Hello Ann!'],
  ['', 'Hello Ann!'],
  [null, 'Hello Ann!'],
  [undefined, 'Hello Ann!'],
])('the language of a subscriber with locale %s', (locale, text) => {
  expect(say('{{t.greeting}}', translatorFor(group, locale))).toBe(text)
})

test('the same language gives the same translator', () => {
  expect(translatorFor(group, 'de-DE')).toBe(german)
  expect(translatorFor(group, 'xx')).toBe(english)
})

describe('as an argument of a filter', () => {
  test('a key is translated', () => {
    expect(say(`{{ payload.list | toSentence: '', 2, 't.other' }}`)).toBe('A, B, and 2 others')
    expect(say(`{% assign x = "" | default: "t.nested.deep" %}{{ x }}`, german)).toBe('Tief')
  })
  test('a text with Liquid or quotes in it is too', () => {
    expect(say(`{{ 2 | pluralize: 't.other', 't.apples' }}`)).toBe('2 apples of Ann')
    expect(say(`{{ '' | default: 't.quotes' }}`)).toBe(`"It's"`)
  })
  test('a text that only looks like a key is left alone', () => {
    expect(say(`{{ 'x' | append: 't.me/channel' }}{{ 'a t.b' | split: 't.' | join: '-' }}`)).toBe('xt.me/channela -b')
  })
})

test('a translated text can be filtered', () => {
  expect(say('{{ t.greeting | upcase }} {{ t.brand | append: "!" }}')).toBe('HELLO ANN! Belfry!')
})

test('translations may refer to each other, up to a limit', () => {
  expect(say('{{t.about}}')).toBe('About Belfry')
  expect(() => say('{{t.loop}}')).toThrow(expect.objectContaining({ code: 'translation_missing' }))
})

test.each([
  ['a key that no language has', '{{t.nothing}}', english],
  ['an argument that no language has', `{{ '' | default: 't.nothing' }}`, english],
  ['any key where translation is off', '{{t.greeting}}', noTranslations],
  ['a name every object has', '{{t.constructor}}', english],
])('%s fails the rendering', (_, template, translator) => {
  expect(() => say(template, translator)).toThrow(RenderError)
  expect(() => say(template, translator)).toThrow(/There is no translation for "/)
})

test('text from the data is not translated', () => {
  expect(renderText('{{ payload.x }}', situation({ payload: { x: '{{t.greeting}}' } }, new Date(0)), english)).toBe(
    '{{t.greeting}}',
  )
})

test('translations that grow without limit are refused', () => {
  const content = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`k${i}`, `{{t.k${i + 1}}}`.repeat(100)]))
  const bomb = translatorFor(
    { defaultLocale: 'en_US', locales: { en_US: { ...content, k5: 'x'.repeat(1_000) } } },
    null,
  )
  expect(() => translate('{{t.k2}}', bomb)).toThrow(expect.objectContaining({ code: 'template_too_large' }))
})
