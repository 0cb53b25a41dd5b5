// Masks secrets in texts: a vendor's error message can repeat what it was sent.

export function mask(text: string, secrets: Iterable<string>): string {
  const forms = new Set<string>()
  for (const secret of secrets) for (const form of formsOf(secret)) if (text.includes(form)) forms.add(form)
  if (forms.size === 0) return text
  // Longest first: masking a secret inside another one must not leave the rest of the longer one.
  return [...forms].sort((a, b) => b.length - a.length).reduce((clean, form) => clean.replaceAll(form, '***'), text)
}

/** The characters that are masked beyond a cut: masking makes a text shorter. */
const marginForSecrets = 8_000

/** The masked text, or as much of its start as its first `most` characters need. */
export function maskedStart(text: string, secrets: Iterable<string>, most: number): string {
  let longest = 0
  for (const secret of secrets) for (const form of formsOf(secret)) longest = Math.max(longest, form.length)
  const start = text.slice(0, most + longest)
  const masked = mask(start, secrets)
  // Most messages repeat no secret, and the rest of a long one needs no search.
  return masked === start ? start : mask(text.slice(0, most + longest + marginForSecrets), secrets)
}

/** A cache: credentials repeat from message to message. */
const known = new Map<string, ReadonlySet<string>>()
const mostKnown = 1_000
const none: ReadonlySet<string> = new Set()

function formsOf(secret: string): ReadonlySet<string> {
  if (secret === '') return none
  const remembered = known.get(secret)
  if (remembered) return remembered
  const forms = new Set([
    secret,
    Buffer.from(secret).toString('base64'),
    encodeURIComponent(secret),
    // As in a form, and inside JSON.
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    ...addressForms(secret),
  ])
  if (known.size >= mostKnown) known.clear()
  known.set(secret, forms)
  return forms
}

/** A shorter path is hardly a secret, and would match unrelated text. */
const shortestPath = 16

/** URL parsing can change the spelling of an address, and vendors repeat it that way. */
function addressForms(secret: string): string[] {
  if (!/^https?:/i.test(secret) || !URL.canParse(secret)) return []
  const { origin, pathname, search, href } = new URL(secret)
  // As spelled after parameters were added.
  const query = search === '' ? '' : `?${new URLSearchParams(search).toString()}`
  const paths = [pathname + search, pathname + query, pathname]
  return [
    href,
    ...paths.filter((path) => path !== '/').map((path) => origin + path),
    ...paths.filter((path) => path.length >= shortestPath),
  ]
}

/** Only the origin of an address whose path is a secret. */
export const shownAddress = (url: string): string => (URL.canParse(url) ? `${new URL(url).origin}/***` : '***')
