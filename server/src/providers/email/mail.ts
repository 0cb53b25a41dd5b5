// The parts of a mail as vendors expect them: addresses with names, files as text, and no empty members.

/** `"Ada" <ada@example.com>`, or the bare address without a name. */
export function address(email: string, name: string | undefined): string {
  // A line break would start another header; RFC 5322 escapes the rest.
  const clean = name?.replace(/[\r\n]+/g, ' ').trim()
  return clean ? `"${clean.replace(/["\\]/g, '\\$&')}" <${email}>` : email
}

export const base64 = (file: Uint8Array): string => Buffer.from(file).toString('base64')

/** `[{email: …}]`, as many APIs expect. */
export const emails = (list: string[]) => list.map((email) => ({ email }))

/** Undefined for an empty list. */
export const some = <Item>(list: Item[]): Item[] | undefined => (list.length > 0 ? list : undefined)

/** Undefined for an empty object. */
export const someOf = <Value extends object>(value: Value): Value | undefined =>
  Object.keys(value).length > 0 ? value : undefined

const oneAddress = /^(?:(?:"[^"\\\r\n]*"|[^,;:<>()"@\r\n]*)<[^\s,;:<>()"]+>|[^\s,;:<>()"]+)$/

/** Whether a text is one address, with a name or without: a comma in it would make several recipients. */
export const isOneAddress = (text: string): boolean => oneAddress.test(text.trim())

/** The part after the at sign. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1)
