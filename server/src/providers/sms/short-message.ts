// Shared by SMS providers: the encoding of a text, the form of a number or an address.

const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const extended = '\f^{}\\[~]|€'
const gsm = new Set(basic + extended)

/** Whether GSM 03.38 can encode the text. With some vendors, Unicode must be flagged, or it arrives as question marks. */
export const isGsm = (text: string): boolean => [...text].every((character) => gsm.has(character))

/** An international number without its plus sign or leading zeros. */
export const withoutPrefix = (number: string): string => number.replace(/^(\+|00)/, '')

/** Vendors often show only the host. */
export const addressOf = (baseUrl: string): string =>
  (/^https?:\/\//i.test(baseUrl) ? baseUrl : `https://${baseUrl}`).replace(/\/+$/, '')

/** A Unix time in seconds. */
export function dateOfSeconds(seconds: string | undefined): string | undefined {
  const date = new Date(Number(seconds) * 1000)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
