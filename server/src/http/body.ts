// Reads request bodies, and refuses what could not be stored or read back as it was sent.
import { parse as parseQuery } from 'node:querystring'
import { parse as parseJson } from 'secure-json-parse'
import { fail } from '../errors.ts'

const deepest = 100
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A JSON body, or undefined when there is none. */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const text = decode(bytes)
  if (nesting(text) > deepest) throw fail('malformed_json', { reason: `it is nested deeper than ${deepest} levels` })
  const value = parse(text)
  if (mayHoldUnstorable.test(text)) refuseUnstorable(value)
  return value
}

/** A URL-encoded body: each name with its value, or with all its values when it occurs more than once. */
export function parseForm(text: string): unknown {
  refuseUnstorableUrl(text)
  return parseQuery(text)
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw fail('malformed_json', { reason: 'it is not UTF-8' }, { cause })
  }
}

function parse(text: string): unknown {
  try {
    // Refuses `__proto__` and `constructor.prototype` keys.
    return parseJson(text)
  } catch (cause) {
    throw fail('malformed_json', { reason: (cause as Error).message }, { cause })
  }
}

function nesting(text: string): number {
  let depth = 0
  let most = 0
  let inString = false
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === 92) i += 1
      else if (code === 34) inString = false
    } else if (code === 34) inString = true
    else if (code === 123 || code === 91) {
      depth += 1
      most = Math.max(most, depth)
    } else if (code === 125 || code === 93) depth -= 1
  }
  return most
}

// Escapes of NUL and of surrogates, and numbers that may overflow: without a long exponent it takes 300 digits.
const mayHoldUnstorable = /\\u0000|\\u[dD][89a-fA-F]|[eE]\+?\d\d|\d{300}/

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') refuseUnstorableText(value)
  else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw fail('invalid_text', { reason: 'a number is too large' })
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      refuseUnstorableText(key)
      refuseUnstorable(member)
    }
  }
}

/** For a URL or a URL-encoded body, as it was sent. */
export function refuseUnstorableUrl(encoded: string): void {
  let text: string
  try {
    text = decodeURIComponent(encoded)
  } catch (cause) {
    throw fail('malformed_encoding', undefined, { cause })
  }
  refuseUnstorableText(text)
}

function refuseUnstorableText(text: string): void {
  if (text.includes('\0')) throw fail('invalid_text', { reason: 'NUL characters are not allowed' })
  if (!text.isWellFormed()) throw fail('invalid_text', { reason: 'half of a surrogate pair stands alone' })
}
