// Values that the database can store and return unchanged: JSON of limited depth, without text PostgreSQL cannot store.
import { parse as parseJson } from 'secure-json-parse'

const deepest = 100

/** `json`: not valid JSON for us; `text`: contains something that cannot be stored. */
export class Unstorable extends Error {
  readonly kind: 'json' | 'text'

  constructor(kind: 'json' | 'text', reason: string, cause?: unknown) {
    super(reason, { cause })
    this.kind = kind
  }
}

export function parseStorable(text: string): unknown {
  if (nesting(text) > deepest) throw new Unstorable('json', `it is nested deeper than ${deepest} levels`)
  const value = parse(text)
  if (mayHoldUnstorable.test(text)) refuseUnstorable(value)
  return value
}

function parse(text: string): unknown {
  try {
    // Refuses `__proto__` and `constructor.prototype` keys.
    return parseJson(text)
  } catch (cause) {
    throw new Unstorable('json', (cause as Error).message, cause)
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

// Escapes of NUL and surrogates, and numbers that may overflow: by an exponent, or by 300 digits.
const mayHoldUnstorable = /\\u0000|\\u[dD][89a-fA-F]|[eE]\+?\d\d|\d{300}/

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') refuseUnstorableText(value)
  else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Unstorable('text', 'a number is too large')
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      refuseUnstorableText(key)
      refuseUnstorable(member)
    }
  }
}

export function refuseUnstorableText(text: string): void {
  if (text.includes('\0')) throw new Unstorable('text', 'NUL characters are not allowed')
  if (!text.isWellFormed()) throw new Unstorable('text', 'half of a surrogate pair stands alone')
}

const mayNotBeKept = (json: string) => json.includes('\\u') && /\\u0000|\\ud[89a-f]/.test(json)

/** JSON of a value of our own that cannot be refused any more, such as a text cut inside a surrogate pair. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value)
  if (!mayNotBeKept(text)) return text
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'string' ? member.replaceAll('\0', '').toWellFormed() : member,
  )
}
