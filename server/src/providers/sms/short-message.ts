// What several SMS providers ask about a text, a number or an address.

const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const extended = '\f^{}\\[~]|€'
const gsm = new Set(basic + extended)

/** Whether GSM 03.38 can write it. Where a vendor asks, anything else must be announced, or arrives as question marks. */
export const isGsm = (text: string): boolean => [...text].every((character) => gsm.has(character))

/** Without the sign or the zeros of an international number. */
export const withoutPrefix = (number: string): string => number.replace(/^(\+|00)/, '')

/** Accounts are often shown the host alone. */
export const addressOf = (baseUrl: string): string =>
  (/^https?:\/\//i.test(baseUrl) ? baseUrl : `https://${baseUrl}`).replace(/\/+$/, '')

/** A time in seconds, as vendors count it. */
export function dateOfSeconds(seconds: string | undefined): string | undefined {
  const date = new Date(Number(seconds) * 1000)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
