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

/** @param refuse looks through a value that may have what cannot be stored */
export function parseStorable(text: string, refuse: (value: unknown) => void = refuseUnstorable): unknown {
  const { depth, hasEscape, hasLargeNumber } = glance(text)
  if (depth > deepest) throw new Unstorable('json', `it is nested deeper than ${deepest} levels`)
  const value = parse(text, hasEscape)
  if (hasLargeNumber || (hasEscape && unstorableEscape.test(text))) refuse(value)
  return value
}

function parse(text: string, hasEscape: boolean): unknown {
  try {
    // Refuses `__proto__` and `constructor.prototype` keys, which takes as long as parsing; most texts name neither.
    const isSafe = !hasEscape && !text.includes('__proto__') && !text.includes('constructor') && text[0] !== '\ufeff'
    return isSafe ? JSON.parse(text) : parseJson(text)
  } catch (cause) {
    throw new Unstorable('json', (cause as Error).message, cause)
  }
}

/** What a text of JSON may hold, in one pass: most hold nothing that has to be looked at again. */
function glance(text: string): { depth: number; hasEscape: boolean; hasLargeNumber: boolean } {
  let depth = 0
  let most = 0
  let digits = 0
  let inString = false
  let hasEscape = false
  let hasLargeNumber = false
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === 92) {
        i += 1
        // \u
        if (text.charCodeAt(i) === 117) hasEscape = true
      } else if (code === 34) inString = false
    } else if (code >= 48 && code <= 57) {
      digits += 1
      if (digits >= 300) hasLargeNumber = true
    } else {
      // An exponent.
      if (digits > 0 && (code === 101 || code === 69)) hasLargeNumber = true
      digits = 0
      if (code === 34) inString = true
      else if (code === 123 || code === 91) {
        depth += 1
        most = Math.max(most, depth)
      } else if (code === 125 || code === 93) depth -= 1
    }
  }
  return { depth: most, hasEscape, hasLargeNumber }
}

// Of NUL and surrogates.
const unstorableEscape = /\\u0000|\\u[dD][89a-fA-F]/

export function refuseUnstorable(value: unknown): void {
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

// One expression: a log entry that quotes JSON has a backslash before every quote, and a search for the text \u stops at each.
const mayNotBeKept = (json: string) => /\\u(?:0000|d[89a-f])/.test(json)

const constants = new WeakMap<object, string>()

/** A value that many rows hold and nobody changes: its JSON is written once. */
export function constantJson<Value extends object>(value: Value): Value {
  constants.set(Object.freeze(value), storableJson(value))
  return value
}

/** JSON of a value of our own that cannot be refused any more, such as a text cut inside a surrogate pair. */
export function storableJson(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? constants.get(value) : undefined
  if (known !== undefined) return known
  const text = JSON.stringify(value)
  if (!mayNotBeKept(text)) return text
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'string' ? member.replaceAll('\0', '').toWellFormed() : member,
  )
}
