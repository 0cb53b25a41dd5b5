// How vendors like to have the parts of a mail: addresses with a name, files as text, and nothing that is empty.

/** `"Ada" <ada@example.com>`, or the bare address where there is no name. */
export function address(email: string, name: string | undefined): string {
  // Line breaks would begin another header; RFC 5322 escapes the rest.
  const clean = name?.replace(/[\r\n]+/g, ' ').trim()
  return clean ? `"${clean.replace(/["\\]/g, '\\$&')}" <${email}>` : email
}

export const base64 = (file: Uint8Array): string => Buffer.from(file).toString('base64')

/** `[{email: …}]`, as many APIs want it. */
export const emails = (list: string[]) => list.map((email) => ({ email }))

/** A list with something in it, or nothing at all. */
export const some = <Item>(list: Item[]): Item[] | undefined => (list.length > 0 ? list : undefined)

/** An object with something in it, or nothing at all. */
export const someOf = <Value extends object>(value: Value): Value | undefined =>
  Object.keys(value).length > 0 ? value : undefined

/** The part after the at sign. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1)
