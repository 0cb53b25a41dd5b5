// Names of locales, and the common ones. The server decides which are valid.
import type { Option } from '../../ui/form/select.tsx'

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
  'en_US en_GB de_DE de_AT de_CH fr_FR fr_CA es_ES es_MX it_IT pt_BR pt_PT nl_NL pl_PL sv_SE da_DK nb_NO fi_FI cs_CZ hu_HU ro_RO el_GR uk_UA tr_TR ru_RU ar_EG ar_SA he_IL hi_IN th_TH vi_VN id_ID ja_JP ko_KR zh_CN zh_TW'

export const localeOptions = (...more: string[]): Option[] =>
  [...new Set([...common.split(' '), ...more])].map((value) => ({ value, label: localeName(value), hint: value }))

export const directionOf = (locale: string): 'rtl' | 'ltr' => (/^(ar|he|fa|ur|ps|sd)_/.test(locale) ? 'rtl' : 'ltr')
