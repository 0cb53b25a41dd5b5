// Takes secrets out of texts: what other programs say about a failure can repeat what they were sent.

export function mask(text: string, secrets: Iterable<string>): string {
  const forms = new Set([...secrets].flatMap(formsOf).filter((form) => text.includes(form)))
  if (forms.size === 0) return text
  // The longest first: a secret that is part of another must not leave the rest of it behind.
  return [...forms].sort((a, b) => b.length - a.length).reduce((clean, form) => clean.replaceAll(form, '***'), text)
}

/** Credentials are the same for message after message. */
const known = new Map<string, string[]>()
const mostKnown = 1_000

function formsOf(secret: string): string[] {
  if (secret === '') return []
  const remembered = known.get(secret)
  if (remembered) return remembered
  const forms = [
    secret,
    Buffer.from(secret).toString('base64'),
    encodeURIComponent(secret),
    // As it stands in a form, and inside of JSON.
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
  ]
  if (known.size >= mostKnown) known.clear()
  known.set(secret, forms)
  return forms
}
