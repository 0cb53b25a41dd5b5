// The revision of a definition: a hash that is the same in every environment, and in a file.
import { createHash } from 'node:crypto'

/** SHA-256, in hex, of the definition as RFC 8785 writes it. */
export const revisionOf = (definition: unknown): string =>
  createHash('sha256').update(canonicalJson(definition)).digest('hex')

/**
 * JSON by RFC 8785: members sorted by UTF-16 code units, no spaces, numbers and texts as ECMAScript writes them. Members that
 * are undefined do not exist.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  // Without a function, sort compares code units, as the RFC asks.
  const names = members.map(([name]) => name).sort()
  const of = new Map(members)
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(of.get(name))}`).join(',')}}`
}
