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
  const isNumber = channel === 'sms' || (channel === 'chat' && text.startsWith('+'))
  return isNumber ? comparedNumber(text) : text
}

/** Lower case, the domain in punycode; of `"Ada" <ada@example.com>` the address alone. Tags as in `a+b@` are kept. */
function comparedEmail(text: string): string {
  const address = (/<([^<>]*)>$/.exec(text)?.[1] ?? text).trim().toLowerCase()
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: everything but ASCII
  if (/^[\x00-\x7f]*$/.test(domain)) return address
  return address.slice(0, at + 1) + (domainToASCII(domain) || domain)
}

/** E.164. A number without a country code stays as it is, without its decoration. */
function comparedNumber(text: string): string {
  const digits = text.replace(/[\s().\-/\u00a0]/g, '').replace(/^00/, '+')
  return /^[1-9]\d{6,14}$/.test(digits) ? `+${digits}` : digits
}

/** Whether it can be one of the channel, in the compared form. */
export function isAddress(channel: AddressChannel, compared: string): boolean {
  switch (channel) {
    case 'email':
      return compared.length <= longestEmail && /^[^\s,;:<>()"@]+@[^\s,;:<>()"@]+$/.test(compared)
    case 'sms':
      return /^\+[1-9]\d{6,14}$/.test(compared)
    case 'push':
    case 'chat':
      return compared !== '' && compared.length <= longestAddress
  }
}

/** Of the compared form. */
export const hashOfAddress = (compared: string): Buffer => Buffer.from(hash('sha256', compared, 'hex'), 'hex')

/** The advisory lock that orders sends to an address and entries about it. Two addresses that share one only wait longer. */
export const lockOfHash = (hash: Buffer): string => hash.readBigInt64BE(0).toString()
