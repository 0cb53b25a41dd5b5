// Slugs: a name in URL-safe form, followed by the id in base 62.
import transliterate from '@sindresorhus/transliterate'
import { idPattern } from '../../db/core/ids.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = BigInt(alphabet.length)

/** What can have a slug: a workflow, a step, a layout, an environment. */
type Kind = 'wf' | 'st' | 'lt' | 'env'

/** `welcome-email_wf_f5VFlcRWmt1PF4uV`; without the name if none of its characters has a Latin form. */
export function slugOf(name: string, kind: Kind, id: string): string {
  return [slugify(name), kind, toBase62(id)].filter((part) => part !== '').join('_')
}

/** Symbols that are read as words; all others are dropped. */
const words = new Map([
  ['&', ' and '],
  ['♥', ' love '],
  ['❤', ' love '],
  ['🦄', ' unicorn '],
])

export function slugify(name: string): string {
  return (
    transliterate(name.replaceAll(/[&♥❤🦄]/gu, (sign) => words.get(sign) ?? sign))
      // Splits remaining accents from their letters, so that the next step drops them.
      .normalize('NFKD')
      .replaceAll(/[\p{M}'’]/gu, '')
      .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1-$2')
      .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1-$2')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      // Contractions that lost their apostrophe: it-s, don-t.
      .replaceAll(/([a-z0-9])-([ts])(?=-|$)/g, '$1$2')
      .replaceAll(/^-+|-+$/g, '')
  )
}

const slugPatterns: Record<Kind, RegExp> = {
  wf: /(?:^|_)wf_([0-9A-Za-z]{16,17})$/,
  st: /(?:^|_)st_([0-9A-Za-z]{16,17})$/,
  lt: /(?:^|_)lt_([0-9A-Za-z]{16,17})$/,
  env: /(?:^|_)env_([0-9A-Za-z]{16,17})$/,
}
const isId = new RegExp(idPattern)

/**
 * The internal id in a path parameter, if it is an id or a slug of this kind. It may still be an identifier, so try that
 * first.
 */
export function idIn(parameter: string, kind: Kind): string | undefined {
  if (isId.test(parameter)) return parameter.toLowerCase()
  const digits = slugPatterns[kind].exec(parameter)?.[1]
  return digits === undefined ? undefined : fromBase62(digits)
}

/** The id's bytes as one number; each leading zero byte becomes a `0`. */
function toBase62(id: string): string {
  let digits = ''
  for (let rest = BigInt(`0x${id}`); rest > 0n; rest /= base) digits = alphabet.charAt(Number(rest % base)) + digits
  const zeroBytes = (/^(?:00)*/.exec(id)?.[0].length ?? 0) / 2
  return '0'.repeat(zeroBytes) + digits
}

/** Undefined if it is not an id. */
function fromBase62(digits: string): string | undefined {
  let number = 0n
  for (const digit of digits) number = number * base + BigInt(alphabet.indexOf(digit))
  const id = number.toString(16).padStart(24, '0')
  return id.length === 24 && toBase62(id) === digits ? id : undefined
}
