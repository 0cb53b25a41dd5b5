// Parses request bodies, and refuses text that could not be stored and read back unchanged.
import { isUtf8 } from 'node:buffer'
import { parse as parseQuery } from 'node:querystring'
import { parseStorable, refuseUnstorable, refuseUnstorableText, Unstorable } from '../../db/core/storable.ts'
import { fail } from '../../errors.ts'

/** A JSON body, or undefined when there is none. */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const text = decode(bytes)
  return worded(() => parseStorable(text))
}

/** A JSON body with `items` that are judged one by one: `refuseUnstorableItem` has to look at each. */
export function parseBodyOfItems(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const text = decode(bytes)
  return worded(() => parseStorable(text, refuseBesideItems))
}

function refuseBesideItems(value: unknown): void {
  const { items, ...others } = Object(value) as { items?: unknown }
  refuseUnstorable(Array.isArray(items) ? others : value)
}

/** For one of the items of a body. */
export function refuseUnstorableItem(item: unknown): void {
  worded(() => refuseUnstorable(item))
}

/** A URL-encoded body: each name with its value, or with all its values when it occurs more than once. */
export function parseForm(text: string): unknown {
  refuseUnstorableUrl(text)
  return parseQuery(text)
}

/** What is not UTF-8 is decoded with this character in its place. */
const replacement = '\ufffd'

function decode(bytes: Buffer): string {
  const text = bytes.toString()
  if (text.includes(replacement) && !isUtf8(bytes)) throw fail('malformed_json', { reason: 'it is not UTF-8' })
  return text
}

const plain = /^[!-$&-~]*$/

/** For a URL or a URL-encoded body, before decoding. */
export function refuseUnstorableUrl(encoded: string): void {
  if (plain.test(encoded)) return
  let text: string
  try {
    text = decodeURIComponent(encoded)
  } catch (cause) {
    throw fail('malformed_encoding', undefined, { cause })
  }
  refuseUnstorableField(text)
}

/** For a field of a form. */
export function refuseUnstorableField(text: string): void {
  worded(() => refuseUnstorableText(text))
}

function worded<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof Unstorable)) throw cause
    throw fail(cause.kind === 'json' ? 'malformed_json' : 'invalid_text', { reason: cause.message }, { cause })
  }
}
