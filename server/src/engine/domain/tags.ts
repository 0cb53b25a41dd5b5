// Records of the form `v=DMARC1; p=none`: tags and values, separated by semicolons.

/** By name, in lower case; of a name that stands twice, the first. */
export function tagsIn(record: string): Map<string, string> {
  const tags = new Map<string, string>()
  for (const part of record.split(';')) {
    const at = part.indexOf('=')
    const name = part.slice(0, at).trim().toLowerCase()
    if (at > 0 && !tags.has(name)) tags.set(name, part.slice(at + 1).trim())
  }
  return tags
}
