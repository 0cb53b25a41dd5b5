import { expect, test } from 'vitest'
import { supportedLocale } from './locales.ts'

test.each(['en_US', 'es_ES', 'zh_CN', 'pt_BR', 'de_AT', 'ar_EG', 'ja_JP', 'hi_IN', 'sr_RS', 'uk_UA'])(
  '%s is a locale, with a hyphen too',
  (locale) => {
    expect(supportedLocale(locale)).toBe(locale)
    expect(supportedLocale(locale.replace('_', '-'))).toBe(locale)
  },
)

test.each(['en', 'EN_US', 'en_us', 'en_XX', 'xx_US', 'en_US_x', 'en US', '', 'constructor'])(
  '%s is not a locale',
  (locale) => expect(supportedLocale(locale)).toBeUndefined(),
)
