import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { directionOf, english, languageFor, languages, translate } from './texts.ts'

const folder = path.join(import.meta.dirname, '../languages')
const placeholders = (text: string) => [...text.matchAll(/\{\{\w+\}\}/g)].map(([found]) => found).sort()

describe('languages', () => {
  test('match the files', () => {
    expect(readdirSync(folder).sort()).toEqual(languages.map((language) => `${language}.json`))
  })

  test.each(languages)('%s has every text, with the same placeholders', (language) => {
    const texts: Record<string, string> = JSON.parse(readFileSync(path.join(folder, `${language}.json`), 'utf8'))
    expect(Object.keys(texts)).toEqual(Object.keys(english))
    for (const [key, text] of Object.entries(english))
      expect([key, placeholders(texts[key] ?? '')]).toEqual([key, placeholders(text)])
  })

  test.each([
    ['de', 'de'],
    ['de-AT', 'de'],
    ['pt_BR', 'pt'],
    ['zh-Hans-CN', 'zh'],
    ['en-GB', undefined],
    ['dev', undefined],
    ['tlh', undefined],
  ])('%s uses %s', (locale, language) => {
    expect(languageFor(locale)).toBe(language)
  })

  test.each([
    ['ar-EG', 'rtl'],
    ['he', 'rtl'],
    ['en', 'ltr'],
    ['arn', 'ltr'],
  ])('%s is written %s', (locale, direction) => {
    expect(directionOf(locale)).toBe(direction)
  })
})

test("the page's own texts come first, then the language, then English", () => {
  const page = {
    'inbox.undo': 'Back!',
    'notifications.newNotifications': ({ notificationCount = 0 }) => `${notificationCount}!`,
  }
  const language = { 'inbox.undo': 'Zurück', 'inbox.retry': 'Nochmal', 'inbox.filters.choose': '{{ name }} zeigen' }
  const t = (key: keyof typeof english, params = {}) => translate([page, language], key, params)
  expect(t('inbox.undo')).toBe('Back!')
  expect(t('notifications.newNotifications', { notificationCount: 3 })).toBe('3!')
  expect(t('inbox.retry')).toBe('Nochmal')
  expect(t('inbox.filters.choose', { name: 'Alle' })).toBe('Alle zeigen')
  expect(t('inbox.close')).toBe('Close')
})
