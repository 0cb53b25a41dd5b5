// The value a digest or a throttle counts by, short enough for a key of the database.
import { sha256 } from '../../db/core/secrets.ts'

const longest = 200

/** Texts and numbers as they are; anything else by its JSON; what is long by its hash. */
export function groupValue(value: unknown): string {
  const given = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const text = given.replaceAll('\0', '').toWellFormed()
  return text.length > longest ? `sha256:${sha256(text)}` : text
}
