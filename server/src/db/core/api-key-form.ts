// What an API key looks like: `bf_`, random characters and a checksum, so that scanners recognize a leaked one and a mistyped
// one is refused without a look-up. Compatible keys are 32 hex digits.
import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 32
const checkLength = 6
const shape = new RegExp(`^(bf_(?:org_)?[0-9A-Za-z]{${randomLength}})([0-9A-Za-z]{${checkLength}})$`)
/** Enough to tell two keys apart, and far too little to guess one. */
const hintLength = 4

/** For an environment, or for a whole organization. */
export function newScopedKey(owner: 'environment' | 'organization'): string {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const body = `bf_${owner === 'organization' ? 'org_' : ''}${random}`
  return body + checksumOf(body)
}

/** Whether it begins like one of ours but is mistyped or made up. */
export function isMisspelt(key: string): boolean {
  if (!key.startsWith('bf_')) return false
  const [, body = '', check] = shape.exec(key) ?? []
  return check !== checksumOf(body)
}

/** How lists show a key that is kept as a hash: its prefix and its first characters. */
export function hintOf(key: string): string {
  const [prefix = ''] = /^bf_(org_)?/.exec(key) ?? []
  return `${key.slice(0, prefix.length + hintLength)}…`
}

/** CRC-32 of all before it, in base 62. It finds mistakes; it is no protection. */
function checksumOf(body: string): string {
  let rest = crc32(body)
  let text = ''
  while (text.length < checkLength) {
    text = `${alphabet[rest % alphabet.length]}${text}`
    rest = Math.floor(rest / alphabet.length)
  }
  return text
}
