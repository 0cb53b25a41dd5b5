// Names of locales, and the common ones. The server decides which are valid.
import type { Option } from '../form/select.tsx'

const languages = new Intl.DisplayNames('en', { type: 'language' })

/** "German (Switzerland)". */
export function localeName(locale: string): string {
  try {
    return languages.of(locale.replace('_', '-')) ?? locale
  } catch {
    return locale
  }
}

const common =
  'en_US en_GB de_DE de_AT de_CH fr_FR fr_CA es_ES es_MX it_IT pt_BR pt_PT nl_NL pl_PL sv_SE da_DK nb_NO fi_FI ' +
  'cs_CZ hu_HU ro_RO el_GR uk_UA tr_TR ru_RU ar_EG ar_SA he_IL hi_IN th_TH vi_VN id_ID ja_JP ko_KR zh_CN zh_TW ' +
  'ar_AE bg_BG bn_BD ca_ES en_AU en_CA en_IE en_IN en_NZ en_ZA es_AR es_CL es_CO et_EE fa_IR fr_BE fr_CH hr_HR ' +
  'lt_LT lv_LV ms_MY nl_BE sk_SK sl_SI sr_RS sw_KE ta_IN ur_PK zh_HK'

export const localeOptions = (...more: string[]): Option[] =>
  [...new Set([...common.split(' '), ...more])].map((value) => ({ value, label: localeName(value), hint: value }))

export const directionOf = (locale: string): 'rtl' | 'ltr' => (/^(ar|he|fa|ur|ps|sd)_/.test(locale) ? 'rtl' : 'ltr')

/** What is wrong with a typed locale, in words; undefined if nothing is. The server still decides whether it has it. */
export function localeProblem(locale: string): string | undefined {
  const [language = '', region = '', ...rest] = locale.split(/[_-]/)
  const isWritten = rest.length === 0 && /^[a-z]{2,3}$/i.test(language) && /^([a-z]{2}|\d{3})$/i.test(region)
  if (
    isWritten &&
    localeName(`${language.toLowerCase()}_${region.toUpperCase()}`).toLowerCase() !== locale.toLowerCase()
  )
    return undefined
  if (/^[a-z]{2,3}$/i.test(locale) && localeName(locale.toLowerCase()) !== locale.toLowerCase())
    return `Say which ${localeName(locale.toLowerCase())}: add the region, as in de_CH for German in Switzerland.`
  return `“${locale}” is not a language. Choose one from the list, or write its language and region, such as de_CH.`
}
