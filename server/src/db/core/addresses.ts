// How addresses are compared: in one form, by its SHA-256. Whoever sends and whoever suppresses must agree on both.
import { hash } from 'node:crypto'
import { domainToASCII } from 'node:url'

export const addressChannels = ['email', 'sms', 'push', 'chat'] as const
export type AddressChannel = (typeof addressChannels)[number]

const longestEmail = 320
const longestAddress = 4_096

/** The form in which addresses are compared. It fits any text: one that is no address just equals no other. */
export function comparedAddress(channel: AddressChannel, given: string): string {
  const text = given.trim()
  if (channel === 'email') return comparedEmail(text)
  const isNumber = channel === 'sms' || (channel === 'chat' && /^\p{Cf}*(tel:)?[+＋]/iu.test(text))
  return isNumber ? comparedNumber(text) : text
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: everything but ASCII
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text)
const withoutInvisible = (text: string): string => text.replace(/\p{Cf}/gu, '')

/**
 * Lower case, the domain in punycode; of `"Ada" <ada@example.com>` the address alone. Tags as in `a+b@` are kept. Compatible
 * characters (full width) are one, and invisible ones, such as contacts put around what is copied, do not count.
 */
function comparedEmail(text: string): string {
  // Joiners stay for now: a domain may need them.
  const visible = isAscii(text) ? text : text.normalize('NFKC').replace(/(?![\u200c\u200d])\p{Cf}/gu, '')
  const address = (/<([^<>]*)>$/.exec(visible)?.[1] ?? visible).trim().toLowerCase()
  if (isAscii(address)) return address.endsWith('.') ? address.slice(0, -1) : address
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  const bare = withoutInvisible(domain)
  const ascii = domainToASCII(domain) || domainToASCII(bare) || bare
  return withoutInvisible(address.slice(0, at + 1)) + ascii.replace(/\.$/, '')
}

/** E.164, without extension. A number without a country code stays as it is, without its decoration. */
function comparedNumber(text: string): string {
  if (e164.test(text)) return text
  const digits = text
    .normalize('NFKC')
    .replace(/^\p{Cf}*(tel|sms):/iu, '')
    .replace(/(;[a-z]|ext|x).*/is, '')
    .replace(/[\s./_\u2212\p{Cf}\p{Pd}]/gu, '')
    .replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15))
    // The zero that is dialled only within the country.
    .replace(/^(\+|00)?([1-9]\d{0,2})\(0\)/, '+$2')
    .replace(/[()]/g, '')
    .replace(/^00/, '+')
  return /^[1-9]\d{6,14}$/.test(digits) ? `+${digits}` : digits
}

const e164 = /^\+[1-9]\d{6,14}$/

/** Whether it can be one of the channel, in the compared form. */
export function isAddress(channel: AddressChannel, compared: string): boolean {
  switch (channel) {
    case 'email':
      return compared.length <= longestEmail && /^[^\s,;:<>()"@]+@[^\s,;:<>()"@]+$/.test(compared)
    case 'sms':
      return e164.test(compared)
    case 'push':
    case 'chat':
      return compared !== '' && compared.length <= longestAddress
  }
}

/** Of the compared form. */
export const hashOfAddress = (compared: string): Buffer => Buffer.from(hash('sha256', compared, 'hex'), 'hex')

/** The advisory lock that orders sends to an address and entries about it. Two addresses that share one only wait longer. */
export const lockOfHash = (hash: Buffer): string => hash.readBigInt64BE(0).toString()
