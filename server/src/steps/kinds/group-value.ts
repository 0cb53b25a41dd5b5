// The value that a digest or throttle groups by, short enough for a database key.
import { sha256 } from '../../db/core/secrets.ts'

const longest = 200

/** Strings as they are; anything else as JSON; long ones as a hash. */
export function groupValue(value: unknown): string {
  const given = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const text = given.replaceAll('\0', '').toWellFormed()
  return text.length > longest ? `sha256:${sha256(text)}` : text
}
