// Takes secrets out of texts: what other programs say about a failure can repeat what they were sent.

export function mask(text: string, secrets: Iterable<string>): string {
  const forms = [...secrets].flatMap((secret) =>
    secret === ''
      ? []
      : [
          secret,
          Buffer.from(secret).toString('base64'),
          encodeURIComponent(secret),
          // As it stands in a form, and inside of JSON.
          new URLSearchParams({ '': secret }).toString().slice(1),
          JSON.stringify(secret).slice(1, -1),
        ],
  )
  // The longest first: a secret that is part of another must not leave the rest of it behind.
  return [...new Set(forms)]
    .sort((a, b) => b.length - a.length)
    .reduce((clean, secret) => clean.replaceAll(secret, '***'), text)
}
