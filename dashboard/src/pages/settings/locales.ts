// Common languages; the user can type any other that the server knows.
const codes =
  'ar_AE ar_EG ar_SA bg_BG bn_BD ca_ES cs_CZ da_DK de_AT de_CH de_DE el_GR en_AU en_CA en_GB en_IE en_IN en_NZ en_US en_ZA ' +
  'es_AR es_CL es_CO es_ES es_MX et_EE fa_IR fi_FI fr_BE fr_CA fr_CH fr_FR he_IL hi_IN hr_HR hu_HU id_ID it_IT ja_JP ko_KR ' +
  'lt_LT lv_LV ms_MY nb_NO nl_BE nl_NL pl_PL pt_BR pt_PT ro_RO ru_RU sk_SK sl_SI sr_RS sv_SE sw_KE ta_IN th_TH tr_TR uk_UA ' +
  'ur_PK vi_VN zh_CN zh_HK zh_TW'

const names = new Intl.DisplayNames('en', { type: 'language' })

export function localeName(locale: string): string {
  try {
    return names.of(locale.replaceAll('_', '-')) ?? locale
  } catch {
    return locale
  }
}

export const localeOptions = codes
  .split(' ')
  .map((value) => ({ value, label: localeName(value), hint: value }))
  .sort((one, other) => one.label.localeCompare(other.label))
