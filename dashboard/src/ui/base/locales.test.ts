import { expect, test } from 'vitest'
import { localeName, localeProblem } from './locales.ts'

test('locales are called by name', () => {
  expect(localeName('de_CH')).toBe('Swiss High German')
  expect(localeName('pt_PT')).toBe('European Portuguese')
  expect(localeName('de_DE')).toBe('German (Germany)')
  expect(localeName('nonsense!')).toBe('nonsense!')
})

test('what is no locale is refused in words', () => {
  expect(localeProblem('de_DE')).toBeUndefined()
  expect(localeProblem('fil-PH')).toBeUndefined()
  expect(localeProblem('de')).toContain('which German')
  expect(localeProblem('Klingon')).toBe(
    '“Klingon” is not a language. Choose one from the list, or write its language and region, such as de_CH.',
  )
  expect(localeProblem('de_DE_x')).toContain('is not a language')
})
