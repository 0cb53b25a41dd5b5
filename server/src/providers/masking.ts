// Takes secrets out of texts: what other programs say about a failure can repeat what they were sent.

export function mask(text: string, secrets: Iterable<string>): string {
  const forms = new Set<string>()
  for (const secret of secrets) for (const form of formsOf(secret)) if (text.includes(form)) forms.add(form)
  if (forms.size === 0) return text
  // The longest first: a secret that is part of another must not leave the rest of it behind.
  return [...forms].sort((a, b) => b.length - a.length).reduce((clean, form) => clean.replaceAll(form, '***'), text)
}

/** Credentials are the same for message after message. */
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
    // As it stands in a form, and inside of JSON.
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    ...addressForms(secret),
  ])
  if (known.size >= mostKnown) known.clear()
  known.set(secret, forms)
  return forms
}

/** A path that is shorter is hardly the secret of an address, and would be found in texts that are about something else. */
const shortestPath = 16

/** An address is called, and repeated by those who are called, in other letters than it was entered in. */
function addressForms(secret: string): string[] {
  if (!/^https?:/i.test(secret) || !URL.canParse(secret)) return []
  const { origin, pathname, search, href } = new URL(secret)
  // As it is written once parameters have been added.
  const query = search === '' ? '' : `?${new URLSearchParams(search).toString()}`
  const paths = [pathname + search, pathname + query, pathname]
  return [
    href,
    ...paths.filter((path) => path !== '/').map((path) => origin + path),
    ...paths.filter((path) => path.length >= shortestPath),
  ]
}

/** Where whoever knows an address may post there: whose it is, and no more. */
export const shownAddress = (url: string): string => (URL.canParse(url) ? `${new URL(url).origin}/***` : '***')
