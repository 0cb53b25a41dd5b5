// Slugs: a name made fit for a URL, with the id of what it names in base 62 at its end.

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = BigInt(alphabet.length)

/** `welcome-email_wf_f5VFlcRWmt1PF4uV`; a name without a single Latin letter or digit is left out. */
export function slugOf(name: string, kind: 'env', id: string): string {
  return [slugify(name), kind, toBase62(id)].filter((part) => part !== '').join('_')
}

export function slugify(name: string): string {
  return (
    name
      .replaceAll('&', ' and ')
      // Letters part with their accents, which are then dropped with everything else that is not plain.
      .normalize('NFKD')
      .replaceAll(/[\p{M}'’]/gu, '')
      .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1-$2')
      .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1-$2')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
  )
}

/** The id's bytes as one number; each zero byte in front stays visible as a `0`. */
function toBase62(id: string): string {
  let digits = ''
  for (let rest = BigInt(`0x${id}`); rest > 0n; rest /= base) digits = alphabet.charAt(Number(rest % base)) + digits
  const zeroBytes = (/^(?:00)*/.exec(id)?.[0].length ?? 0) / 2
  return '0'.repeat(zeroBytes) + digits
}
